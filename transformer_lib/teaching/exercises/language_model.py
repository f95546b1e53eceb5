"""Checks for the exercises of chapter 19, From the Transformer to a language model of today."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer_lib.language_model import rotate
from transformer_lib.teaching.exercises import _, exercise, normal


@exercise(
    cases=[(31, 64, 10_000.0), (31, 64, 100_000.0), (0, 64, 10_000.0)],
    hint=_("A full turn is 2 * pi radians, and pair i turns by 1 / base ** (2 * i / d_k) a token"),
)
def full_turn(pair: int, d_k: int, base: float) -> Iterator:
    """The reader's `full_turn(pair, d_k, base)` returns after how many tokens the pair has turned once."""
    wait = base ** (2 * pair / d_k)
    yield 2 * math.pi * wait, _("about 47,000 tokens with the base 10,000, and 438,000 with 100,000")
    yield wait, _("that is one radian; a full turn has 2 * pi of them")
    yield 2 * math.pi / wait, _("the speed is 1 / base ** (2 * i / d_k): the slower, the more tokens a turn takes")
    yield 360 * wait, _("the angle is in radians: a full turn is 2 * pi, not 360")
    yield 2 * math.pi * base ** (pair / d_k), _("the exponent is 2 * i / d_k: there are d_k / 2 pairs")


def _turned(x: Tensor, back: bool = False, from_one: bool = False) -> Tensor:
    """Return x turned as it should be, or the other way, or with the first row at position 1."""
    turned = rotate(x.flip(-1) if back else x, int(from_one))
    return turned.flip(-1) if back else turned


@exercise(
    cases=[normal((1, 2, 5, 8)), normal((2, 1, 3, 4), seed=1)], hint=_("Row p turns pair i by p / 10_000 ** (2 * i / d_k)")
)
def my_rotate(x: Tensor) -> Iterator:
    """The reader's `my_rotate(x)` turns each pair of neighbouring numbers by its position."""
    halves = torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)
    yield _turned(x), _("each pair turns by its own speed times the position, and the first row stays")
    yield _turned(x, back=True), _("the arrows turn the wrong way: exchange the signs of the two sines")
    yield _turned(x, from_one=True), _("the first row stands at position 0 and is not turned")
    yield torch.cat([rotate(x)[..., 0::2], rotate(x)[..., 1::2]], dim=-1), _("put both numbers of a pair side by side again")
    yield rotate(x.transpose(-3, -2)).transpose(-3, -2), _("the position is the row, the axis before the last, not the head")
    says = _("a pair is two neighbours: numbers 0 and 1")
    yield torch.cat([rotate(halves)[..., 0::2], rotate(halves)[..., 1::2]], dim=-1), says


@exercise(
    cases=[normal((1, 9, 4, 8), (1, 3, 4, 8), (1, 3, 4, 8)), normal((2, 9, 2, 4), (2, 3, 5, 4), (2, 3, 5, 4), seed=1)],
    hint=_("Repeat each head of k and v three times, so that heads 0, 1 and 2 find group 0"),
)
def grouped(q: Tensor, k: Tensor, v: Tensor) -> Iterator:
    """The reader's `grouped(q, k, v)` lets nine heads of queries look into three of keys and values."""
    look = F.scaled_dot_product_attention
    thrice = lambda x: torch.cat([x, x, x], dim=1)
    yield look(q, k, v, enable_gqa=True), _("as torch's: three heads share a group, one after the other")
    says = _("these are groups 0, 1, 2, 0, 1, 2 …: heads 0, 1 and 2 share group 0 (repeat_interleave)")
    yield look(q, thrice(k), thrice(v)), says
    yield look(q, k, v, enable_gqa=True, scale=1.0), _("divide the scores by the root of d_k")
