"""Checks for the exercises of chapter 3, From text to batches."""

import re
import zlib
from collections.abc import Callable

import numpy as np

from transformer_lib.teaching.exercises import Hint, exercise, expect_close, expect_shape

__all__ = ["keep_letters", "mean_vector", "padding_share_of", "word_id"]


@exercise
def keep_letters(attempt: Callable) -> str:
    """The reader's `keep_letters(text)` turns all but a–z, A–Z and apostrophes into spaces, one for one."""
    texts = ("Good, isn't it?", "10/10 for the Film!", "a-b_c", "[x]^y")
    results = [attempt(text) for text in texts]
    for result in results:
        if not isinstance(result, str):
            raise Hint(f"the result is of type {type(result).__name__}, expected a string")

    def explained_by(pattern: str, space: str = " ") -> bool:
        return all(result == re.sub(pattern, space, text) for result, text in zip(results, texts, strict=True))

    if not explained_by(r"[^a-zA-Z']"):
        if results == list(texts):
            raise Hint("nothing has changed: re.sub returns the new text and leaves the old one as it is")
        for pattern, space, hint in (
            (r"^[a-zA-Z']", " ", "only the first letter is gone: put the caret inside the bracket"),
            (r"[a-zA-Z']", " ", "the letters are gone and the rest stays: [^…] means none of these"),
            (r"[^a-zA-Z']", "", "the characters are deleted: put a space in their place"),
            (r"[^a-zA-Z]", " ", "the apostrophe is gone: it belongs into the bracket too"),
            (r"[^a-z']", " ", "the capital letters are gone: add A-Z"),
            (r"[^A-Z']", " ", "the small letters are gone: add a-z"),
            (r"[^A-z']", " ", "A-z also holds the six signs between Z and a, among them [, ], ^ and _: write a-zA-Z"),
            (r"[^\w']", " ", "digits and the underscore stay: \\w means more than letters"),
            (r"[^a-zA-Z0-9']", " ", "the digits stay: they are no letters"),
            (r"[^a-zA-Z']+", " ", "several characters became one space: one space for each of them"),
        ):
            if explained_by(pattern, space):
                raise Hint(hint)
        for text, result in zip(texts, results, strict=True):
            right = re.sub(r"[^a-zA-Z']", " ", text)
            if result != right:
                raise Hint(f"{text!r} gives {result!r}, expected {right!r}")
    return "letters and apostrophes stay, all else is a space, and the caret stands inside the bracket"


@exercise
def word_id(attempt: Callable) -> str:
    """The reader's `word_id(word, known_words, oov_buckets)` returns the id of a word, known or not."""
    known = ["the", "film", "good"]
    for word, buckets in (("the", 10), ("good", 10), ("splendid", 10), ("재미", 10), ("splendid", 1000)):
        number = expect_shape(attempt(word, list(known), buckets), (), "the id").item()
        if word in known:
            expected = 1 + known.index(word)
            hint = "Id 0 is padding, so the first known word has id 1"
        else:
            bucket = zlib.crc32(word.encode()) % buckets
            expected = 1 + len(known) + bucket
            hint = "The buckets come after padding and the known words: add zlib.crc32(word.encode()) % oov_buckets"
            if number == bucket:
                hint = "That is the bucket's number; the ids of buckets come after padding and the known words"
            elif number == expected - 1:
                hint = "One too small: padding takes an id as well"
            elif number in (1 + len(known) + hash(word) % buckets, len(known) + hash(word) % buckets):
                hint = "That is Python's hash(): it differs each time Python starts; take zlib.crc32(word.encode())"
        expect_close(number, expected, hint, what=f"the id of {word!r} with {buckets} buckets")
    return "padding is 0, then the known words, then the buckets, the same in every process"


