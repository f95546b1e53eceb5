"""The figures of pages that are no notebooks; the directive `{page-figure}` shows them.

One with panels side by side also draws them one below the other, `stacked`, for a narrow window.
"""

from collections import Counter

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from transformer_lib.masks import causal_mask
from transformer_lib.teaching.figures.plots import COLOURS, TABLET, heatmap, subplots
from transformer_lib.teaching.later_models import AlibiBias
from transformer_lib.teaching.record import record

SOURCE = ["I", "am", "a", "student"]
TARGET = ["<SOS>", "je", "suis", "étudiant"]


def _mask_map(axes: Axes, colours: list[list[str | None]], words: list[str], title: str) -> None:
    """Draw a square for each query (row) and key (column): in its colour, or hatched where there is none."""
    for row, of_query in enumerate(colours):
        for column, colour in enumerate(of_query):
            look = {"facecolor": "white", "edgecolor": COLOURS["mask"], "hatch": "////"}
            if colour is not None:
                look = {"facecolor": COLOURS[colour], "edgecolor": COLOURS[colour]}
            axes.add_patch(Rectangle((column - 0.46, row - 0.46), 0.92, 0.92, **look))
    axes.set(
        title=title, xlim=(-0.5, len(words) - 0.5), ylim=(len(words) - 0.5, -0.5), aspect="equal", xlabel="key (looked at)"
    )
    axes.set_xticks(range(len(words)), words, rotation=60, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(words)), words)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def three_shapes(*, stacked: bool = False) -> Figure:
    """Draw which word sees which in the three shapes of a model, for one pair of sentences."""
    words = [*SOURCE, *TARGET]
    count, read = len(words), len(SOURCE)
    causal = causal_mask(count).tolist()

    def colour(row: int, column: int) -> str | None:
        if row < read:
            return "encoder" if column < read else None
        if column < read:
            return "key"
        return "decoder" if column <= row else None

    hidden = ["I", "am", "a", "<hidden>", "and", "I", "<hidden>", "books"]
    sizes = {"rows": 3, "width": 4.6, "height": 12.6} if stacked else {"columns": 3, "width": 10.4, "height": 4.3}
    figure, (alone, writes, both) = subplots(**sizes, narrowest=TABLET)
    _mask_map(alone, [["encoder"] * count] * count, hidden, "encoder only:\nall see all")
    _mask_map(
        writes,
        [["decoder" if sees else None for sees in row] for row in causal],
        words,
        "decoder only:\nnone sees what follows",
    )
    _mask_map(
        both, [[colour(i, j) for j in range(count)] for i in range(count)], words, "encoder and decoder:\nthree attentions"
    )
    alone.set_ylabel("query (looks)")
    return figure


def alibi_weights(*, stacked: bool = False) -> Figure:
    """Draw how two of four heads weigh eight words under ALiBi where all words score alike."""
    words = [str(place) for place in range(8)]
    bias = AlibiBias(4)(torch.arange(8) - torch.arange(8)[:, None])  # (heads, query, key)
    weights = bias.masked_fill(~causal_mask(8), -torch.inf).softmax(dim=-1)
    sizes = {"rows": 2, "width": 4.6, "height": 7.6} if stacked else {"columns": 2, "width": 9, "height": 3.8}
    figure, every = subplots(**sizes, narrowest=TABLET)
    for axes, head, slope in zip(every, (0, 3), ("1/4", "1/256"), strict=True):
        names = {"x_label": "key (looked at)", "y_label": "query (looks)", "x_ticks": words, "y_ticks": words}
        heatmap(axes, weights[head], title=f"head {head + 1}: slope {slope}", **names)
    return figure


LINES = {
    "sinusoids": ("decoder", "-", "o"),
    "none": ("mask", ":", "x"),
    "rotary": ("query", "--", "s"),
    "ALiBi, 8 times as steep": ("encoder", (0, (5, 1)), "v"),
    "ALiBi": ("key", "-.", "^"),
    "T5's bias": ("value", (0, (1, 1)), "D"),
}


def right_by_length() -> Figure:
    """Draw the share of longer sentences that each kind of positions gets right, by length; the mean of its seeds."""
    figure, axes = subplots(width=7.6, height=4.2)
    numbers = record("after_positions")["numbers"]
    for kind, (role, style, marker) in LINES.items():
        rows = numbers[kind]
        count, right = Counter(), Counter()
        for row in rows:
            for length, (sentences, exact) in row["longer"]["by_length"].items():
                count[int(length)] += sentences
                right[int(length)] += exact
        lengths = sorted(length for length in count if count[length] >= 10 * len(rows))
        shares = [right[length] / count[length] for length in lengths]
        axes.plot(lengths, shares, linestyle=style, marker=marker, color=COLOURS[role], label=kind)
    axes.set(
        title="Longer sentences: rotary positions go furthest",
        xlabel="words of the English sentence (training: up to 10)",
        ylabel="share right to the letter",
        ylim=(-0.02, 1.02),
    )
    axes.legend()
    return figure
