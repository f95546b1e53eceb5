"""Matrix equations drawn to scale: one number is one square, and what is learned has a dashed border."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from transformer_lib.teaching.figures import plots

__all__ = ["Matrix", "matrix_equation"]

_SIGN = 0.26  # inches: an operator with the air around it
_GAP = 0.1  # inches between two matrices
_NARROWEST = 0.72  # inches: what the name and the shape of a slim matrix need
_LABEL = 0.42  # inches above a matrix: its name, and its shape under it
_EDGE = 0.1
_LETTER = 0.0875  # inches: of the title, on average
_WIDEST = 4.7  # inches: wider, and a phone would show the numbers too small


@dataclass(frozen=True)
class Matrix:
    """A matrix or vector of an equation: its name, its values, and whether training changes it.

    `values` is a tensor, an array or a list, with one or two dimensions. A vector is drawn as one row.
    """

    name: str
    values: Any
    learnable: bool = False

    @property
    def array(self) -> np.ndarray:
        """The values as an array, in the shape that they came in."""
        values = self.values
        return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values, dtype=float)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, as it is written beside the matrix."""
        return self.array.shape


def matrix_equation(
    rows: Sequence[Sequence[Matrix | str]],
    *,
    title: str,
    numbers: bool = True,
    digits: int = 1,
    cell: float = 0.3,
) -> Figure:
    """Return a figure with one equation per row: matrices to scale, and the signs between them.

    A row too wide for a phone goes on below, from the last sign that comes before its edge. Every number is a square with
    sides of `cell` inches, in all matrices of the figure. A text in a row is an operator, such as "+" or "=". Without
    `numbers` only the outlines are drawn, for matrices too large to print.
    Raises `ValueError` for an empty figure, and for values that are empty or have other than one or two dimensions.
    """
    if not rows or not all(rows):
        raise ValueError("rows is empty, or one of its rows is: each row needs at least one matrix")
    for matrix in (item for row in rows for item in row if isinstance(item, Matrix)):
        if len(matrix.shape) not in (1, 2) or 0 in matrix.shape:
            raise ValueError(f"{matrix.name} has shape {matrix.shape}, expected one or two dimensions, none of them 0")
    rows = [part for row in rows for part in _broken(row, cell)]
    sizes = [[_size(item, cell) for item in row] for row in rows]
    heights = [max(height for _, height in row) + _LABEL + 0.16 for row in sizes]
    width = max(sum(item_width for item_width, _ in row) for row in sizes) + 2 * _EDGE
    width = max(width, min(_LETTER * len(title) + 2 * _EDGE, _WIDEST))
    lines = textwrap.wrap(title, int((width - 2 * _EDGE) / _LETTER))
    head = 0.16 + 0.2 * len(lines)
    height = sum(heights) + head
    figure, axes = plots.subplots(width=width, height=height)
    figure.set_layout_engine("none")
    axes.set_position((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    axes.text(_EDGE, 0.1, "\n".join(lines), va="top", size=10.4, weight="bold")
    top = head
    limit = _limit(rows) if numbers else 1.0
    for row, row_sizes, row_height in zip(rows, sizes, heights, strict=True):
        left, middle = _EDGE, top + _LABEL + (row_height - _LABEL - 0.16) / 2
        for item, (item_width, item_height) in zip(row, row_sizes, strict=True):
            if isinstance(item, str):
                axes.text(left + item_width / 2, middle, item, ha="center", va="center", size=12)
            else:
                corner = (left, middle - item_height / 2)
                _draw(axes, item, corner, cell, limit if numbers else None, digits)
            left += item_width
        top += row_height
    return figure


def _broken(row: Sequence[Matrix | str], cell: float) -> list[list[Matrix | str]]:
    """Return a row in parts that are narrow enough; each but the first begins with a sign."""
    parts, start, fits = [], 0, 0
    for place, item in enumerate(row):
        if isinstance(item, str) and place > start:
            fits = place
        if fits > start and sum(_size(part, cell)[0] for part in row[start : place + 1]) > _WIDEST - 2 * _EDGE:
            parts.append(list(row[start:fits]))
            start = fits
    return [*parts, list(row[start:])]


def _size(item: Matrix | str, cell: float) -> tuple[float, float]:
    """Return the width and height in inches that an item takes in its row."""
    if isinstance(item, str):
        return max(_SIGN, 0.1 * len(item) + 0.1), 0.0
    rows, columns = np.atleast_2d(item.array).shape
    return max(columns * cell + _GAP, _NARROWEST), rows * cell


def _limit(rows: Sequence[Sequence[Matrix | str]]) -> float:
    """Return the largest absolute value of all matrices, which gets the deepest colour."""
    largest = (np.max(np.abs(item.array)) for row in rows for item in row if isinstance(item, Matrix))
    return float(max(largest, default=0.0)) or 1.0


def _draw(axes: Axes, matrix: Matrix, corner: tuple[float, float], cell: float, limit: float | None, digits: int) -> None:
    left, top = corner
    values = np.atleast_2d(matrix.array)
    rows, columns = values.shape
    role = "residual" if matrix.learnable else "muted"
    if limit is None:
        axes.add_patch(Rectangle(corner, columns * cell, rows * cell, facecolor="#f1f2f4", linewidth=0))
    else:
        colours = matplotlib.colormaps[plots.DIVERGING]
        for (row, column), value in np.ndenumerate(values):
            # The middle of the scale only: black numbers stay readable on it.
            colour = colours(0.5 + 0.28 * value / limit)
            place = (left + column * cell, top + row * cell)
            axes.add_patch(Rectangle(place, cell, cell, facecolor=colour, edgecolor="white", linewidth=0.6))
            text = f"{value:.{digits}f}"
            text = text.removeprefix("-") if float(text) == 0 else text.replace("-", "–")  # a minus is as wide as two digits
            axes.text(place[0] + cell / 2, place[1] + cell / 2, text, ha="center", va="center", size=9.1, color="black")
    axes.add_patch(
        Rectangle(
            corner,
            columns * cell,
            rows * cell,
            fill=False,
            edgecolor=plots.COLOURS[role],
            linewidth=1.8 if matrix.learnable else 1.0,
            linestyle=(0, (4, 2)) if matrix.learnable else "-",
        )
    )
    axes.text(left, top - 0.2, matrix.name, va="bottom", size=10.5)
    axes.text(left, top - 0.04, str(matrix.shape), va="bottom", size=9.1, color=plots.COLOURS["muted"])
