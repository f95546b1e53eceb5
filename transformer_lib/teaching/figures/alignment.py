"""Chapter 4's drawings: two exams, one look, the context as a moving point, a learned score, one step, maps, curves."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from matplotlib.patches import Circle, Polygon, Rectangle
from torch import Tensor

from transformer_lib.teaching.figures.plots import COLOURS, band, heatmap, show, subplots
from transformer_lib.teaching.figures.sheet import arrow, block, card, frame, sheet, text
from transformer_lib.teaching.record import record

SOURCE, TARGET = ["the", "white", "cow"], ["la", "vache", "blanche"]


def _networks(axes, y: float) -> None:
    """Draw three cells that read and three that write, with their words."""
    for n, (word, written) in enumerate(zip(SOURCE, TARGET, strict=True)):
        axes.add_patch(Circle((0.9 + 1.1 * n, y), 0.17, color=COLOURS["encoder"]))
        axes.add_patch(Rectangle((4.03 + 1.1 * n, y - 0.16), 0.32, 0.32, color=COLOURS["decoder"]))
        text(axes, 0.9 + 1.1 * n, y + 0.38, word)
        text(axes, 4.19 + 1.1 * n, y + 0.38, written)
    places = [0.9, 2.0, 3.1, 4.19, 5.29, 6.39]
    for n, (left, right) in enumerate(pairwise(places)):
        arrow(axes, (left + 0.2, y), (right - 0.2, y), "key" if n == 2 else "muted")


def two_exams() -> None:
    """Draw the decoder that has one vector, and the decoder that looks back."""
    alt = (
        "Two drawings of an encoder that reads the white cow and a decoder that writes la vache blanche. Above, the book is "
        "closed: a single arrow joins the two, and one vector must carry everything. Below, the book is open: each source word "
        "has left a row in the memory. To write vache, the decoder sends a query to all three rows at once; lines of three "
        "widths, by far the widest from cow, lead to the context, which goes to the word vache."
    )
    with sheet(7.2, 4.75, alt) as axes:
        text(axes, 0.2, 0.22, "Closed book: read, then remember", ha="left", weight="bold")
        text(axes, 3.65, 0.62, "one vector must carry everything", "key")
        _networks(axes, 1.0)
        text(axes, 0.2, 1.95, "Open book: look back before each word", ha="left", weight="bold")
        _networks(axes, 4.15)
        for n, weight in enumerate([0.042, 0.114, 0.844]):
            x = 0.9 + 1.1 * n
            axes.plot([x, 4.75], [3.05, 2.55], color=COLOURS["key"], lw=1 + 8 * weight, zorder=1)
            arrow(axes, (x, 3.95), (x, 3.4))
            card(axes, x - 0.32, 3.05, 0.64, 0.32, "key", "row", fill=0.15)
        frame(axes, 0.42, 2.95, 3.16, 0.52, "query", lw=1.6, ls="--")
        text(axes, 0.42, 2.77, "memory", "key", ha="left")
        card(axes, 4.75, 2.35, 1.1, 0.38, "value", "context", fill=0.15)
        arrow(axes, (5.3, 2.75), (5.3, 3.93), "value")
        arrow(axes, (5.1, 3.97), (3.6, 3.25), "query")
        text(axes, 4.62, 3.45, "query", "query")


def one_look(memory: Tensor, query: Tensor, scores: Tensor, weights: Tensor, context: Tensor) -> None:
    """Show the three moves from the memory's rows to the context, with their numbers."""
    alt = (
        "From left to right: the query (1, 2) above the memory's rows, the (1, 0), white (0, 1), cow (2, 1); their dot "
        "products 1, 2, 4; the exponentials 2.72, 7.39, 54.6; the weights 0.04, 0.11, 0.84; and the context (1.73, 0.96)."
    )
    with sheet(7.2, 2.75, alt) as axes:
        text(axes, 3.6, 0.2, "Score, weigh, mix", weight="bold")
        block(axes, 0.8, 0.75, query, "query", name="query", shape=False, cell=0.42)
        block(axes, 0.8, 1.5, memory, "key", name="memory", rows=SOURCE, cell=0.42)
        arrow(axes, (1.69, 0.9), (2.03, 1.83), "query")
        for start, end, step in [(1.69, 2.36, "· query"), (2.87, 3.36, ""), (4.17, 4.8, "÷ sum"), (5.5, 5.97, "mix")]:
            arrow(axes, (start, 1.93), (end, 1.93))
            text(axes, (start + end) / 2, 2.2, step, "muted")
        block(axes, 2.42, 1.5, scores[:, None], "ink", name="score", shape=False, cell=0.42)
        block(axes, 3.42, 1.5, scores.exp()[:, None], "ink", name="exp", shape=False, cell=0.72)
        block(axes, 4.86, 1.5, weights[:, None], "query", name="weight", shape=False, cell=0.6)
        block(axes, 6.02, 1.79, context, "value", name="context", shape=False, cell=0.57)


