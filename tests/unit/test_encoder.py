"""The encoder's parts against torch's, and what a layer and a stack promise."""

import math
from dataclasses import replace

import pytest
import torch
from helpers import assert_equal_with_gradients
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from transformer_lib.encoder import AddAndNorm, Encoder, EncoderLayer, FeedForward, LayerNorm, TransformerConfig
from transformer_lib.teaching.torch_parity import compare_gradients, copy_to_torch

sizes = st.integers(1, 5)
heads_and_width = st.tuples(st.integers(1, 3), st.integers(2, 4)).map(lambda pair: (pair[0], pair[0] * pair[1]))


def small(**changes):
    """A configuration of small sizes, without dropout."""
    return TransformerConfig(**{"d_model": 8, "num_layers": 2, "num_heads": 2, "d_ff": 12, "dropout": 0.0, **changes})


def with_random_norms(module):
    """Make γ and β other than 1 and 0, so that a forgotten one shows."""
    for part in module.modules():
        if isinstance(part, LayerNorm):
            nn.init.normal_(part.weight)
            nn.init.normal_(part.bias)
    return module


def layer_of_torch(d_model, num_heads, d_ff, pre_norm):
    return nn.TransformerEncoderLayer(
        d_model, num_heads, d_ff, dropout=0.0, batch_first=True, norm_first=pre_norm, dtype=torch.float64
    )


def stack_of_torch(ours, d_model, num_heads, d_ff, pre_norm):
    """Return torch's encoder with our encoder's numbers."""
    norm = nn.LayerNorm(d_model, dtype=torch.float64) if pre_norm else None
    layer = layer_of_torch(d_model, num_heads, d_ff, pre_norm)
    theirs = nn.TransformerEncoder(layer, len(ours.layers), norm=norm, enable_nested_tensor=False)
    copy_to_torch(ours, theirs)
    return theirs


def assert_same_gradients(ours, theirs):
    for mine, its in compare_gradients(ours, theirs):
        assert_close(mine, its)


def run(module, x, **arguments):
    x = x.clone().requires_grad_()
    output = module(x, **arguments)
    return x, output


@given(batch=sizes, seq=sizes, d_model=st.integers(1, 9), eps=st.sampled_from([1e-5, 0.1]))
def test_layer_norm_equals_the_formula(batch, seq, d_model, eps):
    """torch's kernel computes: variance with correction 0, ε inside the root, then γ and β; forward and gradients."""
    ours = with_random_norms(LayerNorm(d_model, eps).double())

    def formula(x, weight, bias):
        centred = x - x.mean(dim=-1, keepdim=True)
        return weight * centred / (x.var(dim=-1, correction=0, keepdim=True) + eps).sqrt() + bias

    x = torch.randn(batch, seq, d_model, dtype=torch.float64, requires_grad=True)
    assert_equal_with_gradients(ours(x), formula(x, ours.weight, ours.bias), [x, ours.weight, ours.bias])


def test_variance_is_divided_by_n():
    x = torch.tensor([1.0, 0.0, 0.0, 0.0], dtype=torch.float64)
    expected = torch.tensor([3.0, -1.0, -1.0, -1.0], dtype=torch.float64) / math.sqrt(3)
    assert_close(LayerNorm(4, eps=0.0).double()(x), expected)
    assert LayerNorm(4)(x.float())[0].item() == pytest.approx(1.732, abs=1e-3)


def test_epsilon_is_inside_the_root():
    x = torch.tensor([1.0, -1.0], dtype=torch.float64)  # variance 1
    assert_close(LayerNorm(2, eps=3.0).double()(x), x / 2)
    assert LayerNorm(2)(torch.full((1, 2), 5.0)).count_nonzero() == 0
    assert LayerNorm(8).eps == nn.LayerNorm(8).eps


@pytest.mark.parametrize("pre_norm", [False, True])
def test_residual_is_the_order_it_says(pre_norm):
    residual = with_random_norms(AddAndNorm(6, pre_norm=pre_norm).double())
    x = torch.randn(2, 3, 6, dtype=torch.float64)
    norm, sublayer = residual.norm, torch.sin
    expected = x + sublayer(norm(x)) if pre_norm else norm(x + sublayer(x))
    assert_close(residual(x, sublayer), expected)


