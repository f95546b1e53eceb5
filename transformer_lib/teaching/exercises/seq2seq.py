"""Checks for the exercises of chapter 1, The limits of seq2seq."""

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from transformer_lib.teaching.exercises import exercise

__all__ = ["bits_in_sentence", "mean_loss", "shifted", "write"]


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


@exercise(
    cases=[(16, 10), (1, 8), (5, 2)],
    hint="Start small: one symbol of 8 takes 3 bits. How many do two of them take, and how many `length` of them?",
)
def bits_in_sentence(length: int, symbols: int) -> Iterator:
    """The reader's `bits_in_sentence(length, symbols)` returns how many bits name a row of `length` symbols."""
    bits = math.log2(symbols)
    shown = "16 symbols out of ten take 53 bits, and 32 numbers of 32 bits could hold 1024"
    yield length * bits, shown
    yield math.ceil(length * bits), shown  # so many yes-or-no questions
    yield math.floor(length * bits), "rounded down it is too little: 53 questions cannot tell all rows apart, 53.15 bits can"
    yield symbols**length, "that is how many rows there are; the bits are its log2"
    yield length * symbols, "one of 8 symbols takes log2(8) = 3 bits, not 8"
    yield math.log2(length * symbols), "that names one place in a table of `length` times `symbols`, not a whole row"
    yield length * math.log(symbols), "that is the natural logarithm; bits need log2"
    yield length * math.log10(symbols), "that is the logarithm to base 10; bits need log2"
    yield symbols * math.log2(length), "length and symbols are exchanged"
    yield length * math.ceil(bits), "do not round each symbol: 16 symbols out of ten do with 54 yes-or-no questions, not 64"
    yield bits, "that is one symbol; the row has `length` of them"
    yield length * symbols / 2, "it is not half of the symbols: each question halves what is left"
