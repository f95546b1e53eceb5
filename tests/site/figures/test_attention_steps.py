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

NOTEBOOKS = Path(__file__).parents[3] / "notebooks"


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
