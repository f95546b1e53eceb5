"""Chapter 2's charts of training runs: who names the first word, what an LSTM keeps in a story, how far gradients reach."""

import numpy as np

from transformer_lib.teaching.experiments.recurrent import mean_shares
from transformer_lib.teaching.figures.plots import COLOURS, DIVERGING, show, subplots
from transformer_lib.teaching.record import record


def _dots(rows: dict[str, dict[str, list[float]]], title: str, tested: str = "") -> None:
    """Draw the share right of five seeds for each row, after 400 and after 4,000 training steps."""
    figure, axes = subplots(height=1.3 + 0.52 * len(rows))
    for place, runs in enumerate(reversed(rows.values())):
        for steps, shares in runs.items():
            up, look, role = (0.14, "o", "query") if steps == "400 steps" else (-0.14, "D", "decoder")
            label = f"{int(steps.split()[0]):,} steps" if place == len(rows) - 1 else None
            axes.plot(shares, [place + up] * len(shares), look, color=COLOURS[role], ms=9, alpha=0.6, ls="", label=label)
    axes.axvline(1 / 8, color=COLOURS["ink"], linestyle="--", lw=1.5)
    axes.set_yticks(range(len(rows)), list(reversed(rows)))
    axes.set(title=title, xlim=(0, 1.04), ylim=(-0.6, len(rows) - 0.4), xlabel=f"share right{tested} (dashed: blind guess)")
    axes.legend(loc="center", bbox_to_anchor=(0.6, 0.2))
    alt = "Share of sequences whose first word is named, a dot for each of five seeds. " + " ".join(
        f"{name}, {steps}: {min(shares):.2f} to {max(shares):.2f}." for name, of in rows.items() for steps, shares in of.items()
    )
    show(figure, alt=alt)


def first_word() -> None:
    """Draw how often the plain cell names the first word, for four distances and two lengths of training."""
    numbers = record("recurrent_longer")["numbers"]
    rows = {f"{of} words": numbers[f"RNN, {of}"] for of in ("2 to 5", "5 to 10", "10 to 20")}
    rows["20 to 40 words,\ntested on 20–100"] = numbers["RNN, 20 to 40"]
    _dots(rows, "From ten random words on, the plain cell mostly guesses")


def opened() -> None:
    """Draw how often plain cells, and cells whose gates start half open or open, name the first of 20 to 100 words."""
    longer, shares = record("recurrent_longer")["numbers"], mean_shares()
    rows = {
        "plain cell": longer["RNN, 20 to 40"],
        "LSTM, half open": longer["LSTM, half open, 20 to 40"],
        "GRU, half open": longer["GRU, half open, 20 to 40"],
        "LSTM, f open": {"400 steps": shares["LSTM, forget gate starts open"]},
        "GRU, z open": {"400 steps": shares["GRU, update gate starts open"]},
    }
    _dots(rows, "With an open gate, 400 training steps go far", tested=" on 20 to 100 words")


def story() -> None:
    """Draw, for the record's story, the trained LSTM's forget gate and cell state, and below the plain cell's state."""
    found = record("recurrent_story")
    words = found["settings"]["example"].split()
    lstm_run, plain_run = (found["numbers"][f"{kind}, 1500 steps"][0] for kind in ("LSTM", "RNN"))
    figure, panels = subplots(rows=3, height=7.5)
    colours = [COLOURS["query" if word == "." else "key"] for word in words]
    panels[0].bar(range(len(words)), np.mean(lstm_run["f"], axis=0), color=colours)
    panels[0].set(
        title="LSTM: forget gate, mean of its 16 numbers", ylim=(0, 1), xticks=[], yticks=[0, 1], xlim=(-0.5, len(words) - 0.5)
    )
    for axes, title, values in [
        (panels[1], "LSTM, 1.00 right: tanh of the cell state c", np.tanh(lstm_run["memory"])),
        (panels[2], "plain cell, 1.00 right too: state h", np.array(plain_run["memory"])),
    ]:
        image = axes.imshow(values, cmap=DIVERGING, vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
        axes.set(title=title, ylabel="number", xticks=[], yticks=[0, 15], yticklabels=["1", "16"])
        axes.axvline(words.index(".") + 0.5, color=COLOURS["ink"], lw=2)
    panels[2].set_xticks(range(len(words)), words, rotation=90)
    figure.colorbar(image, ax=panels, location="bottom", fraction=0.03, aspect=40, ticks=[-1, 0, 1])
    alt = (
        "Over the words of a story of two sentences. Above, bars for the forget gate: high at all words, low at the "
        "full stop. Below it, the sixteen numbers of c as colours: stripes that run through a sentence, mostly change "
        "at the full stop and begin anew. At the bottom the plain cell's sixteen numbers: most change their colour from "
        "word to word. A scale gives the colours from –1 to 1."
    )
    show(figure, alt=alt)


def gradients(sizes: dict) -> None:
    """Draw the size of a gradient against the distance, on a logarithmic scale, a line for each cell."""
    figure, axes = subplots(height=4.6)
    roles = ["query", "key", "value", "encoder", "residual", "position"]
    for (name, values), role, look in zip(sizes.items(), roles, ["-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1))]):
        axes.plot(values, color=COLOURS[role], linestyle=look, label=name)
    axes.set(title="With an open gate the gradient nearly keeps its size", xlabel="distance in time steps")
    axes.set(ylabel="size of the gradient", yscale="log", ylim=(1e-18, 1e2))
    axes.legend(frameon=False, loc="lower left")
    alt = (
        "Size of the gradient against the distance, on a logarithmic scale. The plain cell as it starts falls straight "
        "down, LSTM and GRU as they start fall, too. With a bias of 4 on the gate that keeps, both stay nearly level."
    )
    show(figure, alt=alt)
