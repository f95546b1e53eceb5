"""Checks for the exercises of chapter 7, The encoder."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from transformer_lib.encoder import EncoderLayer, TransformerConfig
from transformer_lib.teaching.exercises import Hint, check, exercise, normal, numbers, same
from transformer_lib.teaching.torch_parity import copy_to_torch

__all__ = ["encoder_layer", "pour", "two_bends"]


@exercise(
    cases=[(torch.tensor([[4.0, 0.0], [0.0, 4.0]]), 2, add) for add in (True, False)]
    + [(*normal((3, 4), seed=7), 3, add) for add in (True, False)],
    hint="Each round: the average of the tokens as they are now, x.mean(dim=0); then x + average, or the average for each",
)
def pour(x: Tensor, rounds: int, add: bool) -> Iterator:
    """The reader's `pour(x, rounds, add)` adds the tokens' average to each token, or replaces each by it, `rounds` times."""

    def poured(x: Tensor, rounds: int, add: bool, dim: int = 0) -> Tensor:
        for _ in range(rounds):
            average = x.mean(dim, keepdim=True).expand_as(x)
            x = x + average if add else average
        return x

    yield (
        poured(x, rounds, add),
        "added, the two tokens are [10, 6] and [6, 10] and still differ by 4 and -4; replaced, both are [2, 2]",
    )
    yield (
        poured(x, rounds, not add),
        "`add` is the wrong way round: True adds the average, False puts it in the place of the token",
    )
    yield poured(x, 1, add), "this is one round, however many are asked for"
    if add:
        first = x.mean(0, keepdim=True)
        yield x + rounds * first, "the average of the first round is added each time: take that of the tokens as they are now"
    yield (
        poured(x, rounds, add, dim=1),
        "this averages the numbers within a token; the tokens are the rows, so average over dim=0",
    )
    shape = (
        "each of the tokens gets the average, so the result keeps the shape of x: expand_as(x), or an average with keepdim=True"
    )
    if not add:
        yield poured(x, rounds, False)[0], shape
        yield x.mean(), shape
    for _ in range(rounds):
        x = x + x.sum(0) if add else x.sum(0, keepdim=True).expand_as(x)
    yield x, "this takes the sum of the tokens; their average is the sum divided by how many they are"


def _slips(layer: EncoderLayer, x: Tensor) -> Iterator[tuple[Tensor, str]]:
    """Yield the outputs of likely mistakes, each with its hint."""
    feed_forward, first, second = layer.feed_forward, layer.attention_add_norm.norm, layer.feed_forward_add_norm.norm

    def attention(x: Tensor) -> Tensor:
        return layer.attention(x, x, x)

    z = first(x + attention(x))
    yield second(x + feed_forward(z)), "the second residual connection starts at z, behind the first norm, and not at x"
    yield second(z + feed_forward(x)), "the feed-forward network works on z, which has been through attention, and not on x"
    yield second(feed_forward(z)), "the second residual connection is missing: add z"
    replaced = first(attention(x))
    yield second(replaced + feed_forward(replaced)), "the first residual connection is missing: add x"
    yield second(feed_forward(replaced)), "both residual connections are missing: this replaces the tokens, twice"
    yield second(z + feed_forward.outer(feed_forward.inner(z))), "the ReLU is missing between the two linear layers"
    yield second(z + feed_forward(z).relu()), "the ReLU stands between the two linear layers, not behind them"
    yield z, "this is the first half: the feed-forward network is missing"
    yield z + feed_forward(z), "the second norm is missing"
    bare = x + attention(x)
    yield bare + feed_forward(bare), "both norms are missing: the sums would grow"
    yield second(bare + feed_forward(bare)), "the first norm is missing: there is one behind each plus"
    before = x + attention(first(x))
    yield before + feed_forward(second(before)), "this is pre-norm; in the paper's order the norm stands behind the plus"
    yield first(z + feed_forward(z)), "norm_1 is used twice: each norm has its own γ and β"
    inside = x + first(attention(x))
    yield inside + second(feed_forward(inside)), "the norm takes the sum, not what the sublayer gives"


@check
def encoder_layer(attempt: Callable) -> str:
    """The reader's class gives the numbers of the library's layer and of torch's."""
    mine = attempt(12, 3, 20)
    ours = EncoderLayer(TransformerConfig(d_model=12, num_heads=3, d_ff=20, dropout=0.0))
    theirs = nn.TransformerEncoderLayer(12, 3, 20, dropout=0.0, batch_first=True)
    if not isinstance(mine, nn.Module):
        raise Hint("the class should be an nn.Module")
    parts = {
        "attention": (ours.attention, "MultiHeadAttention(d_model, num_heads)"),
        "inner": (ours.feed_forward.inner, "nn.Linear(d_model, d_ff)"),
        "outer": (ours.feed_forward.outer, "nn.Linear(d_ff, d_model)"),
        "norm_1": (ours.attention_add_norm.norm, "LayerNorm(d_model)"),
        "norm_2": (ours.feed_forward_add_norm.norm, "LayerNorm(d_model)"),
    }
    if getattr(mine, "norm_1", None) is getattr(mine, "norm_2", 0):
        raise Hint("norm_1 and norm_2 are one object: each norm has its own γ and β")
    with torch.random.fork_rng():
        torch.manual_seed(7)
        for name, (part, made) in parts.items():
            given = getattr(mine, name, None)
            if not isinstance(given, nn.Module):
                raise Hint(f"self.{name} should be {made}")
            for parameter in given.parameters():
                nn.init.normal_(parameter, std=0.4)
            try:
                part.load_state_dict(given.state_dict())
            except RuntimeError:
                raise Hint(f"self.{name} should be {made}: its parameters have other shapes") from None
        copy_to_torch(ours, theirs)
        x = torch.randn(2, 5, 12)
    try:
        found = mine(x)
    except NotImplementedError:
        raise Hint("forward is not written yet") from None
    except Exception as problem:
        raise Hint(f"forward raises {type(problem).__name__}: {problem}") from problem
    if same(found, ours(x)) and same(found, theirs(x)):
        return "equal to the library's layer and to torch's: two sublayers, and add & norm around each"
    for wrong, hint in _slips(ours, x):
        if same(found, wrong):
            raise Hint(hint)
    shape = tuple(getattr(found, "shape", ()))
    if shape != x.shape:
        raise Hint(f"the output should have the shape of x, {tuple(x.shape)}, not {shape}")
    raise Hint(
        "the numbers differ from the library's: z = norm_1(x + attention(x, x, x)) first, then the same around the network"
    )


