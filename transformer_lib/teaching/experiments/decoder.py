"""Chapter 9: a small translator around a decoder, its loss of each word, where it looks; equality with torch."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lib.decoder import Decoder
from transformer_lib.encoder import Encoder, TransformerConfig
from transformer_lib.masks import causal_mask
from transformer_lib.positional_encoding import PositionalEncoding
from transformer_lib.seq2seq import SOS_ID
from transformer_lib.teaching.torch_parity import assert_equals_torch

SIZES = TransformerConfig(d_model=32, num_layers=2, num_heads=4, d_ff=64, dropout=0.0)
_NOUNS = {"cow": ("la vache", 1), "goat": ("la chèvre", 1), "horse": ("le cheval", 0), "dog": ("le chien", 0)}
_COLOURS = {"white": ("blanc", "blanche"), "black": ("noir", "noire"), "grey": ("gris", "grise"), "brown": ("brun", "brune")}
_STATES = {"tired": ("fatigué", "fatiguée"), "happy": ("content", "contente")}
PAIRS = [
    (f"the {colour} {noun} is {state}", f"{french} {colours[gender]} est {states[gender]}")
    for noun, (french, gender) in _NOUNS.items()
    for colour, colours in _COLOURS.items()
    for state, states in _STATES.items()
]
_SPECIAL = ["<PAD>", "<SOS>", "<EOS>"]
_ENGLISH, _FRENCH = ([*_SPECIAL, *sorted({word for pair in PAIRS for word in pair[side].split()})] for side in (0, 1))


def _ids(texts: list[str], vocabulary: list[str]) -> Tensor:
    return torch.tensor([[vocabulary.index(word) for word in text.split()] for text in texts])


SOURCE = _ids([english for english, _ in PAIRS], _ENGLISH)  # (32, 5)
TARGET_IN = _ids(["<SOS> " + french for _, french in PAIRS], _FRENCH)  # (32, 6)
TARGET_OUT = _ids([french + " <EOS>" for _, french in PAIRS], _FRENCH)  # (32, 6)


class Translator(nn.Module):
    """Embeddings, positions and the encoder before a decoder, and a linear layer behind it. No sentence has padding."""

    def __init__(self, decoder: nn.Module) -> None:
        super().__init__()
        self.source_embedding = nn.Embedding(len(_ENGLISH), SIZES.d_model)
        self.target_embedding = nn.Embedding(len(_FRENCH), SIZES.d_model)
        self.positions = PositionalEncoding(SIZES.d_model)
        self.encoder, self.decoder = Encoder(SIZES), decoder
        self.output = nn.Linear(SIZES.d_model, len(_FRENCH))

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        memory = self.encoder(self.positions(self.source_embedding(source)))  # (batch, source, d_model)
        x = self.positions(self.target_embedding(target_in))  # (batch, target, d_model)
        x = self.decoder(x, memory, causal_mask(target_in.size(1)))  # (batch, target, d_model)
        return self.output(x)  # (batch, target, vocabulary)


def mean_loss(model: nn.Module) -> Tensor:
    """Return the loss of a whole sentence, the mean of all pairs."""
    loss = F.cross_entropy(model(SOURCE, TARGET_IN).flatten(0, 1), TARGET_OUT.flatten(), reduction="sum")
    return loss / len(PAIRS)


def train(make_decoder: Callable[[TransformerConfig], nn.Module], seed: int = 0, steps: int = 200) -> nn.Module:
    """Make a decoder of two layers, build a translator around it, and train it on all pairs at each step."""
    torch.manual_seed(seed)
    model = Translator(make_decoder(SIZES))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        loss = mean_loss(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


@torch.no_grad()
def translate_all(model: nn.Module) -> list[str]:
    """Write the French of each English sentence: always the most probable word, until `<EOS>`."""
    target = torch.full((len(SOURCE), 1), SOS_ID)
    for _ in range(7):
        next_word = model(SOURCE, target)[:, -1].argmax(dim=-1, keepdim=True)
        target = torch.cat([target, next_word], dim=1)  # (batch, one more)
    return [" ".join(_FRENCH[word] for word in row).split(" <EOS>")[0] for row in target[:, 1:].tolist()]


def count_right(model: nn.Module) -> int:
    """Return how many of the sentences are translated rightly."""
    return sum(written == french for written, (_, french) in zip(translate_all(model), PAIRS, strict=True))


@torch.no_grad()
def loss_per_word(model: nn.Module, english: str, french: str) -> Tensor:
    """Return the loss of each French word and of `<EOS>`, where the decoder reads the right words before it."""
    logits = model(_ids([english], _ENGLISH), _ids(["<SOS> " + french], _FRENCH))  # (1, target, vocabulary)
    return F.cross_entropy(logits[0], _ids([french + " <EOS>"], _FRENCH)[0], reduction="none")


@torch.no_grad()
def cross_weights(model: nn.Module, english: str, french: str) -> Tensor:
    """Return the weights of the cross-attention, (target, source): the mean of all layers and heads."""
    model(_ids([english], _ENGLISH), _ids(["<SOS> " + french], _FRENCH))
    return torch.cat([layer.cross_attention.weights for layer in model.decoder.layers]).mean(dim=(0, 1))


def compare_with_torch(stack_class: type[nn.Module] = Decoder) -> None:
    """Assert that a stack equals torch's, with its gradients, post-norm and pre-norm, and print a line."""
    torch.manual_seed(0)
    causal, real = causal_mask(4), torch.tensor([5, 3, 4])[:, None] > torch.arange(5)  # (batch, source), True for words
    for pre_norm in (False, True):
        config = TransformerConfig(d_model=8, num_layers=2, num_heads=2, d_ff=12, dropout=0.0, pre_norm=pre_norm)
        ours = stack_class(config).double()
        for parameter in ours.parameters():  # also those that start at 0 or 1
            nn.init.normal_(parameter, std=0.3)
        layer = nn.TransformerDecoderLayer(8, 2, 12, 0.0, batch_first=True, norm_first=pre_norm)
        theirs = nn.TransformerDecoder(layer, 2, norm=nn.LayerNorm(8) if pre_norm else None).double()
        inputs = torch.randn(3, 4, 8).double(), torch.randn(3, 5, 8).double()
        our_masks = {"self_mask": causal, "memory_mask": real[:, None, None, :]}
        their_masks = {"tgt_mask": ~causal, "memory_key_padding_mask": ~real}  # True: may not look
        assert_equals_torch(ours, theirs, inputs, our_masks, their_masks)
    print("two layers equal torch's, post-norm and pre-norm, gradients too")


