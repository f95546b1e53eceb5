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
from transformer_lib.teaching.figures import live

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
    return [looked(*made, causal_mask(4)) | {"left": x, "right": w, "made": made}]


EXPECTED = {
    "self": expected_self,
    "heads": expected_heads,
    "mask": expected_mask,
    "cross": expected_cross,
    "cache": expected_cache,
}


def cells(seen, name):
    """The texts of a matrix by row and column; those that are not made yet are empty."""
    return {
        (row, column): text
        for row, column, text in seen.figure.locator(f"g[data-matrix={name}]").evaluate_all(
            """cells => cells.map(cell =>
                [+cell.dataset.row, +cell.dataset.column, cell.querySelector('text')?.textContent ?? ''])"""
        )
    }


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


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("example", EXPECTED)
def test_every_number_is_the_librarys(touch, choose, slide, example, width):
    figure = live.attention_steps(example)
    seen = touch(figure, width=width)
    data = figure.data
    for look, expected in enumerate(EXPECTED[example]()):
        if len(data["looks"]) > 1:
            press(seen, data["which"], data["looks"][look]["name"])
        for word, asker in enumerate(data["asks"]):
            press(seen, data["who"], asker)
            answers = range(word + 1 if data["cache"] else len(data["answers"]))
            names = steps(seen)
            for at, step in enumerate(names):
                choose(seen, "step", at)
                slide(seen, "number", int(seen.figure.get_by_role("slider").get_attribute("max")))
                product = "W_" in step or "join" in step
                if product:
                    joined = at >= len(names) - 2
                    which = at if at < 3 else at - len(names) + 5
                    matrices = {
                        name: matrix[which] if isinstance(matrix, list) else matrix
                        for name in ("left", "right", "made")
                        if (matrix := expected[name]) is not None
                    }
                else:
                    matrices = {name: matrix for name, matrix in expected.items() if name not in ("left", "right", "made")}
                for name, matrix in matrices.items():
                    if matrix is None:
                        continue
                    for (row, column), text in cells(seen, name).items():
                        if not text:
                            continue
                        if name in ("q", "mixed") or (product and joined and name != "right"):
                            value = matrix[word, column]
                        elif name in ("dots", "scores", "masked", "weights"):
                            value = matrix[word, row]
                        else:
                            value = matrix[row, column]
                        assert close(text, value.item()), (asker, step, name, row, column)
            if "mixed" in expected and len(data["looks"]) == 1:
                assert all(cells(seen, "mixed").values()), "at the end everything is made"
                assert [bool(text) for text in cells(seen, "weights").values()] == [
                    row in answers for row in range(len(data["answers"]))
                ]
    assert seen.complaints == []
