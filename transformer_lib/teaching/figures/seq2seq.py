"""Drawings of chapter 1: sentences written backwards, encoder and decoder, their tensors, and how far one state reaches."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from transformer_lib.teaching.figures import arrow, block, card, sheet, show, subplots, text
from transformer_lib.teaching.figures.sheet import tint
from transformer_lib.teaching.figures.theme import COLOURS
from transformer_lib.teaching.record import record

__all__ = ["backwards", "encoder_and_decoder", "forced_and_free", "how_far", "reading", "right_words", "shifted", "writing"]

CELL = 0.385  # of one letter, in inches
_LOOKS = {"read": ("#f3f5f8", "muted", 1.2), "right": ("#c9ecd9", "value", 1.2), "wrong": ("#ffc9a0", "#a33f00", 2.0)}


def _letters(ids: Sequence[int]) -> list[str]:
    return ["abcdefghij"[number - 3] if number > 2 else ("", "sos", "eos")[number] for number in ids]


def _row(axes: Axes, x: float, y: float, label: str, symbols: Sequence[str], right: Sequence[str] | None = None) -> None:
    """Draw one box for each symbol; where `right` is given, wrong ones stand out. y is the middle of the row."""
    text(axes, x - 0.1, y, label, ha="right")
    for n, symbol in enumerate(symbols):
        look = "read" if right is None else "right" if symbol == right[n] else "wrong"
        fill, edge, line = _LOOKS[look]
        left, width = x + n * CELL, 0.55 if symbol == "eos" else CELL  # eos comes last
        axes.add_patch(Rectangle((left + 0.02, y - 0.165), width - 0.04, 0.33, fc=fill, ec=COLOURS.get(edge, edge), lw=line))
        text(axes, left + width / 2, y, symbol, weight="bold" if look == "wrong" else "normal")


def backwards() -> None:
    """Show what a trained model writes for a short and for a long sentence; from the record `seq2seq_sentences`."""
    written = record("seq2seq_sentences")["numbers"]["32"]
    alt = (
        "Five letters, badge, come back as egdab: all right. Fourteen, he had a big badge, should come back as "
        "egdabgibadaheh. The first five letters are right; of what follows most is wrong, and it stops too early."
    )
    with sheet(7.2, 2.85, alt) as axes:
        text(axes, 3.6, 0.2, "Five letters come back right, fourteen do not", size=15, weight="bold")
        y = 0.62
        for sentence in ("badge", "hehadabigbadge"):
            row = written[sentence]
            right, free = _letters(row["right"]), _letters(row["free"])
            _row(axes, 0.8, y, "reads", sentence)
            if sentence != "badge":
                y += 0.41
                _row(axes, 0.8, y, "right", right)
            y += 0.41
            _row(axes, 0.8, y, "writes", free, right)
            y += 0.6
        assert _letters(written["badge"]["free"]) == _letters(written["badge"]["right"])


def encoder_and_decoder() -> None:
    """Show encoder and decoder step by step, on a translation; only the state crosses."""
    alt = (
        "Above, the encoder reads I, am, a, student in four steps. A thick line, the state, leads from its last step to the "
        "first step of the decoder below. The decoder reads the start sign, je, suis, étudiant and writes je, suis, étudiant, "
        "the end sign. Curved arrows lead from each written word to the next input."
    )
    with sheet(7.2, 4.1, alt) as axes:
        text(axes, 3.6, 0.2, "All that crosses from encoder to decoder is one state", size=15, weight="bold")
        xs, top, low = [2.0, 3.45, 4.9, 6.35], 1.15, 2.75
        for n, (x, word) in enumerate(zip(xs, ["I", "am", "a", "student"], strict=True)):
            text(axes, x, 0.62, word)
            arrow(axes, (x, 0.76), (x, top - 0.02))
            card(axes, x - 0.45, top, 0.9, 0.42, "encoder")
            if n < 3:
                arrow(axes, (x + 0.47, top + 0.21), (xs[n + 1] - 0.47, top + 0.21), "query")
        text(axes, 0.62, top + 0.21, "encoder", "encoder", weight="bold")
        text(axes, 0.62, low + 0.21, "decoder", "decoder", weight="bold")
        answer = ["<sos>", "je", "suis", "étudiant", "<eos>"]
        for n, x in enumerate(xs):
            card(axes, x - 0.45, low, 0.9, 0.42, "decoder")
            text(axes, x, low + 1.0, answer[n])
            arrow(axes, (x, low + 0.84), (x, low + 0.46))
            text(axes, x, low - 0.42, answer[n + 1], weight="bold")
            arrow(axes, (x, low - 0.02), (x, low - 0.28))
            if n < 3:
                arrow(axes, (x + 0.47, low + 0.21), (xs[n + 1] - 0.47, low + 0.21), "query")
                arrow(axes, (x + 0.3, low - 0.3), (xs[n + 1] - 0.25, low + 0.86), bend=-0.15)
        colour, across = COLOURS["query"], (top + low) / 2 - 0.2
        path = [(6.35, top + 0.44), (6.35, across), (1.27, across), (1.27, low + 0.21), (1.4, low + 0.21)]
        axes.plot(*zip(*path), color=colour, lw=5, solid_joinstyle="miter")
        arrow(axes, (1.3, low + 0.21), (1.54, low + 0.21), "query")
        text(axes, 4.2, across + 0.2, "the state", "query", weight="bold")


def reading(word: str, vectors: Tensor, states: Tensor) -> None:
    """Show the letters' vectors, the state after each, and how much of each letter is left."""
    alt = (
        f"The letters of {word}, their vectors as a matrix of 4 by 2, and the state after each letter, 4 by 2 again. The last "
        "row, 2.625 and 0.75, is handed to the decoder. Beside it a triangle: after the last letter counts e fully, c one "
        "half, a one quarter, f one eighth."
    )
    with sheet(7.2, 2.7, alt) as axes:
        text(axes, 3.6, 0.2, "Four letters have become two numbers", size=15, weight="bold")
        names = list(word)
        right, _ = block(axes, 0.4, 1.02, vectors, "key", name="x", rows=names, high=0.34)
        arrow(axes, (right + 0.1, 1.7), (right + 0.45, 1.7))
        label = lambda i, j, value: f"{value:.4g}"
        after, bottom = block(axes, right + 0.6, 1.02, states, "query", name="h, the state", high=0.34, label=label)
        axes.add_patch(Rectangle((right + 0.57, bottom - 0.37), after - right - 0.54, 0.4, fill=False, ec="black", lw=2.6))
        left, high = after + 1.35, 0.34
        text(axes, left + 1.24, 0.6, "what is left of each letter")
        for i, name in enumerate(names):
            text(axes, left + (i + 0.5) * 0.62, 0.87, name)
            text(axes, left - 0.09, 1.02 + (i + 0.5) * high, f"after {name}", ha="right")
            for j in range(i + 1):
                shade = tint("query", 0.06 + 0.54 * 0.5 ** (i - j))
                axes.add_patch(Rectangle((left + j * 0.62, 1.02 + i * high), 0.62, high, fc=shade, ec="white", lw=1.2))
                text(axes, left + (j + 0.5) * 0.62, 1.02 + (i + 0.5) * high, ("1", "½", "¼", "⅛")[i - j], "black")


