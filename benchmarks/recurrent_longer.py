"""Chapter 2: do plain and half-open cells remember the first word after ten times as many training steps? Five seeds each."""

from functools import partial

import torch
from torch import nn

from benchmarks.records import write_record
from transformer_lib.teaching.experiments.recurrent import memory_accuracy, train_to_remember

SEEDS = range(5)
STEPS = [400, 4000]
TESTED = {(20, 40): [20, 30, 40, 60, 100]}  # otherwise, every length that was trained
# torch's own layers: faster than ours, and with the same numbers.
RUNS = {
    "RNN, 2 to 5": (nn.RNN, 2, 5),
    "RNN, 5 to 10": (nn.RNN, 5, 10),
    "RNN, 10 to 20": (nn.RNN, 10, 20),
    "RNN, 20 to 40": (nn.RNN, 20, 40),
    "LSTM, half open, 20 to 40": (nn.LSTM, 20, 40),
    "GRU, half open, 20 to 40": (nn.GRU, 20, 40),
}


def main() -> None:
    torch.set_num_threads(1)
    numbers = {}
    for name, (layer, shortest, longest) in RUNS.items():
        lengths = TESTED.get((shortest, longest), range(shortest, longest + 1))
        numbers[name] = {}
        for steps in STEPS:
            runs = []
            for seed in SEEDS:
                make = partial(layer, batch_first=True)
                model = train_to_remember(make, seed=seed, steps=steps, shortest=shortest, longest=longest)
                shares = memory_accuracy(model, lengths=lengths, seed=seed)
                runs.append(sum(shares) / len(shares))
            numbers[name][f"{steps} steps"] = runs
            print(f"{name:28}{steps:6} steps", *(f"{share:6.2f}" for share in runs), flush=True)
    settings = {"hidden_size": 32, "batch": 64, "learning_rate": 1e-2, "steps": STEPS, "tested": [20, 30, 40, 60, 100]}
    write_record("recurrent_longer", seeds=list(SEEDS), settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
