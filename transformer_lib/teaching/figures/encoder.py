"""Drawings of chapter 7: the encoder layer, ten tokens that become one, and every matrix of a layer with its numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Circle
from torch import Tensor

from transformer_lib.teaching.figures.plots import COLOURS, DIVERGING, band, show, subplots
from transformer_lib.teaching.figures.sheet import arrow, block, card, frame, heading, number, sheet, text, tint

WORDS = ("They", "played", "chess")
WHOLE = 0.29  # inches: the width of "–1"


def _sign(axes: Axes, x: float, y: float, sign: str, **look: Any) -> None:
    text(axes, x, y, sign, size=19 if len(sign) < 2 else None, **look)


def _signed(value: Tensor, digits: int = 1) -> str:
    return number(value, digits) if value >= 0 else f"({number(value, digits)})"


def _product(row: Tensor, column: Tensor, bias: float = 0.0) -> str:
    """Write a row times a column, and a bias, as a sum of the terms that are not 0."""
    terms = [f"{_signed(x)} · {_signed(w)}" for x, w in zip(row, column, strict=True) if w and round(float(x), 1)]
    return " + ".join([*terms, *([_signed(bias)] if bias else [])]) + f" = {number(row @ column + bias, 1)}"


def _named(axes: Axes, x: float, y: float, values: Tensor, colour: str, name: str, **look: Any) -> tuple[float, float]:
    """Draw a matrix below its name and its shape, with one decimal."""
    right, bottom = block(axes, x, y, values, colour, **{"cell": 0.45, "digits": 1, "shape": False} | look)
    shape = ("   " if right - x > 1.8 else "\n") + " × ".join(map(str, values.shape))
    look = {"weight": "bold", "va": "bottom"}
    text(axes, (x + right) / 2, y - 0.05, name + shape, "ink" if colour == "position" else colour, **look)
    return right, bottom


def _column(axes: Axes, x: float, y: float, parts: Sequence[tuple], rows: Sequence[str] = ()) -> float:
    """Draw matrices below each other, each behind its sign, the first with names of its rows; return the right edge."""
    for sign, name, role, matrix in parts:
        _sign(axes, x - 0.12, y + 0.43, sign, ha="right")
        right, bottom = _named(axes, x, y, matrix, role, name, rows=() if sign else rows)
        y = bottom + 0.33
    return right


def _plus(axes: Axes, x: float, y: float) -> None:
    axes.add_patch(Circle((x, y), 0.15, fc="white", ec=COLOURS["residual"], lw=2, zorder=2))
    text(axes, x, y - 0.01, "+", "residual", size=17, weight="bold", zorder=3)


def _norm(axes: Axes, x: float, y: float) -> None:
    frame(axes, x - 0.31, y - 0.16, 0.62, 0.32, "mask", fc=tint("mask", 0.1), zorder=4)
    text(axes, x, y, "norm", "mask", zorder=5)


def layer() -> None:
    """Show one encoder layer: the stream of tokens, and two sublayers that add to it."""
    alt = (
        "One encoder layer from left to right. A brown line, the residual stream, carries the tokens x. Above it, a copy goes "
        "through multi-head attention, where lines cross because tokens meet, and a plus adds the result to the stream; a "
        "norm follows, and the stream is called z. A copy of z goes through the feed-forward network, where each token runs "
        "alone; a plus and a norm again, then the output. Six such layers are the encoder."
    )
    with sheet(7.2, 3.35, alt) as axes:
        heading(axes, "Mix the tokens, then work on each")
        line, brown = 2.45, COLOURS["residual"]
        card(axes, 0.62, 0.5, 5.92, 2.45, "encoder", fill=0.0)
        axes.plot([0.35, 6.62], [line, line], color=brown, lw=5, zorder=1.5)
        arrow(axes, (6.55, line), (6.85, line), "residual")
        text(axes, 0.32, line, "x", weight="bold", ha="right")
        text(axes, 3.62, line - 0.2, "z", weight="bold")
        for x in (0.32, 6.88):
            text(axes, x, line + 0.28, "3 × 8", "muted")
        for x, role, name in [(0.95, "query", "multi-head\nattention"), (3.85, "value", "feed-forward\nnetwork")]:
            card(axes, x, 0.72, 1.75, 1.2, role)
            text(axes, x + 0.875, 0.98, name, role, weight="bold", linespacing=1.05)
            for i in range(3):  # three tokens, each by itself or to each other
                for j in range(3) if role == "query" else [i]:
                    ends = [1.36 + 0.2 * i, 1.36 + 0.2 * j]
                    axes.plot([x + 0.525, x + 1.225], ends, "o-", color=COLOURS["muted"], mfc="black", mec="black", lw=1.3)
            arrow(axes, (x + 0.1, line), (x + 0.1, 1.93), "residual")
            arrow(axes, (x + 1.62, 1.92), (x + 1.62, line - 0.15), role)
            _plus(axes, x + 1.62, line)
            _norm(axes, x + 2.19, line)
            text(axes, x + 1.73, line + 0.3, "add & norm", "muted")
        text(axes, 0.62, 3.17, "brown: the residual stream", "residual", ha="left")
        text(axes, 6.54, 3.17, "6 layers = the encoder", "encoder", ha="right", weight="bold")


def ten_tokens(tokens: Tensor, replaced: Tensor, added: Tensor) -> None:
    """Show ten tokens as rows of colours: at first, and after three layers that replace or add."""
    panels = {"ten random tokens": tokens, "replaced, 3 times": replaced, "added to, 3 times": added}
    figure, grid = subplots(columns=3, width=7.2, height=2.6)
    for axes, (name, rows) in zip(grid, panels.items(), strict=True):
        limit = float(rows.detach().abs().max())
        axes.imshow(rows.detach()[0], cmap=DIVERGING, vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
        axes.set(title=name, xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    figure.suptitle("Replaced, ten rows become one; added to, they stay ten", weight="bold", size=14)
    show(
        figure,
        alt="Three pictures of ten rows of 32 coloured squares; a row is a token. At first all rows differ. After three layers "
        "that replace the tokens by what attention gives, all rows are the same, so that only upright stripes are left. "
        "After three layers that add it, the ten rows still differ.",
    )


def bends() -> None:
    """Draw what two numbers inside a feed-forward network give behind their ReLU, and their sum, for all inputs."""
    figure, panels = subplots(columns=2, width=7.2, height=3.3, share_y=True)
    inputs = torch.linspace(-3, 3, 61)
    for axes, shift in zip(panels, (0, 1), strict=True):
        first, second = (inputs - shift).relu(), (-inputs - shift).relu()
        axes.plot(inputs, first + second, color=COLOURS["ink"], lw=3, label="their sum")
        for line, role, name in [(first, "query", f"a − {shift}"), (second, "key", f"−a − {shift}")]:
            label = f"ReLU({name.removesuffix(' − 0')})"
            axes.plot(inputs, line, ls=(0, (4, 2)), color=COLOURS[role], lw=2.5, label=label)
        axes.set(title="Both bend at 0" if not shift else "With biases, at 1 and −1", xlabel="a", ylim=(-0.2, 4.6))
        axes.legend(loc="upper center", fontsize="small")
    show(
        figure,
        alt="Two panels with an input a from −3 to 3. Left: ReLU(a) rises from 0 on, ReLU(−a) falls until 0, and their sum is "
        "the distance from 0, with one bend. Right, with a bias of −1 each, the sum is 0 between −1 and 1, and bends at both.",
    )


def embedding(table: Tensor, embedded: Tensor, positions: Tensor, x: Tensor, words: Sequence[str]) -> None:
    """Show rows looked up in a table, and the positions added to them."""
    alt = (
        "On the left a dashed embedding table of 5 words by 8 numbers. On the right a sum: its first three rows, looked up, "
        "are E, 3 by 8; plus the positions P, 3 by 8, they give X, 3 by 8. Only the table is learned."
    )
    with sheet(7.2, 4.3, alt) as axes:
        heading(axes, "Only the table is learned; its rows are looked up")
        _named(axes, 0.82, 0.9, table, "residual", "embedding table", rows=words, learned=True, cell=WHOLE)
        frame(axes, 0.79, 0.87, 8 * WHOLE + 0.06, 0.93, lw=2.2)
        arrow(axes, (3.2, 1.33), (3.48, 1.2))
        text(axes, 1.75, 3.1, "dashed: learned\nsolid: not learned", "muted", linespacing=1.4)
        parts = [("", "looked-up rows E", "residual", embedded), ("+", "positions P", "position", positions)]
        _column(axes, 3.52, 0.75, [*parts, ("=", "X", "residual", x)])


def projections(X: Tensor, weights: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    """Show X times W_Q, W_K and W_V of one head: each result stands right of X and below its matrix."""
    alt = (
        "X, 3 by 8, with three dashed matrices W Q, W K and W V, 8 by 2 each, above its right end. Where the rows of X meet "
        "the columns of a matrix stand the products Q, K and V, 3 by 2 each."
    )
    with sheet(7.2, 4.75, alt) as axes:
        heading(axes, "One head: from 8 numbers a token to 2")
        low = 3.62
        right, _ = _named(axes, 0.8, low, X, "residual", "X", cell=0.38, rows=WORDS)
        x = right + 0.13
        for role, name, W, result in zip(("query", "key", "value"), "QKV", weights, results, strict=True):
            _named(axes, x, 1.0, W, role, f"$W_{name}$", cell=0.49, learned=True)
            edge, _ = block(axes, x, low, result, role, cell=0.49, name=name)
            x = edge + 0.12
        text(axes, 0.12, 0.95, "Each result stands right of X\nand below its matrix.", ha="left", linespacing=1.35)
        text(axes, 0.12, 1.7, "The first number of Q, where\nthe other products are 0:", ha="left", linespacing=1.35)
        text(axes, 0.12, 2.18, _product(X[0], weights[0][:, 0]), "query", ha="left")


def one_head(q: Tensor, k: Tensor, v: Tensor, weights: Tensor, mixed: Tensor) -> None:
    """Show scores, weights and what the head gives."""
    alt = (
        "Above: Q, 3 by 2, times K transposed, 2 by 3, divided by root 2, gives the scores, 3 by 3. Below: their softmax, the "
        f"weights, 3 by 3, times V, 3 by 2, gives the output of the head, 3 by 2. The weights of played are "
        f"{', '.join(f'{w:.2f}' for w in weights[1])}."
    )
    with sheet(7.2, 3.65, alt) as axes:
        heading(axes, "Everyone looks at everyone, so scores are 3 × 3")
        top, low, wide, narrow = 0.8, 2.4, {"cell": 0.6, "label": ".2f"}, {"cell": 0.49}
        right, _ = block(axes, 0.82, top, q, "query", name="Q", rows=WORDS, **narrow)
        _sign(axes, right + 0.15, top + 0.43, "·")
        right, _ = block(axes, right + 0.3, top + 0.145, k.T, "key", name="$K^T$", **narrow)
        text(axes, right + 0.42, top + 0.43, "/ √2  =")
        block(axes, right + 0.82, top, q @ k.T / 2**0.5, "encoder", name="scores", **wide)
        text(axes, 0.62, low + 0.43, "softmax\nof each\nrow:")
        deep = {"strength": lambda i, j, w: 0.04 + 0.5 * w}
        right, _ = block(axes, 1.95, low, weights, "query", name="weights", rows=WORDS, **wide, **deep)
        _sign(axes, right + 0.15, low + 0.43, "·")
        right, _ = block(axes, right + 0.3, low, v, "value", name="V", **narrow)
        _sign(axes, right + 0.2, low + 0.43, "=")
        block(axes, right + 0.4, low, mixed, "value", name="head 0", **wide)


def four_heads(joined: Tensor, W_O: Tensor, attended: Tensor) -> None:
    """Show the outputs of the heads side by side, times W_O."""
    alt = (
        "The outputs of four heads, 3 by 2 each, side by side are one matrix, 3 by 8. Times the dashed matrix W O, 8 by 8, it "
        "gives the attention output, 3 by 8."
    )
    with sheet(7.2, 3.35, alt) as axes:
        heading(axes, "Four heads of width 2 are again 8 numbers a token")
        roles = ["value", "query", "key", "encoder"]
        right, _ = block(axes, 0.35, 0.95, joined, "ink", cell=0.49, digits=1, colour_of=lambda i, j: roles[j // 2])
        for h, role in enumerate(roles):
            text(axes, 0.35 + (2 * h + 1) * 0.49, 0.79, f"head {h}", role, weight="bold")
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
        heading(axes, "Add, then bring each token back to one size")
        parts = [("", "X", "residual", X), ("+", "attention output", "value", attended), ("=", "sum", "residual", total)]
        side = 0.22 + _column(axes, 0.82, 0.75, [*parts, ("norm", "Z", "residual", Z)], WORDS)
        for x, name, values in [(0.08, "mean", mean), (1.23, "deviation", deviation)]:
            block(axes, side + x, 3.15, values, "mask", name=name, cell=0.68, label=".2f", shape=False, strength=0.12)
        _named(axes, side, 4.35, gamma, "mask", "γ", cell=WHOLE, learned=True)
        _named(axes, side, 5.02, beta, "mask", "β", cell=WHOLE, learned=True)
        added = f"{_signed(X[0, 0])} + {_signed(attended[0, 0])} = {number(total[0, 0], 1)}"
        norm = f"{_signed(total[0, 0])} – {_signed(mean[0], 2)}\ndivided by {number(deviation[0])}\n= {number(Z[0, 0], 1)}"
        text(axes, side, 1.8, f"The first number of They:\n{added}\n{norm}", ha="left", linespacing=1.4)


def wider(Z: Tensor, W: Tensor, b: Tensor, hidden: Tensor, kept: Tensor) -> None:
    """Show the first half of the feed-forward network: Z · W_1 + b_1, and the ReLU."""
    alt = (
        "Z, 3 by 8, times the dashed matrix W 1, 8 by 12, plus the dashed vector b 1, gives F 1, 3 by 12. The ReLU sets its "
        "negative numbers to 0, which gives F 2, 3 by 12."
    )
    with sheet(7.2, 6.3, alt) as axes:
        heading(axes, "Wider, and a ReLU: negative numbers become 0")
        right, _ = _named(axes, 0.05, 0.75, Z, "residual", "Z")
        _sign(axes, right + 0.1, 1.18, "·")
        _, bottom = _named(axes, right + 0.2, 0.75, W, "encoder", "$W_1$", cell=0.275, learned=True)
        _named(axes, right + 0.2, bottom + 0.35, b, "encoder", "$b_1$", cell=0.275, learned=True)
        _sign(axes, right + 0.04, bottom + 0.5, "+")
        words = _product(Z[0], W[:, 0], b[0]).replace(" + ", "\n+ ", 1)
        text(axes, 0.12, 2.4, f"The first number of $F_1$:\n{words}", ha="left", linespacing=1.4)
        _column(axes, 0.9, bottom + 1.05, [("=", "$F_1$", "encoder", hidden), ("ReLU", "$F_2$", "encoder", kept)])


def narrower(kept: Tensor, W: Tensor, b: Tensor, change: Tensor, Z: Tensor, out: Tensor) -> None:
    """Show the second half: F_2 · W_2 + b_2, then add & norm."""
    alt = (
        "F 2, 3 by 12, times the dashed matrix W 2, 12 by 8, plus the dashed vector b 2, gives F 3, 3 by 8; with Z added, the "
        "sum, 3 by 8; and normalised, the output of the layer, 3 by 8."
    )
    with sheet(7.2, 6.15, alt) as axes:
        heading(axes, "Narrow again, then added and normalised")
        right, bottom = _named(axes, 0.05, 0.75, kept, "encoder", "$F_2$", cell=0.36)
        _sign(axes, right + 0.12, 1.18, "·")
        words = _product(kept[0], W[:, 0], b[0])
        text(axes, 0.12, bottom + 0.46, f"The first number of $F_3$:\n{words}", ha="left", linespacing=1.4)
        _, below = _named(axes, right + 0.24, 0.75, W, "encoder", "$W_2$", cell=WHOLE, learned=True)
        _named(axes, right + 0.24, below + 0.35, b, "encoder", "$b_2$", cell=WHOLE, learned=True)
        _sign(axes, right + 0.12, below + 0.5, "+")
        parts = [("=", "$F_3$", "encoder", change), ("+ Z", "sum", "residual", Z + change), ("norm", "output", "residual", out)]
        _column(axes, 0.72, bottom + 1.15, parts)


def two_orders() -> None:
    """Show both orders of plus and norm: after the plus on the residual stream, or before the sublayer."""
    alt = (
        "Two drawings of a residual stream, whose copy goes through a sublayer and is added by a plus. On the left, post-norm: "
        "a norm stands on the stream, after the plus. On the right, pre-norm: the norm stands on the copy, before the "
        "sublayer, and nothing but the plus stands on the stream."
    )
    with sheet(7.2, 2.45, alt) as axes:
        line = 2.05
        orders = [(0.15, "post-norm: on the stream", (2.3, line)), (3.9, "pre-norm: on the copy", (0.55, 1.5))]
        for x, name, (norm_x, norm_y) in orders:
            text(axes, x + 1.5, 0.2, name, weight="bold")
            axes.plot([x, x + 2.95], [line, line], color=COLOURS["residual"], lw=5, zorder=1.5)
            arrow(axes, (x + 2.85, line), (x + 3.15, line), "residual")
            card(axes, x + 0.2, 0.5, 1.75, 0.6, "query", "sublayer")
            arrow(axes, (x + 0.55, line), (x + 0.55, 1.11), "residual")
            arrow(axes, (x + 1.7, 1.1), (x + 1.7, line - 0.15), "query")
            _plus(axes, x + 1.7, line)
            _norm(axes, x + norm_x, norm_y)


def gradients(found: Mapping[str, tuple[Tensor, Tensor]]) -> None:
    """Draw gradients and sizes by layer: means as lines, and the smallest and largest seed as an area."""
    figure, panels = subplots(columns=2, width=7.2, height=3.4)
    for (name, both), style, role in zip(found.items(), ("-", "--"), ("query", "key"), strict=True):
        for axes, runs in zip(panels, both, strict=True):
            band(axes, range(1, runs.size(1) + 1), runs.double().numpy(), style, role, name, alpha=0.2)
    for axes, title in zip(panels, ("size of the gradient", "size of the numbers"), strict=True):
        axes.set(title=title, xlabel="layer", ylim=(0, None))
    panels[1].legend(frameon=False)
    figure.suptitle("In pre-norm the numbers grow, and the first layers get more", weight="bold", size=14)
    show(
        figure,
        alt="Two panels over 18 layers, mean and range of eight seeds. Left, the gradient of a matrix by layer: in pre-norm it "
        "falls from the first layers to the last; in post-norm it is about even, with a wide range. Right, the typical size of "
        "a number: 1 in every layer of post-norm; in pre-norm it grows from about 1 to more than 4.",
    )