def _triangle(axes, memory: Tensor, queries: np.ndarray, marked: dict[str, tuple[int, float, float]], title: str) -> None:
    """Draw the contexts of the queries as a line in the triangle of the rows, some with a name, and their queries beside."""
    axes.add_patch(Polygon(memory.numpy(), closed=True, fc="none", ec=COLOURS["key"], lw=1.6, ls="--"))
    middle = {"ha": "center", "va": "center"}
    for word, (x, y), (right, up) in zip(SOURCE, memory, [(0.3, -0.04), (-0.1, 0.15), (0.05, 0.15)], strict=True):
        axes.plot(x, y, "o", color=COLOURS["key"], markersize=9)
        axes.text(x + right, y + up, word, color="#8a4c00", weight="bold", **middle)
    path = ((torch.tensor(queries) @ memory.T).softmax(dim=-1) @ memory).numpy()
    axes.plot(*path.T, color=COLOURS["value"], lw=2.5)
    look, centre = {"arrowstyle": "-|>", "color": COLOURS["query"], "lw": 2}, np.array([0.12, 0.06])
    for name, (place, right, up) in marked.items():
        axes.plot(*path[place], "o", color=COLOURS["value"], markersize=8, zorder=3)
        axes.text(path[place, 0] + right, path[place, 1] + up, name, color="#00694b", **middle)
        if "·" not in name:
            axes.annotate("", centre + 0.16 * queries[place], centre, arrowprops=look)
            axes.text(*(centre + 0.2 * queries[place]), name, color="#00568f", **middle)
    axes.set(xlim=(-0.42, 2.4), ylim=(-0.45, 1.3), aspect="equal")
    axes.set_title(title, weight="bold", size=14)
    axes.axis("off")


def moving_context(memory: Tensor) -> None:
    """Show where the context goes when the query turns, and when it grows."""
    figure, (turned, grown) = subplots(columns=2, width=7.2, height=2.7)
    angles = np.radians(np.arange(361))
    circle = 5**0.5 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    marked = {"a": (30, -0.2, -0.11), "b": (100, 0.02, -0.13), "c": (200, 0.15, -0.02), "d": (300, -0.04, 0.16)}
    _triangle(turned, memory.double(), circle, marked, "Turn the query")
    line = np.linspace(0, 2, 41)[:, None] * [[1.0, 2.0]]
    marked = {"0 · q": (0, 0.0, -0.13), "½ · q": (10, 0.0, -0.2), "q": (20, -0.02, -0.14), "2 · q": (40, 0.2, -0.14)}
    _triangle(grown, memory.double(), line, marked, "Make it longer")
    show(
        figure,
        alt="A triangle with the rows of the, white and cow at its corners, twice. Left: four queries, a to d, and their "
        "contexts on a closed curve that stays inside the triangle: a lies at cow, b between white and cow, c near white, d "
        "near the. Right: the query zero gives the middle of the triangle; the longer the query, the nearer the context comes "
        "to cow.",
    )


