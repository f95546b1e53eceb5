"""Checks for the exercises of chapter 9, Cross-attention and the decoder."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from transformer_lib.teaching.exercises import Hint, exercise, expect_close, expect_shape, formula, softmax

__all__ = ["blind_floor", "cross_attend", "map_shape", "three_steps"]


@formula(cases=[(2, 8, 5, 6), (3, 4, 7, 2)], hint="The shape is (batch, heads, queries, keys)")
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


@exercise
def cross_attend(attempt: Callable) -> str:
    """The reader's `cross_attend(x, memory, w_query, w_key, w_value)` returns one head's output, (target, d_k)."""
    generator = np.random.default_rng(9)
    # First as many words here as there: then a mix-up of the two gives numbers that can be named, and no torch error.
    for target, source in ((3, 3), (2, 5), (4, 3)):
        sizes = [(target, 6), (source, 6), (6, 4), (6, 4), (6, 4)]
        arrays = [generator.normal(size=size) for size in sizes]
        x, memory, w_query, w_key, w_value = arrays
        query, key, value = x @ w_query, memory @ w_key, memory @ w_value
        expected = _attend(query, key, value)
        result = attempt(*map(torch.from_numpy, arrays))
        output = expect_shape(result, (target, 4), "the output")
        mistakes = [
            (_attend(query, key, value, scale=1.0), "the scores are not divided by √d_k"),
            (_attend(query, key, value, scale=math.sqrt(6)), "the scores are divided by √d_model; divide by √d_k"),
            (_attend(query, key, value, scale=4.0), "the scores are divided by d_k; divide by its square root"),
            (_attend(query, key, key), "the keys are averaged; the weights belong to the values, memory @ w_value"),
            (_attend(query, value, key), "w_key and w_value have changed places: keys are compared, values are averaged"),
            (query @ key.T / 2.0 @ value, "the softmax is missing"),
            (softmax(query @ key.T / 2.0, axis=0) @ value, "the softmax runs over the target words; each row must sum to 1"),
        ]
        if target == source:
            mistakes += [
                (_attend(query, x @ w_key, x @ w_value), "that is self-attention of x: keys and values come from memory"),
                (_attend(query, key, x @ w_value), "the values come from x; what is fetched comes from memory"),
                (_attend(query, x @ w_key, value), "the keys come from x; what answers comes from memory"),
                (
                    _attend(memory @ w_query, x @ w_key, x @ w_value),
                    "x and memory have changed places: the queries come from x, keys and values from memory",
                ),
                (_attend(memory @ w_query, key, value), "the queries come from memory; the decoder asks, so they come from x"),
            ]
        for mistake, hint in mistakes:
            if np.allclose(output, mistake, rtol=1e-4, atol=1e-4):
                raise Hint(hint)
        expect_close(output, expected, "It is softmax(Q Kᵀ / √d_k) V, with Q from x, K and V from memory", what="the output")
    return "queries from the decoder, keys and values from the encoder, one row for each target word"


@formula(
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


@exercise
def three_steps(attempt: Callable) -> str:
    """The reader's `three_steps(x, memory, look_back, look_across, feed_forward, norm)` is a post-norm decoder layer."""
    generator = torch.Generator().manual_seed(9)
    # As many words here as there, so that a mix-up of the two gives numbers, and no torch error.
    x, memory = torch.randn(2, 4, 3, generator=generator)

    def look_back(x: Any) -> Any:
        return torch.cumsum(x, dim=0) / 2

    def look_across(x: Any, memory: Any) -> Any:
        return (x @ memory.T).softmax(dim=-1) @ memory

    def feed_forward(x: Any) -> Any:
        return (2 * x).relu() - 0.7

    def norm(x: Any) -> Any:
        return torch.nn.functional.layer_norm(x, (3,))

    def run(*steps: Callable) -> torch.Tensor:
        y = x
        for step in steps:
            y = step(y)
        return y

    def add(step: Callable) -> Callable:
        return lambda y: norm(y + step(y))

    def across(y: Any) -> Any:
        return look_across(y, memory)

    result = attempt(x.clone(), memory.clone(), look_back, look_across, feed_forward, norm)
    output = expect_shape(result, (4, 3), "the output")
    pre = [lambda y, f=f: y + f(norm(y)) for f in (look_back, across, feed_forward)]
    plain = [lambda y, f=f: y + f(y) for f in (look_back, across, feed_forward)]
    whole = [add(look_back), add(across), add(feed_forward)]
    for wrong, hint in (
        (run(*pre), "that is pre-norm: the paper normalises after each sum, norm(x + sublayer(x))"),
        (run(*pre, norm), "that is pre-norm: the paper normalises after each sum, norm(x + sublayer(x))"),
        (run(*plain), "the norms are missing: one after each of the three sums"),
        (norm(run(*plain)), "there is one norm at the end; the paper has one after each of the three sums"),
        (
            run(lambda y: norm(look_back(y)), lambda y: norm(across(y)), lambda y: norm(feed_forward(y))),
            "the residual connections are missing: add each sublayer's input to its output",
        ),
        (
            run(*(lambda y, f=f: y + norm(f(y)) for f in (look_back, across, feed_forward))),
            "the norm stands around the sum, too",
        ),
        (run(whole[1], whole[0], whole[2]), "look back first, then across: that is the order of the paper"),
        (run(whole[0], whole[1]), "the feed-forward network is missing"),
        (run(whole[0], whole[2]), "the step to the memory is missing"),
        (run(whole[1], whole[2]), "the step back over the target is missing"),
        (
            norm(x + look_back(x) + look_across(x, memory) + feed_forward(x)),
            "all three read x: each must read what the step before it has left",
        ),
        (
            run(whole[0], lambda y: norm(y + look_across(memory, y)), whole[2]),
            "in look_across x asks and memory answers: x comes first",
        ),
        (
            run(whole[0], lambda y: norm(memory + across(y)), whole[2]),
            "the second sum adds the memory: the decoder's own x is carried on",
        ),
        (
            run(whole[0], lambda y: norm(x + across(y)), whole[2]),
            "the second sum adds the old x: add what the first step has left",
        ),
    ):
        if torch.allclose(torch.from_numpy(output), wrong.double(), rtol=1e-4, atol=1e-4):
            raise Hint(hint)
    right = run(*whole)
    expect_close(output, right, "Three times norm(x + sublayer(x)), each on what the one before has left", what="the output")
    return "three sublayers, each with its sum and its norm; the memory enters in the second only"


def _attend(query: np.ndarray, key: np.ndarray, value: np.ndarray, scale: float | None = None) -> np.ndarray:
    return softmax(query @ key.T / (math.sqrt(query.shape[-1]) if scale is None else scale)) @ value
