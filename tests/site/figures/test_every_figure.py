"""What holds for every figure that answers: it works by itself, by keyboard, in both themes and widths, and without scripts."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from test_lstm_steps import by_hand

from transformer_lib.teaching.figures import live
from transformer_lib.teaching.figures.live.trained_attention import trained_attention
from transformer_lib.translation import pretrained_translator

EXAMPLES = ("cross", "trained")
FIGURES = [(name,) for name in live.__all__] + [("attention_steps", example) for example in EXAMPLES]


def drawn(name, *example):
    if name == "lstm_steps":
        return by_hand()[0]
    if example == ("trained",):
        return trained_attention(pretrained_translator(), "the white cow is big")
    return getattr(live, name)(*example)


@pytest.fixture(scope="module", params=FIGURES, ids="-".join)
def figure(request):
    figure = drawn(*request.param)
    figure.call = request.param
    return figure


def test_without_scripts_a_picture_stands_in_its_place(figure, touch):
    assert drawn(*figure.call)._repr_html_() == figure._repr_html_()  # the same bytes on every run
    seen = touch(figure, scripts=False, width=390)
    still = seen.figure.locator(".tl-stage > :is(svg[role=img][aria-label], table, div)")
    assert still.count() == 1 and still.is_visible()
    assert seen.figure.locator(".tl-says").inner_text() == figure.says
    assert seen.figure.locator("input, select, button").count() == 0


INSIDE = """figure => [...figure.querySelectorAll('svg text')].filter(text => text.textContent.trim()).filter(text => {
    const [box, whole] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()]
    const size = parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getScreenCTM().a
    return size < 10 || box.left < whole.left - 1 || box.right > whole.right + 1 || box.bottom > whole.bottom + 3
}).map(text => text.textContent)"""


@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1280)])
def test_it_is_drawn_whole(figure, touch, theme, width):
    seen = touch(figure, width=width, theme=theme)
    seen.page.locator("body").evaluate(
        "(body, colour) => body.style.background = colour", {"light": "#ffffff", "dark": "#14181d"}[theme]
    )
    found = Axe().run(seen.page).response["violations"]
    assert [(fault["id"], [node["html"] for node in fault["nodes"]]) for fault in found] == []
    assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert seen.figure.evaluate(INSIDE) == []


KEYS = {"range": ("ArrowRight", "ArrowLeft"), "select-one": ("ArrowDown", "ArrowUp"), "text": ("End", *["Backspace"] * 9)}


def test_every_control_is_reached_by_keyboard_and_changes_the_figure(figure, touch):
    seen = touch(figure)
    controls = seen.figure.locator("input, select, button")
    assert controls.evaluate_all(
        "nodes => nodes.every(node => node.dataset.lmSuppressShortcuts === 'true')"
    )  # JupyterLab's keys
    wanted, reached = controls.evaluate_all("nodes => nodes.filter(node => !node.disabled).length"), set()
    for _ in range(wanted + 40):
        seen.page.keyboard.press("Tab")
        reached.add(controls.evaluate_all("nodes => nodes.indexOf(document.activeElement)"))
    assert len(reached - {-1}) == wanted > 0

    def shown():
        return seen.figure.evaluate(
            "node => node.querySelector('.tl-stage').innerHTML + node.querySelector('.tl-says').innerHTML"
        )

    for index in range(controls.count()):
        control = controls.nth(index)
        if not control.count():  # a question that an earlier control has answered
            break
        if control.is_disabled() or control.get_attribute("aria-pressed") == "true":
            continue
        before = shown()
        control.focus()
        for key in KEYS.get(control.evaluate("node => node.type"), ("Space",)):
            if shown() == before:
                seen.page.keyboard.press(key)
        assert shown() != before, control.evaluate("node => (node.labels?.[0] ?? node).textContent")


@pytest.mark.parametrize("name", ["masked_sentence", "review_reader"])
def test_any_text_leaves_the_page_whole(touch, name):
    seen = touch(getattr(live, name)(), width=390)
    for text in ("", "<b>no</b> <script>alert(1)</script>", "학생 🎓", "very " * 300, "x" * 500):
        seen.figure.get_by_role("textbox").first.fill(text)
        assert seen.figure.locator(".tl-says").inner_text().endswith(".")
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert seen.figure.locator("b").count() == 0


def test_two_of_them_on_one_page_do_not_disturb_each_other(touch):
    seen = touch("".join(drawn(name)._repr_html_() for name in live.__all__ * 2))
    stages = seen.page.locator(".tl-stage").evaluate_all("nodes => nodes.map(node => node.innerHTML)")
    assert stages[: len(live.__all__)] == stages[len(live.__all__) :]
