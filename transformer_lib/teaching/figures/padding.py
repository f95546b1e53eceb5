"""The drawings of chapter 3: from text to a rectangle, and what padding does to a state."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Rectangle
from torch import Tensor

from transformer_lib.teaching.figures import COLOURS, arrow, block, sheet, show, subplots, text
from transformer_lib.teaching.figures.sheet import tint
from transformer_lib.teaching.record import record

__all__ = ["batches", "eight_readers", "look_up", "numberings", "states", "text_to_logits"]

WORD, PADDING = "query", "muted"


def hatch(axes: Axes, x: float, y: float, width: float, high: float) -> None:
    """Draw a square of padding: hatched, with a 0."""
    look = {"fc": tint(PADDING, 0.15), "ec": tint(PADDING, 0.6), "hatch": "////", "lw": 0}
    axes.add_patch(Rectangle((x, y), width, high, **look))
    axes.add_patch(Rectangle((x, y), width, high, fill=False, ec="white", lw=1.2))
    text(axes, x + width / 2, y + high / 2, "0", "black", weight="bold")


def hatched(axes: Axes, x: float, y: float, tokens: Tensor, cell: float, high: float) -> None:
    """Draw each 0 of `tokens`, a block at (x, y), as padding."""
    for row, column in (tokens == 0).nonzero().tolist():
        hatch(axes, x + column * cell, y + row * high, cell, high)


def text_to_logits() -> None:
    """Draw the whole chapter: three reviews as texts, words, ids and logits."""
    texts = ["Not good!", "Good, good film<br />", "A film."]
    words = [["not", "good"], ["good", "good", "film"], ["a", "film"]]
    ids = np.array([[3, 1, 0], [1, 1, 2], [4, 2, 0]])
    alt = (
        "Three reviews, from left to right: as texts; as two, three and two words; as a rectangle of three rows and three "
        "columns of ids, in which two hatched squares hold 0, the padding; and one score for each row."
    )
    with sheet(7.2, 2.15, alt) as axes:
        text(axes, 3.6, 0.17, "Ragged text becomes a rectangle", weight="bold")
        for x, name in [(0.95, "texts"), (3.45, "words"), (5.44, "ids"), (6.83, "score")]:
            text(axes, x, 0.5, name, "muted")
        for row in range(3):
            y = 0.7 + 0.42 * row
            text(axes, 0.05, y + 0.17, texts[row], ha="left")
            for column, word in enumerate(words[row]):
                x = 2.5 + 0.65 * column
                axes.add_patch(Rectangle((x, y), 0.61, 0.34, fc=tint(WORD, 0.16), ec=COLOURS[WORD], lw=1.2))
                text(axes, x + 0.305, y + 0.17, word)
            for column, number in enumerate(ids[row]):
                x = 4.87 + 0.38 * column
                if number:
                    axes.add_patch(Rectangle((x, y), 0.38, 0.34, fc=tint(WORD, 0.16), ec="white", lw=1.2))
                    text(axes, x + 0.19, y + 0.17, str(number), "black")
                else:
                    hatch(axes, x, y, 0.38, 0.34)
            arrow(axes, (6.1, y + 0.17), (6.5, y + 0.17))
            axes.add_patch(Rectangle((6.54, y), 0.58, 0.34, fc="white", ec=COLOURS["ink"], lw=1.2))
            text(axes, 6.83, y + 0.17, ["−1", "2", "−1"][row])
        arrow(axes, (2.2, 1.29), (2.47, 1.29))
        arrow(axes, (4.5, 1.29), (4.82, 1.29))
        text(axes, 7.12, 2.02, "a network reads each row", "muted", ha="right")
        text(axes, 0.05, 2.02, "hatched: padding, which nobody wrote", "muted", ha="left")


def numberings(words: Sequence[str]) -> None:
    """Draw the ids of four words in this chapter's vocabulary, and in the reviews that come with Keras."""
    rows = {
        "ours": ["<pad>", *words, "oov 0", "oov 1"],
        "Keras": ["<pad>", "<sos>", "<unk>", "–", *words],
    }
    alt = (
        "Two rows of eight ids. Ours: 0 is padding, 1 to 4 are good, film, not and a, 5 and 6 are buckets for unknown words. "
        "Keras: 0 is padding, 1 start, 2 unknown, 3 nothing, 4 to 7 are good, film, not and a."
    )
    with sheet(7.2, 1.75, alt) as axes:
        text(axes, 3.6, 0.16, "Id 0 is padding in both", weight="bold")
        for i in range(8):
            text(axes, 1.07 + 0.81 * i, 0.47, str(i), "muted")
        for at, (name, entries) in enumerate(rows.items()):
            y = 0.66 + 0.52 * at
            text(axes, 0.06, y + 0.18, name, ha="left", weight="bold")
            for i, entry in enumerate(entries):
                colour, depth = (WORD, 0.16) if entry in words else (PADDING, 0.12)
                if entry in ("oov 0", "oov 1", "<unk>"):
                    colour = "key"
                place = (0.68 + 0.81 * i, y)
                axes.add_patch(Rectangle(place, 0.78, 0.38, fc=tint(colour, depth), ec=COLOURS[colour], lw=1.2))
                text(axes, place[0] + 0.39, y + 0.19, entry)


