"""Chapter 18's drawings: the museum's plan, two runs, the scale of a loss, every curve, two heads."""

from collections.abc import Mapping

import torch
from torch import Tensor

from transformer_lib.attention import join_heads
from transformer_lib.teaching.bugs import BUGS
from transformer_lib.teaching.figures import COLOURS, arrow, block, card, sheet, show, subplots, text
from transformer_lib.training import History

ROOMS = [
    ("Room 1: it sees what it should not", "query", BUGS[:5]),
    ("Room 2: it computes something else", "key", BUGS[5:11]),
    ("Room 3: it trains in another way", "value", BUGS[11:14]),
    ("Room 4: it goes wrong only when it writes", "decoder", BUGS[14:]),
]


def plan() -> None:
    """Draw the plan of the museum: four rooms and what hangs in them, a line for each bug."""
    alt = "The plan of a museum of four rooms. " + " ".join(
        f"{room}: {'; '.join(f'{bug.name}, {bug.what}' for bug in exhibits)}." for room, _, exhibits in ROOMS
    )
    line, top = 0.27, 0.5
    with sheet(7.2, 7.95, alt) as axes:
        text(axes, 3.6, 0.24, "Seventeen bugs, and no error message", weight="bold")
        for room, colour, exhibits in ROOMS:
            high = line * (1.3 + len(exhibits)) + 0.12
            card(axes, 0.06, top, 7.08, high, colour, fill=0.06)
            text(axes, 0.22, top + 0.23, room, colour, ha="left", weight="bold")
            for n, bug in enumerate(exhibits, start=1):
                text(axes, 0.22, top + 0.23 + n * line, bug.name, colour, ha="left")
                text(axes, 1.85, top + 0.23 + n * line, bug.what, ha="left")
            top += high + 0.24


def two_runs(history_a: History, history_b: History) -> None:
    """Draw the training losses of two runs, means over ten steps, without saying which has the bug."""
    figure, axes = subplots(width=7.2, height=3.4)
    steps = range(10, len(history_a.losses) + 1, 10)
    for name, history, role, side in (("A", history_a, "query", "bottom"), ("B", history_b, "key", "top")):
        losses = torch.tensor(history.losses).view(-1, 10).mean(dim=1)
        axes.plot(steps, losses, color=COLOURS[role], lw=2.2)
        axes.text(steps[-1] + 4, losses[-1], name, color=COLOURS[role], va=side, weight="bold")
    axes.set_ylim(bottom=0.3)
    axes.set(title="Two runs, and one of them has a wrong line", xlabel="step", ylabel="training loss")
    show(
        figure,
        alt="Two training losses against the step, A and B. Both fall from about 2.8 to about 0.7. "
        "They cross, and at the end B is slightly lower than A.",
    )


def loss_scale(floor: float, nothing: float) -> None:
    """Draw where a loss may lie: never below the floor, and at the start a little above that of knowing nothing."""
    alt = (
        f"A scale of losses from 0 to 4. Below {floor:.3f}, the floor, a loss is impossible: something is counted wrongly. "
        f"Between it and {nothing:.3f}, log 13, the model learns. A little above log 13 a fresh model begins."
    )

    def at(loss: float) -> float:
        return 0.3 + 1.65 * loss

    with sheet(7.2, 2.35, alt) as axes:
        text(axes, 3.6, 0.22, "With label smoothing, no training loss lies below the floor", weight="bold")
        parts = [(0, floor, "never"), (floor, nothing, "the model learns"), (nothing, 4, "a fresh model")]
        for (start, end, words), colour in zip(parts, ("key", "value", "query"), strict=True):
            card(axes, at(start) + 0.02, 0.95, at(end) - at(start) - 0.04, 0.5, colour, words, fill=0.15)
        for loss, what in ((floor, "the floor"), (nothing, "knows nothing: log 13")):
            arrow(axes, (at(loss), 1.85), (at(loss), 1.47))
            text(axes, at(loss), 0.74, f"{loss:.3f}", weight="bold")
            text(axes, at(loss), 2.03, what)
        text(axes, at(0), 0.74, "0")
        text(axes, at(4), 0.74, "4")


def all_curves(runs: Mapping[str, Tensor], floor: float) -> None:
    """Draw the losses `(seed, point)` of every bug over the band of the right model, "none"; equal ones share its panel."""
    right = runs["none"]
    alike = [name for name, losses in runs.items() if losses.equal(right)]
    steps = range(10, 10 * right.size(1) + 1, 10)
    figure, grid = subplots(5, 3, width=7.2, height=9.6, share_x=True, share_y=True)
    for axes, name in zip(grid.flatten(), [*(name for name in runs if name not in alike), "none"], strict=False):
        axes.fill_between(steps, right.amin(dim=0), right.amax(dim=0), color=COLOURS["muted"], alpha=0.6, lw=0)
        axes.plot(steps, runs[name].T, color=COLOURS["query"], lw=1.3)
        axes.axhline(floor, ls="--", lw=1, color=COLOURS["key"])
        axes.set(ylim=(0.1, 3.3), title=name)
    axes.set_title("4 bugs, equal to right")
    grid[0, 0].text(10, floor - 0.04, "floor", va="top")
    figure.suptitle("Most wrong lines have a curve like the right one, or better", weight="bold")
    grid[-1, -1].axis("off")
    grid[-1, -1].text(0, 3.2, "\n".join(["The 4 bugs:", *alike[1:]]), va="top")
    for axes in (*grid[-1, :2], grid[-2, -1]):
        axes.set_xlabel("step")
        axes.tick_params(labelbottom=True)
    for axes in grid[:, 0]:
        axes.set_ylabel("loss")
    show(
        figure,
        alt="Fourteen small panels: training loss against the step for thirteen bugs, and four equal to the right model. "
        "Most lie in the grey band of the right model or below it; no-zero-grad and start end clearly above it, frequencies "
        "slightly above. A dashed line marks the floor: not-shifted ends on it, all-places below it.",
    )


def two_heads(x: Tensor, right: Tensor, wrong: Tensor) -> None:
    """Draw numbered words `(words, numbers)`, the heads `(heads, words, numbers)` of each way of cutting, and them joined."""
    alt = (
        "Four words of six numbers each; every number is the number of its word. Right: each head has three numbers of all "
        "four words, rows 0, 1, 2, 3, and joined they are the words again. Wrong: head 0 has rows 0, 0, 1, 1, head 1 has rows "
        "2, 2, 3, 3, and joined the first place has words 0 and 2."
    )
    colours = ["query", "key", "value", "decoder"]
    blocks = [(0.1, 1.75, x, "words 0 to 3")]
    for heads, top in ((right, 0.98), (wrong, 2.76)):
        blocks += [(left, top, heads[head], f"head {head}") for head, left in enumerate((2.85, 3.95))]
        blocks += [(5.3, top, join_heads(heads[None])[0], "joined")]
    with sheet(7.2, 4.35, alt) as axes:
        text(axes, 3.6, 0.22, "Each head must have a part of every word", weight="bold")
        for way, colour, y, above in (("right", "value", 1.56, -0.3), ("wrong", "key", 3.34, 0.35)):
            arrow(axes, (2.05, 2.35), (2.7, y))
            arrow(axes, (4.93, y), (5.22, y))
            text(axes, 2.3, y + above, way, colour, weight="bold")
        for left, top, values, name in blocks:
            role = lambda row, column, values=values: colours[int(values[row, column])]
            block(axes, left, top, values, "ink", name=name, cell=0.3, strength=0.3, colour_of=role)
