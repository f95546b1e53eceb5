"""Every number is the library's, for the chapters' own examples; its row and column make it, and its line says how."""

import json
import math
from pathlib import Path
from unittest.mock import MagicMock

import pytest
import torch
from torch.testing import assert_close

from transformer_lib.alignment import masked_softmax
from transformer_lib.attention import MultiHeadAttention, attention_weights, scaled_dot_product_attention
from transformer_lib.masks import causal_mask
from transformer_lib.teaching import capture_attention
from transformer_lib.teaching.figures import live
from transformer_lib.teaching.figures.live.trained_attention import SHOWN, trained_attention
from transformer_lib.translation import pretrained_translator

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def by_hand(notebook, *cells):
    """Run these cells of a notebook, and return their names."""
    path = next(NOTEBOOKS.glob(f"{notebook}_*.ipynb"))
    sources = {cell["id"]: "".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]}
    names = {"torch": torch, "assert_close": assert_close, "scaled_dot_product_attention": scaled_dot_product_attention}
    names["figures"] = MagicMock()
    for cell in cells:
        exec(sources[cell], names)
    return names


def looked(q, k, v, mask=None):
    """Return by the library what one head computes."""
    dots = q @ k.T
    scores = dots / math.sqrt(q.size(1))
    mixed, weights = scaled_dot_product_attention(q, k, v, mask)
    return {"q": q, "k": k, "v": v, "dots": dots, "scores": scores, "weights": weights, "map": weights, "mixed": mixed}


def expected_self():
    names = by_hand("06", "played-by-matrices", "self-attention-by-hand")
    x, *w = (names[name].double() for name in ("X", "W_Q", "W_K", "W_V"))
    return [looked(*(x @ matrix for matrix in w)) | {"left": x, "right": w, "made": [x @ matrix for matrix in w]}]


def expected_heads():
    data = live.attention_steps("heads").data
    layer = MultiHeadAttention(4, 2).double()
    w = {name: torch.tensor(matrix).double() for name, matrix in data["w"].items()}
    with torch.no_grad():
        for name, matrix in w.items():
            layer.get_submodule(f"{name}_projection").weight.copy_(matrix.T)
            layer.get_submodule(f"{name}_projection").bias.zero_()
        x = torch.tensor(data["x"]).double()
        made = [layer.get_submodule(f"{name}_projection")(x) for name in ("query", "key", "value")]
        weights = attention_weights(layer, x[None], x[None])[0]
        result = layer(x[None], x[None], x[None])[0]
    found = []
    for head in range(2):
        part = slice(2 * head, 2 * head + 2)
        found.append(looked(*(matrix[:, part] for matrix in made)))
        assert_close(found[-1]["weights"], weights[head])
    joined = torch.cat([look["mixed"] for look in found], dim=1)
    more = {"left": [x, x, x, joined, joined], "right": [*w.values()], "made": [*made, None, result]}
    more["right"].insert(3, w["output"])
    return [look | more for look in found]


def expected_mask():
    scores = by_hand("08", "scores-by-hand")["scores"].double()
    mask = causal_mask(4)
    causal = {"masked": scores.masked_fill(~mask, -math.inf), "weights": masked_softmax(scores, mask)}
    return [{"scores": scores, "map": look["weights"], **look} for look in (causal, {"weights": masked_softmax(scores)})]


def expected_cross():
    names = by_hand("09", "by-hand")
    return [looked(*(names[name].double() for name in ("query", "key", "value")))]


def expected_cache():
    data = live.attention_steps("cache").data
    x, w = torch.tensor(data["x"]).double(), [torch.tensor(matrix).double() for matrix in data["w"].values()]
    made = [x @ matrix for matrix in w]
    found = looked(*made, causal_mask(4)) | {"left": x, "right": w, "made": made}
    del found["map"]
    return [found]