def batches(as_they_come: Sequence[Tensor], similar: Sequence[Tensor]) -> None:
    """Draw all batches of the same reviews, put together in two ways, one review a line, and their shares of padding."""
    figure, panels = subplots(columns=2, width=7.2, height=3.2, share_y=True)
    widest = max(tokens.size(1) for tokens in as_they_come)
    shares = []
    for axes, made, name in zip(panels, (as_they_come, similar), ("as they come", "similar lengths"), strict=True):
        picture = np.concatenate([np.pad(np.where(t.numpy() > 0, 1, 2), ((0, 0), (0, widest - t.size(1)))) for t in made])
        colours = ListedColormap(["white", tint(WORD, 0.55), tint(PADDING, 0.35)])
        axes.imshow(picture, cmap=colours, aspect="auto", interpolation="nearest", vmin=0, vmax=2)
        share = (picture == 2).sum() / (picture > 0).sum()
        shares.append(share)
        axes.set(title=f"{name}:\n{100 * share:.0f} % padding", xlabel="column")
    panels[0].text(4.5, len(picture) / 2, "words", ha="center", va="center")
    panels[1].text(widest - 1, len(picture) * 0.12, "grey: padding", ha="right", va="center")
    panels[0].set_ylabel("review")
    panels[0].set_yticks([0, len(picture)], ["first", "last"])
    assert shares[0] > 0.25 and shares[1] < 0.05
    show(
        figure,
        alt=f"All reviews as lines, words in blue, padding in grey. In batches as they come, a ragged edge and "
        f"{100 * shares[0]:.0f} percent padding. In batches of similar length, a smooth edge and hardly any.",
    )


def look_up(tokens: Tensor, table: Tensor, names: Sequence[str]) -> None:
    """Draw how each id fetches its row of the embedding's table: two axes become three."""
    alt = (
        "The ids, 3 by 3, and the table, 7 by 2, with one row for each id: good is 4 and 0, not is 0 and 8, all other rows are "
        "zero. Each id is replaced by its row: three blocks of 3 by 2, one for each review."
    )
    with sheet(7.2, 2.95, alt) as axes:
        text(axes, 3.6, 0.16, "Each id fetches its row: (3, 3) becomes (3, 3, 2)", weight="bold")
        y, high = 0.75, 0.27
        right, _ = block(axes, 0.1, y, tokens, WORD, name="ids", strength=0.14, cell=0.32, high=high)
        hatched(axes, 0.1, y, tokens, 0.32, high)
        arrow(axes, (right + 0.1, y + 0.42), (right + 0.4, y + 0.42))
        x = 2.55
        labels = [f"{i} {name}" for i, name in enumerate(names)]
        right, _ = block(axes, x, y, table, "encoder", name="table", rows=labels, cell=0.36, high=high, learned=True)
        arrow(axes, (right + 0.1, y + 0.42), (right + 0.38, y + 0.42))
        x = right + 0.5
        for review, vectors in enumerate(table[tokens]):
            name = ["review 1", "review 2", "review 3"][review]
            block(axes, x + 1.1 * review, y, vectors, "encoder", name=name, cell=0.42, high=high)


