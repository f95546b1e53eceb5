"""Drawings of chapter 6: a dictionary of people, matrices that attend, maps of weights, several heads."""

from collections.abc import Callable, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Circle, Polygon, Rectangle
from torch import Tensor

from transformer_lib.teaching.figures import COLOURS, arrow, block, card, frame, heading, sheet, text
from transformer_lib.teaching.figures.sheet import number, tint

WORDS = ("They", "played", "chess")
_SLANTED = {"rotation": 45, "rotation_mode": "anchor", "ha": "left", "va": "bottom"}


def _cut(axes: Axes, x: float, top: float, low: float) -> None:
    axes.plot([x, x], [top, low], color=COLOURS["ink"], lw=2.3, ls=(0, (3, 2)))


def _weights(axes: Axes, x: float, y: float, weights: Tensor, name: str = "weights") -> tuple[float, float]:
    """Draw weights with three decimals, the row of *played* in a frame."""
    deep = {"strength": lambda i, j, w: 0.04 + 0.5 * w, "label": ".3f"}
    right, bottom = block(axes, x, y, weights, "query", name=name, cell=0.6, **deep)
    frame(axes, x, y + 0.29, right - x, 0.29, lw=2.4)
    return right, bottom


def people_with_badges() -> None:
    """Show the query, three people with badges who answer, and what one hears."""
    alt = (
        "The query, a verb if possible in the past, is called out to three people. Each wears a badge, the key: subject; "
        "verb, past; object, half a verb. Each says a word, the value, the louder the better the badge fits: They with the "
        "weight 0.026, played with 0.858, chess with 0.116. One hears a mixture, mostly played."
    )
    people = [("They", 0.026, 14, "subject"), ("played", 0.858, 25, "verb\npast"), ("chess", 0.116, 16, "object\nhalf a verb")]
    with sheet(7.2, 3.55, alt) as axes:
        heading(axes, "The better a key fits the query, the louder its value")
        card(axes, 0.1, 0.46, 5.5, 0.42, "query")
        text(axes, 0.24, 0.67, "query", "query", weight="bold", ha="left")
        text(axes, 3.35, 0.67, "“A verb, if possible in the past?”", "query")
        for y, name, role in [(1.36, "value", "value"), (2.5, "key", "key"), (3.09, "weight", "query")]:
            text(axes, 0.1, y, name, role, weight="bold", ha="left")
        top = 0.95
        for x, (word, weight, size, badge) in zip((1.62, 3.22, 4.82), people, strict=True):
            wide, high = 0.0092 * size * len(word) + 0.24, 0.2 + 0.0135 * size
            card(axes, x - wide / 2, 1.36 - high / 2, wide, high, "value", fill=0.06 + 0.35 * weight)
            foot = 1.36 + high / 2
            tip = [(x - 0.07, foot), (x + 0.07, foot), (x, foot + 0.11)]
            axes.add_patch(Polygon(tip, fc=COLOURS["value"], ec=COLOURS["value"]))
            text(axes, x, 1.36, word, "value", size=size, weight="bold")
            axes.add_patch(Circle((x, 1.98), 0.16, fc=tint("ink", 0.16)))
            axes.add_patch(Rectangle((x - 0.74, 2.16), 1.48, 0.68, fc=tint("ink", 0.16)))
            card(axes, x - 0.68, 2.22, 1.36, 0.56, "key", fill=0.0)
            text(axes, x, 2.5, badge, "key", linespacing=1.05)
            axes.add_patch(Rectangle((x - 0.65, 2.98), 1.3, 0.2, fc=tint("query", 0.12)))
            axes.add_patch(Rectangle((x - 0.65, 2.98), 1.3 * weight, 0.2, fc=COLOURS["query"]))
            text(axes, x, 3.36, f"{weight:.3f}", "query", weight="bold")
            axes.add_patch(Rectangle((6.0, top), 1.12, 2.0 * weight, fc=tint("value", 0.14 + 0.22 * weight), ec="white"))
            if weight > 0.1:
                text(axes, 6.56, top + weight, word, "black", size=20 if weight > 0.5 else None)
            top += 2.0 * weight
        frame(axes, 6.0, 0.95, 1.12, 2.0, "value")
        text(axes, 6.56, 0.67, "you hear", "value", weight="bold")
        text(axes, 6.56, 3.15, "a mixture", "value")
        arrow(axes, (5.65, 1.6), (5.95, 1.6), "value")


