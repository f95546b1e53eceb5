"""How well RNN, LSTM and GRU remember the first symbol, with gates free, started open, or held: five seeds each."""

from collections.abc import Callable

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


def held(kind: type, gate: int | None = None, value: int = 1, bias: float = 0.0) -> Callable[[int, int], torch.nn.Module]:
    """Return what makes a cell whose gate to keep starts open by `bias`, or whose gate number `gate` is held at `value`."""

    def make(*sizes: int) -> torch.nn.Module:
        cell = open_gate(kind(*sizes), block=1, bias=bias) if bias else kind(*sizes)
        return cell if gate is None else freeze_gate(cell, block=gate, value=value)

    return make


CELLS = {
    "RNN": RNNCell,
    "RNN, starts as a rotation": rotation,
    "RNN with ReLU, starts as the identity": identity,
    "LSTM, gates start half open": LSTMCell,
    "LSTM, forget gate starts open": held(LSTMCell, bias=3.0),
    "GRU, gates start half open": GRUCell,
    "GRU, update gate starts open": held(GRUCell, bias=3.0),
    "LSTM, forget gate held at 0": held(LSTMCell, 1, value=0),
    "LSTM, forget gate held at 1": held(LSTMCell, 1),
    "LSTM, input gate held at 1": held(LSTMCell, 0),
    "LSTM, input gate held at 1, forget gate starts open": held(LSTMCell, 0, bias=3.0),
    "LSTM, output gate held at 1": held(LSTMCell, 3),
    "LSTM, output gate held at 1, forget gate starts open": held(LSTMCell, 3, bias=3.0),
    "GRU, update gate held at 0": held(GRUCell, 1, value=0),
    "GRU, reset gate held at 1": held(GRUCell, 0),
    "GRU, reset gate held at 1, update gate starts open": held(GRUCell, 0, bias=3.0),
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
    settings = {"hidden_size": 32, "steps": 400, "trained_lengths": [20, 40], "batch": 64, "learning_rate": 1e-2}
    settings["tested_lengths"] = LENGTHS
    write_record("recurrent_memory", seeds=list(SEEDS), settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
