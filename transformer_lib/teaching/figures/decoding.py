"""Drawings of chapter 13: who chooses, temperature, flat and sharp places, what greedy decoding misses, what a cache keeps."""

from collections.abc import Mapping, Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from transformer_lib.decoding import Hypothesis, length_penalty
from transformer_lib.teaching.figures import COLOURS, arrow, card, sheet, show, subplots, text
from transformer_lib.teaching.figures.sheet import tint

WORDS = ("found", "slept", "met", "sang")


def _title(axes: Axes, words: str) -> None:
    text(axes, axes.get_xlim()[1] / 2, 0.22, words, size=15, weight="bold")


def who_chooses() -> None:
    """Show the loop: a beginning, the model's probabilities, three ways to choose, and the word that goes back in."""
    alt = (
        "A loop. The beginning, the white cow was tired and then it, goes into the model. The model gives four words "
        "probabilities: found 0.4, slept 0.3, met 0.2, sang 0.1. Somebody chooses: greedy takes found, always; sampling "
        "draws, sang one time in ten; top-k of 2 draws found or slept. The word goes back in."
    )
    with sheet(7.2, 3.6, alt) as axes:
        _title(axes, "The model says how probable. Who chooses?")
        card(axes, 0.1, 1.2, 1.75, 1.1, "ink", "the white cow\nwas tired\nand then it …")
        arrow(axes, (1.9, 1.75), (2.2, 1.75))
        card(axes, 2.25, 1.4, 0.85, 0.7, "encoder", "model")
        arrow(axes, (3.15, 1.75), (3.4, 1.75))
        for row, (word, chance) in enumerate(zip(WORDS, (0.4, 0.3, 0.2, 0.1), strict=True)):
            y = 0.95 + 0.45 * row
            text(axes, 4.05, y + 0.16, word, ha="right")
            axes.add_patch(Rectangle((4.12, y), 1.5 * chance, 0.32, fc=COLOURS["query"]))
            text(axes, 4.18 + 1.5 * chance, y + 0.16, f"{chance}", ha="left")
        for row, (rule, choice) in enumerate(
            [("greedy", "found, always"), ("sampling", "sang, 1 in 10"), ("top-k, k = 2", "found or slept")]
        ):
            y = 0.68 + 0.77 * row
            card(axes, 5.5, y, 1.62, 0.66, "value")
            text(axes, 6.31, y + 0.2, rule, "value", weight="bold")
            text(axes, 6.31, y + 0.47, choice)
        axes.plot([6.3, 6.3, 0.95], [2.95, 3.25, 3.25], color=COLOURS["muted"], lw=1.8)
        arrow(axes, (0.95, 3.25), (0.95, 2.36))
        text(axes, 3.6, 3.06, "the word that is chosen goes back in, until <EOS>")


def temperatures(chances: Mapping[float, Tensor]) -> None:
    """Show the probabilities of four words at several temperatures, side by side."""
    said = "; ".join(f"T = {t}: " + ", ".join(f"{c:.3f}" for c in row) for t, row in chances.items())
    figure, every = subplots(1, len(chances), height=2.7, share_y=True)
    for axes, (temperature, row) in zip(every, chances.items(), strict=True):
        bars = axes.bar(range(4), row, color=COLOURS["query"], width=0.8)
        axes.bar_label(bars, [f"{chance:.2f}" for chance in row])
        axes.set(title=f"T = {temperature}", ylim=(0, 0.64), yticks=[])
        axes.set_xticks(range(4), WORDS, fontsize=11.5)
        axes.spines["left"].set_visible(False)
        axes.tick_params(length=0)
    figure.suptitle("A low temperature sharpens, a high one flattens", weight="bold", size=15)
    show(figure, alt=f"Bars of four words, found, slept, met and sang, at three temperatures. {said}.")


