"""Checks for the exercises of chapter 14, A translator."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from transformer_lib.teaching.check import Hint, exercise, expect_formula

__all__ = ["brevity_penalty", "clipped_precision", "elide", "encode_word"]

_SHORT = "je|ne|le|la|me|te|de|que"


@exercise
def elide(attempt: Callable) -> str:
    """The reader's `elide(text)` takes the last letter of je, ne, le, la, me, te, de and que before a vowel."""
    cases = ["je aime le chat", "il ne est pas ici", "je ne le aime pas", "parce que elle a la orange", "une amie", "le chat"]
    for text in cases:
        result = attempt(text)
        if not isinstance(result, str):
            raise Hint(f"the result is of type {type(result).__name__}, expected a string")
        right = re.sub(rf"\b({_SHORT}) (?=[aeiou])", lambda match: match[1][:-1] + "'", text)
        if result == right:
            continue
        for wrong, hint in (
            (text, "nothing has changed: re.sub and replace return the new text and leave the old one as it is"),
            (re.sub(rf"\b({_SHORT}) (?=[aeiou])", lambda match: match[1][:-1] + "' ", text), "no space follows the apostrophe"),
            (re.sub(rf"\b({_SHORT}) (?=[aeiou])", r"\1'", text), "the vowel before the apostrophe has to go"),
            (re.sub(rf"\b({_SHORT}) ", lambda match: match[1][:-1] + "'", text), "only before a vowel: le chat stays le chat"),
            (re.sub(rf"({_SHORT}) (?=[aeiou])", lambda match: match[1][:-1] + "'", text), "whole words only: une stays une"),
            (re.sub(r"e (?=[aeiou])", "'", text), "whole words only, and la loses its letter as well"),
        ):
            if result == wrong:
                raise Hint(hint)
        raise Hint(f"{text!r} gives {result!r}, expected {right!r}")
    return "je, ne, le, la, me, te, de and que lose their vowel before another one, and une and le chat stay"


@exercise
def clipped_precision(attempt: Callable) -> str:
    """The reader's `clipped_precision(prediction, reference)` is the share of predicted words that the reference also has."""

    def right(prediction: Sequence[str], reference: Sequence[str]) -> float:
        return (Counter(prediction) & Counter(reference)).total() / len(prediction)

    texts = [
        ("le le le le", "le chat dort"),
        ("je ne vois pas le chien", "je ne vois pas ce chien"),
        ("le chat et le chien", "le chien et le chat dorment ici"),
        ("le le chien", "le chat"),
        ("oui", "non"),
    ]
    expect_formula(
        attempt,
        cases=[(prediction.split(), reference.split()) for prediction, reference in texts],
        right=right,
        mistakes=[
            (lambda p, r: sum(word in r for word in p) / len(p), "a word counts at most as often as the reference has it: clip"),
            (lambda p, r: len(set(p) & set(r)) / len(p), "a word that both have twice counts twice: sets forget that"),
            (lambda p, r: len(set(p) & set(r)) / len(set(p)), "count every word, not every different word"),
            (lambda p, r: right(p, r) * len(p) / len(r), "that is recall: divide by the number of words of the prediction"),
            (lambda p, r: right(p, r) * len(p), "these are the counts: divide by the number of words of the prediction"),
        ],
        hint="Sum, over the different words, the smaller of the two counts; divide by the length of the prediction",
    )
    return "le le le le gets 1/4 now, and not 4/4"


@exercise
def brevity_penalty(attempt: Callable) -> str:
    """The reader's `brevity_penalty(c, r)` is 1, or e to the power 1 - r / c where the predictions are too short."""
    expect_formula(
        attempt,
        cases=[(4, 6), (6, 6), (9, 6), (1, 20)],
        right=lambda c, r: min(1.0, math.exp(1 - r / c)),
        mistakes=[
            (lambda c, r: math.exp(1 - r / c), "predictions that are longer than the references get no bonus: at most 1"),
            (lambda c, r: min(1.0, math.exp(1 - c / r)), "the two lengths are in the wrong places: c is the predictions'"),
            (lambda c, r: min(1.0, c / r), "the penalty is an exponential: e to the power 1 − r / c"),
            (lambda c, r: min(1.0, math.exp(r / c - 1)), "the sign is turned round: 1 − r / c is negative where c is too small"),
        ],
        hint="It is e to the power 1 − r / c for c below r, and 1 otherwise",
    )
    return "too short costs, too long does not: there the precisions pay"


@exercise
def encode_word(attempt: Callable) -> str:
    """The reader's `encode_word(word, merges)` starts with characters and applies the merges in the order they were learned."""
    merges = [("w", "e"), ("▁", "l"), ("▁l", "o"), ("e", "we"), ("l", "l"), ("n", "e"), ("ne", "we")]
    for word in ("lower", "low", "newel", "well", "cow", "a", "llll"):
        result = attempt(word, list(merges))
        if not isinstance(result, list | tuple) or not all(isinstance(piece, str) for piece in result):
            raise Hint(f"the result is of type {type(result).__name__}, expected a list of pieces")
        right = _encode(word, merges)
        if list(result) == right:
            continue
        for wrong, hint in (
            (["▁", *word], "no merge is applied yet"),
            (_encode(word, merges)[1:] if right[0] == "▁" else [right[0].removeprefix("▁"), *right[1:]], "the mark ▁ is missing"),
            (_encode(word, merges[::-1]), "the merges are applied in the wrong order: the first one learned comes first"),
            (_encode("lower", merges[:1]), "only the first merge is applied"),
        ):
            if list(result) == wrong:
                raise Hint(hint)
        raise Hint(f"{word!r} gives {_listed(result)}, expected {_listed(right)}. Apply merge after merge, each everywhere")
    return "a word that training never had is still made of known pieces"


def _encode(word: str, merges: Sequence[tuple[str, str]]) -> list[str]:
    pieces = ["▁", *word]
    for pair in merges:
        joined: list[str] = []
        # A piece that was just joined may join again only in a later merge.
        free = False
        for piece in pieces:
            if free and (joined[-1], piece) == pair:
                joined[-1] += piece
                free = False
            else:
                joined.append(piece)
                free = True
        pieces = joined
    return pieces


def _listed(pieces: Any) -> str:
    return " ".join(pieces)
