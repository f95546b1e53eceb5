"""Figures: one style, shown once with words beside them, axes that cannot be mixed up, matrices with their shapes."""

import io
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.text import Text
from PIL import Image

from transformer_lib.teaching import figures
from transformer_lib.teaching.figures import plots

LABELS = {"title": "A map", "x_label": "column", "y_label": "row"}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def axes():
    return figures.subplots()[1]


@pytest.fixture
def shown(monkeypatch):
    """What `show` hands to the notebook."""
    outputs = []
    monkeypatch.setattr(plots, "display", lambda data, **settings: outputs.append(SimpleNamespace(data=data, **settings)))
    return outputs


def test_matplotlib_keeps_its_own_settings():
    before = dict(matplotlib.rcParams)
    figure, axes = figures.subplots(columns=2)
    assert dict(matplotlib.rcParams) == before
    assert figure.get_facecolor() == (1, 1, 1, 1)
    assert axes.shape == (2,)
    assert not axes[0].spines["top"].get_visible()


def test_a_figure_is_shown_once_with_its_words(shown):
    figure, _ = figures.subplots(width=4, height=2)
    figures.show(figure, alt="An empty\n  plot.")
    (output,) = shown
    assert output.raw
    assert output.data.keys() == {"image/png", "text/plain"}
    assert output.data["text/plain"] == "An empty plot."
    assert not plt.get_fignums()


def test_a_figure_has_two_dots_for_each_point_and_the_same_bytes_each_time(shown):
    for _ in range(2):
        figure, axes = figures.subplots(width=4, height=2)
        axes.plot([0, 1])
        figures.show(figure, alt="A line.")
    first, second = (output.data["image/png"] for output in shown)
    picture = Image.open(io.BytesIO(first))
    assert picture.width == 2 * shown[0].metadata["image/png"]["width"] == 800
    assert set(picture.info) == {"dpi"}
    assert first == second


@pytest.mark.parametrize("width", [4.8, 7.2])
def test_no_text_of_a_figure_is_too_small_on_a_phone(shown, width):
    """Nine CSS pixels, where a window of 390 leaves 340 to the figure."""
    figure, (left, _) = figures.subplots(columns=2, width=width)
    figures.heatmap(left, np.zeros((2, 2)), **LABELS)
    left.text(0, 0, "tiny", size=4)
    left.plot([0, 1], label="a line")
    left.legend(fontsize=5)
    left.tick_params(labelsize=3)
    figures.show(figure, alt="A map and a plot.")
    texts = [text for text in figure.findobj(Text) if text.get_text()]
    assert {"tiny", "a line", "A map", "0"} <= {text.get_text() for text in texts}
    on_a_phone = 340 / shown[0].metadata["image/png"]["width"]
    assert min(text.get_size() * 100 / 72 * on_a_phone for text in texts) >= 8.999


def test_a_figure_without_words_is_refused(shown):
    with pytest.raises(ValueError, match="alt is empty"):
        figures.show(figures.subplots()[0], alt=" ")
    assert not shown


@pytest.mark.parametrize("sight", ["full", "protanopia", "deuteranopia"])
def test_a_larger_value_is_brighter_for_everybody(sight, colour):
    ramp = matplotlib.colormaps[figures.SEQUENTIAL](np.linspace(0, 1, 16))[:, :3]
    lightness = [colour.lab(step, sight)[0] for step in ramp]
    assert min(np.diff(lightness)) > 2


@pytest.mark.parametrize("sight", ["full", "protanopia", "deuteranopia"])
def test_the_signs_stay_apart_for_everybody(sight, colour):
    low, middle, high = (colour.lab(matplotlib.colormaps[figures.DIVERGING](x)[:3], sight) for x in (0.1, 0.5, 0.9))
    assert np.linalg.norm(low - high) > 40
    assert middle[0] > max(low[0], high[0]) + 30


def test_heatmap_labels_what_it_shows(axes):
    figures.heatmap(axes, torch.zeros(2, 3, requires_grad=True), **LABELS, x_ticks="abc", y_ticks=["d", "e"])
    assert axes.get_title() == "A map"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("column", "row")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["d", "e"]
    # Row 0 is at the top.
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    # The map and its colour bar.
    assert len(axes.figure.axes) == 2


def test_rows_and_columns_are_counted_in_whole_numbers(axes):
    figures.heatmap(axes, np.zeros((3, 3)), **LABELS)
    assert all(tick == round(tick) for tick in [*axes.get_xticks(), *axes.get_yticks()])


def test_symmetric_puts_zero_in_the_middle(axes):
    figures.heatmap(axes, [[-1.0, 3.0]], **LABELS, symmetric=True)
    (image,) = axes.images
    assert image.get_clim() == (-3, 3)
    assert image.get_cmap().name == figures.DIVERGING


