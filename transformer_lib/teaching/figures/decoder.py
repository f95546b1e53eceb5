"""Chapter 9's drawings: who asks whom, cross-attention in blocks, one layer, two and two layers, losses, a map of weights."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from transformer_lib.teaching.figures import COLOURS, arrow, block, card, sheet, show, subplots, text

SOURCE = ["the", "white", "cow", "is", "tired"]
ASKED = [0.04, 0.88, 0.02, 0.04, 0.02]  # by vache, in the chapter's example by hand


def decoder_asks() -> None:
    """Draw the decoder between two words: it asks all rows of the memory, and hears white the loudest."""
    alt = (
        "Above, the encoder has read the white cow is tired and left one row for each word, the memory. Below, the decoder has "
        "written la vache and asks all five rows: where is a colour? By far the thickest line comes from the row of white. "
        "From the answer the decoder writes blanche."
    )
    with sheet(7.2, 4.45, alt) as axes:
        text(axes, 3.6, 0.24, "To write blanche, the decoder asks the encoder", weight="bold")
        text(axes, 0.1, 1.0, "encoder", "encoder", ha="left", weight="bold")
        text(axes, 0.1, 1.62, "memory", "encoder", ha="left")
        for n, (word, weight) in enumerate(zip(SOURCE, ASKED, strict=True)):
            x = 1.75 + 1.18 * n
            text(axes, x, 0.72, word)
            arrow(axes, (x, 0.9), (x, 1.4))
            card(axes, x - 0.36, 1.45, 0.72, 0.34, "encoder", "row", fill=0.12)
            axes.plot([x, 4.1], [1.8, 2.86], color=COLOURS["key"], lw=1 + 12 * weight, zorder=0.9)
        text(axes, 2.05, 2.45, "mostly white", "key")
        card(axes, 2.95, 2.84, 2.3, 0.42, "query", "where is a colour?", fill=0.12)
        text(axes, 0.1, 3.93, "decoder", "decoder", ha="left", weight="bold")
        for x, word in [(1.75, "<SOS>"), (2.93, "la"), (4.1, "vache")]:
            card(axes, x - 0.45, 3.74, 0.9, 0.38, "decoder", word, fill=0.1)
        arrow(axes, (4.1, 3.7), (4.1, 3.3), "query")
        arrow(axes, (5.3, 3.05), (6.05, 3.7))
        card(axes, 5.5, 3.74, 1.15, 0.38, "value", "blanche", fill=0.2)


def cross_attention(x: Tensor, memory: Tensor, made: Sequence[Tensor], weights: Tensor, output: Tensor) -> None:
    """Draw one cross-attention in blocks, from the target's vectors and the memory to the output."""
    q, k, v = made
    alt = (
        "Two ways meet. From x, 3 by 3, the rows SOS, la, vache, the columns start, article, animal, W_Q makes the queries Q, "
        "3 by 4. From the memory, 5 by 4, the rows the, white, cow, is, tired, W_K makes K, 5 by 4, and W_V makes V, 5 by 2. "
        "The columns of Q, memory and K are animal, colour, state, small word. Q and K give the weights, 3 by 5: SOS and la "
        "look mostly at cow, vache at white. Weights and V give the output, 3 by 2, a row for each target word."
    )
    with sheet(7.2, 8.1, alt) as axes:
        text(axes, 3.6, 0.22, "The target asks, the source answers", weight="bold")
        asked = ["animal", "colour", "state", "small word"]
        look = {"ha": "left", "va": "bottom", "rotation": 50, "rotation_mode": "anchor"}
        for left, y, names in [
            (1.05, 1.69, ["start", "article", "animal"]),
            (2.83, 1.69, asked),
            (1.05, 4.54, asked),
            (2.83, 3.99, asked),
        ]:
            for n, name in enumerate(names):
                text(axes, left + 0.3 * n, y, name, "muted", **look)
        block(axes, 0.98, 1.75, x, "query", rows=["<SOS>", "la", "vache"], cell=0.3)
        block(axes, 2.76, 1.75, q, "query", cell=0.3)
        block(axes, 4.3, 1.75, weights, "ink", name="weights", cell=0.565, columns=SOURCE, label=".2f")
        block(axes, 0.98, 4.6, memory, "encoder", rows=SOURCE, cell=0.3)
        block(axes, 2.76, 4.05, k, "key", cell=0.3)
        block(axes, 2.76, 6.3, v, "value", name="V", cell=0.3)
        block(axes, 5.05, 6.58, output, "value", name="output", cell=0.65, label=".2f")
        for start, end, words, x_0, y in [
            ((1.92, 2.18), (2.7, 2.18), "$W_Q$", 2.3, 1.98),
            ((4.0, 2.18), (4.24, 2.18), "", 0, 0),
            ((2.22, 5.2), (2.7, 4.9), "$W_K$", 2.4, 4.86),
            ((2.22, 5.6), (2.7, 6.75), "$W_V$", 2.24, 6.3),
            ((4.0, 4.75), (5.0, 2.96), "compare", 4.98, 3.9),
            ((3.44, 7.02), (4.97, 7.02), "mix", 4.1, 6.82),
            ((5.7, 2.96), (5.7, 6.14), "", 0, 0),
        ]:
            arrow(axes, start, end)
            text(axes, x_0, y, words, "muted")
        text(axes, 4.12, 1.9, "Q", "query", weight="bold")
        text(axes, 4.12, 4.2, "K", "key", weight="bold")
        text(axes, 0.1, 0.72, "x, from the decoder", "decoder", ha="left", weight="bold")
        text(axes, 0.1, 3.3, "memory, from the encoder", "encoder", ha="left", weight="bold")


