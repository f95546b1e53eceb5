"""Chapter 10: the model against loops and torch, a trained one to look at, first losses, and models with a piece taken out."""

import warnings
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.testing import assert_close
from torch.utils.flop_counter import FlopCounterMode

from transformer_lib.decoder import Decoder
from transformer_lib.encoder import AddAndNorm, Encoder, TransformerConfig
from transformer_lib.masks import causal_mask
from transformer_lib.positional_encoding import sinusoidal_table
from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID
from transformer_lib.teaching import record
from transformer_lib.teaching.experiments.sequence_tasks import VOCABULARY, exact_match, train_on_task
from transformer_lib.teaching.torch_parity import compare_gradients, copy_to_torch
from transformer_lib.transformer import Transformer, flop_table
from transformer_lib.translation import Translator, pretrained_translator

__all__ = [
    "PIECES",
    "TRAINING",
    "compare_with_torch",
    "copied_without_a_piece",
    "count_operations",
    "first_losses",
    "glued",
    "most_probable",
    "small",
    "torch_transformer",
    "train_without_the_factor",
    "translator_as_transformer",
    "without",
]

TRAINING = {"steps": 600, "longest": 5, "learning_rate": 5e-3, "warmup": 100}

# What can be taken out, by the name that the chapter gives it.
PIECES = [
    "positions",
    "encoder's attention",
    "decoder's own attention",
    "causal mask",
    "cross-attention",
    "feed-forward",
    "plus",
    "norm",
]


def small(seed: int) -> Transformer:
    """Return a Transformer of one encoder layer and one decoder layer, 32 wide, with one shared matrix."""
    config = TransformerConfig(
        d_model=32,
        num_layers=1,
        num_heads=2,
        d_ff=64,
        dropout=0.0,
        source_vocab_size=VOCABULARY,
        target_vocab_size=VOCABULARY,
        shared_vocabulary=True,
    )
    torch.manual_seed(seed)
    return Transformer(config)


class _Nothing(nn.Module):
    """Stands in the place of a sublayer and gives zeros, so that the sum around it is what came in."""

    def forward(self, x: Tensor, *rest: Tensor | None) -> Tensor:
        return torch.zeros_like(x)


class _NoPlus(nn.Module):
    def __init__(self, whole: AddAndNorm) -> None:
        super().__init__()
        self.norm = whole.norm

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return self.norm(sublayer(x))


class _NoNorm(nn.Module):
    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return x + sublayer(x)


class _NoCausalMask(nn.Module):
    """A decoder that may see all words of the target; the sentences here have no padding."""

    def __init__(self, decoder: Decoder) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(self, x: Tensor, memory: Tensor, self_mask: Tensor | None, memory_mask: Tensor | None) -> Tensor:
        return self.decoder(x, memory, None, memory_mask)


def without(piece: str | None, seed: int) -> Transformer:
    """Return the small model with one of the `PIECES` taken out, in all its layers; with None the whole one.

    What is left starts with the whole model's weights. Raises `ValueError` for an unknown piece.
    """
    if piece not in (None, *PIECES):
        raise ValueError(f"piece is {piece!r}, expected None or one of {', '.join(PIECES)}")
    model = small(seed)
    encoder_layers, decoder_layers = list(model.encoder.layers), list(model.decoder.layers)
    if piece == "positions":
        model.positional_encoding = nn.Identity()
    if piece == "causal mask":
        model.decoder = _NoCausalMask(model.decoder)
    taken = {
        "encoder's attention": [(layer, "attention") for layer in encoder_layers],
        "decoder's own attention": [(layer, "self_attention") for layer in decoder_layers],
        "cross-attention": [(layer, "cross_attention") for layer in decoder_layers],
        "feed-forward": [(layer, "feed_forward") for layer in encoder_layers + decoder_layers],
    }
    for layer, name in taken.get(piece or "", []):
        setattr(layer, name, _Nothing())
    for layer in encoder_layers + decoder_layers:
        for name, part in list(layer.named_children()):
            if isinstance(part, AddAndNorm) and piece in ("plus", "norm"):
                setattr(layer, name, _NoPlus(part) if piece == "plus" else _NoNorm())
    return model


class _PlainEmbedding(nn.Module):
    """The rows as they stand, without √d_model."""

    def __init__(self, weight: nn.Parameter) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, tokens: Tensor) -> Tensor:
        return F.embedding(tokens, self.weight)


