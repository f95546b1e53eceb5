"""Checks for the exercises of chapter 7, The encoder."""

from collections.abc import Callable, Iterator

from torch import Tensor

from transformer_lib.teaching.exercises import exercise, normal

__all__ = ["feed_forward", "head_shapes", "normalise_rows", "pre_norm_step"]


@exercise(
    cases=[(3, 8, 4), (50, 512, 8), (5, 12, 3)],
    hint="One head is d_k = d_model / heads wide; Q is X @ W_Q, and the weights are as Q @ K.T",
    parts=("the shape of W_Q", "the shape of Q", "the shape of the weights"),
)
def head_shapes(seq: int, d_model: int, heads: int) -> Iterator:
    """The reader's `head_shapes(seq, d_model, heads)` returns the shapes of W_Q, of Q and of the weights of one head."""
    d_k = d_model // heads
    w_q, q, weights = (d_model, d_k), (seq, d_k), (seq, seq)
    yield (w_q, q, weights), "(3, 8, 4) gives (8, 2), (3, 2) and (3, 3), as in the drawing"
    yield ((d_model, d_model), (seq, d_model), weights), "these are all heads side by side; one head is d_model / heads wide"
    all_heads = "these are the shapes for all heads at once; of one head the weights are (seq, seq)"
    yield (w_q, q, (heads, *weights)), all_heads
    yield ((heads, *w_q), (heads, *q), (heads, *weights)), all_heads
    yield ((d_k, d_model), q, weights), "W_Q is transposed: X (seq, d_model) stands on its left, so W_Q has d_model rows"
    yield (w_q, q, (d_k, d_k)), "the weights compare tokens with tokens, so both their sizes are seq"
    yield (
        (q, q, weights),
        "W_Q is learned, so its shape cannot depend on the length of a sentence: X @ W_Q says how many rows it has",
    )
    yield (w_q, q, q), "(seq, d_k) is the shape of the head's output; the weights are one row per query, one column per key"
    yield ((d_model, heads), (seq, heads), weights), "a head's width is d_model / heads, not the number of heads"


@exercise(
    cases=[(*normal((3, 4), seed=7), eps) for eps in (0.0, 0.5)],
    hint="Subtract each row's mean, then divide by the root of (variance + eps)",
)
def normalise_rows(x: Tensor, eps: float) -> Iterator:
    """The reader's `normalise_rows(x, eps)` gives each row of x mean 0 and variance 1."""
    x = x + 1

    def normalised(dim: int | tuple[int, int] = -1, correction: int = 0) -> Tensor:
        variance = x.var(dim, correction=correction, keepdim=True)
        return (x - x.mean(dim, keepdim=True)) / (variance + eps).sqrt()

    centred, deviation = x - x.mean(-1, keepdim=True), x.std(-1, correction=0, keepdim=True)
    yield normalised(), "each row has mean 0 and variance 1, and eps stands inside the root"
    yield normalised(correction=1), "the variance is divided by n - 1; here it is the plain mean of the squares"
    yield (
        normalised(dim=(0, 1)),
        "this normalises the whole matrix at once: each row, a token, needs a mean and a variance of its own",
    )
    yield normalised(dim=0), "this normalises columns; a token is a row, so work along the last axis"
    yield centred, "the mean is 0, but the variance is not 1 yet: divide by its root"
    yield centred / (deviation + eps), "eps is outside the root: add it to the variance first, then take the root"
    yield centred / deviation, "eps is not used: add it to the variance, inside the root"


def norm(rows: Tensor) -> Tensor:
    return rows * 0.5 - 1


def sublayer(rows: Tensor) -> Tensor:
    return rows.square() + 3


@exercise(
    cases=[(*normal((3, 4), seed=8), norm, sublayer)],
    hint="Normalise, call the sublayer, add the untouched x",
)
def pre_norm_step(x: Tensor, norm: Callable, sublayer: Callable) -> Iterator:
    """The reader's `pre_norm_step(x, norm, sublayer)` returns x + sublayer(norm(x))."""
    yield x + sublayer(norm(x)), "the sublayer sees the normalised x, and the untouched x is added"
    yield norm(x + sublayer(x)), "this is post-norm, the paper's order: it normalises the sum"
    yield x + norm(sublayer(x)), "the norm belongs before the sublayer, not after it"
    yield norm(x) + sublayer(norm(x)), "add the x that was not normalised: the residual path stays untouched"
    yield sublayer(norm(x)), "the residual is missing: add x"
    yield x + sublayer(x), "nothing is normalised: the sublayer's input is norm(x)"


@exercise(
    cases=[normal((3, 4), (4, 6), (6,), (6, 4), (4,), seed=9)],
    hint="First x @ w_1 + b_1, then the ReLU, then @ w_2 + b_2",
)
def feed_forward(x: Tensor, w_1: Tensor, b_1: Tensor, w_2: Tensor, b_2: Tensor) -> Iterator:
    """The reader's `feed_forward(x, w_1, b_1, w_2, b_2)` returns relu(x W_1 + b_1) W_2 + b_2."""
    wide = x @ w_1 + b_1
    right = wide.relu() @ w_2 + b_2
    yield right, "wider, ReLU, narrow again; the same two matrices for each row"
    yield wide @ w_2 + b_2, "the ReLU is missing: without it the two products are one linear map"
    yield right.relu(), "the ReLU stands between the products; the output keeps its negative numbers"
    yield (wide @ w_2 + b_2).relu(), "the ReLU stands between the two products, not at the end"
    yield (x @ w_1).relu() @ w_2 + b_2, "b_1 is missing: add it before the ReLU"
    yield wide.relu() @ w_2, "b_2 is missing: add it after the second product"
    yield ((x @ w_1).relu() + b_1) @ w_2 + b_2, "b_1 is added after the ReLU: add it before, so that it moves the bend"
    yield x + right, "this adds x: that is the part of add & norm, which stands around the network"
