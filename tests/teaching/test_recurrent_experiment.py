"""The remembering task and the ways to hold a gate."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer_lib.teaching.experiments.recurrent import (
    SYMBOLS,
    RememberFirst,
    freeze_gate,
    fresh_readout_accuracy,
    memory_accuracy,
    memory_batch,
    open_gate,
    states_by_length,
    train_to_remember,
)


def generator():
    return torch.Generator().manual_seed(0)


class KnowsTheFirst(nn.Module):
    def forward(self, x):
        return x[:, 0]


class SaysZero(nn.Module):
    def forward(self, x):
        return torch.eye(SYMBOLS)[torch.zeros(len(x), dtype=torch.long)]


def torchs_gru(input_size, hidden_size):
    return nn.GRU(input_size, hidden_size, batch_first=True)


def test_a_batch_is_one_hot_and_asks_for_the_first_symbol():
    x, first = memory_batch(count=50, length=4, generator=generator())
    assert x.shape == (50, 4, SYMBOLS)
    assert_close(x.sum(dim=-1), torch.ones(50, 4))
    assert torch.equal(x[:, 0].argmax(dim=-1), first)
    assert len(first.unique()) == SYMBOLS
    with pytest.raises(ValueError, match="length must be at least 1.* it is 0"):
        memory_batch(count=1, length=0, generator=generator())


def test_accuracy_is_the_share_of_right_answers():
    assert memory_accuracy(KnowsTheFirst(), lengths=[1, 5]) == [1.0, 1.0]
    (guessing,) = memory_accuracy(SaysZero(), lengths=[5])
    assert guessing == pytest.approx(1 / SYMBOLS, abs=0.05)


def test_the_last_state_is_scored_of_a_gru_and_of_an_lstm():
    for layer in (nn.GRU, nn.LSTM):
        model = RememberFirst(layer(SYMBOLS, 4, batch_first=True), hidden_size=4)
        x, _ = memory_batch(count=3, length=5, generator=generator())
        outputs, _ = model.layer(x)
        assert_close(model(x), model.output(outputs[:, -1]))


def test_an_open_gate_sets_one_block_alone():
    cell = nn.GRUCell(3, 4)
    before = cell.bias_ih.detach().clone()
    assert open_gate(cell, block=1, bias=3.0) is cell
    assert (cell.bias_ih[4:8] == 3).all()
    assert_close(cell.bias_ih[:4], before[:4])
    assert_close(cell.bias_ih[8:], before[8:])


@pytest.mark.parametrize("value", [0, 1])
def test_a_frozen_gate_stays_frozen_while_the_rest_learns(value):
    torch.manual_seed(0)
    cell = freeze_gate(nn.GRUCell(3, 4), block=1, value=value)
    before = [parameter.detach().clone() for parameter in cell.parameters()]
    optimizer = torch.optim.Adam(cell.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        cell(torch.randn(5, 3), torch.randn(5, 4)).square().sum().backward()
        optimizer.step()
    for old, new in zip(before, cell.parameters(), strict=True):
        assert torch.equal(old[4:8], new[4:8])
        if not value:  # with an update gate of 1 the proposal has no say, and learns nothing
            assert not torch.equal(old[8:], new[8:])
    if value:  # an update gate of 1 keeps the state
        state = torch.randn(5, 4)
        assert_close(cell(torch.randn(5, 3), state), state, rtol=0, atol=1e-6)


def test_a_gate_is_frozen_at_0_or_1():
    with pytest.raises(ValueError, match="value must be 0 or 1, but it is 2"):
        freeze_gate(nn.GRUCell(3, 4), block=1, value=2)


def test_training_learns_a_short_memory_and_a_seed_fixes_it():
    model, again = (train_to_remember(torchs_gru, seed=0, hidden_size=16, steps=150, shortest=2, longest=4) for _ in range(2))
    assert min(memory_accuracy(model, lengths=[2, 4])) > 0.9
    assert_close(list(model.parameters()), list(again.parameters()), rtol=0, atol=0)
    other = train_to_remember(torchs_gru, seed=1, hidden_size=16, steps=1, shortest=2, longest=4)
    assert not torch.equal(model.output.weight, other.output.weight)


def test_a_fresh_readout_finds_what_the_states_hold_and_nothing_else():
    _x, first = memory_batch(count=600, length=3, generator=generator())
    held = torch.eye(SYMBOLS)[first] @ torch.randn(SYMBOLS, 5, generator=generator()).mul(3)
    assert fresh_readout_accuracy(held, first, held_out=200) > 0.95
    empty = torch.randn(600, 5, generator=generator())
    assert fresh_readout_accuracy(empty, first, held_out=200) < 0.25


def test_states_by_length_are_those_of_the_cut_sequences():
    torch.manual_seed(0)
    layer = torchs_gru(SYMBOLS, 4)
    states, first = states_by_length(layer, lengths=[2, 5], count=7, seed=3)
    x, again = memory_batch(count=7, length=5, generator=torch.Generator().manual_seed(2_000_003))
    assert torch.equal(first, again)
    for length in (2, 5):
        assert_close(states[length], layer(x[:, :length])[1][-1])
