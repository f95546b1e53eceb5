"""Checks for the exercises of chapter 9, Cross-attention and the decoder."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from transformer_lib.masks import look_ahead_mask, padding_mask
from transformer_lib.teaching.check import Hint, exercise, expect_close, expect_formula, expect_shape, softmax

__all__ = ["cross_attend", "decoder_masks", "layer_parameters", "map_shape"]


@exercise
def map_shape(attempt: Callable) -> str:
    """The reader's `map_shape(batch, num_heads, source, target)` returns the shape of the cross-attention's weights."""
    expect_formula(
        attempt,
        cases=[(2, 8, 5, 6), (3, 4, 7, 2)],
        right=lambda batch, num_heads, source, target: (batch, num_heads, target, source),
        mistakes=[
            (
                lambda batch, num_heads, source, target: (batch, num_heads, source, target),
                "the last two axes are swapped: rows are queries, and the queries are the target's words",
            ),
            (
                lambda batch, num_heads, source, target: (batch, num_heads, target, target),
                "that is the self-attention of the decoder; the keys of cross-attention are the source's words",
            ),
            (
                lambda batch, num_heads, source, target: (batch, num_heads, source, source),
                "that is the self-attention of the encoder; the queries of cross-attention are the target's words",
            ),
            (
                lambda batch, num_heads, source, target: (batch, target, source),
                "each head has a map of its own: put an axis for the heads after the batch",
            ),
            (
                lambda batch, num_heads, source, target: (num_heads, batch, target, source),
                "in this course the batch comes first, then the heads",
            ),
        ],
        hint="The shape is (batch, heads, queries, keys)",
    )
    return "rows are the target's words, columns the source's, whatever their numbers"


@exercise
def cross_attend(attempt: Callable) -> str:
    """The reader's `cross_attend(x, memory, w_query, w_key, w_value)` returns one head's output, (target, d_k)."""
    generator = np.random.default_rng(9)
    for target, source in ((2, 5), (4, 3)):
        sizes = [(target, 6), (source, 6), (6, 4), (6, 4), (6, 4)]
        arrays = [generator.normal(size=size) for size in sizes]
        x, memory, w_query, w_key, w_value = arrays
        query, key, value = x @ w_query, memory @ w_key, memory @ w_value
        expected = _attend(query, key, value)
        result = attempt(*map(torch.from_numpy, arrays))
        if np.shape(_as_array(result)) == (source, 4):
            raise Hint(
                f"the result has {source} rows, one for each source word, expected {target}, one for each target word: "
                "the queries come from x, the keys and values from memory"
            )
        output = expect_shape(result, (target, 4), "the output")
        for mistake, hint in (
            (_attend(query, key, value, scale=1.0), "the scores are not divided by √d_k"),
            (_attend(query, key, value, scale=math.sqrt(6)), "the scores are divided by √d_model; divide by √d_k"),
            (_attend(query, key, value, scale=4.0), "the scores are divided by d_k; divide by its square root"),
            (_attend(query, x @ w_key, x @ w_value), "that is self-attention of x: keys and values come from memory"),
            (softmax(query @ key.T / 2.0, axis=0) @ value, "the softmax runs over the target words; each row must sum to 1"),
            (_attend(query, key, key), "the keys are averaged; the weights belong to the values, memory @ w_value"),
            (query @ key.T / 2.0 @ value, "the softmax is missing"),
        ):
            if np.allclose(output, mistake, rtol=1e-4, atol=1e-4):
                raise Hint(hint)
        expect_close(output, expected, "It is softmax(Q Kᵀ / √d_k) V, with Q from x, K and V from memory", what="the output")
    return "queries from the decoder, keys and values from the encoder, one row for each target word"


@exercise
def layer_parameters(attempt: Callable) -> str:
    """The reader's `layer_parameters(d_model, d_ff)` counts the numbers that one decoder layer learns."""

    def count(attentions: int = 2, norms: int = 3, bias: int = 1) -> Callable:
        def formula(d_model: int, d_ff: int) -> int:
            attention = 4 * (d_model**2 + bias * d_model)
            feed_forward = 2 * d_model * d_ff + bias * (d_ff + d_model)
            return attentions * attention + feed_forward + norms * 2 * d_model

        return formula

    expect_formula(
        attempt,
        cases=[(8, 12), (512, 2048)],
        right=count(),
        mistakes=[
            (count(attentions=1, norms=2), "that is an encoder layer; a decoder layer has an attention and a norm more"),
            (count(attentions=1), "a decoder layer has two attentions: masked self-attention and cross-attention"),
            (count(norms=2), "there are three layer normalisations, one after each sub-layer"),
            (count(norms=0), "the three layer normalisations are missing: each has a γ and a β, d_model numbers each"),
            (count(bias=0), "the biases of the linear layers are missing: one number for each output"),
            (count(bias=0, norms=0), "only the matrices are counted; the biases and the layer normalisations are missing"),
        ],
        hint="Two attentions, 4 (d_model² + d_model) each, a feed-forward network, and three norms with 2 d_model each",
    )
    return "two attentions, one feed-forward network, three layer normalisations; the heads add nothing"


