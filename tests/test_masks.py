"""Chapter 08: which positions each position may see, and the test that finds a leak."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer_lib.encoder import Encoder, TransformerConfig
from transformer_lib.masks import assert_causal, causal_mask, padding_mask
from transformer_lib.teaching import capture_attention, figures

PAD = 0
lengths = st.integers(1, 12)


def small(**changes):
    return TransformerConfig(**{"d_model": 8, "num_layers": 2, "num_heads": 2, "d_ff": 16, "dropout": 0.0, **changes})


@st.composite
def token_ids(draw):
    batch, seq = draw(st.integers(1, 4)), draw(lengths)
    row = st.lists(st.integers(0, 3), min_size=seq, max_size=seq)
    return torch.tensor(draw(st.lists(row, min_size=batch, max_size=batch)))


def output_and_gradients(attend, inputs):
    copies = [x.detach().clone().requires_grad_() for x in inputs]
    output = attend(*copies)
    output.backward(torch.linspace(-1, 1, output.numel()).to(output.dtype).view_as(output))
    return [output, *(x.grad for x in copies)]


class Stack(nn.Module):
    """A small language model, or with `vocab=None` a stack on vectors; `mask_of` gives the mask for a length."""

    def __init__(self, mask_of, vocab=9, dropout=0.2, pre_norm=False):
        super().__init__()
        self.mask_of = mask_of
        self.embedding = nn.Identity() if vocab is None else nn.Embedding(vocab, 8)
        self.encoder = Encoder(small(dropout=dropout, pre_norm=pre_norm))

    def forward(self, x):
        return self.encoder(self.embedding(x), self.mask_of(x.size(1)))


class OnlyIn(Stack):
    """Applies its mask in one of the two modes only."""

    def __init__(self, training):
        super().__init__(causal_mask)
        self.wanted = training

    def forward(self, x):
        self.mask_of = causal_mask if self.training == self.wanted else unmasked
        return super().forward(x)


def unmasked(length):
    return None


IDS = torch.tensor([[1, 5, 3, 7, 2], [4, 4, 8, 6, 1]])


@given(length=lengths)
def test_look_ahead_row_by_row(length):
    mask = causal_mask(length)
    assert mask.dtype is torch.bool
    assert mask.tolist() == [[key <= query for key in range(length)] for query in range(length)]


def test_the_causal_mask_follows_the_device():
    assert causal_mask(3).device.type == "cpu"
    assert causal_mask(3, device=torch.device("meta")).device.type == "meta"


@pytest.mark.pitfall(3)
@given(tokens=token_ids(), pad_id=st.integers(0, 3))
def test_true_means_may_attend(tokens, pad_id):
    mask = padding_mask(tokens, pad_id)
    assert mask.dtype is torch.bool
    assert mask.shape == (tokens.size(0), 1, 1, tokens.size(1))
    assert mask[:, 0, 0].tolist() == [[token != pad_id for token in row] for row in tokens.tolist()]


@pytest.mark.pitfall(3)
@given(length=lengths)
def test_polarity_is_that_of_torchs_attention(length):
    """And the opposite of torch's layer."""
    torch.manual_seed(length)
    x = torch.randn(2, length, 6, dtype=torch.float64)
    theirs = nn.MultiheadAttention(6, 1, batch_first=True, dtype=torch.float64)
    causal, _ = theirs(x, x, x, attn_mask=~causal_mask(length))
    infinite = nn.Transformer.generate_square_subsequent_mask(length, dtype=torch.float64)
    assert_close(causal, theirs(x, x, x, attn_mask=infinite)[0])
    assert_close(torch.zeros(length, length).double().masked_fill(~causal_mask(length), -torch.inf), infinite)


@given(batch=st.integers(1, 3), length=lengths, width=st.integers(1, 6))
def test_equals_torch_with_gradients(batch, length, width):
    torch.manual_seed(batch + length)
    inputs = torch.randn(3, batch, 2, length, width, dtype=torch.float64).unbind()
    mask = causal_mask(length)
    ours = output_and_gradients(lambda q, k, v: scaled_dot_product_attention(q, k, v, mask)[0], inputs)
    theirs = output_and_gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), inputs)
    assert_close(ours, theirs)


