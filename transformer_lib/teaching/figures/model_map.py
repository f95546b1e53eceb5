"""Two drawings of the whole model with its chapters: the map on each page, and chapter 10's, with all shapes."""

import html
import re
from collections.abc import Mapping
from pathlib import Path

from matplotlib.axes import Axes

from transformer_lib.teaching.figures.live.figure import in_language
from transformer_lib.teaching.figures.sheet import arrow, card, frame, heading, sheet, text
from transformer_lib.teaching.figures.theme import COLOURS, stylesheet

_HERE = Path(__file__).parent


def model_map(links: Mapping[str, str]) -> str:
    """Return the drawing as HTML, in the reader's language; `links` maps each chapter, such as "attention", to its address."""
    drawing = "".join(map(str.strip, (_HERE / "model_map.svg").read_text("utf-8").splitlines()))
    drawing = re.sub(r'href="\d\d_(\w+)\.ipynb"', lambda found: f'href="{html.escape(links[found[1]])}"', drawing)
    rules = (_HERE / "model_map.css").read_text("utf-8")
    return f'<div class="tl-map">{stylesheet("tl-map", rules)}{in_language(drawing)}</div>'


def _box(axes: Axes, x: float, y: float, name: str, chapter: int, far: float = 0.0, carried: str = "") -> None:
    """Draw a box around (x, y) with its name and its chapter, this chapter's filled, and an arrow out of its top."""
    new = chapter == 10
    card(axes, x - 1.25, y - 0.2, 2.5, 0.4, "key" if new else "ink", fill=0.28 if new else 0.0)
    text(axes, x - 1.15, y, name, ha="left", weight="bold")
    text(axes, x + 1.17, y, f"ch {chapter}", "muted", ha="right")
    if far:
        _up(axes, x, y - 0.2, far, carried)


def _up(axes: Axes, x: float, y: float, far: float, carried: str = "") -> None:
    """Draw an arrow upwards from (x, y), with what it carries."""
    arrow(axes, (x, y), (x, y - far))
    text(axes, x + 0.12, y - 0.14, carried, "muted", ha="left")


def _column(axes: Axes, x: float, stack: str, sublayers: Mapping[str, int], words: str, bottom: float) -> float:
    """Draw a column from the words at the bottom to the top of its frame, whose place is returned."""
    rows = len(words.split())
    text(axes, x, bottom, words, style="italic")
    _up(axes, x, bottom - 0.15, 0.3, f"{rows} ids")
    _box(axes, x, bottom - 0.65, "Embedding", 10, 0.28, f"{rows} × 512")
    _box(axes, x, bottom - 1.33, "+ Positions", 5, 0.47, f"{rows} × 512")
    y = bottom - 2.2
    for name, chapter in sublayers.items():
        _box(axes, x, y, name, chapter)
        _box(axes, x, y - 0.44, "Add & norm", 7, 0.0 if name == "Feed-forward" else 0.26)
        side = x - 1.42
        axes.plot([x, side, side], [y + 0.3, y + 0.3, y - 0.44], color=COLOURS["residual"], lw=1.8)
        arrow(axes, (side, y - 0.44), (x - 1.25, y - 0.44), "residual")
        y -= 1.1
    top = y + 0.35
    frame(axes, x - 1.55, top, 2.95, bottom - 1.78 - top, stack, lw=2.2)
    text(axes, x - 1.53, top - 0.16, f"{stack}, 6 ×", stack, weight="bold", ha="left")
    return top


def whole_model() -> None:
    """Show every box of the Transformer with its chapter, and what is handed on between boxes."""
    alt = (
        "The Transformer, from the bottom up. Left: the white cow is tired, 5 ids; embedding, chapter 10; plus positions, "
        "chapter 5; then six encoder layers: attention, chapter 6, and feed-forward, chapter 7, each followed by add and norm "
        "and passed by a brown line. An arrow, the memory, 5 by 512, leads to the right column. Right: SOS la vache blanche, "
        "4 ids; the same two boxes; six decoder layers: masked attention, chapter 8, cross-attention, chapter 9, feed-forward, "
        "chapter 7; then linear layer and softmax, chapter 10: 4 by 37,000, la vache blanche est. Each other arrow on the "
        "right carries 4 by 512 numbers."
    )
    left, right, bottom = 1.7, 5.6, 7.75
    with sheet(7.2, 7.9, alt) as axes:
        heading(axes, "The whole Transformer, and the chapter of each box")
        top = _column(axes, left, "encoder", {"Attention": 6, "Feed-forward": 7}, "the white cow is tired", bottom)
        decoder = {"Masked attention": 8, "Cross-attention": 9, "Feed-forward": 7}
        end = _column(axes, right, "decoder", decoder, "<SOS> la vache blanche", bottom)
        cross, turn = bottom - 3.3, top - 0.5
        axes.plot([left, left, 3.65, 3.65], [top, turn, turn, cross], color=COLOURS["encoder"], lw=2.2)
        arrow(axes, (3.65, cross), (right - 1.25, cross), "encoder")
        text(axes, 2.68, turn - 0.17, "memory, 5 × 512", "encoder", weight="bold")
        _up(axes, right, end, 0.42, "4 × 512")
        _box(axes, right, end - 0.62, "Linear layer", 10, 0.28, "4 × 37,000")
        _box(axes, right, end - 1.3, "Softmax", 10, 0.3, "4 × 37,000")
        text(axes, right, end - 1.95, "la vache blanche est", style="italic")
