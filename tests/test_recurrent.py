"""Chapter 02: the cells and the layer against torch's, step by step and packed."""

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
    @pytest.mark.pitfall(28, 29)
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
    @pytest.mark.pitfall(28, 29)
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

    def test_half_precision_stays_half(self, make_cell, make_theirs):
        for dtype in (torch.float32, torch.bfloat16):
            outputs, state = Recurrent(make_cell(3, 4), bidirectional=True).to(dtype)(torch.randn(2, 5, 3, dtype=dtype))
            assert {part.dtype for part in (outputs, *parts(state))} == {dtype}


ONE_STEP = {"RNN": (RNNCell, nn.RNNCell), "LSTM": (LSTMCell, nn.LSTMCell), "GRU": (GRUCell, nn.GRUCell)}


@pytest.mark.parametrize(("make_cell", "make_theirs"), ONE_STEP.values(), ids=ONE_STEP.keys())
@pytest.mark.pitfall(29)
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


@kinds
@given(seq=st.integers(2, 6), cut=st.integers(1, 5))
@settings(max_examples=10)
def test_the_state_continues_the_sequence(make_cell, make_theirs, seq, cut):
    cut = min(cut, seq - 1)
    layer = Recurrent(make_cell(3, 4))
    x = torch.randn(2, seq, 3)
    first, state = layer(x[:, :cut])
    second, end = layer(x[:, cut:], state)
    assert_close((torch.cat([first, second], dim=1), end), layer(x))


def test_equation_15_2_in_both_forms():
    cell = RNNCell(3, 4)
    x, h = torch.randn(5, 3), torch.randn(5, 4)
    w_x, w_h, b = cell.weight_ih.T, cell.weight_hh.T, cell.bias_ih + cell.bias_hh
    apart = torch.tanh(x @ w_x + h @ w_h + b)
    joined = torch.tanh(torch.cat([x, h], dim=1) @ torch.cat([w_x, w_h]) + b)
    assert_close(apart, joined)
    assert_close(cell(x, h), joined)


def equation_15_4(x, h, w_x, w_h, b):
    """S2's equation for one sample, with its columns and transposes; the matrices are (from, to)."""
    z = torch.sigmoid(w_x["z"].T @ x + w_h["z"].T @ h + b["z"])
    r = torch.sigmoid(w_x["r"].T @ x + w_h["r"].T @ h + b["r"])
    g = torch.tanh(w_x["g"].T @ x + w_h["g"].T @ (r * h) + b["g"])
    return z * h + (1 - z) * g


@pytest.mark.pitfall(28)
def test_reset_before_is_equation_15_4():
    cell = GRUCell(3, 4, reset="before")
    w_x = {gate: block.T for gate, block in zip("rzg", cell.weight_ih.chunk(3), strict=True)}
    w_h = {gate: block.T for gate, block in zip("rzg", cell.weight_hh.chunk(3), strict=True)}
    b = dict(zip("rzg", (cell.bias_ih + cell.bias_hh).chunk(3), strict=True))
    x, h = torch.randn(5, 3), torch.randn(5, 4)
    one_by_one = [equation_15_4(x[i], h[i], w_x, w_h, b) for i in range(5)]
    assert_close(cell(x, h), torch.stack(one_by_one))


@pytest.mark.pitfall(28)
def test_before_and_after_differ():
    """Unless the reset gate is 1."""
    torch.manual_seed(0)
    before, after = GRUCell(3, 4, reset="before"), GRUCell(3, 4)
    after.load_state_dict(before.state_dict())
    x, h = torch.randn(5, 3), torch.randn(5, 4)
    assert (before(x, h) - after(x, h)).abs().max() > 1e-3
    for cell in (before, after):
        cell.bias_ih.data[:4] = 100  # the reset gate is 1
    assert_close(before(x, h), after(x, h))


@pytest.mark.pitfall(28)
def test_update_gate_of_one_keeps_the_state():
    for reset in ("before", "after"):
        cell = GRUCell(3, 4, reset=reset)
        cell.bias_ih.data[4:8] = 100
        h = torch.randn(2, 4)
        assert_close(cell(torch.randn(2, 3), h), h)


@pytest.mark.pitfall(28)
def test_reset_after_is_the_default():
    assert GRUCell(2, 2).reset == "after"


def test_an_lstms_output_is_not_its_cell_state():
    outputs, (h, c) = Recurrent(LSTMCell(3, 4))(torch.randn(2, 5, 3))
    assert_close(outputs[:, -1], h[0])
    assert (h - c).abs().max() > 1e-3


@pytest.mark.pitfall(20)
def test_second_direction_has_its_own_numbers():
    layer = Recurrent(GRUCell(3, 4, reset="before"), bidirectional=True)
    assert layer.cells[1].reset == "before"
    for first, second in zip(layer.cells[0].parameters(), layer.cells[1].parameters(), strict=True):
        assert first.data_ptr() != second.data_ptr()
        assert (first != second).all()
        assert second.abs().max() <= 0.5  # 1 / √4


