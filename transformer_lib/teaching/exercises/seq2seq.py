"""Checks for the exercises of chapter 1, The limits of seq2seq."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from transformer_lib.teaching.exercises import Hint, exercise, expect_close, expect_shape, formula

__all__ = ["bits_in_sentence", "mean_loss", "shifted", "write"]


@exercise
def shifted(attempt: Callable) -> str:
    """The reader's `shifted(answer, sos, eos)` returns what the decoder reads and what it must write."""
    for answer, sos, eos in ((np.array([7, 5, 9]), 1, 2), (np.array([4]), 2, 3)):
        result = attempt(answer.copy(), sos, eos)
        try:
            target_in, target_out = result
        except (TypeError, ValueError):
            raise Hint("return two lists: what the decoder reads, and what it must write") from None
        right_in, right_out = [sos, *answer], [*answer, eos]
        given = [_ids(target_in), _ids(target_out)]
        if given[0] == list(sos + answer) or given[1] == list(answer + eos):
            raise Hint("answer is an array, and + adds to its numbers: to put SOS in front, write [sos, *answer]")
        for wrong, hint in (
            ([right_out, right_in], "the two lists are in the wrong order: first what it reads, then what it writes"),
            (
                [[sos, *answer, eos], [sos, *answer, eos]],
                "both lists are the same sentence, so each place is given the word that it must write: move one of "
                "them by one place",
            ),
            ([right_in, [*answer]], "what it must write lacks EOS at the end: the decoder would never learn to stop"),
            ([[*answer], right_out], "what it reads lacks SOS in front: nothing leads to the first word"),
            ([[sos, *answer, eos], right_out], "after EOS there is nothing to write, so EOS is never read"),
            ([right_in, [sos, *answer]], "SOS is read, and never written"),
            ([[sos, *answer[:-1]], [*answer]], "EOS is missing: the decoder would never learn to stop"),
        ):
            if given == [list(map(float, part)) for part in wrong]:
                raise Hint(hint)
        what = f"for the words {answer.tolist()} with sos {sos} and eos {eos},"
        expect_close(target_in, right_in, "It starts with SOS", what=f"{what} what the decoder reads")
        expect_close(target_out, right_out, "It ends with EOS", what=f"{what} what it must write")
    return "at each place the decoder has read the words before, and must write the next one"


@exercise
def mean_loss(attempt: Callable) -> str:
    """The reader's `mean_loss(place_losses, target_out)` returns the mean over the places that are no padding."""
    losses = torch.tensor([[1.0, 2.0, 3.0, 7.0], [5.0, 9.0, 8.0, 6.0], [0.5, 0.25, 4.0, 2.5]], dtype=torch.float64)
    targets = torch.tensor([[7, 5, 2, 0], [2, 0, 0, 0], [4, 6, 8, 2]])
    real = targets != 0
    per_sentence = (losses * real).sum(1) / real.sum(1)
    result = float(expect_shape(attempt(losses.clone(), targets.clone()), ()))
    for mistake, hint in (
        (losses.mean(), "that is the mean over all places: leave those out where target_out is 0"),
        (losses[real].sum(), "that is the sum over the real places: divide by how many there are"),
        ((losses * real).mean(), "the padding is gone from the sum, but it is still counted: divide by the real places"),
        (
            per_sentence.mean(),
            "that is the mean of the sentences' means: there a word in a short sentence counts more than one in a "
            "long sentence. Take one mean over all real places of the batch",
        ),
        (losses[targets > 2].mean(), "EOS (id 2) is left out too: the decoder must learn to write it, so it counts"),
        (losses[~real].mean(), "that is the mean over the padding: take the other places"),
    ):
        if math.isclose(result, mistake.item(), rel_tol=1e-4):
            raise Hint(f"the result is {result:.4g}: {hint}")
    expect_close(result, losses[real].mean().item(), "Choose the places where target_out is not 0, then take the mean")
    return "padding changes nothing, and every real word counts the same"


