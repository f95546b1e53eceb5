"""Attention against loops and torch: weights, masks, gradients, heads."""

import copy

import pytest
import torch
from helpers import with_gradients
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib.attention import (
    MultiHeadAttention,
    join_heads,
    scaled_dot_product_attention,
    split_heads,
)
from transformer_lib.scaling import use_fused_attention
from transformer_lib.teaching.exercises import attention as exercise
from transformer_lib.teaching.experiments.attention import by_loops
from transformer_lib.teaching.torch_parity import compare_gradients, copy_to_torch

sizes = st.integers(1, 5)
DTYPES = [torch.float32, torch.bfloat16, torch.float16]


def normal(*shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype)


def draw_mask(kind, batch, query, key):
    """Return a mask that broadcasts to (batch, heads, query, key); True may attend."""
    lengths, mask = torch.randint(1, key + 1, (batch, 1, 1, 1)), torch.rand(batch, 1, query, key) < 0.5
    masks = {
        "none": None,
        "two axes": torch.rand(query, key) < 0.6,
        "causal": torch.ones(query, key, dtype=torch.bool).tril(),
        "padding": torch.arange(key) < lengths,
        "left padding": torch.arange(key) >= key - lengths,
        "random": mask,
        "fully masked": mask & (torch.arange(query) > 0)[:, None],
    }
    return masks[kind]


MASKS = ["none", "two axes", "causal", "padding", "left padding", "random", "fully masked"]


@given(query=sizes, key=sizes, d_k=sizes, d_v=sizes, masked=st.booleans())
def test_equals_the_loops(query, key, d_k, d_v, masked):
    q, k, v = normal(query, d_k), normal(key, d_k), normal(key, d_v)
    mask = torch.rand(query, key) < 0.5 if masked else None
    expected = by_loops(q.tolist(), k.tolist(), v.tolist(), [[True] * key] * query if mask is None else mask.tolist())
    assert_close(scaled_dot_product_attention(q, k, v, mask), tuple(torch.tensor(part).double() for part in expected))


@pytest.mark.parametrize("kind", MASKS)
@given(batch=sizes, heads=sizes, query=sizes, key=sizes, d_k=sizes, d_v=sizes)
@settings(max_examples=20)
def test_equals_torchs_function_with_gradients(kind, batch, heads, query, key, d_k, d_v):
    inputs = [normal(batch, heads, query, d_k), normal(batch, heads, key, d_k), normal(batch, heads, key, d_v)]
    mask = draw_mask(kind, batch, query, key)
    upstream = normal(batch, heads, query, d_v)
    ours = with_gradients(lambda q, k, v: scaled_dot_product_attention(q, k, v, mask)[0], inputs, upstream)
    theirs = with_gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, mask), inputs, upstream)
    assert_close(ours, theirs)


@pytest.mark.parametrize("kind", ["none", "causal", "padding", "left padding"])
@pytest.mark.parametrize("training", [False, True])
@given(batch=sizes, heads=st.integers(1, 4), d_k=st.integers(1, 4), query=sizes, key=sizes)
@settings(max_examples=25)
def test_equals_torchs_layer(kind, training, batch, heads, d_k, query, key):
    """Output, weights and all gradients. No row is fully masked: there torch's weights are NaN. Torch's True forbids."""
    d_model = heads * d_k
    ours = MultiHeadAttention(d_model, heads).double().train(training)
    for parameter in ours.parameters():  # biases that matter
        nn.init.normal_(parameter)
    theirs = nn.MultiheadAttention(d_model, heads, batch_first=True).double().train(training)
    copy_to_torch(ours, theirs)
    inputs = [normal(batch, query, d_model), normal(batch, key, d_model), normal(batch, key, d_model)]
    upstream = normal(batch, query, d_model)
    mask = draw_mask(kind, batch, query, key)
    torch_mask = None if mask is None else ~mask.expand(batch, heads, query, key).flatten(0, 1)

    expected_weights = theirs(*inputs, attn_mask=torch_mask, average_attn_weights=False)[1]
    output, gradients = with_gradients(lambda q, k, v: ours(q, k, v, mask), inputs, upstream)
    expected, expected_gradients = with_gradients(
        lambda q, k, v: theirs(q, k, v, attn_mask=torch_mask, need_weights=True)[0], inputs, upstream
    )
    assert_close(output, expected)
    assert_close(gradients, expected_gradients)
    assert_close(ours.weights, expected_weights)

    ours(*inputs, mask).backward(upstream)
    theirs(*inputs, attn_mask=torch_mask)[0].backward(upstream)
    for mine, its in compare_gradients(ours, theirs):
        assert_close(mine, its)


