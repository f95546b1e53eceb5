"""Checks for the exercises of chapter 7, The encoder."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from transformer_lib.encoder import EncoderLayer, TransformerConfig
from transformer_lib.teaching.exercises import Hint, _, check, exercise, expect, normal, numbers, same
from transformer_lib.teaching.torch_parity import copy_to_torch


@exercise(
    cases=[(torch.tensor([[4.0, 0.0], [0.0, 4.0]]), 2, add) for add in (True, False)]
    + [(*normal((3, 4), seed=7), 3, add) for add in (True, False)],
    hint=_("Each round: the average of the tokens as they are now, x.mean(dim=0); then x + average, or the average for each"),
)
def mix(x: Tensor, rounds: int, add: bool) -> Iterator:
    """The reader's `mix(x, rounds, add)` adds the tokens' average to each token, or replaces each by it, `rounds` times."""

    def mixed(rounds: int, add: bool, dim: int = 0) -> Tensor:
        tokens = x
        for _round in range(rounds):
            average = tokens.mean(dim, keepdim=True).expand_as(tokens)
            tokens = tokens + average if add else average
        return tokens

    praise = _("added, the two tokens are [10, 6] and [6, 10] and still differ by 4 and -4; replaced, both are [2, 2]")
    yield mixed(rounds, add), praise
    yield mixed(rounds, not add), _("`add` is the wrong way round: True adds the average, False puts it in the token's place")
    yield mixed(1, add), _("this is one round, however many are asked for")
    if add:
        once = x + rounds * x.mean(0, keepdim=True)
        yield once, _("the average of the first round is added each time: take that of the tokens as they are now")
    rows = _("this averages the numbers within a token; the tokens are the rows, so average over dim=0")
    yield mixed(rounds, add, dim=1), rows


def _slips(layer: EncoderLayer, x: Tensor) -> Iterator[tuple[Tensor, str]]:
    """Yield the outputs of likely mistakes, each with its hint."""
    feed_forward, first, second = layer.feed_forward, layer.attention_add_norm.norm, layer.feed_forward_add_norm.norm
    z, y = first(x + layer.attention(x, x, x)), first(x)
    before = x + layer.attention(y, y, y)
    yield second(x + feed_forward(z)), _("the second residual connection starts at z, behind the first norm, and not at x")
    yield second(feed_forward(z)), _("the second residual connection is missing: add z")
    yield second(z + feed_forward.outer(feed_forward.inner(z))), _("the ReLU is missing between the two linear layers")
    yield z, _("this is the first half: the feed-forward network is missing")
    yield z + feed_forward(z), _("the second norm is missing")
    yield before + feed_forward(second(before)), _("this is pre-norm; in the paper's order the norm stands behind the plus")


@check
def encoder_layer(attempt: Callable) -> str:
    """The reader's class gives the numbers of the library's layer and of torch's."""
    mine = attempt(12, 3, 20)
    ours = EncoderLayer(TransformerConfig(d_model=12, num_heads=3, d_ff=20, dropout=0.0))
    theirs = nn.TransformerEncoderLayer(12, 3, 20, dropout=0.0, batch_first=True)
    if not isinstance(mine, nn.Module):
        raise Hint(_("the class should be an nn.Module"))
    if getattr(mine, "norm_1", None) is getattr(mine, "norm_2", 0):
        raise Hint(_("norm_1 and norm_2 are one object: each norm has its own γ and β"))
    with torch.random.fork_rng():
        torch.manual_seed(7)
        x = torch.randn(2, 5, 12)
        for parameter in mine.parameters():
            nn.init.normal_(parameter, std=0.4)
    for name, part, made in [
        ("attention", ours.attention, "MultiHeadAttention(d_model, num_heads)"),
        ("inner", ours.feed_forward.inner, "nn.Linear(d_model, d_ff)"),
        ("outer", ours.feed_forward.outer, "nn.Linear(d_ff, d_model)"),
        ("norm_1", ours.attention_add_norm.norm, "LayerNorm(d_model)"),
        ("norm_2", ours.feed_forward_add_norm.norm, "LayerNorm(d_model)"),
    ]:
        try:
            part.load_state_dict(getattr(mine, name).state_dict())
        except (AttributeError, RuntimeError):
            raise Hint(_("{part} should be {wanted}", part=f"self.{name}", wanted=made)) from None
    copy_to_torch(ours, theirs)
    try:
        found = mine(x)
    except Exception as problem:
        raise Hint(_("{call} raises {error}", call="forward", error=f"{type(problem).__name__}: {problem}")) from problem
    for wrong, hint in _slips(ours, x):
        if same(found, wrong):
            raise Hint(hint)
    for right in (ours(x), theirs(x)):
        expect(found, right, _("First z = norm_1(x + attention(x, x, x)), then the same around the network"), _("the output"))
    return _("equal to the library's layer and to torch's: two sublayers, and add & norm around each")


@check
def two_bends(attempt: Callable) -> str:
    """The reader's `two_bends()` returns the numbers of a feed-forward network that is 0, then a, then 1."""
    given, parts = attempt(), ("w_1", "b_1", "w_2", "b_2")
    try:
        width = len(given[1])
        shapes = ((1, width), (width,), (width, 1), (1,))
        named = zip(given, shapes, parts, strict=True)
        w_1, b_1, w_2, b_2 = (torch.from_numpy(numbers(*part)) for part in named)
    except (TypeError, ValueError, LookupError):
        says = _("return w_1, b_1, w_2 and b_2; b_1 is a vector: one number for each number inside, as in [0, 0]")
        raise Hint(says) from None
    a = torch.tensor([-2, -0.5, 0, 0.25, 0.75, 1, 1.5, 4], dtype=torch.float64)
    found = ((a[:, None] @ w_1 + b_1).relu() @ w_2 + b_2).squeeze(1)
    for mistake, hint in [
        (a.relu(), _("it never stops: one bend at 0 is there. A second one, at 1, must take away what the first adds")),
        (a, _("this is a straight line: let a number inside be negative for a below 0, so that the ReLU cuts it")),
        (a.abs(), _("this is the V of the page: both bends stand at 0. A bias in b_1 moves a bend to another place")),
    ]:
        if same(found, mistake):
            raise Hint(hint)
    for place, value, expected in zip(a, found, a.clamp(0, 1), strict=True):
        if abs(value - expected) > 1e-4:
            raise Hint(
                _("for a = {place:g} it gives {value:.4g}, not {right:g}. ", place=place, value=value, right=expected)
                + _("Put a and a - 1 inside, which bend at 0 and at 1, and add them up with the right signs")
            )
    return _("0, then a, then 1: each number inside makes one bend, and its bias says where")
