"""Drawings of chapter 1: sentences written backwards, encoder and decoder, their tensors, and how far one state reaches."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from transformer_lib.teaching.experiments.seq2seq import right_by_length
from transformer_lib.teaching.figures import arrow, block, card, frame, sheet, show, subplots, text
from transformer_lib.teaching.figures.plots import band
from transformer_lib.teaching.figures.sheet import number
from transformer_lib.teaching.figures.theme import COLOURS
from transformer_lib.teaching.record import record

CELL = 0.385  # of one letter, in inches
_LOOKS = {"read": ("#f3f5f8", "muted", 1.2), "right": ("#c9ecd9", "value", 1.2), "wrong": ("#ffc9a0", "#a33f00", 2.0)}


def _written(sentence: str) -> dict[str, list[str]]:
    """Return what is right and what the network with 32 numbers writes, from the record `seq2seq_sentences`."""
    symbols = ["", "<sos>", "<eos>", *"abcdefghij"]
    row = record("seq2seq_sentences")["numbers"]["32"][sentence]
    return {name: [symbols[k] for k in ids] for name, ids in row.items()}


def _row(axes: Axes, x: float, y: float, label: str, symbols: Sequence[str], right: Sequence[str] | None = None) -> None:
    """Draw one box for each symbol; where `right` is given, wrong ones stand out. y is the middle of the row."""
    text(axes, x - 0.1, y, label, ha="right")
    for n, symbol in enumerate(symbols):
        look = "read" if right is None else "right" if symbol == right[n] else "wrong"
        fill, edge, line = _LOOKS[look]
        left, width = x + n * CELL, 0.84 if symbol == "<eos>" else CELL  # it comes last
        axes.add_patch(Rectangle((left + 0.02, y - 0.165), width - 0.04, 0.33, fc=fill, ec=COLOURS.get(edge, edge), lw=line))
        text(axes, left + width / 2, y, symbol, weight="bold" if look == "wrong" else "normal")


def backwards() -> None:
    """Show what a trained model writes for a short and for a long sentence."""
    alt = (
        "Five letters, badge, come back as egdab: all right. Fourteen, he had a big badge, should come back as "
        "egdabgibadaheh. The first five letters are right; what follows is wrong, and it stops too early."
    )
    short, long = _written("badge"), _written("hehadabigbadge")
    with sheet(7.2, 2.85, alt) as axes:
        text(axes, 3.6, 0.2, "badge comes back right, a longer sentence does not", size=15, weight="bold")
        _row(axes, 0.8, 0.62, "reads", "badge")
        _row(axes, 0.8, 1.03, "writes", short["free"], short["right"])
        _row(axes, 0.8, 1.63, "reads", "hehadabigbadge")
        _row(axes, 0.8, 2.04, "right", long["right"])
        _row(axes, 0.8, 2.45, "writes", long["free"], long["right"])


def encoder_and_decoder() -> None:
    """Show encoder and decoder step by step, on a translation; only the state crosses."""
    alt = (
        "Above, the encoder reads I, am, a, student in four steps. A thick line, the state, leads from its last step to the "
        "first step of the decoder below. The decoder reads the start sign, je, suis, étudiant and writes je, suis, étudiant, "
        "the end sign. Curved arrows lead from each written word to the next input."
    )
    source, answer = ["I", "am", "a", "student"], ["<sos>", "je", "suis", "étudiant", "<eos>"]
    with sheet(7.2, 4.1, alt) as axes:
        text(axes, 3.6, 0.2, "All that crosses from encoder to decoder is one state", size=15, weight="bold")
        top, low = 1.15, 2.75
        for n in range(4):
            x = 2.0 + 1.45 * n
            text(axes, x, 0.62, source[n])
            arrow(axes, (x, 0.76), (x, top - 0.02))
            text(axes, x, low + 1.0, answer[n])
            arrow(axes, (x, low + 0.84), (x, low + 0.46))
            text(axes, x, low - 0.42, answer[n + 1], weight="bold")
            arrow(axes, (x, low - 0.02), (x, low - 0.28))
            for y, role in ((top, "encoder"), (low, "decoder")):
                card(axes, x - 0.45, y, 0.9, 0.42, role)
                if n < 3:
                    arrow(axes, (x + 0.47, y + 0.21), (x + 0.98, y + 0.21), "query")
            if n < 3:
                arrow(axes, (x + 0.3, low - 0.3), (x + 1.2, low + 0.86), bend=-0.15)
        for y, role in ((top, "encoder"), (low, "decoder")):
            text(axes, 0.62, y + 0.21, role, role, weight="bold")
        across = (top + low) / 2 - 0.2
        path = [(6.35, top + 0.44), (6.35, across), (1.27, across), (1.27, low + 0.21), (1.4, low + 0.21)]
        axes.plot(*zip(*path), color=COLOURS["query"], lw=5, solid_joinstyle="miter")
        arrow(axes, (1.3, low + 0.21), (1.54, low + 0.21), "query")
        text(axes, 4.2, across + 0.2, "the state", "query", weight="bold")


def reading(sentence: str, vectors: Tensor, states: Tensor) -> None:
    """Show the letters' vectors, the state after each, and how much of each letter is left."""
    alt = (
        f"The letters of {sentence}, their vectors as a matrix of 4 by 2, and the state after each letter, 4 by 2 again. The "
        "last row, 2.625 and 0.75, is handed to the decoder. Beside it a triangle: after the last letter counts e fully, c "
        "one half, a one quarter, f one eighth."
    )
    places = np.arange(len(sentence))
    age = places[:, None] - places  # of each letter, after each letter
    look, fractions = {"high": 0.34, "shape": False}, {0: "", 1 / 8: "⅛", 1 / 4: "¼", 1 / 2: "½", 1: "1"}
    with sheet(7.2, 2.55, alt) as axes:
        text(axes, 3.6, 0.2, "Four letters have become two numbers", size=15, weight="bold")
        right, _ = block(axes, 0.4, 1.02, vectors, "key", name="x", rows=sentence, **look)
        arrow(axes, (right + 0.1, 1.7), (right + 0.45, 1.7))
        start = right + 0.6
        after, bottom = block(axes, start, 1.02, states, "query", name="h, the state", label=".4g", **look)
        frame(axes, start - 0.03, bottom - 0.37, after - start + 0.06, 0.4, "black", lw=2.6)
        look |= {"cell": 0.62, "rows": [f"after {letter}" for letter in sentence], "columns": sentence}
        look |= {"strength": lambda i, j, share: 0.6 * share, "label": lambda i, j, share: fractions[share]}
        block(axes, after + 1.35, 1.02, np.where(age < 0, 0, 0.5**age), "query", name="what is left of each letter", **look)


