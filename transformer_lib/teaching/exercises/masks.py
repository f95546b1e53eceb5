"""Checks for the exercises of chapter 8, Masking."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer_lib.alignment import masked_softmax
from transformer_lib.masks import causal_mask, padding_mask
from transformer_lib.teaching.exercises import _, exercise, normal


@exercise(
    cases=[(4,), (1,), (2,), (9,), (100,)],
    hint=_("Row 0 hides length − 1 scores, the next row one less, and the last row none"),
)
def hidden_scores(length: int) -> Iterator:
    """The reader's `hidden_scores(length)` counts the cells above the diagonal."""
    yield length * (length - 1) / 2, _("length · (length − 1) / 2 of the scores are hidden: 6 of 16 for four words")
    yield length * (length + 1) / 2, _("these are the scores that stay: the triangle with its diagonal")
    yield length * (length - 1), _("this counts both triangles, and only the upper one is hidden")
    yield length**2 / 2, _("the diagonal is not hidden, and not a half of it either")


@exercise(
    cases=[(2, 4), (1, 4), (4, 4), (3, 7), (1, 1)],
    hint=_("The last query is the last word: its row is True everywhere, and each row above has one True less"),
)
def newest_rows(queries: int, keys: int) -> Iterator:
    """The reader's `newest_rows(queries, keys)` returns the last rows of the square causal mask."""
    everything = torch.ones(queries, keys, dtype=torch.bool)
    right = everything.tril(keys - queries)
    yield right, _("the last rows of the triangle: the newest word sees all the words so far")
    yield everything.tril(), _("this is cut from the top left: move the border to the right, by `diagonal`")
    says = _("each word may look at itself, too: the border is one column too far to the left")
    yield everything.tril(keys - queries - 1), says
    yield everything.tril(keys - queries + 1), _("each word sees one later word: the border is one column too far to the right")
    yield everything.tril(queries - keys), _("the border moved to the left: `diagonal` must be positive here")
    yield ~right, _("the mask is the wrong way round: True means that one may look")


@exercise(
    cases=[
        (normal((2, 3, 4, 4), seed=8)[0], torch.tensor([[5, 6, 7, 0], [5, 0, 0, 0]]), 0),
        # Padding between the words, which the triangle alone does not hide; scores far below 0, where -1e9 is needed at least.
        (normal((2, 2, 4, 4), seed=9)[0] - 200, torch.tensor([[5, 0, 6, 7], [6, 0, 0, 8]]), 0),
        (normal((1, 1, 3, 3), seed=7)[0], torch.tensor([[4, 9, 5]]), 9),
    ],
    hint=_("Hide each key that is padding or in the future with −∞, then take the softmax along the keys"),
)
def masked_weights(scores: Tensor, tokens: Tensor, pad_id: int) -> Iterator:
    """The reader's `masked_weights(scores, tokens, pad_id)` returns the weights under both masks, (batch, heads, seq, seq)."""
    length, real = tokens.size(1), tokens != pad_id
    past = torch.ones(length, length, dtype=torch.bool).tril()
    keys, queries = real[:, None, None, :], real[:, None, :, None]
    mask = padding_mask(tokens, pad_id) & causal_mask(length)
    right = masked_softmax(scores, mask)
    ones = torch.eye(length).to(scores)  # with these values its output is its weights, for the queries √seq · scores
    theirs = F.scaled_dot_product_attention(scores * length**0.5, ones, ones, mask)
    assert torch.allclose(right, theirs, atol=1e-6)

    def weights(mask: Tensor, dim: int = -1) -> Tensor:
        return scores.masked_fill(~mask, -math.inf).softmax(dim=dim)

    yield right, _("each row sums to 1, hidden weights are exactly 0: equal to the library's and to PyTorch's")
    yield weights(past), _("padding still gets weight: its columns must be hidden, too")
    yield weights(keys), _("the future still gets weight: add the triangle with &")
    yield scores.softmax(dim=-1), _("nothing is hidden yet: put −∞ into the hidden scores before the softmax")
    yield weights(queries & past), _("padding hides rows (queries) here; it must hide columns (keys) alone")
    yield weights(keys | past), _("`or` lets through what one of the two masks hides: join them with `and`, &")
    yield weights(~mask), _("masked_fill writes where its mask is True, so turn your mask around with ~")
    yield weights(keys & past.T), _("this hides the past: keep the lower triangle, tril, not triu")
    says = _("the rows do not sum to 1: mask the scores before the softmax, not the weights after")
    yield scores.softmax(dim=-1) * mask, says
    yield (scores * mask).softmax(dim=-1), _("a score of 0 is not a weight of 0, because e⁰ = 1: use −∞")
    yield weights(mask, dim=-2), _("the columns sum to 1: take the softmax along the keys, dim=-1")
    yield weights((tokens != 0)[:, None, None, :] & past), _("use `pad_id`: the id of padding is not always 0")
    cut = scores.masked_fill(~mask, -100.0).softmax(dim=-1)
    yield cut, _("here all real scores are below −100, and hidden keys get weight: use −∞, not a number")