def where_they_look(models: list[nn.Module], english: str, french: str) -> None:
    """Print the weight of the source word that each French word needs: trained models, and one that is not trained."""
    torch.manual_seed(0)
    untrained = Translator(Decoder(SIZES)).eval()
    print("writes    expected    trained                one untrained")
    for row, column, written in [(0, 2, "la"), (1, 2, "vache"), (2, 1, "blanche"), (4, 4, "fatiguée")]:
        shares = [cross_weights(model, english, french)[row, column].item() for model in (*models, untrained)]
        assert abs(shares[-1] - 0.2) < 0.05 and (row == 0 or min(shares[:-1]) > 0.28)
        print(f"{written:10}{english.split()[column]:12}" + "".join(f"≈ {share:.2f} " for share in shares[:-1]), end="  ")
        print(f"≈ {shares[-1]:.2f}")


def contradict(models: list[nn.Module]) -> None:
    """Print the chances of both words for tired, the gender that is written first, where the source agrees and where not."""
    print("written               source  the written gender     the other gender")
    for start, words, nouns in [
        ("la vache blanche est", ("fatiguée", "fatigué"), ("cow", "horse")),
        ("le cheval blanc est", ("fatigué", "fatiguée"), ("horse", "cow")),
    ]:
        for noun in nouns:
            english, shown = f"the white {noun} is tired", []
            for word in words:
                chances = [math.exp(-loss_per_word(model, english, f"{start} {word}")[4]) for model in models]
                shown.append(" ".join(f"≈ {chance:.2f}" for chance in chances))
                if word == words[0]:
                    assert min(chances) > 0.95 if noun == nouns[0] else max(chances) < 0.97
            print(f"{start:22}{noun:8}{shown[0]}   {shown[1]}")
