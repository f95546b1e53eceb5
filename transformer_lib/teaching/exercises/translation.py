"""Checks for the exercises of chapter 14, A translator."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import pairwise

from transformer_lib.teaching.exercises import Hint, check, compare, exercise


def _without_mark(pieces: Sequence[str]) -> list[str]:
    return [piece for piece in (pieces[0].removeprefix("▁"), *pieces[1:]) if piece]


def _join(pieces: Sequence[str], pair: tuple[str, str], most: int = 1000) -> list[str]:
    """Return `pieces` with `pair` joined at its first `most` places."""
    joined: list[str] = []
    for piece in pieces:
        if joined and (joined[-1], piece) == pair and most:
            joined[-1] += piece
            most -= 1
        else:
            joined.append(piece)
    return joined


def _learn(counts: dict[str, int], how_many: int, mark: str = "▁", weighed: bool = True, most: int = 1000) -> list[tuple]:
    """Return the merges of byte-pair encoding: without the mark, with each word counted once, or joined `most` times a word."""
    words = {word: [*mark, *word] for word in counts}
    merges = []
    for _ in range(how_many):
        pairs: Counter = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                pairs[pair] += counts[word] if weighed else 1
        merges.append(max(pairs, key=pairs.get))
        words = {word: _join(pieces, merges[-1], most) for word, pieces in words.items()}
    return merges


def _written(merges: Sequence) -> list[str]:
    return [" + ".join(pair) for pair in merges]


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


@exercise(cases=[()], hint="Begin with ▁ and the six characters, and apply the merges in their order")
def pieces_of_slower() -> Iterator:
    """The reader's `pieces_of_slower()` returns the pieces of *slower* after the page's four merges."""
    pieces = ["▁", *"slower"]
    for pair in _learn({"low": 5, "lower": 2, "newest": 6}, 4):
        pieces = _join(pieces, pair)
    yield pieces, "l and o were never joined without the mark before them"
    yield ["▁", "s", "lo", "we", "r"], "there is no merge l + o: the third joins ▁l and o, and here no mark stands before the l"
    yield ["▁", *"slower"], "one merge fits: w + e"
    yield _without_mark(pieces), "the mark ▁ before the word is a piece, too"
    yield ["▁s", "l", "o", "we", "r"], "▁ and s were never joined: no word of the text begins with s"


# No two pairs are equally frequent when they are to be joined.
_TEXTS = [
    ({"banana": 3, "ban": 4, "nab": 2}, 2),
    ({"abab": 5, "b": 4, "cab": 1}, 2),
    ({"aa": 6, "ca": 7, "ba": 5, "b": 3}, 3),
]


@check
def my_merges(attempt: Callable) -> str:
    """The reader's `my_merges(counts, how_many)` returns the pairs that byte-pair encoding joins, in order."""
    slips = []
    for counts, how_many in _TEXTS:
        found = attempt(counts, how_many)
        if isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], list):
            raise Hint("return the list of pairs alone, without the words")
        if not isinstance(found, list) or not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in found):
            raise Hint("return a list of pairs, such as [('w', 'e'), ('▁', 'l')]")
        right = _learn(counts, how_many)
        pairs: Counter = Counter()
        for word, count in counts.items():
            for pair in pairwise(["▁", *word]):
                pairs[pair] += count
        once = [pair for pair, _ in pairs.most_common(how_many)]
        slips.append(
            [
                (_written(right), "each merge is counted anew, weighed by how often its words occur"),
                (_written(once), "carry out each merge before you count again: it changes the pairs"),
                (_written(_learn(counts, how_many, mark="")), "begin each word with the mark ▁"),
                (
                    _written(_learn(counts, how_many, weighed=False)),
                    "a word counts as often as it occurs: counts[word]",
                ),
                (_written(_learn(counts, how_many, most=1)), "join the pair everywhere in a word, not only at its first place"),
            ]
        )
        compare(
            _written(found),
            slips[-1],
            "Count all pairs of neighbours, join the most frequent one in each word, and count again",
        )
    return slips[0][0][1]


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
