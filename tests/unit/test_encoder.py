"""The encoder's parts against torch's, and what a layer and a stack promise."""

import pytest
import torch
from helpers import assert_equal_with_gradients
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from transformer_lib.encoder import AddAndNorm, Encoder, EncoderLayer, LayerNorm, TransformerConfig
from transformer_lib.teaching.torch_parity import compare_gradients, copy_to_torch

sizes = st.integers(1, 5)
both_orders = pytest.mark.parametrize("pre_norm", [False, True])


def small(**changes):
    """A configuration of small sizes, without dropout."""
    return TransformerConfig(**{"d_model": 8, "num_layers": 2, "num_heads": 2, "d_ff": 12, "dropout": 0.0, **changes})


def with_random_norms(module, dtype=torch.float64):
    """Make γ and β other than 1 and 0, so that a forgotten one shows."""
    for part in module.modules():
        if isinstance(part, LayerNorm):
            nn.init.normal_(part.weight)
            nn.init.normal_(part.bias)
    return module.to(dtype)


@given(batch=sizes, seq=sizes, d_model=st.integers(1, 9), eps=st.sampled_from([1e-5, 0.1]))
def test_layer_norm_equals_the_formula(batch, seq, d_model, eps):
    """torch's kernel computes: variance with correction 0, ε inside the root, then γ and β; forward and gradients."""
    ours = with_random_norms(LayerNorm(d_model, eps))

    def formula(x, weight, bias):
        centred = x - x.mean(dim=-1, keepdim=True)
        return weight * centred / (x.var(dim=-1, correction=0, keepdim=True) + eps).sqrt() + bias

    x = torch.randn(batch, seq, d_model, dtype=torch.float64, requires_grad=True)
    assert_equal_with_gradients(ours(x), formula(x, ours.weight, ours.bias), [x, ours.weight, ours.bias])


@both_orders
def test_residual_is_the_order_it_says(pre_norm):
    residual = with_random_norms(AddAndNorm(6, pre_norm=pre_norm))
    x = torch.randn(2, 3, 6, dtype=torch.float64)
    norm, sublayer = residual.norm, torch.sin
    assert_close(residual(x, sublayer), x + sublayer(norm(x)) if pre_norm else norm(x + sublayer(x)))


@both_orders
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


@both_orders
@settings(max_examples=25)
@given(batch=sizes, seq=sizes, heads=st.integers(1, 3), width=st.integers(2, 4), d_ff=sizes, num_layers=st.integers(0, 3))
def test_a_layer_and_a_stack_equal_torchs_with_gradients(pre_norm, batch, seq, heads, width, d_ff, num_layers):
    """torch's stack has a last normalisation for pre-norm, and none for post-norm: so has ours. No layers: a layer alone."""
    d_model = heads * width
    config = small(d_model=d_model, num_layers=max(num_layers, 1), num_heads=heads, d_ff=d_ff, pre_norm=pre_norm)
    ours = with_random_norms(Encoder(config) if num_layers else EncoderLayer(config))
    theirs = nn.TransformerEncoderLayer(d_model, heads, d_ff, dropout=0.0, batch_first=True, norm_first=pre_norm)
    if num_layers:
        last = nn.LayerNorm(d_model) if pre_norm else None
        theirs = nn.TransformerEncoder(theirs, num_layers, norm=last, enable_nested_tensor=False)
    copy_to_torch(ours, theirs.double())
    real = torch.arange(seq) < torch.randint(1, seq + 1, (batch, 1))  # (batch, seq)
    x = torch.randn(batch, seq, d_model, dtype=torch.float64)
    our_x, their_x = x.clone().requires_grad_(), x.clone().requires_grad_()
    our_y = ours(our_x, mask=real[:, None, None, :])
    their_y = theirs(their_x, src_key_padding_mask=~real)
    upstream = torch.randn_like(x) * real.unsqueeze(-1)  # real places only: torch may put zeros into the others
    our_y.backward(upstream)
    their_y.backward(upstream)
    assert_close(our_y[real], their_y[real])
    for mine, its in [(our_x.grad, their_x.grad), *compare_gradients(ours, theirs)]:
        assert_close(mine, its, atol=1e-6, rtol=1e-6)


def test_all_layers_start_different_and_get_the_settings():
    layers = Encoder(small(num_layers=4, dropout=0.3, pre_norm=True)).layers
    for name, first in layers[0].named_parameters():
        for layer in layers[1:]:
            assert layer.get_parameter(name) is not first
            assert ".norm." in name or not torch.equal(layer.get_parameter(name), first), name
    for layer in layers:
        assert layer.attention.num_heads == 2
        for residual in (layer.attention_add_norm, layer.feed_forward_add_norm):
            assert (residual.dropout.p, residual.pre_norm) == (0.3, True)


@pytest.fixture(params=[(kind, order) for kind in (EncoderLayer, Encoder) for order in (False, True)])
def module(request):
    kind, pre_norm = request.param
    return with_random_norms(kind(small(pre_norm=pre_norm)))


@pytest.mark.parametrize("left", [False, True])
def test_padding_moves_no_real_output(module, left):
    sentence = torch.randn(2, 3, 8, dtype=torch.float64)
    filler = 50 * torch.randn(2, 2, 8, dtype=torch.float64)
    parts = [filler, sentence] if left else [sentence, filler]
    real = torch.cat([torch.full((part.size(1),), part is sentence) for part in parts])
    padded = module(torch.cat(parts, dim=1), real[None, None, None, :])
    assert_close(padded[:, real], module(sentence))


def test_a_triangle_hides_later_tokens(module):
    x = torch.randn(2, 5, 8, dtype=torch.float64)
    changed = x.clone()
    changed[:, 3:] += 10 * torch.randn(2, 2, 8)  # a constant would be normalised away
    before, after = (module(tokens, torch.ones(5, 5).tril().bool()) for tokens in (x, changed))
    assert_close(before[:, :3], after[:, :3])
    assert (before[:, 3:] - after[:, 3:]).abs().max() > 1e-3


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_blind_row_is_close_to_float64(module, dtype):
    x = torch.randn(2, 4, 8)
    mask = torch.tensor([[True, True, False, False]] * 3 + [[False] * 4])  # the last row sees nothing
    exact = module(x.double(), mask)
    given = x.to(dtype, copy=True).requires_grad_()
    output = module.to(dtype)(given, mask)
    assert output.dtype is dtype
    assert_close(output.double(), exact, rtol=0.1, atol=0.2)
    output.sum().backward()
    for leaf in (given, *module.parameters()):
        assert leaf.grad is None or leaf.grad.isfinite().all()


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