@torch.no_grad()
def expected_trained():
    """Head 1 of the last cross-attention, from the inputs and matrices of the trained model: what the figure draws of it."""
    translator, name = pretrained_translator(), "decoder.layers.1.cross_attention"
    source, written = (torch.tensor([translator.tokenizer.encode(text)]) for text in (SENTENCE, translator.translate(SENTENCE)))
    attention = translator.model.get_submodule(name)
    given = {}
    for role in ("query", "key"):
        linear = attention.get_submodule(f"{role}_projection")
        linear.register_forward_hook(lambda _, inputs, made, role=role: given.update({role: inputs[0][0].double()}))
    with capture_attention(translator.model) as kept:
        translator.model(source, torch.cat([torch.tensor([[1]]), written], dim=1))
    x, memory = given["query"], given["key"]
    linears = [attention.query_projection, attention.key_projection, attention.value_projection]
    w = [linear.weight[:24].T.double() for linear in linears]
    made = [x @ w[0], memory @ w[1], memory @ w[2]]
    made = [part + linear.bias[:24] for part, linear in zip(made, linears, strict=True)]
    found = looked(*made)
    assert_close(found.pop("map").float(), kept[name][0, 0])
    found |= {role: found[role][:, :SHOWN] for role in ("q", "k", "v", "mixed")}
    return [found | {"left": [x, memory, memory], "right": w, "made": made}]


EXPECTED = {
    "self": expected_self,
    "heads": expected_heads,
    "mask": expected_mask,
    "cross": expected_cross,
    "cache": expected_cache,
    "trained": expected_trained,
}
SENTENCE = "the white cow is big"


def drawn(example):
    return trained_attention(pretrained_translator(), SENTENCE) if example == "trained" else live.attention_steps(example)


MOMENT = """(figure, [at, number]) => {
    const list = figure.querySelector("select")
    if (list.selectedIndex !== at) {
        list.selectedIndex = at
        list.dispatchEvent(new Event("change"))
    }
    const slider = figure.querySelector("input[type=range]")
    slider.value = number ?? slider.max
    slider.dispatchEvent(new Event("input"))
    const framed = [...figure.querySelectorAll("[data-frame]")].map(frame => {
        const whole = frame.getBoundingClientRect()
        const inside = cell => {
            const box = cell.querySelector("rect").getBoundingClientRect()
            return box.left > whole.left && box.right < whole.right && box.top > whole.top && box.bottom < whole.bottom
        }
        const cells = [...figure.querySelectorAll(`g[data-matrix=${frame.dataset.frame}]`)].filter(inside)
        return cells.map(cell => cell.querySelector("text").textContent)
    })
    return [framed, Number(slider.max)]
}"""


def moment(seen, at, number=None):
    """Go to this number of a step, or to its last one; return the numbers inside of each frame, and how many it has."""
    framed, last = seen.figure.evaluate(MOMENT, [at, number])
    return [[value_of(text) for text in texts] for texts in framed], last + 1


def cells(seen, name):
    """The texts of a matrix by row and column; those that are not made yet are empty."""
    found = seen.figure.locator(f"g[data-matrix={name}]").evaluate_all(
        """cells => cells.map(cell =>
            [+cell.dataset.row, +cell.dataset.column, cell.querySelector("text")?.textContent ?? ""])"""
    )
    return {(row, column): text for row, column, text in found}


def value_of(text):
    return -math.inf if text == "−∞" else float(text.strip("()").replace("−", "-"))


def close(text, value):
    shown = value_of(text)
    return shown == value or abs(shown - value) <= 10.0 ** -len(text.partition(".")[2]) / 2 + 1e-6


def press(seen, group, name):
    seen.figure.get_by_role("group", name=group).get_by_role("button", name=name, exact=True).press("Enter")


def steps(seen):
    return seen.figure.get_by_role("combobox", name="step").locator("option").all_text_contents()


def calculation(seen):
    return seen.figure.locator(".tl-sum").inner_text().replace("\u2009", "")


def every_moment(seen, data, *, look=0):
    """Go through each word that asks and each step, and yield them with how many numbers the step has."""
    if len(data["looks"]) > 1:
        press(seen, data["which"], data["looks"][look]["name"])
    for word, asker in enumerate(data["asks"]):
        press(seen, data["who"], asker)
        for at, step in enumerate(steps(seen)):
            yield word, at, step, moment(seen, at)[1]


LINES = ("dots", "scores", "masked", "weights")  # a column of the look-up is a row of the matrix


