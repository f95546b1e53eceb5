"""Chapter 14: a GRU, a GRU with attention and a Transformer on equal terms, three seeds each, on three test sets.

All have the same sentences, tokens, batches, steps, dropout, and parameters within 10 %. Twice: with one matrix for source
words, target words and output, as the paper has it, and with three. Before, each kind's rate is chosen among the same five
values, with one seed and one matrix, by the loss on the held-out set. The Transformer of seed 0 with one matrix becomes the
translator that comes with the library.
"""

from functools import partial
from pathlib import Path
from typing import Any

import torch

import transformer_lib
from benchmarks.records import write_made_with, write_record
from benchmarks.runs import finish
from transformer_lib.teaching.experiments.translation import (
    KINDS,
    RATES,
    RATES_TRIED,
    SETS,
    SETTINGS,
    corpus_and_tokenizer,
    make_model,
    measure,
    parameters,
    train_translator,
)
from transformer_lib.translation import Translator

NAME = "translation"
SEEDS = [0, 1, 2]
MATRICES = {"one matrix": True, "three matrices": False}
PRETRAINED = Path(transformer_lib.__file__).parent / "pretrained"


def about() -> str:
    """Return what every run of this chapter depends on."""
    corpus, tokenizer = corpus_and_tokenizer()
    return repr((SETTINGS, corpus)) + tokenizer.backend.to_str()


def keep(translator: Translator, held_out: tuple[tuple[str, str], ...], seed: int, rate: float) -> None:
    """Write the library's translator, and beside it how it was made and what it can do."""
    PRETRAINED.mkdir(exist_ok=True)
    path = PRETRAINED / "translator.pt"
    translator.save(path)
    scores = measure(Translator.load(path), held_out)
    write_made_with(
        path,
        NAME,
        seed=seed,
        settings={**SETTINGS, "rate": rate},
        parameters=parameters(translator.model),
        held_out={name: scores[name] for name in ("bleu", "signature", "exact_match")},
    )


def trained(seed: int, **changes: Any) -> Translator:
    """Return the chapter's Transformer, trained from one seed with `changes` of the training."""
    torch.manual_seed(seed)
    return train_translator(make_model("Transformer", SETTINGS["vocabulary"]), seed=seed, **changes)[0]


def one_run(kind: str, shared: bool, seed: int, rate: float, keep_it: bool = False) -> dict[str, Any]:
    """Train one model from one seed, and measure it on each of the test sets."""
    corpus, _ = corpus_and_tokenizer()
    torch.manual_seed(seed)
    model = make_model(kind, SETTINGS["vocabulary"], shared)
    translator, history = train_translator(model, rate=rate, seed=seed)
    if keep_it:
        keep(translator, corpus.held_out, seed, rate)
    return {
        "parameters": parameters(model),
        "losses": [round(sum(history.losses[i : i + 25]) / 25, 4) for i in range(0, len(history.losses) - 24, 25)],
        **{which: measure(translator, getattr(corpus, which)) for which in SETS},
    }


def main() -> None:
    trials = {f"{kind}, rate {rate}": partial(one_run, kind, True, SEEDS[0], rate) for kind in KINDS for rate in RATES_TRIED}
    tried = finish(f"{NAME}-rates", trials, about())
    losses = {kind: {rate: tried[f"{kind}, rate {rate}"]["held_out"]["loss"] for rate in RATES_TRIED} for kind in KINDS}
    rates = {kind: min(losses[kind], key=losses[kind].get) for kind in KINDS}
    print("loss on the held-out set by rate:", losses)
    if rates != RATES:
        raise SystemExit(f"write these rates into teaching/experiments/translation.py, and start again: {rates}")

    jobs = {
        f"{kind}, {matrices}, seed {seed}": partial(one_run, kind, shared, seed, rates[kind])
        for matrices, shared in MATRICES.items()
        for kind in KINDS
        for seed in SEEDS
    }
    kept = f"Transformer, one matrix, seed {SEEDS[0]}"
    jobs[kept] = partial(jobs[kept], keep_it=True)
    runs = finish(NAME, jobs, about() + repr(rates))
    print(f"{'run':44}{'parameters':>12}   BLEU, exact match: " + ", ".join(SETS))
    for key, run in runs.items():
        scores = "".join(f"{run[which]['bleu']:8.1f}{run[which]['exact_match']:7.3f}" for which in SETS)
        print(f"{key:44}{run['parameters']:12,}{scores}")
    numbers = {
        "held-out loss by rate": losses,
        **{
            matrices: {kind: [runs[f"{kind}, {matrices}, seed {seed}"] for seed in SEEDS] for kind in KINDS}
            for matrices in MATRICES
        },
    }
    write_record(NAME, seeds=SEEDS, settings={**SETTINGS, "rates": rates, "threads": 1}, numbers=numbers)


if __name__ == "__main__":
    main()