@pytest.mark.parametrize("pre_norm", [False, True])
def test_dropout_acts_on_the_sublayer_alone(pre_norm):
    """And only in training."""
    torch.manual_seed(0)
    residual = AddAndNorm(4, dropout=0.25, pre_norm=pre_norm)
    residual.norm = nn.Identity()
    x = torch.randn(50, 20, 4)
    added = residual(x, torch.ones_like) - x
    kept = added.abs() > 1e-3
    assert kept.float().mean().item() == pytest.approx(0.75, abs=0.03)
    assert_close(added[kept], torch.full_like(added[kept], 1 / 0.75), rtol=0, atol=1e-5)
    assert_close(residual.eval()(x, torch.ones_like), x + 1)


@pytest.mark.parametrize("pre_norm", [False, True])
@settings(max_examples=20)
@given(batch=sizes, seq=sizes, shape=heads_and_width, d_ff=sizes, data=st.data())
def test_layer_equals_torch_with_gradients(pre_norm, batch, seq, shape, d_ff, data):
    num_heads, d_model = shape
    config = small(d_model=d_model, num_heads=num_heads, d_ff=d_ff, pre_norm=pre_norm)
    ours = with_random_norms(EncoderLayer(config).double())
    theirs = layer_of_torch(d_model, num_heads, d_ff, pre_norm)
    copy_to_torch(ours, theirs)
    lengths = data.draw(st.lists(st.integers(1, seq), min_size=batch, max_size=batch))
    real = torch.arange(seq) < torch.tensor(lengths).unsqueeze(1)  # (batch, seq)
    x = torch.randn(batch, seq, d_model, dtype=torch.float64)
    our_x, our_y = run(ours, x, mask=real[:, None, None, :])
    their_x, their_y = run(theirs, x, src_key_padding_mask=~real)
    upstream = torch.randn_like(x) * real.unsqueeze(-1)  # real places only: torch may put zeros into the others
    our_y.backward(upstream)
    their_y.backward(upstream)
    assert_close(our_y[real], their_y[real])
    assert_close(our_x.grad, their_x.grad)
    assert_same_gradients(ours, theirs)


@pytest.mark.parametrize("pre_norm", [False, True])
@settings(max_examples=15)
@given(batch=sizes, seq=sizes, shape=heads_and_width, num_layers=st.integers(1, 3))
def test_encoder_equals_torch_with_gradients(pre_norm, batch, seq, shape, num_layers):
    """torch's stack has a last normalisation for pre-norm, and none for post-norm: so has ours."""
    num_heads, d_model = shape
    config = small(d_model=d_model, num_layers=num_layers, num_heads=num_heads, d_ff=7, pre_norm=pre_norm)
    ours = with_random_norms(Encoder(config).double())
    theirs = stack_of_torch(ours, d_model, num_heads, 7, pre_norm)
    x = torch.randn(batch, seq, d_model, dtype=torch.float64)
    mask = torch.rand(seq, seq) < 0.6
    mask |= torch.eye(seq, dtype=torch.bool)
    (our_x, our_y), (their_x, their_y) = run(ours, x, mask=mask), run(theirs, x, mask=~mask)
    upstream = torch.randn_like(x)
    our_y.backward(upstream)
    their_y.backward(upstream)
    assert_close(our_y, their_y)
    assert_close(our_x.grad, their_x.grad, atol=1e-6, rtol=1e-6)
    assert_same_gradients(ours, theirs)


def test_all_layers_start_different():
    encoder = Encoder(small(num_layers=4))
    for name, first in encoder.layers[0].named_parameters():
        if ".norm." in name:
            continue
        others = [dict(layer.named_parameters())[name] for layer in encoder.layers[1:]]
        for other in others:
            assert other is not first
            assert not torch.equal(other, first), name


