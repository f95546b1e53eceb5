"""Which positions each position may see, and the test that finds a leak."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer_lib.encoder import Encoder, TransformerConfig
from transformer_lib.masks import assert_causal, causal_mask, padding_mask

PAD = 0
lengths = st.integers(1, 12)


def small(**changes):
    return TransformerConfig(**{"d_model": 8, "num_layers": 2, "num_heads": 2, "d_ff": 16, "dropout": 0.0, **changes})


@st.composite
def token_ids(draw):
    batch, seq = draw(st.integers(1, 4)), draw(lengths)
    row = st.lists(st.integers(0, 3), min_size=seq, max_size=seq)
    return torch.tensor(draw(st.lists(row, min_size=batch, max_size=batch)))


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


@given(tokens=token_ids(), pad_id=st.integers(0, 3))
def test_true_means_may_attend(tokens, pad_id):
    mask = padding_mask(tokens, pad_id)
    assert mask.dtype is torch.bool
    assert mask.shape == (tokens.size(0), 1, 1, tokens.size(1))
    assert mask[:, 0, 0].tolist() == [[token != pad_id for token in row] for row in tokens.tolist()]


@settings(max_examples=30)
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


@settings(max_examples=30)
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


@settings(max_examples=30)
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


@pytest.mark.parametrize("pre_norm", [False, True])
def test_a_causal_stack_passes(pre_norm):
    torch.manual_seed(0)
    assert_causal(Stack(causal_mask, pre_norm=pre_norm), IDS)
    assert_causal(Stack(causal_mask, vocab=None, pre_norm=pre_norm), torch.randn(2, 5, 8))
    assert_causal(Stack(causal_mask, vocab=None, pre_norm=pre_norm).double(), torch.randn(2, 5, 8).double())


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


@settings(max_examples=30)
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

    with pytest.raises(ValueError, match="one finite output for each position"):
        assert_causal(Nothing(), torch.ones(1, 3, 2))
    with pytest.raises(ValueError, match="one finite output for each position"):
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
    "x must have at least 2 positions": (torch.ones(2, 1, 4), None),
    "and hold at least 2 ids": (torch.full((2, 3), 7), None),
    "one finite output for each position": (torch.ones(2, 3, 4), nn.Flatten()),
}


@pytest.mark.parametrize(("message", "x", "run"), [(text, *call) for text, call in WRONG_CALLS.items()])
def test_input_in_which_no_leak_could_show_is_refused(message, x, run):
    with pytest.raises(ValueError, match=message):
        assert_causal(nn.Identity(), x, run)
