"""Checks for the exercises of chapter 3, From text to batches."""

import zlib
from collections.abc import Iterator

import torch
from torch import Tensor

from transformer_lib.teaching.exercises import exercise, normal

__all__ = ["mean_vector", "padding_share_of", "two_logits", "word_id"]


@exercise(
    cases=[()],
    parts=("the logit listening on", "the logit hanging up"),
    hint="Halve the state at each step and add the word's number; at the end subtract 1",
)
def two_logits() -> Iterator:
    """The reader's `two_logits()` returns the small reader's logits for "good film" in five columns, without and with mask."""
    yield (-0.75, 1.0), "4 and 2 at the words, then 1, 0.5 and 0.25 at the padding: the verdict has turned"
    yield (0.25, 2.0), "those are the last states: the logit is the state minus 1"
    yield (1.0, -0.75), "the two logits are exchanged: listening on comes first"
    yield (1.0, 1.0), "listening on takes three more steps behind *film*, and each halves the state"
    yield (-0.75, -0.75), "hanging up keeps the state that stood after *film*"
    yield (-0.5, 1.0), "listening on: one step too few. The rectangle has five columns, and *good* fills the first"
    yield (-0.875, 1.0), "listening on: one step too many. After *good* come four steps, and each halves the 4"
    for logit in (-0.75, 0.0, 1.0):
        yield (logit, 3.0), "*film* has the number 0, but it is a word: its step halves the state too"


@exercise(
    cases=[
        (word, ["the", "film", "good"], buckets)
        for word, buckets in (("the", 10), ("good", 10), ("splendid", 10), ("재미", 10), ("splendid", 1000))
    ],
    hint="Padding is 0, then come the known words, then the buckets: add zlib.crc32(word.encode()) % oov_buckets",
)
def word_id(word: str, known_words: list[str], oov_buckets: int) -> Iterator:
    """The reader's `word_id(word, known_words, oov_buckets)` returns the id of a word, known or not."""
    bucket, known = zlib.crc32(word.encode()) % oov_buckets, word in known_words
    right = 1 + (known_words.index(word) if known else len(known_words) + bucket)
    yield right, "padding is 0, then the known words, then the buckets, the same in every process"
    yield right - 1, "one too small: id 0 is padding, so the first known word has id 1"
    yield right if known else right - 1, "the id of a bucket is one too small: padding takes an id as well"
    yield right if known else bucket, "that is the bucket's number; the ids of buckets come after padding and the known words"
    for first in (0, 1):
        yield (
            right if known else first + len(known_words) + hash(word) % oov_buckets,
            "that is Python's hash(): it differs each time Python starts; take zlib.crc32(word.encode())",
        )


def _cut(lengths: list[int], size: int) -> list[list[int]]:
    return [lengths[start : start + size] for start in range(0, len(lengths), size)]


@exercise(
    cases=[([2, 9, 3, 8], 2), ([4, 4, 4], 2), ([1, 5, 2, 7, 3], 3), ([2, 3, 8, 9], 2)],
    hint="Count the places, rows times the longest, batch by batch; what is no word is padding",
)
def padding_share_of(lengths: list[int], batch_size: int) -> Iterator:
    """The reader's `padding_share_of(lengths, batch_size)` returns which share of the padded batches is padding."""
    batches = _cut(lengths, batch_size)
    words, places = sum(lengths), sum(len(batch) * max(batch) for batch in batches)
    yield 1 - words / places, "12 of 34 places for 2, 9, 3, 8 in pairs; sorted first, only 2 of 24"
    yield words / places, "that is the share of the words: padding is the rest"
    yield (
        1 - words / sum(batch_size * max(batch) for batch in batches),
        "the last batch may have fewer rows: count the rows it has",
    )
    yield 1 - words / (len(lengths) * max(lengths)), "each batch is as wide as its own longest sequence, not the longest of all"
    yield (
        1 - words / sum(len(batch) * max(batch) for batch in _cut(sorted(lengths), batch_size)),
        "take the lengths in the order given; sort them afterwards, to compare",
    )
    yield (
        sum(1 - sum(batch) / (len(batch) * max(batch)) for batch in batches) / len(batches),
        "that is the mean of the batches' shares; a large batch counts for more than a small one",
    )
    yield (places - words) / words, "that is padding for each word; divide by all places, words and padding"
    yield places - words, "that is the number of places; divide it by the number of all places"


@exercise(
    # First three reviews and vectors of three numbers: there a forgotten unsqueeze is no error, and gets a hint.
    cases=[(*normal((3, 6, 3)), torch.tensor([5, 1, 4])), (*normal((4, 6, 3)), torch.tensor([5, 1, 4, 3]))],
    hint="Sum the words' vectors, row by row, and divide by the length",
)
def mean_vector(vectors: Tensor, lengths: Tensor) -> Iterator:
    """The reader's `mean_vector(vectors, lengths)` returns the mean over each review's own words."""

    def words(count: Tensor) -> Tensor:
        return vectors * (torch.arange(vectors.size(1)) < count[:, None])[..., None]

    total, rows = words(lengths).sum(dim=1), lengths[:, None]
    yield total / rows, "what stands in the columns of padding changes nothing"
    yield vectors.mean(dim=1), "that is the mean over all columns, padding too: leave out the columns from lengths on"
    yield vectors.sum(dim=1) / rows, "the sum still holds the vectors of padding: make them zero before the sum"
    yield words(lengths).mean(dim=1), "the padding is gone from the sum, but still counted: divide by the length, not by seq"
    yield total, "that is the sum over the words: divide it by how many there are"
    for one in (lengths.double().mean(), lengths.max()):
        yield total / one, "each review has its own length: divide row by row, with lengths.unsqueeze(1)"
    for count in (rows, rows + 1):
        yield words(lengths + 1).sum(dim=1) / count, "one column too many: a review of 4 words has the columns 0 to 3"
    if len(lengths) == vectors.size(2):
        yield (
            total / lengths,
            "here are as many reviews as numbers in a vector, so a division by lengths goes column by column: divide row by "
            "row, with lengths.unsqueeze(1)",
        )
    yield vectors[torch.arange(len(lengths)), lengths - 1], "that is the last word's vector: take the mean over all words"
