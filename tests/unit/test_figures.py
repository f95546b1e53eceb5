"""Figures: shown once with words beside them, axes that cannot be mixed up, the course's map."""

import io
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.text import Text
from PIL import Image
from torch import nn
from torch.testing import assert_close

from transformer_lib.attention import MultiHeadAttention
from transformer_lib.decoding import attend, keys_and_values
from transformer_lib.teaching import capture_attention, figures, model_map
from transformer_lib.teaching.figures import plots
from transformer_lib.teaching.figures.model_map import CHAPTERS

LABELS = {"title": "A map", "x_label": "column", "y_label": "row"}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_a_figure_is_shown_once_with_its_words_and_can_be_read_on_a_phone(monkeypatch):
    shown = []
    monkeypatch.setattr(plots, "display", lambda data, **settings: shown.append(SimpleNamespace(data=data, **settings)))
    for _ in range(2):
        figure, (left, right) = figures.subplots(columns=2, width=4.8)
        figures.heatmap(left, np.zeros((2, 2)), **LABELS)
        right.text(0, 0, "tiny", size=4)
        figures.show(figure, alt="A map\n  and a plot.")
    assert shown[0].data == shown[1].data  # the same bytes on every run
    assert shown[0].data["text/plain"] == "A map and a plot." and not plt.get_fignums()
    width = shown[0].metadata["image/png"]["width"]
    assert Image.open(io.BytesIO(shown[0].data["image/png"])).width == 2 * width
    # Nine CSS pixels, where a window of 390 leaves 340 to the figure.
    assert min(text.get_size() * 100 / 72 * 340 / width for text in figure.findobj(Text) if text.get_text()) >= 8.999
    with pytest.raises(ValueError, match="alt is empty"):
        figures.show(figures.subplots()[0], alt=" ")


def test_a_heatmap_labels_what_it_shows():
    axes = figures.subplots()[1]
    values = np.linspace(-1, 1, 6).reshape(2, 3)
    figures.heatmap(axes, torch.tensor(values, requires_grad=True), **LABELS, x_ticks="abc", symmetric=True, write_values=True)
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("A map", "column", "row")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # row 0 is at the top
    assert axes.images[0].get_clim() == (-1, 1) and [text.get_text() for text in axes.texts][:2] == ["-1.00", "-0.60"]
    with pytest.raises(ValueError, match="x_ticks has 2 labels, but values has 3 columns"):
        figures.heatmap(axes, np.zeros((2, 3)), **LABELS, x_ticks="ab")


@pytest.mark.parametrize(
    ("shape", "message"), [((3, 2), "the axes are swapped"), ((8, 2, 3), "pick one sentence and one head")]
)
def test_attention_map_has_queries_as_rows_and_keys_as_columns(shape, message):
    axes, words = figures.subplots()[1], {"query_tokens": ["je", "suis"], "key_tokens": ["I", "am", "here"]}
    figures.attention_map(axes, [[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]], **words, title="Who looks")
    assert [label.get_text() for label in axes.get_yticklabels()] == words["query_tokens"]
    assert "query" in axes.get_ylabel() and "key" in axes.get_xlabel()
    with pytest.raises(ValueError, match=message):
        figures.attention_map(axes, np.ones(shape), **words, title="Who looks")


def test_a_matrix_table_in_plain_text_and_in_html():
    table = figures.matrix_table([[0.5, -0.0004], [10, 2]], name="P<1>", row_labels=["<I>", "am"], column_labels=[0, 1])
    assert repr(table) == "P<1>  (2, 2)\n          0      1\n<I>   0.500  0.000\n am  10.000  2.000"
    root = ElementTree.fromstring(table._repr_html_())
    assert "".join(root.find("table/caption").itertext()) == "P<1> (2, 2)"
    assert [(cell.text, cell.get("scope")) for cell in root.iter("th")][1:3] == [("1", "col"), ("<I>", "row")]
    assert [cell.text for cell in root.findall("table/tbody/tr/td")] == ["0.500", "0.000", "10.000", "2.000"]
    with pytest.raises(ValueError, match="row_labels has 1 labels, but values has 2 rows"):
        figures.matrix_table(np.ones((2, 3)), name="P", row_labels=["a"])


# The map of the course

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("stem", CHAPTERS)
def test_a_chapter_lights_its_own_boxes_in_both_drawings(stem):
    root = ElementTree.fromstring(model_map(stem))
    for drawing in root.iter(f"{SVG}svg"):
        boxes = [group.get("class").split() for group in drawing.iter(f"{SVG}g") if "box" in group.get("class").split()]
        assert {names[-2] for names in boxes if names[-1] == "lit"} == {stem} == {n[-2] for n in boxes if stem in n}
    links = [link.get("href") for link in root.iter("{http://www.w3.org/1999/xhtml}a")]
    assert set(links) == {f"{number:02}_{name}.ipynb" for name, (number, _) in CHAPTERS.items()}
    number, title = CHAPTERS[stem]
    assert f"You are here: {number} · {title}" in model_map(stem) and repr(model_map(stem)) == f"model_map('{stem}')"


def test_the_map_links_to_the_addresses_it_is_given():
    assert [number for number, _ in CHAPTERS.values()] == list(range(1, 19))
    assert re.findall(r'href="([^"]*)"', model_map(links={"masks": "a.html?b&c"})) == ["a.html?b&amp;c"]
    assert 'role="img"' in model_map() and "<a " not in model_map() and "lit" not in str(model_map()).partition("</style>")[2]
    with pytest.raises(ValueError, match="text2.*known are seq2seq"):
        model_map("text2")


# Weights of a forward pass


class Backwards(MultiHeadAttention):
    """What it looks at is not what the projections say."""

    def mix(self, q, k, v, mask):
        return super().mix(q, k.flip(2), v, mask)


def test_it_keeps_the_masked_weights_that_each_layer_used():
    torch.manual_seed(0)
    model = nn.ModuleDict({"first": MultiHeadAttention(8, 2), "second": Backwards(8, 4)})
    x, memory, mask = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.tensor([[[[True, True, False, True, False]]]])
    with pytest.raises(KeyError), capture_attention(model) as kept:
        output = model["first"](x, memory, memory, mask)
        model["second"](x, memory, memory)
        raise KeyError
    assert_close(kept["first"], model["first"].weights)
    assert_close(kept["second"], model["second"].weights)
    assert not kept["first"].requires_grad and not kept["first"].masked_select(~mask).any()
    assert_close(output, model["first"](x, memory, memory, mask))
    before = {name: weights.clone() for name, weights in kept.items()}
    model["first"](x, x, x)
    assert_close(kept, before)  # the model is left as it was
    with capture_attention(model["first"]) as pieces:  # a model with a cache calls it in pieces
        attend(model["first"], x, keys_and_values(model["first"], memory), mask)
    assert_close(pieces[""], kept["first"])
    with pytest.raises(ValueError, match="must contain a MultiHeadAttention"), capture_attention(nn.Linear(2, 2)):
        pass
