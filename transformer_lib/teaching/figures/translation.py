"""Chapter 14's drawings: text to ids and back, word by word, merges, what training writes and where it looks, length, time."""

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from transformer_lib.teaching.experiments.translation import corpus_and_tokenizer, four_translators
from transformer_lib.teaching.figures import COLOURS, SEQUENTIAL, arrow, card, frame, sheet, show, subplots, text
from transformer_lib.teaching.figures.plots import band
from transformer_lib.teaching.figures.sheet import tint
from transformer_lib.teaching.record import record

LOOKS = {
    "GRU": ("muted", "s", ":"),
    "GRU with attention": ("query", "D", "--"),
    "Transformer": ("decoder", "o", "-"),
    "Transformer, rotary": ("key", "^", "-."),
}


def _boxes(axes: Axes, x: float, y: float, words: Sequence, wide: float, edge: str = "muted", fill: float = 0.0) -> None:
    """Draw a row of boxes from (x, y) on, each with its word."""
    for place, word in enumerate(words):
        left = x + wide * place
        axes.add_patch(Rectangle((left + 0.02, y), wide - 0.04, 0.32, ec=COLOURS[edge], fc=tint(edge, fill), lw=1.5))
        text(axes, left + wide / 2, y + 0.16, str(word), "black")


def text_to_text(english: str, french: str) -> None:
    """Draw the way of a sentence: text, tokens, ids, model, ids, tokens, text."""
    _, tokenizer = corpus_and_tokenizer()
    alt = (
        f"From top to bottom: {english}; its tokens, with an id below each; the Transformer; the ids and tokens that it "
        f"writes; {french}. The last word is two tokens, fatigué and e."
    )
    with sheet(7.2, 4.05, alt) as axes:
        text(axes, 3.6, 0.2, "A translator: text becomes numbers, and numbers become text", weight="bold")
        text(axes, 4.05, 0.62, english, "encoder", style="italic")
        text(axes, 4.05, 3.85, french, "decoder", style="italic")
        for words, tops, role in [(english, (0.95, 1.3), "encoder"), (french, (3.2, 2.85), "decoder")]:
            tokens, ids = tokenizer.tokens(words), tokenizer.encode(words)
            left = 4.05 - len(tokens) / 2
            _boxes(axes, left, tops[0], tokens, 1.0, role, 0.05)
            _boxes(axes, left, tops[1], ids, 1.0, role, 0.2)
        card(axes, 2.9, 1.95, 2.3, 0.55, "query", "Transformer")
        arrow(axes, (4.05, 1.67), (4.05, 1.93))
        arrow(axes, (4.05, 2.53), (4.05, 2.82))
        for y, name in [(0.62, "text"), (1.11, "tokens"), (1.46, "ids"), (3.01, "ids"), (3.36, "tokens"), (3.85, "text")]:
            text(axes, 0.1, y, name, "muted", ha="left")


def word_by_word(english: str, wrote: str, french: str) -> None:
    """Draw a sentence, what a dictionary makes of it, and the right one below; what is wrong stands out."""
    alt = (
        f"{english}; below it the dictionary's {wrote}; below that the right sentence, {french}. Blanc and fatigué have the "
        "wrong form, and the lines of blanc and vache cross."
    )
    given, found, right = english.split(), wrote.split(), french.split()
    with sheet(7.2, 2.75, alt) as axes:
        text(axes, 3.6, 0.2, "Two words have the wrong form, and two must change places", weight="bold")
        for y, words, name in [(0.5, given, "English"), (1.25, found, "dictionary"), (2.3, right, "right")]:
            text(axes, 0.1, y + 0.16, name, "muted", ha="left")
            for place, word in enumerate(words):
                wrong = words is found and word not in right
                _boxes(axes, 1.4 + 1.13 * place, y, [word], 1.1, "key" if wrong else "muted", 0.3 * wrong)
        for place, target in enumerate([0, 2, 1, 3, 4]):
            x, other = 1.95 + 1.13 * place, 1.95 + 1.13 * target
            axes.plot([x, x], [0.84, 1.23], color=COLOURS["muted"], lw=1.2)
            moved = place != target
            axes.plot([x, other], [1.59, 2.28], color=COLOURS["key" if moved else "muted"], lw=2.4 if moved else 1.2)


def merges(counts: dict[str, int], learn: Callable) -> None:
    """Draw the words of a text in pieces, before the first merge and after each of four."""
    found = [" + ".join(pair) for pair in learn(counts, 4)[0]]
    says = ", ".join(pair.replace(" + ", "") for pair in found)
    alt = f"The words {', '.join(counts)} in single characters, then after each of 4 merges, which make {says}."
    with sheet(7.2, 3.0, alt) as axes:
        text(axes, 3.6, 0.2, "Each merge makes one token more, and the words get shorter", weight="bold")
        for step, pair in enumerate(["", *found]):
            y, x = 0.45 + 0.5 * step, 1.6
            text(axes, 0.1, y + 0.16, f"{step}.  {pair}" if step else "characters", "ink", ha="left")
            for pieces in learn(counts, step)[1].values():
                for piece in pieces:
                    look = ("query", 0.25) if piece == pair.replace(" + ", "") else ("muted", 0.0)
                    _boxes(axes, x, y, [piece], 0.28 * len(piece), *look)
                    x += 0.28 * len(piece)
                x += 0.3