def kept_words(places: Mapping[str, tuple[list[str], Tensor]], k: int = 3, p: float = 0.9, shown: int = 18) -> None:
    """Show what top-k and top-p keep at a flat place and at a sharp one."""
    figure, every = subplots(2, 2, height=4.4)
    figure.suptitle("Top-k keeps a number of words, top-p a share", weight="bold", size=15)
    said = []
    for column, (place, (words, chances)) in enumerate(places.items()):
        by_share = int((chances.cumsum(dim=0) - chances < p).sum())
        for row, (rule, kept) in enumerate([(f"top-k, k = {k}", k), (f"top-p, p = {p}", by_share)]):
            axes = every[row, column]
            stays = [COLOURS["query"]] * kept + [tint("muted", 0.45)] * (shown - kept)
            axes.bar(range(shown), chances[:shown], color=stays[:shown], width=0.85)
            high = float(chances[0]) * 1.25
            axes.set(xticks=[], ylim=(0, high), yticks=[0, round(float(chances[0]) * 0.8, 1)])
            share = float(chances[:kept].sum())
            names = ", ".join(words[: min(kept, 3)]) + ", …" * (kept > 3)
            told = f"keeps {kept}: {names}\n{share:.2f} of the\nprobability"
            axes.text(shown - 0.5, high * 0.94, told, ha="right", va="top", fontsize=12.6)
            if row == 0:
                axes.set_title(place, fontsize=13)
            if column == 0:
                axes.set_ylabel(rule, fontsize=12.6)
            if row == 1:
                axes.set_xlabel("the most probable words first", fontsize=12.6)
            said.append(f"{place}, {rule}: {kept} kept, {names}, {share:.2f} of the probability")
    show(figure, alt=f"Four bar charts of the next word's probability, the kept words coloured. {'; '.join(said)}.")


def greedy_tree() -> None:
    """Show the tree of *you are a student*: what greedy decoding takes, and what it misses."""
    alt = (
        "A tree of sentences. From the start go tu, 0.60, and vous, 0.40. Tu es then splits into étudiant, 0.33, and "
        "étudiante, 0.27. Vous êtes goes on to étudiant with the whole 0.40. Greedy decoding takes tu and ends at 0.33."
    )
    columns, wide, y_vous, y_tu = (1.25, 3.05, 5.65), 1.4, 0.95, 2.25
    with sheet(7.2, 3.55, alt) as axes:
        _title(axes, "tu splits its 0.60, vous keeps its 0.40")

        def node(x: float, y: float, word: str, chance: str, role: str) -> None:
            card(axes, x, y - 0.29, wide, 0.58, role, fill=0.14 if role != "muted" else 0.0)
            text(axes, x + wide / 2, y - 0.1, word)
            text(axes, x + wide / 2, y + 0.13, f"so far {chance}", "black", weight="bold")

        card(axes, 0.1, 1.35, 0.8, 0.5, "ink", "<SOS>")
        arrow(axes, (0.93, 1.5), (columns[0] - 0.05, y_vous), "query")
        arrow(axes, (0.93, 1.7), (columns[0] - 0.05, y_tu), "key")
        node(columns[0], y_vous, "vous", "0.40", "query")
        node(columns[0], y_tu, "tu", "0.60", "key")
        for y, word, chance, role in [(y_vous, "êtes", "0.40", "query"), (y_tu, "es", "0.60", "key")]:
            arrow(axes, (columns[0] + 1.45, y), (columns[1] - 0.05, y), role)
            node(columns[1], y, word, chance, role)
        arrow(axes, (columns[1] + 1.45, y_vous), (columns[2] - 0.05, y_vous), "query")
        node(columns[2], y_vous, "étudiant", "0.40", "query")
        arrow(axes, (columns[1] + 1.45, y_tu - 0.05), (columns[2] - 0.05, 1.95), "key")
        node(columns[2], 1.95, "étudiant", "0.33", "key")
        arrow(axes, (columns[1] + 1.45, y_tu + 0.05), (columns[2] - 0.05, 2.75), "muted")
        node(columns[2], 2.75, "étudiante", "0.27", "muted")
        text(axes, 5.02, 0.72, "best", "query", weight="bold")
        text(axes, 5.02, 1.83, "greedy", "key", weight="bold")
        text(axes, 3.6, 3.33, "after tu, greedy decoding can no longer reach the 0.40")