@given(input_size=small, hidden_size=small)
@settings(max_examples=10)
def test_parameters_are_counted_as_in_the_chapter(input_size, hidden_size):
    for blocks, cell in ((1, RNNCell), (4, LSTMCell), (3, GRUCell)):
        for directions in (1, 2):
            layer = Recurrent(cell(input_size, hidden_size), bidirectional=directions == 2)
            expected = directions * blocks * hidden_size * (input_size + hidden_size + 2)
            assert sum(parameter.numel() for parameter in layer.parameters()) == expected


def packed(width):
    return pack_padded_sequence(torch.zeros(2, 3, width), [3, 2], batch_first=True)


ZERO = torch.zeros
WRONG = {
    "no input": (lambda: RNNCell(0, 4), "input_size must be at least 1.* it is 0"),
    "no hidden": (lambda: LSTMCell(3, 0), "hidden_size must be at least 1.* it is 0"),
    "unknown nonlinearity": (lambda: RNNCell(3, 4, nonlinearity="gelu"), "'tanh' or 'relu'.* it is 'gelu'"),
    "unknown reset": (lambda: GRUCell(3, 4, reset="behind"), "'before' or 'after'.* it is 'behind'"),
    "a layer for a cell": (lambda: Recurrent(nn.GRU(3, 4)), r"cell must be one of this chapter, but it is GRU\(3, 4\)"),
    "step too wide": (lambda: RNNCell(3, 4)(ZERO(2, 5), ZERO(2, 4)), r"x must have shape \(batch, 3\), .* \(2, 5\)"),
    "step without batch": (lambda: GRUCell(3, 4)(ZERO(3), ZERO(1, 4)), r"x must have shape \(batch, 3\), .* \(3,\)"),
    "state of another batch": (lambda: GRUCell(3, 4)(ZERO(2, 3), ZERO(1, 4)), r"shape \(2, 4\).* is \(1, 4\)"),
    "state too wide": (lambda: RNNCell(3, 4)(ZERO(2, 3), ZERO(2, 5)), r"shape \(2, 4\).* is \(2, 5\)"),
    "one state for an LSTM": (lambda: LSTMCell(3, 4)(ZERO(2, 3), ZERO(2, 4)), r"pair h, c.* is \(2, 4\)"),
    "a pair for a GRU": (lambda: GRUCell(3, 4)(ZERO(2, 3), (ZERO(2, 4),) * 2), r"\(2, 4\), .*\(\(2, 4\), \(2, 4\)\)"),
    "no batch": (lambda: Recurrent(GRUCell(3, 4))(ZERO(5, 3)), r"x must have shape \(batch, seq, 3\), .* \(5, 3\)"),
    "too wide": (lambda: Recurrent(GRUCell(3, 4))(ZERO(2, 5, 6)), r"x must have shape \(.*, 3\), .* \(2, 5, 6\)"),
    "no step": (lambda: Recurrent(GRUCell(3, 4))(ZERO(2, 0, 3)), r"x must have shape \(batch, seq, 3\), .* \(2, 0, 3\)"),
    "packed too wide": (lambda: Recurrent(GRUCell(3, 4))(packed(6)), r"x must have shape \(.*, 3\), .* \(5, 6\)"),
    "state of one direction for two": (
        lambda: Recurrent(GRUCell(3, 4), bidirectional=True)(ZERO(2, 5, 3), ZERO(1, 2, 4)),
        r"shape \(2, 2, 4\).* is \(1, 2, 4\)",
    ),
    "state without directions": (
        lambda: Recurrent(LSTMCell(3, 4))(ZERO(2, 5, 3), (ZERO(2, 4), ZERO(2, 4))),
        r"\(\(1, 2, 4\), \(1, 2, 4\)\) \(an LSTM's.* is \(\(2, 4\), \(2, 4\)\)",
    ),
    "packed, state of another batch": (
        lambda: Recurrent(GRUCell(3, 4))(packed(3), ZERO(1, 3, 4)),
        r"shape \(1, 2, 4\).* is \(1, 3, 4\)",
    ),
}


@pytest.mark.parametrize(("call", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_input_says_what_was_expected(call, message, as_a_user_calls_it):
    with pytest.raises(ValueError, match=message):
        call()


def test_one_vector_becomes_a_sequence():
    """The form vector → sequence: the same vector at each step, and yet the outputs move on, as torch's do."""
    ours, theirs = pair_of_layers(GRUCell, nn.GRU, 3, 4, bidirectional=False)
    repeated = torch.randn(2, 3).unsqueeze(1).expand(2, 6, 3)
    outputs, state = ours(repeated)
    assert_close((outputs, state), theirs(repeated))
    assert outputs.shape == (2, 6, 4)
    assert (outputs[:, 1:] - outputs[:, :-1]).abs().amax(dim=(0, 2)).min() > 1e-6


def test_a_sequence_becomes_one_vector():
    """The form sequence → vector: the state is each sequence's own last output, and `outputs[:, -1]` is not."""
    layer, x = Recurrent(RNNCell(3, 4)), torch.randn(2, 5, 3)
    outputs, state = layer(pack_padded_sequence(x, [5, 2], batch_first=True))
    outputs, _ = pad_packed_sequence(outputs, batch_first=True)
    assert_close(state[-1], torch.stack([outputs[0, 4], outputs[1, 1]]))
    assert_close(outputs[1, -1], torch.zeros(4))
