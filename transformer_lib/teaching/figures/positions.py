"""Chapter 5's drawings: rows that are added, clock hands, the ladder of speeds, and who still looks one word back."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.lines import Line2D
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
    figure, panels = subplots(rows=2, columns=2, height=4.4, share_x=True, share_y=True)
    twins = ["John loves Susan", "Susan loves John"]
    written = []
    for row, (name, answers) in enumerate({"without": without, "with positions": with_positions}.items()):
        for column, answer in enumerate(answers.tolist()):
            axes = panels[row, column]
            axes.barh(names[:4], answer[:4], color=[COLOURS["value" if n == column else "muted"] for n in range(4)])
            for n in (0, 1):
                axes.text(answer[n] + 0.03, n, f"{answer[n]:.2f}", va="center")
            axes.set(xlim=(0, 1.3), xticks=[0, 1])
            axes.tick_params(axis="y", length=0)
            if row == 0:
                axes.set_title(twins[column], loc="left", style="italic")
            written.append(f"{twins[column]} {name}: John {answer[0]:.2f}, Susan {answer[1]:.2f}")
        panels[row, 0].set_ylabel(name)
    panels[0, 0].invert_yaxis()
    figure.suptitle("Who loves? A coin flip becomes certainty", weight="bold")
    show(figure, alt=f"Bars, the probabilities of the first four names. {'; '.join(written)}. The other names get nothing.")


def _clock(axes, x: float, y: float, radius: float, angle: float, colour: str, **look) -> None:
    tip = x + radius * math.sin(angle), y - radius * math.cos(angle)
    axes.plot([x, tip[0]], [y, tip[1]], color=COLOURS.get(colour, colour), **({"lw": 4, "solid_capstyle": "round"} | look))


def five_clocks(positions: Sequence[int] = (0, 1, 2, 3, 44)) -> None:
    """Draw two hands, one a hundred times as fast as the other, at five positions."""
    alt = (
        "Two rows of clocks at the positions 0, 1, 2, 3 and 44. The fast hand points up at 0, then to the right, further down "
        "at each step, and at 44 it points up again. The slow hand hardly moves from 0 to 3; at 44 it points a little right."
    )
    with sheet(7.2, 3.2, alt) as axes:
        text(axes, 3.6, 0.2, "At position 44 the fast hand is back, the slow one is not", weight="bold")
        for row, (name, speed) in enumerate([("fast", 1), ("slow", 0.01)]):
            y = 1.27 + 1.25 * row
            text(axes, 0.78, y, name, ha="right")
            for column, pos in enumerate(positions):
                x = 1.5 + 1.25 * column
                axes.add_patch(Circle((x, y), 0.52, fill=False, ec=COLOURS["muted"], lw=1.5))
                _clock(axes, x, y, 0.5, speed * pos, "position")
                if row == 0:
                    text(axes, x, 0.57, f"{pos}")
        text(axes, 0.78, 0.57, "position", ha="right")


def formula() -> None:
    """Draw one clock with the names of the formula: the angle, its sine, its cosine, and where they are written."""
    angle = 1.0
    alt = (
        "A clock whose hand has turned by an angle of 1 radian from the top. Its tip lies 0.84 to the right, the sine, and "
        "0.54 up, the cosine. Both numbers go into the row of position 1, in dimensions 0 and 1."
    )
    with sheet(7.2, 2.5, alt) as axes:
        x, y, radius = 1.3, 1.35, 0.98
        text(axes, 3.6, 0.18, "A hand is written down by where its tip is", weight="bold")
        axes.add_patch(Circle((x, y), radius, fill=False, ec=COLOURS["muted"], lw=1.5))
        axes.plot([x, x], [y, y - radius], color=COLOURS["muted"], ls=":", lw=1.5)
        _clock(axes, x, y, radius, angle, "position")
        tip = x + radius * math.sin(angle), y - radius * math.cos(angle)
        axes.plot([x, tip[0]], [y, y], color=ROLES_LIGHT["query"], lw=3)
        axes.plot([tip[0], tip[0]], [y, tip[1]], color=ROLES_LIGHT["key"], lw=3)
        text(axes, (x + tip[0]) / 2, y + 0.17, "sin", "query")
        text(axes, tip[0] + 0.07, y - 0.2, "cos", "key", ha="left")
        text(axes, x + 0.09, y - 0.6, "1 rad", ha="left")
        arrow(axes, (2.65, y), (3.15, y))
        row = sinusoidal_table(2, 4)[1]
        roles = ["query", "key", "muted", "muted"]
        names = ["sin", "cos", "sin", "cos"]
        _, bottom = block(
            axes, 4.1, 1.1, row, "position", rows=["row 1"], columns=names, cell=0.72, high=0.4,
            shape=False, colour_of=lambda i, j: roles[j], strength=0.3,
        )  # fmt: skip
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


def turned_back(pos: int = 20, shift: int = -3, d_model: int = 8, last: int = 60) -> None:
    """Draw a row's hands, turned by `shift` positions, over those of the row there; below, which row fits them best."""
    hands, goal = d_model // 2, pos + shift
    table = sinusoidal_table(last + 1, d_model)
    fits = (table @ table[goal]).tolist()
    alt = (
        f"Four clocks. In each, the hand of position {pos} is turned back by three steps of its own speed and then lies on the "
        f"hand of position {goal}. Below, the dot product of the turned row with the rows 0 to {last}: highest at {goal}."
    )
    assert max(range(last + 1), key=fits.__getitem__) == goal
    with sheet(7.2, 4.35, alt) as axes:
        text(axes, 3.6, 0.2, f"Row {pos}, turned back by 3 positions, is row {goal}", weight="bold")
        for hand in range(hands):
            speed = 10_000 ** (-2 * hand / d_model)
            x, y = 1.05 + 1.7 * hand, 1.2
            axes.add_patch(Circle((x, y), 0.62, fill=False, ec=COLOURS["muted"], lw=1.5))
            _clock(axes, x, y, 0.6, speed * goal, "position", lw=7)
            _clock(axes, x, y, 0.6, speed * (pos + shift), "ink", lw=2, ls=(0, (2, 1.5)))
            _clock(axes, x, y, 0.6, speed * pos, "muted", lw=2)
            turn = f"{shift * speed:.3f}".replace("-", "–")
            text(axes, x, 2.02, f"turn {turn}")
        key = [
            ("muted", f"row {pos}", {"lw": 2}),
            ("ink", "turned", {"lw": 2, "ls": (0, (2, 1.5))}),
            ("position", f"row {goal}", {"lw": 7}),
        ]
        for column, (colour, name, look) in enumerate(key):
            x = 1.0 + 2.1 * column
            axes.plot([x, x + 0.45], [2.38, 2.38], color=COLOURS[colour], **look)
            text(axes, x + 0.58, 2.38, name, ha="left")
        left, right, low, high = 0.75, 6.85, 3.75, 2.85
        xs = [left + (right - left) * row / last for row in range(last + 1)]
        ys = [low - (low - high) * fit / hands for fit in fits]
        axes.plot([left, right], [low, low], color=COLOURS["muted"], lw=1)
        axes.plot([xs[goal]] * 2, [low, ys[goal]], color=COLOURS["ink"], ls=":", lw=1.5)
        axes.plot(xs, ys, color=COLOURS["position"], lw=3)
        for row in (0, goal, 40, last):
            text(axes, xs[row], low + 0.16, f"{row}")
        text(axes, left - 0.1, high, f"{hands}", ha="right")
        text(axes, left - 0.1, low, "0", ha="right")
        text(axes, 3.8, low + 0.42, "dot product of the turned row with every row")


