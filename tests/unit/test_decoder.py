"""The decoder against torch, and what it promises."""

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import pad
from torch.testing import assert_close

from transformer_lib.attention import MultiHeadAttention
from transformer_lib.decoder import Decoder, DecoderLayer
from transformer_lib.encoder import AddAndNorm, Encoder, FeedForward, LayerNorm, TransformerConfig
from transformer_lib.masks import assert_causal, causal_mask
from transformer_lib.teaching import capture_attention
from transformer_lib.teaching.exercises import decoder as exercise
from transformer_lib.teaching.torch_parity import assert_equals_torch

SIDES = pytest.mark.parametrize("side", [(0, 2), (2, 0)], ids=["right", "left"])
NORMS = pytest.mark.parametrize("pre_norm", [False, True], ids=["post-norm", "pre-norm"])


def with_random_parameters(module):
    """Also what starts at 0 or 1 becomes random, so that no bias and no γ can be mixed up unseen."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.4)
    return module


def sizes(**changes):
    return TransformerConfig(**{"d_model": 8, "num_layers": 2, "num_heads": 2, "d_ff": 12, "dropout": 0.0, **changes})


def decoder(**changes):
    return with_random_parameters(Decoder(sizes(**changes)))


def random_mask(batch, source):
    """True at random, and at least once in each row: torch's own layer gives NaN for a row that sees nothing."""
    return (torch.rand(batch, source) < 0.6) | nn.functional.one_hot(torch.randint(source, (batch,)), source).bool()


@NORMS
@settings(max_examples=20)
@given(
    num_layers=st.integers(1, 3),
    batch=st.integers(1, 3),
    target=st.integers(1, 6),
    source=st.integers(1, 6),
    heads=st.integers(1, 3),
    d_k=st.integers(1, 4),
    d_ff=st.integers(1, 9),
    padded=st.booleans(),
)
def test_stack_equals_torchs_with_gradients(pre_norm, num_layers, batch, target, source, heads, d_k, d_ff, padded):
    """The order of norm and sum is the one asked for, in both settings, and all biases are there."""
    d_model = heads * d_k
    changes = {"num_layers": num_layers, "d_model": d_model, "num_heads": heads, "d_ff": d_ff, "pre_norm": pre_norm}
    layer = nn.TransformerDecoderLayer(d_model, heads, d_ff, 0.0, batch_first=True, norm_first=pre_norm)
    theirs = nn.TransformerDecoder(layer, num_layers, norm=nn.LayerNorm(d_model) if pre_norm else None).double()
    inputs = torch.randn(batch, target, d_model).double(), torch.randn(batch, source, d_model).double()
    causal, real = causal_mask(target), random_mask(batch, source)
    our_masks, their_masks = {"self_mask": causal}, {"tgt_mask": ~causal}
    if padded:
        our_masks["memory_mask"], their_masks["memory_key_padding_mask"] = real[:, None, None, :], ~real
    assert_equals_torch(decoder(**changes).double(), theirs, inputs, our_masks, their_masks)


@NORMS
def test_a_later_word_moves_no_earlier_output(pre_norm):
    """In train and in eval mode, with dropout, and without any mask on the memory."""
    module = decoder(pre_norm=pre_norm, dropout=0.3).double()
    memory = torch.randn(2, 5, 8).double()
    x = torch.randn(2, 6, 8).double()
    assert_causal(module, x, run=lambda x: module(x, memory, causal_mask(6)))


@SIDES
def test_padding_of_the_source_moves_nothing(side):
    module = decoder().double()
    x, memory = torch.randn(2, 4, 8).double(), torch.randn(2, 5, 8).double()
    mask = pad(torch.ones(2, 1, 1, 5, dtype=torch.bool), side, value=False)
    padded = module(x, pad(memory, (0, 0, *side), value=77.0), causal_mask(4), mask)
    assert_close(padded, module(x, memory, causal_mask(4)))


