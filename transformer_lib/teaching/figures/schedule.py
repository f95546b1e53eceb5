"""The figures of chapter 11, The learning rate."""

import math
from collections.abc import Callable

import torch

from transformer_lib.schedule import noam_rate
from transformer_lib.teaching.experiments.schedule import GUESS, LETTERS, PEAK, WARMUP, Run, decaying, rates, watched
from transformer_lib.teaching.figures import COLOURS, arrow, block, sheet, show, subplots, text
from transformer_lib.teaching.record import record

AT_ONCE = {"color": COLOURS["key"], "linestyle": "--", "label": "at once"}
CLIMBING = {"color": COLOURS["query"], "label": "climbing"}
STEPS = range(1, WARMUP + 1)
CLIMB = rates(WARMUP)


def two_runs(at_once: Run, climbing: Run) -> None:
    """Draw the rates of two trainings, and their losses."""
    figure, (left, right) = subplots(columns=2, width=7.2, height=3.4)
    left.plot(STEPS, [PEAK] * WARMUP, **AT_ONCE)
    left.plot(STEPS, CLIMB, **CLIMBING)
    left.set(title="learning rate", xlabel="training step", ylim=(0, 0.0055), yticks=[0, PEAK], yticklabels=["0", "0.0044"])
    left.legend(loc="lower right", frameon=False)
    right.plot(STEPS, at_once.losses, **AT_ONCE)
    right.plot(STEPS, climbing.losses, **CLIMBING)
    right.axhline(GUESS, color=COLOURS["muted"], linewidth=1, zorder=0)
    right.text(WARMUP, GUESS + 0.07, "knows nothing", ha="right", color=COLOURS["muted"])
    right.set(title="loss", xlabel="training step", ylim=(0, 3))
    figure.suptitle("The same network: only the one whose rate climbs learns", weight="bold")
    show(
        figure,
        alt="Two panels over 100 training steps. Left, two learning rates: one is 0.0044 from the first step on, the other "
        "climbs from 0 to 0.0044 in a straight line. Right, the losses: with the full rate at once the loss stays at "
        "2.485, the loss of a network that knows nothing; with the climbing rate it falls to almost 0.",
    )


def adam_by_hand() -> None:
    """Draw two steps of Adam on one weight."""
    with sheet(
        7.2,
        2.75,
        "Two steps of Adam on one weight, as blocks of numbers. Gradient g: 5, then –5. m: 0.5, then –0.05; divided by the sum "
        "of the shares, 0.1 and 0.19: 5 and –0.263. v, of the squares: 0.5, then 0.99; divided by 0.02 and 0.0396: 25 and 25, "
        "whose root is 5. The move, in rates: –1, then 0.053.",
    ) as axes:
        text(axes, 3.6, 0.2, "Contradicting gradients: the second move is short", weight="bold")
        for x, y, values, colour, name, below in [
            (0.1, 1.5, [5, -5], "muted", "gradient g", "step 1, 2"),
            (1.95, 0.9, [0.5, -0.05], "query", "m", "not yet divided"),
            (1.95, 2.1, [0.5, 0.99], "value", "v, of squares", "not yet divided"),
            (3.8, 0.9, [5, -0.263], "query", "÷ 0.1, 0.19", "average"),
            (3.8, 2.1, [25, 25], "value", "÷ 0.02, 0.0396", "average"),
            (5.65, 1.5, [-1, 0.053], "key", "move, in rates", "– upper / √lower"),
        ]:
            block(axes, x, y, [values], colour, name=name, cell=0.7, shape=False, label=".3g")
            text(axes, x + 0.7, y + 0.45, below, "muted")
        for start, end in [
            ((1.53, 1.55), (1.9, 1.15)),
            ((1.53, 1.75), (1.9, 2.2)),
            ((3.38, 1.05), (3.75, 1.05)),
            ((3.38, 2.25), (3.75, 2.25)),
            ((5.23, 1.15), (5.6, 1.55)),
            ((5.23, 2.2), (5.6, 1.75)),
        ]:
            arrow(axes, start, end)


def agree_and_contradict(adam: Callable) -> None:
    """Draw eight moves of one weight whose gradients agree, and of one whose gradients contradict each other."""
    figure, (left, right) = subplots(columns=2, width=7.2, height=2.9, share_y=True)
    for axes, name, gradients in [(left, "5, 5, 5, 5, …", [5.0] * 8), (right, "5, –5, 5, –5, …", [5.0, -5.0] * 4)]:
        axes.bar(range(1, 9), adam(gradients, [1.0] * 8), color=COLOURS["key"])
        axes.axhline(0, color=COLOURS["ink"], linewidth=1)
        axes.set(title=f"gradients {name}", xlabel="step", xticks=range(1, 9), ylim=(-1.15, 0.4))
    left.set(ylabel="move, in rates", yticks=[-1, 0])
    figure.suptitle("The first move is a full one", weight="bold")
    show(
        figure,
        alt="Two bar charts of eight moves of one weight, counted in rates. Where all gradients are 5, each move is minus 1. "
        "Where they are 5 and minus 5 by turns, the first move is minus 1, and the others are close to 0.",
    )


