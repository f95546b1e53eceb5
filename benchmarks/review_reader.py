"""Chapter 3: a small GRU and a bag of words, trained on twins and plain reviews, for the figure that reads the reader's review.

It writes them, in half precision, into the library, and measures them as they are read back.
"""

import hashlib
from itertools import chain
from pathlib import Path

import torch

import transformer_lib
from benchmarks.records import write_record
from transformer_lib.checkpoint import write_tensors
from transformer_lib.teaching.experiments.text import BagOfWords, accuracy, review_reader_sets, train_classifier
from transformer_lib.text import SentimentClassifier, Vocabulary, bucket_batches, tokenize

NAME = "review_reader"
SEED = 0
SIZES = {"d_model": 32, "hidden_size": 32, "num_layers": 1}
TRAINING = {"epochs": 10, "learning_rate": 0.01}
PATH = Path(transformer_lib.__file__).parent / "pretrained" / f"{NAME}.pt"


def main() -> None:
    torch.set_num_threads(1)
    training, held_out = review_reader_sets()
    vocabulary = Vocabulary(chain.from_iterable(tokenize(one.text) for one in training), oov_buckets=2)

    def encoded(reviews):
        return [vocabulary.encode(tokenize(one.text)) for one in reviews], [one.label for one in reviews]

    torch.manual_seed(SEED)
    models = {"classifier": SentimentClassifier(len(vocabulary), **SIZES), "bag": BagOfWords(len(vocabulary))}
    to_learn = encoded(training)
    for model in models.values():
        shuffle = torch.Generator().manual_seed(SEED)
        train_classifier(model, lambda shuffle=shuffle: bucket_batches(*to_learn, generator=shuffle), **TRAINING)
    saved = {
        "words": vocabulary.words,
        "oov_buckets": 2,
        "sizes": SIZES,
        **{name: model.half().state_dict() for name, model in models.items()},
    }
    write_tensors(PATH, "review reader", saved)
    numbers = {
        "sha256": hashlib.sha256(PATH.read_bytes()).hexdigest(),
        "parameters": {name: sum(weight.numel() for weight in model.parameters()) for name, model in models.items()},
        "held out": {kind: len(reviews) for kind, reviews in held_out.items()},
        "accuracy": {},
    }
    batches = {kind: bucket_batches(*encoded(reviews), batch_size=256) for kind, reviews in held_out.items()}
    for name, model in models.items():
        numbers["accuracy"][name] = {kind: accuracy(model.float(), batches[kind]) for kind in batches}
    print(numbers)
    settings = {"training": len(training), "oov_buckets": 2, **SIZES, **TRAINING, "threads": 1}
    write_record(NAME, seeds=[SEED], settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