@exercise
def write(attempt: Callable) -> str:
    """The reader's `write(scores, sos, eos, max_len)` follows the best next word until EOS or `max_len` words."""
    chain = _scores({1: 5, 5: 3, 3: 4, 4: 2, 2: 5, 0: 0})
    circle = _scores({1: 3, 3: 5, 5: 3, 4: 2, 2: 4, 0: 0})
    at_once = _scores({1: 2, 2: 3, 3: 4, 4: 5, 5: 2, 0: 0})
    for scores, max_len, right in ((chain, 10, [5, 3, 4, 2]), (circle, 4, [3, 5, 3, 5]), (at_once, 3, [2])):
        given = _ids(attempt(scores.copy(), 1, 2, max_len))
        endless = [5, 3, 4, 2, 5, 3, 4, 2, 5, 3]
        for wrong, hint in (
            ([1, *right], "the start sign is not part of the answer"),
            (right[:-1] if right[-1] == 2 else None, "the end sign is part of the answer: write it, then stop"),
            (endless if scores is chain else None, "it does not stop: after EOS nothing may follow"),
            ([*right, 3] if scores is circle else None, f"that is one word more than max_len, which is {max_len}"),
            (right[:-1] if scores is circle else None, f"that is one word less than max_len, which is {max_len}"),
        ):
            if wrong is not None and given == list(map(float, wrong)):
                raise Hint(hint)
        if len(given) > max_len:
            raise Hint(f"the answer has {len(given)} words, and max_len allows {max_len}: count them in the loop")
        if given != list(map(float, right)):
            shown = [int(word) if word == round(word) else word for word in given[:12]] if _finite(given) else "no ids"
            raise Hint(
                f"for one table the answer is {shown}, expected {right}. The next word is the one with the highest "
                "score in the row of the word before"
            )
    return "it reads its own words, and stops after EOS or when it has no room left"


@formula(
    cases=[(16, 10), (1, 8), (5, 2)],
    hint="Start small: one symbol of 8 takes 3 bits. How many do two of them take, and how many `length` of them?",
)
def bits_in_sentence(length: int, symbols: int) -> Iterator:
    """The reader's `bits_in_sentence(length, symbols)` returns how many bits name a row of `length` symbols."""
    bits = math.log2(symbols)
    yield length * bits, "16 symbols out of ten take 53 bits, and 32 numbers of 32 bits could hold 1024"
    yield symbols**length, "that is how many rows there are; the bits are its log2"
    yield length * symbols, "one of 8 symbols takes log2(8) = 3 bits, not 8"
    yield math.log2(length * symbols), "that names one place in a table of `length` times `symbols`, not a whole row"
    yield length * math.log(symbols), "that is the natural logarithm; bits need log2"
    yield length * math.log10(symbols), "that is the logarithm to base 10; bits need log2"
    yield symbols * math.log2(length), "length and symbols are exchanged"
    yield length * math.ceil(bits), "do not round: 16 symbols out of ten do with 54 yes-or-no questions, not 64"
    yield bits, "that is one symbol; the row has `length` of them"
    yield length * symbols / 2, "it is not half of the symbols: each question halves what is left"


def _ids(value: Any) -> list[float]:
    """Return a list of ids as numbers; raise `Hint` unless it is flat."""
    try:
        array = np.asarray(value.detach() if hasattr(value, "detach") else value, dtype=float)
    except Exception:
        raise Hint(f"expected a flat list of ids; this {type(value).__name__} is not one") from None
    if array.ndim != 1:
        raise Hint(f"a list of ids has {array.ndim} dimensions, expected a flat list")
    return array.tolist()


def _finite(numbers: list[float]) -> bool:
    return all(map(math.isfinite, numbers))


def _scores(best: dict[int, int]) -> np.ndarray:
    """Return scores (word, next word) in which the best word after `word` is `best[word]`."""
    scores = np.random.default_rng(1).normal(size=(len(best), len(best)))
    for word, following in best.items():
        scores[word, following] = scores[word].max() + 1
    return scores
