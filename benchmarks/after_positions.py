"""What came after: chapter 14's Transformer with positions told in other ways, on its three test sets.

Only positions change: no positions at all, rotary ones, ALiBi, T5's bias, each in the self-attention of both stacks. Sentences,
start, batches, steps and rate are those of the record `translation`, whose Transformer with one matrix has the sinusoids.
"""

from functools import partial
from typing import Any

import torch

from benchmarks.records import write_record
from benchmarks.runs import finish
from benchmarks.translation import about
from transformer_lib.teaching import record
from transformer_lib.teaching.experiments.translation import (
    RATES,
    SETS,
    SETTINGS,
    corpus_and_tokenizer,
    make_model,
    measure,
    parameters,
    train_translator,
)
from transformer_lib.teaching.later_models import with_positions
from transformer_lib.translation import Translator

NAME = "after_positions"
# The seeds of each kind. One alone does not say how far seeds differ.
RUNS = {"none": [0], "rotary": [0, 1, 2], "ALiBi": [0], "ALiBi, 8 times as steep": [0, 1], "T5's bias": [0]}
FASTER = {"sinusoids": 0.5, "T5's bias": 0.5}


def broken_off(translator: Translator) -> int:
    """Return how many translations of the longer sentences are right as far as they go, and end too early."""
    corpus, _ = corpus_and_tokenizer()
    sources, references = (list(side) for side in zip(*corpus.longer, strict=True))
    pairs = zip(translator.translate(sources), references, strict=True)
    words = [[text.replace("'", "' ").split() for text in pair] for pair in pairs]
    return sum(wrote == right[: len(wrote)] and wrote != right for wrote, right in words)


def one_run(kind: str, seed: int, rate: float = RATES["Transformer"]) -> dict[str, Any]:
    """Train chapter 14's Transformer with the positions `kind` from one seed, and measure it on each of the test sets."""
    corpus, _ = corpus_and_tokenizer()
    torch.manual_seed(seed)
    model = make_model("Transformer", SETTINGS["vocabulary"])
    if kind != "sinusoids":
        with_positions(model, kind)
    translator, _ = train_translator(model, rate=rate, seed=seed)
    scores = {which: measure(translator, getattr(corpus, which)) for which in SETS}
    return {"parameters": parameters(model), **scores, "broken_off": broken_off(translator)}


def main() -> None:
    jobs = {f"{kind}, seed {seed}": partial(one_run, kind, seed) for kind, seeds in RUNS.items() for seed in seeds}
    jobs |= {f"{kind}, rate {rate}, seed 0": partial(one_run, kind, 0, rate) for kind, rate in FASTER.items()}
    runs = finish(NAME, jobs, about() + repr(RATES))
    translation = record("translation")
    numbers = {"sinusoids": translation["numbers"]["one matrix"]["Transformer"]}
    numbers |= {kind: [runs[f"{kind}, seed {seed}"] for seed in seeds] for kind, seeds in RUNS.items()}
    numbers |= {f"{kind}, rate {rate}": [runs[f"{kind}, rate {rate}, seed 0"]] for kind, rate in FASTER.items()}
    for kind, rows in numbers.items():
        print(f"{kind:24}" + "   ".join("".join(f"{row[which]['exact_match']:7.3f}" for row in rows) for which in SETS))
    settings = {**SETTINGS, "rate": RATES["Transformer"], "threads": 1}
    write_record(NAME, seeds=translation["seeds"], settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
