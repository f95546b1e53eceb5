"""Train chapter 3's classifier and a bag of words on your own reviews, and print both accuracies.

    python -m benchmarks.text_reviews TRAINING VALIDATION [--epochs 3] [--limit 30000] [--max-tokens 200]

Both paths go to `read_reviews`: a folder with `pos` and `neg`, or a table with the columns `document` and `label`.
"""

import argparse
import random

import torch

from transformer_lib.teaching.experiments.text import BagOfWords, accuracy, encode_reviews, train_classifier
from transformer_lib.text import SentimentClassifier, bucket_batches, read_reviews


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("training")
    arguments.add_argument("validation")
    arguments.add_argument("--epochs", type=int, default=3)
    arguments.add_argument("--limit", type=int, help="take so many training reviews, drawn at random")
    arguments.add_argument("--max-tokens", type=int, help="read only so many words of each review")
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()

    training, validation = read_reviews(given.training), read_reviews(given.validation)
    if given.limit and given.limit < len(training):
        training = random.Random(given.seed).sample(training, given.limit)
    vocabulary, train_set, validation_set = encode_reviews(training, validation, max_tokens=given.max_tokens)
    print(f"{len(training)} training reviews, {len(validation)} validation reviews, {len(vocabulary.words)} words")

    validation_batches = bucket_batches(*validation_set, batch_size=256)
    torch.manual_seed(given.seed)
    for model, learning_rate in (
        (BagOfWords(len(vocabulary)), 1e-2),
        (SentimentClassifier(len(vocabulary)), 1e-3),
    ):
        shuffle = torch.Generator().manual_seed(given.seed)
        train_classifier(
            model,
            lambda shuffle=shuffle: bucket_batches(*train_set, generator=shuffle),
            epochs=given.epochs,
            learning_rate=learning_rate,
        )
        print(f"{type(model).__name__}: validation accuracy {accuracy(model, validation_batches):.4f}")


if __name__ == "__main__":
    main()