@exercise
def decoder_masks(attempt: Callable) -> str:
    """The reader's `decoder_masks(target_in, source, pad_id)` returns self_mask and memory_mask."""
    target_in = torch.tensor([[1, 5, 6, 7], [1, 5, 0, 0], [0, 0, 1, 5]])
    source = torch.tensor([[4, 5, 6, 7, 8], [4, 5, 6, 0, 0], [0, 4, 5, 6, 7]])
    # A pad_id other than 0 shows whether the argument is used.
    for pad_id in (0, 5):
        result = attempt(target_in, source, pad_id)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise Hint("return two masks: self_mask, memory_mask")
        causal = look_ahead_mask(4)
        targets, sources = padding_mask(target_in, pad_id), padding_mask(source, pad_id)
        self_mask = _mask(result[0], (3, 1, 4, 4), "self_mask")
        for mistake, hint in (
            (causal, "it hides the future but not the padding of target_in"),
            (targets, "it hides the padding but not the future: combine it with look_ahead_mask by &"),
            (targets | causal, "a place must be real *and* not in the future: combine the two with &, not |"),
            (targets & causal.T, "it shows the future and hides the past: the look-ahead mask is the lower triangle"),
            (~(targets & causal), "True and False are exchanged: True means that one may look"),
        ):
            if (self_mask == mistake.expand(3, 1, 4, 4)).all() and not (mistake == (targets & causal)).all():
                raise Hint(f"self_mask: {hint}")
        if not (self_mask == (targets & causal)).all():
            raise Hint("self_mask: True exactly where the key is a real word and does not lie to the right of the query")
        memory_mask = _mask(result[1], (3, 1, 4, 5), "memory_mask")
        wanted = sources.expand(3, 1, 4, 5)
        if (memory_mask == ~wanted).all():
            raise Hint("memory_mask: True and False are exchanged: True means that one may look")
        if (memory_mask == (wanted & torch.ones(4, 5, dtype=torch.bool).tril())).all():
            raise Hint("memory_mask: nothing in the source lies in the future, so it takes no look-ahead mask")
        if memory_mask.all():
            raise Hint("memory_mask: it does not hide the padding of source")
        if not (memory_mask == wanted).all():
            raise Hint("memory_mask: True exactly where the source has a real word, the same for every target word")
    return "the self-attention hides the future and the padding, the cross-attention only the source's padding"


def _mask(value: Any, shape: tuple[int, ...], what: str) -> torch.Tensor:
    if not isinstance(value, torch.Tensor) or value.dtype is not torch.bool:
        raise Hint(f"{what} must be a boolean tensor")
    try:
        return value.expand(shape)
    except RuntimeError:
        raise Hint(
            f"{what} has shape {tuple(value.shape)}, which does not broadcast to (batch, heads, query, key), here {shape}"
        ) from None


def _attend(query: np.ndarray, key: np.ndarray, value: np.ndarray, scale: float | None = None) -> np.ndarray:
    scores = query @ key.T / (math.sqrt(query.shape[-1]) if scale is None else scale)
    return softmax(scores, axis=-1) @ value


def _as_array(value: Any) -> Any:
    return value.detach().numpy() if isinstance(value, torch.Tensor) else ()
