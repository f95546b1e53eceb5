"""Checks for the exercises of chapter 5, Positional encoding."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from transformer_lib.positional_encoding import sinusoidal_table
from transformer_lib.teaching.exercises import Hint, _, check, compare, exercise, normal, numbers


def _words(first: int, second: int) -> tuple[Tensor, Tensor]:
    """Return the vectors of six words, of which the same stands at both positions, and a position table."""
    (words,) = normal((6, 8), seed=5)
    words[second] = words[first]
    return words, sinusoidal_table(6, 8).double()


@exercise(cases=[(30, 256), (50, 128)], hint=_("The words of the batch have shape (batch, seq, d_model)"))
def table_shape(max_len: int, d_model: int) -> Iterator:
    """The reader's `table_shape(max_len, d_model)` returns the shape of the table that is added to a batch."""
    yield (1, max_len, d_model), _("(30, 256) gives (1, 30, 256), which broadcasts over a batch of any size")
    yield (max_len, d_model), _("(max_len, d_model) is one sentence: add an axis of size 1 in front, for the batch")
    yield (1, d_model, max_len), _("two axes are swapped: a word is one row, so positions come before dimensions")
    yield (max_len, 1, d_model), _("the axis of size 1 stands for the batch, and in this course the batch comes first")


@exercise(
    cases=[(*_words(1, 4), 1, 4), (*_words(0, 2), 0, 2)],
    hint=_("Compare word_vectors[first] and word_vectors[second], as they are and with their rows of the table"),
    parts=(_("the distance before"), _("the distance after")),
)
def same_word_twice(word_vectors: Tensor, table: Tensor, first: int, second: int) -> Iterator:
    """The reader's `same_word_twice(word_vectors, table, first, second)` returns the distances before and after the sum."""
    before, after = word_vectors[first] - word_vectors[second], table[first] - table[second]
    distance = after.norm()
    says = _("without positions the same word is the same vector (distance 0); with them the two can be told apart")
    yield (0, distance), says
    yield (before, after), _("these are the two differences, vectors of 8 numbers; a distance is the length of one: its norm")
    yield (distance, 0), _("the two distances are in the wrong order: before positions are added first, after it second")
    yield (0, 0), _("add to each word the row of the table at its own position: first and second")
    yield (0, distance**2), _("that is the squared distance: take its square root")


@exercise(
    cases=[(1, 4), (3, 8), (7, 16)],
    hint=_("Hand i turns by shift / 10000^(2·i / d_model), in a 2 × 2 block on the diagonal; all else is 0"),
)
def shift_matrix(shift: int, d_model: int) -> Iterator:
    """The reader's `shift_matrix(shift, d_model)` returns M with `table[p + shift] = M @ table[p]` for every p."""
    turns = sinusoidal_table(shift + 1, d_model)[shift].double()  # sine and cosine of each hand's turn
    blocks = [torch.stack([torch.stack([c, s]), torch.stack([-s, c])]) for s, c in turns.view(-1, 2)]
    right = torch.block_diag(*blocks)
    order = [*range(0, d_model, 2), *range(1, d_model, 2)]
    yield right, _("one matrix moves every position by the same shift: a rotation of each hand, whatever the position is")
    yield right.T, _("the matrix turns the wrong way, from p to p - shift: exchange the signs of the two sines")
    yield right[order][:, order], _("right for all sines first, then all cosines; here each 2 × 2 block stands on the diagonal")
    yield torch.eye(d_model), _("the identity moves nothing: each hand turns by shift times its speed")


def _rows(pos: Tensor, d_model: int, factor: int = 2) -> Tensor:
    angle = pos[:, None] / 10_000 ** (factor * torch.arange(d_model // 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1)  # (seq, hands, 2)


@check
def my_positions(attempt: Callable) -> str:
    """The reader's `MyPositions(d_model, max_len)` is a layer that adds the sinusoids to words, (batch, seq, d_model)."""
    for shape in ((1, 5, 8), (2, 7, 16)):
        layer, x, pos, d_model = attempt(shape[2], 40), normal(shape, seed=3)[0].float(), torch.arange(shape[1]), shape[2]
        try:
            output = layer(x)
        except NotImplementedError:
            raise Hint(_("forward is not written yet")) from None
        except Exception as problem:
            what = {"shape": shape, "error": problem}
            raise Hint(
                _("for words of shape {shape} forward raises {error}: it needs as many rows as words", **what)
            ) from problem
        right = _rows(pos, d_model)
        answers = [
            (
                right,
                _("the library's rows, for one sentence and for two, in a buffer that moves with the model"),
            ),
            (0 * right, _("nothing is added: return x + the rows of the table")),
            (_rows(pos + 1, d_model), _("positions are counted from 0: the first word gets row 0, a row of zeros and ones")),
            (right.mT, _("all sines stand before all cosines; they alternate: sin, cos, sin, cos, …")),
            (right.flip(2), _("sines belong in the even dimensions, cosines in the odd ones")),
            (_rows(pos, d_model, 4), _("the exponent is twice what it should be: 2·i / d_model, where i counts hands")),
            (_rows(pos, d_model, 1), _("the exponent is half of what it should be: it is 2·i / d_model")),
        ]
        added = numbers(output, shape, _("the output for words of shape {shape}", shape=shape)) - x.numpy()
        praise = compare(
            [(added, [(rows.flatten(1).expand(shape), says) for rows, says in answers], [""])],
            _("What is added: in dimensions 2·i and 2·i + 1 sine and cosine of pos / 10000^(2·i / d_model), for each sentence"),
        )
        if any(True for _ in layer.parameters()):
            raise Hint(_("the numbers are right, but the table would be trained: register it as a buffer, not as a parameter"))
        if not any(True for _ in layer.buffers()):
            raise Hint(_("the numbers are right, but the table stays behind when the model moves: use register_buffer"))
    return praise