def writing(steps: Sequence[tuple]) -> None:
    """Show steps of the decoder: (what it reads, its vector, the new state, the scores, the probabilities)."""
    alt = (
        "Two steps of the decoder, one below the other. The state of the encoder is halved, and the vector of the symbol that "
        "is read is added. The new state times the matrix W gives a score for e and one for c; the softmax makes "
        "probabilities of them. First e is written, and read in the second step, where c is written."
    )
    look = {"high": 0.34, "shape": False, "label": lambda i, j, value: number(value, 3 if value == 2.625 else 2)}
    with sheet(7.2, 3.2, alt) as axes:
        text(axes, 3.6, 0.2, "It writes e, reads it, and writes c", size=15, weight="bold")
        for x, y, name, colour in (
            (1.24, 1.3, "x", "key"),
            (2.86, 0.6, "h", "query"),
            (4.4, 1.05, "scores", "decoder"),
            (5.74, 1.3, "softmax", "decoder"),
        ):
            text(axes, x, y, name, colour, weight="bold")
        _, vector, state, *_ = steps[0]
        block(axes, 2.26, 0.77, 2 * (state - vector), "query", cell=0.6, **look)  # the state before the first step
        text(axes, 2.16, 0.94, "from the encoder", "muted", ha="right")
        for n, (symbol, x, h, scores, chances) in enumerate(steps):
            y = 1.5 + 1.2 * n
            middle, names = y + 0.17, ("e", "c")
            text(axes, 0.72, middle, symbol, ha="right")
            block(axes, 0.82, y, x, "key", cell=0.42, **look)
            block(axes, 2.26, y, h, "query", cell=0.6, **look)
            block(axes, 3.87, y, scores, "decoder", cell=0.53, columns=names if n == 0 else (), **look)
            block(axes, 5.21, y, chances, "decoder", cell=0.53, strength=lambda i, j, p: 0.5 * p, **look)
            arrow(axes, (2.86, 1.13 + 0.73 * n), (2.86, y - 0.03))
            text(axes, 3.04, 1.28 + 0.8 * n, "½")
            for left, right, says in ((1.72, 2.2, "+"), (3.5, 3.83, "W"), (4.98, 5.16, ""), (6.32, 6.56, "")):
                arrow(axes, (left, middle), (right, middle))
                text(axes, (left + right) / 2, middle - 0.17, says)
            text(axes, 6.76, middle, names[int(scores.argmax())], weight="bold", size=18)
        arrow(axes, (6.7, 1.92), (0.7, 2.72), bend=-0.03)