def right_by_position(right: dict[str, Tensor], trained: int, title: str, length: int = 16) -> None:
    """Draw the share of words named rightly against the position where the sentence begins: three runs, and their mean."""
    rows, last = math.ceil(len(right) / 2), trained - length
    figure, panels = subplots(columns=2, rows=rows, height=2.1 * rows + 0.9, share_x=True, share_y=True)
    for axes, (name, runs) in zip(np.ravel(panels), right.items()):
        colour = COLOURS[ROLES.get(name, "query")]
        start = [8 * place for place in range(runs.size(1))]
        areas = [
            axes.axvspan(-4, last, color=COLOURS["muted"], alpha=0.3, lw=0, label="trained"),
            axes.axvspan(last, trained, color=COLOURS["muted"], alpha=0.13, lw=0, label="partly new"),
        ]
        axes.plot(start, runs.T, color=colour, lw=1)
        axes.plot(start, runs.mean(dim=0), color=colour, lw=4)
        axes.axhline(1 / 12, color=COLOURS["ink"], ls=":", lw=1)
        axes.set(xlim=(-4, 116), ylim=(0, 1.08), yticks=[0, 0.5, 1], xticks=sorted({0, last, trained, 112}))
        axes.set_title(name, loc="left")
    looks = {"one run": {"lw": 1}, "mean": {"lw": 4}, "guessing": {"lw": 1, "ls": ":"}}
    lines = [Line2D([], [], color=COLOURS["ink"], label=name, **look) for name, look in looks.items()]
    figure.legend(handles=[*areas, *lines], loc="outside lower center", ncols=3, frameon=False)
    for axes in np.reshape(panels, (rows, 2))[:, 0]:
        axes.set_ylabel("share right")
    for axes in np.reshape(panels, (rows, 2))[-1]:
        axes.set_xlabel("sentence begins at")
    figure.suptitle(title, weight="bold")
    means = "; ".join(f"{name} ≈ {runs[:, -7:].mean():.2f}" for name, runs in right.items())
    show(
        figure,
        alt="Panels, one for each kind of positions: the share of words named rightly against the position where the sentence "
        f"begins. Where training sentences began, from 0 to {last}, all are near 1. From {last + 1} to {trained - 1} a "
        f"sentence is partly on new positions. Means of the last seven places: {means}. Guessing is 1/12.",
    )
