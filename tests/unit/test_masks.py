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
IDS = torch.tensor([[1, 5, 3, 7, 2], [4, 4, 8, 6, 1]])
lengths = st.integers(1, 12)


@st.composite
def token_ids(draw):
    batch, seq = draw(st.integers(1, 4)), draw(lengths)
    row = st.lists(st.integers(0, 3), min_size=seq, max_size=seq)
    return torch.tensor(draw(st.lists(row, min_size=batch, max_size=batch)))


class Stack(nn.Module):
    """A small language model, or with `vocab=None` a stack on vectors; `masked` names the modes with a mask."""

    def __init__(self, masked=(True, False), vocab=9, **changes):
        super().__init__()
        self.masked = masked
        self.embedding = nn.Identity() if vocab is None else nn.Embedding(vocab, 8)
        sizes = {"d_model": 8, "num_layers": 2, "num_heads": 2, "d_ff": 16, "dropout": 0.2}
        self.encoder = Encoder(TransformerConfig(**sizes | changes))

    def forward(self, x):
        return self.encoder(self.embedding(x), causal_mask(x.size(1)) if self.training in self.masked else None)


@given(length=lengths)
def test_look_ahead_row_by_row(length):
    mask = causal_mask(length)
    assert mask.dtype is torch.bool
    assert mask.tolist() == [[key <= query for key in range(length)] for query in range(length)]
    assert causal_mask(length, device=torch.device("meta")).device.type == "meta"


@given(tokens=token_ids(), pad_id=st.integers(0, 3))
def test_true_means_may_attend(tokens, pad_id):
    mask = padding_mask(tokens, pad_id)
    assert mask.dtype is torch.bool
    assert mask.shape == (tokens.size(0), 1, 1, tokens.size(1))
    assert mask[:, 0, 0].tolist() == [[token != pad_id for token in row] for row in tokens.tolist()]


def test_torchs_flag_cuts_from_the_top_left_and_its_layers_mask_is_the_opposite():
    x, keys = torch.randn(2, 2, 6), torch.randn(2, 4, 6)  # two queries, four keys
    top_left = torch.ones(2, 4, dtype=torch.bool).tril()
    ours, _ = scaled_dot_product_attention(x, keys, keys, top_left)
    assert_close(F.scaled_dot_product_attention(x, keys, keys, is_causal=True), ours)
    infinite = nn.Transformer.generate_square_subsequent_mask(4)
    assert_close(torch.zeros(4, 4).masked_fill(~causal_mask(4), -torch.inf), infinite)
    theirs = nn.MultiheadAttention(6, 1, batch_first=True)
    assert_close(theirs(keys, keys, keys, attn_mask=~causal_mask(4))[0], theirs(keys, keys, keys, attn_mask=infinite)[0])


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
    seq = tokens.size(1)
    mask = padding_mask(tokens, PAD)
    x = torch.randn(len(tokens), 1, seq, 4)
    _, weights = scaled_dot_product_attention(x, x, x, mask)
    assert weights[~mask.expand(-1, 1, seq, seq)].count_nonzero() == 0
    some = (tokens != PAD).any(dim=1)  # every query of such a sentence sees something, padded queries too
    assert_close(weights[some].sum(dim=-1), torch.ones(int(some.sum()), 1, seq))


@pytest.mark.parametrize("pre_norm", [False, True])
def test_a_causal_stack_passes(pre_norm):
    assert_causal(Stack(pre_norm=pre_norm), IDS)
    assert_causal(Stack(vocab=None, pre_norm=pre_norm), torch.randn(2, 5, 8))


@pytest.mark.parametrize(("masked", "mode"), [((), "training"), ((True,), "evaluation"), ((False,), "training")])
def test_a_leak_is_found_in_either_mode_and_everything_is_left_as_it_was(masked, mode):
    """Modes, random state, input and gradients."""
    module = Stack(masked)
    module.encoder.layers[0].eval()
    modes, state, ids = [part.training for part in module.modules()], torch.get_rng_state(), IDS.clone()
    expected = f"^not causal in {mode} mode: output position 0 moved when input position 1 changed$"
    with pytest.raises(AssertionError, match=expected):
        assert_causal(module, ids)
    assert [part.training for part in module.modules()] == modes
    assert_close(torch.get_rng_state(), state)
    assert_close(ids, IDS)
    assert all(parameter.grad is None for parameter in module.parameters())


@settings(max_examples=30)
@given(seq=st.integers(2, 7), output=st.integers(0, 6), source=st.integers(0, 6), vectors=st.booleans())
def test_the_message_names_the_output_and_the_input(seq, output, source, vectors):
    output, source = output % seq, source % seq
    x = torch.randn(2, seq, 3) if vectors else torch.arange(2 * seq).view(2, seq) % 5

    def reads(x):
        y = x.double().cumsum(dim=1)
        y[:, output] += x.double()[:, source]
        return y

    if source <= output:
        assert_causal(nn.Identity(), x, reads)
        return
    expected = f"output position {output} moved when input position {source} changed"
    with pytest.raises(AssertionError, match=expected):
        assert_causal(nn.Identity(), x, reads)


def in_one_number(x):
    y = x.cumsum(dim=1)
    y[1, 2, 3] += 0.001 * x[1, 3, 0]
    return y


LEAKS = {  # what is computed from what, and the first leak: the earliest output
    "two": (lambda x: x.cumsum(dim=1) + F.pad(x[:, 3:], (0, 0, 1, 2)), torch.randn(2, 5, 3), 1, 3),
    "one number": (in_one_number, torch.randn(2, 5, 4), 2, 3),
    "normalised": (lambda x: F.layer_norm(x, (4,)).flip(1), torch.randn(1, 3, 4), 0, 2),
    "zeros": (lambda x: x.flip(1), torch.zeros(1, 3, 2), 0, 2),
    "ids": (lambda ids: ids.flip(1)[..., None].double(), torch.tensor([[2, 1]]), 0, 1),
}


@pytest.mark.parametrize(("run", "x", "output", "source"), LEAKS.values(), ids=LEAKS)
def test_a_small_leak_is_found(run, x, output, source):
    with pytest.raises(AssertionError, match=f"output position {output} moved when input position {source} changed"):
        assert_causal(nn.Identity(), x, run)


WRONG_CALLS = [
    ("x must have at least 2 positions", torch.ones(2, 1, 4), None),
    ("and hold at least 2 ids", torch.full((2, 3), 7), None),
    ("one finite output for each position", torch.ones(2, 3, 4), nn.Flatten()),
    ("one finite output for each position", torch.ones(1, 3, 2), lambda x: x / 0 * 0),
    ("one finite output for each position", torch.randn(1, 3, 2), lambda x: x.index_fill(1, torch.tensor([1]), math.nan)),
]


@pytest.mark.parametrize(("message", "x", "run"), WRONG_CALLS)
def test_input_in_which_no_leak_could_show_is_refused(message, x, run):
    with pytest.raises(ValueError, match=message):
        assert_causal(nn.Identity(), x, run)
