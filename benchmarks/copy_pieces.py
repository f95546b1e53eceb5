"""What a small Transformer writes on the copy task when one of its pieces is taken out."""

import statistics
from functools import partial

from benchmarks.records import write_record
from benchmarks.runs import finish
from transformer_lib.teaching.experiments.sequence_tasks import VOCABULARY, exact_match, train_on_task
from transformer_lib.teaching.experiments.transformer import PIECES, TRAINING, without

NAME = "copy_pieces"
SEEDS = [0, 1, 2]
SENTENCES = 1000
EACH = 50  # steps that are averaged to one loss
MODELS = {"whole": None} | {f"without: {piece}": piece for piece in PIECES}


def measure(name: str, seed: int) -> dict:
    """Train a model and return its first loss, the mean loss of each 50 steps, and its exact match at each length."""
    model = without(MODELS[name], seed)
    losses = train_on_task(model, task="copy", seed=seed, **TRAINING)
    means = [statistics.mean(losses[start : start + EACH]) for start in range(0, len(losses), EACH)]
    lengths = range(1, TRAINING["longest"] + 1)
    matches = [exact_match(model, task="copy", length=length, count=SENTENCES, seed=1000 + seed) for length in lengths]
    return {
        "seed": seed,
        "first_loss": round(losses[0], 4),
        "losses": [round(mean, 5) for mean in means],
        "exact_match": [round(match, 3) for match in matches],
    }


def main() -> None:
    settings = {
        "training": TRAINING,
        "batch": 64,
        "sentences_per_length": SENTENCES,
        "steps_in_a_mean": EACH,
        "words": VOCABULARY,
    }
    runs = finish(
        NAME, {f"{name}, seed {seed}": partial(measure, name, seed) for name in MODELS for seed in SEEDS}, repr(settings)
    )
    numbers = {name: [runs[f"{name}, seed {seed}"] for seed in SEEDS] for name in MODELS}
    for name, of_seeds in numbers.items():
        print(f"{name:32} exact match of {TRAINING['longest']} symbols:", *(run["exact_match"][-1] for run in of_seeds))
    write_record(NAME, seeds=SEEDS, settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
