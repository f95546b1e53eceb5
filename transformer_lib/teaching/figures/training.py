"""The drawings of chapter 12: the loop, the shift, what is counted, smoothing, batches as rectangles, curves."""

import math
from collections.abc import Callable, Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from transformer_lib.seq2seq import PAD_ID
from transformer_lib.teaching.figures.plots import COLOURS, show, subplots
from transformer_lib.teaching.figures.sheet import arrow, block, card, sheet, text

GREY = "#c9ced6"
LENGTHS = [16, 8, 16, 10, 12, 5, 9, 11, 15, 3, 2, 13, 2, 15, 16, 3, 13, 12, 5, 10, 4, 6, 10, 10]
LENGTHS += [7, 9, 12, 15, 12, 5, 11, 8, 2, 5, 14, 8, 13, 6, 16, 10, 14, 2, 3, 6, 4, 15, 16, 16]
SAME = {"je": "#fbe3ae", "suis": "#cdeacb", "étudiant": "#f6cfcf", "merci": "#d5e4f7"}


def the_loop() -> None:
    """Draw the five parts of a training step as a ring."""
    alt = (
        "Five boxes in a ring. Batch: sentence pairs as ids. Model: a score for each word. Loss: how wrong the scores are. "
        "Backward: zero_grad, then new gradients. Step: each weight moves a little. And back to the next batch."
    )
    with sheet(7.2, 2.75, alt) as axes:
        text(axes, 3.6, 0.22, "One step of training, and then the next", weight="bold")
        boxes = [
            (0.15, 0.6, "encoder", "batch", "sentence pairs\nas ids"),
            (2.65, 0.6, "query", "model", "a score for\neach word"),
            (5.15, 0.6, "key", "loss", "how wrong\nthe scores are"),
            (5.15, 1.8, "value", "backward", "zero_grad, then\nnew gradients"),
            (2.65, 1.8, "residual", "step", "each weight\nmoves a little"),
        ]
        for x, y, colour, name, words in boxes:
            card(axes, x, y, 1.9, 0.85, colour)
            text(axes, x + 0.95, y + 0.17, name, colour, weight="bold")
            text(axes, x + 0.95, y + 0.53, words)
        arrow(axes, (2.08, 1.02), (2.62, 1.02))
        arrow(axes, (4.58, 1.02), (5.12, 1.02))
        arrow(axes, (6.1, 1.47), (6.1, 1.78))
        arrow(axes, (5.12, 2.22), (4.58, 2.22))
        arrow(axes, (2.62, 2.22), (1.1, 1.5), bend=-0.35)
        text(axes, 0.95, 2.3, "next batch", "muted")


def _row_of_words(axes: Axes, x: float, y: float, words: Sequence[str], cell: float, edge: str) -> None:
    for place, word in enumerate(words):
        empty = word == "<pad>"
        fill = GREY if empty else SAME.get(word, "white")
        look = {"ec": COLOURS[edge], "fc": fill, "lw": 1.5}
        axes.add_patch(Rectangle((x + place * cell, y), cell - 0.05, 0.36, **look))
        text(axes, x + place * cell + cell / 2 - 0.02, y + 0.18, "" if empty else word, "black")


def three_rectangles(words: Sequence[str], source: Tensor, target_in: Tensor, target_out: Tensor) -> None:
    """Draw the three tensors of a batch as words; padding is grey."""
    alt = (
        "Three rectangles of two rows and four places. Source: I am a student; thanks and three grey places. Target in: sos je "
        "suis étudiant; sos merci eos and a grey place. Target out: je suis étudiant eos; merci eos and two grey places. The "
        "same words have the same colour, and stand one place further left in target out."
    )
    with sheet(7.2, 3.5, alt) as axes:
        text(axes, 3.6, 0.2, "Two pairs, three rectangles. Grey: padding", weight="bold")
        rows = [
            ("source:", "the encoder reads", source, "encoder"),
            ("target_in:", "the decoder reads", target_in, "key"),
            ("target_out:", "it must say", target_out, "query"),
        ]
        for number, (name, says, ids, edge) in enumerate(rows):
            top = 0.48 + 1.0 * number
            text(axes, 0.1, top + 0.22, name, edge, ha="left", weight="bold")
            text(axes, 0.1, top + 0.52, says, ha="left")
            for row, tokens in enumerate(ids.tolist()):
                _row_of_words(axes, 2.3, top + 0.41 * row, [words[token] for token in tokens], 1.2, edge)


