"""Chapter 5's drawings: rows that are added, clock hands, the ladder of speeds, and who still looks one word back."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Circle
from torch import Tensor

from transformer_lib.positional_encoding import sinusoidal_table
from transformer_lib.teaching.figures.plots import COLOURS, DIVERGING, show, subplots
from transformer_lib.teaching.figures.sheet import arrow, block, sheet, text
from transformer_lib.teaching.figures.theme import ROLES_LIGHT

ROLES = {"hands": "position", "rotary": "value", "fast hands": "encoder", "smooth rows": "key", "learned rows": "muted"}


def sum_of_rows(sentence: Sequence[str], words: Tensor) -> None:
    """Draw the words of a sentence, the rows of their positions, and the sum."""
    positions = sinusoidal_table(len(sentence), words.size(1))
    alt = (
        f"Three matrices of three rows and four columns side by side: the words of {' '.join(sentence)}, plus a row for each "
        "of the positions 0, 1 and 2, and the sum. The first and the last row, both John, are equal before and differ after."
    )
    with sheet(7.2, 2.05, alt) as axes:
        text(axes, 3.6, 0.2, "The same word at two positions becomes two different rows", weight="bold")
        y, look = 0.75, {"high": 0.33}
        right, _ = block(axes, 0.66, y, words, "ink", name="words", rows=sentence, cell=0.33, **look)
        text(axes, right + 0.17, y + 0.5, "+")
        right, _ = block(axes, right + 0.55, y, positions, "position", name="positions", rows="012", cell=0.54, **look)
        text(axes, right + 0.15, y + 0.5, "=")
        block(axes, right + 0.29, y, words + positions, "encoder", name="the model's input", cell=0.54, **look)


def who_loves(without: Tensor, with_positions: Tensor, names: Sequence[str]) -> None:
    """Draw the probabilities of the names for *John loves Susan* and *Susan loves John*, without and with positions."""
    figure, panels = subplots(rows=2, columns=2, height=4.2, share_x=True, share_y=True)
    twins, bars, written = ["John loves Susan", "Susan loves John"], [*names[:2], f"{len(names) - 2} others"], []
    for line, (name, answers) in zip(panels, {"without": without, "with positions": with_positions}.items()):
        line[0].set_ylabel(name)
        for right, (axes, twin, (john, susan, *others)) in enumerate(zip(line, twins, answers.tolist())):
            shares = [john, susan, sum(others)]
            axes.barh(bars, shares, color=[COLOURS["value" if n == right else "muted"] for n in range(3)])
            for n, share in enumerate(shares):
                axes.text(share + 0.03, n, f"{share:.2f}", va="center")
            axes.set(xlim=(0, 1.3), xticks=[0, 1])
            axes.tick_params(axis="y", length=0)
            written.append(f"{twin} {name}: John {john:.1f}, Susan {susan:.1f}")
    for above, below, twin in zip(*panels, twins):
        above.set_title(twin, loc="left", style="italic")
        below.set_xlabel("probability")
    panels[0, 0].invert_yaxis()
    figure.suptitle("A coin flip becomes certainty (green: who loves)", weight="bold")
    show(figure, alt=f"Bars, the probabilities of the names. {'; '.join(written)}. The six others get next to nothing.")


def _clock(axes: Axes, x: float, y: float, radius: float, *hands: tuple[float, str, dict]) -> None:
    """Draw a clock; each hand is its angle, its colour and the look of its line."""
    axes.add_patch(Circle((x, y), radius, fill=False, ec=COLOURS["muted"], lw=1.5))
    for angle, colour, look in hands:
        tip = x + radius * math.sin(angle), y - radius * math.cos(angle)
        axes.plot([x, tip[0]], [y, tip[1]], color=COLOURS[colour], **({"lw": 4, "solid_capstyle": "round"} | look))


def five_clocks() -> None:
    """Draw two hands, one a hundred times as fast as the other, at five positions."""
    alt = (
        "Two rows of clocks at the positions 0, 1, 2, 3 and 44. The fast hand points up at 0, then to the right, further down "
        "at each step, and at 44 it points up again. The slow hand hardly moves from 0 to 3; at 44 it points a little right."
    )
    with sheet(7.2, 3.2, alt) as axes:
        text(axes, 3.6, 0.2, "At position 44 the fast hand is back, the slow one is not", weight="bold")
        for y, name in [(0.57, "position"), (1.27, "fast"), (2.52, "slow")]:
            text(axes, 0.78, y, name, ha="right")
        for column, pos in enumerate([0, 1, 2, 3, 44]):
            x = 1.5 + 1.25 * column
            text(axes, x, 0.57, f"{pos}")
            _clock(axes, x, 1.27, 0.52, (pos, "position", {}))
            _clock(axes, x, 2.52, 0.52, (pos / 100, "position", {}))


def one_hand() -> None:
    """Draw one clock with the names of the formula: the angle, its sine, its cosine, and where they are written."""
    alt = (
        "A clock whose hand has turned by an angle of 1 radian from the top. Its tip lies 0.84 to the right, the sine, and "
        "0.54 up, the cosine. Both numbers go into the row of position 1, in dimensions 0 and 1."
    )
    with sheet(7.2, 2.5, alt) as axes:
        x, y, radius = 1.3, 1.35, 0.98
        right, up = x + radius * math.sin(1), y - radius * math.cos(1)
        text(axes, 3.6, 0.18, "A hand is written down by where its tip is", weight="bold")
        _clock(axes, x, y, radius, (0, "muted", {"lw": 1.5, "ls": ":"}), (1, "position", {}))
        axes.plot([x, right], [y, y], color=ROLES_LIGHT["query"], lw=3)
        axes.plot([right, right], [y, up], color=ROLES_LIGHT["key"], lw=3)
        text(axes, (x + right) / 2, y + 0.17, "sin", "query")
        text(axes, right - 0.07, y - 0.15, "cos", "key", ha="right")
        text(axes, x + 0.09, y - 0.6, "1 rad", ha="left")
        arrow(axes, (2.65, y), (3.15, y))
        roles, names = ["query", "key", "muted", "muted"], ["sin", "cos", "sin", "cos"]
        look = {"colour_of": lambda i, j: roles[j], "strength": 0.3, "shape": False, "cell": 0.72, "high": 0.4}
        _, bottom = block(axes, 4.1, 1.1, sinusoidal_table(2, 4)[1], "position", rows=["row 1"], columns=names, **look)
        text(axes, 4.82, bottom + 0.2, "fast hand", "muted")
        text(axes, 6.26, bottom + 0.2, "slow hand", "muted")


def ladder(table: Tensor) -> None:
    """Draw positions as binary digits, and beside them the same positions as rows of the table."""
    positions, width = table.shape
    digits = [[pos >> digit & 1 for digit in range(6)] for pos in range(positions)]
    figure, panels = subplots(columns=2, height=4.6, share_y=True)
    figure.get_layout_engine().set(wspace=0.04)
    panels[0].get_gridspec().set_width_ratios([1, 2.6])
    panels[0].imshow(digits, cmap=DIVERGING, vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    panels[0].set(xticks=range(6), xticklabels=["1", "2", "4", "8", "16", "32"], ylabel="position", xlabel="digit worth")
    panels[0].set_title("Binary digits")
    drawn = panels[1].imshow(table, cmap=DIVERGING, vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    panels[1].set(xticks=[0, 32, 64, 96, 127], xlabel="dimension")
    panels[1].set_title(f"Clock hands: {positions} × {width}")
    bar = figure.colorbar(drawn, ax=panels[1], ticks=[-1, 0, 1], pad=0.02)
    bar.outline.set_visible(False)
    for axes in panels:
        axes.set_yticks(range(0, positions, 8))
    figure.suptitle("Fast columns on the left, slow ones on the right", weight="bold")
    show(
        figure,
        alt=f"Two maps with one row for each of {positions} positions. Left, six binary digits: the first changes at every "
        "step, each next one half as often. Right, the table of sines and cosines with 128 columns: on the left they change "
        "from row to row, further right ever more slowly; beyond about column 85 each keeps one value, near 0 or near 1.",
    )


def right_by_position(right: dict[str, Tensor], trained: int, title: str) -> None:
    """Draw the share of words named rightly against the position where the sentence begins: three runs, and their mean."""
    figure, axes = subplots(height=3.9)
    last = trained - 16
    for low, high, alpha, label in [(-4, last, 0.3, "trained"), (last, trained, 0.13, "partly new")]:
        axes.axvspan(low, high, color=COLOURS["muted"], alpha=alpha, lw=0, label=label)
    for name, runs in right.items():
        colour = COLOURS[ROLES.get(name, "query")]
        axes.plot(range(0, 113, 8), runs.T, color=colour, lw=1)
        axes.plot(range(0, 113, 8), runs.mean(dim=0), color=colour, lw=4, label=f"{name}, mean of 3 runs")
    axes.set(xlim=(-4, 116), ylim=(0, 1.08), yticks=[0, 0.5, 1], xticks=sorted({0, last, trained, 112}))
    axes.set(xlabel="sentence begins at", ylabel="share right")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, weight="bold")
    means = "; ".join(f"{name} ≈ {runs[:, -7:].mean():.2f}" for name, runs in right.items())
    show(
        figure,
        alt="The share of words named rightly against where the sentence begins, a line for each kind of positions. "
        f"Where training sentences began, from 0 to {last}, all are near 1. From {last + 1} to {trained - 1} a "
        f"sentence is partly on new positions. Means of the last seven places: {means}.",
    )
