"""The figures of chapter 8, Masking."""

from collections.abc import Sequence
from typing import Any

import torch
from matplotlib.axes import Axes
from torch import Tensor

from transformer_lib.teaching.experiments.masks import FLOOR, PHONE_BOOK, digits_of
from transformer_lib.teaching.figures import COLOURS, arrow, block, card, frame, heading, sheet, show, subplots, text

WORDS = ("<SOS>", "je", "suis", "étudiant")


def _mask(axes: Axes, x: float, y: float, mask: Tensor, cell: float, columns: Sequence[str], **more: Any) -> None:
    """Draw a mask: a tick in a coloured cell where one may look, an empty cell where not; the names of the keys slanted."""
    look = {"strength": lambda i, j, may: 0.42 * may, "label": lambda i, j, may: "✓" if may else "", "high": cell}
    block(axes, x, y, mask, "query", cell=cell, **look, **more)
    for j, word in enumerate(columns):
        slanted = {"rotation": 45, "rotation_mode": "anchor", "ha": "left", "va": "bottom"}
        text(axes, x + (j + 0.4) * cell, y - 0.06, word, **slanted)


def answer_in_the_input() -> None:
    """Show that each answer stands one place to the right in the input, and the mask that hides it."""
    with sheet(
        7.2,
        2.85,
        "Left, two rows of words. Read: SOS, je, suis, étudiant. To be named: je, suis, étudiant, EOS. From each of the "
        "first three answers an arrow leads to the same word in the upper row, one place to the right; that of suis is "
        "strong. Right, the mask, 4 by 4: row SOS may look at SOS, row je at SOS and je, row suis at the first three, and "
        "row étudiant at all four. In the row of je the hidden cell of suis is framed.",
    ) as axes:
        heading(axes, "The answer stands one place to the right. A mask hides it")
        for y, row in ((0.85, WORDS), (2.1, (*WORDS[1:], "<EOS>"))):
            for place, word in enumerate(row):
                colour, fill = ("key", 0.25) if word == "suis" else ("muted", 0.0)
                card(axes, 0.05 + 0.98 * place, y, 0.9, 0.46, colour, word, fill)
                if y > 2 and place < 3:
                    arrow(axes, (0.55 + 0.98 * place, 2.06), (1.4 + 0.98 * place, 1.36), colour)
        text(axes, 0.07, 0.65, "reads", "muted", ha="left")
        text(axes, 0.07, 2.72, "must name", "muted", ha="left")
        x, y, cell = 5.2, 1.25, 0.36
        _mask(axes, x, y, torch.ones(4, 4).tril(), cell, WORDS, rows=WORDS, shape=False)
        frame(axes, x + 2 * cell, y + cell, cell, cell, "key", lw=2.6)


def copying(weights: Tensor, written: Sequence[str]) -> None:
    """Show where the model without a mask looks, `weights` (8, 8), and what it writes."""
    ahead = int((weights[:7].argmax(dim=1) == torch.arange(1, 8)).sum())
    assert ahead >= 4, "without a mask most rows look one place ahead"
    with sheet(
        7.2,
        4.05,
        "Left, the mean attention weights of the model without a mask, 8 places by 8 places. The seven cells one step right "
        "of the diagonal, where the answer stands, are framed; in most rows the framed weight is the largest. Right, three "
        "numbers of the book, and three that the model writes, which are not in it.",
    ) as axes:
        heading(axes, "Without a mask, most places look at their answer")
        x, y, cell = 0.75, 1.0, 0.36
        look = {"strength": lambda i, j, w: min(1.4 * w, 0.8), "label": lambda i, j, w: f"{w:.2f}"[1:] if w >= 0.1 else ""}
        places = [str(place) for place in range(8)]
        block(axes, x, y, weights, "query", cell=cell, high=cell, rows=places, columns=places, shape=False, **look)
        for place in range(7):
            frame(axes, x + (place + 1) * cell, y + place * cell, cell, cell, lw=2.6)
        text(axes, x + 4 * cell, 0.6, "place looked at", "muted")
        text(axes, 0.2, y + 4 * cell, "place that looks", "muted", rotation=90)
        for top, name, colour, numbers in (
            (0.8, "in the book", "value", digits_of(PHONE_BOOK)),
            (2.4, "written", "key", written),
        ):
            text(axes, 5.55, top, name, weight="bold")
            for i, digits in enumerate(numbers[:3]):
                card(axes, 4.75, top + 0.2 + 0.36 * i, 1.6, 0.3, colour, digits, 0.12)


