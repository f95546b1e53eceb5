"""The copy task with and without warm-up: a deep post-norm stack, a shallow one and a pre-norm one, at several rates."""

import statistics

from torch import get_num_threads, set_num_threads

from benchmarks.records import write_record
from transformer_lib.schedule import noam_rate
from transformer_lib.teaching.experiments.schedule import (
    D_MODEL,
    LENGTH,
    VOCABULARY,
    WARMUP,
    DeepStack,
    batches,
    rates,
    train_to_copy,
)

NAME = "schedule_warmup"
SEEDS = [0, 1, 2]
STEPS = 300
LEARNING_RATES = [1.0, 0.5, 0.25, 0.1]  # each multiplies the schedule
STACKS = {
    "12 layers, post-norm": {"layers": 12},
    "2 layers, post-norm": {"layers": 2},
    "12 layers, pre-norm": {"layers": 12, "pre_norm": True},
}
CLIMBS = {"with warm-up": WARMUP, "without warm-up": 1}


def last_loss(stack: dict, learning_rate: float, climb: int, seed: int) -> float:
    """Return the mean loss of the last 20 steps."""
    rates_of_run = rates(STEPS, climb=climb, factor=learning_rate)
    losses = list(train_to_copy(DeepStack(**stack, seed=seed), rates_of_run, batches(seed)))
    return statistics.mean(losses[-20:])


def main() -> None:
    set_num_threads(1)
    print(f"{'stack':24}{'peak':>8}  {'schedule':18}{'last loss, by seed':>22}")
    numbers = []
    for name, stack in STACKS.items():
        for learning_rate in LEARNING_RATES:
            peak = learning_rate * noam_rate(WARMUP, D_MODEL, WARMUP)
            for schedule, climb in CLIMBS.items():
                losses = [last_loss(stack, learning_rate, climb, seed) for seed in SEEDS]
                numbers.append({"stack": name, "peak": peak, "schedule": schedule, "losses": losses})
                print(f"{name:24}{peak:8.4f}  {schedule:18}" + "".join(f"{loss:8.3f}" for loss in losses), flush=True)
    settings = {"d_model": D_MODEL, "vocabulary": VOCABULARY, "length": LENGTH, "warmup": WARMUP, "steps": STEPS}
    write_record(NAME, seeds=SEEDS, settings=settings | {"threads": get_num_threads()}, numbers=numbers)


if __name__ == "__main__":
    main()
