"""Chapter 14's models on real sentences, fairly: each tuned by the same number of tries, at equal tokens and at equal time.

    python -m benchmarks.multi30k_models [FOLDER]

FOLDER is that of `benchmarks.multi30k`. First each model tries rates, then warm-ups at the best rate, then dropouts at the best
of both; the lowest validation loss decides. Then it is trained with its choice from three seeds, and measured on the
validation set whenever it has seen so many target tokens, and whenever it has used so much of the processor.
"""

import time
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import torch
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from torch import nn

from benchmarks.multi30k import captions, cased_and_lower
from benchmarks.records import write_record
from benchmarks.runs import finish
from transformer_lib.data import TextPairs, read_pairs
from transformer_lib.decoding import CachedTransformer
from transformer_lib.schedule import NoamSchedule, transformer_optimizer
from transformer_lib.teaching.experiments.translation import KINDS, SETTINGS, make_model, parameters, transformer_config
from transformer_lib.training import evaluate, token_batches, training_step
from transformer_lib.translation import BytePairTokenizer, Translator, encode_pairs

NAME = "multi30k_models"
SEEDS = (0, 1, 2)
PRE_NORM = "Transformer, pre-norm"
MODELS = (*KINDS, PRE_NORM)
VOCABULARY = 5000
MAX_TOKENS = 800
MOST = 60  # tokens of a sentence: chapter 14's models have positions for 64
# What is tried, one kind after the other; the first warm-up and dropout are those of the tries before.
RATES = (0.25, 0.5, 1.0, 2.0)
WARMUPS = (400, 100, 800)
DROPOUTS = (0.1, 0.0, 0.2)
TRY = 500_000  # target tokens of a try
BUDGETS = {"tokens": (300_000, 600_000, 1_200_000, 1_800_000), "seconds": (60, 120, 240)}  # seconds of one core
LENGTHS = {"up to 10 words": (1, 10), "11 to 14": (11, 14), "15 and more": (15, 100)}

Choice = tuple[float, int, float]  # factor of the rate, steps of warm-up, dropout


def corpus_and_tokenizer(folder: Path) -> tuple[TextPairs, TextPairs, BytePairTokenizer]:
    """Return the training and the validation sentences, but for very long ones, and a tokenizer trained on the first."""
    train, val = (read_pairs(folder, name, "en", "fr").pairs for name in ("train", "val"))
    tokenizer = BytePairTokenizer.train([text for pair in train for text in pair], VOCABULARY)
    fits = lambda pair: max(len(tokenizer.encode(text)) for text in pair) < MOST
    known = {source for source, _ in train}
    new = tuple(pair for pair in val if fits(pair) and pair[0] not in known)
    return tuple(filter(fits, train)), new, tokenizer


def untrained(name: str, words: int, dropout: float) -> nn.Module:
    if name == PRE_NORM:
        return CachedTransformer(transformer_config(words, dropout=dropout, pre_norm=True))
    return make_model(name, words, dropout=dropout)


