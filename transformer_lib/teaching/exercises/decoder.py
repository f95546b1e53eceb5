"""Checks for the exercises of chapter 9, Cross-attention and the decoder."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from transformer_lib.teaching.exercises import exercise, normal

__all__ = ["blind_floor", "cross_attend", "map_shape", "three_steps"]


@exercise(cases=[(2, 8, 5, 6), (3, 4, 7, 2)], hint="The shape is (batch, heads, queries, keys)")
def map_shape(batch: int, num_heads: int, source: int, target: int) -> Iterator:
    """The reader's `map_shape(batch, num_heads, source, target)` returns the shape of the cross-attention's weights."""
    yield (batch, num_heads, target, source), "rows are the target's words, columns the source's, whatever their numbers"
    swapped = "the last two axes are swapped: rows are queries, and the queries are the target's words"
    yield (batch, num_heads, source, target), swapped
    own = "that is the self-attention of the decoder; the keys of cross-attention are the source's words"
    yield (batch, num_heads, target, target), own
    other = "that is the self-attention of the encoder; the queries of cross-attention are the target's words"
    yield (batch, num_heads, source, source), other
    yield (batch, target, source), "each head has a map of its own: put an axis for the heads after the batch"
    yield (num_heads, batch, target, source), "in this course the batch comes first, then the heads"


def _attend(query: Tensor, key: Tensor, value: Tensor, scale: float = 2.0, dim: int = -1) -> Tensor:
    return (query @ key.T / scale).softmax(dim) @ value


@exercise(
    # First as many words here as there: then a mix-up of the two gives numbers that can be named, and no torch error.
    cases=[normal((target, 6), (source, 6), (6, 4), (6, 4), (6, 4), seed=9) for target, source in ((3, 3), (2, 5), (4, 3))],
    hint="It is softmax(Q Kᵀ / √d_k) V, with Q from x, K and V from memory",
)
def cross_attend(x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Iterator:
    """The reader's `cross_attend(x, memory, w_query, w_key, w_value)` returns one head's output, (target, d_k)."""
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    yield _attend(query, key, value), "queries from the decoder, keys and values from the encoder, one row for each target word"
    yield _attend(query, key, value, scale=1.0), "the scores are not divided by √d_k"
    yield _attend(query, key, value, scale=math.sqrt(6)), "the scores are divided by √d_model; divide by √d_k"
    yield _attend(query, key, value, scale=4.0), "the scores are divided by d_k; divide by its square root"
    yield _attend(query, key, key), "the keys are averaged; the weights belong to the values, memory @ w_value"
    yield _attend(query, value, key), "w_key and w_value have changed places: keys are compared, values are averaged"
    yield query @ key.T / 2 @ value, "the softmax is missing"
    yield _attend(query, key, value, dim=0), "the softmax runs over the target words; each row must sum to 1"
    if len(x) != len(memory):
        return
    exponentials = (query @ key.T / 2).exp()
    yield (
        exponentials / exponentials.sum(dim=1) @ value,
        "each row is divided by the sums of all rows: keep the axis of the sum (keepdim=True), so that each meets its own",
    )
    yield _attend(query, x @ w_key, x @ w_value), "that is self-attention of x: keys and values come from memory"
    yield _attend(query, key, x @ w_value), "the values come from x; what is fetched comes from memory"
    yield _attend(query, x @ w_key, value), "the keys come from x; what answers comes from memory"
    yield (
        _attend(memory @ w_query, x @ w_key, x @ w_value),
        "x and memory have changed places: the queries come from x, keys and values from memory",
    )
    yield _attend(memory @ w_query, key, value), "the queries come from memory; the decoder asks, so they come from x"


@exercise(
    cases=[((1,) * 16,), ((5, 3, 1, 1),), ((90, 10),), ((7,),)],
    hint="The mean over the data of -log p, where p is the sentence's share: the sum of share times -log share",
)
def blind_floor(counts: tuple[int, ...]) -> Iterator:
    """The reader's `blind_floor(counts)` returns the entropy of the shares, in nats."""
    total = sum(counts)
    shares = [count / total for count in counts]
    costs = [-math.log(share) for share in shares]
    cost = sum(share * cost for share, cost in zip(shares, costs, strict=True))
    yield cost, "log 16 for sixteen equal ones, less where some are frequent, and 0 for a single one"
    yield math.log(len(counts)), "that holds for equal counts only: a guess that follows the counts does better"
    yield math.log(total), "that is the logarithm of the number of pairs; equal sentences need no telling apart"
    yield sum(costs) / len(counts), "frequent sentences count more often: weigh each -log p with its share p"
    yield sum(costs), "weigh each -log p with its share p: that is a mean over the pairs, this is a plain sum"
    yield cost / math.log(2), "that is in bits; a nat takes the natural logarithm"
    yield -cost, "the sign: a loss is minus the logarithm"
    yield -math.log(max(shares)), "that is the loss of the most frequent sentence alone; the others count too"
    yield total * cost, "that is the loss of all pairs together; take their mean"


