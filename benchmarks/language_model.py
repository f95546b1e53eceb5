"""Five differences between a decoder-only model of 2018 and one of today, one added to the other, on English captions.

    python -m benchmarks.language_model [FOLDER]

FOLDER is that of `benchmarks.multi30k`. All models read the same windows of the same text in the same order; each is trained
with two rates, and the best of them, by the validation loss of seed 0, with two more seeds.
"""

from pathlib import Path

import torch
from torch.nn import functional as F

from benchmarks.multi30k import captions
from benchmarks.records import write_record
from transformer_lib.data import read_pairs
from transformer_lib.language_model import LanguageModelConfig
from transformer_lib.progress import progress
from transformer_lib.seq2seq import EOS_ID
from transformer_lib.teaching.experiments.language_model import DIFFERENCES, changed
from transformer_lib.translation import BytePairTokenizer

NAME = "language_model"
SEEDS, RATES = (0, 1, 2), (0.001, 0.003)
VOCABULARY, WINDOW, BATCH, STEPS, WARMUP = 2000, 64, 16, 500, 50
SIZES = {"d_model": 128, "num_layers": 4, "num_heads": 8, "num_kv_heads": 2, "d_ff": 344, "base": 10_000.0}


def texts(folder: Path) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Return the ids of the training and of the validation captions, each a single text, and the size of the vocabulary."""
    train, val = ([text for text, _ in read_pairs(folder, name, "en", "fr").pairs] for name in ("train", "val"))
    tokenizer = BytePairTokenizer.train(train, VOCABULARY)
    train, val = (torch.tensor([i for text in some for i in [*tokenizer.encode(text), EOS_ID]]) for some in (train, val))
    return train, val, len(tokenizer)


def loss_of(model: torch.nn.Module, windows: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())


def run(train: torch.Tensor, val: torch.Tensor, words: int, count: int, rate: float, seed: int) -> dict:
    """Return the validation loss of one model after each quarter of its training."""
    torch.manual_seed(seed)
    model = changed(count, LanguageModelConfig(vocab_size=words, **SIZES))
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.98))
    falls = lambda done: min((done + 1) / WARMUP, (STEPS - done) / (STEPS - WARMUP))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, falls)
    generator = torch.Generator().manual_seed(seed)
    held_out = val[: len(val) // (WINDOW + 1) * (WINDOW + 1)].view(-1, WINDOW + 1)
    curve = []
    for step in range(1, STEPS + 1):
        start = torch.randint(len(train) - WINDOW, (BATCH, 1), generator=generator)
        optimizer.zero_grad()
        loss_of(model, train[start + torch.arange(WINDOW + 1)]).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % (STEPS // 4) == 0:
            with torch.no_grad():
                curve.append(
                    round(sum(loss_of(model, part).item() * len(part) for part in held_out.split(64)) / len(held_out), 4)
                )
    return {"rate": rate, "seed": seed, "losses": curve, "parameters": sum(p.numel() for p in model.parameters())}


def main() -> None:
    torch.set_num_threads(1)
    folder, content = captions(__doc__)
    train, val, words = texts(folder)
    numbers = {}
    for count in progress(range(len(DIFFERENCES) + 1), description="differences"):
        tries = [run(train, val, words, count, rate, SEEDS[0]) for rate in RATES]
        best = min(tries, key=lambda one: one["losses"][-1])
        more = [run(train, val, words, count, best["rate"], seed) for seed in SEEDS[1:]]
        name = DIFFERENCES[count - 1] if count else "2018"
        numbers[name] = {"tries": tries, "runs": [best, *more]}
        print(name, best["parameters"], [one["losses"][-1] for one in (*tries, *more)], flush=True)
    settings = {
        **SIZES,
        "vocabulary": words,
        "window": WINDOW,
        "batch": BATCH,
        "steps": STEPS,
        "train": len(train),
        "texts": content,
    }
    write_record(NAME, seeds=list(SEEDS), settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
