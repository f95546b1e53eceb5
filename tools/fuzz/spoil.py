"""Arguments that are not what they should be: another kind, another shape, another place, another size."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
DTYPES += [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64]

# Other kinds of the number that stands there, and other numbers.
NUMBERS: list[Callable[[Any], Any]] = [
    lambda n: True,
    lambda n: -n,
    lambda n: n + 1,
    np.int64,
    np.int8,
    np.float32,
    np.float64,
    lambda n: Fraction(n),
    lambda n: Fraction(7, 2),
    lambda n: complex(n),
    lambda n: torch.tensor(n),
    lambda n: float(n),
    str,
    *(lambda n, other=other: other for other in (None, 0, -1, 2.5, 2**63, 2**70, -(2**70), 10**400)),
    *(lambda n, other=other: other for other in (float("nan"), float("inf"), -float("inf"), "3", b"3")),
]
TEXTS = [
    "",
    " ",
    "\ud800",
    "word \udfff",
    "\0",
    "ａ",
    "e\u0301",
    "ﷺ",
    "👩‍👧",
    "नमस्ते",
    "\u202eabc",
    "<pad> <eos>",
    "İstanbul",
    "ß",
]
TEXTS += ["한국어", "日本語", "\u200b", "a\nb", "x" * 300, "’quoted’"]


def _number(draw: Callable, value: Any) -> Any:
    change = draw(st.sampled_from(NUMBERS))
    try:
        return change(value)
    except (OverflowError, ValueError, TypeError):  # there is no such kind of this number
        return None


def _tensor(draw: Callable, x: Tensor) -> Tensor:
    """Return a tensor that differs from `x` in one thing; some differ in nothing that matters."""
    kinds = ["dtype", "first", "one more", "meta", "other layout", "numbers", "gradient"] + ["cut", "wider", "nothing"] * bool(
        x.ndim
    )
    kind = draw(st.sampled_from(kinds))
    axis = draw(st.integers(0, max(x.ndim - 1, 0)))
    if kind == "dtype":
        return x.to(draw(st.sampled_from(DTYPES)))
    if kind == "first":
        return x[0] if x.ndim and len(x) else x
    if kind == "one more":
        return x[None]
    if kind == "meta":
        return x.to("meta")
    if kind == "other layout":
        return x.mT.contiguous().mT if x.ndim > 1 else x.repeat(2)[::2] if x.ndim else x
    if kind == "gradient":
        return x.clone().requires_grad_() if x.is_floating_point() else x
    if kind == "numbers":
        # Not a large one: what the difference of large numbers is, only rounding tells.
        of_kind = [-1.0, float("nan"), float("inf")] if x.is_floating_point() else [-1, 10**6]
        other = [True, False] if x.dtype is torch.bool else of_kind
        return torch.full_like(x, draw(st.sampled_from(other)))
    if kind == "cut":
        return x.narrow(axis, 0, max(x.size(axis) - 1, 0))
    if kind == "nothing":
        return x.narrow(axis, 0, 0)
    return torch.cat([x, x], dim=axis)


def spoilt(draw: Callable, value: Any) -> Any:
    """Return something else in the place of `value`: of its kind, or of none that fits."""
    if isinstance(value, Tensor):
        return _tensor(draw, value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return _number(draw, value)
    if isinstance(value, str):
        return draw(st.sampled_from([*TEXTS, None, 3, b"bytes"]) | st.text(max_size=20))
    if isinstance(value, list | tuple) and len(value):
        of_values = any(map(can_be_spoilt, value))  # not of models or batches
        kind = draw(st.sampled_from(["empty", "shorter", "twice"] + ["inside", "inside", "inside", "text"] * of_values))
        if kind == "inside":
            at = draw(st.integers(0, len(value) - 1))
            items = [spoilt(draw, item) if index == at else item for index, item in enumerate(value)]
        else:
            items = {"empty": [], "shorter": value[1:], "text": "text", "twice": [*value, *value]}[kind]
        return items if isinstance(items, str) else type(value)(items)
    return value


def can_be_spoilt(value: Any) -> bool:
    """Tell whether `spoilt` makes something else of `value`; models, optimizers and functions stay what they are."""
    if type(value) in (list, tuple):
        return len(value) > 0
    return isinstance(value, Tensor | int | float | str)


def to_meta(value: Any) -> Any:
    """Return `value` with every tensor in it on the meta device, which has shapes and no numbers."""
    if isinstance(value, Tensor):
        return value.to("meta")
    return type(value)(map(to_meta, value)) if type(value) in (list, tuple) and tensors_in(value) else value


def tensors_in(value: Any) -> Sequence[Tensor]:
    """Return all tensors in `value`."""
    if isinstance(value, Tensor):
        return [value]
    return [x for item in value for x in tensors_in(item)] if isinstance(value, list | tuple) else []
