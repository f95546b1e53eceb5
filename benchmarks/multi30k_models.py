"""Chapter 14's three models on real sentences: Multi30k, the same tokens and budget, one seed.

    python -m benchmarks.multi30k_models [FOLDER]

FOLDER is that of `benchmarks.multi30k`. Each model has chapter 14's settings, and its own rate there; only words and sentences
are others. Measured on the validation set: all of it, and its sentences by length.
"""

import time
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.multi30k import captions
from benchmarks.records import write_record
from benchmarks.runs import finish
from transformer_lib._runs import read_pairs
from transformer_lib.teaching.experiments.translation import (
    KINDS,
    RATES,
    SETTINGS,
    make_model,
    measure,
    parameters,
    train_translator,
)
from transformer_lib.translation import BytePairTokenizer, ParallelCorpus, Translator

NAME = "multi30k_models"
SEED = 0
VOCABULARY = 5000
STEPS = 1500
MOST = 60  # tokens of a sentence: chapter 14's models have positions for 64
LENGTHS = {"up to 10 words": (1, 10), "11 to 14": (11, 14), "15 and more": (15, 100)}


def corpus_and_tokenizer(folder: Path) -> tuple[ParallelCorpus, BytePairTokenizer]:
    """Return the training and the validation sentences, but for very long ones, and a tokenizer trained on the first."""
    train, val = (read_pairs(folder, name, "en", "fr").pairs for name in ("train", "val"))
    tokenizer = BytePairTokenizer.train([text for pair in train for text in pair], VOCABULARY)
    fits = lambda pair: max(len(tokenizer.encode(text)) for text in pair) < MOST
    known = {source for source, _ in train}
    new = tuple(pair for pair in val if fits(pair) and pair[0] not in known)
    return ParallelCorpus(tuple(filter(fits, train)), new), tokenizer


def one_run(folder: Path, kind: str) -> dict[str, Any]:
    """Train one model, and measure it."""
    corpus, tokenizer = corpus_and_tokenizer(folder)
    torch.manual_seed(SEED)
    model = make_model(kind, len(tokenizer))
    start = time.process_time()
    translator, history = train_translator(model, corpus, tokenizer, rate=RATES[kind], seed=SEED, steps=STEPS)
    seconds = time.process_time() - start
    return {
        "parameters": parameters(model),
        "processor_seconds": seconds,
        "losses": [round(sum(history.losses[i : i + 25]) / 25, 4) for i in range(0, len(history.losses) - 24, 25)],
        "all": scores(translator, corpus.held_out),
        "by length": {
            name: scores(translator, tuple(pair for pair in corpus.held_out if least <= len(pair[0].split()) <= most))
            for name, (least, most) in LENGTHS.items()
        },
    }


def scores(translator: Translator, pairs: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    found = measure(translator, pairs)
    return {"sentences": len(pairs), **{name: found[name] for name in ("bleu", "signature", "loss")}}


def main() -> None:
    folder, texts = captions(__doc__)
    runs = finish(NAME, {kind: partial(one_run, folder, kind) for kind in KINDS}, repr((SETTINGS, STEPS, VOCABULARY, texts)))
    print("| model | parameters | BLEU | " + " | ".join(LENGTHS) + " |\n|---|---|---|" + "---|" * len(LENGTHS))
    for kind, run in runs.items():
        by_length = " | ".join(f"{run['by length'][name]['bleu']:.1f}" for name in LENGTHS)
        print(f"| {kind} | {run['parameters']:,} | {run['all']['bleu']:.1f} | {by_length} |")
    used = {name: value for name, value in SETTINGS.items() if name not in ("training_pairs", "test_pairs", "corpus_seed")}
    settings = {**used, "rates": RATES, "vocabulary": VOCABULARY, "steps": STEPS, "longest": MOST, "threads": 1}
    write_record(NAME, seeds=[SEED], settings=settings, numbers=runs)


if __name__ == "__main__":
    main()