@pytest.mark.parametrize("example", EXPECTED)
def test_every_number_is_the_librarys(touch, example):
    figure = drawn(example)
    seen = touch(figure)
    for look, expected in enumerate(EXPECTED[example]()):
        shown = set()
        for word, at, step, _ in every_moment(seen, figure.data, look=look):
            joined = "join" in step
            product = joined or "W_" in step
            which = (3 if joined else 4) if joined or "W_O" in step else at
            for name in ("left", "right", "made") if product else expected.keys() - {"left", "right", "made"}:
                matrix = expected[name]
                matrix = matrix[which] if isinstance(matrix, list) else matrix
                if matrix is None:
                    continue
                for (row, column), text in cells(seen, name).items():
                    of_the_word = name in ("q", "mixed") or (which > 2 and name != "right" and product)
                    place = (word, row) if name in LINES else (word, column) if of_the_word else (row, column)
                    if text:
                        assert close(text, matrix[place].item()), (step, name, row, column)
                        shown.add((which if product else "", name, *place))
        for name, matrix in expected.items():
            found = [one for one in shown if one[1] == name]
            if torch.is_tensor(matrix) and name != "left" and example != "cache":
                assert len(found) == matrix.numel(), name
            assert found, name
    assert seen.complaints == []


@pytest.mark.parametrize("example", EXPECTED)
def test_the_framed_row_and_column_make_the_framed_number(touch, example):
    figure = drawn(example)
    seen = touch(figure)
    for look in range(len(figure.data["looks"])):
        for word, at, step, many in every_moment(seen, figure.data, look=look):
            if example == "trained" and figure.data["asks"][word] == "blanche":
                continue  # its largest e^score has six digits: the cells beside it have room for two after the point
            for number in range(many) if word == 1 else (0, many - 1):
                (*sources, [made]), _ = moment(seen, at, number)
                line = calculation(seen)
                assert close(line.rpartition(" ")[2], made), "the calculation ends with it"
                if "mask" in step:
                    assert sources == [[value_of(line.split(" → ")[0])]] and made in (sources[0][0], -math.inf)
                elif "divide" in step:
                    root = math.sqrt(figure.data["d_k"])
                    digits = 0.005 if abs(sources[0][0]) >= 10 else 0.0005  # of a large number fewer are drawn
                    assert made == pytest.approx(sources[0][0] / root, abs=0.0005 + digits / root + 1e-6)
                elif "softmax" in step:
                    assert made == pytest.approx(sources[0][0] / sources[1][0], abs=0.001)
                elif "join" not in step:
                    pairs = list(zip(*sources, strict=True))
                    terms = line.split(" = ")[0].split(" + ")
                    if example == "trained" and "mix" not in step:  # what is not drawn, as one number
                        rest, others = terms.pop().split("\u00a0")
                        assert others == ("(21 more)" if "compare" in step else "(93 more and a bias)")
                        # Six numbers with three digits each, and a product with two.
                        assert made == pytest.approx(sum(a * b for a, b in pairs) + value_of(rest), abs=0.02)
                    else:
                        assert made == pytest.approx(sum(a * b for a, b in pairs), abs=0.006)
                    assert [tuple(map(value_of, term.split("·"))) for term in terms] == pairs
    assert seen.complaints == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("example", EXPECTED)
def test_no_word_or_number_leaves_its_place_or_lies_on_another(touch, example, width):
    figure = drawn(example)
    seen = touch(figure, width=width)
    for look in range(len(figure.data["looks"])):
        for _, _, step, _ in every_moment(seen, figure.data, look=look):
            wrong = seen.figure.evaluate(
                """figure => {
                    const whole = figure.querySelector("svg").getBoundingClientRect()
                    const texts = [...figure.querySelectorAll("svg text")]
                    const boxes = texts.map(text => text.getBoundingClientRect())
                    const out = box => box.left < whole.left - 1 || box.right > whole.right + 1
                        || box.top < whole.top - 1 || box.bottom > whole.bottom + 3
                    const small = text => parseFloat(getComputedStyle(text).fontSize) < 10
                    const lies = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
                        && a.top < b.bottom - 5 && b.top < a.bottom - 5
                    const wide = (text, box) => {
                        const cell = text.closest("g")?.querySelector("rect")
                        return cell && box.width > cell.getBoundingClientRect().width
                    }
                    const wrong = texts.filter((text, i) => out(boxes[i]) || small(text) || wide(text, boxes[i])
                        || boxes.some((other, j) => i !== j && lies(boxes[i], other)))
                    return wrong.map(text => text.textContent)
                }"""
            )
            assert wrong == [], step
            assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_the_mask_hides_is_minus_infinity_and_then_exactly_nothing(touch):
    seen = touch(live.attention_steps("mask"))
    hidden = {(row, column) for row in range(4) for column in range(row + 1, 4)}

    def striped(name):
        found = seen.figure.locator(f"g[data-matrix={name}]:has(path)").evaluate_all(
            "cells => cells.map(cell => [+cell.dataset.row, +cell.dataset.column])"
        )
        return {tuple(place) for place in found}

    assert striped("map") == set()
    moment(seen, 1)
    for word in ("<SOS>", "suis", "étudiant", "je"):
        press(seen, "who asks?", word)
    assert striped("map") == hidden
    assert {place for place, text in cells(seen, "map").items() if text == "0"} == hidden
    assert [text == "−∞" for text in cells(seen, "masked").values()] == [False, False, True, True], "je sees <SOS> and itself"
    assert striped("weights") == {(2, 0), (3, 0)}
    press(seen, "mask", "none")
    assert steps(seen) == ["1 · softmax"] and cells(seen, "masked") == {} and striped("map") == set()
    assert seen.figure.get_by_role("combobox", name="step").is_disabled()
    assert cells(seen, "map")[1, 2] == "0.528"


