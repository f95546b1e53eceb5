"""How well RNN, LSTM and GRU remember the first symbol, with gates free, started open, or held: five seeds each."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import linear

from benchmarks.records import write_record
from transformer_lib.recurrent import GRUCell, LSTMCell, Recurrent, RNNCell
from transformer_lib.teaching.experiments.recurrent import freeze_gate, memory_accuracy, open_gate, train_to_remember

SEEDS = range(5)
LENGTHS = [6, 10, 20, 30, 40, 60, 100]


class ReLUCell(RNNCell):
    """A plain cell with ReLU in place of tanh."""

    def forward(self, x: Tensor, h: Tensor) -> Tensor:
        return torch.relu(linear(x, self.weight_ih, self.bias_ih) + linear(h, self.weight_hh, self.bias_hh))


def rotation(input_size: int, hidden_size: int) -> RNNCell:
    """Return an RNN cell whose state is only turned by its matrix at the start, and made neither longer nor shorter."""
    cell = RNNCell(input_size, hidden_size)
    torch.nn.init.orthogonal_(cell.weight_hh)
    return cell


def identity(input_size: int, hidden_size: int) -> RNNCell:
    """Return an RNN cell with ReLU that at the start hands its state on as it is (Le et al. 2015)."""
    cell = ReLUCell(input_size, hidden_size)
    torch.nn.init.eye_(cell.weight_hh)
    for bias in (cell.bias_ih, cell.bias_hh):
        torch.nn.init.zeros_(bias)
    return cell


def lstm(*, held: int | None = None, value: int = 1, forget_bias: float | None = None) -> Callable[[int, int], LSTMCell]:
    """Return what makes an LSTM cell, with the forget gate opened by a bias, or with gate number `held` held at `value`."""
    return partial(_prepared, LSTMCell, held, value, forget_bias)


def gru(*, held: int | None = None, value: int = 1, update_bias: float | None = None) -> Callable[[int, int], GRUCell]:
    """Return what makes a GRU cell, with the update gate opened by a bias, or with gate number `held` held at `value`."""
    return partial(_prepared, GRUCell, held, value, update_bias)


def _prepared(make_cell: type, held: int | None, value: int, bias: float | None, *sizes: int) -> torch.nn.Module:
    cell = make_cell(*sizes)
    if bias is not None:
        open_gate(cell, block=1, bias=bias)
    return cell if held is None else freeze_gate(cell, block=held, value=value)


CELLS = {
    "RNN": RNNCell,
    "RNN, starts as a rotation": rotation,
    "RNN with ReLU, starts as the identity": identity,
    "LSTM, gates start half open": lstm(),
    "LSTM, forget gate starts open": lstm(forget_bias=3.0),
    "GRU, gates start half open": gru(),
    "GRU, update gate starts open": gru(update_bias=3.0),
    "LSTM, forget gate held at 0": lstm(held=1, value=0),
    "LSTM, forget gate held at 1": lstm(held=1),
    "LSTM, input gate held at 1": lstm(held=0),
    "LSTM, input gate held at 1, forget gate starts open": lstm(held=0, forget_bias=3.0),
    "LSTM, output gate held at 1": lstm(held=3),
    "LSTM, output gate held at 1, forget gate starts open": lstm(held=3, forget_bias=3.0),
    "GRU, update gate held at 0": gru(held=1, value=0),
    "GRU, reset gate held at 1": gru(held=0),
    "GRU, reset gate held at 1, update gate starts open": gru(held=0, update_bias=3.0),
}


def main() -> None:
    torch.set_num_threads(1)
    numbers = {}
    print(f"{'accuracy at length':52}" + "".join(f"{length:7}" for length in LENGTHS))
    for name, make_cell in CELLS.items():
        runs = []
        for seed in SEEDS:
            model = train_to_remember(lambda *sizes, make=make_cell: Recurrent(make(*sizes)), seed=seed)
            runs.append(memory_accuracy(model, lengths=LENGTHS, seed=seed))
        numbers[name] = runs
        mean = [sum(column) / len(column) for column in zip(*runs, strict=True)]
        print(f"{name:52}" + "".join(f"{value:7.2f}" for value in mean), flush=True)
    settings = {
        "hidden_size": 32,
        "steps": 400,
        "trained_lengths": [20, 40],
        "batch": 64,
        "learning_rate": 1e-2,
        "tested_lengths": LENGTHS,
    }
    write_record("recurrent_memory", seeds=list(SEEDS), settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
