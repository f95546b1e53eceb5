"""Exact match of chapter 10's whole Transformer on the copy task, freely written, for several seeds."""

from dataclasses import replace

import torch

from benchmarks.records import write_record
from transformer_lib.teaching.experiments.sequence_tasks import VOCABULARY, exact_match, train_on_task
from transformer_lib.transformer import Transformer, TransformerConfig

NAME = "copy_task"
SEEDS = [0, 1, 2]
TRAINING = {"steps": 1500, "longest": 5, "learning_rate": 2e-3, "warmup": 100}
SENTENCES = 1000


def measure(seed: int) -> list[float]:
    """Train one tiny model and return its exact match at each length it has seen; test sentences have another seed."""
    torch.manual_seed(seed)
    model = Transformer(replace(TransformerConfig.tiny(VOCABULARY, VOCABULARY), dropout=0.0))
    train_on_task(model, task="copy", seed=seed, **TRAINING)
    lengths = range(1, TRAINING["longest"] + 1)
    return [exact_match(model, task="copy", length=length, count=SENTENCES, seed=1000 + seed) for length in lengths]


def main() -> None:
    torch.set_num_threads(1)  # models this small gain nothing from a second one
    print("seed  " + " ".join(f"{length:6}" for length in range(1, TRAINING["longest"] + 1)))
    numbers = []
    for seed in SEEDS:
        numbers.append(measure(seed))
        print(f"{seed:4}  " + " ".join(f"{value:6.3f}" for value in numbers[-1]), flush=True)
    settings = {"training": TRAINING, "batch": 64, "sentences_per_length": SENTENCES}
    write_record(NAME, seeds=SEEDS, settings=settings, numbers={"exact_match": numbers})


if __name__ == "__main__":
    main()
