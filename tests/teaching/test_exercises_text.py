"""The checks of chapter 3: right answers pass, and each usual mistake gets its own hint."""

import zlib

import numpy as np
import torch
from answers import two_tests

from transformer_lib.teaching.exercises import text as check


def word_id(word, known, buckets):
    return 1 + known.index(word) if word in known else 1 + len(known) + zlib.crc32(word.encode()) % buckets


def share(lengths, size, *, order=list, rows=len):
    lengths = order(lengths)
    batches = [lengths[at : at + size] for at in range(0, len(lengths), size)]
    return 1 - sum(lengths) / sum(rows(batch) * max(batch) for batch in batches)


def places(lengths, size):
    return sum(len(lengths[at : at + size]) * max(lengths[at : at + size]) for at in range(0, len(lengths), size))


def is_word(vectors, lengths):
    return (torch.arange(vectors.size(1)) < lengths.unsqueeze(1)).unsqueeze(-1)


def mean_vector(vectors, lengths):
    return (vectors * is_word(vectors, lengths)).sum(dim=1) / lengths.unsqueeze(1)


def mean_of_shares(lengths, size):
    return np.mean([share(lengths[at : at + size], size) for at in range(0, len(lengths), size)])


RIGHT = [
    ("two_logits", lambda: (-0.75, 1.0)),
    ("two_logits", lambda: [-3 / 4, 1]),
    ("word_id", word_id),
    ("word_id", lambda *given: torch.tensor(word_id(*given))),
    ("padding_share_of", share),
    ("mean_vector", mean_vector),
    ("mean_vector", lambda vectors, lengths: torch.stack([v[:n].mean(0) for v, n in zip(vectors, lengths, strict=True)])),
]
WRONG = [
    ("two_logits", lambda: (0.25, 2.0), "the last states"),
    ("two_logits", lambda: (1.0, -0.75), "exchanged"),
    ("two_logits", lambda: (1.0, 1.0), "three more steps"),
    ("two_logits", lambda: (-0.75, -0.75), "hanging up keeps"),
    ("two_logits", lambda: (-0.5, 1.0), "one step too few"),
    ("two_logits", lambda: (-0.875, 1.0), "one step too many"),
    ("two_logits", lambda: (-0.75, 3.0), "its step halves the state too"),
    ("two_logits", lambda: (7.0, 1.0), "Halve the state"),
    ("two_logits", lambda: 1.0, "two_logits"),
    ("word_id", lambda word, known, n: word_id(word, known, n) - 1, "first known word has id 1"),
    (
        "word_id",
        lambda word, known, n: 1 + known.index(word) if word in known else zlib.crc32(word.encode()) % n,
        "bucket's number",
    ),
    (
        "word_id",
        lambda word, known, n: word_id(word, known, n) - (word not in known),
        "the id of a bucket is one too small",
    ),
    (
        "word_id",
        lambda word, known, n: 1 + known.index(word) if word in known else 4 + zlib.crc32(word.encode()) % 10,
        r"for \('splendid', .*, 1000\) should be 594, not 4",
    ),
    (
        "word_id",
        lambda word, known, n: 1 + known.index(word),
        r"\('splendid', \['the', 'film', 'good'\], 10\) raises ValueError",
    ),
    (
        "word_id",
        lambda word, known, n: 1 + known.index(word) if word in known else 1 + len(known) + hash(word) % n,
        r"Python's hash\(\)",
    ),
    ("padding_share_of", mean_of_shares, "the mean of the batches' shares"),
    ("padding_share_of", lambda *given: 1 / (1 - share(*given)) - 1, "padding for each word"),
    ("padding_share_of", lambda *given: 1 - share(*given), "share of the words"),
    (
        "padding_share_of",
        lambda lengths, size: share(lengths, size, rows=lambda batch: size),
        "last batch may have fewer rows",
    ),
    ("padding_share_of", lambda lengths, size: share(lengths, len(lengths)), "its own longest"),
    ("padding_share_of", lambda lengths, size: share(lengths, size, order=sorted), "in the order given"),
    (
        "padding_share_of",
        lambda lengths, size: places(lengths, size) - sum(lengths),
        "divide it by the number of all places",
    ),
    ("padding_share_of", lambda lengths, size: 0.9, r"for \(\[2, 9, 3, 8\], 2\) should be 0.3529, not 0.9"),
    ("mean_vector", lambda vectors, lengths: vectors.mean(dim=1), "all columns, padding too"),
    ("mean_vector", lambda vectors, lengths: vectors.sum(dim=1) / lengths[:, None], "still holds the vectors of padding"),
    ("mean_vector", lambda vectors, lengths: (vectors * is_word(vectors, lengths)).mean(dim=1), "but still counted"),
    ("mean_vector", lambda vectors, lengths: mean_vector(vectors, lengths) * lengths[:, None], "that is the sum"),
    (
        "mean_vector",
        lambda vectors, lengths: (vectors * is_word(vectors, lengths)).sum(1) / lengths.max(),
        "its own length",
    ),
    ("mean_vector", lambda vectors, lengths: mean_vector(vectors, lengths + 1), "one column too many"),
    (
        "mean_vector",
        lambda vectors, lengths: vectors[torch.arange(len(vectors)), lengths - 1],
        "the last word's vector",
    ),
    ("mean_vector", lambda vectors, lengths: (vectors * is_word(vectors, lengths)).sum(1) / lengths, "column by column"),
    ("mean_vector", lambda vectors, lengths: np.zeros((len(vectors), 3)), "divide by the length"),
    ("mean_vector", lambda vectors, lengths: vectors * is_word(vectors, lengths), r"the shape \(3, 3\), not \(3, 6, 3\)"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)
