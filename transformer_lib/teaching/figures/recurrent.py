"""The drawings of chapter 2: a cell unrolled, an LSTM gate by gate, a GRU, forms of a layer."""

from matplotlib.axes import Axes

from transformer_lib.teaching.figures.plots import COLOURS
from transformer_lib.teaching.figures.sheet import arrow, block, card, number, sheet, text

SENTENCE = "the cow sees the horse and is tired".split()


def far_ending() -> None:
    """Draw a cell with its loop, and the same cell unrolled over the sentence, up to the French ending."""
    alt = (
        "Left: a box called cell with an input from below, a state to the top, and a loop that leads the state back "
        "into the box. Right: the same box drawn eight times in a row, one for each word of: the cow sees the horse and "
        "is tired. Each hands its state to the next, and the last should write fatiguée, because of the cow, six "
        "words earlier at the second box."
    )
    with sheet(7.2, 2.75, alt) as axes:
        text(axes, 0.65, 0.2, "one cell …", weight="bold")
        card(axes, 0.3, 1.25, 0.6, 0.5, "encoder", "cell")
        arrow(axes, (0.6, 2.2), (0.6, 1.78))
        arrow(axes, (0.6, 1.22), (0.6, 0.8))
        text(axes, 0.6, 0.62, "$h_t$")
        text(axes, 0.6, 2.4, "$x_t$")
        axes.plot([0.6, 1.2, 1.2], [1.05, 1.05, 1.5], color=COLOURS["encoder"], lw=2)
        arrow(axes, (1.2, 1.5), (0.93, 1.5), "encoder")
        text(axes, 4.4, 0.2, "… is used again at each word", weight="bold")
        for step, word in enumerate(SENTENCE):
            x = 1.6 + 0.7 * step
            card(axes, x, 1.25, 0.5, 0.5, "encoder", "cell", fill=0.4 if word == "cow" else 0.1)
            arrow(axes, (x + 0.25, 2.2), (x + 0.25, 1.78))
            colour = {"cow": "key", "horse": "query"}.get(word, "ink")
            text(axes, x + 0.25, 2.4, word, colour, weight="bold" if colour != "ink" else "normal")
            if step < 7:
                arrow(axes, (x + 0.52, 1.5), (x + 0.68, 1.5), "encoder")
        arrow(axes, (6.75, 1.22), (6.75, 0.86))
        text(axes, 6.6, 0.68, "fatigu", ha="right")
        text(axes, 6.62, 0.68, "ée", "key", weight="bold", ha="left")
        arrow(axes, (2.55, 1.22), (6.0, 0.74), "key", bend=-0.12)
        text(axes, 3.2, 0.6, "the cow must last until here", "key")


def _round(axes: Axes, x: float, y: float, words: str, colour: str = "muted") -> None:
    look = {"boxstyle": "circle,pad=0.18", "fc": "white", "ec": COLOURS[colour], "lw": 2}
    axes.text(x, y, words, ha="center", va="center", size=13, bbox=look)


def word_by_word(words: list[str], rows: dict[str, list[float]]) -> None:
    """Draw numbers for each word as rows of coloured cells; above the last row a gap."""
    alt = "For each word of " + " ".join(words) + ", row by row. "
    alt += " ".join(f"{name}: {', '.join(number(v) for v in values)}." for name, values in rows.items())
    look = {"cell": 0.67, "high": 0.32, "shape": False, "strength": lambda i, j, value: 0.75 * min(1, abs(value))}
    with sheet(7.2, 0.97 + 0.34 * len(rows), alt) as axes:
        text(axes, 4.0, 0.17, "The cow stays in c; our plain neuron ends with the horse", weight="bold")
        for place, (name, values) in enumerate(rows.items()):
            y = 0.62 + 0.34 * place + 0.2 * (place == len(rows) - 1)
            signs = {"colour_of": lambda i, j, values=values: "key" if values[j] >= 0 else "query"}
            block(axes, 1.0, y, [values], "key", rows=[name], columns=words if place == 0 else (), **look, **signs)