def one_look_up(q: Tensor, K: Tensor, V: Tensor) -> None:
    """Show score, weigh and mix for one query, number by number."""
    dots = K @ q
    scores = dots / K.size(-1) ** 0.5
    powers = scores.exp()
    weights = powers / powers.sum()
    alt = (
        f"The query {q.tolist()} is compared with three keys, which gives the dot products {dots.tolist()}. Divided by 2, "
        f"raised to e and divided by their sum, they become the weights {', '.join(f'{w:.3f}' for w in weights)}. The three "
        f"values, mixed by these weights, give {', '.join(f'{x:.3f}' for x in weights @ V)}."
    )
    with sheet(7.2, 3.45, alt) as axes:
        heading(axes, "Score, weigh, mix: numbers to check by hand")
        block(axes, 0.85, 0.72, q, "query", name="query q", shape=False)
        arrow(axes, (1.43, 1.04), (1.43, 1.28), "query")
        top = 1.6
        block(axes, 0.85, top, K, "key", name="keys", shape=False, cell=0.29, high=0.36, rows=WORDS)
        for x, name in [(2.45, "q · k"), (3.12, "÷ 2"), (3.92, "$e^{score}$")]:
            text(axes, x, top - 0.18, name, "muted")
        text(axes, 4.95, top - 0.18, "weight", "query", weight="bold")
        for i in range(len(K)):
            y = top + (i + 0.5) * 0.36
            for x, value in [(2.45, dots[i]), (3.12, scores[i]), (3.92, powers[i])]:
                text(axes, x, y, number(value))
            axes.add_patch(Rectangle((4.42, y - 0.12), 0.7 * weights[i], 0.24, fc=COLOURS["query"]))
            text(axes, 4.5 + 0.7 * float(weights[i]), y, f"{weights[i]:.3f}", ha="left")
        block(axes, 6.15, top, V, "value", name="values", shape=False, high=0.36, cell=0.4)
        for left, right, step in [(2.15, 3.38, "1 score"), (3.52, 5.72, "2 weigh"), (6.0, 7.1, "3 mix")]:
            axes.plot([left, right], [1.14, 1.14], color=COLOURS["muted"], lw=1.4)
            text(axes, (left + right) / 2, 0.92, step, weight="bold")
        arrow(axes, (6.55, 2.74), (6.55, 2.98), "value")
        parts = " + ".join(f"{weight:.3f} {word}" for weight, word in zip(weights, WORDS, strict=True))
        text(axes, 5.75, 3.21, f"{parts}  =", ha="right")
        block(axes, 5.88, 3.03, weights @ V, "value", shape=False, cell=0.62, high=0.36, strength=0.3, label=".3f")


def self_attention(X: Tensor, Q: Tensor, K: Tensor, V: Tensor, weights: Tensor, mixed: Tensor) -> None:
    """Show words → Q, K, V → scores → weights → mixtures, with all numbers."""
    alt = (
        "Matrices as blocks of numbers. The three words, X, 3 by 4, are multiplied by three matrices and become queries Q, 3 "
        "by 4, keys K, 3 by 4, and values V, 3 by 2. Below, Q times K transposed, divided by 2, gives scores, 3 by 3; the "
        "softmax of each row gives weights, 3 by 3; weights times V give the mixtures, 3 by 2. The row of played has the "
        "weights 0.468 for They, 0.063 for itself, 0.468 for chess."
    )
    with sheet(7.2, 3.8, alt) as axes:
        heading(axes, "The framed row: played looks at They and at chess")
        top, low = 0.8, 2.55
        right, _ = block(axes, 0.85, top, X, "ink", name="words X", rows=WORDS)
        arrow(axes, (right + 0.08, top + 0.43), (2.72, top + 0.43))
        made = [(2.8, Q, "query", "$Q = XW_Q$"), (4.42, K, "key", "$K = XW_K$"), (6.1, V, "value", "$V = XW_V$")]
        for x, matrix, role, name in made:
            block(axes, x, top, matrix, role, name=name)
        right, _ = block(axes, 0.85, low, Q @ K.T / K.size(-1) ** 0.5, "encoder", name="scores", rows=WORDS)
        text(axes, (0.85 + right) / 2, low - 0.44, "$QK^T / \\sqrt{4}$", "muted")
        arrow(axes, (right + 0.08, low + 0.43), (3.0, low + 0.43))
        text(axes, (right + 3.05) / 2, low + 0.22, "softmax", "muted")
        right, _ = _weights(axes, 3.1, low, weights)
        arrow(axes, (right + 0.08, low + 0.43), (5.6, low + 0.43))
        text(axes, (right + 5.65) / 2, low + 0.22, "· V", "muted")
        right, _ = block(axes, 5.7, low, mixed, "value", name="mixtures", cell=0.6, strength=0.25, label=".3f")
        frame(axes, 5.7, low + 0.29, 1.2, 0.29, lw=2.4)


