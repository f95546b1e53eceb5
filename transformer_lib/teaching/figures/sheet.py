"""Drawings of tensors: matrices as blocks of numbers with their shapes, cards and arrows, on a sheet measured in inches."""

#     with sheet(7.2, 2.0, "Three queries, 3 by 4, …") as axes:
#         right, bottom = block(axes, 0.8, 0.5, X, "ink", name="X", rows=words)
#         arrow(axes, (right + 0.1, 0.9), (right + 0.4, 0.9))
#         block(axes, right + 0.5, 0.5, Q, "query", name="Q")
#
# x runs to the right and y downwards. 7.2 inches fill the column of a page; text has the size that a phone needs.
# A colour is a role of the course, such as "query", or a colour of matplotlib.

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib.colors
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Rectangle

from transformer_lib.teaching.figures.plots import PHONE, show, subplots
from transformer_lib.teaching.figures.theme import COLOURS, ROLES_LIGHT

__all__ = ["arrow", "block", "card", "frame", "heading", "number", "sheet", "text", "tint"]

_POINTS = 9 * 72 / PHONE  # of text, for each inch of the sheet: nine pixels where a phone shows it


@contextmanager
def sheet(width: float, height: float, alt: str) -> Iterator[Axes]:
    """Yield empty axes of so many inches, and show the figure with the text `alt` at the end."""
    figure, axes = subplots(width=width, height=height)
    figure.set_layout_engine("none")
    axes.set_position((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    yield axes
    show(figure, alt=alt)


def number(value: float, digits: int = 2) -> str:
    """Write as many decimals as the value needs, `digits` at most, and a minus that is as wide as a digit."""
    value = round(float(value), digits) + 0.0
    shortest = next(n for n in range(digits + 1) if abs(value - round(value, n)) < 1e-9)
    return f"{value:.{shortest}f}".replace("-", "–")


def tint(colour: str, strength: float) -> tuple[float, float, float]:
    """Mix a role's colour with white: 0 is white, 1 the colour itself."""
    red, green, blue = matplotlib.colors.to_rgb(COLOURS.get(colour, colour))
    return tuple(1 - float(strength) * (1 - part) for part in (red, green, blue))


def _written_in(colour: str) -> str:
    """Return the shade of a role that is used for text."""
    return {"position": "#8a4a78", **ROLES_LIGHT}.get(colour, COLOURS.get(colour, colour))


def text(axes: Axes, x: float, y: float, words: str, colour: str = "ink", size: float | None = None, **look: Any) -> None:
    """Write `words` around (x, y); `look` goes to matplotlib's `text`."""
    look = {"ha": "center", "va": "center"} | look
    axes.text(x, y, words, size=size or _POINTS * axes.get_xlim()[1] + 0.05, color=_written_in(colour), **look)


def heading(axes: Axes, words: str) -> None:
    """Write `words` as the title of a sheet."""
    text(axes, axes.get_xlim()[1] / 2, 0.2, words, size=15, weight="bold")


def arrow(axes: Axes, start: Sequence[float], end: Sequence[float], colour: str = "muted", bend: float = 0.0) -> None:
    """Draw an arrow; `bend` curves it."""
    look = {"arrowstyle": "-|>", "color": COLOURS.get(colour, colour), "lw": 1.8, "mutation_scale": 14}
    axes.annotate("", end, start, arrowprops=look | {"shrinkA": 0, "shrinkB": 0, "connectionstyle": f"arc3,rad={bend}"})


def frame(axes: Axes, x: float, y: float, width: float, height: float, colour: str = "ink", **look: Any) -> None:
    """Draw the four sides of a rectangle; `look` goes to matplotlib's `Rectangle`."""
    axes.add_patch(Rectangle((x, y), width, height, **{"fc": "none", "ec": COLOURS.get(colour, colour), "lw": 1.8} | look))


def card(axes: Axes, x: float, y: float, width: float, height: float, colour: str, words: str = "", fill: float = 0.1) -> None:
    """Draw a box with round corners, its upper left one at (x, y), and `words` in its middle."""
    style = "round,pad=0,rounding_size=0.08"
    box = FancyBboxPatch((x, y), width, height, boxstyle=style, ec=COLOURS.get(colour, colour), fc=tint(colour, fill), lw=1.8)
    axes.add_patch(box)
    text(axes, x + width / 2, y + height / 2, words)


def block(
    axes: Axes,
    x: float,
    y: float,
    values: Any,
    colour: str,
    *,
    name: str = "",
    shape: bool = True,
    cell: float | None = None,
    high: float = 0.29,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    digits: int = 2,
    strength: float | Callable[[int, int, float], float] | None = None,
    label: str | Callable[[int, int, float], str] | None = None,
    colour_of: Callable[[int, int], str] | None = None,
    learned: bool = False,
) -> tuple[float, float]:
    """Draw a vector or matrix with its numbers, the upper left corner at (x, y); return the right edge and the bottom.

    `cell` and `high` are the sides of one number, as wide as the longest needs where nothing is said. A number is the deeper
    coloured the larger it is, or as `strength(row, column, value)` says, from 0 to 1. It has at most so many `digits`, or is
    written as `label` says, a format such as ".2f" or a function. `rows` and `columns` are names beside them. What is
    `learned` has a dashed border.
    """
    matrix = np.atleast_2d(np.asarray(values.detach() if hasattr(values, "detach") else values, dtype=float))
    formatted = lambda i, j, value: f"{value:{label}}".replace("-", "–") if label else number(value, digits)
    write = label if callable(label) else formatted
    if cell is None:
        longest = max(len(write(i, j, value)) for (i, j), value in np.ndenumerate(matrix))
        cell = max(high, 0.0089 * _POINTS * axes.get_xlim()[1] * longest + 0.06)
    largest = max(np.nanmax(np.abs(np.where(np.isfinite(matrix), matrix, 0))), 1e-9)
    for (i, j), value in np.ndenumerate(matrix):
        depth = strength(i, j, value) if callable(strength) else strength
        if depth is None:
            depth = 0.08 + 0.42 * min(abs(value) / largest, 1)
        place = (x + j * cell, y + i * high)
        shade = tint(colour_of(i, j) if colour_of else colour, depth)
        axes.add_patch(Rectangle(place, cell, high, fc=shade, ec="white", lw=1.2))
        text(axes, place[0] + cell / 2, place[1] + high / 2, write(i, j, value), "black")
    right, bottom = x + matrix.shape[1] * cell, y + matrix.shape[0] * high
    frame(axes, x, y, right - x, bottom - y, colour, ls=(0, (4, 2)) if learned else "-")
    for i, word in enumerate(rows):
        text(axes, x - 0.09, y + (i + 0.5) * high, word, ha="right")
    for j, word in enumerate(columns):
        text(axes, x + (j + 0.5) * cell, y - 0.14, word, "muted")
    if name:
        text(axes, (x + right) / 2, y - 0.16 - 0.24 * bool(columns), name, colour, weight="bold")
    if shape:
        written = " × ".join(str(size) for size in matrix.shape)
        text(axes, (x + right) / 2, bottom + 0.15, written, "muted")
    return right, bottom