def three_means(words: Sequence[str], target_out: Tensor, losses: Tensor) -> None:
    """Draw the losses of six tokens at eight places, and three ways to take their mean."""
    alt = (
        "Losses as a rectangle of two rows. je 0.5, suis 0.2, étudiant 0.4, eos 0.1, sum 1.2; merci 1, eos 0.8, two grey "
        "places with 0, sum 1.8. Over 8 places: 0.375. The mean of 0.3 and 0.9: 0.6. Over 6 tokens: 0.5."
    )
    with sheet(7.2, 2.35, alt) as axes:
        text(axes, 3.6, 0.2, "The same losses, three means", weight="bold")
        for tokens, values, y in zip(target_out.tolist(), losses.tolist(), [0.78, 1.7], strict=True):
            names = ["" if token == PAD_ID else words[token] for token in tokens]
            look = {
                "colour_of": lambda _, j, names=names: "query" if names[j] else GREY,
                "strength": lambda _, j, value, names=names: 0.1 + 0.4 * value if names[j] else 1,
            }
            block(axes, 0.1, y, values, "muted", cell=0.93, high=0.4, columns=names, shape=False, **look)
            text(axes, 3.95, y + 0.2, f"sum {sum(values):.1f}", ha="left")
        rows = [
            ("8 places:", "3 / 8 = 0.375", "mask"),
            ("mean of means:", "(0.3 + 0.9) / 2 = 0.6", "mask"),
            ("6 tokens:", "3 / 6 = 0.5", "query"),
        ]
        for number, (name, says, colour) in enumerate(rows):
            text(axes, 5.05, 0.56 + 0.6 * number, name, colour, ha="left", weight="bold")
            text(axes, 5.05, 0.82 + 0.6 * number, says, ha="left")


def three_ways_to_count(found: dict[str, dict]) -> None:
    """Draw the losses of padding and words in the loop that counts places, and the exams of all three."""
    figure, (left, right) = subplots(columns=2, width=7.2, height=3.9, share_y=True)
    tens = torch.tensor(found["places"]["parts"]).unfold(0, 10, 10).mean(dim=-1)
    steps = range(10, 201, 10)
    for part, role, line, name, at in [(1, "key", "-", "words", (90, 3.3)), (0, "muted", "--", "padding", (60, 0.3))]:
        left.plot(steps, tens[:, part], line, color=COLOURS[role])
        left.text(*at, name, color=COLOURS[role])
    left.set(title="Inside “counts places”", xlabel="step", ylabel="loss", ylim=(0, 6))
    for (counted, losses), role, line in zip(found.items(), ["key", "query", "ink"], ["-", "-", ":"], strict=True):
        right.plot(steps, losses["curve"].values(), line, color=COLOURS[role], label=counted.replace(", divided", ",\ndivided"))
    right.set(title="The exam: new sentences", xlabel="step")
    right.legend(title="counts", loc="upper right", frameon=False)
    alt = (
        "Left, the loop that counts places: the loss of the padding is nearly 0 after 30 steps, words fall slowly. "
        "Right, the exam: the loop that counts places stays above the one that counts tokens, and comes nearer late. The "
        "control, tokens divided by places, lies on the line of the loop that counts tokens."
    )
    show(figure, alt=alt)


def smoothing(smoothed_loss: Callable) -> None:
    """Draw the smoothed target of five words, and plain and smoothed loss against the lead of the right word."""
    figure, (left, right) = subplots(columns=2, width=7.2, height=3.8)
    shares = [0.02, 0.02, 0.02, 0.92, 0.02]
    left.bar(range(5), [0, 0, 0, 1, 0], color="none", edgecolor=COLOURS["muted"], ls="--")
    left.bar(range(5), shares, color=COLOURS["query"])
    for word, share in enumerate(shares):
        left.text(word, 0.8 if word == 3 else 0.05, f"{share}", ha="center", color="white" if word == 3 else "black")
    left.set(title="The target: 0.92, not 1", xlabel="word", ylim=(0, 1.1))
    leads = [0.05 * i for i in range(201)]
    for epsilon, style, role, name in [(0.0, "--", "muted", "plain"), (0.1, "-", "query", "smoothed")]:
        losses = [smoothed_loss(torch.tensor([0.0, 0, 0, lead, 0]), 3, epsilon).item() for lead in leads]
        right.plot(leads, losses, style, color=COLOURS[role], label=name)
    best, lowest = math.log(46), min(losses)
    assert round(lowest, 2) == 0.39
    right.plot([best], [lowest], "o", color=COLOURS["ink"])
    right.annotate("lead 3.83:\nloss 0.39", (best, lowest + 0.04), (best, 0.95), ha="center", arrowprops={"arrowstyle": "-"})
    right.set(title="Too much certainty costs", xlabel="lead of the right logit", ylabel="loss", ylim=(0, 1.8))
    right.legend(loc="upper right")
    alt = (
        "Left: the target gives 0.92 to the right one of five words and 0.02 to each other; dashed, the plain target with 1. "
        "Right: the plain loss falls towards 0 as the right logit leads by more; the smoothed loss is lowest, 0.39, at a lead "
        "of 3.83, and then rises."
    )
    show(figure, alt=alt)


