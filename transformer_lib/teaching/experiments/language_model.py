"""The runs of chapter 19: stories in a row, five differences one after the other, and SmolLM2 with the file or without."""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lib.attention import join_heads, split_heads
from transformer_lib.decoding import sampling_probabilities
from transformer_lib.encoder import FeedForward, LayerNorm, TransformerConfig
from transformer_lib.language_model import (
    Cache,
    DecoderOnly,
    LanguageModel,
    LanguageModelConfig,
    RMSNorm,
)
from transformer_lib.masks import causal_mask
from transformer_lib.teaching.corpora.stories import stories
from transformer_lib.teaching.record import record

DIFFERENCES = ("RMSNorm, before each sublayer", "no biases", "rotary positions", "grouped queries", "SwiGLU")
SMALL = LanguageModelConfig(vocab_size=20, d_model=24, num_layers=2, num_heads=6, num_kv_heads=2, d_ff=20, base=100.0)
STORY = "Once upon a time, there was a little white cow who was very tired. She"
PROMPTS = (  # and the rule that chooses
    ("A Transformer is a neural network that", "greedy"),
    ("def fibonacci(n):\n    if", "greedy"),
    (STORY, "greedy"),
    (STORY, "top-p"),
)
LENGTH = 40  # tokens that are added to a prompt
PASSAGE = (
    "A small town lies between a river and a forest. In the morning the baker opens first, and the smell of bread wakes the "
    "children who live above the shop. By noon the market is full: farmers bring apples and cheese, a man mends shoes, and two "
    "old women argue about the weather. In the evening everybody walks home along the water, and the lamps are lit one by one."
)
REPEATED = "The old cow saw a red hat. The old cow"


def story_text() -> tuple[list[str], Tensor]:
    """Return the words of chapter 13's stories, and the ids of 3,000 stories in one row."""
    text = [word for pair in stories(3000, seed=0) for part in pair for word in part.split()]
    words = sorted(set(text))
    ids = {word: index for index, word in enumerate(words)}
    return words, torch.tensor([ids[word] for word in text])


def _check(name: str, ours: Tensor, theirs: Tensor, inputs: list[Tensor]) -> None:
    """Print that two outputs are equal, and their gradients for `inputs`."""
    weight = torch.randn_like(ours)
    gradients = [torch.autograd.grad((one * weight).sum(), inputs, retain_graph=True) for one in (ours, theirs)]
    for mine, expected in zip((ours, *gradients[0]), (theirs, *gradients[1]), strict=True):
        torch.testing.assert_close(mine, expected)
    print(f"{name:24} equal: output and gradients")


def compare_with_torch(rms_norm: type, rotate: Callable, attention: type, swiglu: type) -> None:
    """Check each part, in float64, with what torch has; a rotation with a product of complex numbers."""
    torch.manual_seed(0)
    x = torch.randn(2, 5, 24, dtype=torch.float64, requires_grad=True)
    norm = rms_norm(24).double()
    norm.weight.data.normal_()
    _check("RMSNorm", norm(x), F.rms_norm(x, [24], norm.weight, norm.eps), [x, norm.weight])
    angle = torch.arange(5.0, dtype=torch.float64)[:, None] / 10_000 ** (torch.arange(12, dtype=torch.float64) / 12)
    turned = torch.view_as_complex(x.unflatten(-1, (-1, 2))) * torch.polar(torch.ones_like(angle), angle)
    _check("rotate", rotate(x), torch.view_as_real(turned).flatten(-2), [x])
    layer = attention(24, 6, 2).double()
    q, k, v = (split_heads(W(x), heads) for W, heads in ((layer.W_q, 6), (layer.W_k, 2), (layer.W_v, 2)))
    heads = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True, enable_gqa=True)
    ours = layer(x, causal_mask(5), Cache())
    _check("grouped-query attention", ours, layer.W_o(join_heads(heads)), [x, *layer.parameters()])
    network = swiglu(24, 16).double()
    inside = F.linear(x, network.gate.weight)
    theirs = F.linear(F.glu(torch.cat([F.linear(x, network.inner.weight) * inside, inside], dim=-1)), network.outer.weight)
    _check("SwiGLU", network(x), theirs, [x, *network.parameters()])


