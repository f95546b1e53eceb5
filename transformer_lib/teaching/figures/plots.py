"""The course's figure style: one colour per role, labelled heat maps, small matrices with their shapes."""

import html
import io
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from transformer_lib.teaching.figures.theme import COLOURS, stylesheet

__all__ = [
    "COLOURS",
    "DIVERGING",
    "SEQUENTIAL",
    "attention_map",
    "band",
    "heatmap",
    "matrix_table",
    "show",
    "subplots",
]

SEQUENTIAL = "Blues"
DIVERGING = "RdBu_r"

_DOTS_PER_INCH = 200

# CSS pixels: what a figure has in a window of 390 and of 601, and what text needs to be read.
PHONE, TABLET = 340, 551
_READABLE = 9

_STYLE = {
    "figure.facecolor": "white",
    "figure.dpi": 100,
    "axes.facecolor": "white",
    "axes.edgecolor": COLOURS["muted"],
    "axes.labelcolor": COLOURS["ink"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.titlecolor": COLOURS["ink"],
    "axes.prop_cycle": plt.cycler(color=[COLOURS[role] for role in ("query", "key", "value", "encoder", "residual")]),
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "lines.linewidth": 2,
    "text.color": COLOURS["ink"],
    "xtick.color": COLOURS["ink"],
    "ytick.color": COLOURS["ink"],
}


def subplots(
    rows: int = 1,
    columns: int = 1,
    *,
    width: int | float = 7.2,
    height: int | float = 3.6,
    share_x: bool = False,
    share_y: bool = False,
    narrowest: int = PHONE,
) -> tuple[Figure, Any]:
    """Return a figure and its axes in the course's style, as `matplotlib.pyplot.subplots` does.

    `width` and `height` are in inches. A wide figure has larger text: it can still be read where the figure is shown
    `narrowest` pixels wide, which is on a phone. matplotlib's own settings stay as they were.
    """
    with plt.rc_context(_STYLE | {"font.size": max(_STYLE["font.size"], _smallest_text(width, narrowest))}):
        return plt.subplots(rows, columns, figsize=(width, height), sharex=share_x, sharey=share_y, layout="constrained")


def show(figure: Figure, *, alt: str) -> None:
    """Display `figure` once, as a PNG with the text `alt` for readers who do not see it, and close it.

    Text that would be too small to read on a phone becomes larger. Raises `ValueError` when `alt` is empty.
    """
    if not alt.strip():
        raise ValueError("alt is empty: say in one or two sentences what the figure shows")
    # Two dots of the picture for each point of the page: sharp on a screen of twice the usual density.
    width = round(figure.get_figwidth() * _DOTS_PER_INCH / 2)
    display(
        {"image/png": png(figure), "text/plain": " ".join(alt.split())},
        raw=True,
        metadata={"image/png": {"width": width}},
    )


def _smallest_text(width: int | float, narrowest: int) -> float:
    """Return the size in points that text needs in a figure `width` inches wide."""
    return _READABLE * 72 * width / narrowest


def png(figure: Figure, *, narrowest: int = PHONE) -> bytes:
    """Return `figure` as a PNG of 200 dots per inch, and close it.

    Text that is too small where the figure is shown `narrowest` pixels wide becomes larger.
    """
    smallest = _smallest_text(figure.get_figwidth(), narrowest)
    for text in figure.findobj(Text):
        text.set_size(max(smallest, text.get_size()))
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None})
    plt.close(figure)
    return picture.getvalue()