def masking(scores: Tensor, mask: Tensor) -> None:
    """Show scores and weights without the mask, and below them the same under the mask."""
    masked = scores.masked_fill(~mask, float("-inf"))
    left, right, cell = 0.95, 4.5, 0.66
    free, hidden = scores.softmax(dim=-1), masked.softmax(dim=-1)
    with sheet(
        7.2,
        4.3,
        "Two rows of tables, 4 by 4. Above, the scores, and the weights that the softmax makes of them: in the row of je, "
        f"{', '.join(f'{w:.2f}' for w in free[1])}. Below, the same scores with minus infinity above the diagonal. Their "
        f"weights are 0 there, and the row of je is {hidden[1, 0]:.2f}, {hidden[1, 1]:.2f}, 0, 0.",
    ) as axes:
        heading(axes, "–∞ before the softmax is 0 after it")
        look = {"columns": WORDS, "cell": cell, "shape": False}
        for values, weights, name, y in [(scores, free, "scores", 0.98), (masked, hidden, "scores under the mask", 2.98)]:
            write = {"label": lambda i, j, s: f"{s:.2f}" if s > -9 else "–∞"}
            shade = {"strength": lambda i, j, s: 0.12 + 0.1 * max(s, 0) if s > -9 else 0.0}
            block(axes, left, y, values, "key", name=name, rows=WORDS, **look, **write, **shade)
            arrow(axes, (3.68, y + 0.58), (4.4, y + 0.58))
            text(axes, 4.03, y + 0.38, "softmax")
            write = {"label": lambda i, j, w: f"{w:.2f}" if w else "0"}
            shade = {"strength": lambda i, j, w: 0.04 + 0.55 * w if w else 0.0}
            block(axes, right, y, weights, "query", name="weights", **look, **write, **shade)
            for x in (left, right):
                frame(axes, x, y + 0.29, 4 * cell, 0.29, lw=2.6)


def join_masks(real: Tensor, past: Tensor, words: Sequence[str]) -> None:
    """Show the padding mask of one sentence, `real` (1, 1, 4), stretched over all rows, and the triangle, `past` (4, 4)."""
    stretched = real[0].expand(4, 4)
    with sheet(
        7.2,
        2.95,
        f"Three masks, 4 by 4, for the words {', '.join(words).replace('<', '').replace('>', '')}. The padding mask, one row "
        "that is stretched over four, hides the last two columns. The causal mask hides what lies above the diagonal. "
        "Joined by and, a cell is true only where both are.",
    ) as axes:
        heading(axes, "A key must be real, and not in the future")
        cell, y = 0.36, 1.2
        for x, mask, under, sign in [
            (0.95, stretched, "real: one row, stretched", ""),
            (3.15, past, "past", "&"),
            (5.35, stretched & past, "real & past", "="),
        ]:
            _mask(axes, x, y, mask, cell, words, rows=() if sign else words, shape=False)
            text(axes, x + 2 * cell, y + 4 * cell + 0.16, under)
            text(axes, x - 0.35, y + 2 * cell, sign, size=20)


def three_masks(encoder: Tensor, decoder: Tensor, cross: Tensor) -> None:
    """Show the masks of the model's three attentions, (1, 1, 1 or 6, 5 or 6), stretched over all queries."""
    source, target = ("I", "am", "a", "student", "<PAD>"), (*WORDS, "<PAD>", "<PAD>")
    with sheet(
        7.2,
        4.0,
        "Three masks. In the encoder the source looks at the source, and the column of the padded word is hidden. In the "
        "decoder's masked self-attention the target looks at the target: the upper triangle and both padded columns are "
        "hidden. In cross-attention the target looks at the source, six queries by five keys: the padded column is hidden.",
    ) as axes:
        heading(axes, "Three attentions, two masks")
        cell, y = 0.26, 1.95
        for x, mask, rows, columns, stack, name in [
            (0.88, encoder, source, source, "encoder", "self-attention"),
            (3.1, decoder, target, target, "decoder", "masked self-attention"),
            (5.58, cross, target, source, "decoder", "cross-attention"),
        ]:
            _mask(axes, x, y, mask[0, 0].expand(len(rows), len(columns)), cell, columns, rows=rows)
            middle = x + len(columns) * cell / 2
            text(axes, middle, 0.6, stack, stack, weight="bold")
            text(axes, middle - 0.05, 0.84, name)


def losses(without: Sequence[float], masked: Sequence[float]) -> None:
    """Draw the losses of the phone book without and with the mask."""
    figure, axes = subplots(width=7.2, height=3.3)
    axes.plot(without, "--", color=COLOURS["key"], label="no mask: writes 0 of 200")
    axes.plot(masked, color=COLOURS["query"], label="causal mask: writes nearly all")
    axes.axhline(FLOOR, color=COLOURS["muted"], linewidth=1, zorder=0)
    axes.text(len(masked), FLOOR + 0.05, "log 16 / 8", ha="right", color=COLOURS["muted"])
    axes.set(xlabel="training step", ylabel="mean loss of a digit", ylim=(0, 2.6))
    axes.set_title("The lower loss belongs to the model that sees the answer", weight="bold")
    axes.legend(frameon=False)
    show(
        figure,
        alt="Training loss over 300 steps. Without a mask it falls to zero. With the causal mask it falls to a line at "
        "0.347, the logarithm of 16 divided by 8, and stays there.",
    )