def changed(count: int, config: LanguageModelConfig) -> nn.Module:
    """Return chapter 7's decoder-only model with the first `count` of the five `DIFFERENCES`.

    Without SwiGLU the feed-forward network has the usual 4 · d_model numbers inside.
    """
    d_model, d_ff = config.d_model, 4 * config.d_model
    if count < 3:
        sizes = {"d_model": d_model, "num_layers": config.num_layers, "num_heads": config.num_heads, "d_ff": d_ff}
        model = DecoderOnly(TransformerConfig(target_vocab_size=config.vocab_size, dropout=0.0, pre_norm=count > 0, **sizes))
        for part in [*model.modules()] if count else []:
            for name, child in part.named_children():
                if isinstance(child, LayerNorm):
                    setattr(part, name, RMSNorm(d_model))
    else:
        model = LanguageModel(config if count > 3 else replace(config, num_kv_heads=config.num_heads))
        for layer in model.layers if count < 5 else []:
            layer.feed_forward = FeedForward(d_model, d_ff)
    for part in model.modules() if count > 1 else []:
        if isinstance(part, nn.Linear):
            part.bias = None
    return model


def best(logits: Tensor) -> Tensor:
    """Return the most probable token of each row, (batch, 1)."""
    return logits.argmax(dim=-1, keepdim=True)


def drawn(seed: int, top_p: float = 0.9) -> Callable[[Tensor], Tensor]:
    """Return a rule that draws by top-p, the same tokens for the same seed."""
    generator = torch.Generator().manual_seed(seed)
    return lambda logits: torch.multinomial(sampling_probabilities(logits, top_p=top_p), 1, generator=generator)


def small_weights(model: nn.Module) -> dict[str, Tensor]:
    """Return random weights for a small model, in float64; those of norms are near 1."""
    generator = torch.Generator().manual_seed(0)
    normal = lambda shape: torch.randn(shape, generator=generator, dtype=torch.float64)
    return {
        name: 1 + normal(weight.shape) / 10 if weight.ndim == 1 else normal(weight.shape) / weight.size(1) ** 0.5
        for name, weight in model.state_dict().items()
    }


def tensors_of_the_file() -> dict[str, tuple[int, ...]]:
    """Return the name and the shape of each tensor in SmolLM2's file; those of a layer are the same in all of them."""
    stored = record("smollm2")["numbers"]["tensors"]
    layers = range(LanguageModelConfig().num_layers)
    every = {name.replace("blk.0.", f"blk.{layer}."): tuple(shape) for layer in layers for name, shape in stored.items()}
    return every


RULES = {"greedy": lambda: best, "top-p": lambda: drawn(seed=0)}


def compare_logits(model: nn.Module | None) -> None:
    """Print, from the record, how far our logits are from the reference's; say whether the model is here."""
    found = record("smollm2")["numbers"]["logits"]
    print("the file is here: the model writes now" if model else "no file here: what follows is stored")
    print(f"largest logit {found['largest logit']:.0f}, largest difference to the reference {found['largest difference']:.0e}")
    print(f"the same best token at {found['same best token']} of {found['places']} places")


def stored_text(prompt: str, rule: str) -> str:
    """Return what SmolLM2 has written in the record's run: the prompt and what follows."""
    return record("smollm2")["numbers"]["texts"][rule][prompt]


def one_head() -> tuple[list[str], Tensor, str]:
    """Return the tokens, the weights and the title of the record's head."""
    found = record("smollm2")["numbers"]["head"]
    title = f"Layer {found['layer'] + 1}, head {found['head'] + 1}: what came after this word before?"
    return found["tokens"], torch.tensor(found["weights"]), title


def speed() -> None:
    """Print from the record how many tokens a second were written, with the cache and without."""
    found = record("smollm2")["numbers"]["tokens per second"]
    cached, without = found["with the cache"], found["without"]
    print(f"with the cache {cached:.0f} tokens a second, without it {without:.1f}: {cached / without:.1f} times as fast")


def another_base() -> None:
    """Print from the record SmolLM2's loss on `PASSAGE`, and that with the paper's base of the rotation."""
    own, papers = record("smollm2")["numbers"]["losses by base"].values()
    print(f"loss per token: {own:.2f}, with the base 10,000: {papers:.2f}")