def states(vectors: Sequence[float]) -> None:
    """Draw how much praise the small reader remembers of *good good film* and padding, without a mask and with one."""
    faded, kept = [], []
    for step, vector in enumerate(vectors):
        faded.append((faded[-1] if faded else 0) / 2 + vector)
        kept.append(faded[step] if step < 3 else kept[-1])
    words = ["good", "good", "film", *["<pad>"] * (len(vectors) - 3)]
    alt = (
        "What the reader remembers of good good film and then padding. Mask off: 4, 6, 3, then 1.5 and 0.75, so the logit is "
        "−0.25. Mask on: 4, 6, 3, and then 3 and 3, so the logit is 2."
    )
    with sheet(7.2, 2.2, alt) as axes:
        text(axes, 3.6, 0.16, "Padding adds nothing, and yet the memory fades", weight="bold")
        wide = 4.8 / len(words)
        for column, word in enumerate(words):
            text(axes, 1.36 + wide * (column + 0.5), 0.55, word, "ink" if column < 3 else "muted")
        for y, name, row, colour in [(0.78, "mask off", faded, "key"), (1.42, "mask on", kept, "value")]:
            text(axes, 0.08, y + 0.23, name, colour, ha="left", weight="bold")
            for column, state in enumerate(row):
                place = (1.36 + wide * column, y)
                fill = tint(colour, 0.08 + 0.4 * state / 6)
                axes.add_patch(Rectangle(place, wide - 0.05, 0.46, fc=fill, ec=COLOURS[colour], lw=1.2))
                text(axes, place[0] + wide / 2 - 0.02, y + 0.23, f"{state:g}", "black")
            arrow(axes, (6.16, y + 0.23), (6.42, y + 0.23))
            text(axes, 6.48, y + 0.23, f"{row[-1] - 1:g}".replace("-", "−"), colour, ha="left", weight="bold")
        text(axes, 6.72, 0.55, "logit", "muted")
        text(axes, 3.76, 2.05, "praise remembered after each column", "muted")


def eight_readers() -> None:
    """Draw the record of eight readers that were trained without a mask: tested as they are, and with a mask put on."""
    made = record("text_masking")
    columns, runs = made["settings"]["columns"], made["numbers"]
    bare, masked = ([run[name] for run in runs] for name in ("without mask", "with mask"))
    assert min(row[0] for row in bare) > 0.99 and max(bare[1][-1], bare[2][-1]) < 0.52
    assert 0.85 < bare[3][-1] < 0.9 and min(bare[seed][-1] for seed in (0, 4, 5, 6, 7)) > 0.97
    assert min(map(min, masked)) > 0.995 and all(len(set(row)) == 1 for row in masked)
    figure, panels = subplots(columns=2, width=7.2, height=3.4, share_y=True)
    for axes, rows, title in zip(panels, (bare, masked), ("mask off: three fall", "mask on: none moves"), strict=True):
        for seed, shares in enumerate(rows):
            falls = rows is bare and seed in (1, 2, 3)
            colour = "key" if falls else "value" if rows is masked else "muted"
            axes.plot(columns, shares, color=COLOURS[colour], linewidth=2.6 if falls or rows is masked else 1.3)
        axes.axhline(0.5, color=COLOURS["ink"], linestyle="--", linewidth=1)
        axes.set(title=title, xlabel="columns of padding added", ylim=(0.45, 1.03))
    for x, y, seed in [(17.5, 0.68, 1), (6.3, 0.63, 2), (30, 0.83, 3)]:
        panels[0].text(x, y, f"{seed}", color=COLOURS["key"], weight="bold")
    panels[1].text(20, 0.52, "a coin flip", ha="center")
    panels[0].set_ylabel("share right")
    show(
        figure,
        alt="Two panels, the share of right verdicts of eight readers against 0 to 40 added columns of padding. Mask off: five "
        "stay above 0.97, reader 3 falls to 0.88, readers 1 and 2 to 0.50. Mask on: all eight stay flat near 1.",
    )
