"""The decoder against torch, and what it promises."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import pad
from torch.testing import assert_close

from transformer_lib.decoder import Decoder, DecoderLayer
from transformer_lib.encoder import AddAndNorm, Encoder, FeedForward, LayerNorm, TransformerConfig
from transformer_lib.masks import assert_causal, causal_mask
from transformer_lib.teaching import capture_attention
from transformer_lib.teaching.exercises import decoder as exercise
from transformer_lib.teaching.torch_parity import compare_gradients, copy_to_torch

MODES = pytest.mark.parametrize("mode", ["train", "eval"])
NORMS = pytest.mark.parametrize("pre_norm", [False, True], ids=["post-norm", "pre-norm"])
LEVELS = pytest.mark.parametrize("level", ["layer", "stack"])


def with_random_parameters(module):
    """Also what starts at 0 or 1 becomes random, so that no bias and no γ can be mixed up unseen."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.4)
    return module


def sizes(**changes):
    return TransformerConfig(**{"d_model": 8, "num_layers": 2, "num_heads": 2, "d_ff": 12, "dropout": 0.0, **changes})


def decoder(level, **changes):
    return with_random_parameters((DecoderLayer if level == "layer" else Decoder)(sizes(**changes)))


def in_mode(module, mode):
    return module.train(mode == "train")


def random_mask(generator, *shape):
    """True at random, and at least once in each row: torch's own layer gives NaN for a row that sees nothing."""
    mask = torch.rand(shape, generator=generator) < 0.6
    return mask | nn.functional.one_hot(torch.randint(shape[-1], shape[:-1], generator=generator), shape[-1]).bool()


def assert_equals_torch(ours, theirs, *, shape, seed, padded):
    batch, target, source, d_model = shape
    generator = torch.Generator().manual_seed(seed)
    copy_to_torch(ours, theirs)
    x = torch.randn(batch, target, d_model, generator=generator, dtype=torch.float64, requires_grad=True)
    memory = torch.randn(batch, source, d_model, generator=generator, dtype=torch.float64, requires_grad=True)
    x_copy, memory_copy = (t.detach().clone().requires_grad_() for t in (x, memory))
    causal = causal_mask(target)
    real = random_mask(generator, batch, source) if padded else None

    our_output = ours(x, memory, causal, None if real is None else real[:, None, None, :])
    their_output = theirs(x_copy, memory_copy, tgt_mask=~causal, memory_key_padding_mask=None if real is None else ~real)
    upstream = torch.randn(our_output.shape, generator=generator, dtype=torch.float64)
    our_output.backward(upstream)
    their_output.backward(upstream)

    assert_close(our_output, their_output)
    assert_close(x.grad, x_copy.grad)
    assert_close(memory.grad, memory_copy.grad)
    gradients = compare_gradients(ours, theirs)
    for mine, its in gradients:
        assert_close(mine, its)
    assert sum(mine.numel() for mine, _ in gradients) == sum(p.numel() for p in ours.parameters()), "one was not compared"


SHAPES = {
    "batch": st.integers(1, 3),
    "target": st.integers(1, 6),
    "source": st.integers(1, 6),
    "heads": st.integers(1, 3),
    "d_k": st.integers(1, 4),
    "d_ff": st.integers(1, 9),
    "seed": st.integers(0, 10_000),
    "padded": st.booleans(),
}


@NORMS
@settings(max_examples=20)
@given(**SHAPES)
def test_layer_equals_torchs_with_gradients(pre_norm, batch, target, source, heads, d_k, d_ff, seed, padded):
    """The order of norm and sum is the one asked for, in both settings, and all biases are there."""
    d_model = heads * d_k
    torch.manual_seed(seed)
    ours = decoder("layer", d_model=d_model, num_heads=heads, d_ff=d_ff, pre_norm=pre_norm).double()
    theirs = nn.TransformerDecoderLayer(d_model, heads, d_ff, 0.0, batch_first=True, norm_first=pre_norm).double()
    assert_equals_torch(ours, theirs, shape=(batch, target, source, d_model), seed=seed, padded=padded)


