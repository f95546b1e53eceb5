"""Chapter 14's Transformer with one thing changed at a time, and the stored translator with a wider search.

One seed for each variant, that of the stored translator: a first look, and no measurement of the spread. Each finished run
is kept in a temporary file, so that a run that was stopped goes on where it was.
"""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from benchmarks.records import write_record
from benchmarks.translation import fingerprint, read_finished, write_finished
from transformer_lib.decoding import CachedTransformer
from transformer_lib.teaching.experiments.translation import (
    RATES,
    SETS,
    SETTINGS,
    corpus_and_tokenizer,
    measure,
    train_model,
    transformer_config,
)
from transformer_lib.translation import Translator, corpus_bleu, exact_match, pretrained_translator

NAME = "translation_variants"
SEED = 0
BEAM = 4
FINISHED = Path(tempfile.gettempdir()) / f"transformer-lib-{NAME}.json"


def with_beam() -> dict[str, Any]:
    """Measure the stored translator with a beam in place of greedy decoding."""
    corpus, _ = corpus_and_tokenizer()
    translator, run = pretrained_translator(), {}
    for which in SETS:
        sources, references = (list(side) for side in zip(*getattr(corpus, which), strict=True))
        found = translator.translate(sources, beam=BEAM)
        run[which] = {"bleu": corpus_bleu(found, references).score, "exact_match": exact_match(found, references)}
    return run


def trained(**changes: Any) -> dict[str, Any]:
    """Train a Transformer whose configuration has these changes, and measure it on each of the test sets."""
    corpus, tokenizer = corpus_and_tokenizer()
    torch.manual_seed(SEED)
    model = CachedTransformer(replace(transformer_config(len(tokenizer)), **changes))
    train_model(model, corpus, tokenizer, rate=RATES["Transformer"], seed=SEED)
    translator, run = Translator(model, tokenizer), {}
    for which in SETS:
        scores = measure(translator, getattr(corpus, which))
        run[which] = {name: scores[name] for name in ("bleu", "exact_match")}
    return run


VARIANTS: dict[str, Callable[[], dict[str, Any]]] = {
    f"beam of {BEAM}": with_beam,
    "no dropout": lambda: trained(dropout=0.0),
}


def main() -> None:
    torch.set_num_threads(1)  # so that the same numbers come out wherever this runs
    settings = fingerprint()
    runs = read_finished(FINISHED, settings)
    for name, run in VARIANTS.items():
        if name not in runs:
            runs[name] = run()
            write_finished(FINISHED, settings, runs)
        scores = "".join(f"{runs[name][which]['bleu']:8.1f}{runs[name][which]['exact_match']:7.3f}" for which in SETS)
        print(f"{name:24}{scores}", flush=True)
    write_record(
        NAME,
        seeds=[SEED],
        settings={**SETTINGS, "rate": RATES["Transformer"], "threads": 1},
        numbers={name: runs[name] for name in VARIANTS},
    )
    FINISHED.unlink()


if __name__ == "__main__":
    main()
