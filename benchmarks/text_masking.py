"""Chapter 3: does a GRU without a mask learn to ignore padding? Accuracy against columns of padding, eight seeds.

The settings are the notebook's. The mask is taken away in training, where buckets leave little padding; then each
model is tested in batches with more of it, once without the mask and once with it put back.
"""

import torch

from benchmarks.records import write_record
from transformer_lib.teaching.experiments.text import (
    WithoutMask,
    accuracy,
    encode_reviews,
    more_padding,
    train_classifier,
    twins,
)
from transformer_lib.text import SentimentClassifier, bucket_batches

SEEDS = range(8)
COLUMNS = [0, 1, 2, 3, 5, 10, 20, 40]
SIZES = {"d_model": 32, "hidden_size": 32, "num_layers": 2}
TRAINING = {"epochs": 10, "learning_rate": 0.01}


def run(seed: int) -> dict[str, list[float]]:
    """Return the accuracy at each of COLUMNS, without and with the mask at test time."""
    vocabulary, train_set, test_set = encode_reviews(*twins(seed))
    torch.manual_seed(seed)
    classifier = SentimentClassifier(len(vocabulary), **SIZES)
    bare = WithoutMask(classifier)
    shuffle = torch.Generator().manual_seed(seed)
    train_classifier(bare, lambda: bucket_batches(*train_set, generator=shuffle), **TRAINING)
    batches = bucket_batches(*test_set, batch_size=256)
    return {
        name: [accuracy(model, more_padding(batches, columns)) for columns in COLUMNS]
        for name, model in (("without mask", bare), ("with mask", classifier))
    }


def main() -> None:
    torch.set_num_threads(1)
    numbers = []
    print("columns of padding".ljust(24), *(f"{columns:>6}" for columns in COLUMNS))
    for seed in SEEDS:
        numbers.append(run(seed))
        for name, row in numbers[-1].items():
            print(f"seed {seed}, {name}".ljust(24), *(f"{share:6.3f}" for share in row), flush=True)
    settings = {"reviews": 2000, **SIZES, **TRAINING, "columns": COLUMNS}
    write_record("text_masking", seeds=list(SEEDS), settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
