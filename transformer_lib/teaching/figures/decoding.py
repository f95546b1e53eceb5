"""Drawings of chapter 13: who chooses, temperature, flat and sharp places, what greedy decoding misses, what a cache keeps."""

from collections.abc import Mapping, Sequence

from matplotlib.patches import Rectangle
from torch import Tensor

from transformer_lib.teaching.figures import COLOURS, arrow, card, heading, sheet, show, subplots, text
from transformer_lib.teaching.figures.sheet import tint

WORDS = ("found", "slept", "met", "sang")


def who_chooses() -> None:
    """Show the loop: a beginning, the model's probabilities, four ways to choose, and the word that goes back in."""
    alt = (
        "A loop. The beginning, it slept under a tree and then it, goes into the model. The model gives four words "
        "probabilities: found 0.4, slept 0.3, met 0.2, sang 0.1. One rule chooses: greedy takes found; sampling draws, sang "
        "one time in ten; top-k of 2 draws found or slept, top-p of 0.8 also met. The word goes back in."
    )
    rules = ["greedy", "found", "sampling", "sang, 1 in 10", "top-k, k = 2", "found or slept", "top-p, 0.8", "… or met"]
    with sheet(7.2, 3.6, alt) as axes:
        heading(axes, "The model says how probable. Who chooses?")
        card(axes, 0.1, 1.15, 1.75, 1.1, "ink", "… it slept\nunder a tree\nand then it …")
        card(axes, 2.2, 1.35, 0.85, 0.7, "encoder", "model")
        card(axes, 5.6, 0.55, 1.5, 2.3, "value")
        for start, end in [(1.9, 2.15), (3.1, 3.35), (5.25, 5.55)]:
            arrow(axes, (start, 1.7), (end, 1.7))
        for row, (word, chance) in enumerate(zip(WORDS, (0.4, 0.3, 0.2, 0.1), strict=True)):
            y = 0.88 + 0.45 * row
            text(axes, 3.95, y + 0.16, word, ha="right")
            axes.add_patch(Rectangle((4.02, y), 1.5 * chance, 0.32, fc=COLOURS["query"]))
            text(axes, 4.08 + 1.5 * chance, y + 0.16, f"{chance}", ha="left")
        for row, words in enumerate(rules):
            role, weight = ("ink", "normal") if row % 2 else ("value", "bold")
            text(axes, 6.35, 0.73 + 0.56 * (row // 2) + 0.25 * (row % 2), words, role, weight=weight)
        axes.plot([6.35, 6.35, 0.95], [2.88, 3.3, 3.3], color=COLOURS["muted"], lw=1.8)
        arrow(axes, (0.95, 3.3), (0.95, 2.31))
        text(axes, 3.4, 3.1, "the word that is chosen goes back in, until <EOS>")


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


def kept_words(places: Mapping[str, tuple[list[str], Tensor]], k: int, share: float) -> None:
    """Show what top-k and top-p keep at a flat place and at a sharp one."""
    figure, every = subplots(2, 2, height=4.4)
    figure.suptitle("Blue stays: top-k keeps a number of words, top-p a share", weight="bold", size=15)
    said, shown = [], 18
    for column, (place, (words, chances)) in enumerate(places.items()):
        by_share = int((chances.cumsum(dim=0) - chances < share).sum())
        for row, (rule, kept) in enumerate([(f"top-k, k = {k}", k), (f"top-p, share {share}", by_share)]):
            axes, high = every[row, column], float(chances[0]) * 1.25
            axes.bar(range(shown), chances[:shown], color=tint("muted", 0.45), width=0.85)
            axes.bar(range(kept), chances[:kept], color=COLOURS["query"], width=0.85)
            axes.set(xticks=[], ylim=(0, high), yticks=[0, round(float(chances[0]) * 0.8, 1)])
            axes.set_title(place if row == 0 else "", fontsize=13)
            axes.set_ylabel(rule if column == 0 else "", fontsize=12.6)
            axes.set_xlabel("the most probable words first" if row else "", fontsize=12.6)
            names = ", ".join(words[: min(kept, 3)]) + ", …" * (kept > 3)
            reached = f"{float(chances[:kept].sum()):.2f}"
            told = f"keeps {kept}: {names}\n{reached} of the\nprobability"
            axes.text(shown - 0.5, high * 0.94, told, ha="right", va="top", fontsize=12.6)
            said.append(f"{place}, {rule}: {kept} kept, {names}, {reached} of the probability")
    show(figure, alt=f"Four bar charts of the next word's probability, the kept words coloured. {'; '.join(said)}.")


def greedy_tree() -> None:
    """Show the tree of *you are a student*: what greedy decoding takes, and what it misses."""
    alt = (
        "A tree of sentences. From the start go tu, 0.60, and vous, 0.40. Tu es then splits into étudiant, 0.33, and "
        "étudiante, 0.27. Vous êtes goes on to étudiant with the whole 0.40. Greedy decoding takes tu and ends at 0.33."
    )
    nodes = [
        (1.25, 0.95, "vous", "0.40", "query"),
        (3.05, 0.95, "êtes", "0.40", "query"),
        (5.65, 0.95, "étudiant", "0.40", "query"),
        (1.25, 2.25, "tu", "0.60", "key"),
        (3.05, 2.25, "es", "0.60", "key"),
        (5.65, 1.95, "étudiant", "0.33", "key"),
        (5.65, 2.75, "étudiante", "0.27", "muted"),
    ]
    with sheet(7.2, 3.55, alt) as axes:
        heading(axes, "tu splits its 0.60, vous keeps its 0.40")
        card(axes, 0.1, 1.35, 0.8, 0.5, "ink", "<SOS>")
        for x, y, word, chance, role in nodes:
            before = (0.93, 1.6) if x == 1.25 else (x - (0.35 if x == 3.05 else 1.15), 0.95 if role == "query" else 2.25)
            arrow(axes, before, (x - 0.05, y), role)
            card(axes, x, y - 0.29, 1.4, 0.58, role, fill=0.14 if role != "muted" else 0.0)
            text(axes, x + 0.7, y - 0.1, word)
            text(axes, x + 0.7, y + 0.13, f"so far {chance}", "black", weight="bold")
        text(axes, 5.02, 0.72, "best", "query", weight="bold")
        text(axes, 5.02, 1.83, "greedy", "key", weight="bold")
        text(axes, 3.6, 3.33, "after tu, greedy decoding can no longer reach the 0.40")


def step_four(cached: bool) -> None:
    """Show queries, keys, values and weights of step 4: computed now, kept from before, or not needed."""
    title, below, alt = {
        False: (
            "Without a cache: step 4 computes everything again",
            "4 queries, 4 keys, 4 values, and the whole triangle",
            "Step 4 without a cache. Four words, SOS, je, suis and étudiant, each with a query, a key, a value and its row of "
            "the triangle of weights. All are computed now, though only the last row chooses the next word.",
        ),
        True: (
            "With a cache: one row; the grey keys and values are kept",
            "1 query, 1 key, 1 value, and one row of weights",
            "Step 4 with a cache. Only étudiant gets a query, a key, a value and a row of weights now. The keys and values of "
            "SOS, je and suis are kept from earlier steps, in grey; their queries and rows of weights are not needed.",
        ),
    }[cached]
    now = {"fc": COLOURS["query"], "ec": "white"}
    kept = {"fc": tint("muted", 0.28), "ec": "white"}
    none = {"fc": "white", "ec": tint("muted", 0.5), "ls": ":"}
    with sheet(7.2, 2.75, alt) as axes:
        heading(axes, title)
        text(axes, 3.6, 2.55, below)
        for x, name in [(1.52, "query"), (2.77, "key"), (4.02, "value"), (5.9, "weights")]:
            text(axes, x, 0.81, name, weight="bold")
        for row, word in enumerate(("<SOS>", "je", "suis", "étudiant")):
            y, new = 1.0 + 0.33 * row, row == 3 or not cached
            text(axes, 0.95, y + 0.165, word, ha="right", weight="bold" if row == 3 else "normal")
            cells = [(1.05, 0.95, none), (2.3, 0.95, kept), (3.55, 0.95, kept)]
            cells += [(4.9 + 0.5 * column, 0.5, none) for column in range(row + 1)]
            for x, wide, old in cells:
                axes.add_patch(Rectangle((x, y), wide, 0.33, lw=1.2, **(now if new else old)))


def time_saved(numbers: Sequence[Mapping]) -> None:
    """Show from a record how many times as long decoding takes without the cache, against the length."""
    figure, axes = subplots(height=3.1)
    said = []
    for sentences, name, role, style in [(8, "8 sentences at once", "query", "o-"), (1, "1 sentence", "key", "s--")]:
        rows = [row for row in numbers if row["d_model"] == 256 and row["sentences"] == sentences]
        lengths, ratios = [row["length"] for row in rows], [row["ratio"] for row in rows]
        assert ratios[1:] == sorted(ratios[1:]) and ratios[0] > 1
        axes.plot(lengths, ratios, style, color=COLOURS[role], label=name)
        axes.annotate(f"{ratios[-1]:.1f}×", (lengths[-1], ratios[-1]), (-4, 8), textcoords="offset points", ha="right")
        said.append(f"{name}: {ratios[0]:.1f} at {lengths[0]} words, {ratios[-1]:.1f} at {lengths[-1]}")
    axes.set(xlabel="words written", ylabel="time without ÷ with", ylim=(0, 19), xlim=(0, 265))
    axes.set_title("The longer the text, the more the cache saves", weight="bold")
    axes.legend(loc="upper left")
    show(figure, alt=f"Time without the cache divided by time with it, against the words written. {'; '.join(said)}.")
