"""What holds for every figure that answers: it works by itself, by keyboard, in both themes and widths, and without scripts."""

import re
from collections import Counter

import pytest
from axe_playwright_python.sync_playwright import Axe

from transformer_lib import _language
from transformer_lib.teaching.figures import live
from transformer_lib.teaching.figures.live.trained_attention import trained_attention
from transformer_lib.translation import pretrained_translator

EXAMPLES = ("heads", "mask", "cross", "cache", "trained")
FIGURES = [(name,) for name in live.__all__] + [("attention_steps", example) for example in EXAMPLES]


def drawn(name, *example):
    if example == ("trained",):
        return trained_attention(pretrained_translator(), "the white cow is big")
    return getattr(live, name)(*example)


@pytest.fixture(scope="module", params=FIGURES, ids="-".join)
def figure(request):
    figure = drawn(*request.param)
    figure.call = request.param
    return figure


def test_it_has_the_same_bytes_on_every_run_and_says_what_it_shows(figure):
    again = drawn(*figure.call)
    assert figure.name == figure.call[0]
    assert again._repr_html_() == figure._repr_html_()
    assert figure.title.strip() and figure.says.strip().endswith(".")
    assert repr(figure) == f"{figure.title}: {figure.says}"


def test_jupyterlab_leaves_it_its_keys(figure, touch):
    """Lumino walks up from the element with the focus: a command for `… :focus` matches there first."""
    controls = touch(figure).figure.locator("input, select, button, [tabindex]")
    assert controls.count()
    assert controls.evaluate_all("nodes => nodes.every(node => node.dataset.lmSuppressShortcuts === 'true')")


def test_without_scripts_a_picture_stands_in_its_place(figure, touch):
    seen = touch(figure, scripts=False, width=390)
    still = seen.figure.locator(".tl-stage > :is(svg[role=img][aria-label], table, div)")
    assert still.count() == 1 and still.is_visible()
    assert seen.figure.locator(".tl-says").inner_text() == figure.says
    assert seen.figure.locator("input, select, button").count() == 0


def numbers(seen):
    """Return the numbers that stand in a figure, in its text and its labels."""
    texts = seen.figure.evaluate(
        """figure => [figure.innerText, ...[...figure.querySelectorAll("[aria-label]")].map(node => node.ariaLabel)]
            .join("\\n")"""
    )
    return Counter(re.findall(r"\d+(?:[.,]\d+)*", texts))


def test_it_answers_in_korean_with_the_same_numbers(figure, touch, monkeypatch):
    english = numbers(touch(figure))
    monkeypatch.setenv(_language.VARIABLE, "ko")
    seen = touch(drawn(*figure.call))
    assert english - numbers(seen) == Counter()
    left = []
    for chosen in seen.figure.get_by_role("combobox").all():
        for index in range(chosen.locator("option").count()):
            chosen.select_option(index=index)
            left += re.findall(r"(?:\b[A-Za-z]+ ){3}", seen.figure.locator(".tl-says").inner_text())
    assert left == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_is_drawn_whole_and_asks_for_nothing(figure, touch, theme, width):
    seen = touch(figure, width=width, theme=theme)
    assert seen.figure.locator(".tl-says").inner_text().strip()
    found = Axe().run(seen.page).response["violations"]
    assert [(fault["id"], [node["html"] for node in fault["nodes"]]) for fault in found] == []
    assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    sizes = seen.figure.evaluate(
        """figure => [...figure.querySelectorAll('svg text')].filter(text => text.textContent.trim()).map(text =>
            parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getScreenCTM().a)"""
    )
    assert min(sizes, default=16) >= 10
    cut = seen.figure.evaluate(
        """figure => [...figure.querySelectorAll('svg text')].filter(text => {
            const [box, whole] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()]
            return box.left < whole.left - 1 || box.right > whole.right + 1 || box.bottom > whole.bottom + 3
        }).map(text => text.textContent)"""
    )
    assert cut == []
    assert seen.requests == [] and seen.complaints == []


def test_every_control_is_reached_by_keyboard_and_changes_the_figure(figure, touch):
    seen = touch(figure)
    controls = seen.figure.locator("input, select, button")
    wanted = controls.evaluate_all("nodes => nodes.filter(node => !node.disabled).length")
    assert wanted
    reached = set()
    for _ in range(wanted + 40):
        seen.page.keyboard.press("Tab")
        reached.add(controls.evaluate_all("nodes => nodes.indexOf(document.activeElement)"))
    assert len(reached - {-1}) == wanted
    names = controls.evaluate_all("nodes => nodes.map(node => (node.labels?.[0] ?? node).textContent.trim())")
    assert all(names)

    def shown():
        return seen.figure.evaluate(
            """figure => [figure.querySelector('.tl-stage').innerHTML, figure.querySelector('.tl-says').textContent]"""
        )

    for index in range(controls.count()):
        control = controls.nth(index)
        if not control.count():  # a question that an earlier control has answered
            break
        if control.is_disabled() or control.get_attribute("aria-pressed") == "true":
            continue
        before = shown()
        kind = control.evaluate("node => node.type")
        control.focus()
        if kind == "range":
            # From either end, one of the two keys moves.
            seen.page.keyboard.press("ArrowRight")
            if shown() == before:
                seen.page.keyboard.press("ArrowLeft")
        elif kind == "select-one":
            seen.page.keyboard.press("ArrowDown")
            if shown() == before:
                seen.page.keyboard.press("ArrowUp")
        elif kind == "text":
            seen.page.keyboard.press("End")
            seen.page.keyboard.press("Backspace")
            seen.page.keyboard.press("Backspace")
        else:
            seen.page.keyboard.press("Space")
        assert shown() != before, names[index]
    assert seen.complaints == []


def test_a_slider_moves_no_control_beside_it(figure, touch):
    moved = touch(figure).figure.evaluate(
        """figure => [...figure.querySelectorAll('input[type=range]')].flatMap(slider => {
            if (!slider.isConnected) return [] // an earlier one took it away
            const controls = slider.closest('.tl-controls')
            const places = () => [...controls.querySelectorAll('input, select, button')].map(node => {
                const {x, y} = node.getBoundingClientRect()
                return `${Math.round(x)} ${Math.round(y)}`
            })
            const before = places()
            return Array.from({length: Number(slider.max) + 1}, (_, value) => {
                slider.value = value
                slider.dispatchEvent(new Event('input'))
                const after = places() // some come and go
                return after.length === before.length && String(after) !== String(before) ? slider.labels[0].textContent : ''
            }).filter(String)
        })"""
    )
    assert moved == []


def test_two_of_them_on_one_page_do_not_disturb_each_other(figure, touch):
    seen = touch(figure)
    seen.page.evaluate(
        """html => {
            const place = document.createElement('div')
            document.querySelector('main').append(place)
            place.append(document.createRange().createContextualFragment(html))
        }""",
        figure._repr_html_(),
    )
    stages = seen.page.locator(".tl-stage").evaluate_all("nodes => nodes.map(node => node.innerHTML)")
    assert len(stages) == 2 and stages[0] == stages[1]
    assert seen.complaints == []
