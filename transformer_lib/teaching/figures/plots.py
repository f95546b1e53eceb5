"""The course's figure style: one colour per role, text that a phone can show, labelled heat maps."""

import io
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from transformer_lib.teaching.figures.theme import COLOURS

__all__ = [
    "COLOURS",
    "DIVERGING",
    "SEQUENTIAL",
    "band",
    "heatmap",
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
    x_ticks: Sequence[str],
    y_ticks: Sequence[str],
    write_values: bool = False,
) -> None:
    """Draw `values`, (rows, columns), as colours with a colour bar, row 0 at the top; `write_values` writes each number."""
    matrix = np.asarray(values.detach() if hasattr(values, "detach") else values, dtype=float)
    image = axes.imshow(matrix, cmap=SEQUENTIAL, aspect="auto", interpolation="nearest")
    axes.set(title=title, xlabel=x_label, ylabel=y_label)
    axes.spines[:].set_visible(False)
    axes.set_xticks(range(len(x_ticks)), x_ticks)
    axes.set_yticks(range(len(y_ticks)), y_ticks)
    for (row, column), value in np.ndenumerate(matrix if write_values else np.empty((0, 0))):
        pale = image.norm(value) < 0.5
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", color="black" if pale else "white")
    axes.figure.colorbar(image, ax=axes).outline.set_visible(False)


def band(
    axes: Axes, x: Sequence, runs: Any, style: str, colour: str, label: str | None, alpha: float = 0.18, **look: Any
) -> None:
    """Draw the mean of `runs`, a row for each seed, as a line that has the `look`, and a band from lowest to highest."""
    colour = COLOURS.get(colour, colour)
    axes.plot(x, np.mean(runs, axis=0), style, color=colour, label=label, **look)
    axes.fill_between(x, np.min(runs, axis=0), np.max(runs, axis=0), color=colour, alpha=alpha)
