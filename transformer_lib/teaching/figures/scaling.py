"""The drawings of chapter 17: a step of three processes, the ring, memory, bfloat16, and what takes the time."""

from collections.abc import Mapping, Sequence
from typing import Any

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
    """Draw how far each gradient is off, beside the losses of each run."""
    figure, (left, right) = subplots(columns=2, width=7.2, height=3.0)
    looks = [(COLOURS["query"], "--", 2), (COLOURS["key"], "-", 4), (COLOURS["value"], "-", 9)]
    for (name, share), (colour, style, width) in zip(off.items(), looks, strict=True):
        left.barh(name, share, color=colour)
        left.text(share + 0.01, name, f"{share:.0%}", va="center")
        look = {"lw": width, "zorder": 12 - width, "alpha": 0.4 if width > 4 else 1}
        right.plot(range(1, len(curves[name]) + 1), curves[name], style, color=colour, **look)
    left.invert_yaxis()
    left.set(xlim=(0, 0.68), xticks=[], title="The gradient is off by")
    right.set(title="The losses hardly tell", xlabel="step, with Adam", ylabel="loss per word")
    alt = (
        "Left, three bars: how far the gradient is off. 1 over own words about a quarter, 1 over all words a half, 2 over all "
        "words nothing. Right, the losses of thirty steps: three curves that fall together."
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
        text(axes, 3.6, 0.18, "Four rounds, and everybody has all totals (filled)", weight="bold")
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
        activations = table["activations"] / 1e9
        model = sum(table.values()) / 1e9 - activations
        axes.barh(name, model, color=COLOURS["query"])
        axes.barh(name, activations, left=model, color=COLOURS["key"])
        words = f"{model:.1f} model + {activations:.1f} activations"
        inside = activations > 8
        axes.text(
            1.4 if inside else 0.3 + model + activations, name, words, va="center", color="white" if inside else COLOURS["ink"]
        )
    axes.axvline(16, linestyle="--", color=COLOURS["mask"])
    axes.invert_yaxis()
    axes.set(xlim=(0, 17), xlabel="GB (dashed: the 16 of the paper's GPUs)", title="The batch is the load, not the model")
    alt = "Two bars. The whole batch: 1.0 GB for the model and 14.7 for activations, just below 16. An eighth: 1.0 and 1.8."
    show(figure, alt=alt)


def number_line() -> None:
    """Draw which whole numbers around 256 are bfloat16 numbers."""
    whole = torch.arange(248, 267)
    exists = whole.bfloat16().int() == whole
    figure, axes = subplots(width=7.2, height=1.8)
    for chosen, look in [(exists, {"color": COLOURS["query"]}), (~exists, {"color": COLOURS["key"], "marker": "x"})]:
        axes.scatter(whole[chosen], [0] * int(chosen.sum()), s=60, **look)
    bow = {"arrowstyle": "->", "color": COLOURS["key"], "lw": 2, "connectionstyle": "arc3,rad=0.9"}
    axes.annotate("", xy=(256, 0.12), xytext=(257, 0.12), arrowprops=bow)
    axes.text(256.5, 0.5, "257 goes back", ha="center")
    axes.set(ylim=(-0.4, 1), yticks=[], title="From 256 on, every second whole number is missing")
    axes.set_xticks([248, 252, 256, 260, 264])
    axes.spines["left"].set_visible(False)
    alt = (
        "Whole numbers from 248 to 266. Up to 256 each has a dot; after it only the even ones. An arrow leads from 257 to 256."
    )
    show(figure, alt=alt)


def kernel_times(lengths: Sequence[int], seconds: Mapping[str, Sequence[float]]) -> None:
    """Draw the time of the readable and of the fused attention at growing lengths."""
    figure, axes = subplots(width=7.2, height=2.9)
    for name, colour in (("readable", "query"), ("fused", "key")):
        times = [1000 * second for second in seconds[name]]
        axes.loglog(lengths, times, "o-", color=COLOURS[colour], base=2)
        axes.text(
            lengths[-1] * 1.08,
            times[-1],
            f"{name}\n{times[-1]:.0f} ms",
            va="bottom" if name == "readable" else "top",
            color=COLOURS[colour],
        )
    axes.set(
        xlim=(230, 3200),
        ylim=(0.4, 420),
        xlabel="words",
        ylabel="ms",
        title="The fused kernel saves most at 2048 words",
    )
    axes.set_xticks(lengths, [str(length) for length in lengths])
    axes.set_yticks([1, 4, 16, 64], ["1", "4", "16", "64"])
    alt = "Two rising lines over 256 to 2048 words. The readable attention needs 152 milliseconds at 2048, the fused one 40."
    show(figure, alt=alt)


def step_time(numbers: Mapping[str, Any]) -> None:
    """Draw a training step of our model and of torch's, with the part that is matrix products."""
    figure, axes = subplots(width=7.2, height=2.2)
    products = numbers["products_ms"]
    for name, key in (("torch's layers", "torch_ms"), ("our layers", "ours_ms")):
        axes.barh(name, numbers[key], color=COLOURS["mask"], alpha=0.6)
        axes.barh(name, products, color=COLOURS["query"])
        axes.text(numbers[key] + 6, name, f"{numbers[key]:.0f} ms", va="center")
    axes.text(products / 2, "our layers", f"products {products:.0f} ms", va="center", ha="center", color="white")
    axes.set(xlim=(0, 520), xticks=[], title="Most of a training step is matrix products")
    alt = "Two bars. torch's layers 437 ms, our layers 347 ms a step. In both 210 ms are matrix products."
    show(figure, alt=alt)