@pytest.mark.parametrize("symmetric", [False, True])
def test_written_values_can_be_read(axes, symmetric, colour):
    values = np.linspace(-1, 1, 21).reshape(3, 7)
    figures.heatmap(axes, values, **LABELS, symmetric=symmetric, write_values=True)
    assert [text.get_text() for text in axes.texts][:2] == ["-1.00", "-0.90"]
    assert axes.texts[10].get_text() == "0.00"
    for text, value in zip(axes.texts, values.flat, strict=True):
        assert colour.contrast(to_hex(axes.images[0].to_rgba(value)), to_hex(text.get_color())) >= 4.5


@pytest.mark.parametrize(
    ("values", "ticks", "message"),
    [
        (np.zeros(3), {}, r"shape \(3,\), expected two dimensions"),
        (np.zeros((1, 2, 3)), {}, r"shape \(1, 2, 3\), expected two dimensions"),
        (np.zeros((0, 3)), {}, "nothing to show"),
        (np.zeros((2, 3)), {"x_ticks": "ab"}, "x_ticks has 2 labels, but values has 3 columns"),
        (np.zeros((2, 3)), {"y_ticks": "abc"}, "y_ticks has 3 labels, but values has 2 rows"),
    ],
)
def test_heatmap_refuses_what_does_not_fit(axes, values, ticks, message):
    with pytest.raises(ValueError, match=message):
        figures.heatmap(axes, values, **LABELS, **ticks)


def test_attention_map_has_queries_as_rows_and_keys_as_columns(axes):
    weights = [[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]]
    figures.attention_map(axes, weights, query_tokens=["je", "suis"], key_tokens=["I", "am", "here"], title="Who looks")
    assert np.array_equal(axes.images[0].get_array(), weights)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["je", "suis"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["I", "am", "here"]
    assert "query" in axes.get_ylabel()
    assert "key" in axes.get_xlabel()


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((3, 2), "the axes are swapped"),
        ((2, 4), r"axis 1 \(key\) is 4 where there are 3 key tokens"),
        ((1, 3), r"axis 0 \(query\) is 1 where there are 2 query tokens"),
        ((1, 4), "axis 0 .* and axis 1 "),
        ((8, 2, 3), "pick one sentence and one head"),
    ],
)
def test_attention_map_says_which_axis_is_wrong(axes, shape, message):
    """Pitfall 6: a map whose axes are swapped must not be drawn."""
    with pytest.raises(ValueError, match=message):
        figures.attention_map(
            axes, np.ones(shape), query_tokens=["je", "suis"], key_tokens=["I", "am", "here"], title="Who looks"
        )


def test_matrix_table_in_plain_text():
    table = figures.matrix_table([[0.5, -0.0004], [10, 2]], name="P", row_labels=["I", "am"], column_labels=[0, 1])
    assert repr(table) == "P  (2, 2)\n         0      1\n I   0.500  0.000\nam  10.000  2.000"


def test_matrix_table_in_html():
    table = figures.matrix_table(
        torch.tensor([[0.5, -0.0004]]), name="P<1>", row_labels=["<I>"], column_labels=["sin", "cos"], digits=1
    )
    root = ElementTree.fromstring(table._repr_html_())
    assert root.get("class") == "tl-matrix"
    assert "".join(root.find("table/caption").itertext()) == "P<1> (1, 2)"
    assert [(cell.text, cell.get("scope")) for cell in root.iter("th")] == [("sin", "col"), ("cos", "col"), ("<I>", "row")]
    assert [cell.text for cell in root.findall("table/tbody/tr/td")] == ["0.5", "0.0"]


def test_a_vector_is_one_row():
    assert repr(figures.matrix_table([1, 2], name="v", digits=0)) == "v  (2,)\n1  2"


@pytest.mark.parametrize(("columns", "reachable"), [(5, False), (6, True)])
def test_a_table_that_may_scroll_is_reached_by_keyboard(columns, reachable):
    root = ElementTree.fromstring(figures.matrix_table(np.ones((2, columns)), name="P")._repr_html_())
    assert (root.get("tabindex") == "0") is reachable
    assert (root.get("aria-label") is not None) is reachable


@pytest.mark.parametrize(
    ("values", "labels", "message"),
    [
        (np.ones((1, 2, 3)), {}, "expected one or two dimensions"),
        (np.ones((2, 3)), {"row_labels": ["a"]}, "row_labels has 1 labels, but values has 2 rows"),
        (np.ones((2, 3)), {"column_labels": ["a"]}, "column_labels has 1 labels, but values has 3 columns"),
    ],
)
def test_matrix_table_refuses_what_does_not_fit(values, labels, message):
    with pytest.raises(ValueError, match=message):
        figures.matrix_table(values, name="P", **labels)