@pytest.mark.parametrize("example", ["self", "mask", "cross"])
def test_what_is_to_be_guessed_is_not_yet_shown(touch, example):
    """It opens before the weights, and the map shows those of the words that have asked."""
    figure = live.attention_steps(example)
    seen, (word, asks) = touch(figure), (figure.data["word"], figure.data["asks"])
    assert not any(cells(seen, "weights").values()) and not any(cells(seen, "map").values())
    seen.figure.get_by_role("button", name="next", exact=True).press("Enter")

    def rows():
        return {row for (row, _), text in cells(seen, "map").items() if text}

    assert any(cells(seen, "weights").values()) and rows() == {word}
    press(seen, "who asks?", asks[0 if word else 1])
    assert rows() == {0, 1}


def test_the_new_key_is_not_shown_before_it_is_played(touch):
    seen = touch(live.attention_steps("cache"))
    press(seen, "newest word", "étudiant")
    assert seen.figure.get_by_role("combobox").input_value().startswith("1 · query")


@pytest.mark.parametrize("example", EXPECTED)
def test_all_is_played_in_twelve_seconds(browser, example):
    figure = drawn(example)
    with browser.new_context(reduced_motion="no-preference") as context:
        page = context.new_page()
        page.clock.install()
        page.set_content(figure._repr_html_())
        page.get_by_role("group").first.get_by_role("button").last.press("Enter")
        listed = page.get_by_role("combobox", name="step")
        listed.select_option(index=0)
        page.get_by_role("slider").press("Home")
        play = page.get_by_role("button", name="play", exact=True)
        play.press("Enter")
        page.clock.run_for(12_000)
        assert listed.evaluate("list => list.selectedIndex === list.options.length - 1")
        page.clock.run_for(2_000)
        assert play.is_visible()


def test_a_map_need_not_be_square(touch):
    seen = touch(live.attention_steps("cross"))
    assert list(cells(seen, "map")) == [(row, column) for row in range(2) for column in range(3)]
    moment(seen, 3)
    press(seen, "who asks?", "<SOS>")
    assert seen.figure.locator(".tl-says").inner_text().endswith("The values come from the memory.")
    assert list(cells(seen, "mixed").values()) == ["7.87", "1.065"]


def test_a_head_keeps_the_step_and_both_are_joined(touch):
    seen = touch(live.attention_steps("heads"))
    mixtures, projected = [], []
    for head in "01":
        press(seen, "head", head)
        assert seen.figure.get_by_role("combobox").input_value() == "7 · mix the values"
        mixtures += cells(seen, "mixed").values()
        moment(seen, 0, 0)
        projected.append(calculation(seen))
        moment(seen, 6)
    assert projected == ["0·0 + 1·2 + 0·2 + 1·0 = 2", "0·2 + 1·2 + 0·0 + 1·0 = 2"], "columns 0 and 2 of W_Q"
    moment(seen, 7)
    assert [*cells(seen, "left").values()] == mixtures
    assert not any(cells(seen, "made").values())
    press(seen, "who asks?", "They")
    assert [*cells(seen, "left").values()] != mixtures


def test_grey_is_what_was_computed_before(touch):
    seen = touch(live.attention_steps("cache"))
    muted = """cells => cells.map(cell => [+cell.dataset.row, cell.querySelector("text").style.fill.includes("muted")])"""
    for newest, word in enumerate(["<SOS>", "je", "suis", "étudiant"]):
        press(seen, "newest word", word)
        for at, name in [(1, "made"), (2, "made"), (6, "k"), (6, "v")]:
            moment(seen, at)
            found = seen.figure.locator(f"g[data-matrix={name}]:has(text)").evaluate_all(muted)
            assert {tuple(cell) for cell in found} == {(row, row < newest) for row in range(newest + 1)}


