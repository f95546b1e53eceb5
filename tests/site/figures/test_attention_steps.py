"""Every number that the figure shows is the library's; it plays when asked, and only then."""

import math

import pytest
import torch
from torch.testing import assert_close

from transformer_lib.attention import scaled_dot_product_attention, split_heads
from transformer_lib.masks import causal_mask
from transformer_lib.teaching import capture_attention
from transformer_lib.teaching.figures import live
from transformer_lib.teaching.figures.live.trained_attention import trained_attention
from transformer_lib.translation import pretrained_translator

LINES = ("dots", "scores", "masked", "weights")  # a column of the look-up is a row of the matrix
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
    """Return for each head what the library computes from the sentence and the matrices that the figure starts from."""
    looks, mask = [], causal_mask(len(data["asks"])) if data["cache"] else None
    if "q" not in data:  # the mask is shown from the scores on
        scores = torch.tensor(data["looks"][0]["scores"]).double()
        for hidden in (causal_mask(4), torch.ones(4, 4).bool()):
            masked = scores.masked_fill(~hidden, -math.inf)
            looks.append({"scores": scores, "masked": masked, "weights": masked.softmax(-1), "map": masked.softmax(-1)})
        return looks
    q, k, v = (torch.tensor(data[name]).double() for name in "qkv")
    for query, key, value in zip(*(split_heads(matrix[None], data["heads"])[0] for matrix in (q, k, v)), strict=True):
        mixed, weights = scaled_dot_product_attention(query, key, value, mask)
        dots = query @ key.T
        looks.append({"q": query, "k": key, "v": value, "dots": dots, "scores": dots / math.sqrt(key.size(1))})
        looks[-1] |= {"weights": weights, "map": weights, "mixed": mixed}
    joined = torch.cat([look["mixed"] for look in looks], dim=1)
    if "x" in data:
        x, w = torch.tensor(data["x"]).double(), [torch.tensor(matrix).double() for matrix in data["w"].values()]
        assert all((x @ matrix).equal(made) for matrix, made in zip(w, (q, k, v), strict=False))
        products = {"left": [x, x, x, joined, joined], "right": [*w[:3], *w[3:], *w[3:]]}
        products["made"] = [q, k, v, None, joined @ w[3] if w[3:] else None]
        looks = [look | products for look in looks]
    return looks


def close(text, value):
    shown = -math.inf if text == "−∞" else float(text.strip("()").replace("−", "-"))
    return shown == value or abs(shown - value) <= 10.0 ** -len(text.partition(".")[2]) / 2 + 1e-6


@pytest.mark.parametrize("example", ["self", "heads", "mask", "cross", "cache"])
def test_every_number_is_the_librarys(touch, example):
    figure = live.attention_steps(example)
    seen, data = touch(figure), figure.data

    def press(group, name):
        seen.figure.get_by_role("group", name=group).get_by_role("button", name=name, exact=True).press("Enter")

    for look, wanted in zip(data["looks"], expected(data), strict=True):
        if len(data["looks"]) > 1:
            press(data["which"], look["name"])
        shown = set()
        for word, asker in enumerate(data["asks"]):
            press(data["who"], asker)
            for at, step in enumerate(seen.figure.get_by_role("combobox").locator("option").all_text_contents()):
                product = "join" in step or "W_" in step
                which = 3 if "join" in step else 4 if "W_O" in step else at
                for name, row, column, text in seen.figure.evaluate(GO, at):
                    matrix = wanted.get(name)
                    if product != (name in ("left", "right", "made")) or not text or matrix is None:
                        continue
                    matrix = matrix[which] if isinstance(matrix, list) else matrix
                    if matrix is None:
                        continue
                    of_the_word = name in ("q", "mixed") or (which > 2 and name != "right" and product)
                    place = (word, row) if name in LINES else (word, column) if of_the_word else (row, column)
                    assert close(text, matrix[place].item()), (step, name, row, column)
                    shown.add((name, *place))
        for name in ("weights", *(wanted.keys() & {"mixed"})):
            if example != "cache":
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
