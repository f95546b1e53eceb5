"""Checks for the exercises of chapter 15, What it has learned."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import torch
from torch import Tensor

from transformer_lib.teaching.exercises import exercise, normal

__all__ = ["mixed", "smallest_cause", "without_head", "written_after"]


@exercise(
    cases=[
        ([0.5, 0.3, 0.2], [1.0, 1.0, 1.0], [-1.0, -1.0, -1.0], 1),
        ([0.8, 0.2], [0.0, 5.0], [0.0, -5.0], 1),
        ([0.8, 0.2], [0.0, 5.0], [0.0, -5.0], 0),
        ([0.1, 0.2, 0.3, 0.4], [2.0, -1.0, 0.5, 3.0], [7.0, 4.0, -6.0, -2.0], 3),
    ],
    hint="Take other[place] in the place of memory[place], multiply each number by its weight, and add",
    keep=True,
)
def mixed(weights: Sequence[float], memory: Sequence[float], other: Sequence[float], place: int) -> Iterator:
    """The reader's `mixed(weights, memory, other, place)` is the weighted sum after one number was exchanged."""

    def total(numbers: Sequence[float]) -> float:
        return sum(weight * number for weight, number in zip(weights, numbers, strict=True))

    changed = [*memory]
    changed[place] = other[place]
    swapped = [*other]
    swapped[place] = memory[place]
    yield total(changed), "one number is exchanged, all others stay, and so do the weights"
    yield total(memory), "nothing is exchanged yet: the number at `place` has to come from `other`"
    yield total(other), "this exchanges all numbers: only the one at `place` comes from `other`"
    yield total(swapped), "the two are the wrong way round: start from `memory`, and take one number of `other`"
    yield sum(changed), "the weights are missing: multiply each number by its weight before you add"
    yield changed, "these are the numbers after the exchange: multiply each by its weight, and add"
    yield weights[place] * other[place], "this is the exchanged place alone: the others belong to the sum too"


_VECTORS = {
    "cow": torch.tensor([[1.0], [2.0], [3.0]]),
    "horse": torch.tensor([[10.0], [20.0], [30.0]]),
    "mare": torch.tensor([[5.0], [7.0], [9.0]]),
}


def _read(text: str) -> Tensor:
    """Return the vectors of one of three small texts."""
    return _VECTORS[text].clone()


def _write(memory: Tensor) -> str:
    """Return a text that shows each vector of a memory."""
    return " ".join(f"{number:g}" for number in memory.flatten().tolist())


@exercise(
    cases=[
        (_read, _write, "horse", "cow", 1),
        (_read, _write, "cow", "mare", 0),
        (_read, _write, "mare", "horse", 2),
    ],
    hint="Read both texts, take one vector of the second memory into the first, and write",
)
def written_after(read: Callable, write: Callable, text: str, other_text: str, place: int) -> Iterator:
    """The reader's `written_after(read, write, text, other_text, place)` writes after one vector was exchanged."""
    memory, other = read(text), read(other_text)
    changed, swapped = memory.clone(), other.clone()
    changed[place], swapped[place] = other[place], memory[place]
    yield write(changed), "one vector of the other text, and the decoder writes from what it finds"
    yield write(memory), "nothing is exchanged: this is the first text's own sentence"
    yield write(other), "this writes from the other text's memory: only the vector at `place` comes from there"
    yield write(swapped), "the texts are the wrong way round: read `text`, and take one vector of `other_text`"
    yield changed, "this is the memory after the exchange: hand it to `write`"


def _turned_by(*causes: tuple[int, ...]) -> Callable[[Sequence[int]], bool]:
    """Return a function that says whether one of `causes` is among the places."""

    def turns(places: Sequence[int]) -> bool:
        return any(set(cause) <= set(places) for cause in causes)

    turns.__name__ = "turns"
    return turns


@exercise(
    cases=[
        (_turned_by((1,), (3,)), 4),
        (_turned_by((1,)), 5),
        (_turned_by((2, 4)), 5),
        (_turned_by((0, 1, 2), (1, 3)), 4),
        (_turned_by((1, 2), (0, 3)), 4),
        (_turned_by(), 3),
        (_turned_by((0, 1, 2)), 3),
        (_turned_by((3,), (0, 1)), 4),
    ],
    hint="Try all single places, then all pairs, then all threes: the first that turns the word is the answer",
)
def smallest_cause(turns: Callable[[Sequence[int]], bool], length: int) -> Iterator:
    """The reader's `smallest_cause(turns, length)` returns the smallest set of places that turns the word."""
    places = range(length)
    every = [[*some] for size in range(1, length + 1) for some in combinations(places, size) if turns(some)]
    smallest = every[0] if every else []
    yield smallest, "single places first, then pairs: a word may have two supports"
    singles = [place for place in places if turns((place,))]
    yield singles[:1], "single places are not enough: where none of them turns the word, try two at once"
    yield singles, "return the smallest set, not each place that turns the word"
    yield every[-1] if every else [], "this is the largest set that turns it: begin with the single places"
    pairs = [[*pair] for pair in combinations(places, 2) if turns(pair)]
    yield singles[:1] or pairs[0] if singles or pairs else [], "three at once may be needed: go on up to all places"
    yield sorted(every)[0] if every else [], "a smaller set comes before a larger one, whatever its places are"


_MATRICES = normal((6, 6), (4, 12), (8, 8), seed=15)


@exercise(
    cases=[(_MATRICES[0], 1, 3), (_MATRICES[1], 0, 3), (_MATRICES[2], 3, 4)],
    hint="Head number h is read by the columns from h · width to (h + 1) · width, where width is columns / heads",
    keep=True,
)
def without_head(matrix: Tensor, head: int, num_heads: int) -> Iterator:
    """The reader's `without_head(matrix, head, num_heads)` sets the columns to 0 that read one head."""
    rows, columns = matrix.shape
    width = columns // num_heads
    here = slice(head * width, (head + 1) * width)

    def zeros(at_rows: slice, at_columns: slice) -> Tensor:
        changed = matrix.clone()
        changed[at_rows, at_columns] = 0
        return changed

    everything = slice(None)
    yield zeros(everything, here), "the head still computes, and nobody reads it"
    yield matrix, "nothing is 0 yet"
    yield (
        zeros(slice(head * rows // num_heads, (head + 1) * rows // num_heads), everything),
        ("these are rows: a row makes an output number from all heads. The columns read"),
    )
    yield zeros(everything, slice(head, head + 1)), "one column only: a head is columns / num_heads wide"
    if head:
        yield zeros(everything, slice((head - 1) * width, head * width)), "heads are counted from 0"
    yield (
        torch.cat([matrix[:, : head * width], matrix[:, (head + 1) * width :]], dim=1),
        ("the columns are gone: then the shape does not fit any more. Set them to 0"),
    )
    only = torch.zeros_like(matrix)
    only[:, here] = matrix[:, here]
    yield only, "this keeps that head alone and takes away all the others"
