"""Chapter 5: the position tables against the formula and torch."""

import math

import pytest
import torch
from helpers import assert_equal_with_gradients
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import embedding
from torch.testing import assert_close

from transformer_lib.positional_encoding import LearnedPositionalEmbedding, PositionalEncoding, sinusoidal_table

even_widths = st.integers(1, 64).map(lambda half: 2 * half)


def layers(d_model, max_len):
    return [kind(d_model, max_len) for kind in (PositionalEncoding, LearnedPositionalEmbedding)]


@given(pos=st.integers(0, 4999), dimension=st.integers(0, 511), d_model=even_widths)
def test_every_entry_follows_the_formula(pos, dimension, d_model):
    dimension %= d_model
    angle = pos / math.pow(10_000, (dimension - dimension % 2) / d_model)
    expected = math.cos(angle) if dimension % 2 else math.sin(angle)
    assert sinusoidal_table(pos + 1, d_model)[pos, dimension].item() == pytest.approx(expected, abs=1e-6)


@given(pos=st.integers(0, 2000), shift=st.integers(0, 2000), d_model=even_widths)
def test_a_shift_is_a_rotation(pos, shift, d_model):
    """The matrix that moves a position by a shift holds the shift alone; so dot products hold the distance alone."""
    table = sinusoidal_table(pos + shift + 1, d_model).double()
    (sine, cosine), end = table[shift].view(-1, 2).T, table[pos + shift].view(-1, 2)
    s, c = table[pos].view(-1, 2).T
    assert_close(torch.stack([cosine * s + sine * c, cosine * c - sine * s], dim=1), end, rtol=0, atol=1e-6)
    assert_close(table[pos] @ table[pos + shift], cosine.sum(), rtol=0, atol=1e-5)


def test_the_table_is_a_buffer_that_is_not_saved():
    layer = PositionalEncoding(d_model=8)
    assert [name for name, _ in layer.named_buffers()] == ["table"]
    assert list(layer.parameters()) == []
    assert list(layer.state_dict()) == []
    assert layer.to(torch.float64).table.dtype is torch.float64
    assert layer.to("meta").table.device.type == "meta"


def test_output_keeps_the_type_of_the_model():
    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
        for layer in layers(d_model=8, max_len=5):
            assert layer.to(dtype)(torch.zeros(2, 5, 8, dtype=dtype)).dtype is dtype


@given(length=st.integers(1, 12), cut=st.integers(0, 12), start=st.integers(0, 5))
def test_offset_continues_the_sentence(length, cut, start):
    cut = min(cut, length)
    x = torch.randn(2, length, 6)
    for layer in layers(d_model=6, max_len=17):
        whole = layer(x, offset=start)
        parts = [layer(x[:, :cut], offset=start), layer(x[:, cut:], offset=start + cut)]
        assert_close(torch.cat(parts, dim=1), whole, rtol=0, atol=0)


@given(batch=st.integers(1, 4), seq=st.integers(1, 9), d_model=even_widths, offset=st.integers(0, 3))
def test_learned_table_equals_nn_embedding_with_gradients(batch, seq, d_model, offset):
    layer = LearnedPositionalEmbedding(d_model, max_len=12).double()
    x = torch.randn(batch, seq, d_model, dtype=torch.float64, requires_grad=True)
    theirs = x + embedding(torch.arange(offset, offset + seq), layer.table.weight)
    assert_equal_with_gradients(layer(x, offset), theirs, [x, layer.table.weight])


@pytest.mark.parametrize("kind", [PositionalEncoding, LearnedPositionalEmbedding])
def test_dropout_acts_on_the_sum_in_training(kind):
    torch.manual_seed(0)
    layer = kind(d_model=64, max_len=100, dropout=0.25)
    x = torch.full((8, 100, 64), 5.0)
    whole = layer.eval()(x)
    table = sinusoidal_table(100, 64) if kind is PositionalEncoding else layer.table.weight
    assert_close(whole, x + table, rtol=0, atol=0)
    dropped = layer.train()(x)
    kept = dropped != 0
    assert kept.float().mean().item() == pytest.approx(0.75, abs=0.02)
    assert_close(dropped[kept], whole[kept] / 0.75)


def test_an_odd_width_is_refused():
    with pytest.raises(ValueError, match=r"d_model must be even.* it is 5"):
        sinusoidal_table(10, 5)


def test_wrong_input_is_told(as_a_user_calls_it):
    """More words than rows, and another width: torch's own errors."""
    for layer in layers(d_model=6, max_len=8):
        for x in (torch.zeros(2, 9, 6), torch.zeros(2, 3, 4)):
            with pytest.raises(RuntimeError, match="must match the size of tensor"):
                layer(x)
