"""Chapter 02: the cells and the layer against torch's, and against the equations."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence
from torch.testing import assert_close

from transformer_lib.recurrent import GRUCell, LSTMCell, Recurrent, RNNCell

PARAMETERS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
KINDS = {
    "RNN": (RNNCell, nn.RNN),
    "RNN with ReLU": (
        lambda *sizes: RNNCell(*sizes, nonlinearity="relu"),
        lambda *sizes, **named: nn.RNN(*sizes, nonlinearity="relu", **named),
    ),
    "LSTM": (LSTMCell, nn.LSTM),
    "GRU": (GRUCell, nn.GRU),
}
kinds = pytest.mark.parametrize(("make_cell", "make_theirs"), KINDS.values(), ids=KINDS.keys())
small = st.integers(1, 5)


pytestmark = pytest.mark.usefixtures("float64_default")


def pair_of_layers(make_cell, make_theirs, input_size, hidden_size, bidirectional):
    ours = Recurrent(make_cell(input_size, hidden_size), bidirectional=bidirectional)
    theirs = make_theirs(input_size, hidden_size, batch_first=True, bidirectional=bidirectional)
    for ending, cell in zip(("_l0", "_l0_reverse"), ours.cells, strict=False):
        cell.load_state_dict({name: getattr(theirs, name + ending).detach() for name in PARAMETERS})
    return ours, theirs


def parts(state):
    return state if isinstance(state, tuple) else (state,)


def gradients(result, given_to, layer):
    """Return the gradients of a random mix of all results, for what was given and for the parameters."""
    torch.manual_seed(1)
    outputs, state = result
    data = outputs.data if isinstance(outputs, PackedSequence) else outputs
    mix = sum((part * torch.randn(part.shape)).sum() for part in (data, *parts(state)))
    return torch.autograd.grad(mix, [*given_to, *layer.parameters()], retain_graph=True)


def draw_state(make_cell, directions, batch, hidden_size):
    count = 2 if make_cell is LSTMCell else 1
    state = tuple(torch.randn(directions, batch, hidden_size, requires_grad=True) for _ in range(count))
    return state if count == 2 else state[0]


@kinds
class TestEqualToTorch:
    """Among the rest: a GRU that resets after the product, the order of the gates, and two biases."""

    @settings(max_examples=15)
    @given(batch=small, seq=small, input_size=small, hidden_size=small, bidirectional=st.booleans(), begin=st.booleans())
    def test_forward_and_gradients(self, make_cell, make_theirs, batch, seq, input_size, hidden_size, bidirectional, begin):
        ours, theirs = pair_of_layers(make_cell, make_theirs, input_size, hidden_size, bidirectional)
        x = torch.randn(batch, seq, input_size, requires_grad=True)
        state = draw_state(make_cell, 1 + bidirectional, batch, hidden_size) if begin else None
        given_to = [x, *parts(state)] if begin else [x]

        our_result, their_result = ours(x, state), theirs(x, state)

        assert_close(our_result, their_result)
        assert our_result[0].shape == (batch, seq, hidden_size * (1 + bidirectional))
        assert_close(gradients(our_result, given_to, ours), gradients(their_result, given_to, theirs))

    @settings(max_examples=15)
    @given(
        lengths=st.lists(small, min_size=1, max_size=5), bidirectional=st.booleans(), begin=st.booleans(), order=st.booleans()
    )
    def test_padded_forward_and_gradients(self, make_cell, make_theirs, lengths, bidirectional, begin, order):
        if order:
            lengths = sorted(lengths, reverse=True)
        ours, theirs = pair_of_layers(make_cell, make_theirs, 3, 4, bidirectional)
        x = torch.randn(len(lengths), max(lengths), 3, requires_grad=True)
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=order)
        state = draw_state(make_cell, 1 + bidirectional, len(lengths), 4) if begin else None
        given_to = [x, *parts(state)] if begin else [x]

        our_result, their_result = ours(packed, state), theirs(packed, state)

        assert_close(tuple(our_result[0]), tuple(their_result[0]))
        assert_close(our_result[1], their_result[1])
        assert_close(gradients(our_result, given_to, ours), gradients(their_result, given_to, theirs))

    def test_the_same_seed_draws_the_same_weights(self, make_cell, make_theirs):
        for bidirectional in (False, True):
            torch.manual_seed(5)
            ours = Recurrent(make_cell(3, 4), bidirectional=bidirectional)
            torch.manual_seed(5)
            theirs = make_theirs(3, 4, batch_first=True, bidirectional=bidirectional)
            assert_close(list(ours.parameters()), list(theirs.parameters()), rtol=0, atol=0)


ONE_STEP = {"RNN": (RNNCell, nn.RNNCell), "LSTM": (LSTMCell, nn.LSTMCell), "GRU": (GRUCell, nn.GRUCell)}


@pytest.mark.parametrize(("make_cell", "make_theirs"), ONE_STEP.values(), ids=ONE_STEP.keys())
def test_a_cell_loads_torchs_cell_as_it_is(make_cell, make_theirs):
    ours, theirs = make_cell(3, 4), make_theirs(3, 4)
    ours.load_state_dict(theirs.state_dict())
    x, h = torch.randn(2, 3), torch.randn(2, 4)
    state = (h, torch.randn(2, 4)) if make_cell is LSTMCell else h
    assert_close(ours(x, state), theirs(x, state))


@kinds
@given(lengths=st.lists(small, min_size=2, max_size=4), bidirectional=st.booleans())
@settings(max_examples=10)
def test_padding_moves_nothing(make_cell, make_theirs, lengths, bidirectional):
    layer = Recurrent(make_cell(3, 4), bidirectional=bidirectional)
    sentences = [torch.randn(1, length, 3) for length in lengths]
    padded = torch.full((len(lengths), max(lengths) + 2, 3), 1e6)
    for row, sentence in zip(padded, sentences, strict=True):
        row[: sentence.size(1)] = sentence
    packed = pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False)
    outputs, state = layer(packed)
    outputs, _ = pad_packed_sequence(outputs, batch_first=True)
    for index, sentence in enumerate(sentences):
        alone_outputs, alone_state = layer(sentence)
        assert_close(outputs[index, : sentence.size(1)], alone_outputs[0])
        assert_close(tuple(part[:, [index]] for part in parts(state)), parts(alone_state))


def equation_15_4(x, h, w_x, w_h, b):
    """S2's equation for one sample, with its columns and transposes; the matrices are (from, to)."""
    z = torch.sigmoid(w_x["z"].T @ x + w_h["z"].T @ h + b["z"])
    r = torch.sigmoid(w_x["r"].T @ x + w_h["r"].T @ h + b["r"])
    g = torch.tanh(w_x["g"].T @ x + w_h["g"].T @ (r * h) + b["g"])
    return z * h + (1 - z) * g


