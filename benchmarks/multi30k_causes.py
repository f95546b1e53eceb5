"""A run on real sentences that learns slowly: is it the rate, the warm-up, the order of the batches, post-norm, or the budget?

    python -m benchmarks.multi30k_causes [FOLDER]

FOLDER is that of `benchmarks.multi30k`. Each run changes one thing of the first one, or what its name says; the seeds are the
same. Every half epoch two losses are measured on the validation set: the usual one, and that with another sentence's source.
As long as the two are equal, nothing of the source has arrived in the translation.
"""

from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.multi30k import captions
from benchmarks.records import write_record
from benchmarks.runs import finish
from transformer_lib.data import read_pairs
from transformer_lib.decoding import CachedTransformer
from transformer_lib.encoder import TransformerConfig
from transformer_lib.schedule import NoamSchedule, transformer_optimizer
from transformer_lib.training import Batch, IdPair, evaluate, token_batches, training_step
from transformer_lib.translation import BytePairTokenizer, encode_pairs

NAME = "multi30k_causes"
SEEDS = (0, 1)
FIRST: dict[str, Any] = {
    "rate": 2.0,
    "max_tokens": 1500,
    "by_length": True,
    "pre_norm": False,
    "epochs": 2,
    "warmup": 400,
    "dropout": 0.1,
    "vocabulary": 5000,
}
SIZES = {"num_layers": 4, "d_model": 128, "num_heads": 4, "d_ff": 256}
CHANGES: dict[str, dict[str, Any]] = {
    "the first run": {},
    "a quarter of the rate": {"rate": 0.5},
    "the paper's peak rate": {"rate": 0.158},  # the first run's peak is 12.6 times the paper's, after 400 steps as there
    "the paper's warm-up": {"warmup": 4000},
    "sentences in random order": {"by_length": False},
    "pre-norm": {"pre_norm": True},
    "pre-norm, a quarter of the rate": {"pre_norm": True, "rate": 0.5},
    "batches of a third": {"max_tokens": 500},
    "three times the budget": {"epochs": 6},
    "the paper's schedule, three times the budget": {"rate": 1.0, "warmup": 4000, "epochs": 6},
}


def epoch_of(pairs: list[IdPair], settings: dict[str, Any], epoch: int) -> list[Batch]:
    """Return the batches of one epoch; in random order they are as many as by length, of equally many sentences."""
    batches = token_batches(pairs, settings["max_tokens"], seed=epoch)
    if settings["by_length"]:
        return batches
    order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(epoch))
    return [Batch.from_pairs([pairs[place] for place in part]) for part in order.tensor_split(len(batches))]


def with_other_sources(batch: Batch) -> Batch:
    """Return `batch` with each source moved to the next sentence."""
    return Batch(batch.source.roll(1, dims=0), batch.target_in, batch.target_out)


def one_run(folder: Path, name: str, seed: int) -> list[dict[str, float]]:
    """Train with one change; return what was measured: sentences seen, steps, both losses."""
    settings = FIRST | CHANGES[name]
    train, val = (read_pairs(folder, part, "en", "fr").pairs for part in ("train", "val"))
    tokenizer = BytePairTokenizer.train([pair[side] for side in (0, 1) for pair in train], settings["vocabulary"])
    pairs = encode_pairs(tokenizer, train)
    right = token_batches(encode_pairs(tokenizer, val), 4000)
    wrong = [with_other_sources(batch) for batch in right]
    torch.manual_seed(seed)
    words = len(tokenizer)
    kept = {key: settings[key] for key in ("pre_norm", "dropout")}
    config = TransformerConfig(source_vocab_size=words, target_vocab_size=words, shared_vocabulary=True, **SIZES, **kept)
    model = CachedTransformer(config).train()
    optimizer = transformer_optimizer(model, settings["rate"])
    schedule = NoamSchedule(optimizer, config.d_model, settings["warmup"])
    seen, steps, measured = 0, 0, []
    for epoch in range(settings["epochs"]):
        for batch in epoch_of(pairs, settings, epoch):
            half_before = 2 * seen // len(pairs)
            training_step(model, batch, optimizer, max_grad_norm=1.0)
            schedule.step()
            seen, steps = seen + len(batch.source), steps + 1
            if 2 * seen // len(pairs) > half_before:
                losses = {"loss": evaluate(model, right), "loss of other sources": evaluate(model, wrong)}
                measured.append({"sentences": seen, "steps": steps} | {key: round(loss, 4) for key, loss in losses.items()})
    return measured


def main() -> None:
    folder, texts = captions(__doc__)
    about = repr((FIRST, CHANGES, SIZES, texts))
    jobs = {f"{name}, seed {seed}": partial(one_run, folder, name, seed) for seed in SEEDS for name in CHANGES}
    runs = finish(NAME, jobs, about)
    numbers = {name: [runs[f"{name}, seed {seed}"] for seed in SEEDS] for name in CHANGES}
    for name, of_seeds in numbers.items():
        for last in (measured[-1] for measured in of_seeds):
            print(
                f"{name:46} {last['steps']:5} steps {last['loss']:.2f} nats, other sources {last['loss of other sources']:.2f}"
            )
    write_record(NAME, seeds=SEEDS, settings={"first": FIRST, "changes": CHANGES, **SIZES, "threads": 1}, numbers=numbers)


if __name__ == "__main__":
    main()
