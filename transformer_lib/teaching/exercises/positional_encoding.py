"""Checks for the exercises of chapter 5, Positional encoding."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from torch import Tensor

from transformer_lib.positional_encoding import sinusoidal_table
from transformer_lib.teaching.exercises import Hint, check, exercise, expect, normal, numbers, same


def _table(max_len: int, d_model: int) -> Tensor:
    return sinusoidal_table(max_len, d_model).double()


def _words(first: int, second: int) -> tuple[Tensor, Tensor]:
    """Return the vectors of six words, of which the same stands at both positions, and a position table."""
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
        "these are lengths of each of the 6 words' vectors; return the distances of the two positions alone",
    )
    yield (distance, 0), "the two distances are in the wrong order: before positions are added first, after it second"
    yield (0, 0), "add to each word the row of the table at its own position: first and second"
    yield (0, distance**2), "that is the squared distance: take its square root"
    yield (0, after.abs().sum()), "that is the sum of the absolute differences; the Euclidean distance squares them"
    yield (0, distance / math.sqrt(8)), "that is the root of the mean of the squares; the Euclidean distance sums them"


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
                "the matrix moves position 0 correctly, but not the others: it must not depend on the position. Turn each hand "
                "by its own angle, shift / 10000^(2·i / d_model)",
            ),
            (
                same(matrix, np.eye(d_model)),
                f"the identity moves nothing: for shift {shift} each hand turns by shift times its speed",
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
                "Hand i turns by shift / 10000^(2·i / d_model)",
                what=f"the block of hand {pair} for ({shift}, {d_model})",
            )
        raise Hint("the 2 × 2 blocks on the diagonal are right; everything outside them must be 0")
    return "one matrix moves every position by the same shift: a rotation of each hand, whatever the position is"


@check
def my_positions(attempt: Callable) -> str:
    """The reader's `MyPositions(d_model, max_len)` is a layer that adds the sinusoids to words, (batch, seq, d_model)."""
    for d_model, shape in ((8, (1, 5)), (16, (2, 7))):
        layer = attempt(d_model, 40)
        (x,) = normal((*shape, d_model), seed=3)
        x, rows = x.float(), _table(41, d_model).numpy()
        try:
            output = layer(x)
        except NotImplementedError:
            raise Hint("forward is not written yet") from None
        except Exception as problem:
            raise Hint(
                f"for words of shape {tuple(x.shape)} forward raises {problem}: it needs as many rows as words"
            ) from problem
        added = numbers(output, tuple(x.shape), f"the output for words of shape {tuple(x.shape)}") - x.numpy()
        pos, n, half = np.arange(shape[1])[:, None], shape[1], np.arange(d_model // 2)
        table = rows[:n]
        split = np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1)
        swapped = table.reshape(n, -1, 2)[:, :, ::-1].reshape(n, d_model)
        doubled, halved = (_interleaved(pos / 10_000 ** (factor * half / d_model)) for factor in (4, 1))
        for wrong, hint in (
            (0 * table, "nothing is added: return x + the rows of the table"),
            (rows[1 : n + 1], "positions are counted from 0: the first word gets row 0, a row of zeros and ones"),
            (split, "all sines stand before all cosines; they alternate: sin, cos, sin, cos, …"),
            (swapped, "sines belong in the even dimensions, cosines in the odd ones"),
            (
                doubled,
                "the exponent is twice what it should be: 2·i / d_model, where i counts hands, not dimensions",
            ),
            (halved, "the exponent is half of what it should be: it is 2·i / d_model"),
            (_interleaved(pos * np.ones(d_model // 2)), "all hands turn at the same speed: divide by 10000^(2·i / d_model)"),
        ):
            if same(added.round(4), np.broadcast_to(wrong, added.shape).round(4)):
                raise Hint(hint)
        if shape[0] > 1 and not same(added[0].round(4), added[1].round(4)):
            raise Hint("the two sentences of a batch get different rows: the rows belong to the axis of the words")
        expect(
            added.round(4),
            np.broadcast_to(table, added.shape).round(4),
            "Dimensions 2·i and 2·i + 1 hold sine and cosine of pos / 10000^(2·i / d_model)",
            what="what is added",
        )
        if any(True for _ in layer.parameters()):
            raise Hint("the numbers are right, but the table would be trained: register it as a buffer, not as a parameter")
        if not any(True for _ in layer.buffers()):
            raise Hint("the numbers are right, but the table stays behind when the model moves: use register_buffer")
    return "the same rows as the library's layer, for one sentence and for two, in a buffer that moves with the model"


def _interleaved(angle: np.ndarray) -> np.ndarray:
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(len(angle), -1)
