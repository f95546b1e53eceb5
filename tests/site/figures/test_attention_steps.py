"""Every number that the figure shows is the library's; it plays when asked, and only then."""

import math

import pytest
import torch
from torch.testing import assert_close

from transformer_lib.attention import scaled_dot_product_attention
from transformer_lib.teaching import capture_attention
from transformer_lib.teaching.figures import live
from transformer_lib.teaching.figures.live.trained_attention import trained_attention
from transformer_lib.translation import pretrained_translator

LINES = ("dots", "scores", "weights")  # a column of the look-up is a row of the matrix
GO = """(figure, at) => {
    const [list, slider] = [figure.querySelector("select"), () => figure.querySelector("input[type=range]")]
    list.selectedIndex = at
    list.dispatchEvent(new Event("change"))
    slider().value = slider().max
    slider().dispatchEvent(new Event("input"))
    return [...figure.querySelectorAll("g[data-matrix]")].map(cell =>
        [cell.dataset.matrix, +cell.dataset.row, +cell.dataset.column, cell.querySelector("text")?.textContent ?? ""])
}"""


def expected(data):
    """Return what the library computes from the sentence and the matrices that the figure starts from."""
    q, k, v = (torch.tensor(data[name]).double() for name in "qkv")
    mixed, weights = scaled_dot_product_attention(q, k, v)
    seen = {"q": q, "k": k, "v": v, "dots": q @ k.T, "scores": q @ k.T / math.sqrt(k.size(1)), "mixed": mixed}
    if "x" in data:
        x, w = torch.tensor(data["x"]).double(), [torch.tensor(matrix).double() for matrix in data["w"].values()]
        seen |= {"left": [x] * 3, "right": w, "made": [x @ matrix for matrix in w]}
        assert_close(seen["made"], [q, k, v], rtol=0, atol=0)
    return seen | {"weights": weights, "map": weights}


def close(text, value):
    shown = -math.inf if text == "−∞" else float(text.strip("()").replace("−", "-"))
    return shown == value or abs(shown - value) <= 10.0 ** -len(text.partition(".")[2]) / 2 + 1e-6


@pytest.mark.parametrize("example", ["self", "cross"])
def test_every_number_is_the_librarys(touch, example):
    figure = live.attention_steps(example)
    seen, data = touch(figure), figure.data

    def press(group, name):
        seen.figure.get_by_role("group", name=group).get_by_role("button", name=name, exact=True).press("Enter")

    wanted, shown = expected(data), set()
    for word, asker in enumerate(data["asks"]):
        press(data["who"], asker)
        for at, step in enumerate(seen.figure.get_by_role("combobox").locator("option").all_text_contents()):
            for name, row, column, text in seen.figure.evaluate(GO, at):
                if not text or name not in wanted or ("W_" in step) != (name in ("left", "right", "made")):
                    continue
                matrix = wanted[name][at] if isinstance(wanted[name], list) else wanted[name]
                place = (word, row) if name in LINES else (word, column) if name in ("q", "mixed") else (row, column)
                assert close(text, matrix[place].item()), (step, name, row, column)
                shown.add((name, *place))
    for name in ("weights", "mixed"):
        assert sum(one[0] == name for one in shown) == wanted[name].numel()


@torch.no_grad()
def test_the_weights_of_the_trained_model_are_its_own():
    translator, text = pretrained_translator(), "the white cow is big"
    source, written = (torch.tensor([translator.tokenizer.encode(words)]) for words in (text, translator.translate(text)))
    with capture_attention(translator.model) as kept:
        translator.model(source, torch.cat([torch.tensor([[1]]), written], dim=1))
    shown = torch.tensor(trained_attention(translator, text).data["looks"][0]["weights"])
    assert_close(shown, kept["decoder.layers.1.cross_attention"][0, 0], atol=1e-5, rtol=0)


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
        page.clock.run_for(1300)
        page.get_by_role("button", name="pause").press("Enter")
        stopped = slider.input_value()
        assert listed.input_value().startswith("1 · ") and stopped > "0"
        page.clock.run_for(10_000)
        assert slider.input_value() == stopped
        play.press("Enter")
        page.clock.run_for(12_000)
        assert listed.input_value() == "7 · mix the values" and play.is_visible(), "it stops at the end, and leaves it there"