def decoder_layer() -> None:
    """Draw one layer of the decoder: three sublayers, each in its residual connection; the memory enters the second."""
    alt = (
        "One decoder layer from top to bottom: masked self-attention, cross-attention, feed-forward network, and after each an "
        "add and norm, to which a line leads around the sublayer. The target words come in at the top. The memory, from the "
        "encoder on the right, leads into the cross-attention only, which makes K and V from it, and Q from above. Below, one "
        "vector for each target word leaves."
    )
    with sheet(7.2, 6.2, alt) as axes:
        text(axes, 3.6, 0.22, "Only the second sublayer reads the source", weight="bold")
        text(axes, 2.6, 0.62, "x: target words so far")
        card(axes, 0.1, 0.98, 4.85, 4.75, "decoder", fill=0.03)
        for n, (name, role) in enumerate(
            [("masked self-attention", "query"), ("cross-attention", "key"), ("feed-forward", "value")]
        ):
            y = 1.3 + 1.5 * n
            arrow(axes, (2.6, y - 0.52 if n == 0 else y - 0.42), (2.6, y))
            around = [y - 0.15, y - 0.15, y + 0.88, y + 0.88]
            axes.plot([2.6, 0.4, 0.4, 1.35], around, color=COLOURS["residual"], lw=2.2)
            arrow(axes, (1.3, y + 0.88), (1.68, y + 0.88), "residual")
            card(axes, 0.85, y, 3.5, 0.44, role, name, fill=0.12)
            arrow(axes, (2.6, y + 0.44), (2.6, y + 0.68))
            card(axes, 1.7, y + 0.69, 1.8, 0.38, "residual", "add & norm", fill=0.08)
        arrow(axes, (2.6, 5.37), (2.6, 5.9))
        text(axes, 2.6, 6.05, "one vector for each target word")
        text(axes, 4.85, 5.52, "× N", "decoder", ha="right", weight="bold")
        card(axes, 5.45, 1.2, 1.6, 1.0, "encoder", "encoder", fill=0.1)
        arrow(axes, (6.25, 2.22), (6.25, 2.56))
        card(axes, 5.45, 2.6, 1.6, 0.84, "encoder", "memory", fill=0.2)
        arrow(axes, (5.43, 3.02), (4.38, 3.02), "key")
        text(axes, 3.98, 3.02, "K, V", "key")
        text(axes, 1.2, 3.02, "Q", "query")


def two_layers() -> None:
    """Draw two encoder layers and two decoder layers, with the shapes on their way."""
    alt = (
        "Two encoder layers on the left, two decoder layers on the right, each pair from top to bottom. On the left each arrow "
        "carries 1 by 5 by 32, on the right 1 by 6 by 32. From the second encoder layer the memory, 1 by 5 by 32, goes to both "
        "decoder layers, and each makes its own K and V from it. From the first encoder layer nothing goes to the decoder."
    )
    with sheet(7.2, 5.3, alt) as axes:
        text(axes, 3.6, 0.22, "Every decoder layer reads the last encoder layer", weight="bold")
        for x, words, shape, role, name in [
            (1.3, "5 source words", "(1, 5, 32)", "encoder", "encoder"),
            (5.85, "6 target words", "(1, 6, 32)", "decoder", "decoder"),
        ]:
            text(axes, x, 0.68, words)
            for n, y in enumerate([1.35, 3.05]):
                arrow(axes, (x, y - (0.5 if n == 0 else 0.8)), (x, y - 0.03))
                text(axes, x + 0.08, y - (0.28 if n == 0 else 0.42), shape, "muted", ha="left")
                card(axes, x - 1.2, y, 2.4, 0.9, role, f"{name} layer {n + 1}", fill=0.1)
                if name == "decoder":
                    text(axes, x, y + 0.68, f"$K_{n + 1}$, $V_{n + 1}$ from memory", "key")
        card(axes, 0.1, 4.35, 2.4, 0.62, "encoder", "memory", fill=0.25)
        arrow(axes, (1.3, 3.95), (1.3, 4.32))
        text(axes, 1.38, 4.13, "(1, 5, 32)", "muted", ha="left")
        axes.plot([2.5, 3.5, 3.5], [4.66, 4.66, 1.8], color=COLOURS["key"], lw=1.8)
        for y in [1.8, 3.5]:
            arrow(axes, (3.49, y), (4.62, y), "key")
        arrow(axes, (5.85, 3.95), (5.85, 4.45))
        text(axes, 5.93, 4.16, "(1, 6, 32)", "muted", ha="left")
        text(axes, 5.85, 4.65, "out")


