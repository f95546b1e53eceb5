"""Train chapter 3's classifier at S2's size, and a bag of words beside it, on real reviews: accuracy after each epoch.

    python -m benchmarks.text_reviews TRAINING VALIDATION [--name NSMC] [--epochs 5] [--limit 30000] [--max-tokens 200]

Both paths go to `read_reviews`: a folder with `pos` and `neg`, or a table with the columns `document` and `label`. With
`--name` the result is written as the record. No reviews come with the course: without paths the record stays as it is.
"""

import argparse
import random
from functools import partial
from typing import Any

import torch

from benchmarks.records import write_record
from benchmarks.runs import finish
from transformer_lib.teaching.experiments.text import BagOfWords, accuracy_by_epoch, encode_reviews
from transformer_lib.text import SentimentClassifier, bucket_batches, read_reviews

NAME = "text_reviews"
SEEDS = (0, 1, 2)
MODELS = {"bag of words": (BagOfWords, 1e-2), "two layers of GRU": (SentimentClassifier, 1e-3)}


def sets_of(given: dict[str, Any]) -> tuple:
    """Return the vocabulary, the training set and the validation set, both as (sequences of ids, labels)."""
    training, validation = read_reviews(given["training"]), read_reviews(given["validation"])
    if given["limit"] and given["limit"] < len(training):
        training = random.Random(0).sample(training, given["limit"])
    return encode_reviews(training, validation, max_tokens=given["max_tokens"])


def one_run(given: dict[str, Any], name: str, seed: int) -> list[float]:
    """Train one model from one seed; return its accuracy on the validation set before training and after each epoch."""
    vocabulary, train_set, validation_set = sets_of(given)
    make, learning_rate = MODELS[name]
    torch.manual_seed(seed)
    model = make(len(vocabulary))
    shuffle = torch.Generator().manual_seed(seed)
    return accuracy_by_epoch(
        model,
        lambda: bucket_batches(*train_set, generator=shuffle),
        bucket_batches(*validation_set, batch_size=256),
        epochs=given["epochs"],
        learning_rate=learning_rate,
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("training", nargs="?")
    arguments.add_argument("validation", nargs="?")
    arguments.add_argument("--name", help="what the reviews are called in the record; without it no record is written")
    arguments.add_argument("--epochs", type=int, default=5)
    arguments.add_argument("--limit", type=int, help="take so many training reviews, drawn at random")
    arguments.add_argument("--max-tokens", type=int, help="read only so many words of each review")
    given = vars(arguments.parse_args())
    if not given["training"]:
        print("This record needs real reviews, which do not come with the course: it stays as it is.")
        return
    if not given["validation"]:
        arguments.error("name the validation reviews too")

    vocabulary, train_set, validation_set = sets_of(given)
    sizes = {"training": len(train_set[0]), "validation": len(validation_set[0]), "words": len(vocabulary.words)}
    print(", ".join(f"{count:,} {what}" for what, count in sizes.items()))
    jobs = {f"{name}, seed {seed}": partial(one_run, given, name, seed) for seed in SEEDS for name in MODELS}
    runs = finish(NAME, jobs, repr((given, sizes, MODELS)))
    accuracies = {name: [runs[f"{name}, seed {seed}"] for seed in SEEDS] for name in MODELS}
    for name, rows in accuracies.items():
        for seed, row in zip(SEEDS, rows, strict=True):
            print(f"{name:20}seed {seed}" + "".join(f"{share:8.4f}" for share in row))
    if given["name"]:
        asked = {key: given[key] for key in ("name", "epochs", "limit", "max_tokens")}
        write_record(NAME, seeds=SEEDS, settings={**asked, **sizes, "threads": 1}, numbers=accuracies)


if __name__ == "__main__":
    main()