@SIDES
def test_padding_of_the_target_moves_no_real_word(side):
    module = decoder().double()
    x, memory = torch.randn(2, 4, 8).double(), torch.randn(2, 5, 8).double()
    real = pad(torch.ones(2, 1, 1, 4, dtype=torch.bool), side, value=False)
    padded = module(pad(x, (0, 0, *side), value=77.0), memory, causal_mask(6) & real)
    assert_close(padded[:, side[0] : side[0] + 4], module(x, memory, causal_mask(4)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_a_source_of_padding_alone_gives_zeros(dtype):
    """And its gradients are finite, and none reaches the memory of that sentence."""
    module = decoder().to(dtype)
    x = torch.randn(2, 4, 8).to(dtype).requires_grad_()
    memory = torch.randn(2, 5, 8).to(dtype).requires_grad_()
    mask = torch.ones(2, 1, 1, 5, dtype=torch.bool)
    mask[1] = False
    output = module(x, memory, causal_mask(4), mask)
    output.float().square().sum().backward()
    assert output.dtype is dtype and output.isfinite().all()
    for tensor in (x, memory, *module.parameters()):
        assert tensor.grad.isfinite().all()
    assert_close(memory.grad[1], torch.zeros_like(memory.grad[1]), rtol=0, atol=0)
    assert memory.grad[0].abs().max() > 0
    with capture_attention(module) as kept:
        module(x, memory, causal_mask(4), mask)
    for name, weights in kept.items():
        if name.endswith("cross_attention"):
            assert_close(weights[1], torch.zeros_like(weights[1]), rtol=0, atol=0)


@NORMS
def test_s2_counts_five_n_residual_connections(pre_norm):
    config = sizes(num_layers=6, pre_norm=pre_norm)
    kinds = Counter(map(type, [*Encoder(config).modules(), *Decoder(config).modules()]))
    assert (kinds[AddAndNorm], kinds[MultiHeadAttention], kinds[FeedForward]) == (30, 18, 12)
    assert kinds[LayerNorm] == 30 + 2 * pre_norm


def test_all_layers_start_different():
    first, second = Decoder(sizes()).layers
    for (name, a), b in zip(first.named_parameters(), second.parameters(), strict=True):
        assert ".norm." in name or not torch.equal(a, b), name
    attentions = first.self_attention, first.cross_attention
    assert not torch.equal(attentions[0].W_q.weight, attentions[1].W_q.weight)


def test_dropout_acts_in_training_only():
    """And not on the attention's weights, unless asked."""
    module = with_random_parameters(DecoderLayer(sizes(dropout=0.5)))
    x, memory = torch.randn(2, 4, 8), torch.randn(2, 5, 8)
    assert not torch.allclose(module(x, memory), module(x, memory))
    with capture_attention(module) as kept:
        module(x, memory)
    assert (kept["cross_attention"] > 0).all()
    module.eval()
    assert_close(module(x, memory), module(x, memory), rtol=0, atol=0)
    layer = DecoderLayer(sizes(dropout=0.3, pre_norm=True))
    for residual in (layer.self_attention_add_norm, layer.cross_attention_add_norm, layer.feed_forward_add_norm):
        assert (residual.dropout.p, residual.pre_norm) == (0.3, True)


def answer(forward):
    return type("Answer", (DecoderLayer,), {"forward": forward})


def in_three(layer, x, self_mask, cross, last=True):
    x = layer.self_attention_add_norm(x, lambda x: layer.self_attention(x, x, x, self_mask))
    x = layer.cross_attention_add_norm(x, cross)
    return layer.feed_forward_add_norm(x, layer.feed_forward) if last else x


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (DecoderLayer, "✓"),
        (answer(lambda s, x, m, a, b: in_three(s, x, a, lambda x: s.cross_attention(x, x, x))), "come from memory, not from x"),
        (answer(lambda s, x, m, a, b: in_three(s, x, a, lambda x: s.cross_attention(m, x, x, b))), "the decoder asks"),
        (answer(lambda s, x, m, a, b: in_three(s, x, a, lambda x: s.cross_attention(x, m, m))), "needs memory_mask"),
        (answer(lambda s, x, m, a, b: in_three(s, x, None, lambda x: s.cross_attention(x, m, m, b))), "needs self_mask"),
        (answer(lambda s, x, m, a, b: in_three(s, x, a, lambda x: s.cross_attention(x, m, m, b), last=False)), "is missing"),
        (lambda config: nn.Linear(2, 2), "self.self_attention should be a MultiHeadAttention"),
    ],
)
def test_the_exercise_knows_the_usual_slips(capsys, attempt, words):
    exercise.decoder_layer(attempt)
    line = capsys.readouterr().out
    assert line.startswith("✓" if words == "✓" else "✗") and words in line
