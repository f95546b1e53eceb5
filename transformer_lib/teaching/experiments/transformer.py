"""Chapter 10: the model against torch's, a trained one to look at, first losses, and models with a piece taken out."""

import warnings
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
from transformer_lib.teaching.experiments.sequence_tasks import VOCABULARY
from transformer_lib.teaching.torch_parity import compare_gradients, copy_to_torch
from transformer_lib.transformer import Transformer, flop_table
from transformer_lib.translation import Translator

TRAINING = {"steps": 600, "longest": 5, "learning_rate": 5e-3, "warmup": 100}

# What can be taken out, by the name that the chapter gives it, and the sublayers that are then silent.
PIECES = {
    "positions": "",
    "encoder's attention": "attention",
    "decoder's own attention": "self_attention",
    "causal mask": "",
    "cross-attention": "cross_attention",
    "feed-forward": "feed_forward",
    "plus": "",
    "norm": "",
}


def small(seed: int) -> Transformer:
    """Return a Transformer of one encoder layer and one decoder layer, 32 wide, with one shared matrix."""
    sizes = {"d_model": 32, "num_layers": 1, "num_heads": 2, "d_ff": 64, "dropout": 0.0}
    torch.manual_seed(seed)
    return Transformer(replace(TransformerConfig.tiny(VOCABULARY, VOCABULARY), **sizes, shared_vocabulary=True))


def without(piece: str | None, seed: int) -> Transformer:
    """Return the small model with one of the `PIECES` taken out, in all its layers; with None the whole one."""
    model = small(seed)
    decode = model.decoder.forward
    if piece == "positions":
        model.positional_encoding.forward = lambda x: x
    if piece == "causal mask":  # the sentences here have no padding, so nothing else is hidden
        model.decoder.forward = lambda x, memory, self_mask, memory_mask: decode(x, memory, None, memory_mask)
    for layer in [*model.encoder.layers, *model.decoder.layers]:
        for name, part in layer.named_children():
            if name == PIECES.get(piece):
                part.forward = lambda x, *rest: torch.zeros_like(x)
            if isinstance(part, AddAndNorm) and piece == "plus":
                part.forward = lambda x, sublayer, norm=part.norm: norm(sublayer(x))
            if isinstance(part, AddAndNorm) and piece == "norm":
                part.forward = lambda x, sublayer: x + sublayer(x)
    return model


# The proof


def _embedded(tokens: Tensor, matrix: Tensor) -> Tensor:
    return F.embedding(tokens, matrix) * matrix.size(1) ** 0.5 + sinusoidal_table(tokens.size(1), matrix.size(1)).to(matrix)


def torch_transformer(model: Transformer, source: Tensor, target_in: Tensor) -> tuple[Tensor, nn.Transformer]:
    """Run torch's `nn.Transformer` with our weights between our embedding and our output; return the logits and the module."""
    c, matrix = model.config, model.source_embedding.weight
    sizes = c.d_model, c.num_heads, c.num_layers, c.num_layers, c.d_ff, 0.0
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="enable_nested_tensor")
        stacks = nn.Transformer(*sizes, batch_first=True, norm_first=c.pre_norm, dtype=matrix.dtype)
    if not c.pre_norm:
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
    """Compare the model with torch's `nn.Transformer`, two sentences with padding; print two lines."""
    torch.manual_seed(0)
    model = kind(replace(TransformerConfig.tiny(15, 15), dropout=0.0, shared_vocabulary=True)).double()
    for parameter in model.parameters():  # no bias is 0, no norm's weight is 1
        nn.init.normal_(parameter, std=0.2)
    source = torch.tensor([[3, 4, 5, 6, 7], [8, 9, 10, 0, 0]])
    target_in = torch.tensor([[1, 11, 12, 13], [1, 14, 0, 0]])
    ours, (theirs, stacks) = model(source, target_in), torch_transformer(model, source, target_in)
    assert_close(ours, theirs)
    print("equal to torch's nn.Transformer: logits")
    upstream = torch.randn_like(ours)
    ours.backward(upstream)
    shared, model.output.weight.grad = model.output.weight.grad, None
    theirs.backward(upstream)
    assert_close(model.output.weight.grad, shared)
    for mine, its in compare_gradients(model, stacks):
        assert_close(mine, its)
    print("equal to torch's nn.Transformer: gradients, of the shared matrix too")


# A trained model


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
    sizes = {"d_model": 256, "num_heads": 4, "d_ff": 512, "dropout": 0.0}
    config = replace(TransformerConfig.tiny(words, words), **sizes, shared_vocabulary=True)

    def run(start: str, source: Tensor, target_in: Tensor) -> Tensor:
        model = Transformer(config)
        if start != "ours":
            model.encoder, model.decoder = Encoder(config), Decoder(config)
        if start in ("glued together", "two matrices"):
            model.source_embedding = model.target_embedding = nn.Embedding(words, 256)
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


def torchs_count(config: TransformerConfig, source: int, target: int) -> int:
    """Return the operations that torch's own counter finds in a pass over one pair of sentences."""
    model = Transformer(config).eval()
    # The counter does not look into the fused attention kernel: take the plain one.
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
        model(torch.full((1, source), 3), torch.full((1, target), 3))
    return counter.get_total_flops()


def count_operations() -> None:
    """Compare `flop_table` with torch's own counter for two sizes of model and sentences."""
    for d_ff, source, target in [(128, 7, 5), (96, 3, 9)]:
        config = replace(TransformerConfig.tiny(50, 50), d_ff=d_ff)
        counted, by_formula = torchs_count(config, source, target), sum(flop_table(config, source, target).values())
        print(f"{source} → {target} tokens: torch counts {counted:,}, the formula {by_formula:,}")
        assert counted == by_formula