def first_letters(at_once: Run, climbing: Run) -> None:
    """Draw the states of eight first letters before a training, after one step and after five, of two trainings."""
    figure, grid = subplots(rows=2, columns=3, width=7.2, height=6.2, share_y=True)
    words = ["".join(LETTERS[i] for i in row) for row in watched[:8]]
    for panels, run, name in zip(grid, [at_once, climbing], ["at once", "climbing"], strict=True):
        for axes, (step, (states, answers, _)) in zip(panels, run.looks.items(), strict=True):
            picture = axes.imshow(states - states.mean(dim=0), cmap="RdBu_r", vmin=-0.8, vmax=0.8, aspect="auto")
            axes.set_title(f"{name}, step {step}" if step else "fresh network")
            axes.set_xticks([])
            axes.spines[:].set_visible(False)
            for place, letter in enumerate(answers):
                axes.text(32.5, place, f"→ {letter}", va="center")
            axes.set_yticks(range(8), [rf"$\mathbf{{{word[0]}}}${word[1:]}" for word in words])
            axes.tick_params(length=0)
    bar = figure.colorbar(picture, ax=grid, location="bottom", shrink=0.6, aspect=40, ticks=[-0.8, 0, 0.8])
    bar.set_label("distance from the average of the column")
    bar.outline.set_visible(False)
    figure.suptitle("In one full step the rows lose what tells them apart", weight="bold")
    show(
        figure,
        alt="Two rows of three pictures of eight rows of 32 cells, one row for the first letter of each of eight inputs, with "
        "the letter that the network answers at its right. In the fresh network many cells are coloured and the rows differ. "
        "At once: after one step hardly a cell has colour, after five none, and the answer is the same letter in all eight "
        "rows. Climbing: after one step and after five the cells are as coloured as before.",
    )


def two_branches() -> None:
    """Draw the small schedule as the lower of two curves, d_model 4 and warm-up 4, and as numbers."""
    steps = range(1, 17)
    figure, axes = subplots(width=7.2, height=3.5)
    axes.plot(steps, [step / 16 for step in steps], ":", color=COLOURS["muted"])
    axes.plot(steps, [0.5 * step**-0.5 for step in steps], "--", color=COLOURS["muted"])
    axes.plot(steps, [noam_rate(step, 4, 4) for step in steps], "o-", color=COLOURS["query"], linewidth=3)
    for place, words, role in [
        ((1.3, 0.03), "0.0625", "query"),
        ((2.3, 0.095), "0.125", "query"),
        ((5.2, 0.25), "peak 0.25", "query"),
        ((15, 0.15), "0.125", "query"),
        ((7.8, 0.4), r"climb: $\frac{1}{2} \cdot step / 8$", "muted"),
        ((2.1, 0.42), r"fall: $\frac{1}{2} \cdot 1 / \sqrt{step}$", "muted"),
    ]:
        axes.text(*place, words, color=COLOURS[role])
    axes.set(xlabel="step", ylabel="rate", ylim=(0, 0.52), xticks=[1, 2, 4, 8, 12, 16])
    axes.set_title("The rate is the lower of two curves", weight="bold")
    show(
        figure,
        alt="The learning rate of steps 1 to 16 for d_model 4 and warm-up 4. A dotted line climbs, a dashed curve falls, and "
        "the rate is always the lower of the two: 0.0625 at step 1, 0.125 at step 2, the peak 0.25 at step 4 where they "
        "meet, 0.125 again at step 16.",
    )


def mean_moves(at_once: Run, climbing: Run) -> None:
    """Draw the mean move of a weight in each step of two trainings, and the rate that climbs; print the longest."""
    figure, (left, right) = subplots(columns=2, width=7.2, height=3.3)
    left.plot(STEPS, [1000 * rate for rate in CLIMB], ":", color=COLOURS["ink"])
    left.plot(STEPS, [1000 * move for move in at_once.moves], **AT_ONCE)
    left.plot(STEPS, [1000 * move for move in climbing.moves], **CLIMBING)
    left.set(title="mean move, in thousandths", xlabel="training step", ylim=(0, 4.6))
    left.text(66, 3.5, "the rate\nthat climbs", ha="right")
    left.text(7, 2.6, "at once", color=COLOURS["key"])
    left.text(WARMUP, 0.85, "climbing", ha="right", color=COLOURS["query"])
    right.plot(STEPS, [move / PEAK for move in at_once.moves], **AT_ONCE)
    right.plot(STEPS, [move / rate for move, rate in zip(climbing.moves, CLIMB)], **CLIMBING)
    right.set(title="the same, in rates", xlabel="training step", ylim=(0, 1.05))
    figure.suptitle("Counted in rates, moves are long at first: keep the rate small", weight="bold")
    show(
        figure,
        alt="Mean move of a weight in each of 100 steps. Left, in thousandths: at once it begins above 4 and falls steeply; "
        "climbing it begins near zero and stays below 0.8, while its rate, dotted, climbs to 4.4. Right, counted in "
        "rates: both begin near 1 and fall within 20 steps to about a quarter or less.",
    )
    print(f"longest mean move: at once ≈ {max(at_once.moves):.4f}, climbing ≈ {max(climbing.moves):.4f}")


