"""The drawings of chapter 3: from text to a rectangle, and what padding does to a state."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Rectangle
from torch import Tensor

from transformer_lib.teaching.figures import COLOURS, arrow, block, card, frame, sheet, show, subplots, text
from transformer_lib.teaching.figures.sheet import number, tint
from transformer_lib.teaching.record import record

WORD, PADDING = "query", "muted"


def _ids(axes: Axes, x: float, y: float, tokens: Sequence[Sequence[int]], cell: float, high: float, name: str) -> None:
    """Draw a rectangle of ids, each 0 hatched as padding."""
    right, bottom = block(axes, x, y, tokens, WORD, name=name, strength=0.14, cell=cell, high=high, shape=False)
    look = {"fc": tint(PADDING, 0.15), "ec": tint(PADDING, 0.6), "hatch": "////", "lw": 0}
    for row, column in np.argwhere(np.asarray(tokens) == 0):
        place = (x + column * cell, y + row * high)
        axes.add_patch(Rectangle(place, cell, high, **look))
        text(axes, place[0] + cell / 2, place[1] + high / 2, "0", "black", weight="bold")
    frame(axes, x, y, right - x, bottom - y, WORD)


def text_to_logits() -> None:
    """Draw the whole chapter: three reviews as texts, words, ids and scores."""
    reviews = {"Not good!": "not good", "Good, good film<br />": "good good film", "A film.": "a film"}
    alt = (
        "Three reviews, from left to right: as texts; as two, three and two words; as a rectangle of three rows and three "
        "columns of ids, in which two hatched squares hold 0, the padding; and one score for each row."
    )
    with sheet(7.2, 2.15, alt) as axes:
        text(axes, 3.6, 0.17, "Ragged text becomes a rectangle", weight="bold")
        for x, name in [(0.95, "texts"), (3.6, "words")]:
            text(axes, x, 0.54, name, "muted", weight="bold")
        for row, (written, words) in enumerate(reviews.items()):
            y = 0.7 + 0.38 * row
            text(axes, 0.05, y + 0.19, written, ha="left")
            for column, word in enumerate(words.split()):
                card(axes, 2.65 + 0.65 * column, y + 0.03, 0.61, 0.32, WORD, word, fill=0.16)
        _ids(axes, 5.0, 0.7, [[3, 1, 0], [1, 1, 2], [4, 2, 0]], 0.36, 0.38, "ids")
        block(axes, 6.56, 0.7, [[-1], [2], [-1]], "ink", name="score", strength=0, cell=0.56, high=0.38, shape=False)
        for start, end in [(2.34, 2.6), (4.64, 4.94), (6.14, 6.5)]:
            arrow(axes, (start, 1.27), (end, 1.27))
        for x, step in [(0.95, "hatched: padding"), (3.6, "normalise, split"), (5.54, "give ids, pad"), (6.84, "read")]:
            text(axes, x, 2.02, step, "muted")


def numbering(words: Sequence[str]) -> None:
    """Draw the ids of four words, and of two buckets."""
    entries = ["<pad>", *words, "oov 0", "oov 1"]
    alt = "One row of seven ids: 0 is padding, 1 to 4 are good, film, not and a, 5 and 6 are buckets for unknown words."
    with sheet(7.2, 1.1, alt) as axes:
        text(axes, 3.6, 0.16, "Padding first, then the words, then the buckets", weight="bold")
        look = {"label": lambda i, j, value: entries[j], "shape": False, "strength": 0.16, "columns": "0123456"}
        colours = [PADDING, *[WORD] * len(words), "key", "key"]
        block(axes, 0.38, 0.62, np.zeros((1, 7)), PADDING, cell=0.92, high=0.4, colour_of=lambda i, j: colours[j], **look)


def batches(as_they_come: Sequence[Tensor], similar: Sequence[Tensor]) -> None:
    """Draw all batches of the same reviews, put together in two ways, one review a line, and their shares of padding."""
    figure, panels = subplots(columns=2, width=7.2, height=3.2, share_y=True)
    widest = max(tokens.size(1) for tokens in as_they_come)
    colours = ListedColormap(["white", tint(WORD, 0.55), tint(PADDING, 0.35)])
    shares = []
    for axes, made, name in zip(panels, (as_they_come, similar), ("as they come", "similar lengths"), strict=True):
        picture = np.concatenate([np.pad(np.where(t.numpy() > 0, 1, 2), ((0, 0), (0, widest - t.size(1)))) for t in made])
        axes.imshow(picture, cmap=colours, aspect="auto", interpolation="nearest", vmin=0, vmax=2)
        shares.append((picture == 2).sum() / (picture > 0).sum())
        axes.set(title=f"{name}:\n{100 * shares[-1]:.0f} % padding", xlabel="column")
    panels[0].text(4.5, len(picture) / 2, "words", ha="center", va="center")
    panels[1].text(widest - 1, len(picture) * 0.12, "grey: padding", ha="right", va="center")
    panels[0].set(ylabel="review", yticks=[])
    assert shares[0] > 0.25 and shares[1] < 0.05
    show(
        figure,
        alt=f"All reviews as lines, words in blue, padding in grey. In batches as they come, a ragged edge and "
        f"{100 * shares[0]:.0f} percent padding. In batches of similar length, a smooth edge and hardly any.",
    )


def look_up(tokens: Tensor, table: Tensor, names: Sequence[str]) -> None:
    """Draw how each id fetches its row of the embedding's table: two axes become three."""
    alt = (
        "The ids, 3 by 3, and the table, 5 by 2: praise and blame for each id. Good has 4 and 0, not has 0 and 8, all others "
        "zero. Each id is replaced by its row: three blocks of 3 by 2, one for each review."
    )
    with sheet(7.2, 2.6, alt) as axes:
        text(axes, 3.6, 0.16, "Each id fetches its row: (3, 3) becomes (3, 3, 2)", weight="bold")
        look = {"high": 0.27, "strength": lambda i, j, value: 0.08 + 0.05 * value}
        _ids(axes, 0.1, 0.9, tokens, 0.32, 0.27, "ids")
        text(axes, 0.58, 1.86, "3 × 3", "muted")
        names = [f"{i} {name}" for i, name in enumerate(names)]
        named = {"rows": names, "columns": ["praise", "blame"], "learned": True}
        block(axes, 2.26, 0.9, table, "encoder", name="table", cell=0.64, **named, **look)
        for start in (1.12, 3.6):
            arrow(axes, (start, 1.31), (start + 0.26, 1.31))
        for review, vectors in enumerate(table[tokens]):
            block(axes, 3.95 + 1.1 * review, 0.9, vectors, "encoder", name=f"review {review + 1}", cell=0.42, **look)


