"""Checks for the exercises of chapter 3, From text to batches."""

import re
import zlib
from collections.abc import Callable

import numpy as np

from transformer_lib.teaching.check import Hint, exercise, expect_close, expect_shape

__all__ = ["keep_letters", "last_output", "padding_share_of", "word_id"]


@exercise
def keep_letters(attempt: Callable) -> str:
    """The reader's `keep_letters(text)` turns all but a–z, A–Z and apostrophes into spaces, one for one."""
    for text in ("Good, isn't it?", "10/10 for the Film!", "a-b_c"):
        result = attempt(text)
        if not isinstance(result, str):
            raise Hint(f"the result is of type {type(result).__name__}, expected a string")
        right = re.sub(r"[^a-zA-Z']", " ", text)
        if result == right:
            continue
        for wrong, hint in (
            (re.sub(r"^[a-zA-Z']", " ", text), "only the first letter is gone: put the caret inside the bracket"),
            (re.sub(r"[a-zA-Z']", " ", text), "the letters are gone and the rest stays: [^…] means none of these"),
            (text, "nothing has changed: re.sub returns the new text and leaves the old one as it is"),
            (re.sub(r"[^a-zA-Z']", "", text), "the characters are deleted: put a space in their place"),
            (re.sub(r"[^a-zA-Z]", " ", text), "the apostrophe is gone: it belongs into the bracket too"),
            (re.sub(r"[^a-z']", " ", text), "the capital letters are gone: add A-Z"),
            (re.sub(r"[^\w']", " ", text), "digits and the underscore stay: \\w means more than letters"),
            (re.sub(r"[^a-zA-Z']+", " ", text), "several characters became one space: one space for each of them"),
        ):
            if result == wrong:
                raise Hint(hint)
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
def last_output(attempt: Callable) -> str:
    """The reader's `last_output(outputs, lengths)` returns each review's output at its last word."""
    import torch

    outputs = np.random.default_rng(3).normal(size=(4, 6, 3))
    lengths = np.array([6, 1, 4, 3])
    result = attempt(torch.from_numpy(outputs), torch.from_numpy(lengths))
    picked = expect_shape(result, (4, 3), "the result")
    for wrong, hint in (
        (outputs[:, -1], "that is the output after the last column, which is padding for the short reviews"),
        (outputs[np.arange(4), lengths % 6], "one column too far: the last of 4 words stands in column 3"),
        (outputs[:, 0], "that is the output at the first word"),
    ):
        if np.allclose(picked, wrong, atol=1e-4):
            raise Hint(hint)
    expect_close(
        picked,
        outputs[np.arange(4), lengths - 1],
        "Index with two lists at once: the rows 0, 1, 2, … and the columns lengths - 1",
        what="the output at the last words",
    )
    return "for one direction this gives what packing gives: what follows the last word is never used"


def _cut(lengths: list[int], size: int) -> list[list[int]]:
    return [lengths[start : start + size] for start in range(0, len(lengths), size)]
