"""The bug museum's curves: a small Transformer learns to copy, once as it is and once with each bug, with three seeds."""

import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict

import torch

from benchmarks.records import write_record
from transformer_lib.teaching.bugs import BUGS, inject_bug
from transformer_lib.teaching.experiments.bug_museum import (
    CONFIG,
    EVERY,
    SENTENCES,
    SMOOTHING,
    STEPS,
    WARMUP,
    copied,
    guessed,
    learn_to_copy,
    with_cache,
)

NAME = "bug_museum"
SEEDS = [0, 1, 2]
TOGETHER = 10  # so many steps make one point of a curve


def run(name: str, seed: int) -> dict[str, object]:
    """Train with the bug `name` switched on, or with none, and measure what came out."""
    torch.set_num_threads(1)
    bugs = {bug.name: bug for bug in BUGS}
    with inject_bug(bugs[name]) if name in bugs else nullcontext():
        model, history = learn_to_copy(seed)
        return {
            "bug": name,
            "seed": seed,
            "first_loss": round(history.losses[0], 4),
            "losses": [round(x, 4) for x in torch.tensor(history.losses).view(-1, TOGETHER).mean(dim=1).tolist()],
            "validation_losses": {str(step): round(x, 4) for step, x in history.validation_losses.items()},
            "guessed": round(guessed(model, seed), 4),
            "copied": round(copied(model, seed), 4),
            "copied_with_cache": round(copied(with_cache(model), seed), 4),
        }


def main() -> None:
    runs = [(name, seed) for name in ("none", *(bug.name for bug in BUGS)) for seed in SEEDS]
    numbers = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(run, *zip(*runs)):
            print(
                f"{found['bug']:15} seed {found['seed']}  last losses {found['losses'][-1]:.2f}  "
                f"guessed {found['guessed']:4.0%}  copied {found['copied']:4.0%}, "
                f"with a cache {found['copied_with_cache']:4.0%}",
                flush=True,
            )
            numbers.append(found)
    settings = {
        "task": "copy",
        "steps": STEPS,
        "warmup": WARMUP,
        "sentences": SENTENCES,
        "smoothing": SMOOTHING,
        "measured_every": EVERY,
        "steps_together": TOGETHER,
        "config": asdict(CONFIG),
        "threads": 1,
    }
    write_record(NAME, seeds=SEEDS, settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