def _cells(axes: Axes, x: float, y: float, weights: Tensor, wide: float, high: float, label: Callable) -> None:
    """Draw weights as cells, and write those from 0.05 on."""
    look = {"shape": False, "cell": wide, "high": high, "strength": lambda i, j, w: 0.05 + 0.7 * w}
    block(axes, x, y, weights, "query", label=lambda i, j, w: label(w) if w >= 0.05 else "", **look)


def weight_map(words: Sequence[str], weights: Tensor, notes: Mapping[tuple[int, int], str], title: str) -> None:
    """Show a map of weights; `notes` says something about some of its cells, as {(row, column): text}."""
    said = " ".join(f"{words[i]} gives {weights[i, j]:.2f} to {words[j]}; {note}." for (i, j), note in notes.items())
    with sheet(7.2, 4.3, f"A map of attention weights, a row for each word that looks: {', '.join(words)}. {said}") as axes:
        heading(axes, title)
        left, top, side = 1.25, 1.5, 0.45
        text(axes, left + len(words) * side / 2 + 0.2, 0.6, "word looked at", "muted")
        text(axes, 0.17, top + len(words) * side / 2, "word that looks", "muted", rotation=90)
        for n, word in enumerate(words):
            text(axes, left + (n + 0.5) * side, top - 0.06, word, **_SLANTED)
            text(axes, left - 0.1, top + (n + 0.5) * side, word, ha="right")
        _cells(axes, left, top, weights, side, side, lambda w: f".{round(100 * w):02d}")
        for (i, j), note in notes.items():
            frame(axes, left + j * side, top + i * side, side, side, lw=2.4)
            text(axes, left + len(words) * side + 0.15, top + (i + 0.5) * side, note, ha="left")


