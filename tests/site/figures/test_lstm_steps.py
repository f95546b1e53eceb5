"""What the figure steps through is chapter 2's LSTM by hand: its numbers, its sums, and the order of its parts."""

import ast
import math
import re
from types import SimpleNamespace

import pytest

from tools import notebooks
from transformer_lib.teaching.figures import live


def by_hand():
    """Return the figure that the page's own cells make, and its arguments: words and runs."""
    made = []
    stage = SimpleNamespace(word_by_word=lambda *_: None, lstm_steps=lambda *given, **more: made.append((given, more)))
    names = {"math": math, "draw": stage, "live": stage}
    for cell in notebooks.read(notebooks.ROOT / "notebooks" / "02_recurrent.ipynb").cells:
        if cell.id in ("one-neuron", "gates-by-hand", "wiring"):
            exec(compile(ast.parse(cell.source), cell.id, "exec"), names)
    [(given, more)] = made
    return live.lstm_steps(*given, **more), *given


def numbers(text):
    return [float(value) for value in re.findall(r"-?\d+(?:\.\d+)?", text.replace("−", "-"))]


@pytest.mark.parametrize("run", [0, 2])
def test_each_part_of_each_step_shows_the_cells_numbers(touch, run):
    figure, words, runs = by_hand()
    seen, wanted = touch(figure), runs[run]
    sums, slots = seen.figure.locator(".tl-sum"), seen.figure.locator("[data-name]")
    press = lambda name, within=seen.figure: within.get_by_role("button", name=name, exact=True).press("Enter")
    press(str(wanted["f"][0]), seen.figure.get_by_role("group", name="f when open"))
    press("cow", seen.figure.get_by_role("group", name="word"))
    for _ in range(6):  # to the first part of the word before
        press("back")
    old = {"c": 0, "h": 0}
    for at, word in enumerate(words):
        now = {name: values[at] for name, values in wanted.items()}
        f, i, g, o, c, h = (now[name] for name in "figoch")
        assert c == f * old["c"] + i * g and h == o * math.tanh(c)
        assert sums.inner_text().startswith(f"“{word}”")
        for part, wanted_numbers in enumerate([[old["h"]], [f, i, g, o], [f, old["c"], i, g, c], [o, c, h]]):
            assert seen.figure.get_by_role("button", name="back").is_disabled() == (at + part == 0)
            assert numbers(sums.inner_text().removeprefix(f"“{word}”")) == pytest.approx(wanted_numbers, abs=5.1e-5)
            if at + part < len(words) + 2:
                press("next")
        old = now
    shown = dict(zip(slots.evaluate_all("all => all.map(one => one.dataset.name)"), slots.all_text_contents(), strict=True))
    assert shown["word"] == f"“{words[-1]}”" and numbers(shown["c"] + " " + shown["h"]) == pytest.approx([c, h], abs=5.1e-3)
    for row in "ch":
        cells = " ".join(seen.figure.locator(f"[data-row={row}]").all_text_contents())
        assert numbers(cells) == pytest.approx(wanted[row], abs=5.1e-3)
    assert seen.figure.get_by_role("button", name="next", exact=True).is_disabled()


def test_it_plays_from_the_first_word_and_the_map_grows(browser):
    with browser.new_context(reduced_motion="no-preference") as context:
        page = context.new_page()
        page.clock.install()
        page.set_content(by_hand()[0]._repr_html_())
        known = page.locator("[data-row=c] text", has_text=re.compile("."))
        page.clock.run_for(10_000)
        assert known.count() == 5, "nothing moves by itself"
        page.get_by_role("button", name="play").press("Enter")
        page.clock.run_for(500)
        assert known.count() == 0
        page.clock.run_for(6_000)
        assert known.count() == 2
        page.clock.run_for(40_000)
        assert known.count() == 9 and page.get_by_role("button", name="play").is_visible()
