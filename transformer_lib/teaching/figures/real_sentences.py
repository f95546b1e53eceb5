"""The figures of chapter 16, Real sentences."""

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from transformer_lib.schedule import noam_rate
from transformer_lib.teaching import record
from transformer_lib.teaching.figures import COLOURS, arrow, card, heatmap, sheet, show, subplots, text

Run = list[dict[str, float]]
NAMES = {"rate": "rate {}", "warmup": "warm-up {:,}", "epochs": "\n{} epochs", "max_tokens": "batches of {}"}


def _runs(change: dict[str, Any]) -> list[Run]:
    """Return what was measured in the runs with this change, one for each seed."""
    causes = record("multi30k_causes")
    name = next(name for name, changed in causes["settings"]["changes"].items() if changed == change)
    return causes["numbers"][name]


def _all_losses(change: dict[str, Any]) -> str:
    return "; and ".join(", ".join(f"{point['loss']:.1f}" for point in run) for run in _runs(change))


def _gap(point: dict[str, float]) -> float:
    return point["loss of other sources"] - point["loss"]


def _line(axes: Axes, run: Run, what: str, role: str, **look: Any) -> None:
    sentences, losses = [[point[key] for point in run] for key in ("sentences", what)]
    axes.plot([count / 1000 for count in sentences], losses, color=COLOURS[role], **{"marker": "o"} | look)


def two_runs() -> None:
    """Draw the held-out losses of the first run and of one with one setting changed."""
    figure, panels = subplots(columns=2, width=7.2, height=3.7, share_y=True)
    for axes, (title, change) in zip(panels, {"the first run": {}, "one setting changed": {"pre_norm": True}}.items()):
        for run, style in zip(_runs(change), ("-", "--")):
            _line(axes, run, "loss", "query", linestyle=style)
        axes.axhline(math.log(5000), color=COLOURS["muted"], linewidth=1, zorder=0)
        axes.set(title=title, xlabel="thousand captions seen", xlim=(0, 61), ylim=(0, 9.5))
    panels[0].text(3, 7.5, "knows nothing", color=COLOURS["muted"])
    panels[0].set_ylabel("held-out loss")
    panels[1].text(30, 3.3, "two seeds", color=COLOURS["query"])
    figure.suptitle("The same captions, the same 684 steps", weight="bold")
    show(
        figure,
        alt="Held-out losses of two seeds against the captions seen, up to 58 thousand. A line at 8.5 marks a model that knows "
        f"nothing. Left, the first run: its losses are {_all_losses({})}. Right, with one setting changed: "
        f"{_all_losses({'pre_norm': True})}.",
    )


def exchange() -> None:
    """Draw four French captions beside their own English ones, and beside those of the sentence before."""
    with sheet(
        7.2,
        3.9,
        "Above, four French captions below their own English ones, a line from each to each. Below, the same French captions "
        "with the English ones moved on by one: the dog's stands above the girl's French, and the last one above the first.",
    ) as axes:
        nouns = [("black dog", "chien noir"), ("little girl", "petite fille"), ("two women", "deux femmes")]
        nouns.append(("old man", "vieil homme"))
        for moved, top, title in ((0, 0.45, "its own source"), (1, 2.45, "moved on by one: another's source")):
            text(axes, 3.6, top - 0.22, title, weight="bold")
            for place in range(4):
                x = 0.15 + 1.76 * place
                card(axes, x, top, 1.62, 0.42, "key", nouns[place - moved][0], 0.3 if moved else 0.1)
                arrow(axes, (x + 0.81, top + 0.46), (x + 0.81, top + 0.75), "key" if moved else "muted")
                card(axes, x, top + 0.79, 1.62, 0.42, "query", nouns[place][1])


def sixteen_losses(table: Sequence[Sequence[float]]) -> None:
    """Draw the loss of each French caption with each English one."""
    figure, axes = subplots(width=7.2, height=4.2)
    heatmap(
        axes,
        table,
        title="Only with its own source is a sentence cheap",
        x_label="the English that it is given",
        y_label="the French to write",
        x_ticks=["dog", "girl", "women", "man"],
        y_ticks=["chien", "fille", "femmes", "homme"],
        write_values=True,
    )
    show(
        figure,
        alt="Sixteen losses: four French captions, each with four English sources. On the diagonal, where a caption has its "
        "own source, they are near 0.1. All others lie between 4 and 8.",
    )