PARTS = ("w_1", "b_1", "w_2", "b_2")


@check
def two_bends(attempt: Callable) -> str:
    """The reader's `two_bends()` returns the numbers of a feed-forward network that is 0, then a, then 1."""
    given = attempt()
    if not isinstance(given, list | tuple) or len(given) != len(PARTS):
        raise Hint(f"return four things: {', '.join(PARTS[:3])} and {PARTS[3]}")
    try:
        width = len(given[1])
    except TypeError:
        raise Hint("b_1 is a vector: one number for each number inside, as in [0, 0]") from None
    shapes = ((1, width), (width,), (width, 1), (1,))
    w_1, b_1, w_2, b_2 = (
        torch.from_numpy(numbers(value, shape, name)) for value, shape, name in zip(given, shapes, PARTS, strict=True)
    )

    def network(a: Tensor) -> Tensor:
        return ((a @ w_1 + b_1).relu() @ w_2 + b_2).squeeze(1)

    a = torch.tensor([[-2.0], [-0.5], [0.0], [0.25], [0.75], [1.0], [1.5], [4.0]], dtype=torch.float64)
    found, expected = network(a), a.squeeze(1).clamp(0, 1)
    mistakes = [
        (a.squeeze(1).relu(), "it never stops: one bend at 0 is there. A second one, at 1, must take away what the first adds"),
        (a.squeeze(1), "this is a straight line: let a number inside be negative for a below 0, so that the ReLU cuts it"),
        (a.squeeze(1).abs(), "this is the V of the page: both bends stand at 0. A bias in b_1 moves a bend to another place"),
        (
            torch.zeros(len(a), dtype=a.dtype),
            "this is 0 everywhere: the numbers inside cancel, or none of them survives the ReLU",
        ),
        (
            a.squeeze(1).relu() + (a.squeeze(1) - 1).relu(),
            "the second bend goes the wrong way: from 1 on it must take away, so w_2 has a -1",
        ),
        (
            a.squeeze(1).relu() - (a.squeeze(1) + 1).relu(),
            "the second bend stands at -1: a - 1 inside, with -1 in b_1, bends at 1",
        ),
    ]
    if same(found, expected):
        return "0, then a, then 1: each number inside makes one bend, and its bias says where"
    for mistake, hint in mistakes:
        if same(found, mistake):
            raise Hint(hint)
    wrong = next(n for n in range(len(a)) if abs(found[n] - expected[n]) > 1e-4)
    raise Hint(
        f"for a = {a[wrong].item():g} it gives {found[wrong].item():.4g}, not {expected[wrong].item():g}. "
        "Put a and a - 1 inside, which bend at 0 and at 1, and add them up with the right signs"
    )