def additive_scores(memory: Tensor, query: Tensor, hidden: Tensor, scores: Tensor) -> None:
    """Show one small network that is used on each row: query and row joined, W, tanh, v."""
    alt = (
        "Three lines, for the, white and cow. In each, the query (1, 2) stands beside the row; both go through the same W, the "
        "same tanh and the same v, drawn as boxes that span all three lines, and give one score: 0.96, 0, 1.52."
    )
    with sheet(7.2, 2.85, alt) as axes:
        text(axes, 3.6, 0.2, "One small network, used on each row", weight="bold")
        for x, name, colour in [
            (1.31, "query", "query"),
            (2.03, "row", "key"),
            (4.91, "hidden", "residual"),
            (6.72, "score", "ink"),
        ]:
            text(axes, x, 0.62, name, colour, weight="bold")
        for n, word in enumerate(SOURCE):
            y = 0.85 + 0.6 * n
            text(axes, 0.85, y + 0.15, word, ha="right")
            block(axes, 0.98, y, query, "query", shape=False, cell=0.33)
            block(axes, 1.7, y, memory[n], "key", shape=False, cell=0.33)
            for x, values, colour in [(4.27, hidden[n], "residual"), (6.4, scores[n : n + 1], "ink")]:
                block(axes, x, y, values, colour, shape=False, cell=0.64, strength=lambda i, j, value: 0.22 + 0.18 * value)
            for start, end in [(2.4, 2.67), (3.27, 3.42), (4.08, 4.24), (5.6, 5.77), (6.2, 6.37)]:
                arrow(axes, (start, y + 0.15), (end, y + 0.15))
        for x, width, name, colour in [
            (2.68, 0.56, "W", "encoder"),
            (3.42, 0.64, "tanh", "muted"),
            (5.78, 0.42, "v", "encoder"),
        ]:
            card(axes, x, 0.78, width, 1.7, colour, name, fill=0.12)
        for x, sizes in [(1.67, "2 + 2 = 4"), (2.96, "4 → 2"), (5.99, "2 → 1")]:
            text(axes, x, 2.66, sizes, "muted")


def two_questions(linear: Tensor, bent: Tensor) -> None:
    """Show how two queries move the scores of the three rows, without the tanh and with it."""
    figure, panels = subplots(columns=2, width=7.2, height=2.6, share_y=True)
    for axes, scores, title in zip(panels, (linear, bent), ("without the tanh", "with the tanh"), strict=True):
        for word, ends, style, up in zip(SOURCE, scores.T.tolist(), ("-", ":", "--"), (-0.25, 0, 0.25), strict=True):
            axes.plot(ends, style, marker="o", color=COLOURS["key"])
            axes.text(-0.08, ends[0] + up, word, ha="right", va="center")
        axes.set_title(title, weight="bold")
        axes.set(xticks=[0, 1], xticklabels=["(1, 2)", "(–2, 0.5)"], xlim=(-0.6, 1.2), xlabel="query")
    panels[0].set_ylabel("score")
    show(
        figure,
        alt="Two panels, three scores for each of two queries, joined by lines. Without the tanh all lines rise by the same "
        "1.5: they stay parallel. With the tanh the lines of the and cow cross.",
    )


