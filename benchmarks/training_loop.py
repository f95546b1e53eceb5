"""What chapter 12 trains, with five seeds: counting places or tokens, means of checkpoints, stops."""

import torch

from benchmarks.records import write_record
from transformer_lib.teaching.experiments.training import (
    COUNTED,
    MAX_TOKENS,
    RATE,
    STEPS,
    mean_of_five,
    train_counting,
    what_is_lost,
)

NAME = "training_loop"
SEEDS = [0, 1, 2, 3, 4]


def main() -> None:
    torch.set_num_threads(1)
    numbers = {
        "counted": {name: [train_counting(name, seed)["ends"] for seed in SEEDS] for name in COUNTED},
        "mean_of_five": [mean_of_five(seed) for seed in SEEDS],
        "lost": [what_is_lost(seed) for seed in SEEDS],
    }
    settings = {"steps": STEPS, "rate": RATE, "max_tokens": MAX_TOKENS, "threads": 1}
    write_record(NAME, seeds=SEEDS, settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
