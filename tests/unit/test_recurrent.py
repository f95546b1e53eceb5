"""Chapter 02: the cells and the layers against torch's."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from transformer_lib.recurrent import Bidirectional, GRUCell, LSTMCell, Recurrent, RNNCell

KINDS = {"RNN": (RNNCell, nn.RNN), "LSTM": (LSTMCell, nn.LSTM), "GRU": (GRUCell, nn.GRU)}
kinds = pytest.mark.parametrize(("make_cell", "make_theirs"), KINDS.values(), ids=KINDS.keys())
small = st.integers(1, 5)

pytestmark = pytest.mark.usefixtures("float64_default")


def copy_parameters(ours, theirs):
    for mine, given_ in zip(ours.parameters(), theirs.parameters(), strict=True):
        given_.data.copy_(mine)


def parts(state):
    return state if isinstance(state, tuple) else (state,)


def gradients(results, given_to, layer):
    """Return the gradients of a random mix of all results, for what was given and for the parameters."""
    torch.manual_seed(1)
    mix = sum((part * torch.randn(part.shape)).sum() for part in results)
    return torch.autograd.grad(mix, [*given_to, *layer.parameters()])


@kinds
class TestEqualToTorch:
    """Among the rest: a GRU that resets after the product, the order of the blocks, and two biases."""

    @settings(max_examples=15)
    @given(batch=small, seq=small, input_size=small, hidden_size=small, begin=st.booleans())
    def test_forward_and_gradients(self, make_cell, make_theirs, batch, seq, input_size, hidden_size, begin):
        ours = Recurrent(make_cell(input_size, hidden_size))
        theirs = make_theirs(input_size, hidden_size, batch_first=True)
        copy_parameters(ours, theirs)
        x = torch.randn(batch, seq, input_size, requires_grad=True)
        state = tuple(torch.randn(batch, hidden_size, requires_grad=True) for _ in range(1 + (make_cell is LSTMCell)))
        given_to = [x, *state] if begin else [x]
        our_state = (state if len(state) > 1 else state[0]) if begin else None
        their_state = (tuple(part[None] for part in state) if len(state) > 1 else state[0][None]) if begin else None

        outputs, last = ours(x, our_state)
        their_outputs, their_last = theirs(x, their_state)

        our_results, their_results = (outputs, *parts(last)), (their_outputs, *(part[0] for part in parts(their_last)))
        assert_close(our_results, their_results)
        assert outputs.shape == (batch, seq, hidden_size)
        assert_close(gradients(our_results, given_to, ours), gradients(their_results, given_to, theirs))

    def test_two_directions(self, make_cell, make_theirs):
        ours, theirs = Bidirectional(make_cell(3, 4)), make_theirs(3, 4, batch_first=True, bidirectional=True)
        copy_parameters(ours, theirs)
        x = torch.randn(2, 5, 3, requires_grad=True)
        outputs, their_outputs = ours(x), theirs(x)[0]
        assert_close(outputs, their_outputs)
        assert_close(gradients([outputs], [x], ours), gradients([their_outputs], [x], theirs))