def one_run(folder: Path, name: str, choice: Choice, seed: int, budgets: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    """Train one model until it has used up all budgets; return what it was when it had used up each of them."""
    rate, warmup, dropout = choice
    train, new, tokenizer = corpus_and_tokenizer(folder)
    pairs = encode_pairs(tokenizer, train)
    held_out = token_batches(encode_pairs(tokenizer, new), 4000)
    torch.manual_seed(seed)
    model = untrained(name, len(tokenizer), dropout).train()
    optimizer = transformer_optimizer(model, rate)
    schedule = NoamSchedule(optimizer, SETTINGS["d_model"], warmup)
    used = {"tokens": 0, "seconds": 0.0}
    reached: dict[str, Any] = {}
    all_batches = (batch for epoch in count() for batch in token_batches(pairs, MAX_TOKENS, seed=1000 * seed + epoch))
    while any(used[kind] < max(sizes) for kind, sizes in budgets.items()):
        batch, before, start = next(all_batches), dict(used), time.process_time()
        training_step(model, batch, optimizer, smoothing=SETTINGS["smoothing"], max_grad_norm=SETTINGS["clip"])
        schedule.step()
        used["seconds"] += time.process_time() - start
        used["tokens"] += batch.num_tokens
        full = [f"{one} {kind}" for kind, sizes in budgets.items() for one in sizes if before[kind] < one <= used[kind]]
        if full:
            measured = {"loss": evaluate(model, held_out), **used}
            if len(budgets) > 1:  # no try
                sources = [source for source, _ in new]
                measured["translations"] = Translator(model, tokenizer).translate(sources)
            reached |= dict.fromkeys(full, measured)
    return {"parameters": parameters(model), "reached": reached}


def tune(folder: Path, about: str) -> dict[str, dict[Choice, float]]:
    """Return for each model what it tried, in order, with the validation loss of each try."""
    tried: dict[str, dict[Choice, float]] = {name: {} for name in MODELS}
    for place, values in enumerate((RATES, WARMUPS, DROPOUTS)):
        jobs, wanted = {}, []
        for name, losses in tried.items():
            best = min(losses, key=losses.__getitem__) if losses else (RATES[0], WARMUPS[0], DROPOUTS[0])
            for value in values:
                choice = (*best[:place], value, *best[place + 1 :])
                wanted.append((name, choice))
                jobs[f"{name} {choice}"] = partial(one_run, folder, name, choice, SEEDS[0], {"tokens": (TRY,)})
        runs = finish(NAME, jobs, about)
        for name, choice in wanted:
            tried[name][choice] = runs[f"{name} {choice}"]["reached"][f"{TRY} tokens"]["loss"]
    return tried


def bleu(translations: list[str], references: list[str]) -> dict[str, Any]:
    """Return both scores, and the signature of the one with capitals."""
    both = cased_and_lower(translations, references)
    return {name: one["score"] for name, one in both.items()} | {"signature": both["bleu"]["signature"]}


def scores(measured: dict[str, Any], pairs: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """Return what the record keeps of one measurement: losses and scores in place of translations."""
    numbers = {name: value for name, value in measured.items() if name != "translations"}
    numbers |= bleu(measured["translations"], [target for _, target in pairs])
    numbers["by length"] = {}
    for name, (least, most) in LENGTHS.items():
        inside = [at for at, (source, _) in enumerate(pairs) if least <= len(source.split()) <= most]
        some = bleu([measured["translations"][at] for at in inside], [pairs[at][1] for at in inside])
        numbers["by length"][name] = {"sentences": len(inside), "bleu": some["bleu"]}
    return numbers


def compared(of_models: dict[str, dict[str, Any]], references: list[str], budget: str) -> dict[str, float]:
    """Return sacrebleu's paired bootstrap p-value for each pair of models at `budget`."""
    written = [(name, run["reached"][budget]["translations"]) for name, run in of_models.items()]
    found = {}
    for first in range(len(written) - 1):
        test = PairedTest(written[first:], {"BLEU": BLEU()}, [references], test_type="bs", n_samples=1000)
        _, results = test()
        for (other, _), result in zip(written[first + 1 :], results["BLEU"][1:], strict=True):
            found[f"{written[first][0]} / {other}"] = result.p_value
    return found


def main() -> None:
    folder, texts = captions(__doc__)
    about = repr((SETTINGS, VOCABULARY, MAX_TOKENS, MOST, TRY, BUDGETS, texts))
    tried = tune(folder, about)
    choices = {name: min(losses, key=losses.__getitem__) for name, losses in tried.items()}
    jobs = {
        f"{name}, seed {seed}": partial(one_run, folder, name, choices[name], seed, BUDGETS)
        for seed in SEEDS
        for name in MODELS
    }
    runs = finish(NAME, jobs, about)
    pairs = corpus_and_tokenizer(folder)[1]
    budgets = [f"{one} {kind}" for kind, sizes in BUDGETS.items() for one in sizes]
    numbers: dict[str, Any] = {
        name: {
            "parameters": runs[f"{name}, seed {SEEDS[0]}"]["parameters"],
            "tried": [[*choice, round(loss, 4)] for choice, loss in tried[name].items()],
            "chosen": choices[name],
            "seeds": [
                {budget: scores(runs[f"{name}, seed {seed}"]["reached"][budget], pairs) for budget in budgets} for seed in SEEDS
            ],
        }
        for name in MODELS
    }
    for name in MODELS:
        print(f"{name}: {len(tried[name])} tries, chosen {choices[name]}")
        for budget in budgets:
            print(f"    {budget:16}", *(f"{of_seed[budget]['bleu']:6.1f}" for of_seed in numbers[name]["seeds"]))
    references = [target for _, target in pairs]
    p_values = {
        budget: [compared({name: runs[f"{name}, seed {seed}"] for name in MODELS}, references, budget) for seed in SEEDS]
        for budget in budgets
    }
    kept = ("d_model", "smoothing", "clip")
    settings: dict[str, Any] = {name: SETTINGS[name] for name in kept} | {"vocabulary": VOCABULARY, "max_tokens": MAX_TOKENS}
    settings |= {"longest": MOST, "rates": RATES, "warmups": WARMUPS, "dropouts": DROPOUTS, "tokens of a try": TRY}
    settings |= {"budgets": BUDGETS, "sentences": len(pairs), "threads": 1}
    write_record(NAME, seeds=SEEDS, settings=settings, numbers={"models": numbers, "p values": p_values})


if __name__ == "__main__":
    main()
