"""What a small Transformer writes on the copy task when one of its pieces is taken out, and when it starts otherwise."""

import statistics

import torch

from benchmarks.records import write_record
from transformer_lib.teaching.experiments.sequence_tasks import VOCABULARY, exact_match, train_on_task
from transformer_lib.teaching.experiments.transformer import PIECES, TRAINING, glued, without

NAME = "copy_pieces"
SEEDS = [0, 1, 2]
SENTENCES = 1000
EACH = 50  # steps that are averaged to one loss


MODELS = {
    "whole": lambda seed: without(None, seed),
    **{f"without: {piece}": lambda seed, piece=piece: without(piece, seed) for piece in PIECES},
    "glued": glued,
}


def measure(name: str, seed: int) -> dict:
    """Train a model and return its first loss, the mean loss of each 50 steps, and its exact match at each length."""
    model = MODELS[name](seed)
    losses = train_on_task(model, task="copy", seed=seed, **TRAINING)
    means = [statistics.mean(losses[start : start + EACH]) for start in range(0, len(losses), EACH)]
    lengths = range(1, TRAINING["longest"] + 1)
    matches = [exact_match(model, task="copy", length=length, count=SENTENCES, seed=1000 + seed) for length in lengths]
    print(f"{name:28}{seed:3}  {losses[0]:7.2f}{means[1]:9.4f}{means[-1]:9.4f}  ", *(f"{m:.3f}" for m in matches), flush=True)
    return {
        "seed": seed,
        "first_loss": round(losses[0], 4),
        "losses": [round(mean, 5) for mean in means],
        "exact_match": [round(match, 3) for match in matches],
    }


def save(numbers: dict[str, list[dict]]) -> None:
    settings = {"training": TRAINING, "batch": 64, "sentences_per_length": SENTENCES, "steps_in_a_mean": EACH}
    write_record(NAME, seeds=SEEDS, settings={**settings, "words": VOCABULARY}, numbers=numbers)


def main() -> None:
    torch.set_num_threads(1)  # models this small gain nothing from a second one
    print(f"{'':28}seed  first, after 100 steps, last; exact match of lengths 1 to {TRAINING['longest']}")
    save({name: [measure(name, seed) for seed in SEEDS] for name in MODELS})


if __name__ == "__main__":
    main()