def glued(seed: int) -> Transformer:
    """Return the small model with its parts' own starts: `nn.Linear`'s in the layers, torch's embedding at both ends."""
    model = small(seed)
    model.encoder, model.decoder = Encoder(model.config), Decoder(model.config)
    embedding = _PlainEmbedding(nn.Parameter(torch.randn(VOCABULARY, model.config.d_model)))
    model.source_embedding = model.target_embedding = embedding
    model.output.weight = embedding.weight
    return model


# The proof


def _embedded(tokens: Tensor, matrix: Tensor) -> Tensor:
    """Look up one word at a time, and add the positions."""
    d_model = matrix.size(1)
    places = sinusoidal_table(tokens.size(1), d_model).to(matrix)
    return torch.stack([torch.stack([matrix[word] * d_model**0.5 for word in row]) + places for row in tokens.tolist()])


def _by_loops(model: Transformer, source: Tensor, target_in: Tensor) -> Tensor:
    """Run our encoder and decoder between ends and masks that are made word by word."""
    real = torch.tensor([[word != PAD_ID for word in row] for row in source.tolist()])[:, None, None, :]
    memory = model.encoder(_embedded(source, model.source_embedding.weight), real)
    length = target_in.size(1)
    may = [[[k <= q and row[k] != PAD_ID for k in range(length)] for q in range(length)] for row in target_in.tolist()]
    x = _embedded(target_in, model.target_embedding.weight)
    return model.decoder(x, memory, torch.tensor(may)[:, None], real) @ model.output.weight.T


def torch_transformer(model: Transformer, source: Tensor, target_in: Tensor) -> tuple[Tensor, nn.Transformer]:
    """Run torch's `nn.Transformer` with our weights between our embedding and our output; return the logits and the module."""
    c, matrix = model.config, model.source_embedding.weight
    layers = c.num_layers, c.num_layers
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="enable_nested_tensor")
        stacks = nn.Transformer(c.d_model, c.num_heads, *layers, c.d_ff, 0.0, batch_first=True, dtype=matrix.dtype)
    stacks.encoder.norm = stacks.decoder.norm = None  # the paper has no norm there
    copy_to_torch(model, stacks)
    x = stacks(
        _embedded(source, matrix),
        _embedded(target_in, model.target_embedding.weight),
        tgt_mask=~causal_mask(target_in.size(1)),  # torch's masks hide where they are True
        src_key_padding_mask=source == PAD_ID,
        tgt_key_padding_mask=target_in == PAD_ID,
        memory_key_padding_mask=source == PAD_ID,
    )
    return F.linear(x, model.output.weight), stacks


def compare_with_torch(kind: type[Transformer]) -> None:
    """Compare the model with plain loops and with torch's `nn.Transformer`, two sentences with padding; print a line each."""
    torch.manual_seed(0)
    model = kind(replace(TransformerConfig.tiny(15, 15), dropout=0.0, shared_vocabulary=True)).double()
    for parameter in model.parameters():  # no bias is 0, no norm's weight is 1
        nn.init.normal_(parameter, std=0.2)
    source = torch.tensor([[3, 4, 5, 6, 7], [8, 9, 10, 0, 0]])
    target_in = torch.tensor([[1, 11, 12, 13], [1, 14, 0, 0]])
    ours, looped = model(source, target_in), _by_loops(model, source, target_in)
    upstream = torch.randn_like(ours)
    assert_close(ours, looped)
    assert_close(*(torch.autograd.grad(x, list(model.parameters()), upstream) for x in (ours, looped)))
    print("equal to plain loops: logits and gradients")

    theirs, stacks = torch_transformer(model, source, target_in)
    ours = model(source, target_in)
    assert_close(ours, theirs)
    print("equal to torch's nn.Transformer: logits")
    ours.backward(upstream)
    shared, model.output.weight.grad = model.output.weight.grad, None
    theirs.backward(upstream)
    assert_close(model.output.weight.grad, shared)
    for mine, its in compare_gradients(model, stacks):
        assert_close(mine, its)
    print("equal to torch's nn.Transformer: gradients, of the shared matrix too")


# A trained model


def translator_as_transformer() -> tuple[Transformer, Translator]:
    """Return chapter 14's translator as this chapter's class, and the translator, which knows the words."""
    translator = pretrained_translator()
    model = Transformer(translator.model.config).eval().requires_grad_(False)
    model.load_state_dict(translator.model.state_dict())
    return model, translator


