"""The map, the quiz and the tables in a browser: nothing overflows, everything is reached by keyboard, axe is content."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from transformer_lib.teaching import Question, figures, model_map, quiz
from transformer_lib.teaching.figures.model_map import CHAPTERS

LINKS = {stem: f"#{stem}" for stem in CHAPTERS}
QUESTIONS = [
    Question("What swims, `a` or *b*?", answers=[("a stone", "No fins."), ("a fish", "Fins.")], correct=1),
    Question("What flies?", answers=[("a bird", "Wings."), ("a fish", "No wings.")], correct=0),
]
TABLE = figures.matrix_table([[0.123] * 8] * 4, name="P", row_labels=["I", "am", "a", "student"], column_labels=range(8))

# Everything that is wrong with the drawing's geometry, in words. A unit is 1/360 of its width.
FAULTS = """
svg => {
  const box = node => { const b = node.getBBox(); return {l: b.x, t: b.y, r: b.x + b.width, b: b.y + b.height} }
  const meet = (one, other) => one.l < other.r && other.l < one.r && one.t < other.b && other.t < one.b
  const within = (one, other) => one.l > other.l && one.r < other.r && one.t > other.t && one.b < other.b
  // A line of text is as high as its font says, with the room above capitals and below descenders. Its ink is lower.
  const pen = document.createElement('canvas').getContext('2d')
  const ink = node => {
    pen.font = getComputedStyle(node).font
    const size = pen.measureText(node.textContent)
    const line = box(node)
    return {...line, t: line.t + size.fontBoundingBoxAscent - size.actualBoundingBoxAscent,
      b: line.b - size.fontBoundingBoxDescent + size.actualBoundingBoxDescent}
  }
  const texts = [...svg.querySelectorAll('text')].map(node => ({words: node.textContent, node, ...ink(node)}))
  const marks = [...svg.querySelectorAll('.pin, .sum')].map(node => ({words: node.getAttribute('class'), ...box(node)}))
  const lines = [...svg.querySelectorAll('polyline')].flatMap(node => {
    const points = [...node.points]
    return points.slice(1).map((end, i) => ({
      l: Math.min(points[i].x, end.x) - 1, r: Math.max(points[i].x, end.x) + 1,
      t: Math.min(points[i].y, end.y) - 1, b: Math.max(points[i].y, end.y) + 1}))
  })
  const faults = []
  texts.forEach((text, i) => {
    const own = text.node.parentElement.matches('.box') && text.node.parentElement.querySelector('rect')
    if (own && !within({...text, t: text.t - 2, b: text.b + 2}, box(own))) faults.push(`${text.words} leaves its box`)
    if (text.l < 0 || text.r > 360) faults.push(`${text.words} leaves the drawing`)
    if (lines.some(line => meet(text, line))) faults.push(`a line crosses ${text.words}`)
    for (const other of [...texts.slice(i + 1), ...marks])
      if (meet(text, other) && other.words !== text.words)
        faults.push(`${text.words} meets ${other.words}`)
  })
  return faults
}
"""


@pytest.fixture
def opened(browser):
    """A function that shows HTML on a page of the course's themes, as wide as asked."""
    pages = []

    def open_page(body, *, width=1280, theme="light"):
        page = browser.new_page(viewport={"width": width, "height": 900})
        pages.append(page)
        page.requests_seen = []
        page.on("request", lambda request: page.requests_seen.append(request.url))
        background = {"light": "#ffffff", "dark": "#14181d"}[theme]
        page.set_content(
            f'<!doctype html><html lang="en" data-theme="{theme}"><title>A test</title>'
            f'<body style="margin:16px 25px;background:{background}"><main><h1 style="color:gray">A test</h1>{body}</main>'
        )
        return page

    yield open_page
    for page in pages:
        page.close()


def everything():
    return str(model_map("masks", links=LINKS)) + quiz(*QUESTIONS)._repr_html_() + TABLE._repr_html_()


def test_no_text_of_the_map_overflows_or_is_crossed(opened):
    page = opened("".join(str(model_map(stem)) for stem in [None, *CHAPTERS]).replace("<details>", "<details open>"))
    drawings = page.locator("svg[aria-label]").all()
    assert len(drawings) == 1 + len(CHAPTERS)
    for drawing in drawings:
        assert drawing.evaluate(FAULTS) == [], drawing.get_attribute("aria-label")


def test_the_map_can_be_read_on_a_phone(opened):
    page = opened(model_map("masks"), width=390)
    page.locator("summary").click()
    sizes = page.locator("svg[aria-label]").evaluate(
        "svg => [...svg.querySelectorAll('text')].map(t => parseFloat(getComputedStyle(t).fontSize) * svg.getScreenCTM().a)"
    )
    assert min(sizes) >= 10


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_and_nothing_is_fetched(opened, theme, width):
    page = opened(everything(), width=width, theme=theme)
    for summary in (0, 1, 4):
        page.locator("summary").nth(summary).click()
    found = Axe().run(page).response["violations"]
    assert [(fault["id"], [node["html"] for node in fault["nodes"]]) for fault in found] == []
    assert page.requests_seen == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_dark_theme_is_dark(opened):
    pages = {theme: opened(everything(), theme=theme) for theme in ("light", "dark")}
    for part in (".tl-map", ".tl-quiz", ".tl-matrix"):
        seen = {
            theme: page.locator(part).evaluate("node => getComputedStyle(node).backgroundColor")
            for theme, page in pages.items()
        }
        assert seen == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"}


def test_a_quiz_is_answered_by_keyboard(opened):
    page = opened(quiz(*QUESTIONS)._repr_html_())
    page.keyboard.press("Tab")
    focused = page.locator("summary:focus")
    assert focused.inner_text() == "a stone"
    assert focused.evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert page.get_by_text("✗ Not quite.").nth(0).is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert page.get_by_text("✓ Right.").nth(0).is_visible()
    # One answer at a time; the second question is left alone.
    assert page.locator("details[open]").count() == 1
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator("details[open]").count() == 2


def test_a_link_of_the_map_shows_its_focus(opened):
    page = opened(model_map(links=LINKS))
    page.keyboard.press("Tab")
    link = page.locator("a:focus")
    assert link.get_attribute("aria-label") == "Limits of seq2seq, chapter 1: The limits of seq2seq"
    box = page.locator(".door", has=link)
    assert box.locator("rect").evaluate("node => getComputedStyle(node).strokeWidth") == "4px"


def test_jupyterlab_can_set_the_address_of_each_link_of_the_map(opened):
    """It gives each its path on the server; where that fails, it shows the cell as an error."""
    links = opened(model_map(links=LINKS)).locator(".tl-map a")
    links.evaluate_all('links => { "use strict"; links.forEach(link => link.href = "files/" + link.getAttribute("href")) }')
    assert {link.get_attribute("href") for link in links.all()} == {f"files/{link}" for link in LINKS.values()}


def test_a_box_of_the_map_leads_to_its_chapter(opened):
    page = opened(model_map(links={"masks": "#masks"}))
    words = page.get_by_text("Masked").bounding_box()
    page.mouse.click(words["x"] + words["width"] / 2, words["y"] + words["height"] / 2)
    page.wait_for_url("about:blank#masks")