@exercise
def padding_share_of(attempt: Callable) -> str:
    """The reader's `padding_share_of(lengths, batch_size)` returns which share of the padded batches is padding."""
    for lengths, size in (([2, 9, 3, 8], 2), ([4, 4, 4], 2), ([1, 5, 2, 7, 3], 3), ([2, 3, 8, 9], 2)):
        places = sum(len(batch) * max(batch) for batch in _cut(lengths, size))
        full = sum(size * max(batch) for batch in _cut(lengths, size))
        one_batch = len(lengths) * max(lengths)
        in_order = sum(len(batch) * max(batch) for batch in _cut(sorted(lengths), size))
        share = expect_shape(attempt(list(lengths), size), (), "the share").item()
        right = 1 - sum(lengths) / places
        for wrong, hint in (
            (sum(lengths) / places, "that is the share of the words: padding is the rest"),
            (1 - sum(lengths) / full, "the last batch may have fewer rows: count the rows it has"),
            (1 - sum(lengths) / one_batch, "each batch is as wide as its own longest sequence, not the longest of all"),
            (1 - sum(lengths) / in_order, "take the lengths in the order given; sort them afterwards, to compare"),
            (
                _mean_of_shares(lengths, size),
                "that is the mean of the batches' shares; a large batch counts for more than a small one",
            ),
            ((places - sum(lengths)) / sum(lengths), "that is padding for each word; divide by all places, words and padding"),
            (places - sum(lengths), "that is the number of places; divide it by the number of all places"),
        ):
            if abs(share - wrong) < 1e-6 < abs(right - wrong):
                raise Hint(hint)
        expect_close(
            share,
            right,
            "Count the places, rows times the longest, batch by batch; what is no word is padding",
            what=f"the share for lengths {lengths} in batches of {size}",
        )
    return "12 of 34 places for 2, 9, 3, 8 in pairs; sorted first, only 2 of 24"


@exercise
def mean_vector(attempt: Callable) -> str:
    """The reader's `mean_vector(vectors, lengths)` returns the mean over each review's own words."""
    import torch

    # First three reviews and vectors of three numbers: there a forgotten unsqueeze is no error, and gets a hint.
    for lengths in (np.array([5, 1, 4]), np.array([5, 1, 4, 3])):
        vectors = np.random.default_rng(3).normal(size=(len(lengths), 6, 3))
        is_word = (np.arange(6) < lengths[:, None])[..., None]  # (batch, 6, 1)
        total = (vectors * is_word).sum(axis=1)
        result = attempt(torch.from_numpy(vectors.copy()), torch.from_numpy(lengths.copy()))
        mean = expect_shape(result, (len(lengths), 3), "the result")
        one_more = (np.arange(6) <= lengths[:, None])[..., None]
        for wrong, hint in (
            (vectors.mean(axis=1), "that is the mean over all columns, padding too: leave out the columns from lengths on"),
            (
                vectors.sum(axis=1) / lengths[:, None],
                "the sum still holds the vectors of padding: make them zero before the sum",
            ),
            (
                (vectors * is_word).mean(axis=1),
                "the padding is gone from the sum, but still counted: divide by the length, not by seq",
            ),
            (total, "that is the sum over the words: divide it by how many there are"),
            (total / lengths.mean(), "each review has its own length: divide row by row, with lengths.unsqueeze(1)"),
            (total / lengths.max(), "each review has its own length: divide row by row, with lengths.unsqueeze(1)"),
            (
                (vectors * one_more).sum(axis=1) / lengths[:, None],
                "one column too many: a review of 4 words has the columns 0 to 3",
            ),
            (
                (vectors * one_more).sum(axis=1) / (lengths + 1)[:, None],
                "one column too many: a review of 4 words has the columns 0 to 3",
            ),
            (
                total / lengths[:3],
                "here are as many reviews as numbers in a vector, so a division by lengths goes column by column: divide "
                "row by row, with lengths.unsqueeze(1)",
            ),
            (vectors[np.arange(len(lengths)), lengths - 1], "that is the last word's vector: take the mean over all words"),
        ):
            if np.allclose(mean, wrong, atol=1e-4):
                raise Hint(hint)
        expect_close(
            mean, total / lengths[:, None], "Sum the words' vectors, row by row, and divide by the length", what="the mean"
        )
    return "what stands in the columns of padding changes nothing"


def _mean_of_shares(lengths: list[int], size: int) -> float:
    return float(np.mean([1 - sum(batch) / (len(batch) * max(batch)) for batch in _cut(lengths, size)]))


def _cut(lengths: list[int], size: int) -> list[list[int]]:
    return [lengths[start : start + size] for start in range(0, len(lengths), size)]