def losses_beside(french: str, blind: Tensor, seeing: Tensor) -> None:
    """Show the loss of each word, without and with the source."""
    words = [*french.split(), "<EOS>"]
    figure, axes = subplots(width=7.2, height=3.6)
    for side, (name, losses, role) in enumerate([("blind", blind, "mask"), ("seeing", seeing, "key")]):
        bars = axes.bar([n + 0.4 * side - 0.2 for n in range(len(words))], losses, 0.36, color=COLOURS[role], label=name)
        if name == "blind":
            axes.bar_label(bars, [f"{loss:.2f}" for loss in losses.tolist()], padding=2)
    axes.set_xticks(range(len(words)), words)
    axes.tick_params(axis="x", length=0)
    axes.set(ylabel="loss of the word", ylim=(0, 1.7))
    axes.spines["bottom"].set_visible(False)
    axes.legend(frameon=False, loc="upper left")
    figure.suptitle("With the source, no word is a guess", weight="bold")
    both = zip([*french.split(), "the end"], blind.tolist(), seeing.tolist(), strict=True)
    said = ", ".join(f"{word} {a:.1f} and {b:.1f}" for word, a, b in both)
    show(figure, alt=f"Pairs of bars, the loss of each word for the blind and for the seeing decoder: {said}.")


def _table(alt: str, title: str, corner: str, left: float, values: Tensor, role: str, **names: Any) -> None:
    """Draw numbers between the names of their rows and columns, the deeper coloured the larger they are."""
    with sheet(7.2, 1.1 + 0.42 * len(values), alt) as axes:
        text(axes, 3.6, 0.24, title, weight="bold")
        text(axes, left - 0.09, 0.86, corner, "muted", ha="right")
        names["strength"] = lambda i, j, value: 0.03 + 0.6 * value / values.max().item()
        block(axes, left, 1.0, values, role, shape=False, cell=(7.1 - left) / values.size(1), high=0.42, **names)


def weight_map(english: str, french: str, weights: Tensor) -> None:
    """Show who looks where: a row for each target word that is read, with the word that it is to write."""
    alt = (
        "A table of weights, six rows by five columns. To write vache, the decoder looks mostly at cow, to write blanche at "
        "white, to write fatiguée at tired. The other three rows are spread out."
    )
    assert weights[[1, 2, 4]].argmax(dim=-1).tolist() == [2, 1, 4] and weights[1, 2] > 0.3, "as the text says"
    words = french.split()
    rows = [f"{read} → {written}" for read, written in zip(["<SOS>", *words], [*words, "<EOS>"], strict=True)]
    title, names = "Six rows ask, five columns answer", {"rows": rows, "columns": english.split()}
    _table(alt, title, "reads → writes", 2.5, weights, "key", label=".2f", **names)


def one_word_changed(changes: dict[str, Tensor], french: str) -> None:
    """Show the loss of each French word where one word of the source was replaced."""
    alt = (
        "A table of losses, a row for each replaced source word, a column for each French word. With goat for cow, vache costs "
        "about 7; with black for white, blanche; with happy for tired, fatiguée. With horse for cow, la costs about 7 "
        "and vache about 1. Nearly all other losses are 0."
    )
    losses = torch.stack(list(changes.values()))
    for row, place in zip(losses, [1, 2, 4, 0], strict=True):
        assert row.argmax() == place and row[place] > 6 and row.sort().values[-3] < 1, "as the text says"
    assert 0.5 < losses[3, 1] < 2.5
    names = {"rows": list(changes), "columns": [*french.split(), "<EOS>"]}
    _table(alt, "Which words no longer fit?", "source", 1.85, losses, "mask", label=".1f", **names)