def own_and_other() -> None:
    """Draw the two losses of the first run, a panel for each seed; the area between them is the gap."""
    figure, panels = subplots(columns=2, width=7.2, height=3.7, share_y=True)
    for seed, (axes, run) in enumerate(zip(panels, _runs({}))):
        _line(axes, run, "loss of other sources", "key", label="another's source", linestyle="--")
        _line(axes, run, "loss", "query", label="its own source")
        x = [point["sentences"] / 1000 for point in run]
        own, other = ([point[key] for point in run] for key in ("loss", "loss of other sources"))
        axes.fill_between(x, own, other, color=COLOURS["mask"], alpha=0.2)
        for place in (0, -1):
            gap = f"gap {_gap(run[place]):.2f}"
            high = place == 0 and own[1] < own[0]  # where the line does not go
            y, side = (other[0] + 0.12 if high else own[place] - 0.3), ("right" if place else "left")
            axes.text(x[place], y, gap, ha=side, color=COLOURS["ink"])
        axes.set(title=f"seed {seed}", xlabel="thousand captions seen", xlim=(0, 62), ylim=(4, 6.9))
    panels[0].set_ylabel("held-out loss")
    panels[0].legend(frameon=False, loc="upper left")
    figure.suptitle("The first run: the source makes hardly a difference", weight="bold")
    show(
        figure,
        alt="Two panels, one for each seed, with the loss for the own source and for another's. The gap after half an epoch, "
        f"and at the end: {'; '.join(f'{_gap(run[0]):.2f}, {_gap(run[-1]):.2f}' for run in _runs({}))}.",
    )


def _named(change: dict[str, Any]) -> str:
    words = {"pre_norm": "pre-norm", "by_length": "random order"}
    named = ", ".join(words.get(key) or NAMES[key].format(value) for key, value in change.items())
    return named.strip() or "the first run"


def all_runs() -> None:
    """Draw the two losses at the end of all runs of the record, the one that reads best at the top."""
    changes = sorted(record("multi30k_causes")["settings"]["changes"].values(), key=lambda change: -_gap(_runs(change)[0][-1]))
    figure, axes = subplots(width=7.2, height=5.4)
    for row, change in enumerate(changes):
        for seed, run in enumerate(_runs(change)):
            own, other, y = run[-1]["loss"], run[-1]["loss of other sources"], row + 0.3 * seed - 0.15
            axes.plot([own, other], [y, y], color=COLOURS["mask"], alpha=0.5, linewidth=5, solid_capstyle="butt")
            axes.plot(own, y, "o", markersize=9, color=COLOURS["query"])
            axes.plot(other, y, "s", markersize=5, color=COLOURS["key"])
    axes.set_yticks(range(len(changes)), [_named(change) for change in changes])
    axes.set(xlabel="held-out loss at the end, two seeds", ylim=(len(changes) - 0.4, -0.6))
    axes.tick_params(axis="y", length=0)
    figure.suptitle("Own source ●, another's ■: the bar between is the gap", weight="bold")
    show(
        figure,
        alt="Ten runs, two seeds each: bars from the loss with the own source to that with another's. The gaps, from the top: "
        + "; ".join(
            f"{_named(change).strip()} {' and '.join(f'{_gap(run[-1]):.2f}' for run in _runs(change))}" for change in changes
        ),
    )


def cool_down() -> None:
    """Draw the rate and the held-out loss of the run that made the translator of captions."""
    numbers = record("multi30k")["numbers"]
    made = numbers["tries"][numbers["best"]]
    given = made["settings"]
    steps, cooldown = made["steps"], given["cooldown"]
    figure, (left, right) = subplots(columns=2, width=7.2, height=3.5)
    at = range(100, steps + 1, 100)
    rates = [
        given["learning_rate"] * noam_rate(step, given["d_model"], given["warmup"]) * min(1, (steps - step) / cooldown)
        for step in at
    ]
    left.plot([step / 1000 for step in at], [1000 * rate for rate in rates], color=COLOURS["query"])
    left.set(title="rate, in thousandths", xlabel="thousand steps", ylim=(0, None))
    losses = {int(step): loss for step, loss in made["validation_losses"].items()}
    right.plot([step / 1000 for step in losses], list(losses.values()), color=COLOURS["query"])
    right.set(title="held-out loss", xlabel="thousand steps", ylim=(0.9, 2.6))
    for axes in (left, right):
        axes.axvspan((steps - cooldown) / 1000, steps / 1000, color=COLOURS["key"], alpha=0.15)
        axes.set_xlim(0, steps / 1000)
    start = losses[steps - cooldown]
    right.text(63, 1.75, f"cool-down:\n{start:.2f} to {losses[steps]:.2f}", color=COLOURS["ink"], ha="right")
    figure.suptitle("The translator: 64,000 steps, the last third cooling down", weight="bold")
    show(
        figure,
        alt=f"Left, the learning rate: it climbs for 4,000 steps to 0.0021, falls slowly, and in the last 22,000 steps to 0. "
        f"Right, the held-out loss: it falls steeply at first, is {start:.2f} at step 42,000, {losses[steps]:.2f} at the end.",
    )


