"""The checks of chapter 3: right answers pass, and each usual mistake gets its own hint."""

import re
import zlib
from string import ascii_letters as LETTERS

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
    ("keep_letters", lambda text: re.sub(r"[^a-zA-Z']", " ", text)),
    ("keep_letters", lambda text: "".join(c if c in LETTERS or c == "'" else " " for c in text)),
    ("keep_letters", lambda text: "".join(c if (c.isascii() and c.isalpha()) or c == "'" else " " for c in text)),
    ("word_id", word_id),
    ("word_id", lambda *given: torch.tensor(word_id(*given))),
    ("padding_share_of", share),
    ("mean_vector", mean_vector),
    ("mean_vector", lambda vectors, lengths: torch.stack([v[:n].mean(0) for v, n in zip(vectors, lengths, strict=True)])),
]
WRONG = [
    ("keep_letters", lambda text: re.sub(r"^[a-zA-Z']", " ", text), "caret inside the bracket"),
    ("keep_letters", lambda text: re.sub(r"[a-zA-Z']", " ", text), "the rest stays"),
    ("keep_letters", lambda text: text, "nothing has changed"),
    ("keep_letters", lambda text: re.sub(r"[^a-zA-Z']", "", text), "deleted"),
    ("keep_letters", lambda text: re.sub(r"[^a-zA-Z]", " ", text), "apostrophe is gone"),
    ("keep_letters", lambda text: re.sub(r"[^a-z']", " ", text), "capital letters are gone"),
    ("keep_letters", lambda text: re.sub(r"[^\w']", " ", text), "digits, the underscore, è and 재 stay"),
    ("keep_letters", lambda text: "".join(c if c.isalpha() or c == "'" else " " for c in text), "letters too, to isalpha"),
    ("keep_letters", lambda text: re.sub(r"[^\w']|[\d_]", " ", text), "letters too, to isalpha"),
    ("keep_letters", lambda text: re.sub(r"[^A-Z']", " ", text), "small letters are gone"),
    ("keep_letters", lambda text: re.sub(r"[^A-z']", " ", text), "six signs between Z and a"),
    ("keep_letters", lambda text: re.sub(r"[^a-zA-Z0-9']", " ", text), "the digits stay"),
    ("keep_letters", lambda text: re.sub(r"[^a-zA-Z']+", " ", text), "one space for each"),
    ("keep_letters", lambda text: "x", "\"Good, isn't it\\?\"\\) should be \"Good +isn't it \", not 'x'"),
    ("keep_letters", lambda text: ["a"], "should be a text, not a list"),
    ("keep_letters", lambda text: text.nothing(), r"\(\"Good, isn't it\?\"\) raises AttributeError"),
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
