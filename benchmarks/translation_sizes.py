"""Chapter 14's small table 3: the paper's variations of the Transformer, each at our size, three seeds each.

All runs have half of the chapter's steps: there the loss still falls, so that a variation can show, and the table takes half
of the time. The base of this table has as many.
"""

from functools import partial
from typing import Any

import torch

from benchmarks.records import write_record
from benchmarks.runs import finish
from benchmarks.translation import SEEDS, about
from benchmarks.translation_changes import scores
from transformer_lib.decoding import CachedTransformer
from transformer_lib.teaching.experiments.translation import (
    RATES,
    SETTINGS,
    narrow_keys,
    parameters,
    train_translator,
    transformer_config,
)

NAME = "translation_sizes"
STEPS = 500
CHANGES: dict[str, dict[str, Any]] = {
    "base": {},
    "h = 1": {"num_heads": 1},
    "h = 2": {"num_heads": 2},
    "h = 8": {"num_heads": 8},
    "d_k = 12": {"d_k": 12},
    "d_k = 6": {"d_k": 6},
    "N = 1": {"num_layers": 1},
    "N = 4": {"num_layers": 4},
    "d_model = 48": {"d_model": 48},
    "d_model = 192": {"d_model": 192},
    "d_ff = 128": {"d_ff": 128},
    "d_ff = 512": {"d_ff": 512},
    "dropout 0": {"dropout": 0.0},
    "dropout 0.3": {"dropout": 0.3},
    "learned positions": {"positions": "learned"},
    "pre-norm": {"pre_norm": True},
}


def one_run(name: str, seed: int) -> dict[str, Any]:
    """Train the variant `name` from one seed; return its size and its scores on each of the test sets."""
    changes = dict(CHANGES[name])
    d_k = changes.pop("d_k", None)
    torch.manual_seed(seed)
    model = CachedTransformer(transformer_config(SETTINGS["vocabulary"], **changes))
    if d_k is not None:
        narrow_keys(model, d_k)
    translator, _ = train_translator(model, seed=seed, steps=STEPS)
    return {"parameters": parameters(model), **scores(translator)}


def main() -> None:
    jobs = {f"{name}, seed {seed}": partial(one_run, name, seed) for seed in SEEDS for name in CHANGES}
    runs = finish(NAME, jobs, about() + repr((RATES, STEPS, CHANGES)))
    numbers = {name: [runs[f"{name}, seed {seed}"] for seed in SEEDS] for name in CHANGES}
    for name, rows in numbers.items():
        losses = "".join(f"{row['held_out']['loss']:8.4f}" for row in rows)
        longer = "".join(f"{row['longer']['exact_match']:8.3f}" for row in rows)
        print(f"{name:20}{rows[0]['parameters']:10,}{losses}{longer}")
    settings = {**SETTINGS, "steps": STEPS, "rate": RATES["Transformer"], "threads": 1}
    write_record(NAME, seeds=SEEDS, settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