def states() -> None:
    """Draw how much praise the small reader remembers of *good good film* and padding, without a mask and with one."""
    alt = (
        "What the reader remembers of good good film and then padding. Mask off: 4, 6, 3, then 1.5 and 0.75, so the logit is "
        "−0.25. Mask on: 4, 6, 3, and then 3 and 3, so the logit is 2."
    )
    with sheet(7.2, 2.2, alt) as axes:
        text(axes, 3.6, 0.16, "Padding adds nothing, and yet the memory fades", weight="bold")
        text(axes, 6.72, 0.64, "logit", "muted")
        words = ["good", "good", "film", "<pad>", "<pad>"]
        for y, name, praise, colour in [
            (0.78, "mask off", (4, 6, 3, 1.5, 0.75), "key"),
            (1.36, "mask on", (4, 6, 3, 3, 3), "value"),
        ]:
            text(axes, 0.08, y + 0.23, name, colour, ha="left", weight="bold")
            block(axes, 1.36, y, praise, colour, columns=words, cell=0.95, high=0.46, shape=False)
            words = ()  # over the first row only
            arrow(axes, (6.16, y + 0.23), (6.42, y + 0.23))
            text(axes, 6.48, y + 0.23, number(praise[-1] - 1), colour, ha="left", weight="bold")
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