@torch.no_grad()
def most_probable(model: Transformer, translator: Translator, text: str) -> list[tuple[str, list[str], list[float]]]:
    """Return, for each step, the token that is read, the three most probable next ones and their probabilities."""
    state, token, steps = model.start(torch.tensor([translator.read(text)])), torch.tensor([[SOS_ID]]), []
    name_of = translator.tokenizer.backend.id_to_token
    names = {SOS_ID: "<SOS>", EOS_ID: "<EOS>"}
    while token.item() != EOS_ID and len(steps) < 20:
        best = model.decode(token, state)[0, -1].softmax(dim=-1).topk(3)
        shown = [names.get(i, name_of(i).removeprefix("▁")) for i in best.indices.tolist()]
        steps.append((steps[-1][1][0] if steps else "<SOS>", shown, best.values.tolist()))
        token = best.indices[:1, None]
    return steps


# Going deeper


def copied_without_a_piece() -> dict[str, list[float]]:
    """Return from the record, for the whole copier and without each of `PIECES`, the share of three runs copied at length 5."""
    kept = record("copy_pieces")
    assert kept["settings"]["training"] == TRAINING
    runs = {name.removeprefix("without: "): [run["exact_match"][-1] for run in of] for name, of in kept["numbers"].items()}
    needed = {"positions", "causal mask", "cross-attention"}
    assert all(max(runs[name]) < 0.02 for name in needed) and min(runs["plus"]) < 0.2
    assert all(min(runs[name]) > 0.95 for name in set(PIECES) - needed - {"plus"})
    ordered = sorted(PIECES, key=lambda name: -sum(runs[name]))
    return {"nothing": runs["whole"], **{name: runs[name] for name in ordered}}


def first_losses(words: int = 8000) -> None:
    """Print the first loss of four models of that many words, three starts each, and what they say of the word just read."""
    config = TransformerConfig(
        d_model=256,
        num_layers=2,
        num_heads=4,
        d_ff=512,
        dropout=0.0,
        source_vocab_size=words,
        target_vocab_size=words,
        shared_vocabulary=True,
    )

    def run(start: str, source: Tensor, target_in: Tensor) -> Tensor:
        model = Transformer(config)
        if start != "ours":
            model.encoder, model.decoder = Encoder(config), Decoder(config)
        if start in ("glued together", "two matrices"):
            model.source_embedding = model.target_embedding = _PlainEmbedding(nn.Parameter(torch.randn(words, 256)))
            model.output.weight = model.source_embedding.weight
        if start == "two matrices":
            model.output.weight = nn.Parameter(torch.randn(words, 256))
        return model(source, target_in)

    bounds = {"glued together": (170, 220), "two matrices": (50, 80), "our embedding": (11, 13.5), "ours": (9.2, 9.8)}
    for start, (low, high) in bounds.items():
        losses, again = [], []
        for seed in range(3):
            torch.manual_seed(seed)
            source, target_in, answers = torch.randint(3, words, (3, 8, 12), generator=torch.Generator().manual_seed(seed))
            with torch.no_grad():
                logits = run(start, source, target_in)  # (8, 12, words)
            losses.append(F.cross_entropy(logits.flatten(0, 1), answers.flatten()).item())
            again.append(logits.softmax(dim=-1).gather(-1, target_in[..., None]).mean().item())
        assert low < min(losses) <= max(losses) < high
        shown = " ".join(f"≈ {loss:6.2f}" for loss in losses)
        print(f"{start:15} loss {shown}   the word just read ≈ {sum(again) / 3:.3f}")


def train_without_the_factor() -> None:
    """Train the copier with rows that are not multiplied at the entrance; print the rows' size and what it copies."""
    model = small(seed=3)
    model.source_embedding = model.target_embedding = _PlainEmbedding(model.output.weight)
    before = model.output.weight.std().item()
    train_on_task(model, task="copy", seed=3, **TRAINING)
    share = exact_match(model.eval(), task="copy", length=5, count=1000, seed=1003)
    print(f"size of the rows' numbers: ≈ {before:.2f} before, ≈ {model.output.weight.std().item():.2f} after")
    print(f"sentences of five copied: ≈ {share:.3f}")
    assert share > 0.97


def count_operations() -> None:
    """Compare `flop_table` with torch's own counter for two sizes of model and sentences."""
    for d_ff, source, target in [(128, 7, 5), (96, 3, 9)]:
        config = replace(TransformerConfig.tiny(50, 50), d_ff=d_ff)
        model = Transformer(config).eval()
        # The counter does not look into the fused attention kernel: take the plain one.
        with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
            model(torch.full((1, source), 3), torch.full((1, target), 3))
        counted, by_formula = counter.get_total_flops(), sum(flop_table(config, source, target).values())
        print(f"{source} → {target} tokens: torch counts {counted:,}, the formula {by_formula:,}")
        assert counted == by_formula
