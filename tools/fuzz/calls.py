"""What a call must come to: the right result, or a `ValueError` or `TypeError` that names the argument."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from tools.fuzz.spoil import can_be_spoilt, spoilt, tensors_in, to_meta


class Wrong(Exception):
    """A call that neither gave the right result nor named the argument."""


@dataclass(frozen=True)
class Case:
    """One line of the table: what it calls, with which arguments, and what is right.

    `call(**arguments)` is a generator: it yields first what the library returns, then what is right, computed in another way.
    `names` are the public names that it calls.
    """

    names: tuple[str, ...]
    arguments: st.SearchStrategy[dict[str, Any]]
    call: Callable[..., Iterator[Any]]


TABLE: list[Case] = []


def case(*names: str, given: st.SearchStrategy | None = None, **arguments: st.SearchStrategy) -> Callable[[Callable], Callable]:
    """Put a generator function into the table."""

    def enter(call: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        TABLE.append(Case(names, st.fixed_dictionaries(arguments) if given is None else given, call))
        return call

    return enter


def same(ours: Any, theirs: Any, shapes_alone: bool = False) -> bool:
    """Tell whether two results agree: numbers closely, everything else exactly."""
    if isinstance(ours, Tensor) or isinstance(theirs, Tensor):
        if not isinstance(ours, Tensor) or not isinstance(theirs, Tensor) or ours.shape != theirs.shape:
            return False
        if shapes_alone or ours.is_meta or theirs.is_meta:
            return True
        half = ours.dtype in (torch.float16, torch.bfloat16)
        close = {"rtol": 0.05, "atol": 0.1} if half else {"rtol": 1e-3, "atol": 1e-4}
        return torch.allclose(ours.to(torch.complex128), theirs.to(torch.complex128), equal_nan=True, **close)
    if isinstance(ours, float) and isinstance(theirs, float):
        return same(torch.tensor(ours, dtype=torch.float64), torch.tensor(theirs, dtype=torch.float64))
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(same(one, other, shapes_alone) for one, other in zip(ours, theirs))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key], shapes_alone) for key in ours)
    return bool(ours == theirs)


def names_one_of(error: Exception, arguments: Sequence[str]) -> bool:
    """Tell whether the message names one of the arguments; `ids` is also named by `id`, and what is written is the target."""
    written = {"tokens", "target_in"} & set(arguments)
    words = "|".join(re.escape(name.removesuffix("s")) for name in [*arguments, *["target", "target_in"] * bool(written)])
    return re.search(rf"\b({words})s?\b", str(error)) is not None


def outcome(call: Callable[..., Iterator[Any]], arguments: dict[str, Any], originals: dict[str, Any] | None = None) -> str:
    """Make one call and return how it ended, "right" or "refused"; raise `Wrong` where it ended otherwise.

    Only arguments that were spoilt may be refused: then `originals` are those from before.
    """
    given = {name: repr(value)[:300] for name, value in arguments.items()}
    torch.manual_seed(0)
    steps = call(**arguments)
    try:
        ours = next(steps)
    except (ValueError, TypeError) as error:
        if originals is None:
            raise Wrong(f"refused: {error!r}, given {given}") from error
        if not names_one_of(error, list(arguments)):
            raise Wrong(f"names no argument: {error!r}, given {given}") from error
        return "refused"
    except Exception as error:
        raise Wrong(f"{error!r}, given {given}") from error
    tensors = [x for value in arguments.values() for x in tensors_in(value)]
    on_meta = any(x.is_meta for x in tensors)
    shapes_alone = on_meta or not all(x.isfinite().all() for x in tensors)  # NaN - NaN, 0 · ∞: it depends on the way
    if on_meta:  # there are no numbers to compute with: the shapes are those of the same call elsewhere
        steps = call(**originals)
        next(steps)
    try:
        theirs = next(steps)
    except Exception as error:
        raise Wrong(f"accepted, though the reference says {error!r}; returned {ours!r:.200}, given {given}") from error
    if not same(ours, theirs, shapes_alone):
        raise Wrong(f"returned {ours!r:.300}, and right is {theirs!r:.300}, given {given}")
    return "right"


def try_one(case: Case, data: st.DataObject) -> str:
    """Draw arguments for a case, spoil one or none of them, and make the call."""
    arguments = data.draw(case.arguments)
    names = [name for name, value in arguments.items() if can_be_spoilt(value) and name != "kind"]
    which = data.draw(st.sampled_from([None, "meta", *names, *names]))
    if which == "meta":
        return outcome(case.call, {name: to_meta(value) for name, value in arguments.items()}, arguments)
    if which is None:
        return outcome(case.call, arguments)
    return outcome(case.call, {**arguments, which: spoilt(data.draw, arguments[which])}, arguments)
