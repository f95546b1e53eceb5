"""Chapter 15's drawings: patched vectors, maps that agree, two models, a forced prefix, the way of the gender, counts."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.offsetbox import AnnotationBbox, HPacker, TextArea
from torch import Tensor

from transformer_lib.teaching.figures import COLOURS, SEQUENTIAL, show, subplots
from transformer_lib.teaching.figures.sheet import arrow, block, card, frame, heading, sheet, text

COW, HORSE = "the white cow is tired".split(), "the white horse is tired".split()


def _row(axes: Axes, y: float, theirs: Sequence[int] = (), step: float = 0.76) -> None:
    """Draw the cow's five vectors, those at the places `theirs` from the horse's row."""
    for place in range(5):
        other = place in theirs
        role, word, fill = ("key", HORSE[place], 0.55) if other else ("query", COW[place], 0.08)
        card(axes, 0.1 + step * place, y, step - 0.08, 0.44, role, fill=fill)
        look = {"weight": "bold"} if other else {}
        text(axes, 0.1 + step * (place + 0.5) - 0.04, y + 0.22, word, "black", **look)


def _sentence(axes: Axes, x: float, y: float, words: Sequence[str], usual: Sequence[str]) -> None:
    """Write a sentence from x on, its new words bold and in colour."""
    looks = [
        {"weight": "bold", "color": "#8a4c00"} if new != before else {"color": COLOURS["ink"]}
        for new, before in zip(words, usual, strict=True)
    ]
    parts = [TextArea(word, textprops={"fontsize": 13.8, **look}) for word, look in zip(words, looks, strict=True)]
    line = HPacker(children=parts, pad=0, sep=4, align="baseline")
    axes.add_artist(AnnotationBbox(line, (x, y), box_alignment=(0, 0.5), frameon=False, pad=0))


def one_patch() -> None:
    """Draw the cow's vectors, the horse's, and the cow's with one of the horse's among them."""
    alt = (
        "Three rows of five boxes, each a vector of the memory with its word. The first row is the cow's; from it the decoder "
        "writes la vache blanche est fatiguée. The second is the horse's: le cheval blanc est fatigué. The third is the cow's "
        "again, but the box at is comes from the horse's row; what the decoder writes from it is left open."
    )
    with sheet(7.2, 3.7, alt) as axes:
        heading(axes, "One vector of five is patched. Which words change?")
        rows = [
            (0.85, (), "the cow’s memory", "la vache blanche\nest fatiguée"),
            (1.85, range(5), "the horse’s memory", "le cheval blanc\nest fatigué"),
            (3.05, (3,), "patched at “is”", "?  ?  ?  ?  ?"),
        ]
        for y, theirs, name, written in rows:
            text(axes, 0.1, y - 0.16, name, "muted", ha="left")
            _row(axes, y, theirs)
            arrow(axes, (3.95, y + 0.22), (4.95, y + 0.22), "decoder")
            text(axes, 4.45, y + 0.05, "decoder", "decoder")
            text(axes, 6.1, y + 0.22, written, linespacing=1.2)
        arrow(axes, (2.72, 2.31), (2.72, 3.02), "key")


def two_maps(maps: Mapping[str, tuple[list[str], list[str], Tensor]], written: str) -> None:
    """Show maps of cross-attention side by side, and frame the row whose word begins with `written`."""
    rows = {name: next(i for i, word in enumerate(words) if word.startswith(written)) for name, (_, words, _) in maps.items()}
    weight = {name: float(weights[rows[name], source.index("white")]) for name, (source, _, weights) in maps.items()}
    assert min(weight.values()) > 0.8
    said = "; ".join(f"{words[rows[name]]} has {weight[name]:.2f} at white" for name, (_, words, _) in maps.items())
    alt = f"Two maps of cross-attention, a row for each written word, nearly the same. Their framed rows: {said}."
    with sheet(7.2, 3.95, alt) as axes:
        heading(axes, "Framed: the same weights, and another word")
        for left, (name, (source, words, weights)) in zip((1.05, 4.75), maps.items(), strict=True):
            look = {"cell": 0.47, "high": 0.4, "rows": words, "shape": False}
            look["label"] = lambda i, j, w: f"{w:.2f}" if w >= 0.05 else ""
            block(axes, left, 1.02, weights, "query", strength=lambda i, j, w: 0.03 + 0.6 * w, **look)
            for n, word in enumerate(source):
                above = {"rotation": 40, "rotation_mode": "anchor", "ha": "left", "va": "bottom"}
                text(axes, left + 0.47 * (n + 0.35), 0.96, word, **above)
            frame(axes, left, 1.02 + 0.4 * rows[name], 5 * 0.47, 0.4, "key", lw=3)


def two_models(weights: Tensor, models: Mapping[str, tuple[Tensor, Tensor]]) -> None:
    """Show two models with the same weights and other numbers, and what one patch does to each."""
    alt = (
        "Two models with the same weights, 0.8 on white and 0.2 on the noun. Model A holds the gender at both: cow +1 +1, "
        "horse -1 -1. Model B holds it at the noun alone: cow 0 +5, horse 0 -5. Both sums are +1, blanche, for the cow and -1, "
        "blanc, for the horse. Patched at white, A gives -0.6, blanc, and B +1, blanche. Patched at the noun, A gives +0.6, "
        "blanche, and B -1, blanc."
    )
    signed = lambda i, j, value: "0" if value == 0 else f"{value:+.0f}".replace("-", "–")
    with sheet(7.2, 3.5, alt) as axes:
        heading(axes, "The same map, the same words: one patch tells A from B")
        columns = [(1.35, "cow"), (2.8, "horse"), (4.4, "cow, patched\nat white"), (5.9, "cow, patched\nat the noun")]
        for x, name in columns:
            text(axes, x + 0.42, 0.7, name, "muted", linespacing=1.1)
        axes.plot([4.05, 4.05], [0.55, 3.4], color=COLOURS["muted"], lw=1.2, ls=(0, (3, 3)))
        for y, (name, (cow, horse)) in zip((1.3, 2.5), models.items(), strict=True):
            text(axes, 0.62, y + 0.17, f"model {name}", weight="bold")
            for (x, _), theirs in zip(columns, [(), (0, 1), (0,), (1,)], strict=True):
                numbers = cow.clone()
                numbers[list(theirs)] = horse[list(theirs)]
                role = lambda i, j, theirs=theirs: "key" if j in theirs else "query"
                deep = lambda i, j, v, theirs=theirs: 0.55 if j in theirs else 0.1
                look = {"cell": 0.42, "high": 0.36, "shape": False, "label": signed, "columns": ["·0.8", "·0.2"]}
                block(axes, x, y, numbers, "muted", colour_of=role, strength=deep, **look)
                total = float(weights @ numbers)
                result = f"{total:+.1f} {'blanche' if total > 0 else 'blanc'}".replace("-", "–")
                text(axes, x + 0.42, y + 0.6, result, weight="bold")


def five_patches(sentences: Sequence[str], usual: str) -> None:
    """Show each patched memory, and the sentence that is written from it."""
    said = "; ".join(f"at {word}: {sentence}" for word, sentence in zip(COW, sentences, strict=True))
    with sheet(7.2, 3.65, f"Five rows of five boxes; in each, one box is the horse's. Patched {said}.") as axes:
        heading(axes, "Filled: the horse’s vector. Bold: the words that change")
        for row, sentence in enumerate(sentences):
            y = 0.5 + 0.63 * row
            _row(axes, y, [row], step=0.7)
            arrow(axes, (3.66, y + 0.22), (3.94, y + 0.22), "decoder")
            _sentence(axes, 4.0, y + 0.22, sentence.split(), usual.split())


def forced_prefix(chances: Tensor, prefixes: Sequence[str], endings: Sequence[Sequence[str]]) -> None:
    """Show the probability of the ending -e and the word that is written, for each prefix without and with the patch."""
    cells = [[f"{p:.2f}, {word}" for p, word in zip(*row, strict=True)] for row in zip(chances.tolist(), endings, strict=True)]
    lines = [f"after {prefix}: {a} unpatched, {b} patched" for prefix, (a, b) in zip(prefixes, cells, strict=True)]
    with sheet(7.2, 2.35, f"The probability of the ending -e, and the word that is written. {'; '.join(lines)}.") as axes:
        heading(axes, "Here only both changes together write fatigué")
        look = {"cell": 1.76, "high": 0.66, "shape": False, "rows": prefixes}
        look["label"] = lambda i, j, v: f"-e: {v:.2f}\n{endings[i][j]}"
        columns = ["the cow’s vectors", "patched at “cow”"]
        block(axes, 3.6, 0.95, chances, "value", columns=columns, strength=lambda i, j, v: 0.04 + 0.5 * v, **look)
        text(axes, 1.85, 0.81, "forced prefix", "muted")


def way_of_the_gender(chances: Tensor) -> None:
    """Show the probability of *blanc* for a patch at each depth and place, and the step from cow to white."""
    said = "; ".join(", ".join(f"{p:.2f}" for p in row) for row in chances.tolist())
    alt = (
        "A grid of probabilities of blanc: a column for each word of the white cow is tired, a row for each depth. Before the "
        f"layers, after layer 1, after layer 2: {said}. The high cell stands at cow twice, then at white."
    )
    with sheet(7.2, 2.65, alt) as axes:
        heading(axes, "In layer 2 the gender is copied to the adjective")
        rows = ["embedding", "after layer 1", "after layer 2"]
        look = {"cell": 0.95, "high": 0.5, "shape": False, "rows": rows, "columns": COW, "label": ".2f"}
        block(axes, 1.95, 0.85, chances, "key", strength=lambda i, j, v: 0.03 + 0.6 * v, **look)
        arrow(axes, (4.0, 1.74), (3.64, 1.97), "ink")


def counted(found: Mapping[str, Mapping[str, int]], examples: Sequence[str]) -> None:
    """Show how many of 164 adjectives turn when some vectors of the memory are patched."""
    labels = {
        "the adjective": "the adjective",
        "the noun": "the noun",
        "both": "both of them",
        "the others": "all but these two",
    }
    figure, every = subplots(columns=2, height=2.9, share_y=True)
    figure.suptitle("Whose vector turns the adjective? Mostly its own", weight="bold", size=15)
    for axes, turned, example in zip(every, found.values(), examples, strict=True):
        numbers = [turned[name] for name in labels]
        axes.barh(list(labels.values()), numbers, color=[COLOURS["key"], *3 * [COLOURS["query"]]])
        for y, count in enumerate(numbers):
            axes.text(count + 3, y, str(count), va="center")
        axes.set(xlim=(0, 200), ylim=(3.6, -0.6), xticks=[0, 82, 164], xlabel="turned, of 164")
        axes.set_title(example, style="italic")
        axes.tick_params(axis="y", length=0)
    said = "; ".join(
        f"{label} {' and '.join(str(turned[name]) for turned in found.values())}" for name, label in labels.items()
    )
    show(figure, alt=f"Two bar charts, one for each form of sentence: how many of 164 adjectives turn. Patched: {said}.")


def encoder_heads(words: Sequence[str], weights: Tensor) -> None:
    """Show each head of the encoder, a row of maps for each layer."""
    figure, every = subplots(2, 4, height=4.3, share_x=True, share_y=True)
    figure.suptitle("In layer 2, white looks at cow", weight="bold", size=15)
    for layer, maps in enumerate(weights):
        for head, weight in enumerate(maps):
            axes = every[layer, head]
            axes.imshow(weight, cmap=SEQUENTIAL, vmin=0, vmax=1)
            axes.set_xticks(range(len(words)), words, rotation=90)
            axes.set_yticks(range(len(words)), words)
            frame(axes, -0.48, words.index("white") - 0.48, len(words) - 0.04, 0.96, "key", lw=2)
            axes.set_title(f"layer {layer + 1}, head {head + 1}")
    shares = [f"{weight:.2f}" for weight in weights[1, :, words.index("white"), words.index("cow")].tolist()]
    show(
        figure,
        alt="Eight maps of self-attention, a row for each word that looks, that of white in a frame. In layer 2 white gives "
        f"cow the weights {', '.join(shares)}, one for each head.",
    )


def one_head_less(whole: Sequence[int], wrong: Mapping[str, Sequence[int]]) -> None:
    """Show how many more of 500 sentences are wrong without each head, in three trainings."""
    spread = max(whole) - min(whole)
    rows = list(dict.fromkeys(name.rpartition(", ")[0] for name in wrong))
    figure, axes = subplots(height=4.2)
    for name, counts in wrong.items():
        row, _, head = name.rpartition(", ")
        y = rows.index(row) + 0.16 * (int(head.split()[-1]) - 2.5)
        for count, start, marker in zip(counts, whole, "os^", strict=True):
            axes.plot(count - start, y, marker, color=COLOURS["query"], markersize=6, alpha=0.8)
    for seed, marker in enumerate("os^"):
        axes.plot([], [], marker, color=COLOURS["query"], label=f"seed {seed}")
    axes.legend(loc="center right", frameon=False)
    axes.axvline(spread, color=COLOURS["muted"], ls=":", lw=1.5)
    axes.set_yticks(range(len(rows)), rows)
    axes.set(ylim=(len(rows) - 0.4, -0.6), xlim=(-5, 140), xlabel=f"more wrong, of 500, than with all heads (dotted: {spread})")
    axes.set_title("Most heads are hardly missed", weight="bold")
    show(
        figure,
        alt="Dots for 24 heads and three trainings: how many more of 500 sentences are wrong without the head. Nearly all are "
        "below 24; a head of the decoder's first layer stands at 33, and in the second layer of cross-attention three "
        "stand at 44, 51 and 131.",
    )