def view_alone(rows: Tensor, split: Tensor, wrong: Tensor) -> None:
    """Show what head 0 gets from `split_heads` and from `view` alone; a colour is a word."""
    alt = (
        "Left, three rows of four numbers, a colour for each word, cut in the middle into head 0 and head 1. Middle, head 0 by "
        "split_heads: the first two numbers of each word. Right, head 0 by view alone: both halves of word 0, then half of "
        "word 1; word 2 is missing."
    )

    def colours(matrix: Tensor) -> Callable[[int, int], str]:
        return lambda i, j: ("encoder", "key", "value")[int(matrix[i, j]) // 10]

    with sheet(7.2, 2.3, alt) as axes:
        heading(axes, "By view alone, head 0 never sees word 2")
        look = {"cell": 0.42, "high": 0.34, "strength": 0.28, "shape": False}
        top = 0.88
        block(axes, 0.95, top, rows, "muted", colour_of=colours(rows), rows=["word 0", "word 1", "word 2"], **look)
        _cut(axes, 1.79, top - 0.12, top + 1.14)
        text(axes, 1.37, top - 0.18, "head 0")
        text(axes, 2.21, top - 0.18, "head 1")
        arrow(axes, (2.75, top + 0.5), (3.2, top + 0.5))
        ours, theirs = (3.75, split, "split_heads  ✓", "each word’s half"), (5.75, wrong, "view alone  ✗", "word 0 in two rows")
        for x, part, name, says in (ours, theirs):
            block(axes, x, top, part, "muted", colour_of=colours(part), **look)
            text(axes, x + 0.42, top - 0.18, name, weight="bold")
            text(axes, x + 0.42, top + 1.22, says, "muted")


def multi_head(
    X: Tensor, W_Q: Tensor, parts: Sequence[Tensor], weights: Tensor, mixed: Tensor, joined: Tensor, W_O: Tensor
) -> None:
    """Show one wide projection, the cut, a look-up in each head, and the way back."""
    alt = (
        "Three steps. First the words X, 3 by 4, times one wide matrix, 4 by 4, give Q, 3 by 4, cut in the middle: the left "
        "half belongs to head 0, the right one to head 1. Then each head makes weights, 3 by 3, from its slices: played gives "
        "0.894 to They in head 0, and 0.894 to chess in head 1. Last the two mixtures side by side, 3 by 4, times W_O, 4 by 4, "
        "give the output, 3 by 4."
    )

    def halves(i: int, j: int, value: float) -> float:
        return 0.14 if j < 2 else 0.4

    with sheet(7.2, 7.75, alt) as axes:
        top = 0.78
        text(axes, 0.06, 0.2, "1  Multiply once, cut the result", ha="left", size=15, weight="bold")
        right, _ = block(axes, 0.85, top, X, "ink", name="X", rows=WORDS)
        text(axes, right + 0.18, top + 0.43, "·", size=20)
        right, _ = block(axes, 2.4, top, W_Q, "query", name="$W_Q$", strength=halves, learned=True)
        text(axes, right + 0.2, top + 0.43, "=", size=16)
        block(axes, 3.98, top, X @ W_Q, "query", name="Q", strength=halves)
        _cut(axes, 2.98, top - 0.07, top + 4 * 0.29)
        _cut(axes, 4.56, top - 0.07, top + 3 * 0.29)
        text(axes, 6.25, top + 0.28, "left: head 0\nright: head 1", linespacing=1.3)
        text(axes, 6.25, top + 0.8, "K, V likewise", "muted")
        text(axes, 0.06, 2.52, r"2  Look up in each head: softmax($QK^T / \sqrt{2}$) · V", ha="left", size=15, weight="bold")
        for head, (low, name) in enumerate([(3.06, "head 0"), (4.4, "head 1")]):
            deep = 0.14 + 0.26 * head
            text(axes, 0.42, low + 0.43, name, linespacing=1.15)
            for x, part, role, letter in zip((0.95, 1.68, 2.41), parts, ("query", "key", "value"), "QKV", strict=True):
                block(axes, x, low, part[head], role, name="" if head else letter, strength=deep)
            arrow(axes, (3.06, low + 0.43), (3.36, low + 0.43))
            right, _ = _weights(axes, 3.44, low, weights[head], name="" if head else "weights")
            arrow(axes, (right + 0.08, low + 0.43), (right + 0.38, low + 0.43))
            block(axes, right + 0.46, low, mixed[head], "value", cell=0.5, name="" if head else "mixtures", strength=deep)
        text(axes, 0.06, 5.75, "3  Join, and combine the heads", ha="left", size=15, weight="bold")
        low = 6.42
        right, _ = block(axes, 0.85, low, joined, "value", cell=0.5, name="joined", strength=halves, rows=WORDS)
        text(axes, right + 0.13, low + 0.43, "·", size=20)
        deep = {"strength": lambda i, j, w: 0.05 + 0.2 * abs(w), "learned": True}
        right, _ = block(axes, 3.1, low - 0.14, W_O, "encoder", name="$W_O$", **deep)
        text(axes, right + 0.16, low + 0.43, "=", size=16)
        block(axes, right + 0.3, low, joined @ W_O, "encoder", cell=0.62, name="output", strength=0.12)


def where_they_look(
    people: Sequence[str], games: Sequence[str], asked: Sequence[int], rows: Mapping[str, Tensor], title: str
) -> None:
    """Show where each head looks, a row of weights for each, when two people are asked for."""
    # In a mixture it depends on the processor who is ahead.
    seen = {name: f"{people[row.argmax()]}, {row.max():.2f}" if row.max() > 0.9 else "a mixture" for name, row in rows.items()}
    said = " ".join(f"{name}: {seen[name]}." for name in rows)
    with sheet(7.2, 1.95 + 0.42 * len(rows), f"Eight people, each with a game, and where each head looks. {said}") as axes:
        heading(axes, title)
        left, top, cell = 1.5, 1.72, 0.6
        for j, (person, game) in enumerate(zip(people, games, strict=True)):
            look = {"weight": "bold"} if j in asked else {}
            text(axes, left + (j + 0.4) * cell, top - 0.06, f"{person}: {game}", "key" if look else "ink", **look, **_SLANTED)
        for i, (name, weights) in enumerate(rows.items()):
            y = top + 0.42 * i
            text(axes, left - 0.1, y + 0.19, name, ha="right")
            _cells(axes, left, y, weights[None], cell, 0.38, lambda w: f"{w:.2f}")
