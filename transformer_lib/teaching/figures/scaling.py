"""The drawings of chapter 17: a step of three processes, wrong factors, the ring, memory, bfloat16."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from transformer_lib.teaching.figures.plots import COLOURS, show, subplots
from transformer_lib.teaching.figures.sheet import arrow, block, card, sheet, text

THIRDS = ("query", "key", "value")


def one_step() -> None:
    """Draw one training step of three processes, from left to right."""
    alt = (
        "A batch in three parts. Each goes to a process, with the same weights W, which computes the gradient of its "
        "part. One tall box adds the three up and gives the sum to all. Then all three hold the gradient of the batch, and "
        "have the same new weights."
    )
    with sheet(7.2, 3.15, alt) as axes:
        text(axes, 3.6, 0.2, "A batch in three parts: three gradients become one", weight="bold")
        for k, colour in enumerate(THIRDS):
            y = 0.5 + 0.88 * k
            card(axes, 0.08, y, 0.85, 0.72, colour, f"part {k}", fill=0.35)
            card(axes, 1.16, y, 1.33, 0.72, "mask", f"process {k}\nweights W")
            card(axes, 2.74, y, 1.11, 0.72, colour, f"gradient\nof part {k}")
            card(axes, 5.35, y, 1.75, 0.72, "mask", "gradient of batch\nsame new W")
            for start, end in [(0.95, 1.14), (2.51, 2.72), (3.87, 4.1), (5.08, 5.33)]:
                arrow(axes, (start, y + 0.36), (end, y + 0.36))
        card(axes, 4.12, 0.5, 0.94, 2.48, "ink", "all-\nreduce:\n\nadd up,\nand give\nthe sum\nto all")


def three_factors(off: Mapping[str, float], curves: Mapping[str, Sequence[float]]) -> None:
    """Draw the losses of the three runs, each named with how far its gradient is off."""
    figure, axes = subplots(width=7.2, height=3.0)
    for (name, losses), role, style, width in zip(curves.items(), THIRDS, ("--", "-", "-"), (2, 4, 9), strict=True):
        look = {"color": COLOURS[role], "lw": width, "zorder": 12 - width, "alpha": 0.4 if width > 4 else 1}
        axes.plot(range(1, len(losses) + 1), losses, style, label=f"{name}: off by {off[name]:.0%}", **look)
    axes.legend(title="gradient", frameon=False)
    axes.set(title="Three gradients, and nearly the same losses", xlabel="step, with Adam", ylabel="loss per word")
    alt = (
        "The losses of thirty steps: three curves that fall together. The gradient of 1 over own words is off by about a "
        "fifth, that of 1 over all words by a half, that of 2 over all words by nothing."
    )
    show(figure, alt=alt)


def ring(states: Sequence[Tensor]) -> None:
    """Draw the pieces of three processes at the start and after each round of the ring."""
    alt = (
        "Five rows of three processes with three numbers each. Start: 1 2 3, 10 20 30, 100 200 300. Round 1 gives 11, "
        "220 and 303; after round 2 each process has one total; after round 4 each has 111, 222 and 333. Arrows lead to the "
        "right neighbour, and from the last process to the first."
    )
    labels = ["start", "1: add", "2: add", "3: pass on", "4: pass on"]
    width, gap, down = 0.55, 2.0, 0.82
    totals = states[-1][0].tolist()
    with sheet(7.2, 4.55, alt) as axes:
        text(axes, 3.6, 0.18, "A colour for each piece, filled once it is a total", weight="bold")
        for i in range(3):
            text(axes, 1.3 + gap * i + 1.5 * width, 0.5, f"process {i}", "muted")
        for r, (state, label) in enumerate(zip(states, labels, strict=True)):
            y = 0.7 + down * r
            text(axes, 0.05, y + 0.15, label, ha="left")
            for i in range(3):
                for j, colour in enumerate(THIRDS):
                    x = 1.3 + gap * i + width * j
                    done = float(state[i, j]) in totals
                    block(axes, x, y, state[i, j], colour, cell=width - 0.05, shape=False, strength=0.5 if done else 0.04)
            for i in range(3 if r < 4 else 0):
                j, to = (i - r) % 3, (i + 1) % 3
                middle = width * j + width / 2
                arrow(axes, (1.3 + gap * i + middle, y + 0.31), (1.3 + gap * to + middle, y + down - 0.02), THIRDS[j])


def memory(cases: Mapping[str, Mapping[str, int]]) -> None:
    """Draw what a training step of the base model holds."""
    figure, axes = subplots(width=7.2, height=2.5)
    for name, table in cases.items():
        parts = {part: table[part] / 1e9 for part in ("encoder", "decoder", "output")}
        left = sum(table.values()) / 1e9 - sum(parts.values())
        axes.barh(name, left, color=COLOURS["query"])
        axes.text(left / 2, name, f"{left:.1f}", ha="center", va="center", color="white")
        for (part, size), colour in zip(parts.items(), ("encoder", "decoder", "value")):
            axes.barh(name, size, left=left, color=COLOURS[colour])
            if size > 2:
                axes.text(left + size / 2, name, f"{part}\n{size:.1f}", ha="center", va="center", color="white")
            left += size
        axes.text(left + 0.2, name, f"{left:.1f} GB", va="center")
    axes.invert_yaxis()
    axes.set(
        xlim=(0, 18),
        xlabel="GB: the model, then the activations",
        title="The batch decides how much has to fit",
    )
    alt = "Two bars. The whole batch: 1.0 GB for the model, then 4.4, 6.6 and 3.7 for activations. An eighth: 1.0 and 1.8."
    show(figure, alt=alt)


def number_line() -> None:
    """Draw which whole numbers around 256 are bfloat16 numbers."""
    whole = torch.arange(248, 267)
    exists = whole.bfloat16().int() == whole
    figure, axes = subplots(width=7.2, height=1.8)
    for chosen, colour, marker in [(exists, "query", "o"), (~exists, "key", "x")]:
        axes.scatter(whole[chosen], [0] * int(chosen.sum()), s=60, color=COLOURS[colour], marker=marker)
    bow = {"arrowstyle": "->", "color": COLOURS["key"], "lw": 2, "connectionstyle": "arc3,rad=0.9"}
    axes.annotate("", xy=(256, 0.12), xytext=(257, 0.12), arrowprops=bow)
    axes.text(256.5, 0.5, "257 goes back", ha="center")
    axes.set(ylim=(-0.4, 1), yticks=[], title="From 256 to 512, every second whole number is missing")
    axes.set_xticks([248, 252, 256, 260, 264])
    axes.spines["left"].set_visible(False)
    alt = (
        "Whole numbers from 248 to 266. Up to 256 each has a dot; after it only the even ones. An arrow leads from 257 to 256."
    )
    show(figure, alt=alt)
