"""The drawings of chapter 19: a model without encoder, turned arrows, shared keys, what each difference is worth, a head."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from transformer_lib.teaching.figures.plots import COLOURS, heatmap, show, subplots
from transformer_lib.teaching.figures.sheet import arrow, card, frame, heading, sheet, text
from transformer_lib.teaching.record import record

__all__ = ["groups", "head", "turned", "two_shapes", "worth"]


def two_shapes() -> None:
    """Draw the Transformer of 2017 with what can go in grey, and what is left."""
    alt = (
        "Left the Transformer of 2017: an encoder of self-attention and feed-forward, and a decoder of masked self-attention, "
        "cross-attention and feed-forward. Encoder and cross-attention are grey. Right what is left: masked self-attention and "
        "feed-forward, several times, from the words so far to the next one."
    )
    with sheet(7.2, 4.3, alt) as axes:
        heading(axes, "Without a source, encoder and cross-attention can go")
        for x, colour, parts in [
            (0.2, "#b6bcc4", ["feed-forward", "attention"]),
            (2.3, "decoder", ["feed-forward", "cross-attention", "masked attention"]),
            (5.1, "decoder", ["feed-forward", "masked attention"]),
        ]:
            for n, part in enumerate(parts):
                gone = colour != "decoder" or part == "cross-attention"
                low = 3.1 - 0.62 * (len(parts) - 1 - n)
                card(axes, x, low, 1.9, 0.46, "#b6bcc4" if gone else colour, part, fill=0.0 if gone else 0.1)
                if n:
                    arrow(axes, (x + 0.95, low), (x + 0.95, low - 0.16))
        for x, name, above, below in [
            (1.15, "2017: encoder", "", "source"),
            (3.25, "2017: decoder", "next word", "words so far"),
            (6.05, "decoder-only", "next word", "words so far"),
        ]:
            text(axes, x, 0.75, name, "muted" if "encoder" in name else "decoder", weight="bold")
            text(axes, x, 4.05, below)
            arrow(axes, (x, 3.93), (x, 3.58))
            if above:
                text(axes, x, 1.2, above)
                arrow(axes, (x, 1.86 if x < 4 else 2.48), (x, 1.35))
        arrow(axes, (2.1, 2.71), (2.3, 2.71), "#b6bcc4")
        arrow(axes, (4.4, 2.71), (4.95, 2.71), "ink")


def turned(rotate: Callable) -> None:
    """Draw one pair of a query and one of a key at two places: both turn, and the angle between them stays."""
    figure, panels = subplots(columns=3, width=7.2, height=2.5)
    pairs = {"query": torch.tensor([[1.0, 0.0]]), "key": torch.tensor([[0.6, 0.6]])}
    for axes, (at_q, at_k) in zip(panels, [(3, 1), (4, 2), (4, 1)], strict=True):
        ends = {}
        for role, at in (("query", at_q), ("key", at_k)):
            x, y = rotate(pairs[role], at)[0].tolist()
            r = math.hypot(x, y)
            ends[role] = math.degrees(math.atan2(y, x))
            axes.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "-|>", "color": COLOURS[role], "lw": 2.4, "shrinkA": 0})
            axes.text((1 + 0.55 / r) * x, (1 + 0.3 / r) * y, role, color=COLOURS[role], ha="center", va="center", weight="bold")
        between = (ends["key"] - ends["query"] + 180) % 360 - 180
        axes.spines[:].set_visible(False)
        axes.set(xlim=(-2.1, 2.1), ylim=(-1.4, 1.4), aspect="equal", title=f"query at {at_q}, key at {at_k}")
        axes.set_xlabel(f"between them {abs(between):.0f}°")
        axes.set(xticks=[], yticks=[])
    alt = (
        "Arrows of one pair of a query and of a key. With the query at place 3 and the key at 1, and with 4 and 2, the angle "
        "between them is the same, 70 degrees; with 4 and 1 it is another."
    )
    show(figure, alt=alt)


def groups(heads: int, kv_heads: int) -> None:
    """Draw which head of queries looks into which head of keys and values."""
    shared = heads // kv_heads
    alt = f"{heads} boxes for heads of queries; each {shared} in a row lead to one of {kv_heads} boxes for keys and values."
    with sheet(7.2, 2.55, alt) as axes:
        heading(axes, f"Of {heads} heads, {shared} at a time share keys and values")
        step, wide = 0.74, 0.6
        for n in range(heads):
            x = 0.42 + n * step
            card(axes, x, 0.62, wide, 0.4, "query", f"Q{n}")
            middle = 0.42 + (n // shared * shared + (shared - 1) / 2) * step + wide / 2
            arrow(axes, (x + wide / 2, 1.05), (middle + (n % shared - (shared - 1) / 2) * 0.3, 1.5))
        for n in range(kv_heads):
            middle = 0.42 + (n * shared + (shared - 1) / 2) * step + wide / 2
            frame(axes, middle - 0.95, 1.53, 1.9, 0.6, "muted")
            card(axes, middle - 0.85, 1.63, 0.8, 0.4, "key", f"K{n}")
            card(axes, middle + 0.05, 1.63, 0.8, 0.4, "value", f"V{n}")
        text(axes, 3.6, 2.35, f"kept for each token: {2 * kv_heads} rows, not {2 * heads}", "muted")


def worth() -> None:
    """Draw from the record the validation loss after each difference, a dot for each of three seeds."""
    numbers = record("language_model")["numbers"]
    figure, axes = subplots(width=7.2, height=4.6)
    for place, found in enumerate(numbers.values()):
        losses = [run["losses"][-1] for run in found["runs"]]
        axes.plot(losses, [place] * len(losses), "o", color=COLOURS["query"], ms=9, alpha=0.6)
        mean = sum(losses) / len(losses)
        axes.text(max(losses) + 0.012, place, f"{mean:.3f}", va="center")
    labels = ["DecoderOnly" if name == "2018" else f"+ {name}" for name in numbers]
    sizes = [found["runs"][0]["parameters"] / 1e6 for found in numbers.values()]
    labels = [label.replace("before each sublayer", "pre-norm") for label in labels]
    labels = [f"{label}\n{size:.2f} M parameters" for label, size in zip(labels, sizes, strict=True)]
    axes.set_yticks(range(len(numbers)), labels)
    axes.invert_yaxis()
    axes.set(title="What each difference is worth", xlabel="loss per token of new captions")
    axes.margins(x=0.12)
    means = {name: sum(run["losses"][-1] for run in one["runs"]) / len(one["runs"]) for name, one in numbers.items()}
    alt = "Mean loss of three seeds after each difference. " + " ".join(f"{name}: {loss:.2f}." for name, loss in means.items())
    show(figure, alt=alt)


def head(words: Sequence[str], weights: Tensor, title: str) -> None:
    """Draw the weights of one head of SmolLM2, and frame the look at what followed the same word."""
    figure, axes = subplots(width=7.2, height=6.2)
    ticks = {"x_ticks": words, "y_ticks": words}
    heatmap(axes, weights, title=title, x_label="word looked at", y_label="word that looks", **ticks)
    axes.tick_params(axis="x", rotation=60)
    for row, column in [(9, 2), (10, 3)]:
        frame(axes, column - 0.5, row - 0.5, 1, 1, "key", lw=3, clip_on=False)
    alt = (
        f"A map of weights, a row for each word that looks. The second{words[9]} gives {weights[9, 2]:.2f} to{words[2]}, the "
        f"second{words[10]} gives {weights[10, 3]:.2f} to{words[3]}; all others look most at the first word."
    )
    show(figure, alt=alt)
