"""Checks for the exercises of chapter 14, A translator."""

import re
from collections import Counter
from collections.abc import Callable, Sequence, Set
from typing import Any

from transformer_lib.teaching.exercises import Hint, exercise, expect_formula

__all__ = ["clipped_precision", "elide", "encode_word", "longest_pieces"]

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
            (
                lambda p, r: sum(word in r for word in p) / len(p),
                "a word counts at most as often as in the reference: clip",
            ),
            (lambda p, r: len(set(p) & set(r)) / len(p), "a word that both have twice counts twice: sets forget that"),
            (lambda p, r: len(set(p) & set(r)) / len(set(p)), "count every word, not every different word"),
            (lambda p, r: right(p, r) * len(p) / len(r), "that is recall: divide by the number of words of the prediction"),
            (lambda p, r: right(p, r) * len(p), "these are the counts: divide by the number of words of the prediction"),
        ],
        hint="Sum, over the different words, the smaller of the two counts; divide by the length of the prediction",
    )
    return "le le le le gets 1/4 now, and not 4/4"


@exercise
def encode_word(attempt: Callable) -> str:
    """The reader's `encode_word(word, merges)` starts with characters and applies the merges in the order they were learned."""
    merges = [("w", "e"), ("▁", "l"), ("▁l", "o"), ("e", "we"), ("l", "o"), ("l", "l"), ("n", "e"), ("ne", "we")]
    for word in ("lower", "low", "newel", "well", "cow", "a", "llll", "lolo", "wewe"):
        came = _pieces(attempt(word, list(merges)))
        right = _encode(word, merges)
        if came == right:
            continue
        for wrong, hint in (
            (["▁", *word], "no merge is applied yet"),
            (_without_mark(right), "the mark ▁ is missing"),
            (_encode(word, merges[::-1]), "the merges are applied in the wrong order: the first one learned comes first"),
            (_encode("lower", merges[:1]), "only the first merge is applied"),
            (_encode(word, merges, most=1), "each merge is applied at its first place only: go on to the end of the word"),
            (_encode_text(word, merges), "pieces are whole: joining characters of a text also joins halves of other pieces"),
        ):
            if came == wrong:
                raise Hint(f"{word!r} gives {_listed(came)}: {hint}")
        raise Hint(f"{word!r} gives {_listed(came)}, expected {_listed(right)}. Apply merge after merge, each everywhere")
    return "a word that training never had is still made of known pieces"


@exercise
def longest_pieces(attempt: Callable) -> str:
    """The reader's `longest_pieces(word, pieces)` takes the longest piece that fits, again and again from the left."""
    pieces = {"▁", "▁lo", "▁lower", "l", "o", "lo", "w", "e", "we", "wer", "r", "ered"}
    for word in ("lower", "low", "lowered", "owl", "were", "box", "lox"):
        came = _pieces(attempt(word, set(pieces)))
        right = _longest(word, pieces)
        if came == right:
            continue
        beginning = _longest(word, pieces, unknown=[])
        for wrong, hint in (
            (_without_mark(right), "the mark ▁ is missing"),
            (
                _longest(word, pieces, marked=""),
                "put the mark ▁ before the word: pieces with it fit at the beginning",
            ),
            (_longest(word, pieces, choose=min), "this takes the shortest piece that fits; take the longest"),
            (beginning, 'where nothing fits, the whole word is ["<unknown>"], also when a beginning did fit'),
            ([*beginning, "<unknown>"], 'the whole word is ["<unknown>"], not only what is left of it'),
            (right[:1], "go on with the rest of the text until nothing is left"),
        ):
            if came == wrong != right:
                raise Hint(f"{word!r} gives {_listed(came)}: {hint}")
        raise Hint(f"{word!r} gives {_listed(came)}, expected {_listed(right)}")
    return "the longest piece first, and no order of merges is needed"


def _pieces(result: Any) -> list[str]:
    if not isinstance(result, list | tuple) or not all(isinstance(piece, str) for piece in result):
        raise Hint(f"the result is of type {type(result).__name__}, expected a list of pieces")
    return list(result)


def _without_mark(pieces: Sequence[str]) -> list[str]:
    return [piece for piece in (pieces[0].removeprefix("▁"), *pieces[1:]) if piece]


def _encode(word: str, merges: Sequence[tuple[str, str]], most: int = 1000) -> list[str]:
    """Return the pieces of `word`, with each merge applied at its first `most` places."""
    pieces = ["▁", *word]
    for pair in merges:
        joined: list[str] = []
        places = 0
        # A piece that was just joined may join again only in a later merge.
        free = False
        for piece in pieces:
            if free and (joined[-1], piece) == pair and places < most:
                joined[-1] += piece
                free = False
                places += 1
            else:
                joined.append(piece)
                free = True
        pieces = joined
    return pieces


def _encode_text(word: str, merges: Sequence[tuple[str, str]]) -> list[str]:
    """Return what `replace` makes of a text whose pieces stand apart by spaces."""
    text = " ".join(["▁", *word])
    for left, right in merges:
        text = text.replace(f"{left} {right}", left + right)
    return text.split()


def _longest(
    word: str, pieces: Set[str], marked: str = "▁", choose: Callable = max, unknown: list[str] | None = None
) -> list[str]:
    """Return the longest pieces from the left; where none fits, `unknown` after what was found, or <unknown> alone."""
    rest, found = marked + word, []
    while rest:
        fitting = [piece for piece in pieces if rest.startswith(piece)]
        if not fitting:
            return ["<unknown>"] if unknown is None else found + unknown
        found.append(choose(fitting, key=len))
        rest = rest[len(found[-1]) :]
    return found


def _listed(pieces: Sequence[str]) -> str:
    return " ".join(pieces)