def test_reset_before_is_equation_15_4():
    cell = GRUCell(3, 4, reset="before")
    w_x = {gate: block.T for gate, block in zip("rzg", cell.weight_ih.chunk(3), strict=True)}
    w_h = {gate: block.T for gate, block in zip("rzg", cell.weight_hh.chunk(3), strict=True)}
    b = dict(zip("rzg", (cell.bias_ih + cell.bias_hh).chunk(3), strict=True))
    x, h = torch.randn(5, 3), torch.randn(5, 4)
    one_by_one = [equation_15_4(x[i], h[i], w_x, w_h, b) for i in range(5)]
    assert_close(cell(x, h), torch.stack(one_by_one))


def test_second_direction_has_its_own_numbers():
    layer = Recurrent(GRUCell(3, 4, reset="before"), bidirectional=True)
    assert layer.cells[1].reset == "before"
    for first, second in zip(layer.cells[0].parameters(), layer.cells[1].parameters(), strict=True):
        assert first.data_ptr() != second.data_ptr()
        assert (first != second).all()
        assert second.abs().max() <= 0.5  # 1 / √4


WRONG = {
    "unknown nonlinearity": (
        lambda: RNNCell(3, 4, nonlinearity="gelu"),
        "nonlinearity must be 'tanh' or 'relu'.* it is 'gelu'",
    ),
    "unknown reset": (lambda: GRUCell(3, 4, reset="behind"), "reset must be 'before' or 'after'.* it is 'behind'"),
}


@pytest.mark.parametrize(("call", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_unknown_choice_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