def rectangles(groups_of: Callable) -> None:
    """Draw 48 sentences, as they come, sorted, and sorted with a budget of 128 places: rectangles of tokens and padding."""
    figure, axes = subplots(width=7.2, height=6.0)
    eights = [slice(start, start + 8) for start in range(0, 48, 8)]
    top = 3
    for title, groups in [
        ("As they come, 8 at a time", [LENGTHS[eight] for eight in eights]),
        ("Sorted, 8 at a time", [sorted(LENGTHS)[eight] for eight in eights]),
        ("Sorted, a budget of 128", groups_of(LENGTHS, budget=128)),
    ]:
        left, places = 0, sum(len(group) * max(group) for group in groups)
        for group in groups:
            axes.add_patch(Rectangle((left, top), max(group), len(group), fc=GREY, ec="none"))
            for row, length in enumerate(group):
                axes.add_patch(Rectangle((left, top + row), length, 1, fc=COLOURS["query"], ec="white", lw=0.8))
            left += max(group) + 2
        counts = f"{len(groups)} batches, {places} places, {1 - sum(LENGTHS) / places:.0%} padding"
        axes.text(0, top - 1, f"{title}: {counts}", weight="bold")
        top += max(map(len, groups)) + 4
    axes.set(xlim=(-0.5, 103), ylim=(top - 3, 0))
    axes.axis("off")
    alt = (
        "Above, six blocks of eight rows: bars of very different lengths, and much of each block is grey. Then the same bars "
        "sorted: the six blocks are narrow to wide, and little is grey. Below, five blocks: 17 short rows, to few long ones."
    )
    show(figure, alt=alt)


def curves(few: Sequence[tuple[float, float]], many: Sequence[tuple[float, float]]) -> None:
    """Draw the losses of training pairs and of new sentences, every 20 steps, of a run with few pairs and one with many."""
    figure, both = subplots(columns=2, width=7.2, height=3.9, share_y=True)
    for axes, title, run in zip(both, ["150 pairs", "3,000 pairs"], [few, many], strict=True):
        own, others = zip(*run, strict=True)
        axes.plot(range(20, 201, 20), own, "s--", color=COLOURS["decoder"], label="training pairs")
        axes.plot(range(20, 201, 20), others, "o-", color=COLOURS["query"], label="new sentences")
        axes.set(title=title, xlabel="step", ylim=(0, 5))
    both[0].set_ylabel("loss per token")
    both[1].legend(loc="upper right", frameon=False)
    alt = (
        "Two panels. With 150 pairs the loss of the training pairs falls almost to 0, while that of new sentences stays high. "
        "With 3,000 pairs both fall together."
    )
    show(figure, alt=alt)


def translations(rows: Sequence[tuple[str, str, str]]) -> None:
    """Draw held-out sentences, what the model writes, and what is right where it differs."""
    alt = "New English sentences with the French that the trained model writes, and the right French where it is another."
    wrong = sum(written != right for _, written, right in rows)
    with sheet(7.2, 0.45 + 0.62 * len(rows) + 0.27 * wrong, alt) as axes:
        text(axes, 3.6, 0.2, "New sentences; below a wrong answer stands the right one", weight="bold")
        y = 0.6
        for english, written, right in rows:
            good = written == right
            text(axes, 0.1, y, english, ha="left")
            text(axes, 0.35, y + 0.27, ("✓ " if good else "✗ ") + written, "value" if good else "key", ha="left")
            if not good:
                text(axes, 0.62, y + 0.54, right, "muted", ha="left")
            y += 0.62 + 0.27 * (not good)