def heatmap(
    axes: Axes,
    values: Any,
    *,
    title: str,
    x_label: str,
    y_label: str,
    x_ticks: Sequence | None = None,
    y_ticks: Sequence | None = None,
    symmetric: bool = False,
    write_values: bool = False,
) -> None:
    """Draw a matrix as colours with a colour bar: row 0 at the top, column 0 at the left.

    `values` is a tensor, an array or a list of lists, of shape (rows, columns). `x_ticks` names the columns, `y_ticks`
    the rows. `symmetric` centres the colours on 0. `write_values` writes each number in its cell. Raises `ValueError`
    for a matrix that is not 2-D or is empty, and for tick labels that do not match it.
    """
    matrix = _matrix(values, "values")
    if matrix.ndim != 2:
        raise ValueError(f"values has shape {matrix.shape}, expected two dimensions (rows, columns)")
    for name, ticks, count, what in (
        ("x_ticks", x_ticks, matrix.shape[1], "columns"),
        ("y_ticks", y_ticks, matrix.shape[0], "rows"),
    ):
        if ticks is not None and len(ticks) != count:
            raise ValueError(f"{name} has {len(ticks)} labels, but values has {count} {what}")
    limit = max(np.nanmax(np.abs(matrix), initial=0.0), 1e-12) if symmetric else None
    image = axes.imshow(
        matrix,
        cmap=DIVERGING if symmetric else SEQUENTIAL,
        vmin=None if limit is None else -limit,
        vmax=limit,
        aspect="auto",
        interpolation="nearest",
    )
    axes.set(title=title, xlabel=x_label, ylabel=y_label)
    axes.spines[:].set_visible(False)
    for axis, ticks in ((axes.xaxis, x_ticks), (axes.yaxis, y_ticks)):
        if ticks is None:
            # A row is a whole number: there is no row 0.5.
            axis.set_major_locator(MaxNLocator(integer=True))
        else:
            axis.set_ticks(range(len(ticks)), ticks)
    if write_values:
        for (row, column), value in np.ndenumerate(matrix):
            red, green, blue, _ = image.to_rgba(value)
            bright = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 > 0.18
            text = _number(value, 2)
            axes.text(column, row, text, ha="center", va="center", color="black" if bright else "white")
    axes.figure.colorbar(image, ax=axes).outline.set_visible(False)


def attention_map(axes: Axes, weights: Any, *, query_tokens: Sequence[str], key_tokens: Sequence[str], title: str) -> None:
    """Draw attention weights of shape (query, key): one row per query, one column per key.

    Raises `ValueError` that says which axis is wrong, so that a transposed map cannot pass unnoticed.
    """
    matrix = _matrix(weights, "weights")
    expected = (len(query_tokens), len(key_tokens))
    if matrix.shape != expected:
        message = f"weights has shape {matrix.shape}, expected (query, key) = {expected}"
        if matrix.ndim != 2:
            message += ": pick one sentence and one head first"
        elif matrix.shape == expected[::-1]:
            message += ": the axes are swapped"
        else:
            wrong = [
                f"axis {axis} ({name}) is {got} where there are {want} {name} tokens"
                for axis, (name, got, want) in enumerate(zip(("query", "key"), matrix.shape, expected, strict=True))
                if got != want
            ]
            message += ": " + " and ".join(wrong)
        raise ValueError(message)
    heatmap(
        axes,
        matrix,
        title=title,
        x_label="key (looked at)",
        y_label="query (looks)",
        x_ticks=key_tokens,
        y_ticks=query_tokens,
    )


