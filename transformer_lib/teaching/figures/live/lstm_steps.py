"""An LSTM of one number to step through: what it reads, its gates, its new memory c, and what it shows, h."""

import html
import math

from transformer_lib._language import _
from transformer_lib.teaching.figures.live.figure import LiveFigure

Rows = dict[str, list[float]]  # f, i, g, o, c and h, a number for each word
_PARTS = 4  # of a step: read, gates, c, h


def lstm_steps(words: list[str], runs: list[Rows], *, word: str) -> LiveFigure:
    """Return the `runs` of an LSTM over `words`, to choose and to step through; it opens in the first, at `word`."""
    runs = [{name: [round(value, 6) + 0.0 for value in values] for name, values in run.items()} for run in runs]
    at = words.index(word)
    now = {name: values[at] for name, values in runs[0].items()}
    kept, new = now["f"] * runs[0]["c"][at - 1], now["i"] * now["g"]
    return LiveFigure(
        "lstm_steps",
        title=_("An LSTM reads, one part of a step at a time"),
        still=_picture(words, runs[0], at, now | {"kept": kept, "new": new}),
        says=_(
            "At “{word}” f · c = {kept} stays, i · g = {new} is written, and the new c is {c}. "
            "Of tanh(c) = {tanh} the output gate shows h = {h}.",
            **{"word": word, "kept": f"{kept:.2f}", "new": _written(new)},
            **{"c": f"{now['c']:.2f}", "tanh": f"{math.tanh(now['c']):.2f}", "h": f"{now['h']:.2f}"},
        ),
        data={"words": words, "runs": runs, "at": _PARTS * at + 2},
        uses=("player",),
    )


def _written(value: float) -> str:
    return f"{round(value, 2) + 0.0:g}".replace("-", "−")


def _text(x: float, y: float, words: str, *, quiet: bool = False, weight: int = 600, anchor: str = "middle") -> str:
    look = 'class="tl-quiet"' if quiet else f'style="font-weight:{weight}"'
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" {look}>{words}</text>'


def _arrow(part: str, x1: float, y1: float, x2: float, y2: float) -> str:
    """Return an arrow that the script lights at `part`."""
    turn = math.degrees(math.atan2(y2 - y1, x2 - x1))
    return (
        f'<g data-part="{part}" style="color:var(--tl-line)" fill="currentColor" stroke="currentColor" stroke-width="2">'
        f'<path d="M{x1} {y1}L{x2} {y2}"/><path d="M0 0L-6 -3.5V3.5Z" transform="translate({x2} {y2}) rotate({turn:.0f})"/></g>'
    )


def _box(part: str, shape: str) -> str:
    look = 'fill="currentColor" fill-opacity=".12" stroke="currentColor" stroke-width="2"'
    return f'<{shape} data-part="{part}" style="color:var(--tl-line)" {look}/>'


def _picture(words: list[str], rows: Rows, at: int, now: dict[str, float]) -> str:
    """Return the wiring with the numbers of the word with index `at`, and c and h of all words up to it."""

    def slot(name: str, value: float | str) -> str:
        return f'<tspan data-name="{name}">{html.escape(value) if isinstance(value, str) else _written(value)}</tspan>'

    also = _(", and h = ")
    nodes = [_box("read", 'rect x="29" y="192" width="306" height="26" rx="5"')]
    nodes.append(_text(182, 210, f"{slot('word', f'“{words[at]}”')}{also}{slot('old h', rows['h'][at - 1])}"))
    gates = {"f": (58, _("keep")), "i": (143, _("write")), "g": (213, _("news")), "o": (306, _("show"))}
    for name, (x, does) in gates.items():
        later = "h" if name == "o" else "c"
        nodes += [_arrow("gates", x, 192, x, 162), _text(x + 7, 182, does, quiet=True, anchor="start")]
        nodes.append(_box(f"gates {later}", f'rect x="{x - 29}" y="134" width="58" height="26" rx="5"'))
        nodes.append(_text(x, 152, f"{name} {slot(name, now[name])}"))
    lines = {"c": [(8, 44, 46, 44), (68, 44, 166, 44), (188, 44, 352, 44), (58, 134, 58, 56), (147, 134, 170, 106)]}
    lines["c"] += [(209, 134, 186, 106), (178, 86, 178, 56)]
    lines["h"] = [(306, 44, 306, 84), (306, 134, 306, 108), (316, 96, 352, 96)]
    nodes += [_arrow(part, *line) for part, several in lines.items() for line in several]
    for part, x, y, sign in [("c", 58, 44, "×"), ("c", 178, 44, "+"), ("c", 178, 96, "×"), ("h", 306, 96, "×")]:
        nodes.append(f'<circle cx="{x}" cy="{y}" r="10" fill="var(--tl-surface)"/>')
        nodes += [_box(part, f'circle cx="{x}" cy="{y}" r="10"'), _text(x, y + 4.5, sign)]
    known = [("old c", 24, 28, rows["c"][at - 1]), ("kept", 118, 28, now["kept"]), ("new", 143, 76, now["new"])]
    known += [("c", 270, 28, now["c"]), ("h", 338, 118, now["h"])]
    nodes += [_text(x, y, slot(name, value)) for name, x, y, value in known]
    names = [(_("old c"), 24, 13), ("f · c", 118, 13), ("i · g", 143, 61), (_("new c"), 270, 13), ("tanh", 284, 70)]
    names += [("h", 338, 86)]
    nodes += [_text(x, y, name, quiet=True) for name, x, y in names]
    cell = 334 / len(words)
    for column, word in enumerate(words):
        nodes.append(_text(24 + cell * (column + 0.5), 244, html.escape(word), quiet=True))
    for name, top in (("c", 252), ("h", 282)):
        nodes.append(_text(10, top + 18, name))
        for column, value in enumerate(rows[name]):
            x, known = 24 + cell * column, column <= at
            place = f'x="{x + 1:.1f}" y="{top}" width="{cell - 2:.1f}" height="26" rx="4" stroke="var(--tl-line)"'
            colour = f'fill="var(--tl-{"query" if value < 0 else "key"})" fill-opacity="{abs(value) / 2 * known:.2f}"'
            shown = _text(x + cell / 2, top + 18, _written(value) if known else "", weight=400)
            nodes.append(f'<g data-row="{name}"><rect {place} {colour}/>{shown}</g>')
    word = html.escape(words[at])
    label = _("The wiring of an LSTM with its numbers at the word {word}, and below it c and h word by word", word=word)
    return f'<svg viewBox="0 0 360 310" style="max-width:36rem" role="img" aria-label="{label}">{"".join(nodes)}</svg>'