def test_s1_four_rows():
    scores = torch.tensor([[1.2, 0.6, 0.3, 0.9], [1.08, 1.0, 2.1, 0.5], [0.2, 1.3, 0.9, 1.6], [0.1, 0.4, 1.5, 1.9]])
    weights = scores.masked_fill(~causal_mask(4), -torch.inf).softmax(dim=-1)
    by_hand = torch.tensor([[1, 0, 0, 0], [0.52, 0.48, 0, 0], [0.166, 0.499, 0.335, 0], [0.080, 0.108, 0.326, 0.486]])
    assert_close(weights, by_hand, rtol=0, atol=1e-3)
    assert weights.triu(1).count_nonzero() == 0


@pytest.mark.pitfall(1, 2)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_a_blind_row_is_zero_in_every_number_type(dtype):
    """−1e9 overflows in float16, and an added −1e4 would hand the row its unmasked weights back."""
    torch.manual_seed(0)
    mask = padding_mask(torch.tensor([[PAD, PAD, 5, 6], [PAD] * 4]), PAD) & causal_mask(4)  # (2, 1, 4, 4)
    blind = ~mask.any(dim=-1)
    assert blind[:, 0].tolist() == [[True, True, False, False], [True] * 4]
    inputs = torch.randn(3, 2, 1, 4, 8).to(dtype).unbind()
    for attend in (
        lambda q, k, v: scaled_dot_product_attention(q, k, v, mask)[0],
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, mask),
    ):
        output, *gradients = output_and_gradients(attend, inputs)
        assert output[blind].count_nonzero() == 0 and output.isfinite().all()
        assert output[~blind].count_nonzero() == output[~blind].numel()
        assert all(gradient.isfinite().all() for gradient in gradients)
    _, weights = scaled_dot_product_attention(*inputs, mask)
    assert weights[~mask].count_nonzero() == 0


@pytest.mark.pitfall(4)
@given(left=st.integers(0, 4), right=st.integers(0, 4), seq=st.integers(1, 6), causal=st.booleans())
def test_padding_moves_no_real_output(left, right, seq, causal):
    torch.manual_seed(seq)
    attention = MultiHeadAttention(8, 2).double()
    x = torch.randn(2, seq, 8, dtype=torch.float64)
    alone = attention(x, x, x, causal_mask(seq) if causal else None)
    ids = F.pad(torch.ones(2, seq, dtype=torch.long), (left, right), value=PAD)
    padded = F.pad(x, (0, 0, left, right), value=5.0)
    mask = padding_mask(ids, PAD)
    mask = mask & causal_mask(left + seq + right) if causal else mask
    output = attention(padded, padded, padded, mask)
    assert_close(output[:, left : left + seq], alone)


@pytest.mark.pitfall(4)
@given(tokens=token_ids())
def test_padding_hides_columns_never_rows(tokens):
    torch.manual_seed(0)
    seq = tokens.size(1)
    mask = padding_mask(tokens, PAD).expand(-1, 1, seq, seq)
    x = torch.randn(len(tokens), 1, seq, 4)
    _, weights = scaled_dot_product_attention(x, x, x, padding_mask(tokens, PAD))
    assert weights[~mask].count_nonzero() == 0
    some = (tokens != PAD).any(dim=1)  # every query of such a sentence sees something, padded queries too
    assert_close(weights[some].sum(dim=-1), torch.ones(int(some.sum()), 1, seq))


def test_target_padding_on_the_left():
    """It needs both masks; on the right the triangle is enough."""
    torch.manual_seed(0)
    stack = Encoder(small()).double()
    x = torch.randn(1, 4, 8, dtype=torch.float64)
    alone = stack(x, causal_mask(4))
    right = stack(F.pad(x, (0, 0, 0, 3), value=1.0), causal_mask(7))[:, :4]
    left = stack(F.pad(x, (0, 0, 3, 0), value=1.0), causal_mask(7))[:, 3:]
    assert_close(right, alone)
    assert (left - alone).abs().max() > 0.01


@pytest.mark.pitfall(5)
@pytest.mark.parametrize("pre_norm", [False, True])
def test_a_causal_stack_passes(pre_norm):
    torch.manual_seed(0)
    assert_causal(Stack(causal_mask, pre_norm=pre_norm), IDS)
    assert_causal(Stack(causal_mask, vocab=None, pre_norm=pre_norm), torch.randn(2, 5, 8))
    assert_causal(Stack(causal_mask, vocab=None, pre_norm=pre_norm).double(), torch.randn(2, 5, 8).double())


