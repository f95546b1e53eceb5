"""Checks for the exercises of chapter 5, Positional encoding."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from torch import Tensor

from transformer_lib.positional_encoding import sinusoidal_table
from transformer_lib.teaching.exercises import Hint, check, exercise, expect, normal, numbers, same

__all__ = ["first_slow_pair", "looked_at_by", "same_word_twice", "shift_matrix", "table_shape"]


def _table(max_len: int, d_model: int) -> Tensor:
    return sinusoidal_table(max_len, d_model).double()


def _words(first: int, second: int) -> tuple[Tensor, Tensor]:
    """Return the vectors of six words, of which the same stands at both places, and a position table."""
    (words,) = normal((6, 8), seed=5)
    words[second] = words[first]
    return words, _table(6, 8)


@exercise(cases=[(30, 256), (50, 128)], hint="The words of the batch have shape (batch, seq, d_model)")
def table_shape(max_len: int, d_model: int) -> Iterator:
    """The reader's `table_shape(max_len, d_model)` returns the shape of the table that is added to a batch."""
    batch_first = "the axis of size 1 stands for the batch, and in this course the batch comes first"
    yield (1, max_len, d_model), "(30, 256) gives (1, 30, 256), which broadcasts over a batch of any size"
    yield (
        (max_len, d_model),
        "(max_len, d_model) is one sentence. Add an axis of size 1 in front, so that the same table is added to every "
        "sentence of a batch",
    )
    yield (1, d_model, max_len), "two axes are swapped: a word is one row, so positions come before dimensions"
    yield (
        (d_model, max_len),
        "two axes are swapped (a word is one row, so positions come before dimensions), and the batch axis of size 1 "
        "in front is missing",
    )
    yield (max_len, 1, d_model), batch_first
    yield (max_len, d_model, 1), batch_first
    yield max_len * d_model, "that is how many numbers the table holds; return its shape, a tuple with one size per axis"


@exercise(
    cases=[(*_words(1, 4), 1, 4), (*_words(0, 2), 0, 2)],
    hint="Compare the two word vectors as they are, and word_vectors[first] + table[first] with word_vectors[second] + "
    "table[second]",
    parts=("the distance before", "the distance after"),
)
def same_word_twice(word_vectors: Tensor, table: Tensor, first: int, second: int) -> Iterator:
    """The reader's `same_word_twice(word_vectors, table, first, second)` returns two distances.

    They are the distance before and after positions are added. Both arrays have the shape (seq, d_model), and the same
    word stands at the positions `first` and `second`.
    """
    before, after = word_vectors[first] - word_vectors[second], table[first] - table[second]
    distance = after.norm()
    yield (0, distance), "without positions the same word is the same vector (distance 0); with them the two can be told apart"
    yield (before, after), "these are the two differences, vectors of 8 numbers; a distance is the length of one: its norm"
    yield (
        (word_vectors.norm(dim=1), (word_vectors + table).norm(dim=1)),
        "these are lengths of each of the 6 words' vectors; return the distances of the two places alone",
    )
    yield (distance, 0), "the two distances are in the wrong order: before positions are added first, after it second"
    yield (0, 0), "add to each word the row of the table at its own position: first and second"
    yield (0, distance**2), "that is the squared distance: take its square root"
    yield (0, after.abs().sum()), "that is the sum of the absolute differences; the Euclidean distance squares them"
    yield (0, distance / math.sqrt(8)), "that is the root of the mean of the squares; the Euclidean distance sums them"