def decoder_step() -> None:
    """Show one step of the decoder: read, look, write, with the widths of the vectors."""
    alt = (
        "One step from left to right. Read: the GRU cell gets the last word, 32 numbers, joined to the last context, 64 "
        "numbers, and the last state; it gives a new state of 64 numbers. Look: attention compares the new state with all "
        "rows of the memory and gives a new context of 64 numbers. Write: state and context, joined to 128 numbers, go through "
        "a linear layer, which gives one logit for each French word. New state and new context also go on to the next step."
    )
    with sheet(7.2, 3.2, alt) as axes:
        for x, title, colour, part, name, inked, width in [
            (1.95, "1 · Read", "decoder", "GRU cell", "[ last word ; last context ]", "ink", "32 + 64"),
            (3.95, "2 · Look", "key", "attention", "memory", "key", "words × 64"),
            (5.95, "3 · Write", "ink", "linear", "logits", "ink", "64 + 64 → French words"),
        ]:
            text(axes, x, 0.22, title, weight="bold")
            card(axes, x - 0.55, 1.3, 1.1, 0.6, colour, part)
            text(axes, x, 2.55, name, inked)
            text(axes, x, 2.82, width, "muted")
        for x, start, end, name, colour in [
            (0.44, 0.85, 1.36, "state", "decoder"),
            (2.95, 2.54, 3.36, "state", "decoder"),
            (4.95, 4.54, 5.36, "context", "value"),
        ]:
            text(axes, x, 1.42, name, colour)
            text(axes, x, 1.8, "64", "muted")
            arrow(axes, (start, 1.6), (end, 1.6), colour)
        arrow(axes, (1.95, 2.4), (1.95, 1.94))
        arrow(axes, (3.95, 2.4), (3.95, 1.94), "key")
        arrow(axes, (5.95, 1.94), (5.95, 2.4))
        arrow(axes, (2.3, 1.26), (5.8, 1.26), "decoder", bend=-0.22)
        text(axes, 4.05, 0.68, "state", "decoder")


def weight_map(written: Sequence[str], source: Sequence[str], weights: Tensor) -> None:
    """Show the weights, a line for each written word, a column for each source word."""
    alt = (
        "A table of weights, a line for each written word and a column for each word of the white cow is tired. la looks "
        "mostly at cow, vache at cow, blanche at cow too and hardly at white, est at is, fatiguée at tired."
    )
    high = 0.36
    with sheet(7.2, 1.05 + high * len(written), alt) as axes:
        text(axes, 3.6, 0.2, "Each written word, and where the decoder looked", weight="bold")
        look = {"cell": 0.95, "high": high, "rows": written, "columns": source, "shape": False}
        block(axes, 1.55, 0.85, weights, "query", label=".2f", strength=lambda i, j, w: 0.03 + 0.6 * w, **look)


def exact_match() -> None:
    """Show how many reversed sentences are right, without attention, with one linear neuron, and with both attentions."""
    before, after = record("seq2seq_length"), record("alignment_length")["numbers"]
    lengths = before["settings"]["lengths"]
    figure, axes = subplots(width=7.2, height=4.2)
    for runs, role, style, label in [
        (after["additive"]["exact_match"], "query", "-", "additive attention"),
        (after["dot product"]["exact_match"], "value", "--", "dot-product attention"),
        (after["one linear neuron"]["exact_match"], "key", ":", "attention without the tanh"),
        (before["numbers"]["reverse"]["64"], "mask", "-", "one vector (chapter 1)"),
    ]:
        band(axes, lengths, np.array(runs)[:, : len(lengths)], style, role, label, marker="o", markersize=5)
    axes.axvline(12, color=COLOURS["muted"], lw=1, ls=":")
    axes.set(xlabel="letters in the sentence", ylabel="share without a mistake", ylim=(-0.02, 1.04), xticks=lengths)
    axes.set_title("With attention the fall comes later", weight="bold")
    axes.legend(loc="lower left", frameon=False)
    show(
        figure,
        alt="Share of reversed sentences without a mistake against their length, mean and range of three seeds. With one "
        "vector it falls to zero by 14 letters, and with attention without the tanh in the same way. With additive and with "
        "dot-product attention it falls slowly, to about 0.87 at 12 letters and 0.7 at 16.",
    )


def mean_map(weights: Sequence[Sequence[float]]) -> None:
    """Show a mean map of reversals, with a cross on the letter that is needed."""
    figure, axes = subplots(width=7.2, height=4.6)
    names = {"x_label": "source place", "y_label": "letter written", "x_ticks": range(12), "y_ticks": range(12)}
    heatmap(axes, weights, title="Look first: one place to the right", **names)
    axes.plot(range(11, -1, -1), range(12), "x", color=COLOURS["key"], markersize=8, mew=2.5)
    show(
        figure,
        alt="A mean attention map, 12 by 12, with crosses from the top right to the bottom left, where the needed letter "
        "stands. Most of the weight lies one place to the right of the crosses.",
    )
