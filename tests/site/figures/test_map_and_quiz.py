"""The map and the quiz in a browser: nothing overflows, everything is reached by keyboard, axe is content."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tools import notebooks
from transformer_lib.teaching import Question, model_map, quiz

LINKS = {path.stem[3:]: f"#{path.stem[3:]}" for path in (notebooks.ROOT / "notebooks").glob("[0-9]*.ipynb")}
QUIZ = quiz(
    Question("What swims, `a` or *b*?", answers=[("a stone", "No fins."), ("a fish", "Fins.")], correct=1),
    Question("What flies?", answers=[("a bird", "Wings."), ("a fish", "No wings.")], correct=0),
)._repr_html_()


@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1280)])
def test_map_and_quiz_are_drawn_whole(touch, theme, width):
    seen = touch(model_map(LINKS) + QUIZ, width=width, theme=theme)
    colours = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"}
    seen.page.locator("body").evaluate("(body, colour) => body.style.background = colour", colours[theme])
    for summary in (0, 3):
        seen.page.locator("summary").nth(summary).click()
    found = Axe().run(seen.page).response["violations"]
    assert [(fault["id"], [node["html"] for node in fault["nodes"]]) for fault in found] == []
    assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for part in (".tl-map", ".tl-quiz"):
        assert seen.page.locator(part).evaluate("node => getComputedStyle(node).backgroundColor") == colours[theme]
    drawing = seen.page.locator("svg[aria-label]")
    size = "svg => Math.min(...[...svg.querySelectorAll('text')].map(t => parseFloat(getComputedStyle(t).fontSize)))"
    assert drawing.evaluate(f"svg => ({size})(svg) * svg.getScreenCTM().a") >= 10


def test_a_quiz_is_answered_by_keyboard(touch):
    page = touch(QUIZ).page
    page.keyboard.press("Tab")
    assert page.locator("summary:focus").inner_text() == "a stone"
    page.keyboard.press("Enter")
    assert page.get_by_text("✗ Not quite.").nth(0).is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert page.get_by_text("✓ Right.").nth(0).is_visible()
    assert page.locator("details[open]").count() == 1  # one answer at a time


def test_a_box_of_the_map_leads_to_its_chapter(touch):
    page = touch(model_map(LINKS)).page
    page.keyboard.press("Tab")
    assert page.locator("a:focus").get_attribute("aria-label") == "Limits of seq2seq, chapter 1: The limits of seq2seq"
    words = page.get_by_text("Masked").bounding_box()
    page.mouse.click(words["x"] + words["width"] / 2, words["y"] + words["height"] / 2)
    page.wait_for_url("about:blank#masks")
