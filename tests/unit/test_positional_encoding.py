"""Chapter 05: the position tables against hand-made numbers, the formula and torch."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from transformer_lib.positional_encoding import (
    LearnedPositionalEmbedding,
    PositionalEncoding,
    sinusoidal_table,
)

even_widths = st.integers(1, 64).map(lambda half: 2 * half)

# Made with a desk calculator: sine and cosine of 0, 1, 2, 3 and of 0, 0.01, 0.02, 0.03 radians.
HAND_MADE = torch.tensor(
    [
        [0.0, 1.0, 0.0, 1.0],
        [0.8414709848, 0.5403023059, 0.0099998333, 0.9999500004],
        [0.9092974268, -0.4161468365, 0.0199986667, 0.9998000067],
        [0.1411200081, -0.9899924966, 0.0299955002, 0.9995500337],
    ]
)


def layers(d_model, max_len):
    return [kind(d_model, max_len) for kind in (PositionalEncoding, LearnedPositionalEmbedding)]


def test_the_table_is_the_hand_made_one():
    table = sinusoidal_table(4, 4)
    assert table.dtype is torch.float32
    assert_close(table, HAND_MADE, rtol=0, atol=1e-6)


@given(pos=st.integers(0, 4999), dimension=st.integers(0, 511), d_model=even_widths)
def test_every_entry_follows_the_formula(pos, dimension, d_model):
    dimension %= d_model
    angle = pos / math.pow(10_000, (dimension - dimension % 2) / d_model)
    expected = math.cos(angle) if dimension % 2 else math.sin(angle)
    assert sinusoidal_table(pos + 1, d_model)[pos, dimension].item() == pytest.approx(expected, abs=1e-6)


class TestAShiftIsARotation:
    """The matrix that moves a position by k holds k alone, and it is orthogonal."""

    @staticmethod
    def rotation(shift, d_model):
        blocks = []
        for pair in range(d_model // 2):
            angle = torch.tensor(shift * 10_000.0 ** (-2 * pair / d_model), dtype=torch.float64)
            sine, cosine = angle.sin(), angle.cos()
            blocks.append(torch.stack([torch.stack([cosine, sine]), torch.stack([-sine, cosine])]))
        return torch.block_diag(*blocks)

    @given(pos=st.integers(0, 2000), shift=st.integers(-2000, 2000), d_model=even_widths)
    def test_at_random_positions(self, pos, shift, d_model):
        pos = max(pos, -shift)
        table = sinusoidal_table(max(pos, pos + shift) + 1, d_model).double()
        matrix = self.rotation(shift, d_model)
        assert_close(matrix @ table[pos], table[pos + shift], rtol=0, atol=1e-6)
        assert_close(matrix @ matrix.T, torch.eye(d_model).double())

    def test_dot_products_depend_on_the_distance_alone(self):
        table = sinusoidal_table(300, 64).double()
        similarity = table @ table.T
        for distance in (0, 1, 7, 100):
            along = similarity.diagonal(distance)
            assert_close(along, along[:1].expand_as(along), rtol=0, atol=1e-5)


def test_angles_are_computed_in_float64():
    late = sinusoidal_table(5000, 512)[4999]
    exact = [f(4999 / 10_000 ** (2 * i / 512)) for i in range(256) for f in (math.sin, math.cos)]
    assert_close(late, torch.tensor(exact), rtol=0, atol=1e-6)


def test_positions_are_added_unscaled():
    """The words may be scaled by √d_model before this layer; the layer itself scales nothing."""
    x = math.sqrt(64) * torch.randn(3, 10, 64)
    added = PositionalEncoding(d_model=64)(x) - x
    assert_close(added, sinusoidal_table(10, 64).expand(3, 10, 64), rtol=0, atol=1e-5)


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


def test_every_sentence_of_a_batch_gets_the_same_positions():
    x = torch.randn(1, 7, 6).expand(4, 7, 6)
    for layer in layers(d_model=6, max_len=7):
        y = layer(x)
        assert_close(y, y[:1].expand_as(y), rtol=0, atol=0)


@given(batch=st.integers(1, 4), seq=st.integers(1, 9), d_model=even_widths, offset=st.integers(0, 3))
def test_learned_table_equals_nn_embedding_with_gradients(batch, seq, d_model, offset):
    ours = LearnedPositionalEmbedding(d_model, max_len=12).double()
    theirs = nn.Embedding(12, d_model, dtype=torch.float64)
    theirs.load_state_dict(ours.table.state_dict())
    x = torch.randn(batch, seq, d_model, dtype=torch.float64, requires_grad=True)
    x_copy = x.detach().clone().requires_grad_()
    upstream = torch.randn_like(x)

    our_output = ours(x, offset=offset)
    their_output = x_copy + theirs(torch.arange(offset, offset + seq))
    our_output.backward(upstream)
    their_output.backward(upstream)

    assert_close(our_output, their_output)
    assert_close(x.grad, x_copy.grad)
    assert_close(ours.table.weight.grad, theirs.weight.grad)


def test_fixed_table_passes_the_gradient_unchanged():
    x = torch.randn(2, 5, 6, dtype=torch.float64, requires_grad=True)
    upstream = torch.randn_like(x)
    PositionalEncoding(d_model=6).double()(x).backward(upstream)
    assert_close(x.grad, upstream, rtol=0, atol=0)


@pytest.mark.parametrize("kind", [PositionalEncoding, LearnedPositionalEmbedding])
def test_dropout_acts_on_the_sum_in_training(kind):
    torch.manual_seed(0)
    layer = kind(d_model=64, max_len=100, dropout=0.25)
    x = torch.full((8, 100, 64), 5.0)
    whole = layer.eval()(x)
    table = layer.table[0] if kind is PositionalEncoding else layer.table.weight
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
