"""Chapter 15: where the gender of an adjective stands in the memory, in three trainings of the translator."""

from functools import partial
from typing import Any

import torch

from benchmarks.records import write_record
from benchmarks.runs import finish
from benchmarks.translation import SEEDS, about
from transformer_lib.teaching.experiments.interpretation import PLACES, counts
from transformer_lib.teaching.experiments.translation import (
    RATES,
    SETTINGS,
    corpus_and_tokenizer,
    make_model,
    train_translator,
)

NAME = "interpretation_seeds"


def one_run(seed: int) -> dict[str, Any]:
    """Train as chapter 14 does, and count whose gender is written after each exchange."""
    corpus, tokenizer = corpus_and_tokenizer()
    torch.manual_seed(seed)
    model = make_model("Transformer", len(tokenizer))
    translator, _ = train_translator(model, corpus, tokenizer, rate=RATES["Transformer"], seed=seed)
    return counts(translator)


def main() -> None:
    jobs = {f"seed {seed}": partial(one_run, seed) for seed in SEEDS}
    runs = finish(NAME, jobs, about() + repr((RATES, list(PLACES))))
    first = runs[f"seed {SEEDS[0]}"]
    numbers = {frame: {name: [run[frame][name] for run in runs.values()] for name in first[frame]} for frame in first}
    for frame, rows in numbers.items():
        for name, found in rows.items():
            print(f"{frame:18}{name:24}" + "".join(f"{one['other']:6}" for one in found))
    write_record(NAME, seeds=SEEDS, settings={**SETTINGS, "rate": RATES["Transformer"], "threads": 1}, numbers=numbers)


if __name__ == "__main__":
    main()