def gru() -> None:
    """Draw the wiring of a GRU."""
    alt = (
        "Wiring of a GRU. The old state h runs along the upper line: it is multiplied by z, then 1 − z times the "
        "proposal g is added, and it leaves as the new state. The reset gate r multiplies what the proposal sees of the "
        "old state. Both gates see x and the old h, the proposal sees x."
    )
    with sheet(7.2, 3.0, alt) as axes:
        text(axes, 3.6, 0.17, "GRU: z keeps the old, 1 − z lets in the new", weight="bold")
        text(axes, 0.45, 0.75, "$h_{t-1}$")
        text(axes, 6.85, 0.75, "$h_t$")
        for x, part, name in [(1.1, "$r$", "reset"), (2.8, "$g$", "proposal"), (4.5, "$z$", "update")]:
            gate = name != "proposal"
            card(axes, x - 0.35, 1.95, 0.7, 0.36, "mask" if gate else "value", part)
            text(axes, x + 0.12, 2.52, name, "muted", ha="left")
            arrow(axes, (x, 2.7), (x, 2.34))
            text(axes, x, 2.84, "$x_t, h_{t-1}$" if gate else "$x_t$")
        for start, end in [
            ((0.7, 0.75), (4.33, 0.75)), ((4.67, 0.75), (5.83, 0.75)), ((6.17, 0.75), (6.6, 0.75)), ((1.1, 0.75), (1.1, 1.22)),
            ((1.1, 1.93), (1.1, 1.55)), ((1.28, 1.42), (2.42, 2.02)), ((3.0, 1.93), (3.6, 1.5)), ((4.35, 1.93), (3.9, 1.5)),
            ((3.9, 1.3), (5.85, 0.85)),
        ]:  # fmt: skip
            arrow(axes, start, end)
        axes.plot([4.5, 4.5], [1.05, 1.28], color="white", lw=9)
        arrow(axes, (4.5, 1.93), (4.5, 0.93))
        text(axes, 4.7, 1.5, "$z$", ha="left")
        text(axes, 4.08, 1.82, "$1-z$", ha="right")
        text(axes, 0.98, 1.0, "$hW_{hg}$", ha="right")
        for x, y, sign in [(1.1, 1.38, "×"), (3.75, 1.38, "×"), (4.5, 0.75, "×"), (6.0, 0.75, "+")]:
            _round(axes, x, y, sign)


def _cells(axes: Axes, left: float, top: float, title: str, inputs: list[str], outputs: list[str], decodes: int = 9) -> None:
    text(axes, left + 1.55, top, title, weight="bold")
    for step in range(4):
        x = left + 0.2 + 0.74 * step
        card(axes, x, top + 0.72, 0.48, 0.36, "decoder" if step >= decodes else "encoder", "cell")
        if step < 3:
            arrow(axes, (x + 0.5, top + 0.9), (x + 0.72, top + 0.9), "encoder")
        for words, start, end, place in ((inputs[step], 1.4, 1.1, 1.54), (outputs[step], 0.7, 0.45, 0.3)):
            if words:
                arrow(axes, (x + 0.24, top + start), (x + 0.24, top + end))
                text(axes, x + 0.24, top + place, words)


def four_forms() -> None:
    """Draw what may be read and written: sequence or vector in, sequence or vector out, encoder and decoder."""
    alt = (
        "Four drawings of a cell unrolled over four steps. Sequence to sequence: an input and an output at each step. "
        "Sequence to vector: an input at each step, one output at the last. Vector to sequence: the same vector v "
        "enters at each step, and each step has an output. Encoder and decoder: two steps only read x1 and x2; two "
        "others write y1 and y2, and are given the start sign and y1."
    )
    read, written = ["$x_1$", "$x_2$", "$x_3$", "$x_4$"], ["$y_1$", "$y_2$", "$y_3$", "$y_4$"]
    with sheet(7.2, 3.75, alt) as axes:
        _cells(axes, 0.2, 0.18, "sequence → sequence", read, written)
        _cells(axes, 3.85, 0.18, "sequence → vector", read, ["", "", "", "$y$"])
        _cells(axes, 0.2, 2.05, "vector → sequence", ["$v$"] * 4, written)
        _cells(axes, 3.85, 2.05, "encoder–decoder", [*read[:2], "start", "$y_1$"], ["", "", *written[:2]], decodes=2)


def two_directions() -> None:
    """Draw a layer that reads from both ends."""
    alt = (
        "Two rows of cells over the words: I saw the bat sleep. Each word goes to a cell of both rows. The cells of the "
        "lower row hand their state to the right, those of the upper row to the left. At each word both states are put "
        "side by side. At bat, the lower one has read I saw the bat, the upper one bat sleep."
    )
    with sheet(7.2, 3.1, alt) as axes:
        text(axes, 3.6, 0.17, "At “bat”: what comes before, and what comes after", weight="bold")
        text(axes, 0.45, 0.66, "output", "muted")
        for step in range(4):
            x = 0.95 + 1.25 * step
            arrow(axes, (x + 0.52, 2.03), (x + 1.23, 2.03), "encoder")
            arrow(axes, (x + 1.78, 1.33), (x + 1.07, 1.33), "decoder")
        for step, word in enumerate(["I", "saw", "the", "bat", "sleep"]):
            x, on = 0.95 + 1.25 * step, word == "bat"
            text(axes, x + 0.525, 2.93, word, "key" if on else "ink", weight="bold" if on else "normal")
            axes.plot([x + 0.25, x + 0.8], [2.6, 2.6], color=COLOURS["muted"], lw=1.8)
            axes.plot([x + 0.525, x + 0.525], [2.6, 2.76], color=COLOURS["muted"], lw=1.8)
            arrow(axes, (x + 0.25, 2.6), (x + 0.25, 2.24))
            arrow(axes, (x + 0.8, 2.6), (x + 0.8, 1.54))
            for left, top, role, read in [(x, 1.85, "encoder", step <= 3), (x + 0.55, 1.15, "decoder", step >= 3)]:
                card(axes, left, top, 0.5, 0.36, role, "cell", fill=0.35 if read else 0.05)
                arrow(axes, (left + 0.25, top - 0.03), (left + 0.25, 0.84), role)
                card(axes, left + (0.03 if left == x else 0), 0.52, 0.485, 0.28, role, fill=0.5 if on else 0.15)
