"""Two runs of chapter 18, one of them with a bug: guess which one is broken, then see what it was."""

from transformer_lib._language import _
from transformer_lib.teaching.bugs import BUGS
from transformer_lib.teaching.figures.live.figure import LiveFigure
from transformer_lib.teaching.record import record

_SEED = 0
# Which run has the bug, in the order of the bugs; the first pair is the one that the chapter trains.
_BROKEN = "BABAABBABAABB"
_HIGHEST = 3.0  # what lies above is drawn on the upper edge


def which_run() -> LiveFigure:
    """Return pairs of recorded runs, a right one and one with a bug: from their curves, which one is broken?"""
    made = record("bug_museum")
    runs = {run["bug"]: run for run in made["numbers"] if run["seed"] == _SEED}
    bugs = [bug for bug in BUGS if runs[bug.name]["losses"] != runs["none"]["losses"]]
    numbers = lambda name: {key: runs[name][key] for key in ("losses", "copied")}
    pairs = [
        {"bug": bug.name, "what": bug.what, "gives_away": bug.gives_away, "broken": broken, **numbers(bug.name)}
        for bug, broken in zip(bugs, _BROKEN, strict=True)
    ]
    right = numbers("none")

    def curve(losses: list[float], role: str, name: str) -> str:
        points = " ".join(f"{30 + 10 * place},{200 - 55 * min(loss, _HIGHEST):.1f}" for place, loss in enumerate(losses))
        line = f'<polyline points="{points}" fill="none" stroke="var(--tl-{role})" stroke-width="2"/>'
        x, y = points.rpartition(" ")[2].split(",")
        return f'{line}<text x="{int(x) + 5}" y="{float(y) + (-2 if role == "query" else 12):.1f}">{name}</text>'

    loss, label, steps = _("training loss"), _("Two falling curves"), _("{steps} steps", steps=made["settings"]["steps"])
    still = (
        f'<svg viewBox="0 0 290 220" style="max-width:28rem" role="img" aria-label="{label}">'
        + curve(right["losses"], "query", "A")
        + curve(pairs[0]["losses"], "key", "B")
        + f'<text x="0" y="14">{loss}</text><text x="0" y="39">3</text><text x="0" y="204">0</text>'
        + '<text x="260" y="218" text-anchor="end" class="tl-quiet">'
        f"{steps}</text></svg>"
    )
    return LiveFigure(
        "which_run",
        title=_("Which run is broken? Say it before you see it"),
        still=still,
        says=_("Two training losses; in A or in B a line is wrong."),
        data={
            "right": right,
            "pairs": pairs,
            "highest": _HIGHEST,
            "every": made["settings"]["steps_together"],
            "others": len(BUGS) - len(bugs),
        },
    )
