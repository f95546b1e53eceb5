"""The pairs are those of the record, each bug's own; what is guessed is counted, and nothing is told before."""

import re

from transformer_lib.teaching import record
from transformer_lib.teaching.bugs import BUGS
from transformer_lib.teaching.figures import live

RUNS = {run["bug"]: run for run in record("bug_museum")["numbers"] if run["seed"] == 0}
SHOWN = [bug for bug in BUGS if RUNS[bug.name]["losses"] != RUNS["none"]["losses"]]


def test_every_pair_is_the_record_and_tells_only_when_asked(touch):
    figure = live.which_run()
    seen = touch(figure)
    button = {name: seen.figure.get_by_role("button", name=name) for name in ("A is broken", "B is broken", "next pair")}
    said = seen.figure.locator(".tl-says")
    found = 0
    for number, (bug, pair) in enumerate(zip(SHOWN, figure.data["pairs"], strict=True), start=1):
        before = seen.figure.locator(".tl-stage").inner_text() + said.inner_text()
        assert bug.name not in before and bug.what not in before
        assert said.inner_text().startswith(f"Pair {number} of {len(SHOWN)}.") and button["next pair"].is_disabled()
        ends = dict(re.findall(r"\b(A|B)(?: ends)? at ([\d.]+)", seen.figure.locator("svg").get_attribute("aria-label")))
        wanted = {name: RUNS[bug.name if name == pair["broken"] else "none"] for name in "AB"}
        assert ends == {name: f"{run['losses'][-1]:.2f}" for name, run in wanted.items()}
        guess = "AB"[number % 2]
        button[f"{guess} is broken"].press("Enter")
        text = said.inner_text()
        found += guess == pair["broken"]
        assert text.startswith("Yes" if guess == pair["broken"] else "No")
        assert f"{pair['broken']} is broken, {bug.what} ({bug.name})." in text and bug.gives_away in text
        for name, run in wanted.items():
            assert f"{name} copies {100 * run['copied']:.0f} %" in text
        assert f"So far {found} of {number} right" in text
        if number < len(SHOWN):
            button["next pair"].press("Enter")