def torch_stack(num_layers, d_model, heads, d_ff, *, pre_norm, final_norm):
    layer = nn.TransformerDecoderLayer(d_model, heads, d_ff, 0.0, batch_first=True, norm_first=pre_norm)
    return nn.TransformerDecoder(layer, num_layers, norm=nn.LayerNorm(d_model) if final_norm else None).double()


@NORMS
@settings(max_examples=12)
@given(num_layers=st.integers(1, 3), **SHAPES)
def test_stack_equals_torchs_with_gradients(pre_norm, num_layers, batch, target, source, heads, d_k, d_ff, seed, padded):
    d_model = heads * d_k
    torch.manual_seed(seed)
    ours = decoder("stack", num_layers=num_layers, d_model=d_model, num_heads=heads, d_ff=d_ff, pre_norm=pre_norm).double()
    theirs = torch_stack(num_layers, d_model, heads, d_ff, pre_norm=pre_norm, final_norm=pre_norm)
    assert_equals_torch(ours, theirs, shape=(batch, target, source, d_model), seed=seed, padded=padded)


@LEVELS
@NORMS
def test_a_later_word_moves_no_earlier_output(level, pre_norm):
    """In train and in eval mode, with dropout, and without any mask on the memory."""
    module = decoder(level, pre_norm=pre_norm, dropout=0.3).double()
    memory = torch.randn(2, 5, 8).double()
    x = torch.randn(2, 6, 8).double()
    assert_causal(module, x, run=lambda x: module(x, memory, causal_mask(6)))


@LEVELS
def test_without_the_mask_the_future_is_seen(level):
    module = decoder(level)
    memory, x = torch.randn(2, 5, 8), torch.randn(2, 6, 8)
    with pytest.raises(AssertionError, match="not causal"):
        assert_causal(module, x, run=lambda x: module(x, memory))


@LEVELS
@MODES
@pytest.mark.parametrize("side", [(0, 3), (3, 0)], ids=["right", "left"])
def test_padding_of_the_source_moves_nothing(level, mode, side):
    module = in_mode(decoder(level), mode).double()
    x, memory = torch.randn(2, 4, 8).double(), torch.randn(2, 5, 8).double()
    mask = torch.ones(2, 1, 1, 5, dtype=torch.bool)
    longer = pad(memory, (0, 0, *side), value=77.0)
    padded = module(x, longer, causal_mask(4), pad(mask, side, value=False))
    assert_close(padded, module(x, memory, causal_mask(4), mask))


@LEVELS
@MODES
@pytest.mark.parametrize("side", [(0, 2), (2, 0)], ids=["right", "left"])
def test_padding_of_the_target_moves_no_real_word(level, mode, side):
    module = in_mode(decoder(level), mode).double()
    x, memory = torch.randn(2, 4, 8).double(), torch.randn(2, 5, 8).double()
    longer = pad(x, (0, 0, *side), value=77.0)
    real = pad(torch.ones(2, 1, 1, 4, dtype=torch.bool), side, value=False)
    padded = module(longer, memory, causal_mask(6) & real)
    alone = module(x, memory, causal_mask(4))
    assert_close(padded[:, side[0] : side[0] + 4], alone)


@LEVELS
@MODES
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_a_source_of_padding_alone_gives_zeros(level, mode, dtype):
    """And its gradients are finite, and none reaches the memory of that sentence."""
    module = in_mode(decoder(level), mode).to(dtype)
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

    changed = memory.detach().clone()
    changed[1] = 50.0
    assert_close(module(x, changed, causal_mask(4), mask), output, rtol=0, atol=0)
    with capture_attention(module) as kept:
        module(x, memory, causal_mask(4), mask)
    for name, weights in kept.items():
        if name.endswith("cross_attention"):
            assert_close(weights[1], torch.zeros_like(weights[1]), rtol=0, atol=0)