@pytest.mark.parametrize("kind", MASKS)
@given(batch=sizes, heads=st.integers(1, 4), query=sizes, key=sizes)
@settings(max_examples=15)
def test_the_fused_kernel_is_the_formula(kind, batch, heads, query, key):
    layer = MultiHeadAttention(4 * heads, heads).double()
    fused = use_fused_attention(copy.deepcopy(layer))
    inputs = [normal(batch, query, 4 * heads), normal(batch, key, 4 * heads), normal(batch, key, 4 * heads)]
    mask = draw_mask(kind, batch, query, key)
    upstream = normal(batch, query, 4 * heads)
    by_formula = with_gradients(lambda q, k, v: layer(q, k, v, mask), inputs, upstream)
    assert_close(by_formula, with_gradients(lambda q, k, v: fused(q, k, v, mask), inputs, upstream))
    assert not hasattr(fused, "weights")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_masked_scores_are_minus_infinity(dtype):
    """A masked key may shout as loud as it likes, and a whole masked row does not get its weights back."""
    query = torch.full((1, 2, 4), 100.0, dtype=dtype)
    key = torch.tensor([[[-100.0] * 4, [100.0] * 4, [90.0] * 4]], dtype=dtype)
    value = torch.tensor([[[1.0], [2.0], [3.0]]], dtype=dtype)
    mask = torch.tensor([[True, False, False], [False, False, False]])
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    assert_close(weights, torch.tensor([[[1.0, 0, 0], [0, 0, 0]]], dtype=dtype), rtol=0, atol=0)
    assert_close(output, torch.tensor([[[1.0], [0.0]]], dtype=dtype), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_fully_masked_row_gives_zeros(dtype):
    """Its gradients, and those of all others, are finite."""
    layer = MultiHeadAttention(8, 2).to(dtype)
    nn.init.zeros_(layer.W_o.bias)
    x = normal(2, 3, 8, dtype=dtype).requires_grad_()
    mask = torch.ones(2, 1, 3, 3, dtype=torch.bool)
    mask[0, 0, 1] = False
    output = layer(x, x, x, mask)
    assert not output[0, 1].any()
    assert output[0, 0].any() and output[1].any()
    assert not layer.weights[0, :, 1].any()
    assert_close(layer.weights[1].sum(-1), torch.ones(2, 3, dtype=dtype), rtol=0.02, atol=0)
    output.sum().backward()
    assert x.grad.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in layer.parameters())


@given(batch=sizes, seq=sizes, heads=sizes, d_k=sizes)
def test_each_head_gets_its_part_of_every_word(batch, seq, heads, d_k):
    x = torch.arange(batch * seq * heads * d_k).double().view(batch, seq, heads * d_k)
    split = split_heads(x, heads)
    assert_close(split, torch.stack(x.split(d_k, dim=2), dim=1), rtol=0, atol=0)
    assert_close(join_heads(split), x, rtol=0, atol=0)


def test_a_mask_of_numbers_is_refused(as_a_user_calls_it):
    """torch's function would add it to the scores."""
    x = torch.zeros(2, 3, 8)
    with pytest.raises(TypeError):
        MultiHeadAttention(8, 2)(x, x, x, torch.ones(3, 3))


class Attempt(MultiHeadAttention):
    """The layer, with one slip."""

    cut, scale, last, mask_of = staticmethod(split_heads), 1.0, True, staticmethod(lambda mask: mask)

    def forward(self, query, key, value, mask=None):
        q, k, v = (self.cut(W(x), self.num_heads) for W, x in ((self.W_q, query), (self.W_k, key), (self.W_v, value)))
        x = join_heads(scaled_dot_product_attention(q * self.scale, k, v, self.mask_of(mask))[0])
        return self.W_o(x) if self.last else x


@pytest.mark.parametrize(
    ("slip", "says"),
    [
        ({}, "✓"),
        ({"last": False}, "W_o is missing"),
        ({"scale": 2.0}, "not divided by √d_k"),
        ({"scale": 3**-0.5}, "not by √d_model"),
        ({"cut": staticmethod(lambda x, heads: x.reshape(len(x), heads, -1, 4))}, "cut each row, then transpose"),
        ({"mask_of": staticmethod(lambda mask: None)}, "the mask is not used"),
        ({"mask_of": staticmethod(lambda mask: None if mask is None else ~mask)}, "the other way round"),
    ],
)
def test_the_exercise_knows_the_usual_slips(capsys, slip, says):
    exercise.multi_head_attention(type("MyAttention", (Attempt,), slip))
    line = capsys.readouterr().out
    assert line.startswith("✗✓"[not slip]) and says in line


@pytest.mark.parametrize(("row", "says"), [([3.0, 0, 0, 0], "✓"), ([1.0, 0, 0, 0], "loudly enough")])
def test_chess_asks_who(capsys, row, says):
    exercise.chess_asks_who(lambda W_Q: torch.cat([W_Q[:2], torch.tensor([row]), W_Q[3:]]))
    assert says in capsys.readouterr().out