@pytest.mark.pitfall(5)
@pytest.mark.parametrize(
    ("module", "mode"),
    [
        (lambda: Stack(unmasked), "training"),
        (lambda: OnlyIn(training=True), "evaluation"),
        (lambda: OnlyIn(training=False), "training"),
        (lambda: Stack(unmasked, dropout=0.0), "training"),
    ],
    ids=["never masked", "masked only in training", "masked only in evaluation", "never masked, no dropout"],
)
def test_a_leak_is_found_in_either_mode(module, mode):
    torch.manual_seed(0)
    expected = f"^not causal in {mode} mode: output position 0 moved when input position 1 changed$"
    with pytest.raises(AssertionError, match=expected):
        assert_causal(module(), IDS)


@pytest.mark.pitfall(6)
@pytest.mark.parametrize("training", [True, False])
def test_the_map_is_empty_where_masks_hide(training):
    """A map of self-attention is square, so its shape tells nothing: what lies right of the diagonal does."""
    torch.manual_seed(0)
    ids = torch.tensor([[4, 5, 6, PAD]])
    stack = Stack(lambda length: padding_mask(ids, PAD) & causal_mask(length)).train(training)
    with capture_attention(stack) as kept:
        stack(ids)
    assert len(kept) == 2
    words = ["the", "cat", "sat", "(padding)"]
    for weights in kept.values():
        _, axes = figures.subplots()
        figures.attention_map(axes, weights[0, 0], query_tokens=words, key_tokens=words, title="who looks at whom")
        drawn = torch.as_tensor(axes.images[0].get_array())
        assert (drawn > 0).tolist() == [[True, False, False, False], [True, True, False, False], *[[True] * 3 + [False]] * 2]
        assert axes.get_ylabel().startswith("query") and axes.get_xlabel().startswith("key")


class Reads(nn.Module):
    """Output `output` reads input `source` as well as itself; everything else is causal."""

    def __init__(self, output, source):
        super().__init__()
        self.output, self.source = output, source

    def forward(self, x):
        x = x.double()
        y = x.cumsum(dim=1)
        y[:, self.output] += x[:, self.source]
        return y


@given(seq=st.integers(2, 7), output=st.integers(0, 6), source=st.integers(0, 6), vectors=st.booleans())
def test_the_message_names_the_output_and_the_input(seq, output, source, vectors):
    torch.manual_seed(0)
    output, source = output % seq, source % seq
    x = torch.randn(2, seq, 3) if vectors else torch.arange(2 * seq).view(2, seq) % 5
    if source <= output:
        assert_causal(Reads(output, source), x)
        return
    expected = f"output position {output} moved when input position {source} changed"
    with pytest.raises(AssertionError, match=expected):
        assert_causal(Reads(output, source), x)


def test_the_first_leak_is_the_earliest_output():
    class Two(nn.Module):
        def forward(self, x):
            return x.cumsum(dim=1) + F.pad(x[:, 3:], (0, 0, 1, 2))  # output 1 reads input 3, output 2 reads input 4

    with pytest.raises(AssertionError, match="output position 1 moved when input position 3 changed"):
        assert_causal(Two(), torch.randn(2, 5, 3))


def test_a_leak_in_one_number_is_found():
    class Narrow(nn.Module):
        def forward(self, x):
            y = x.cumsum(dim=1)
            y[1, 2, 3] += 0.001 * x[1, 3, 0]
            return y

    with pytest.raises(AssertionError, match="output position 2 moved when input position 3 changed"):
        assert_causal(Narrow(), torch.randn(2, 5, 4))


def test_a_change_survives_layer_normalisation():
    class Normalised(nn.Module):
        def forward(self, x):
            return F.layer_norm(x, (4,)).flip(1)

    with pytest.raises(AssertionError, match="output position 0"):
        assert_causal(Normalised(), torch.randn(1, 3, 4))


@given(seq=st.integers(2, 5), width=st.integers(2, 6), seed=st.integers(0, 3))
def test_a_change_is_not_x_drawn_again(seq, width, seed):
    """Even when x was drawn from the seed of the test."""

    class Backwards(nn.Module):
        def forward(self, x):
            return x.flip(1)

    torch.manual_seed(seed)
    x = torch.randn(1, seq, width)
    with pytest.raises(AssertionError, match="output position 0 moved"):
        assert_causal(Backwards(), x, seed=seed)


def test_a_leak_is_found_where_x_is_zero():
    with pytest.raises(AssertionError, match="output position 0 moved when input position 2 changed"):
        assert_causal(nn.Identity(), torch.zeros(1, 3, 2), run=lambda x: x.flip(1))