def writing(steps: Sequence[tuple]) -> None:
    """Show steps of the decoder: (what it reads, its vector, the new state, the scores, the probabilities)."""
    alt = (
        "Two steps of the decoder, one below the other. The state of the encoder is halved, and the vector of the symbol that "
        "is read is added. The new state times the learned matrix W gives a score for e and one for c; the softmax makes "
        "probabilities of them. First e is written, and read in the second step, where c is written."
    )
    with sheet(7.2, 3.1, alt) as axes:
        text(axes, 3.6, 0.2, "It writes e, reads it, and writes c", size=15, weight="bold")
        for x, name, colour in (
            (1.24, "x", "key"),
            (2.89, "h", "query"),
            (4.4, "scores", "decoder"),
            (5.74, "softmax", "decoder"),
        ):
            text(axes, x, 0.6, name, colour, weight="bold")
        look = {"cell": 0.53, "high": 0.34, "label": lambda i, j, value: f"{value:.2f}"}
        for n, (symbol, x, h, scores, chances) in enumerate(steps):
            y = 1.1 + 1.2 * n
            middle, names = y + 0.17, ("e", "c")
            text(axes, 0.72, middle, symbol, ha="right")
            block(axes, 0.82, y, x, "key", cell=0.42, high=0.34, shape=n == 1)
            block(axes, 2.36, y, h, "query", shape=n == 1, **look)
            block(axes, 3.87, y, scores, "decoder", shape=n == 1, columns=names if n == 0 else (), **look)
            block(axes, 5.21, y, chances, "decoder", strength=lambda i, j, p: 0.5 * p, shape=n == 1, **look)
            for left, right, says in ((1.72, 2.3, "½h + x"), (3.48, 3.81, "W"), (4.98, 5.16, ""), (6.32, 6.56, "")):
                arrow(axes, (left, middle), (right, middle))
                text(axes, (left + right) / 2, middle - 0.2, says if n == 0 else "")
            text(axes, 6.76, middle, names[int(scores.argmax())], weight="bold", size=18)
        arrow(axes, (6.7, 1.5), (0.64, 2.3), bend=-0.04)