def modules(pre_norm, dtype=torch.float64):
    layer = EncoderLayer(small(pre_norm=pre_norm))
    stack = Encoder(small(num_layers=3, pre_norm=pre_norm))
    return [with_random_norms(module).to(dtype) for module in (layer, stack)]


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("pre_norm", [False, True])
class TestContracts:
    @settings(max_examples=10)
    @given(length=st.integers(1, 4), padding=st.integers(1, 3), left=st.booleans())
    def test_padding_moves_no_real_output(self, pre_norm, training, length, padding, left):
        sentence = torch.randn(2, length, 8, dtype=torch.float64)
        filler = 50 * torch.randn(2, padding, 8, dtype=torch.float64)
        parts = [filler, sentence] if left else [sentence, filler]
        real = torch.cat([torch.full((part.size(1),), part is sentence) for part in parts])
        for module in modules(pre_norm):
            module.train(training)
            padded = module(torch.cat(parts, dim=1), real[None, None, None, :])
            assert_close(padded[:, real], module(sentence))

    def test_batch_order_is_kept(self, pre_norm, training):
        x, order = torch.randn(4, 3, 8, dtype=torch.float64), [2, 0, 3, 1]
        for module in modules(pre_norm):
            module.train(training)
            assert_close(module(x[order]), module(x)[order])
            assert_close(module(x[:1]), module(x)[:1])

    def test_a_triangle_hides_later_tokens(self, pre_norm, training):
        x = torch.randn(2, 5, 8, dtype=torch.float64)
        changed = x.clone()
        changed[:, 3:] += 10 * torch.randn(2, 2, 8)  # a constant would be normalised away
        triangle = torch.ones(5, 5).tril().bool()
        for module in modules(pre_norm):
            module.train(training)
            before, after = module(x, triangle), module(changed, triangle)
            assert_close(before[:, :3], after[:, :3])
            assert (before[:, 3:] - after[:, 3:]).abs().max() > 1e-3

    @pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
    def test_a_blind_row_is_close_to_float64(self, pre_norm, training, dtype):
        x = torch.randn(2, 4, 8)
        mask = torch.tensor([[True, True, False, False]] * 3 + [[False] * 4])  # the last row sees nothing
        for module in modules(pre_norm, torch.float32):
            module.train(training)
            exact = module.double()(x.double(), mask)
            given = x.to(dtype, copy=True).requires_grad_()
            output = module.to(dtype)(given, mask)
            assert output.dtype is dtype
            assert_close(output.double(), exact, rtol=0.1, atol=0.2)
            output.sum().backward()
            assert given.grad.isfinite().all()
            for parameter in module.parameters():
                assert parameter.grad is None or parameter.grad.isfinite().all()


@given(d_model=st.integers(1, 4).map(lambda width: 2 * width), d_ff=sizes, num_layers=st.integers(1, 3))
def test_parameter_counts_are_as_documented(d_model, d_ff, num_layers):
    def count(module):
        return sum(parameter.numel() for parameter in module.parameters())

    layer = 4 * d_model**2 + 2 * d_model * d_ff + 9 * d_model + d_ff
    assert count(LayerNorm(d_model)) == 2 * d_model
    assert count(FeedForward(d_model, d_ff)) == 2 * d_model * d_ff + d_ff + d_model
    config = small(d_model=d_model, num_layers=num_layers, d_ff=d_ff)
    assert count(EncoderLayer(config)) == layer
    assert count(Encoder(config)) == num_layers * layer
    assert count(Encoder(replace(config, pre_norm=True))) == num_layers * layer + 2 * d_model


def test_settings_reach_every_layer():
    encoder = Encoder(small(dropout=0.3, pre_norm=True))
    for layer in encoder.layers:
        assert layer.attention.num_heads == 2
        for residual in (layer.attention_add_norm, layer.feed_forward_add_norm):
            assert (residual.dropout.p, residual.pre_norm) == (0.3, True)


WRONG_SIZES = {
    "d_model must be divisible by num_heads, but they are 8 and 3": {"num_heads": 3},
    "d_model must be divisible by num_heads, but they are 0 and 2": {"d_model": 0},
    "num_layers must be at least 1, but it is 0": {"num_layers": 0},
    "max_len must be at least 1, but it is -1": {"max_len": -1},
    "source_vocab_size must be at least 4, but it is 0": {"source_vocab_size": 0},
    "dropout must be at least 0 and below 1, but it is -0.1": {"dropout": -0.1},
    "dropout must be at least 0 and below 1, but it is 1.0": {"dropout": 1.0},
    "positions must be 'sinusoidal' or 'learned', but it is 'rotary'": {"positions": "rotary"},
    "a shared vocabulary must have one size": {"shared_vocabulary": True, "source_vocab_size": 13},
}


@pytest.mark.parametrize(("message", "sizes"), WRONG_SIZES.items(), ids=WRONG_SIZES)
def test_sizes_that_no_model_can_have_are_refused(message, sizes, as_a_user_calls_it):
    with pytest.raises(ValueError, match=message):
        small(**sizes)
