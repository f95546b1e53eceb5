"""The checks of chapter 9: right answers pass, and each usual mistake gets its own hint."""

import math
import re

import pytest
import torch

from transformer_lib.masks import look_ahead_mask, padding_mask
from transformer_lib.teaching.check import decoder as check


def attend(query, key, value, scale=2.0, dim=-1):
    return (query @ key.T / scale).softmax(dim=dim) @ value


def right_attend(x, memory, w_query, w_key, w_value):
    return attend(x @ w_query, memory @ w_key, memory @ w_value)


def count(d_model, d_ff, attentions=2, norms=3, bias=1):
    feed_forward = 2 * d_model * d_ff + bias * (d_ff + d_model)
    return attentions * 4 * (d_model**2 + bias * d_model) + feed_forward + norms * 2 * d_model


def right_masks(target_in, source, pad_id):
    return padding_mask(target_in, pad_id) & look_ahead_mask(target_in.size(1)), padding_mask(source, pad_id)


def with_self_mask(make):
    return lambda t, s, pad: (make(padding_mask(t, pad), look_ahead_mask(t.size(1))), padding_mask(s, pad))


def with_memory_mask(make):
    return lambda t, s, pad: (right_masks(t, s, pad)[0], make(padding_mask(s, pad)))


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("map_shape", lambda batch, heads, source, target: (batch, heads, target, source)),
        ("map_shape", lambda batch, heads, source, target: torch.zeros(batch, heads, target, source).shape),
        ("cross_attend", right_attend),
        ("cross_attend", lambda *given: right_attend(*(array.float() for array in given))),
        ("layer_parameters", count),
        ("decoder_masks", right_masks),
        ("decoder_masks", lambda *given: [m.expand(3, 7, 4, m.size(-1))[:, :1] for m in right_masks(*given)]),
    ],
)
def test_a_right_answer_passes(says, name, answer):
    assert says(getattr(check, name), answer).startswith(f"✓ {name}: ")


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("map_shape", lambda b, h, s, t: (b, h, s, t), "last two axes are swapped"),
        ("map_shape", lambda b, h, s, t: (b, h, t, t), "self-attention of the decoder"),
        ("map_shape", lambda b, h, s, t: (b, h, s, s), "self-attention of the encoder"),
        ("map_shape", lambda b, h, s, t: (b, t, s), "each head has a map"),
        ("map_shape", lambda b, h, s, t: (h, b, t, s), "batch comes first"),
        ("map_shape", lambda b, h, s, t: (1, h, t, s), r"\(batch, heads, queries, keys\)"),
        ("cross_attend", lambda x, m, q, k, v: attend(m @ q, x @ k, x @ v), "one for each source word"),
        ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, m @ v, scale=1), "not divided by √d_k"),
        ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, m @ v, scale=4), "divided by d_k"),
        ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, m @ v, scale=math.sqrt(6)), "divided by √d_model"),
        ("cross_attend", lambda x, m, q, k, v: attend(x @ q, x @ k, x @ v), "self-attention of x"),
        ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, m @ v, dim=0), "runs over the target words"),
        ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, m @ k), "keys are averaged"),
        ("cross_attend", lambda x, m, q, k, v: x @ q @ (m @ k).T / 2 @ (m @ v), "softmax is missing"),
        ("cross_attend", lambda x, m, q, k, v: x @ q, "It is softmax"),
        ("cross_attend", lambda x, m, q, k, v: x, "has shape"),
        ("layer_parameters", lambda d, f: count(d, f, attentions=1, norms=2), "that is an encoder layer"),
        ("layer_parameters", lambda d, f: count(d, f, attentions=1), "two attentions"),
        ("layer_parameters", lambda d, f: count(d, f, norms=2), "three layer normalisations"),
        ("layer_parameters", lambda d, f: count(d, f, norms=0), "normalisations are missing"),
        ("layer_parameters", lambda d, f: count(d, f, bias=0), "biases of the linear layers"),
        ("layer_parameters", lambda d, f: count(d, f, bias=0, norms=0), "only the matrices"),
        ("layer_parameters", lambda d, f: d * f, "the result for"),
        ("decoder_masks", lambda t, s, pad: padding_mask(s, pad), "return two masks"),
        ("decoder_masks", with_self_mask(lambda real, causal: causal), "self_mask: .*not the padding"),
        ("decoder_masks", with_self_mask(lambda real, causal: real), "self_mask: .*not the future"),
        ("decoder_masks", with_self_mask(lambda real, causal: real | causal), "not |"),
        ("decoder_masks", with_self_mask(lambda real, causal: real & causal.T), "hides the past"),
        ("decoder_masks", with_self_mask(lambda real, causal: ~(real & causal)), "self_mask: True and False are exchanged"),
        ("decoder_masks", with_self_mask(lambda real, causal: real & causal.tril(-1)), "self_mask: True exactly"),
        ("decoder_masks", with_self_mask(lambda real, causal: (real & causal).float()), "self_mask must be a boolean"),
        ("decoder_masks", with_memory_mask(lambda real: ~real), "memory_mask: True and False are exchanged"),
        ("decoder_masks", with_memory_mask(lambda real: real & look_ahead_mask(5)[:4]), "takes no look-ahead mask"),
        ("decoder_masks", with_memory_mask(torch.ones_like), "does not hide the padding of source"),
        ("decoder_masks", with_memory_mask(lambda real: real.squeeze()), "memory_mask has shape .* does not broadcast"),
        ("decoder_masks", lambda t, s, pad: right_masks(t, s, 0), "self_mask: True exactly"),
        ("decoder_masks", with_memory_mask(lambda real: real & False), "memory_mask: True exactly"),
    ],
)
def test_a_usual_mistake_gets_its_hint(says, name, answer, hint):
    line = says(getattr(check, name), answer)
    assert line.startswith(f"✗ {name}: ")
    assert re.search(hint, line), line
