"""Checks for the exercises of chapter 1, The limits of seq2seq."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from transformer_lib.teaching.exercises import exercise

__all__ = ["last_card", "mean_loss", "shifted", "write"]


_SENTENCE = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])


def _card(vectors: np.ndarray, k: float, start: int = 0) -> np.ndarray:
    card = vectors[0] * 0
    for x in vectors[start:]:
        card = k * card + x
    return card


@exercise(
    cases=[(_SENTENCE, 0.5), (_SENTENCE, 1.0), (_SENTENCE[::-1].copy(), 1.0), (_SENTENCE, 0.0), (_SENTENCE[:1], 0.25)],
    hint="One word after another: multiply the card by k, then add the word's vector",
)
def last_card(vectors: np.ndarray, k: float) -> Iterator:
    """The reader's `last_card(vectors, k)` returns the card after the last word."""
    yield (
        _card(vectors, k),
        "with k = 1 the order is lost: all orders of the same words leave the same card. "
        "With k = 0 only the last word is left. Is that what you predicted?",
    )
    yield _card(vectors, 0.5), "that is the rule with one half, whatever k is"
    yield vectors.sum(axis=0), "that is the sum of all words: the old card is not multiplied by k"
    yield vectors[-1], "that is the last word alone: the card before it is forgotten"
    yield _card(vectors[::-1], k), "it reads the sentence from its end"
    yield _card(vectors, k, start=1), "the first word is missing: the card begins with zeros, and then the first word comes"
    yield (
        k * _card(vectors, k),
        "the new word is multiplied by k as well: first k times the old card, then add the word as it is",
    )
    yield (1 - k) * _card(vectors, k), "the rule adds the whole new word, not 1 - k of it"
    cards = np.stack([_card(vectors[:n], k) for n in range(1, len(vectors) + 1)])
    yield cards, "these are the cards after each word: return the last one"


@exercise(
    cases=[(np.array([7, 5, 9]), 1, 2), (np.array([4]), 2, 3)],
    hint="What is read starts with SOS, and what is written ends with EOS",
    parts=("what the decoder reads", "what it must write"),
)
def shifted(answer: np.ndarray, sos: int, eos: int) -> Iterator:
    """The reader's `shifted(answer, sos, eos)` returns what the decoder reads and what it must write."""
    reads, writes, both = [sos, *answer], [*answer, eos], [sos, *answer, eos]
    yield (reads, writes), "at each place the decoder has read the words before, and must write the next one"
    added = "answer is an array, and + adds to its numbers: to put SOS in front, write [sos, *answer]"
    yield (sos + answer, ...), added
    yield (..., answer + eos), added
    yield (writes, reads), "the two lists are in the wrong order: first what it reads, then what it writes"
    yield (
        (both, both),
        "both lists are the same sentence, so each place is given the word that it must write: move one of them by one place",
    )
    yield (reads, answer), "what it must write lacks EOS at the end: the decoder would never learn to stop"
    yield (answer, writes), "what it reads lacks SOS in front: nothing leads to the first word"
    yield (both, writes), "after EOS there is nothing to write, so EOS is never read"
    yield (reads, reads), "SOS is read, and never written"
    yield ([sos, *answer[:-1]], answer), "EOS is missing: the decoder would never learn to stop"
    yield ([1, *answer], [*answer, 2]), "use `sos` and `eos`: their ids are not always 1 and 2"


@exercise(
    cases=[
        (
            torch.tensor([[1.0, 2.0, 3.0, 7.0], [5.0, 9.0, 8.0, 6.0], [0.5, 0.25, 4.0, 2.5]], dtype=torch.float64),
            torch.tensor([[7, 5, 2, 0], [2, 0, 0, 0], [4, 6, 8, 2]]),
        )
    ],
    hint="Choose the places where target_out is not 0, then take the mean",
)
def mean_loss(place_losses: Tensor, target_out: Tensor) -> Iterator:
    """The reader's `mean_loss(place_losses, target_out)` returns the mean over the places that are no padding."""
    real = target_out != 0
    yield place_losses[real].mean(), "padding changes nothing, and every real word counts the same"
    yield place_losses.mean(), "that is the mean over all places: leave those out where target_out is 0"
    yield place_losses[real].sum(), "that is the sum over the real places: divide by how many there are"
    yield (place_losses * real).mean(), "the padding is gone from the sum, but it is still counted: divide by the real places"
    yield (
        ((place_losses * real).sum(1) / real.sum(1)).mean(),
        "that is the mean of the sentences' means: there a word in a short sentence counts more than one in a long sentence. "
        "Take one mean over all real places of the batch",
    )
    yield place_losses[target_out > 2].mean(), "EOS (id 2) is left out too: the decoder must learn to write it, so it counts"
    yield place_losses[~real].mean(), "that is the mean over the padding: take the other places"


def _scores(best: dict[int, int]) -> np.ndarray:
    """Return scores (word, next word) in which the best word after `word` is `best[word]`."""
    scores = np.random.default_rng(1).normal(size=(len(best), len(best)))
    for word, following in best.items():
        scores[word, following] = scores[word].max() + 1
    return scores


def _walk(scores: np.ndarray, sos: int, eos: int | None, max_len: int) -> list[int]:
    word, words = sos, []
    while len(words) < max_len and word != eos:
        word = int(scores[word].argmax())
        words.append(word)
    return words


@exercise(
    cases=[
        (_scores({1: 5, 5: 3, 3: 4, 4: 2, 2: 5, 0: 0}), 1, 2, 10),
        (_scores({1: 3, 3: 5, 5: 3, 4: 2, 2: 4, 0: 0}), 1, 2, 4),
        (_scores({1: 2, 2: 3, 3: 4, 4: 5, 5: 2, 0: 0}), 1, 2, 3),
        (_scores({4: 1, 1: 3, 3: 0, 0: 5, 5: 2, 2: 1}), 4, 0, 6),
    ],
    hint="The next word is the one with the highest score in the row of the word before",
)
def write(scores: np.ndarray, sos: int, eos: int, max_len: int) -> Iterator:
    """The reader's `write(scores, sos, eos, max_len)` follows the best next word until EOS or `max_len` words."""
    right = _walk(scores, sos, eos, max_len)
    yield right, "it reads its own words, and stops after EOS or when it has no room left"
    yield [sos, *right], "the start sign is not part of the answer"
    yield right[:-1] if right[-1] == eos else right, "the end sign is part of the answer: write it, then stop"
    yield _walk(scores, sos, None, max_len), "it does not stop: after EOS nothing may follow"
    for start, end in ((1, 2), (1, eos), (sos, 2)):
        yield _walk(scores, start, end, max_len), "start at `sos` and stop at `eos`: their ids are not always 1 and 2"
    yield _walk(scores, sos, eos, max_len + 1), "that is one word more than max_len allows"
    yield _walk(scores, sos, eos, max_len - 1), "that is one word less than max_len allows"
    for more in (max_len + 2, 20, 50, 100):
        yield _walk(scores, sos, eos, more), "max_len words are allowed, and this goes on: count them in the loop"
