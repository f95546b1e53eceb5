"""What chapter 12 trains, with five seeds: counting places or tokens, few sentences or many, means of checkpoints, stops."""

import torch

from benchmarks.records import write_record
from transformer_lib.teaching.experiments.training import (
    COUNTED,
    MAX_TOKENS,
    RATE,
    STEPS,
    learn,
    mean_of_five,
    train_counting,
    what_is_lost,
)

NAME = "training_loop"
SEEDS = [0, 1, 2, 3, 4]
FEW, MANY = 150, 3000


def run(seed: int, count: int) -> dict[str, list[float]]:
    """Return the losses of a run with `count` pairs: of training, means of ten steps, and held out."""
    _, history = learn(seed, count=count)
    tens = torch.tensor(history.losses).unfold(0, 10, 10).mean(dim=1)
    return {"training": tens.tolist(), "held_out": list(history.validation_losses.values())}


def main() -> None:
    torch.set_num_threads(1)
    numbers = {
        "counted": {name: [train_counting(name, seed) for seed in SEEDS] for name in COUNTED},
        "few": [run(seed, FEW) for seed in SEEDS],
        "many": [run(seed, MANY) for seed in SEEDS],
        "mean_of_five": [mean_of_five(seed) for seed in SEEDS],
        "lost": [what_is_lost(seed) for seed in SEEDS],
    }
    settings = {"few": FEW, "many": MANY, "steps": STEPS, "rate": RATE, "max_tokens": MAX_TOKENS, "threads": 1}
    write_record(NAME, seeds=SEEDS, settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
