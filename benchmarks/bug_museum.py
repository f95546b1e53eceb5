"""The bug museum's curves: a small Transformer learns to copy, once as it is and once with each bug, with three seeds."""

import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict

import torch

from benchmarks.records import write_record
from transformer_lib.teaching.bugs import inject_bug
from transformer_lib.teaching.experiments import bug_museum as museum

NAME = "bug_museum"
SEEDS = [0, 1, 2]
TOGETHER = 10  # so many steps make one point of a curve


def run(name: str, seed: int) -> dict[str, object]:
    """Train with the bug `name` switched on, or with none, and measure what came out."""
    torch.set_num_threads(1)
    with inject_bug(museum.BUG[name]) if name in museum.BUG else nullcontext():
        model, history = museum.learn_to_copy(seed)
        return {
            "bug": name,
            "seed": seed,
            "losses": [round(x, 4) for x in torch.tensor(history.losses).view(-1, TOGETHER).mean(dim=1).tolist()],
            "validation_losses": {str(step): round(x, 4) for step, x in history.validation_losses.items()},
            "guessed": round(museum.guessed(model, seed), 4),
            "copied": round(museum.copied(model, seed), 4),
        }


def main() -> None:
    runs = [(name, seed) for name in ("none", *museum.BUG) for seed in SEEDS]
    numbers = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(run, *zip(*runs)):
            print(*(found[key] for key in ("bug", "seed", "guessed", "copied")), flush=True)
            numbers.append(found)
    settings = {
        "task": "copy",
        "steps": museum.STEPS,
        "warmup": museum.WARMUP,
        "sentences": museum.SENTENCES,
        "smoothing": museum.SMOOTHING,
        "measured_every": museum.EVERY,
        "steps_together": TOGETHER,
        "config": asdict(museum.CONFIG),
        "threads": 1,
    }
    write_record(NAME, seeds=SEEDS, settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
