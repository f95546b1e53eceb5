"""Checks for the exercises of chapter 14, A translator."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import pairwise

from transformer_lib.teaching.exercises import Hint, _, check, compare, exercise


def _join(pieces: Sequence[str], pair: tuple[str, str]) -> list[str]:
    joined: list[str] = []
    for piece in pieces:
        if joined and (joined[-1], piece) == pair:
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def _learn(counts: dict[str, int], how_many: int, mark: str = "▁", weighed: bool = True) -> list[tuple[str, str]]:
    """Return the merges of byte-pair encoding: without the mark, or with each word counted once."""
    words = {word: [*mark, *word] for word in counts}
    merges = []
    for _merge in range(how_many):
        pairs: Counter = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                pairs[pair] += counts[word] if weighed else 1
        merges.append(max(pairs, key=pairs.get))
        words = {word: _join(pieces, merges[-1]) for word, pieces in words.items()}
    return merges


@exercise(cases=[()], hint=_("Begin with ▁ and the six characters, and apply the merges in their order"))
def pieces_of_slower() -> Iterator:
    """The reader's `pieces_of_slower()` returns the pieces of *slower* after the page's four merges."""
    yield ["▁", "s", "l", "o", "we", "r"], _("l and o were never joined without the mark before them")
    says = _("there is no merge l + o: the third joins ▁l and o, and here no mark stands before the l")
    yield ["▁", "s", "lo", "we", "r"], says
    yield ["▁", *"slower"], _("one merge fits: w + e")
    yield ["s", "l", "o", "we", "r"], _("the mark ▁ before the word is a piece, too")


# No two pairs are equally frequent when they are to be joined.
_TEXTS = [
    ({"banana": 3, "ban": 4, "nab": 2}, 2),
    ({"abab": 5, "b": 4, "cab": 1}, 2),
    ({"aa": 6, "ca": 7, "ba": 5, "b": 3}, 3),
]


@check
def my_merges(attempt: Callable) -> str:
    """The reader's `my_merges(counts, how_many)` returns the pairs that byte-pair encoding joins, in order."""
    written = lambda merges: [" + ".join(pair) for pair in merges]
    for counts, how_many in _TEXTS:
        found = attempt(counts, how_many)
        if not isinstance(found, list) or not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in found):
            raise Hint(_("return a list of pairs, such as [('w', 'e'), ('▁', 'l')]"))
        once: Counter = Counter()
        for word, count in counts.items():
            for pair in pairwise(["▁", *word]):
                once[pair] += count
        answers = [
            (_learn(counts, how_many), _("each merge is counted anew, weighed by how often its words occur")),
            ([pair for pair, _ in once.most_common(how_many)], _("carry out each merge before you count again")),
            (_learn(counts, how_many, mark=""), _("begin each word with the mark ▁")),
            (_learn(counts, how_many, weighed=False), _("a word counts as often as it occurs: counts[word]")),
        ]
        hint = _("Count all pairs of neighbours, join the most frequent one in each word, and count again")
        praise = compare([(written(found), [(written(merges), line) for merges, line in answers], [""])], hint)
    return praise


def _longest(word: str, pieces: Set[str], choose: Callable = max) -> tuple[list[str], bool]:
    """Return the pieces from the left, and whether they reach the end of the word."""
    rest, found = word, []
    while rest and (fitting := [piece for piece in pieces if rest.startswith(piece)]):
        found.append(choose(fitting, key=len))
        rest = rest[len(found[-1]) :]
    return found, not rest


_PIECES = {"▁", "▁lo", "▁lower", "l", "o", "lo", "w", "e", "we", "wer", "r", "ered"}


@exercise(
    cases=[(word, _PIECES) for word in ("lower", "low", "lowered", "owl", "were", "box", "lox")],
    hint=_("Take the longest piece that the rest begins with, until nothing is left"),
)
def longest_pieces(word: str, pieces: Set[str]) -> Iterator:
    """The reader's `longest_pieces(word, pieces)` takes the longest piece that fits, again and again from the left."""
    unknown = ["<unknown>"]
    found, whole = _longest("▁" + word, pieces)
    yield found if whole else unknown, _("the longest piece first, and no order of merges is needed")
    for hint, (others, all_fit) in {
        _("put the mark ▁ before the word: pieces with it fit at the beginning"): _longest(word, pieces),
        _("this takes the shortest piece that fits; take the longest"): _longest("▁" + word, pieces, min),
    }.items():
        yield others if all_fit else unknown, hint
    yield found, _('where nothing fits, the whole word is ["<unknown>"], also when a beginning did fit')
    yield found if whole else found + unknown, _('the whole word is ["<unknown>"], not only what is left of it')