def _decoder_step(axes: Axes, cached: bool) -> None:
    """Draw queries, keys, values and weights of step 4: computed now, kept from before, or not needed."""
    words, high = ("<SOS>", "je", "suis", "étudiant"), 0.33
    top = 1.0

    def cell(x: float, y: float, wide: float, kind: str) -> None:
        face = {"now": COLOURS["query"], "kept": tint("muted", 0.28), "none": "white"}[kind]
        edge = {"now": "white", "kept": "white", "none": tint("muted", 0.5)}[kind]
        axes.add_patch(Rectangle((x, y), wide, high, fc=face, ec=edge, lw=1.2, ls=":" if kind == "none" else "-"))

    for row, word in enumerate(words):
        y, newest = top + row * high, row == 3
        text(axes, 0.95, y + high / 2, word, ha="right", weight="bold" if newest else "normal")
        again = "now" if newest or not cached else "none"
        cell(1.05, y, 0.95, again)
        for x in (2.3, 3.55):
            cell(x, y, 0.95, "now" if newest or not cached else "kept")
        for column in range(4):
            if column <= row:
                cell(4.9 + 0.5 * column, y, 0.5, again)
    for x, name in [(1.52, "query"), (2.77, "key"), (4.02, "value"), (5.9, "weights")]:
        text(axes, x, top - 0.19, name, weight="bold")


def without_a_cache() -> None:
    """Show what step 4 computes when nothing is kept."""
    alt = (
        "Step 4 without a cache. Four words, SOS, je, suis and étudiant, each with a query, a key, a value and its row of "
        "the triangle of weights. All are computed now, though only the last row chooses the next word."
    )
    with sheet(7.2, 2.75, alt) as axes:
        _title(axes, "Without a cache: step 4 computes everything again")
        _decoder_step(axes, cached=False)
        text(axes, 3.6, 2.55, "4 queries, 4 keys, 4 values, and the whole triangle")


def with_a_cache() -> None:
    """Show what step 4 computes when keys and values are kept."""
    alt = (
        "Step 4 with a cache. Only étudiant gets a query, a key, a value and a row of weights now. The keys and values of "
        "SOS, je and suis are kept from earlier steps, in grey; their queries and rows of weights are not needed."
    )
    with sheet(7.2, 2.75, alt) as axes:
        _title(axes, "With a cache: one row; the grey keys and values are kept")
        _decoder_step(axes, cached=True)
        text(axes, 3.6, 2.55, "1 query, 1 key, 1 value, and one row of weights")


def time_saved(numbers: Sequence[Mapping], d_model: int = 256) -> None:
    """Show from a record how many times as long decoding takes without the cache, against the length."""
    figure, axes = subplots(height=3.1)
    said = []
    for sentences, role, style in [(8, "query", "o-"), (1, "key", "s--")]:
        rows = [row for row in numbers if row["d_model"] == d_model and row["sentences"] == sentences]
        lengths, ratios = [row["length"] for row in rows], [row["ratio"] for row in rows]
        assert ratios[1:] == sorted(ratios[1:]) and ratios[0] > 1
        name = "8 sentences at once" if sentences > 1 else "1 sentence"
        axes.plot(lengths, ratios, style, color=COLOURS[role], label=name)
        axes.annotate(f"{ratios[-1]:.1f}×", (lengths[-1], ratios[-1]), (-4, 8), textcoords="offset points", ha="right")
        said.append(f"{name}: {ratios[0]:.1f} at {lengths[0]} words, {ratios[-1]:.1f} at {lengths[-1]}")
    axes.set(xlabel="words written", ylabel="time without ÷ with", ylim=(0, 19), xlim=(0, 265))
    axes.set_title("The longer the text, the more the cache saves", weight="bold")
    axes.legend(loc="upper left")
    show(figure, alt=f"Time without the cache divided by time with it, against the words written. {'; '.join(said)}.")


def penalty_lines(found: Sequence[Hypothesis], names: Sequence[str]) -> None:
    """Show the scores of hypotheses against the α of the length penalty."""
    figure, axes = subplots(height=3.3)
    alphas = torch.linspace(0, 1.5, 31).tolist()
    for one, name, role, style in zip(found, names, ("query", "key"), ("-", "--"), strict=True):
        scores = [one.log_probability / length_penalty(len(one.tokens), alpha) for alpha in alphas]
        axes.plot(alphas, scores, style, color=COLOURS[role], label=f"{name} ({len(one.tokens)} tokens)")
    axes.axvline(0.6, color=COLOURS["muted"], linewidth=1, linestyle=":")
    axes.text(0.58, -0.36, "the paper's α", ha="right", va="center")
    axes.set(xlabel="α of the length penalty", ylabel="score")
    axes.set_title("The larger α, the better for the longer sentence", weight="bold")
    axes.legend(loc="lower right")
    show(
        figure,
        alt="Scores of two sentences against α. At 0 merci is better; the long one is better from 0.26 on.",
    )
