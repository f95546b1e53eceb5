"""Drawings of chapter 7: the encoder layer, ten tokens that become one, and every matrix of a layer with its numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle
from torch import Tensor

from transformer_lib.teaching.figures import COLOURS, DIVERGING, arrow, block, card, sheet, show, subplots, text
from transformer_lib.teaching.figures.sheet import number, tint

__all__ = [
    "add_and_norm",
    "embedding",
    "four_heads",
    "gradients",
    "layer",
    "narrower",
    "one_head",
    "projections",
    "ten_tokens",
    "wider",
]

WORDS = ("They", "played", "chess")
CELL, WHOLE = 0.45, 0.29  # inches: the widths of "–1.2" and of "–1"


def _title(axes: Axes, words: str) -> None:
    text(axes, axes.get_xlim()[1] / 2, 0.2, words, size=15, weight="bold")


def _sign(axes: Axes, x: float, y: float, sign: str) -> None:
    text(axes, x, y, sign, size=19 if len(sign) < 2 else None)


def _one(i: int, j: int, value: float) -> str:
    return number(value, 1)


def _two(i: int, j: int, value: float) -> str:
    return f"{value:.2f}".replace("-", "–")


def _named(axes: Axes, x: float, y: float, values: Tensor, colour: str, name: str, **look: Any) -> tuple[float, float]:
    """Draw a matrix below its name and its shape, with one decimal."""
    shape = " × ".join(str(size) for size in torch.atleast_2d(values).shape)
    right, bottom = block(axes, x, y, values, colour, **{"cell": CELL, "label": _one, "shape": False} | look)
    if right - x > 1.8:
        wide = 0.118 * len(name.replace("$", "").replace("_", "")) + 0.1  # of the name, in inches; the shape stands behind it
        start = (x + right - wide - 0.65) / 2
        text(axes, start, y - 0.16, name, "ink" if colour == "position" else colour, weight="bold", ha="left")
        text(axes, start + wide + 0.12, y - 0.16, shape, "muted", ha="left")
    else:
        text(axes, (x + right) / 2, y - 0.4, name, colour, weight="bold")
        text(axes, (x + right) / 2, y - 0.16, shape, "muted")
    return right, bottom


def _flow(axes: Axes, x: float, y: float, mixing: bool) -> None:
    """Draw three tokens that pass a sublayer, each by itself or to each other."""
    for i in range(3):
        for j in range(3) if mixing else [i]:
            ends = [y + 0.2 * i, y + 0.2 * j]
            axes.plot([x, x + 0.7], ends, color=COLOURS["muted"], lw=1.3)
        for side in (x, x + 0.7):
            axes.add_patch(Circle((side, y + 0.2 * i), 0.055, fc=COLOURS["ink"], ec="none", zorder=3))


def layer() -> None:
    """Show one encoder layer: the stream of tokens, and two sublayers that add to it."""
    alt = (
        "One encoder layer from left to right. A brown line, the residual stream, carries the tokens x. Above it, a copy goes "
        "through multi-head attention, where lines cross because tokens meet, and a plus adds the result to the stream; a "
        "norm follows, and the stream is called z. A copy of z goes through the feed-forward network, where each token runs "
        "alone; a plus and a norm again, then the output. Six such layers are the encoder."
    )
    with sheet(7.2, 3.35, alt) as axes:
        _title(axes, "Mix the tokens, then work on each")
        line = 2.45
        card(axes, 0.62, 0.5, 5.92, 2.45, "encoder", fill=0.0)
        axes.plot([0.35, 6.62], [line, line], color=COLOURS["residual"], lw=5, zorder=1.5)
        arrow(axes, (6.55, line), (6.85, line), "residual")
        text(axes, 0.32, line, "x", weight="bold", ha="right")
        text(axes, 0.05, line + 0.28, "3 × 8", "muted", ha="left")
        text(axes, 7.15, line + 0.28, "3 × 8", "muted", ha="right")
        text(axes, 3.62, line - 0.2, "z", weight="bold")
        for x, role, name, mixing in [
            (0.95, "query", "multi-head\nattention", True),
            (3.85, "value", "feed-forward\nnetwork", False),
        ]:
            card(axes, x, 0.72, 1.75, 1.2, role)
            text(axes, x + 0.875, 0.98, name, role, weight="bold", linespacing=1.05)
            _flow(axes, x + 0.525, 1.36, mixing)
            axes.plot([x + 0.1, x + 0.1], [line, 2.05], color=COLOURS["residual"], lw=2)
            arrow(axes, (x + 0.1, 2.1), (x + 0.1, 1.93), "residual")
            axes.plot([x + 1.62, x + 1.62], [1.92, 2.2], color=COLOURS[role], lw=2)
            arrow(axes, (x + 1.62, 2.1), (x + 1.62, line - 0.15), role)
            axes.add_patch(Circle((x + 1.62, line), 0.15, fc="white", ec=COLOURS["residual"], lw=2, zorder=2))
            text(axes, x + 1.62, line - 0.01, "+", "residual", size=17, weight="bold", zorder=3)
            axes.add_patch(
                Rectangle((x + 1.88, line - 0.16), 0.62, 0.32, fc=tint("mask", 0.1), ec=COLOURS["mask"], lw=1.8, zorder=2)
            )
            text(axes, x + 2.19, line, "norm", "mask")
        text(axes, 2.68, line + 0.3, "add & norm", "muted")
        text(axes, 5.58, line + 0.3, "add & norm", "muted")
        text(axes, 0.62, 3.17, "brown: the residual stream", "residual", ha="left")
        text(axes, 6.54, 3.17, "6 layers = the encoder", "encoder", ha="right", weight="bold")


def ten_tokens(tokens: Tensor, replaced: Tensor, added: Tensor) -> None:
    """Show ten tokens as rows of colours: at first, and after three layers that replace or add."""
    panels = {"ten random tokens": tokens, "replaced, 3 times": replaced, "added to, 3 times": added}
    figure, grid = subplots(columns=3, width=7.2, height=2.6)
    for axes, (name, rows) in zip(grid, panels.items(), strict=True):
        limit = float(rows.detach().abs().max())
        look = {"cmap": DIVERGING, "vmin": -limit, "vmax": limit}
        axes.imshow(rows.detach()[0], aspect="auto", interpolation="nearest", **look)
        axes.set(title=name, xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    figure.suptitle("Replaced, ten rows become one; added to, they stay ten", weight="bold", size=14)
    show(
        figure,
        alt="Three pictures of ten rows of 32 coloured squares; a row is a token. At first all rows differ. After three layers "
        "that replace the tokens by what attention gives, all rows are the same, so that only upright stripes are left. "
        "After three layers that add it, the ten rows still differ.",
    )


def embedding(table: Tensor, embedded: Tensor, positions: Tensor, x: Tensor, words: Sequence[str]) -> None:
    """Show rows looked up in a table, and the positions added to them."""
    alt = (
        "On the left a dashed embedding table of 5 words by 8 numbers. On the right a sum: its first three rows, the embedding "
        "output E, 3 by 8, plus the positions P, 3 by 8, give X, 3 by 8. Only the table is learned."
    )
    with sheet(7.2, 4.3, alt) as axes:
        _title(axes, "Only the table is learned; its rows are looked up")
        _named(axes, 0.82, 0.9, table, "residual", "embedding table", rows=words, learned=True, cell=WHOLE)
        axes.add_patch(Rectangle((0.79, 0.87), 8 * WHOLE + 0.06, 0.93, fill=False, ec=COLOURS["ink"], lw=2.2))
        arrow(axes, (3.2, 1.33), (3.48, 1.2))
        text(axes, 1.75, 3.1, "dashed: learned\nsolid: computed anew\nfor each sentence", "muted", linespacing=1.4)
        for i, (sign, matrix, role, name) in enumerate(
            [("", embedded, "residual", "output E"), ("+", positions, "position", "positions P"), ("=", x, "residual", "X")]
        ):
            top = 0.75 + 1.2 * i
            _sign(axes, 3.38, top + 0.43, sign)
            _named(axes, 3.52, top, matrix, role, name)


def _product(row: Tensor, column: Tensor) -> str:
    """Write a row times a column as a sum of the terms whose weight is not 0."""
    terms = [f"({number(x, 1)}) · ({number(w, 1)})" for x, w in zip(row, column, strict=True) if w]
    return " + ".join(terms).replace("(0)", "0").replace("(1)", "1") + f" = {number(row @ column, 1)}"


def projections(X: Tensor, weights: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    """Show X times W_Q, W_K and W_V of one head: each result stands right of X and below its matrix."""
    alt = (
        "X, 3 by 8, with three dashed matrices W Q, W K and W V, 8 by 2 each, above its right end. Where the rows of X meet "
        "the columns of a matrix stand the products Q, K and V, 3 by 2 each."
    )
    with sheet(7.2, 4.75, alt) as axes:
        _title(axes, "One head: from 8 numbers a token to 2")
        low = 3.62
        right, _ = _named(axes, 0.8, low, X, "residual", "X", cell=0.38, rows=WORDS)
        x = right + 0.13
        for role, name, W, result in zip(("query", "key", "value"), "QKV", weights, results, strict=True):
            _named(axes, x, 1.0, W, role, f"$W_{name}$", cell=0.49, learned=True)
            edge, _ = block(axes, x, low, result, role, cell=0.49, label=_one)
            text(axes, (x + edge) / 2, low - 0.16, name, role, weight="bold")
            x = edge + 0.12
        text(axes, 0.12, 0.95, "Each result stands right of X\nand below its matrix.", ha="left", linespacing=1.35)
        text(axes, 0.12, 1.7, "A row of X times a column of\n$W_Q$: the first number of Q is", ha="left", linespacing=1.35)
        text(axes, 0.12, 2.18, _product(X[0], weights[0][:, 0]), "query", ha="left")


def one_head(q: Tensor, k: Tensor, v: Tensor, weights: Tensor, mixed: Tensor) -> None:
    """Show scores, weights and what the head gives."""
    alt = (
        "Above: Q, 3 by 2, times K transposed, 2 by 3, divided by root 2, gives the scores, 3 by 3. Below: their softmax, the "
        f"weights, 3 by 3, times V, 3 by 2, gives the output of the head, 3 by 2. The weights of played are "
        f"{', '.join(f'{w:.2f}' for w in weights[1])}."
    )
    with sheet(7.2, 3.65, alt) as axes:
        _title(axes, "Everyone looks at everyone, so scores are 3 × 3")
        top, low, wide = 0.8, 2.4, {"cell": 0.6, "label": _two}
        right, _ = block(axes, 0.82, top, q, "query", name="Q", cell=0.49, label=_one, rows=WORDS)
        _sign(axes, right + 0.15, top + 0.43, "·")
        right, _ = block(axes, right + 0.3, top + 0.145, k.T, "key", name="$K^T$", cell=0.49, label=_one)
        text(axes, right + 0.42, top + 0.43, "/ √2  =")
        left = right + 0.82
        right, _ = block(axes, left, top, q @ k.T / 2**0.5, "encoder", name="scores", **wide)
        text(axes, 0.62, low + 0.43, "softmax\nof each\nrow:")
        deep = {"strength": lambda i, j, w: 0.04 + 0.5 * w}
        right, _ = block(axes, 1.95, low, weights, "query", name="weights", rows=WORDS, **wide, **deep)
        _sign(axes, right + 0.15, low + 0.43, "·")
        right, _ = block(axes, right + 0.3, low, v, "value", name="V", cell=0.49, label=_one)
        _sign(axes, right + 0.2, low + 0.43, "=")
        block(axes, right + 0.4, low, mixed, "value", name="head 0", **wide)


def four_heads(joined: Tensor, W_O: Tensor, attended: Tensor) -> None:
    """Show the outputs of the heads side by side, times W_O."""
    alt = (
        "The outputs of four heads, 3 by 2 each, side by side are one matrix, 3 by 8. Times the dashed matrix W O, 8 by 8, it "
        "gives the attention output, 3 by 8."
    )
    with sheet(7.2, 3.35, alt) as axes:
        _title(axes, "Four heads of width 2 are again 8 numbers a token")
        roles = ["value", "query", "key", "encoder"]
        look = {"colour_of": lambda i, j: roles[j // 2], "cell": 0.49, "label": _one, "shape": False}
        right, _ = block(axes, 0.35, 0.95, joined, "ink", **look)
        for h, role in enumerate(roles):
            text(axes, 0.35 + (2 * h + 1) * 0.49, 0.79, f"head {h}", role, weight="bold")
        text(axes, (0.35 + right) / 2, 1.97, "3 × 8", "muted")
        _sign(axes, right + 0.16, 1.38, "·")
        _named(axes, right + 0.32, 0.75, W_O, "value", "$W_O$", cell=WHOLE, learned=True)
        _sign(axes, 0.18, 2.83, "=")
        _named(axes, 0.35, 2.4, attended, "value", "attention output", cell=0.49)


def add_and_norm(X: Tensor, attended: Tensor, Z: Tensor, gamma: Tensor, beta: Tensor) -> None:
    """Show the sum, the mean and deviation of each row, and the normalised rows."""
    total = X + attended
    mean, deviation = total.mean(dim=-1, keepdim=True), total.std(dim=-1, correction=0, keepdim=True)
    alt = (
        "X plus the attention output gives the sum, 3 by 8. Beside it stand mean and standard deviation of each row. A "
        "row minus its mean, divided by its deviation, gives Z, 3 by 8. Beside Z the dashed vectors of the norm: gamma, eight "
        "ones, and beta, eight zeros."
    )
    with sheet(7.2, 5.45, alt) as axes:
        _title(axes, "Add, then bring each token back to one size")
        for i, (sign, matrix, role, name) in enumerate(
            [
                ("", X, "residual", "X"),
                ("+", attended, "value", "attention output"),
                ("=", total, "residual", "sum"),
                ("norm", Z, "residual", "Z"),
            ]
        ):
            top = 0.75 + 1.2 * i
            _sign(axes, 0.6 if len(sign) < 2 else 0.35, top + 0.43, sign)
            right, _ = _named(axes, 0.82, top, matrix, role, name, rows=() if sign else WORDS)
        look = {"cell": 0.68, "label": _two, "shape": False, "strength": 0.12}
        block(axes, right + 0.3, 3.15, mean, "mask", name="mean", **look)
        block(axes, right + 1.45, 3.15, deviation, "mask", name="deviation", **look)
        _named(axes, right + 0.22, 4.35, gamma, "mask", "γ", cell=WHOLE, learned=True)
        _named(axes, right + 0.22, 5.02, beta, "mask", "β", cell=WHOLE, learned=True)
        first = [number(value, 1) for value in (X[0, 0], attended[0, 0], total[0, 0], Z[0, 0])]
        signed = [value if value[0].isdigit() else f"({value})" for value in (*first, _two(0, 0, float(mean[0])))]
        lines = [f"{signed[0]} + {signed[1]} = {first[2]}", f"{signed[2]} – {signed[4]}"]
        lines += [f"divided by {float(deviation[0]):.2f}", f"= {first[3]}"]
        text(axes, right + 0.22, 1.3, "The first number of They:", ha="left")
        text(axes, right + 0.22, 2.05, "\n".join(lines), ha="left", linespacing=1.4)


def wider(Z: Tensor, W: Tensor, b: Tensor, hidden: Tensor, kept: Tensor) -> None:
    """Show the first half of the feed-forward network: Z · W_1 + b_1, and the ReLU."""
    alt = (
        "Z, 3 by 8, times the dashed matrix W 1, 8 by 12, plus the dashed vector b 1, gives F 1, 3 by 12. The ReLU sets its "
        "negative numbers to 0, which gives F 2, 3 by 12."
    )
    with sheet(7.2, 6.5, alt) as axes:
        _title(axes, "Wider, and a ReLU: negative numbers become 0")
        right, _ = _named(axes, 0.05, 0.75, Z, "residual", "Z")
        _sign(axes, right + 0.1, 1.18, "·")
        _named(axes, right + 0.2, 0.75, W, "encoder", "$W_1$", cell=0.275, learned=True)
        text(axes, 1.85, 2.3, "Each row for itself:\nhere no tokens meet.", linespacing=1.35)
        _lines(axes, 0.9, [("+", "$b_1$", b), ("=", "$F_1$", hidden), ("ReLU", "$F_2$", kept)], 3.55)


def narrower(kept: Tensor, W: Tensor, b: Tensor, change: Tensor, out: Tensor) -> None:
    """Show the second half: F_2 · W_2 + b_2, then add & norm."""
    alt = (
        "F 2, 3 by 12, times the dashed matrix W 2, 12 by 8, plus the dashed vector b 2, gives F 3, 3 by 8. Added to Z and "
        "normalised, it is the output of the layer, 3 by 8."
    )
    with sheet(7.2, 5.15, alt) as axes:
        _title(axes, "Narrow again, then added and normalised")
        right, _ = _named(axes, 0.05, 0.75, kept, "encoder", "$F_2$", cell=0.37)
        _sign(axes, right + 0.1, 1.18, "·")
        _named(axes, right + 0.2, 0.75, W, "encoder", "$W_2$", cell=WHOLE, learned=True)
        _lines(axes, 0.75, [("+", "$b_2$", b), ("=", "$F_3$", change), ("norm", "norm(Z + $F_3$)", out)], 2.2)


def _lines(axes: Axes, left: float, lines: Sequence[tuple[str, str, Tensor]], top: float) -> None:
    """Draw a bias and what follows, one below the other."""
    for sign, name, matrix in lines:
        rows = torch.atleast_2d(matrix).size(0)
        learned, role = rows == 1, "residual" if "Z" in name else "encoder"
        _sign(axes, left - (0.18 if len(sign) < 2 else 0.4), top + 0.145 * rows, sign)
        _, top = _named(axes, left, top, matrix, role, name, learned=learned)
        top += 0.36


def gradients(found: Mapping[str, tuple[Tensor, Tensor]]) -> None:
    """Draw gradients and sizes by layer: means as lines, and the smallest and largest seed as an area."""
    figure, panels = subplots(columns=2, width=7.2, height=3.4)
    for (name, both), style, role in zip(found.items(), ("-", "--"), ("query", "key"), strict=True):
        for axes, runs in zip(panels, both, strict=True):
            layers = range(1, runs.size(1) + 1)
            axes.plot(layers, runs.mean(dim=0), style, color=COLOURS[role], label=name)
            axes.fill_between(layers, runs.amin(dim=0), runs.amax(dim=0), color=COLOURS[role], alpha=0.2)
    panels[0].set(title="size of the gradient", xlabel="layer", ylim=(0, None))
    panels[1].set(title="size of the numbers", xlabel="layer", ylim=(0, None))
    panels[1].legend(frameon=False)
    figure.suptitle("In pre-norm the numbers grow, and the first layers get more", weight="bold", size=14)
    show(
        figure,
        alt="Two panels over 18 layers, mean and range of eight seeds. Left, the gradient of a matrix by layer: in pre-norm it "
        "falls from the first layers to the last; in post-norm it is about even, with a wide range. Right, the typical size of "
        "a number: 1 in every layer of post-norm; in pre-norm it grows from about 1 to more than 4.",
    )
