"""Chapter 14's training, stopped again and again: its loss, what it writes, and where it looks, at the stop one chooses."""

import html

from transformer_lib._language import _
from transformer_lib.teaching.figures.live.figure import LiveFigure
from transformer_lib.teaching.record import record

_SHOWN = (0, 100, 300, 1000)  # the stops of the table for where no script runs
_LONGEST = 60  # letters of what is written: the first stops write one word again and again
_WATCHED = "▁blanche"


def training_replay() -> LiveFigure:
    """Return the recorded training of chapter 14's translator, with a slider over its stops."""
    numbers = record("translation_progress")["numbers"]
    stops = [stop | {"written": [_shortened(text) for text in stop["written"]]} for stop in numbers["stops"]]
    sentences = numbers["sentences"]
    by_step = {stop["step"]: stop for stop in stops}
    rows = ""
    for number, (english, french) in enumerate(sentences.items()):
        rows += f'<tr><th scope="colgroup" colspan="2" style="text-align:left">{english}</th></tr>'
        for step in _SHOWN:
            written = by_step[step]["written"][number]
            text = f"<strong>{html.escape(written)} ✓</strong>" if written == french else html.escape(written)
            rows += f'<tr><th scope="row">{step}</th><td lang="fr" style="text-align:left">{text}</td></tr>'
    last = stops[-1]
    return LiveFigure(
        "training_replay",
        title=_("A thousand steps, stopped wherever you like"),
        still=f'<table style="overflow-wrap:normal"><tbody>{rows}</tbody></table>',
        says=_(
            "What it writes after {steps} and {last} steps (✓: right). "
            "At the end the loss is {loss}, and {right} of 100 new sentences are right.",
            **{"steps": ", ".join(map(str, _SHOWN[:-1])), "last": _SHOWN[-1]},
            **{"loss": f"{last['loss']:.2f}", "right": last["right"]},
        ),
        data={
            "sentences": list(sentences.items()),
            "source": [token.removeprefix("▁") for token in numbers["source"]],
            "target": [token.removeprefix("▁") for token in numbers["target"]],
            "stops": stops,
            "watched": numbers["target"].index(_WATCHED),
        },
    )


def _shortened(text: str) -> str:
    """Return `text`, cut after a word where it is longer than `_LONGEST` letters."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST + 1].rpartition(' ')[0]} …"