def look_back(x: Tensor) -> Tensor:
    return x.cumsum(dim=0) / 2


def look_across(x: Tensor, memory: Tensor) -> Tensor:
    return (x @ memory.T).softmax(dim=-1) @ memory


def feed_forward(x: Tensor) -> Tensor:
    return (2 * x).relu() - 0.7


def norm(x: Tensor) -> Tensor:
    return torch.nn.functional.layer_norm(x, (3,))


@exercise(
    # As many words here as there, so that a mix-up of the two gives numbers, and no torch error.
    cases=[(*normal((4, 3), (4, 3), seed=9), look_back, look_across, feed_forward, norm)],
    hint="Three times norm(x + sublayer(x)), each on what the one before has left",
)
def three_steps(
    x: Tensor, memory: Tensor, look_back: Callable, look_across: Callable, feed_forward: Callable, norm: Callable
) -> Iterator:
    """The reader's `three_steps(x, memory, look_back, look_across, feed_forward, norm)` is a post-norm decoder layer."""

    def run(*steps: Callable) -> Tensor:
        y = x
        for step in steps:
            y = step(y)
        return y

    def across(y: Tensor) -> Tensor:
        return look_across(y, memory)

    def each(step: Callable) -> list[Callable]:
        """Return the three sublayers, each inside `step`."""
        return [lambda y, f=f: step(y, f) for f in (look_back, across, feed_forward)]

    whole = back, cross, feed = each(lambda y, f: norm(y + f(y)))
    plain = each(lambda y, f: y + f(y))
    pre = run(*each(lambda y, f: y + f(norm(y))))
    yield run(*whole), "three sublayers, each with its sum and its norm; the memory enters in the second only"
    for one in (pre, norm(pre)):
        yield one, "that is pre-norm: the paper normalises after each sum, norm(x + sublayer(x))"
    yield run(*plain), "the norms are missing: one after each of the three sums"
    yield norm(run(*plain)), "there is one norm at the end; the paper has one after each of the three sums"
    yield run(back, cross, plain[2]), "the last norm is missing: the sum after the feed-forward network needs one too"
    yield run(back, plain[1], feed), "the second norm is missing: the sum after the look across needs one too"
    yield run(plain[0], cross, feed), "the first norm is missing: the sum after the look back needs one too"
    yield run(*each(lambda y, f: norm(f(y)))), "the residual connections are missing: add each sublayer's input to its output"
    yield run(*each(lambda y, f: y + norm(f(y)))), "the norm stands around the sum, too"
    yield run(cross, back, feed), "look back first, then across: that is the order of the paper"
    yield run(back, cross), "the feed-forward network is missing"
    yield run(back, feed), "the step to the memory is missing"
    yield run(cross, feed), "the step back over the target is missing"
    yield (
        norm(x + look_back(x) + across(x) + feed_forward(x)),
        "all three read x: each must read what the step before it has left",
    )
    for second, hint in (
        (lambda y: y + look_across(memory, y), "in look_across x asks and memory answers: x comes first"),
        (lambda y: memory + across(y), "the second sum adds the memory: the decoder's own x is carried on"),
        (lambda y: x + across(y), "the second sum adds the old x: add what the first step has left"),
    ):
        yield run(back, lambda y, second=second: norm(second(y)), feed), hint