def test_a_changed_id_is_another_of_the_ids():
    with pytest.raises(AssertionError, match="output position 0 moved when input position 1 changed"):
        assert_causal(nn.Identity(), torch.tensor([[2, 1]]), run=lambda ids: ids.flip(1)[..., None].double())


def test_the_seed_is_that_of_each_pass():
    seen = set()
    assert_causal(nn.Identity(), torch.zeros(1, 3, 2), run=lambda x: seen.add(torch.initial_seed()) or x, seed=5)
    assert seen == {5}


def test_other_arguments_go_through_run():
    stack = Encoder(small(num_layers=1))
    x = torch.randn(2, 4, 8)
    assert_causal(stack, x, run=lambda x: stack(x, causal_mask(4)))
    with pytest.raises(AssertionError, match="not causal in training mode"):
        assert_causal(stack, x, run=lambda x: stack(x))


def test_nan_is_no_proof_of_causality():
    class Nothing(nn.Module):
        def forward(self, x):
            return x / 0 * 0

    with pytest.raises(AssertionError, match="NaN"):
        assert_causal(Nothing(), torch.ones(1, 3, 2))
    with pytest.raises(AssertionError, match="NaN"):
        assert_causal(nn.Identity(), torch.randn(1, 3, 2), run=lambda x: x.index_fill(1, torch.tensor([1]), math.nan))


def test_everything_is_left_as_it_was():
    """Modes, random state, input and gradients."""
    for module in (Stack(causal_mask), Stack(unmasked)):
        module.train()
        module.encoder.layers[0].eval()
        modes = [part.training for part in module.modules()]
        state, ids = torch.get_rng_state(), IDS.clone()
        try:
            assert_causal(module, ids)
        except AssertionError:
            assert module.mask_of is unmasked
        assert [part.training for part in module.modules()] == modes
        assert_close(torch.get_rng_state(), state)
        assert_close(ids, IDS)
        assert all(parameter.grad is None for parameter in module.parameters())


WRONG_CALLS = {
    "one sentence": (lambda: padding_mask(torch.tensor([1, 2]), PAD), r"tokens .*\(batch, seq\).* of shape \(2,\)"),
    "vectors": (lambda: padding_mask(torch.ones(2, 3, 4).long(), PAD), r"tokens .*\(batch, seq\).* of shape \(2, 3, 4\)"),
    "no tokens": (lambda: padding_mask(torch.ones(2, 0).long(), PAD), r"at least one token.* of shape \(2, 0\)"),
    "no ids": (lambda: padding_mask(torch.ones(2, 3), PAD), "tokens must hold token ids.* is torch.float32"),
    "a mask for tokens": (lambda: padding_mask(torch.ones(2, 3).bool(), PAD), "tokens must hold token ids.* is torch.bool"),
    "length 0": (lambda: causal_mask(0), "length must be at least 1.* it is 0"),
    "negative length": (lambda: causal_mask(-2), "length must be at least 1.* it is -2"),
    "one position": (
        lambda: assert_causal(nn.Identity(), torch.ones(2, 1, 4)),
        "the positions of x must be at least 2, but it is 1",
    ),
    "no seed": (
        lambda: assert_causal(nn.Identity(), torch.ones(1, 2), seed=None),
        "seed must be a whole number below 2\\^63, but it is None",
    ),
    "no batch": (lambda: assert_causal(nn.Identity(), torch.ones(3)), r"x must be \(batch, seq, …\), .* \(3,\)"),
    "one id": (
        lambda: assert_causal(nn.Identity(), torch.full((2, 3), 7)),
        "different ids in x must be at least 2, but it is 1",
    ),
    "flat output": (
        lambda: assert_causal(nn.Flatten(), torch.ones(2, 3, 4)),
        r"run must return \(2, 3, …\), .* but it is \(2, 12\)",
    ),
    "a pair": (
        lambda: assert_causal(nn.Identity(), torch.ones(2, 3, 4), run=lambda x: (x, x)),
        r"run must return \(2, 3, …\), .* but it is tuple",
    ),
}


@pytest.mark.parametrize(("call", "message"), WRONG_CALLS.values(), ids=WRONG_CALLS.keys())
def test_wrong_input_says_what_came(call, message, as_a_user_calls_it):
    with pytest.raises(ValueError, match=message):
        call()