def where_it_looks(steps: Sequence[int]) -> None:
    """Draw the recorded maps of cross-attention of one sentence, and what the model writes, at some stops of the training."""
    numbers = record("translation_progress")["numbers"]
    stops = {stop["step"]: stop for stop in numbers["stops"]}
    source, target = ([token.removeprefix("▁") for token in numbers[side]] for side in ("source", "target"))
    figure, axes = subplots(1, len(steps), width=7.2, height=3.7, share_y=True)
    for panel, step in zip(axes, steps, strict=True):
        panel.imshow(np.array(stops[step]["weights"]), cmap=SEQUENTIAL, vmin=0, vmax=1, aspect="auto")
        panel.set_xticks(range(len(source)), source, rotation=90)
        panel.set_title(f"{step} steps\n{stops[step]['right']} of 100 right")
        panel.tick_params(length=0)
        for row, column in [("blanche", "white"), ("e", "cow")]:
            corner = (source.index(column) - 0.5, target.index(row) - 0.5)
            frame(panel, *corner, 1, 1, "key", lw=2)
    axes[0].set_yticks(range(len(target)), target)
    more = "the stronger its colour, the more of its row's weight"
    figure.suptitle(f"First blanche looks at white, later e in part at cow\n{more}", weight="bold")
    alt = (
        f"Maps of cross-attention after {', '.join(map(str, steps))} steps, French tokens in rows, English words in columns. "
        "After 100 steps most rows are spread out. After 200 the row of blanche looks at is; after 300 and 1000 at white. The "
        "row of e looks most at cow after 1000 only, and at the other words too."
    )
    show(figure, alt=alt)


def by_length() -> None:
    """Draw the recorded share of right translations against the length of the sentence: four models, three seeds each."""
    figure, axes = subplots(width=7.2, height=3.7)
    for name, runs in four_translators().items():
        role, marker, style = LOOKS[name]
        for which in ("held_out", "longer"):
            counts = {length: count for length, (count, _) in runs[0][which]["by_length"].items() if count >= 10}
            shares = np.array([[run[which]["by_length"][n][1] / count for n, count in counts.items()] for run in runs])
            label = name if which == "longer" else None
            band(axes, list(map(int, counts)), shares, style, role, label, alpha=0.2, marker=marker)
    axes.axvline(10.5, color=COLOURS["muted"], linestyle=":")
    axes.text(3, 0.52, "lengths of training  ←", color=COLOURS["muted"])
    axes.set(xlabel="words of the English sentence", ylabel="share that is right", ylim=(-0.02, 1.05))
    axes.legend(loc="lower left", frameon=False, fontsize=10)
    figure.suptitle("The GRU falls first, the GRU with attention last", weight="bold")
    alt = (
        "Share of right translations against length, mean and range of 3 seeds. The GRU falls from seven words on, to one half "
        "at ten, the longest of training, and is near zero from 13 on. The other three stay near the top up to nine words. The "
        "Transformer is at nine tenths with ten words and at zero with 16; with rotary positions it falls more slowly, and the "
        "GRU with attention begins to fall after ten words, and falls least."
    )
    show(figure, alt=alt)


def step_time() -> None:
    """Draw the recorded time of a training step against the length of its sentences; the tokens stay as many."""
    found = record("translation_time")
    lengths, seconds = found["settings"]["lengths"], found["numbers"]["seconds"]
    figure, axes = subplots(width=7.2, height=3.5)
    for name, times in seconds.items():
        role, marker, style = LOOKS[name]
        axes.plot(lengths, times, style, color=COLOURS[role], marker=marker, label=name)
    axes.set_xscale("log", base=2)
    axes.set_xticks(lengths, lengths)
    axes.set(xlabel="tokens of a sentence (always 2048 in a batch)", ylabel="seconds a step", ylim=(0, None))
    axes.legend(loc="upper left", frameon=False)
    figure.suptitle("As sentences grow, a step of the GRU with attention costs more", weight="bold")
    ratio = seconds["GRU with attention"][-1] / seconds["Transformer"][-1]
    alt = (
        "Seconds for one training step against the length of its sentences, from 8 to 512 tokens, on one processor core. "
        f"The GRU with attention rises steeply, and takes {ratio:.0f} times as long as the Transformer at 512 tokens. The GRU "
        "alone and both Transformers stay together at the bottom."
    )
    show(figure, alt=alt)