@LEVELS
@MODES
def test_the_order_of_the_batch_is_kept(level, mode):
    module = in_mode(decoder(level), mode).double()
    x, memory = torch.randn(4, 3, 8).double(), torch.randn(4, 5, 8).double()
    mask = torch.rand(4, 1, 1, 5) < 0.7
    mask[..., 0] = True
    order = torch.tensor([2, 0, 3, 1])
    together = module(x, memory, causal_mask(3), mask)
    assert_close(module(x[order], memory[order], causal_mask(3), mask[order]), together[order])
    alone = [module(x[[i]], memory[[i]], causal_mask(3), mask[[i]]) for i in range(4)]
    assert_close(torch.cat(alone), together)


@LEVELS
def test_the_memory_is_a_set_and_is_read(level):
    module = decoder(level).double()
    x, memory = torch.randn(2, 3, 8).double(), torch.randn(2, 5, 8).double()
    before = module(x, memory)
    assert_close(module(x, memory[:, [4, 2, 0, 1, 3]]), before)
    changed = memory.clone()
    changed[:, 4] += 1
    assert ((module(x, changed) - before).abs() > 1e-6).any(dim=-1).all(), "the last source word reaches each target word"


def test_every_layer_asks_the_same_memory_anew():
    module = decoder("stack")
    memory, asked = torch.randn(2, 5, 8), []
    for layer in module.layers:
        layer.cross_attention.register_forward_pre_hook(lambda _, given: asked.append(given))
    module(torch.randn(2, 4, 8), memory)
    assert len(asked) == 2
    assert all(keys is memory and values is memory for _, keys, values, *_ in asked)
    assert not torch.allclose(asked[0][0], asked[1][0], atol=1e-3)


@pytest.mark.parametrize("num_layers", [1, 2, 6])
@NORMS
def test_s2_counts_five_n_residual_connections(num_layers, pre_norm):
    config = sizes(num_layers=num_layers, pre_norm=pre_norm)
    both_stacks = nn.ModuleList([Encoder(config), Decoder(config)])
    calls = []
    for part in both_stacks.modules():
        part.register_forward_hook(lambda part, *_: calls.append(type(part)))
    both_stacks[1](torch.zeros(1, 4, 8), both_stacks[0](torch.zeros(1, 5, 8)))
    assert calls.count(AddAndNorm) == 5 * num_layers
    assert calls.count(LayerNorm) == 5 * num_layers + (2 if pre_norm else 0)
    assert calls.count(FeedForward) == 2 * num_layers


def test_all_layers_start_different():
    first, second, third = Decoder(sizes(num_layers=3)).layers
    for one, other in ((first, second), (second, third), (first, third)):
        for (name, a), b in zip(one.named_parameters(), other.parameters(), strict=True):
            if ".norm." not in name:
                assert not torch.equal(a, b), name
    attentions = first.self_attention, first.cross_attention
    assert not torch.equal(attentions[0].W_q.weight, attentions[1].W_q.weight)


def test_dropout_acts_in_training_only():
    """And not on the attention's weights, unless asked."""
    module = decoder("layer", dropout=0.5)
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


@given(heads=st.integers(1, 4), d_k=st.integers(1, 8), d_ff=st.integers(1, 40), num_layers=st.integers(1, 3))
@settings(max_examples=20)
def test_parameters_follow_the_formula(heads, d_k, d_ff, num_layers):
    d = heads * d_k
    one = 8 * (d**2 + d) + 2 * d * d_ff + d_ff + 7 * d
    config = {"num_layers": num_layers, "d_model": d, "num_heads": heads, "d_ff": d_ff}
    for module, count in (
        (DecoderLayer(sizes(**config)), one),
        (Decoder(sizes(**config)), num_layers * one),
        (Decoder(sizes(**config, pre_norm=True)), num_layers * one + 2 * d),
    ):
        assert sum(p.numel() for p in module.parameters()) == count


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