def which_stacks() -> None:
    """Draw the record of three stacks at four peaks, with warm-up and without."""
    peaks = ["1.8", "4.4", "8.8", "17.7"]
    figure, panels = subplots(columns=3, width=7.2, height=3.7, share_y=True)
    by_stack = dict(zip(["12 layers, post-norm", "2 layers, post-norm", "12 layers, pre-norm"], panels))
    for row in record("schedule_warmup")["numbers"]:
        climbs = row["schedule"] == "with warm-up"
        middle = peaks.index(f"{1000 * row['peak']:.1f}") + (-0.18 if climbs else 0.18)
        look = {"color": COLOURS["query" if climbs else "key"], "mew": 2, "ms": 6}
        where = [middle - 0.07, middle, middle + 0.07]
        (marks,) = by_stack[row["stack"]].plot(where, row["losses"], "o" if climbs else "x", **look)
        marks.set_label(row["schedule"] if middle < 0.5 else None)
    for stack, axes in by_stack.items():
        axes.axhline(GUESS, color=COLOURS["muted"], linewidth=1, zorder=0)
        axes.set_xticks(range(4), peaks)
        axes.set(title=stack.replace(", ", ",\n"), ylim=(-0.2, 2.8))
    panels[0].set_ylabel("loss after 300 steps")
    panels[1].set_xlabel("peak of the rate, in thousandths")
    panels[1].legend(frameon=False, loc="center", handletextpad=0)
    panels[2].text(3.4, GUESS - 0.07, "knows nothing", ha="right", va="top", color=COLOURS["muted"])
    figure.suptitle("Here only the deep post-norm stack needs the warm-up", weight="bold")
    show(
        figure,
        alt="Three panels, four peak rates each, three runs with and three without warm-up. Twelve layers, post-norm: at 1.8 "
        "thousandths all six runs are near zero; at 4.4 the three with warm-up are near zero, the three without near 2.4; "
        "at 8.8 two with warm-up are near zero, one is half way, and all without know nothing; at 17.7 all six know "
        "nothing. Two layers post-norm, and twelve layers pre-norm: all runs are near zero at every rate.",
    )


def today(cosine_rate: Callable) -> None:
    """Draw the cosine beside the paper's schedule, and weight decay in the gradient and beside it."""
    figure, (left, right) = subplots(columns=2, width=7.2, height=3.6)
    steps = range(1, 1001)
    left.plot(steps, [cosine_rate(step, peak=1.0, warmup=100, last=1000) for step in steps], color=COLOURS["query"])
    left.plot(steps, [noam_rate(step, 100, 100) * 100 for step in steps], "--", color=COLOURS["muted"])
    left.text(430, 0.8, "cosine decay", color=COLOURS["query"])
    left.text(1000, 0.43, "the paper's", ha="right", color=COLOURS["muted"])
    left.set(title="rate, 1 at the peak", xlabel="training step", ylim=(0, 1.1), xticks=[0, 500, 1000])
    right.plot(decaying(torch.optim.AdamW, size=5.0), color=COLOURS["value"])
    right.plot(decaying(torch.optim.Adam, size=5.0), color=COLOURS["key"])
    right.plot(decaying(torch.optim.Adam, size=0.05), "--", color=COLOURS["key"])
    right.text(100, 0.88, "in the gradient,\nof size 5", ha="right", va="bottom", color=COLOURS["key"])
    right.text(58, 0.58, "AdamW, both", color=COLOURS["value"])
    right.text(2, 0.02, "in the gradient,\nof size 0.05", va="bottom", color=COLOURS["key"])
    right.set(title="a weight that decays", xlabel="training step", ylim=(0, 1.2), yticks=[0, 1])
    figure.suptitle("The cosine ends at 0; under AdamW weights decay alike", weight="bold")
    show(
        figure,
        alt="Left, two rates with a warm-up of 100 steps: the cosine stays near its peak at first and ends at 0 at step 1000; "
        "the paper's falls at once and ends at about a third. Right, a weight that starts at 1 and has gradients of 5 or "
        "of 0.05 with alternating sign: under AdamW both decay alike, to about a third in 100 steps; with the decay "
        "inside the gradient the one decays more slowly and the other faster.",
    )
    assert math.isclose(*(decaying(torch.optim.AdamW, size=size)[-1] for size in (5.0, 0.05)), rel_tol=1e-6)