class MatrixTable:
    """A small matrix with its name and shape; see `matrix_table`."""

    def __init__(
        self,
        matrix: np.ndarray,
        name: str,
        row_labels: Sequence | None,
        column_labels: Sequence | None,
        digits: int,
    ) -> None:
        self.title = f"{name}  {matrix.shape}"
        self.name, self.shape = name, str(matrix.shape)
        self.cells = [[_number(value, digits) for value in row] for row in np.atleast_2d(matrix)]
        self.row_labels = None if row_labels is None else [str(label) for label in row_labels]
        self.column_labels = None if column_labels is None else [str(label) for label in column_labels]

    def __repr__(self) -> str:
        rows = [list(row) for row in self.cells]
        if self.column_labels is not None:
            rows.insert(0, list(self.column_labels))
        if self.row_labels is not None:
            corner = [""] if self.column_labels is not None else []
            for row, label in zip(rows, corner + self.row_labels, strict=True):
                row.insert(0, label)
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([self.title, *lines])

    def _repr_html_(self) -> str:
        head = ""
        if self.column_labels is not None:
            corner = "<td></td>" if self.row_labels is not None else ""
            labels = "".join(f'<th scope="col">{html.escape(label)}</th>' for label in self.column_labels)
            head = f"<thead><tr>{corner}{labels}</tr></thead>"
        body = ""
        for index, row in enumerate(self.cells):
            label = f'<th scope="row">{html.escape(self.row_labels[index])}</th>' if self.row_labels is not None else ""
            body += f"<tr>{label}{''.join(f'<td>{cell}</td>' for cell in row)}</tr>"
        caption = f"<caption><b>{html.escape(self.name)}</b> {self.shape}</caption>"
        style = stylesheet("tl-matrix", _TABLE_RULES)
        # A wide table scrolls on a phone, and what scrolls must be reachable by keyboard.
        scrolls = f' role="group" aria-label="{html.escape(self.title)}" tabindex="0"' if len(self.cells[0]) > 5 else ""
        return f'<div class="tl-matrix"{scrolls}>{style}<table>{caption}{head}<tbody>{body}</tbody></table></div>'


_TABLE_RULES = """
.tl-matrix{display:block;width:fit-content;max-width:100%;overflow-x:auto;background:var(--tl-surface);
  color:var(--tl-ink);margin:.5rem 0;padding:.4rem .6rem;box-sizing:border-box}
.tl-matrix table{width:auto;margin:0;border-collapse:collapse;border:0;font-size:.8125rem;color:inherit;
  font-variant-numeric:tabular-nums;background:none}
.tl-matrix caption{caption-side:top;padding:0 0 .25rem;text-align:left;color:var(--tl-muted);white-space:nowrap}
.tl-matrix caption b{color:var(--tl-ink)}
.tl-matrix:focus-visible{outline:3px solid var(--tl-accent)}
.tl-matrix th,.tl-matrix td{padding:.15rem .35rem;border:0;text-align:right;background:none;color:inherit}
.tl-matrix th{color:var(--tl-muted);font-weight:600}
.tl-matrix tbody td{border:1px solid var(--tl-line)}
"""


def matrix_table(
    values: Any,
    *,
    name: str,
    row_labels: Sequence | None = None,
    column_labels: Sequence | None = None,
    digits: int = 3,
) -> MatrixTable:
    """Return a small vector or matrix as a table with its name and its shape beside it.

    `values` is a tensor, an array or a list, with one or two dimensions; `digits` counts the places after the point.
    Raises `ValueError` for more dimensions, and for labels that do not match the rows or columns.
    """
    matrix = _matrix(values, "values")
    if matrix.ndim not in (1, 2):
        raise ValueError(f"values has shape {matrix.shape}, expected one or two dimensions")
    rows, columns = np.atleast_2d(matrix).shape
    for argument, labels, count, what in (
        ("row_labels", row_labels, rows, "rows"),
        ("column_labels", column_labels, columns, "columns"),
    ):
        if labels is not None and len(labels) != count:
            raise ValueError(f"{argument} has {len(labels)} labels, but values has {count} {what}")
    return MatrixTable(matrix, name, row_labels, column_labels, digits)


def _matrix(values: Any, name: str) -> np.ndarray:
    # A tensor that requires gradients refuses numpy; detach() is how it asks to be read.
    if hasattr(values, "detach"):
        values = values.detach().cpu().double()
    matrix = np.asarray(values, dtype=float)
    if matrix.size == 0:
        raise ValueError(f"{name} has shape {matrix.shape}: there is nothing to show")
    return matrix


def _number(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def band(axes: Axes, x: Sequence, runs: Any, style: str, colour: str, label: str) -> None:
    """Draw the mean of `runs`, a row for each seed, as a line, and a band from the lowest to the highest."""
    colour = COLOURS.get(colour, colour)
    axes.plot(x, np.mean(runs, axis=0), style, color=colour, label=label)
    axes.fill_between(x, np.min(runs, axis=0), np.max(runs, axis=0), color=colour, alpha=0.18)