def token_losses(tokens: Sequence[str], losses: dict[str, Sequence[float]]) -> None:
    """Draw the loss of each token, a bar for each source."""
    figure, axes = subplots(width=7.2, height=4.1)
    for side, ((source, of_tokens), role) in enumerate(zip(losses.items(), ("query", "key"))):
        places = [place + 0.38 * side for place in range(len(tokens))]
        axes.bar(places, of_tokens, width=0.36, color=COLOURS[role], label=source, hatch="//" if side else None, ec="white")
    axes.set_xticks([place + 0.19 for place in range(len(tokens))], tokens)
    axes.legend(frameon=False, loc="upper left", title="source")
    axes.set(title="With “not”, “ne” costs 8 less; “pas” stays dear", ylabel="loss of the token", ylim=(0, 17.5))
    show(
        figure,
        alt="Two bars for each token of: Le chat ne dort pas. With not in the source, ne costs about 3 nats, without it about "
        "11. With both sources pas costs 8 to 9 nats.",
    )


def long_race() -> None:
    """Draw the held-out losses of the long runs against their steps, each with the BLEU of its end."""
    race, shipped = record("multi30k_race")["numbers"], record("multi30k")["numbers"]
    losses = shipped["tries"][shipped["best"]]["validation_losses"]
    curve = [{"step": int(step), "loss": loss} for step, loss in losses.items()]
    last = {"kind": "the translator", "steps": 64_000, "seed": 0, "curve": curve, "bleu": race["translator"]}
    looks = {"GRU": ("muted", ":"), "GRU with attention": ("key", "--"), "Transformer, rotary": ("value", "-.")}
    figure, axes = subplots(width=7.2, height=4.4)
    # Where the BLEU of a run's end stands, in points: of most second seeds nowhere.
    places = {
        ("GRU", 12_000, 0): (24, 4),
        ("GRU with attention", 12_000, 0): (-46, -16),
        ("GRU with attention", 20_000, 0): (10, 16),
        ("Transformer", 12_000, 0): (24, 8),
        ("Transformer", 12_000, 1): (24, 0),
        ("Transformer, rotary", 12_000, 0): (-5, -16),
        ("Transformer, rotary", 20_000, 0): (0, -16),
        ("the translator", 64_000, 0): (0, -16),
    }
    for run in (*race["runs"], last):
        role, style = looks.get(run["kind"], ("query", "-"))
        steps, loss = [[point[what] / unit for point in run["curve"]] for what, unit in (("step", 1000), ("loss", 1))]
        thin = run["seed"] == 1 or run["kind"] == "the translator"
        axes.plot(steps, loss, style, color=COLOURS[role], linewidth=1 if thin else None)
        if place := places.get((run["kind"], run["steps"], run["seed"])):
            axes.plot(steps[-1], loss[-1], "o", color=COLOURS[role])
            given = {
                "xy": (steps[-1], loss[-1]),
                "xytext": place,
                "textcoords": "offset points",
                "ha": "center",
                "va": "center",
            }
            axes.annotate(f"{run['bleu']:.1f}", **given, color=COLOURS[role])
    for x, y, role, name in (
        (6.5, 2.0, "muted", "GRU"),
        (1.05, 1.33, "key", "GRU with attention"),
        (7, 2.55, "query", "hands, second seed"),
        (8.3, 1.6, "query", "Transformer, hands"),
        (2.1, 2.05, "value", "rotary"),
        (32, 1.24, "query", "the translator"),
    ):
        axes.text(x, y, name, color=COLOURS[role])
    axes.set_xscale("log")
    ticks = (1, 2, 5, 10, 20, 50)
    axes.set_xticks(ticks, list(map(str, ticks)))
    axes.minorticks_off()
    axes.set(
        xlabel="thousand steps of about 965 tokens, on a logarithmic axis",
        ylabel="held-out loss",
        ylim=(0.85, 2.8),
        xlim=(1, 90),
    )
    figure.suptitle("After 12,000 steps rotary has passed the GRU", weight="bold")
    show(
        figure,
        alt="Held-out losses against steps. The GRU with attention falls first, and is lowest up to about 10,000. At 12,000, "
        "where most runs end, rotary is lowest, then the GRU with attention, then hands; far above lie the GRU and the second "
        "seed of hands. Thin lines are second seeds. The BLEU of the ends: "
        + "; ".join(
            f"{run['kind']} after {run['steps']:,} steps, seed {run['seed']}, {run['bleu']:.1f}"
            for run in (*race["runs"], last)
        )
        + ".",
    )
