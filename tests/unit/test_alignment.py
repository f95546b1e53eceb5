"""Chapter 04: both attentions against loops and torch, and the decoder against its formula."""

import pytest
import torch
from helpers import assert_equal_with_gradients
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib.alignment import (
    AdditiveAttention,
    AttentionDecoder,
    AttentionSeq2Seq,
    AttentionState,
    DotProductAttention,
)
from transformer_lib.seq2seq import greedy_decode
from transformer_lib.teaching.experiments.alignment import LookFirst

sizes = st.integers(1, 5)


def numbers(*shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


def a_mask(batch, seq):
    """A random mask; each row has at least one place to look at."""
    mask = torch.rand(batch, seq) < 0.5
    mask[torch.arange(batch), torch.randint(seq, (batch,))] = True
    return mask


def attentions(width, dtype=torch.float64):
    return [DotProductAttention(), AdditiveAttention(width, width, 3).to(dtype)]


@given(batch=sizes, seq=sizes, width=sizes)
def test_dot_product_equals_torchs_under_masks(batch, seq, width):
    query, memory, mask = numbers(batch, width), numbers(batch, seq, width), a_mask(batch, seq)
    for given_mask in (None, mask):
        ours, weights = DotProductAttention()(query, memory, given_mask)
        torchs_mask = None if given_mask is None else given_mask.unsqueeze(1)
        theirs = F.scaled_dot_product_attention(query.unsqueeze(1), memory, memory, attn_mask=torchs_mask, scale=1.0)
        assert_equal_with_gradients((ours,), (theirs.squeeze(1),), [query, memory])
        assert_close(weights.sum(dim=-1), torch.ones(batch, dtype=torch.float64))


@given(batch=sizes, seq=sizes, query_size=sizes, memory_size=sizes, hidden_size=sizes)
def test_additive_equals_its_formula(batch, seq, query_size, memory_size, hidden_size):
    layer = AdditiveAttention(query_size, memory_size, hidden_size).double()
    query, memory, mask = numbers(batch, query_size), numbers(batch, seq, memory_size), a_mask(batch, seq)
    w_q, w_m, v = (getattr(layer, name).weight for name in ("from_query", "from_memory", "to_score"))
    hidden = torch.tanh((w_q @ query.T).T[:, None] + memory @ w_m.T)
    exponentials = (hidden @ v[0]).exp() * mask
    weights = exponentials / exponentials.sum(dim=1, keepdim=True)
    expected = torch.einsum("bs,bsd->bd", weights, memory), weights
    assert_equal_with_gradients(layer(query, memory, mask), expected, [query, memory, *layer.parameters()])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_row_with_nothing_to_see_is_zeros(dtype):
    """Forward and backward, in every precision."""
    mask = torch.tensor([[True, True], [False, False]])
    for attention in attentions(3, dtype):
        query, memory = numbers(2, 3, dtype=dtype), numbers(2, 2, 3, dtype=dtype)
        context, weights = attention(query, memory, mask)
        (context.sum() + weights.square().sum()).backward()
        assert context[1].eq(0).all() and weights[1].eq(0).all()
        assert query.grad[1].eq(0).all() and memory.grad[1].eq(0).all()
        for tensor in (query, memory, *attention.parameters()):
            assert tensor.grad.isfinite().all()
        assert memory.grad[0].ne(0).any()


@given(batch=sizes, seq=sizes, padding=sizes)
def test_padding_on_either_side_changes_nothing(batch, seq, padding):
    query, memory = numbers(batch, 3), numbers(batch, seq, 3)
    everything = torch.ones(batch, seq, dtype=torch.bool)
    for attention in attentions(3):
        context, weights = attention(query, memory)
        for sides in ((padding, 0), (0, padding)):
            padded = F.pad(memory, (0, 0, *sides), value=9.0)
            mask = F.pad(everything, sides, value=False)
            wider_context, wider_weights = attention(query, padded, mask)
            assert_close(wider_context, context)
            assert_close(wider_weights[mask].view(batch, seq), weights)


def a_state(hidden, memory, mask=None, context=None):
    """The state of a decoder that starts from `hidden`."""
    batch, source, _ = memory.shape
    return AttentionState(
        hidden,
        context=torch.zeros_like(hidden) if context is None else context,
        memory=memory,
        mask=torch.ones(batch, source, dtype=torch.bool) if mask is None else mask,
        weights=memory.new_zeros(batch, 0, source),
    )


@pytest.mark.parametrize("kind", [AttentionDecoder, LookFirst])
def test_the_decoder_follows_its_formula(kind):
    """Ours looks with the current state, Bahdanau's with the previous one."""
    decoder = kind(9, 3, 4, DotProductAttention()).double()
    memory, mask, words = numbers(2, 5, 4), a_mask(2, 5), torch.randint(9, (2, 3))
    hidden, context = numbers(2, 4), numbers(2, 4)
    state = a_state(hidden, memory, mask, context)
    logits = decoder(words, state)
    for t in range(3):
        word = decoder.embedding(words[:, t])
        if kind is LookFirst:
            context, expected = DotProductAttention()(hidden, memory, mask)
        hidden = decoder.cell(torch.cat([word, context], dim=-1), hidden)
        if kind is AttentionDecoder:
            context, expected = DotProductAttention()(hidden, memory, mask)
        assert_close(state.weights[:, t], expected)
        assert_close(logits[:, t], decoder.output(torch.cat([hidden, context], dim=-1)))
    assert_close((state.hidden, state.context), (hidden, context))


@pytest.fixture
def model():
    torch.manual_seed(0)
    return AttentionSeq2Seq(13, 13, d_model=6, hidden_size=8).double()


def test_it_starts_from_the_encoders_state(model):
    """And has seen nothing yet."""
    source, target_in = torch.randint(3, 13, (2, 5)), torch.randint(3, 13, (2, 3))
    memory, hidden = model.encoder(source)
    assert_close(model(source, target_in), model.decoder(target_in, a_state(hidden[0], memory)))


def test_padding_the_source_moves_nothing(model):
    source, target_in = torch.randint(3, 13, (4, 5)), torch.randint(3, 13, (4, 3))
    state, padded = model.start(source), model.start(F.pad(source, (0, 3)))
    assert_close(model.decode(target_in, padded), model.decode(target_in, state))
    assert_close(padded.weights, F.pad(state.weights, (0, 3)))
    assert not state.weights.requires_grad
    assert_close(greedy_decode(model, F.pad(source, (0, 3)), 6), greedy_decode(model, source, 6))


def test_every_parameter_learns(model):
    model(torch.randint(3, 13, (3, 5)), torch.randint(3, 13, (3, 4))).square().sum().backward()
    silent = [name for name, parameter in model.named_parameters() if parameter.grad is None or not parameter.grad.any()]
    assert silent == []
