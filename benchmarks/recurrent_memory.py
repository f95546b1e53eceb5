"""How well RNN, LSTM and GRU remember the first symbol, with gates free, started open, or held: five seeds each."""

from benchmarks.records import write_record
from transformer_lib.recurrent import GRUCell, LSTMCell, Recurrent, RNNCell
from transformer_lib.teaching.experiments.recurrent import freeze_gate, memory_accuracy, open_gate, train_to_remember

SEEDS = range(5)
LENGTHS = [6, 10, 20, 30, 40, 60, 100]

CELLS = {
    "RNN": lambda *sizes: RNNCell(*sizes),
    "LSTM, gates start half open": lambda *sizes: LSTMCell(*sizes),
    "LSTM, forget gate starts open": lambda *sizes: open_gate(LSTMCell(*sizes), block=1, bias=3.0),
    "GRU, gates start half open": lambda *sizes: GRUCell(*sizes),
    "GRU, update gate starts open": lambda *sizes: open_gate(GRUCell(*sizes), block=1, bias=3.0),
    "LSTM, forget gate held at 1": lambda *sizes: freeze_gate(LSTMCell(*sizes), block=1, value=1),
    "LSTM, forget gate held at 0": lambda *sizes: freeze_gate(LSTMCell(*sizes), block=1, value=0),
    "LSTM, input gate held at 1": lambda *sizes: freeze_gate(
        open_gate(LSTMCell(*sizes), block=1, bias=3.0), block=0, value=1
    ),
    "LSTM, output gate held at 1": lambda *sizes: freeze_gate(
        open_gate(LSTMCell(*sizes), block=1, bias=3.0), block=3, value=1
    ),
    "GRU, update gate held at 0": lambda *sizes: freeze_gate(GRUCell(*sizes), block=1, value=0),
    "GRU, reset gate held at 1": lambda *sizes: freeze_gate(
        open_gate(GRUCell(*sizes), block=1, bias=3.0), block=0, value=1
    ),
}


def main() -> None:
    numbers = {}
    print(f"{'accuracy at length':32}" + "".join(f"{length:7}" for length in LENGTHS))
    for name, make_cell in CELLS.items():
        runs = []
        for seed in SEEDS:
            model = train_to_remember(lambda *sizes, make=make_cell: Recurrent(make(*sizes)), seed=seed)
            runs.append(memory_accuracy(model, lengths=LENGTHS, seed=seed))
        numbers[name] = runs
        mean = [sum(column) / len(column) for column in zip(*runs, strict=True)]
        print(f"{name:32}" + "".join(f"{value:7.2f}" for value in mean), flush=True)
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