def shifted(reads: Sequence[str], writes: Sequence[str]) -> None:
    """Show what the decoder reads, above what it must write: one sentence, shifted by one place."""
    alt = (
        f"Two rows. The decoder reads the start sign, {', '.join(reads[1:])}. Below, one place to the left, it must write "
        f"{', '.join(writes[:-1])}, the end sign. "
        "An arrow leads from each symbol that must be written to the same symbol in the next column of the row above."
    )
    with sheet(7.2, 2.1, alt) as axes:
        text(axes, 3.9, 0.2, "One sentence twice, shifted by one place", size=15, weight="bold")
        for y, name, row, colour in (
            (0.55, "reads\ntarget_in", reads, "key"),
            (1.45, "must write\ntarget_out", writes, "value"),
        ):
            text(axes, 1.25, y + 0.21, name, ha="right")
            for n, symbol in enumerate(row):
                card(axes, 1.45 + 1.15 * n, y, 0.8, 0.42, colour, symbol)
        for n in range(len(reads) - 1):
            arrow(axes, (1.45 + 1.15 * n + 0.6, 1.43), (1.45 + 1.15 * (n + 1) + 0.2, 1.0))


def forced_and_free() -> None:
    """Show one sentence written twice by one model: given the right letters, and reading its own."""
    row = record("seq2seq_sentences")["numbers"]["32"]["beachhead"]
    right, forced, free = (_letters(row[name]) for name in ("right", "forced", "free"))
    alt = (
        "Beachhead backwards. Given the right letters, the model makes one mistake, at the second letter, and all others are "
        "right. Reading its own letters it makes the same first mistake, and then five more."
    )
    with sheet(7.2, 1.75, alt) as axes:
        text(axes, 3.6, 0.2, "The same first mistake; then the two part", size=15, weight="bold")
        _row(axes, 2.6, 0.6, "right", right)
        _row(axes, 2.6, 1.0, "given the right letters", forced, right)
        _row(axes, 2.6, 1.4, "reading its own", free, right)
        wrong = [[a != b for a, b in zip(ids, right, strict=False)] for ids in (forced, free)]
        assert wrong[0].index(True) == wrong[1].index(True) and sum(wrong[0]) == 1 and sum(wrong[1]) == 6


def right_words() -> None:
    """Draw the share of right symbols at each place, forced and free; from the record `seq2seq_length`."""
    shares = record("seq2seq_length")["numbers"]["reverse, right words"]
    figure, axes = subplots(width=7.2, height=3.2)
    for name, label, role, style in (
        ("forced", "given the right letters", "value", "-o"),
        ("free", "reading its own", "query", "--s"),
    ):
        low, mean, high = (_over_seeds(shares[name], how) for how in (min, lambda row: sum(row) / len(row), max))
        axes.plot(range(1, 10), mean, style, color=COLOURS[role], label=label)
        axes.fill_between(range(1, 10), low, high, color=COLOURS[role], alpha=0.2)
    axes.set(
        title="Reading its own letters, it gets fewer right",
        xlabel="letter of eight (9 is <eos>)",
        ylabel="share right",
        ylim=(0, 1.05),
        xticks=range(1, 10),
    )
    axes.legend(loc="lower left")
    show(
        figure,
        alt="Share of right symbols by place, for sentences of eight letters, mean and range of three trainings. Both curves "
        "start together near one. Given the right letters it falls to three quarters; reading its own, to less than one half.",
    )


def how_far() -> None:
    """Draw the share of sentences that are right as a whole against their length; from the record `seq2seq_length`."""
    found = record("seq2seq_length")
    lengths = found["settings"]["lengths"]
    figure, axes = subplots(width=7.2, height=3.6)
    for label, task, size, role, style in (
        ("32 numbers", "reverse", "32", "key", "-s"),
        ("128 numbers", "reverse", "128", "encoder", "-^"),
        ("32, 4 × the training", "reverse, longer training", "32", "value", "--D"),
    ):
        seeds = found["numbers"][task][size]
        low, mean, high = (_over_seeds(seeds, how) for how in (min, lambda row: sum(row) / len(row), max))
        axes.plot(lengths, mean, style, color=COLOURS[role], label=label)
        axes.fill_between(lengths, low, high, color=COLOURS[role], alpha=0.15)
    axes.axhline(0.5, color=COLOURS["muted"], linewidth=0.8)
    axes.set(
        title="More numbers, more training: each only moves the fall",
        xlabel="letters in the sentence",
        ylabel="sentences right",
        xticks=lengths,
        ylim=(-0.03, 1.05),
    )
    axes.legend(loc="lower left")
    show(
        figure,
        alt="Share of sentences that are right as a whole against the number of letters, mean and range of three trainings. "
        "All curves start at one for 2 letters and are near zero at 14. That of 32 numbers falls first; that of 128 numbers "
        "and that of 32 numbers trained four times as long fall later, close to each other.",
    )


def _over_seeds(rows: Sequence[Sequence[float]], how) -> list[float]:
    return [how(column) for column in zip(*rows, strict=True)]