@exercise(
    cases=[(12, 8), (90, 8), (50, 128), (900, 512)],
    hint="Pair number i needs 2π · 10000^(2·i / d_model) positions for a turn: try i = 0, 1, 2, … until that is more than n",
)
def first_slow_pair(n: int, d_model: int) -> Iterator:
    """The reader's `first_slow_pair(n, d_model)` returns the first pair that needs more than n positions for a turn."""

    def longer_than(positions: float, exponent: int = 2) -> float:
        return d_model / exponent * math.log(positions, 10000)  # where 10000^(exponent · pair / d_model) is `positions`

    exact = longer_than(n / (2 * math.pi))
    right = math.ceil(exact)
    yield right, "pair 15 is the first for 50 positions and width 128: from there on no hand makes a full turn"
    yield right - 1, "that is the last pair with a turn within n positions; the next one is the first that needs more"
    yield exact, "that is where a turn would be exactly n positions long; a pair is a whole number, so take the next one"
    yield 2 * right, "that is a dimension: pair number i begins at dimension 2·i"
    yield math.ceil(longer_than(float(n))), "the factor 2π is missing: a turn is 2π radians, not one"
    yield (
        math.ceil(longer_than(n / (2 * math.pi), exponent=1)),
        "the exponent is half of what it should be: pair number i begins at dimension 2·i",
    )
    yield (
        math.ceil(longer_than(n / (2 * math.pi), exponent=4)),
        "the exponent is twice what it should be: the number of the pair is i itself, so the exponent is 2·i / d_model",
    )
    yield 0, "pair 0 is the fastest: its turn is 2π positions long. Later pairs turn more slowly"
    yield d_model // 2 - 1, "that is the slowest pair; the first one that needs more than n positions comes earlier"
    yield d_model // 2 - right, "that is how many pairs are slow; return the number of the first one"


@exercise(
    cases=[(20, -3), (20, 5), (7, 4), (30, -10)],
    hint="A row that is turned by k words has become the row k places on. Which row has become the row of pos?",
)
def looked_at_by(pos: int, k: int) -> Iterator:
    """The reader's `looked_at_by(pos, k)` returns whose row, turned by k words, fits the row of pos best."""
    turned = _table(60, 8)[max(k, 0) : 50 + min(k, 0)]  # those of the turned rows that the table holds
    first = max(-k, 0)  # whose row the first of them was
    yield first + int((turned @ _table(60, 8)[pos]).argmax()), "turning the others back is turning yourself forward"
    yield pos + k, "there a word looks whose own hands are turned. Here row q has become row q + k: which q gives pos?"
    yield pos, "row pos has been turned away too: it is row pos + k now, and no longer the best fit"
    yield k, "where a word looks depends on where it stands"
    yield -k, "where a word looks depends on where it stands"


@check
def shift_matrix(attempt: Callable) -> str:
    """The reader's `shift_matrix(shift, d_model)` returns M with `table[p + shift] = M @ table[p]` for every p."""
    for shift, d_model in ((1, 4), (3, 8), (7, 16)):
        matrix = numbers(attempt(shift, d_model), (d_model, d_model), f"the matrix for ({shift}, {d_model})")
        before, after = _table(40, d_model).numpy(), _table(40 + shift, d_model).numpy()[shift:]
        split = [*range(0, d_model, 2), *range(1, d_model, 2)]  # all sines first, then all cosines
        if same(before @ matrix.T, after):
            continue
        halves = (
            "this is right for all sines first, then all cosines. Here they alternate (sin, cos, sin, cos, …), so each 2 × 2 "
            "block stands on the diagonal"
        )
        for recognised, hint in (
            (
                same(before @ matrix, after),
                "the matrix turns the wrong way (it goes from p to p - shift): it is the transpose of the right one, so the "
                "signs of the two sines are exchanged",
            ),
            (same(before[:, split] @ matrix.T, after[:, split]), halves),
            (same(before[:, split] @ matrix, after[:, split]), f"{halves}, and the signs of the two sines are exchanged"),
            (
                same(before[:1] @ matrix.T, after[:1]),
                "the matrix moves position 0 correctly, but not the others: it must not depend on the position. Turn each pair "
                "by its own angle, shift / 10000^(2·pair / d_model)",
            ),
            (
                same(matrix, np.eye(d_model)),
                f"the identity moves nothing: for shift {shift} each pair turns by shift times its angle",
            ),
        ):
            if recognised:
                raise Hint(hint)
        for pair in range(d_model // 2):
            block = slice(2 * pair, 2 * pair + 2)
            angle = shift / 10000 ** (2 * pair / d_model)
            turn = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
            expect(
                matrix[block, block],
                turn,
                "Each pair turns by shift / 10000^(2·pair / d_model)",
                what=f"the block of pair {pair} for ({shift}, {d_model})",
            )
        raise Hint("the 2 × 2 blocks on the diagonal are right; everything outside them must be 0")
    return "one matrix moves every position by the same shift: a rotation of each pair, whatever the position is"
