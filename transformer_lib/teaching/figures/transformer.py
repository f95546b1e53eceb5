"""Drawings of chapter 10: a matrix at both ends, one sentence's tensors, 63 million parameters, next words."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle
from torch import Tensor

from transformer_lib.positional_encoding import sinusoidal_table
from transformer_lib.teaching.figures.plots import COLOURS, show, subplots
from transformer_lib.teaching.figures.sheet import arrow, block, frame, heading, sheet, text, tint


def _half(i: int, j: int, value: float) -> str:
    return "½" if value > 0 else "–½"


def rows_of_words(E: Tensor, source: Tensor, words: Sequence[str]) -> None:
    """Show the matrix, the rows that the ids pick, times √d_model, and the positions that are added."""
    ids = source[0].tolist()
    picked, places = E[ids] * E.size(1) ** 0.5, sinusoidal_table(len(ids), E.size(1))
    alt = (
        f"Left, the matrix E of 13 words and 4 numbers each, a half or minus a half. The ids {ids} pick the rows of "
        f"{', '.join(words[i] for i in ids)}. Right, from the top: these rows times 2, 1 and minus 1; the table of "
        "positions, which is added; the sum, x, 5 by 4."
    )
    with sheet(7.2, 6.7, alt) as axes:
        heading(axes, "Each id picks its row; then the position is added")
        labels = [f"{i:2} {word}" for i, word in enumerate(words)]
        look = {"label": _half, "strength": lambda i, j, value: 0.42 if i in ids else 0.06, "learned": True}
        right, _ = block(axes, 1.22, 0.8, E, "key", name="E", cell=0.33, rows=labels, **look)
        arrow(axes, (right + 0.1, 2.1), (3.7, 1.65))
        text(axes, 3.25, 2.2, "× √4", "muted")
        named, counted = [words[i] for i in ids], [str(i) for i in range(len(ids))]
        block(axes, 4.6, 0.8, picked, "key", name="2 · E[ids]", cell=0.6, rows=named, shape=False)
        block(axes, 4.6, 2.8, places, "position", name="+ positions", cell=0.6, rows=counted, shape=False)
        block(axes, 4.6, 4.8, picked + places, "ink", name="= x", cell=0.6, rows=named)


def word_and_place(position: Tensor, row: Tensor, scaled: Tensor) -> None:
    """Show a word's first numbers beside its position's, as the row starts and times √d_model."""
    alt = (
        "Two panels with the first 48 numbers of a word and of position 7. Left, as the row starts, the word is nearly a flat "
        "line at 0 and the position swings between minus 1 and 1. Right, times the root of 512, the word swings as widely."
    )
    figure, panels = subplots(1, 2, height=2.6, share_y=True)
    figure.suptitle("Without the factor, the position is 16 times as large", weight="bold", size=15)
    for axes, word, title in zip(panels, (row, scaled), ("as the row starts", "times √512"), strict=True):
        axes.plot(position[:48], color=COLOURS["position"], lw=1.6, label="position 7")
        axes.plot(word.detach()[:48], color=COLOURS["key"], lw=1.6, label="cow")
        axes.set(title=title, xlabel="first numbers of 512", ylim=(-3.2, 3.2))
    panels[0].legend(loc="upper right", ncols=2)
    show(figure, alt=alt)


def output_layer(E: Tensor, y: Tensor, words: Sequence[str]) -> None:
    """Show y beside every row of E, the logits and the probabilities."""
    logits = E @ y
    chances = logits.softmax(dim=-1)
    best = int(chances.argmax())
    alt = (
        f"The row y, {y.int().tolist()}, is compared with each of the 13 rows of E. The logits lie between minus 2 and 2, the "
        f"probabilities below {chances.max():.3f}, which is that of {words[best]}, whose signs are those of y."
    )
    with sheet(7.2, 5.3, alt) as axes:
        heading(axes, "At the exit, y is compared with every word's row")
        block(axes, 1.18, 0.72, y, "decoder", cell=0.36, rows=["y"], shape=False)
        arrow(axes, (1.9, 1.05), (1.9, 1.25))
        look = {"label": _half, "strength": lambda i, j, value: 0.42 if value * y[j] > 0 else 0.06, "learned": True}
        block(axes, 1.18, 1.3, E, "key", cell=0.36, rows=words, **look)
        for at, name in [(3.2, "logit"), (3.95, "$e^{logit}$"), (5.6, "probability")]:
            text(axes, at, 1.12, name, "muted")
        for i in range(len(words)):
            line = 1.3 + (i + 0.5) * 0.29
            look = {"weight": "bold"} if i == best else {}
            text(axes, 3.2, line, f"{logits[i]:.0f}".replace("-", "–"), **look)
            text(axes, 3.95, line, f"{logits[i].exp():.3f}", **look)
            axes.add_patch(Rectangle((4.7, line - 0.1), 5 * chances[i], 0.2, fc=COLOURS["key"]))
            text(axes, 4.78 + 5 * float(chances[i]), line, f"{chances[i]:.3f}", ha="left", **look)


def _tensor(axes: Axes, x: float, y: float, values: Tensor, colour: str, name: str, wide: float = 1.75) -> None:
    """Draw a matrix as a carpet of its numbers, with its shape below it."""
    high = 0.27 * len(values)
    shades = LinearSegmentedColormap.from_list(colour, [tint(colour, 0.04), tint(colour, 0.9)])
    look = {"cmap": shades, "vmin": 0, "vmax": 2.2, "aspect": "auto", "interpolation": "nearest"}
    axes.imshow(values.abs().detach(), extent=(x, x + wide, y + high, y), **look)
    axes.hlines([y + 0.27 * i for i in range(1, len(values))], x, x + wide, color="white", lw=3)
    frame(axes, x, y, wide, high, colour)
    text(axes, x + wide / 2, y - 0.16, name, colour, weight="bold")
    text(axes, x + wide / 2, y + high + 0.15, " × ".join(map(str, values.shape)), "muted")


def one_sentence(tensors: Sequence[Tensor], words: Sequence[str]) -> None:
    """Show the shape of everything between the ids and the probabilities; `tensors` in the order of the ten lines."""
    source, first, memory, target, second, y, logits, chances = (tensor[0] for tensor in tensors)
    alt = (
        "Tensors as carpets of coloured cells. Upper row: 5 source ids, x of 5 by 64 after embedding and positions, then the "
        "memory, 5 by 64, after the encoder. Middle row: 4 target ids, x of 4 by 64, then the decoder, to which an arrow leads "
        "from the memory, gives y, 4 by 64. Lower row, with a column for each of 13 words: the linear layer gives logits, 4 by "
        "13, the softmax probabilities, 4 by 13. Each row's highest probability is that of the word that was read."
    )
    with sheet(7.2, 7.5, alt) as axes:
        heading(axes, "Five rows or four: their number never changes")
        lanes = [(0.85, source, first, "encoder", memory, "memory"), (2.95, target, second, "decoder", y, "y")]
        for top, ids, entered, stack, left, name in lanes:
            look = {"rows": [words[i] for i in ids.tolist()], "high": 0.27, "cell": 0.36, "shape": False, "strength": 0.1}
            block(axes, 0.95, top, ids[:, None], "muted", name="ids", **look)
            text(axes, 1.13, top + 0.27 * len(ids) + 0.15, str(len(ids)), "muted")
            arrow(axes, (1.4, top + 0.5), (2.33, top + 0.5))
            text(axes, 1.86, top + 0.29, "embed", "muted")
            text(axes, 1.86, top + 0.71, "+ positions", "muted", size=11)
            _tensor(axes, 2.42, top, entered, "key", "x", wide=1.5)
            arrow(axes, (4.0, top + 0.5), (4.95, top + 0.5), stack)
            text(axes, 4.47, top + 0.29, stack, stack)
            _tensor(axes, 5.05, top, left, stack, name)
        axes.plot([5.92, 5.92, 4.47], [2.42, 2.58, 2.58], color=COLOURS["encoder"], lw=1.8)
        arrow(axes, (4.47, 2.58), (4.47, 3.12), "encoder")
        arrow(axes, (5.92, 4.32), (5.92, 4.72))
        text(axes, 5.8, 4.5, "linear layer", "muted", ha="right")
        for left, values, role, name in [(4.0, logits, "query", "logits"), (0.1, 8 * chances, "value", "probabilities")]:
            _tensor(axes, left, 6.0, values, role, "", wide=2.9)
            text(axes, left + 1.45, 4.88, name, role, weight="bold")
            for n, word in enumerate(words):
                text(axes, left + 2.9 * (n + 0.5) / len(words), 5.94, word, va="bottom", rotation=90)
        for n, (chance, word) in enumerate(zip(*chances.max(dim=-1), strict=True)):
            place, side = (word + 1.25, "left") if word < 6 else (word - 0.25, "right")
            text(axes, 0.1 + 2.9 * place / len(words), 6.14 + 0.27 * n, f"{chance:.2f}", ha=side)
        arrow(axes, (3.92, 6.54), (3.08, 6.54))
        text(axes, 3.5, 6.33, "softmax", "muted")


def parameters(words: int, attention: int, feed_forward: int, norm: int) -> None:
    """Show as areas the matrix of words and the parts of the layers of both stacks, from the parameters of each part."""
    looked, fed = ("att.", attention, "query"), ("feed-forward", feed_forward, "value")
    columns = [  # name, layers, norms of a layer, its parts; norms are too thin to be seen
        ("words", 1, 0, [("37,000 × 512", words, "key")]),
        ("encoder", 6, 2, [looked, fed]),
        ("decoder", 6, 3, [looked, ("cross", attention, "residual"), fed]),
    ]
    sums = [layers * (norms * norm + sum(count for _, count, _ in parts)) for _, layers, norms, parts in columns]
    alt = (
        "Areas to scale, three columns of one height. Words: 18.9 million. Encoder: 18.9 million, six layers, a third "
        "of each attention, two thirds feed-forward. Decoder: 25.2 million, six layers, a quarter attention, a quarter "
        "cross-attention, half feed-forward."
    )
    with sheet(7.2, 3.7, alt) as axes:
        heading(axes, f"{sum(sums):,} parameters, to scale")
        left, top, high = 0.1, 1.0, 2.25
        for (name, layers, _, parts), whole in zip(columns, sums, strict=True):
            wide = 6.76 * whole / sum(sums)
            text(axes, left + wide / 2, 0.58, name, weight="bold")
            text(axes, left + wide / 2, 0.82, f"{whole:,}", "muted")
            x = left
            for label, count, role in parts:
                cell, tall = wide * layers * count / whole, high / layers
                for row in range(layers):
                    frame(axes, x, top + row * tall, cell, tall, "white", fc=tint(role, 0.42), lw=1.5)
                text(axes, x + cell / 2, top + high + 0.17, label)
                x += cell
            left += wide + 0.12


def next_words(steps: Sequence[tuple[str, Sequence[str], Sequence[float]]]) -> None:
    """Show the token that was read last at each step, the most probable next one with its probability, and the runners-up."""
    alt = "Bars, one for each step. " + " ".join(
        f"After {read.strip('<>')}: {names[0].strip('<>')} with about {values[0]:.2f}, then {names[1]} and {names[2]}."
        for read, names, values in steps
    )
    with sheet(7.2, 0.85 + 0.34 * len(steps), alt) as axes:
        heading(axes, "Trained, it names the next word")
        for x, name in [(0.72, "last token"), (1.95, "next token"), (3.75, "probability"), (6.1, "runners-up")]:
            text(axes, x, 0.58, name, "muted")
        for i, (read, names, values) in enumerate(steps):
            y = 0.92 + 0.34 * i
            text(axes, 0.72, y, read)
            text(axes, 1.95, y, names[0], weight="bold")
            axes.add_patch(Rectangle((2.65, y - 0.1), 1.9 * values[0], 0.2, fc=COLOURS["value"]))
            text(axes, 4.62, y, f"{values[0]:.2f}", ha="left")
            text(axes, 6.1, y, ", ".join(names[1:]), "muted")


def pieces(of_five: Mapping[str, Sequence[float]]) -> None:
    """Show how many sentences models copy from which one piece was taken, three starts each."""
    alt = (
        "One row for each piece, three dots each. Nothing taken out, the encoder's attention, the decoder's own attention, "
        "feed-forward, norm: near 1. Plus: scattered between 0.1 and 0.9. Positions, causal mask, cross-attention: at 0."
    )
    figure, axes = subplots(height=3.9)
    for row, (name, shares) in enumerate(of_five.items()):
        axes.plot([0, 1], [row, row], color=COLOURS["mask"], lw=0.5, zorder=0)
        colour = COLOURS["key" if name.startswith("nothing") else "query"]
        axes.scatter(shares, [row - 0.22, row, row + 0.22], s=40, color=colour, clip_on=False)
    axes.set_yticks(range(len(of_five)), list(of_five))
    axes.set(xlim=(0, 1), ylim=(len(of_five) - 0.4, -0.6), xlabel="share of 1,000 sentences copied without a mistake")
    axes.spines[:].set_visible(False)
    figure.suptitle("Three pieces that copying cannot do without", weight="bold", size=15)
    show(figure, alt=alt)
