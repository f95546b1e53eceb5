"""Chapter 3: does a GRU without a mask learn to ignore padding? Accuracy against columns of padding, eight seeds.

The settings are the notebook's. The mask is taken away in training, where buckets leave little padding; then each
model is tested in batches with more of it, once without the mask and once with it put back. The logits of six reviews,
which no model was trained on, are kept for each column of padding.
"""

import torch

from benchmarks.records import write_record
from transformer_lib.teaching.corpora.reviews import synthetic_reviews
from transformer_lib.teaching.experiments.text import (
    WithoutMask,
    accuracy,
    encode_reviews,
    more_padding,
    train_classifier,
)
from transformer_lib.text import SentimentClassifier, bucket_batches, pad_batch, tokenize

SEEDS = range(8)
COLUMNS = [0, 1, 2, 3, 5, 10, 20, 40]
# Three pairs of twins, and their labels.
EXAMPLES = [
    ("The acting was bad, but the music was good.", 1),
    ("The music was good, but the acting was bad.", 0),
    ("Although the story was dull, the music was not dull at all.", 1),
    ("Although the music was not dull at all, the story was dull.", 0),
    ("The cast was brilliant, although I found the ending boring.", 1),
    ("I found the ending boring, although the cast was brilliant.", 0),
]
MOST_COLUMNS = 40
SETTINGS = {"reviews": 2000, "d_model": 32, "hidden_size": 32, "num_layers": 2, "epochs": 10, "learning_rate": 0.01}


def run(seed: int) -> dict[str, list]:
    """Return the accuracy at each of COLUMNS, without and with the mask at test time, and the examples' logits."""
    training = synthetic_reviews(SETTINGS["reviews"], seed=10 + seed)
    seen = {one.text for one in training}
    held_out = [one for one in synthetic_reviews(SETTINGS["reviews"], seed=20 + seed) if one.text not in seen]
    assert not seen & {text for text, _ in EXAMPLES}
    vocabulary, train_set, test_set = encode_reviews(training, held_out)
    torch.manual_seed(seed)
    classifier = SentimentClassifier(
        len(vocabulary), **{name: SETTINGS[name] for name in ("d_model", "hidden_size", "num_layers")}
    )
    shuffle = torch.Generator().manual_seed(seed)
    train_classifier(
        WithoutMask(classifier),
        lambda: bucket_batches(*train_set, generator=shuffle),
        epochs=SETTINGS["epochs"],
        learning_rate=SETTINGS["learning_rate"],
    )
    batches = bucket_batches(*test_set, batch_size=256)
    bare = WithoutMask(classifier)
    shares = {
        name: [accuracy(model, more_padding(batches, columns)) for columns in COLUMNS]
        for name, model in (("without mask", bare), ("with mask", classifier))
    }
    rows = [vocabulary.encode(tokenize(text)) for text, _ in EXAMPLES]
    return {
        **shares,
        "logits without mask": [[_logit(bare, row, len(row) + columns) for columns in range(MOST_COLUMNS + 1)] for row in rows],
        "logits with mask": [[_logit(classifier, row, len(row) + columns) for columns in (0, MOST_COLUMNS)] for row in rows],
    }


@torch.no_grad()
def _logit(model: torch.nn.Module, row: list[int], length: int) -> float:
    return round(model.eval()(pad_batch([row], length=length)).item(), 3)


def main() -> None:
    torch.set_num_threads(1)
    numbers = []
    print("columns of padding".ljust(24), *(f"{columns:>6}" for columns in COLUMNS))
    for seed in SEEDS:
        numbers.append(run(seed))
        for name in ("without mask", "with mask"):
            row = numbers[-1][name]
            print(f"seed {seed}, {name}".ljust(24), *(f"{share:6.3f}" for share in row), flush=True)
    write_record(
        "text_masking", seeds=list(SEEDS), settings={**SETTINGS, "columns": COLUMNS, "examples": EXAMPLES}, numbers=numbers
    )


if __name__ == "__main__":
    main()
