"""Chapter 14's Transformer with one thing changed at a time, three seeds each, on three test sets.

How it writes (greedy, beam of 4 with and without length penalty), which weights write (the last, the mean of the last
checkpoints), and how it was trained (label smoothing, warm-up).
"""

import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.records import write_record
from benchmarks.runs import finish
from benchmarks.translation import SEEDS, about, trained
from transformer_lib.teaching.experiments.translation import (
    RATES,
    SETS,
    SETTINGS,
    corpus_and_tokenizer,
    make_model,
    measure,
    train_translator,
)
from transformer_lib.training import Checkpoint, average_checkpoints
from transformer_lib.translation import Translator

NAME = "translation_changes"
AVERAGED, EVERY = (3, 5, 10), 50
TRAINED = {"no label smoothing": {"smoothing": 0.0}, "no warm-up": {"warmup": False}}
SEARCHES = {
    "beam of 4, α = 0": {"beam": 4, "alpha": 0.0},
    "beam of 4, α = 0.6": {"beam": 4, "alpha": 0.6},
}


def scores(translator: Translator, **search: Any) -> dict[str, Any]:
    """Return what is measured on each of the test sets."""
    corpus, _ = corpus_and_tokenizer()
    measured = {which: measure(translator, getattr(corpus, which), **search) for which in SETS}
    return {which: {name: of[name] for name in ("bleu", "exact_match", "loss")} for which, of in measured.items()}


def base(seed: int) -> dict[str, Any]:
    """Train as the chapter does; return the scores of each search, and of averages of the last checkpoints."""
    torch.manual_seed(seed)
    model, steps, kept = make_model("Transformer", SETTINGS["vocabulary"]), SETTINGS["steps"], []
    with tempfile.TemporaryDirectory() as folder:
        running = Path(folder) / "running.pt"
        for stop in range(steps - (max(AVERAGED) - 1) * EVERY, steps + 1, EVERY):
            checkpoint = Checkpoint(running, every=steps, resume=True)
            translator, _ = train_translator(model, seed=seed, steps=stop, checkpoint=checkpoint)
            kept.append(shutil.copy(running, Path(folder) / f"{stop}.pt"))
        rows = {"base: greedy, last weights": scores(translator)}
        rows |= {name: scores(translator, **search) for name, search in SEARCHES.items()}
        for count in AVERAGED:
            average_checkpoints(kept[-count:], model)
            rows[f"mean of the last {count} checkpoints"] = scores(translator)
    return rows


def changed(name: str, seed: int) -> dict[str, Any]:
    """Train with the change `name` of `TRAINED`, and return the scores."""
    return {name: scores(trained(seed, **TRAINED[name]))}


def main() -> None:
    jobs = {f"base, seed {seed}": partial(base, seed) for seed in SEEDS}
    jobs |= {f"{name}, seed {seed}": partial(changed, name, seed) for name in TRAINED for seed in SEEDS}
    runs = finish(NAME, jobs, about() + repr((RATES, AVERAGED, EVERY, TRAINED, SEARCHES)))
    numbers: dict[str, list] = {}
    for rows in runs.values():
        for name, row in rows.items():
            numbers.setdefault(name, []).append(row)
    for name, rows in numbers.items():
        print(f"{name:36}" + "".join(f"{row['longer']['exact_match']:8.3f}" for row in rows))
    settings = {**SETTINGS, "rate": RATES["Transformer"], "checkpoint_every": EVERY, "threads": 1}
    write_record(NAME, seeds=SEEDS, settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