def test_the_buttons_the_list_and_the_slider_go_together(touch, choose, slide):
    seen = touch(live.attention_steps())
    names = ("back", "next", "next number")
    back, forward, number = (seen.figure.get_by_role("button", name=name, exact=True) for name in names)
    listed, slider = seen.figure.get_by_role("combobox"), seen.figure.get_by_role("slider")
    moment(seen, 6)
    assert all(cells(seen, "mixed").values()) and forward.is_disabled()
    back.press("Enter")
    assert listed.input_value() == "6 · softmax" and not any(cells(seen, "mixed").values())
    choose(seen, "step", 0)
    assert back.is_disabled() and calculation(seen) == "1·0 + 0·2 + 0·0 + 0·0 = 0"
    slide(seen, "number", 1)
    assert calculation(seen) == "1·3 + 0·0 + 0·3 + 0·0 = 3"
    assert list(cells(seen, "made").values()) == ["0", "3", *[""] * 10], "one number after the other"
    pressed = 0
    while not forward.is_disabled() or slider.get_attribute("aria-valuetext") != "2 of 2":
        number.press("Enter")
        pressed += 1
    # 2 more of the query, a row of keys and of values for each word, 3 products, 3 scores, 3 weights, 2 of the mixture.
    assert pressed == 2 + 3 + 3 + 3 + 3 + 3 + 2
    number.press("Enter")
    assert listed.input_value().startswith("1 · query") and seen.complaints == []


def test_a_pointer_over_a_number_and_a_click_on_another_show_where_it_comes_from(touch):
    seen = touch(live.attention_steps())
    moment(seen, 3)
    seen.figure.locator("g[data-matrix=dots]").nth(1).hover()
    assert calculation(seen) == "0·0 + 3·2 + 0·0 + 0·1 = 6"
    moment(seen, 6)
    seen.figure.locator("g[data-matrix=scores]").nth(2).click()
    assert seen.figure.get_by_role("combobox").input_value() == "5 · divide by √4"
    assert calculation(seen) == "3 / √4 = 3 / 2 = 1.5"
    moment(seen, 6)
    seen.figure.locator("g[data-matrix=map]").nth(8).click()
    assert seen.figure.get_by_role("button", pressed=True).inner_text() == "chess"
    assert list(cells(seen, "weights").values()) == ["0.026", "0.858", "0.116"]


def test_it_plays_from_the_first_number_until_its_reader_acts(browser):
    with browser.new_context(reduced_motion="no-preference") as context:
        page = context.new_page()
        page.clock.install()
        page.set_content(live.attention_steps()._repr_html_())
        listed, slider = page.get_by_role("combobox"), page.get_by_role("slider")
        page.clock.run_for(10_000)
        assert listed.input_value() == "5 · divide by √4", "nothing moves by itself"
        play = page.get_by_role("button", name="play", exact=True)
        play.press("Enter")
        assert listed.input_value().startswith("1 · ") and slider.input_value() == "0"
        page.clock.run_for(1300)
        assert listed.input_value().startswith("1 · ") and slider.input_value() == "2"
        page.get_by_role("button", name="pause").press("Enter")
        page.clock.run_for(10_000)
        assert slider.input_value() == "2"
        play.press("Enter")
        page.get_by_role("button", name="chess").press("Enter")
        before = slider.input_value()
        page.clock.run_for(10_000)
        assert slider.input_value() == before and play.is_visible()
        play.press("Enter")
        page.clock.run_for(12_000)
        assert listed.input_value() == "7 · mix the values" and play.is_visible(), "it stops at the end, and leaves it there"


@pytest.mark.parametrize("example", EXPECTED)
def test_without_scripts_the_table_is_the_finished_look(touch, example):
    figure = drawn(example)
    rows = [row.split("\t") for row in touch(figure, scripts=False).figure.locator("tbody tr").all_inner_texts()]
    data, expected = figure.data, EXPECTED[example]()[0]
    weights = expected["weights"][data["word"]].tolist()
    at = -2 if "v" in expected else -1
    for row, weight in zip(rows[:-1] if "v" in expected else rows, weights, strict=False):
        assert close(row[at], weight) and f"{row[0]} {weight:.3f}" in figure.says
    if "v" in expected:
        shown = rows[-1][-1].strip("()").split(", ")
        assert all(close(text, value) for text, value in zip(shown, expected["mixed"][data["word"]].tolist(), strict=True))
