"""The copy task with and without warm-up: a deep post-norm stack, a shallow one and a pre-norm one, at several rates."""

import statistics
from functools import partial

from torch import get_num_threads, set_num_threads

from benchmarks.records import write_record
from transformer_lib.schedule import NoamSchedule, noam_rate
from transformer_lib.teaching.experiments.schedule import (
    D_MODEL,
    LENGTH,
    VOCABULARY,
    WARMUP,
    DeepStack,
    train_to_copy,
    without_warmup,
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
SCHEDULES = {
    "with warm-up": partial(NoamSchedule, d_model=D_MODEL, warmup=WARMUP),
    "without warm-up": without_warmup,
}


def last_losses(stack: dict, learning_rate: float, schedule: str) -> list[float]:
    """Return the mean loss of the last 20 steps, for each seed."""
    means = []
    for seed in SEEDS:
        losses = train_to_copy(
            DeepStack(**stack, seed=seed),
            seed=seed,
            learning_rate=learning_rate,
            schedule=SCHEDULES[schedule],
            steps=STEPS,
        )
        means.append(statistics.mean(losses[-20:]))
    return means


def main() -> None:
    set_num_threads(1)
    print(f"{'stack':24}{'peak':>8}  {'schedule':18}{'last loss, by seed':>22}")
    numbers = []
    for name, stack in STACKS.items():
        for learning_rate in LEARNING_RATES:
            peak = learning_rate * noam_rate(WARMUP, D_MODEL, WARMUP)
            for schedule in SCHEDULES:
                losses = last_losses(stack, learning_rate, schedule)
                numbers.append({"stack": name, "peak": peak, "schedule": schedule, "losses": losses})
                print(f"{name:24}{peak:8.4f}  {schedule:18}" + "".join(f"{loss:8.3f}" for loss in losses), flush=True)
    write_record(
        NAME,
        seeds=SEEDS,
        settings={
            "d_model": D_MODEL,
            "vocabulary": VOCABULARY,
            "length": LENGTH,
            "warmup": WARMUP,
            "steps": STEPS,
            "threads": get_num_threads(),
        },
        numbers=numbers,
    )


if __name__ == "__main__":
    main()