def shifted(reads: Sequence[str], writes: Sequence[str]) -> None:
    """Show what the decoder reads, above what it must write: one sentence, shifted by one place."""
    alt = (
        f"Two rows. The decoder reads the start sign, {', '.join(reads[1:])}. Below, one place to the left, it must write "
        f"{', '.join(writes[:-1])}, the end sign. "
        "An arrow leads from each symbol that must be written to the same symbol in the next column of the row above."
    )
    with sheet(7.2, 2.1, alt) as axes:
        text(axes, 3.9, 0.2, "One sentence twice, shifted by one place", size=15, weight="bold")
        text(axes, 1.25, 0.76, "reads\ntarget_in", ha="right")
        text(axes, 1.25, 1.66, "must write\ntarget_out", ha="right")
        for n, (above, below) in enumerate(zip(reads, writes, strict=True)):
            x = 1.45 + 1.15 * n
            card(axes, x, 0.55, 0.8, 0.42, "key", above)
            card(axes, x, 1.45, 0.8, 0.42, "value", below)
            if n:
                arrow(axes, (x - 0.55, 1.43), (x + 0.2, 1.0))


def forced_and_free() -> None:
    """Show one sentence written twice by one model: given the right letters, and reading its own."""
    row = _written("beachhead")
    alt = (
        "Beachhead backwards. Given the right letters, the model makes one mistake, at the second letter, and all others are "
        "right. Reading its own letters it makes the same first mistake, and then five more."
    )
    with sheet(7.2, 1.75, alt) as axes:
        text(axes, 3.6, 0.2, "The same first mistake; then the two part", size=15, weight="bold")
        _row(axes, 2.6, 0.6, "right", row["right"])
        _row(axes, 2.6, 1.0, "given the right letters", row["forced"], row["right"])
        _row(axes, 2.6, 1.4, "reading its own", row["free"], row["right"])


def right_words() -> None:
    """Draw the share of right letters at each place, forced and free; from the record `seq2seq_length`."""
    shares = record("seq2seq_length")["numbers"]["reverse, right words"]
    figure, axes = subplots(width=7.2, height=3.2)
    forced, free = ([row[:8] for row in shares[way]] for way in ("forced", "free"))  # the ninth is <eos>
    band(axes, range(1, 9), forced, "-o", "value", "given the right letters")
    band(axes, range(1, 9), free, "--s", "query", "reading its own")
    axes.set(title="Reading its own letters, it gets fewer right", xlabel="letter of eight")
    axes.set(ylabel="share right", ylim=(0, 1.05), xticks=range(1, 9))
    axes.legend(loc="lower left")
    show(
        figure,
        alt="Share of right letters by place, for sentences of eight letters, mean and range of three trainings. Both curves "
        "start together near one. Given the right letters it falls to three quarters; reading its own, to less than one half.",
    )


def how_far() -> None:
    """Draw the share of sentences that are right as a whole against their length."""
    figure, axes = subplots(width=7.2, height=3.9)
    looks = [(-0.18, "-s", "key"), (-0.06, "-^", "encoder"), (0.06, "--D", "value"), (0.18, "-o", "query")]
    for (name, (lengths, seeds)), (aside, style, colour) in zip(right_by_length("reverse").items(), looks, strict=True):
        mean = np.mean(seeds, axis=0)
        reach = mean - np.min(seeds, axis=0), np.max(seeds, axis=0) - mean
        axes.errorbar(np.add(lengths, aside), mean, reach, fmt=style, color=COLOURS[colour], capsize=3, label=name)
    axes.axhline(0.5, color=COLOURS["muted"], linewidth=0.8)
    axes.text(1.8, 0.52, "half", color=COLOURS["muted"])
    axes.set(title="How many sentences come back right", xlabel="letters (bars: lowest to highest of three trainings)")
    axes.set(ylabel="exact match", xticks=lengths, ylim=(-0.03, 1.05))
    axes.legend(loc="lower left", fontsize="small")
    show(
        figure,
        alt="Share of sentences that are right as a whole against the number of letters, mean and range of three trainings. "
        "With one state all curves start at one for 2 letters and are near zero at 14: that of 32 numbers falls first, those "
        "of 128 numbers and of 32 numbers trained four times as long fall later, close to each other. With a decoder that "
        "sees all states the curve stays above three quarters up to 16 letters.",
    )
