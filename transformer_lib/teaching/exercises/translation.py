"""Checks for the exercises of chapter 14, A translator."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set

from transformer_lib.teaching.exercises import exercise

__all__ = ["clipped_precision", "elide", "encode_word", "longest_pieces"]

_SHORT = "je|ne|le|la|me|te|de|que"


@exercise(
    cases=[
        (text,)
        for text in (
            "je aime le chat",
            "il ne est pas ici",
            "je ne le aime pas",
            "parce que elle a la orange",
            "une amie",
            "le chat",
            "tu aimes ce ami",
        )
    ],
    hint="Look at each word and at the first letter of the next one",
)
def elide(text: str) -> Iterator:
    """The reader's `elide(text)` takes the last letter of je, ne, le, la, me, te, de and que before a vowel."""

    def joined(words: str, before: str = "(?=[aeiou])", apostrophe: str = "'") -> str:
        return re.sub(rf"{words} {before}", lambda match: match[1][:-1] + apostrophe, text)

    yield (
        joined(rf"\b({_SHORT})"),
        "je, ne, le, la, me, te, de and que lose their vowel before another one, and une and le chat stay",
    )
    yield text, "nothing has changed: re.sub and replace return the new text and leave the old one as it is"
    yield joined(rf"\b({_SHORT})", apostrophe="' "), "no space follows the apostrophe"
    yield re.sub(rf"\b({_SHORT}) (?=[aeiou])", r"\1'", text), "the vowel before the apostrophe has to go"
    yield joined(rf"\b({_SHORT})", before=""), "only before a vowel: le chat stays le chat"
    yield joined(f"({_SHORT})"), "whole words only: une stays une"
    yield joined(rf"( (?:{_SHORT}))"), "the first word is missed: it has no space before it"
    for words in (r"\b(\w[aeiou])", r"\b(\w[aeiou]|que)"):
        yield joined(words), "only the eight words of the list: tu aimes and ce ami stay as they are"
    yield joined(r"(\w*[aeiou])"), "only the eight words of the list: une, tu and ce stay as they are"
    yield re.sub(r"e (?=[aeiou])", "'", text), "whole words only, and la loses its letter as well"


@exercise(
    cases=[
        (prediction.split(), reference.split())
        for prediction, reference in (
            ("le le le le", "le chat dort"),
            ("je ne vois pas le chien", "je ne vois pas ce chien"),
            ("le chat et le chien", "le chien et le chat dorment ici"),
            ("le le chien", "le chat"),
            ("oui", "non"),
        )
    ],
    hint="Sum, over the different words, the smaller of the two counts; divide by the length of the prediction",
)
def clipped_precision(prediction: list[str], reference: list[str]) -> Iterator:
    """The reader's `clipped_precision(prediction, reference)` is the share of predicted words that the reference also has."""
    shared, both = (Counter(prediction) & Counter(reference)).total(), len({*prediction} & {*reference})
    yield shared / len(prediction), "le le le le gets 1/4 now, and not 4/4"
    yield (
        sum(word in reference for word in prediction) / len(prediction),
        "a word counts at most as often as in the reference: clip",
    )
    yield both / len(prediction), "a word that both have twice counts twice: sets forget that"
    yield both / len({*prediction}), "count every word, not every different word"
    yield shared / len(reference), "that is recall: divide by the number of words of the prediction"
    yield shared, "these are the counts: divide by the number of words of the prediction"


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


_MERGES = [("w", "e"), ("▁", "l"), ("▁l", "o"), ("e", "we"), ("l", "o"), ("l", "l"), ("n", "e"), ("ne", "we")]


@exercise(
    cases=[(word, _MERGES) for word in ("lower", "low", "newel", "well", "cow", "a", "llll", "lolo", "wewe")],
    hint="Apply merge after merge, each everywhere",
)
def encode_word(word: str, merges: list[tuple[str, str]]) -> Iterator:
    """The reader's `encode_word(word, merges)` starts with characters and applies the merges in the order they were learned."""
    right = _encode(word, merges)
    yield right, "a word that training never had is still made of known pieces"
    yield ["▁", *word], "no merge is applied yet"
    yield _without_mark(right), "the mark ▁ is missing"
    yield _encode(word, merges[::-1]), "the merges are applied in the wrong order: the first one learned comes first"
    yield _encode(word, merges[:1]), "only the first merge is applied"
    yield _encode(word, merges, most=1), "each merge is applied at its first place only: go on to the end of the word"
    yield _encode_text(word, merges), "pieces are whole: joining characters of a text also joins halves of other pieces"


_PIECES = {"▁", "▁lo", "▁lower", "l", "o", "lo", "w", "e", "we", "wer", "r", "ered"}


@exercise(
    cases=[(word, _PIECES) for word in ("lower", "low", "lowered", "owl", "were", "box", "lox")],
    hint="Take the longest piece that the rest begins with, until nothing is left",
)
def longest_pieces(word: str, pieces: Set[str]) -> Iterator:
    """The reader's `longest_pieces(word, pieces)` takes the longest piece that fits, again and again from the left."""
    right, beginning = _longest(word, pieces), _longest(word, pieces, unknown=[])
    yield right, "the longest piece first, and no order of merges is needed"
    yield _without_mark(right), "the mark ▁ is missing"
    yield _longest(word, pieces, marked=""), "put the mark ▁ before the word: pieces with it fit at the beginning"
    yield _longest(word, pieces, choose=min), "this takes the shortest piece that fits; take the longest"
    yield beginning, 'where nothing fits, the whole word is ["<unknown>"], also when a beginning did fit'
    if right == ["<unknown>"]:
        yield [*beginning, "<unknown>"], 'the whole word is ["<unknown>"], not only what is left of it'
    else:
        yield right[:1], "go on with the rest of the text until nothing is left"
