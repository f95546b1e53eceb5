"""S2's two classifiers at S2's sizes, and a bag of words, on the 50,000 reviews of IMDB.

    python -m benchmarks.imdb_reviews [--data FOLDER]

Without a folder the reviews are fetched. As in S2 only the start of a review is read, and batches are filled up as they come.
"""

import argparse
import hashlib
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.records import write_record
from benchmarks.runs import finish
from transformer_lib.data import fetch, find_file
from transformer_lib.seq2seq import PAD_ID
from transformer_lib.teaching.experiments.text import (
    BagOfWords,
    Encoded,
    WithoutMask,
    accuracy_by_epoch,
    encode_reviews,
)
from transformer_lib.text import Review, SentimentClassifier, pad_batch, read_reviews

NAME = "imdb_reviews"
ADDRESS, ARCHIVE = "https://ai.stanford.edu/~amaas/data/sentiment/", "aclImdb_v1.tar.gz"
SHA256 = "c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe"
SEEDS = (0, 1, 2)
BYTES = 300  # S2 cuts each review here
BATCH_SIZE = 32
EPOCHS = 5
# Each one's model, its buckets for unknown words, and its learning rate.
KINDS = {
    "two layers of GRU": (SentimentClassifier, 1000, 1e-3),
    "without the mask": (lambda size: WithoutMask(SentimentClassifier(size)), 1000, 1e-3),
    "one id for all unknown words": (SentimentClassifier, 1, 1e-3),
    "bag of words": (BagOfWords, 1000, 1e-2),
}


def reviews_of(data: Path) -> list[Path]:
    """Return where the training and the test reviews of the folder `data` lie; fetch those named imdb.

    A folder holds folders `train` and `test`, as Maas et al. (2011) published them, or tables `train.tsv` and `test.tsv`.
    """
    if str(data) == "imdb" and not data.is_dir():
        data = fetch("imdb", ADDRESS, {ARCHIVE: SHA256}, unpack=True) / f"{ARCHIVE}.untar" / "aclImdb"
    return [data / name if (data / name).is_dir() else find_file(data, f"{name}.tsv") for name in ("train", "test")]


def starts(path: Path) -> list[Review]:
    """Return the reviews with the first `BYTES` bytes of each, in the same order for a folder and for a table."""
    return sorted(Review(one.text.encode()[:BYTES].decode(errors="ignore"), one.label) for one in read_reviews(path))


def as_they_come(encoded: Encoded) -> list[tuple[Tensor, Tensor]]:
    """Return batches of the reviews in their order, the same ones for all models: without a mask the padding counts."""
    ids, labels = encoded
    return [
        (pad_batch(ids[at : at + BATCH_SIZE]), torch.tensor(labels[at : at + BATCH_SIZE], dtype=torch.float32))
        for at in range(0, len(ids), BATCH_SIZE)
    ]


def run(training: Path, test: Path, kind: str, seed: int) -> list[float]:
    """Train one model from one seed; return its accuracy on the test reviews before training and after each epoch."""
    make, buckets, learning_rate = KINDS[kind]
    vocabulary, (ids, labels), held_out = encode_reviews(starts(training), starts(test), oov_buckets=buckets)
    test_batches = as_they_come(held_out)
    torch.manual_seed(seed)
    model = make(len(vocabulary))
    shuffle = torch.Generator().manual_seed(seed)

    def shuffled() -> list[tuple[Tensor, Tensor]]:
        order = torch.randperm(len(ids), generator=shuffle).tolist()
        return as_they_come(([ids[i] for i in order], [labels[i] for i in order]))

    return accuracy_by_epoch(model, shuffled, test_batches, epochs=EPOCHS, learning_rate=learning_rate)


def shares(training: list[Review], test: list[Review]) -> dict[str, float]:
    """Return which share of the test's squares is padding, and which share of its words has no id of its own."""
    vocabulary, _, held_out = encode_reviews(training, test)
    squares = torch.cat([tokens.flatten() for tokens, _ in as_they_come(held_out)])
    words = squares[squares != PAD_ID]
    known = len(vocabulary) - vocabulary.oov_buckets
    return {"padding": 1 - len(words) / len(squares), "unknown words": (words >= known).double().mean().item()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("imdb"), metavar="FOLDER")
    paths = reviews_of(parser.parse_args().data)
    sets = [starts(path) for path in paths]
    sizes = dict(zip(("training", "test"), map(len, sets), strict=True))
    texts = hashlib.sha256(repr(sets).encode()).hexdigest()
    print(sizes)
    jobs = {f"{kind}, seed {seed}": partial(run, *paths, kind, seed) for kind in KINDS for seed in SEEDS}
    runs = finish(NAME, jobs, repr((texts, BYTES, BATCH_SIZE, EPOCHS)))
    accuracies = {kind: [runs[f"{kind}, seed {seed}"] for seed in SEEDS] for kind in KINDS}
    for kind, rows in accuracies.items():
        for seed, row in zip(SEEDS, rows, strict=True):
            print(f"{kind:30}seed {seed}" + "".join(f"{share:8.4f}" for share in row))
    settings = {**sizes, "bytes": BYTES, "batch_size": BATCH_SIZE, "epochs": EPOCHS, "threads": 1}
    write_record(NAME, seeds=SEEDS, settings=settings, numbers={"accuracy": accuracies, "shares": shares(*sets)})


if __name__ == "__main__":
    main()
