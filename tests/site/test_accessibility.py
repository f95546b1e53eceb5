"""Every page by keyboard alone, and by the rules of axe, in both of the theme's colour schemes."""

from typing import NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe
from built_site import PAGES


class Finding(NamedTuple):
    rule: str
    where: str  # what the element's HTML holds
    why: str


# What the theme and docutils get wrong themselves. Nothing of ours may stand here.
NOT_OURS = [
    Finding("region", 'class="navbar-brand logo"', "the theme puts the sidebar's title outside every landmark"),
    Finding("aria-allowed-role", 'role="doc-biblioentry"', "docutils gives entries of the bibliography this role"),
    Finding("aria-deprecated-role", 'role="doc-biblioentry"', "the same role has since been withdrawn"),
    Finding("aria-required-children", 'class="citation-list"', "docutils puts links between the entries of the list"),
]


# A page of code or signatures has thousands of coloured words of some twenty kinds, and axe takes its time over each
# word's colours: one word of each kind stays, the others become plain text of their block.
ONE_WORD_OF_EACH_COLOUR = """() => {
    const seen = new Set()
    // Inner words first, so that what held only them is plain too.
    for (const word of [...document.querySelectorAll('pre span[class], dt.sig span[class]')].reverse()) {
        const kind = [word.className, word.closest('[class*=cell_input], [class*=cell_output], dt')?.className].join()
        if (word.children.length || word.id) continue
        if (seen.has(kind)) word.replaceWith(...word.childNodes)
        seen.add(kind)
    }
}"""


@pytest.fixture(scope="module", params=PAGES)
def url(request, html):
    return f"{html.as_uri()}/{request.param}.html"


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_axe_finds_nothing_of_ours(visit, url, colour_scheme):
    page = visit(url, colour_scheme=colour_scheme).page
    page.wait_for_selector(f"html[data-theme={colour_scheme}]")  # the theme's script sets it
    # What is folded away must be readable too. Answers of one name would close each other.
    page.eval_on_selector_all("details", "nodes => nodes.forEach(node => { node.removeAttribute('name'); node.open = true })")
    # They fade in, and half faded text is pale.
    page.evaluate("Promise.all(document.getAnimations().map(animation => animation.finished))")
    page.evaluate(ONE_WORD_OF_EACH_COLOUR)
    violations = Axe().run(page).response["violations"]
    page.close()
    ours = [
        (rule["id"], node["target"], node["failureSummary"])
        for rule in violations
        for node in rule["nodes"]
        if not any(rule["id"] == known.rule and known.where in node["html"] for known in NOT_OURS)
    ]
    assert ours == []


def test_quizzes_are_answered_by_keyboard(visit, url):
    page = visit(url).page
    answers = page.locator(".tl-quiz summary").count()
    stops = page.locator("a, button, input, select, textarea, summary, [tabindex]").count()
    opened = set()
    for _ in range(stops + 1 if answers else 0):
        page.keyboard.press("Tab")
        answer = page.evaluate("[...document.querySelectorAll('.tl-quiz summary')].indexOf(document.activeElement)")
        if answer < 0 or answer in opened:
            continue
        verdict = page.locator(".tl-quiz summary").nth(answer).locator("xpath=following-sibling::*[1]")
        assert not verdict.is_visible()
        page.keyboard.press("Enter")
        assert verdict.is_visible() and verdict.inner_text().strip()
        opened.add(answer)
    page.close()
    assert len(opened) == answers


def test_the_buttons_for_the_theme_and_the_sidebar_work(visit, url):
    seen = visit(url)
    page = seen.page
    modes = set()
    for _ in range(3):
        page.locator(".theme-switch-button:visible").click()
        modes.add(page.get_attribute("html", "data-mode"))
    assert modes == {"light", "dark", "auto"}
    sidebar, button = page.locator(".bd-sidebar-primary"), page.locator(".primary-toggle:visible")
    assert sidebar.is_visible()
    button.click()
    sidebar.wait_for(state="hidden")
    button.click()
    sidebar.wait_for(state="visible")
    page.set_viewport_size({"width": 390, "height": 900})
    sidebar.wait_for(state="hidden")
    button.click()
    sidebar.wait_for(state="visible")
    assert seen.complaints == []
    page.close()
