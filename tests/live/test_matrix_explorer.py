"""Shapes, parameters and multiplications are those of the library's layer, and the lit row and column make the number."""

import re

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from transformer_lib.encoder import EncoderLayer, TransformerConfig
from transformer_lib.teaching.figures import capture_attention, live, shape_summary

VALUES = {
    "seq_len": [1, 3, 10, 50, 200, 1000, 2048, 4000],
    "d_model": [8, 16, 32, 64, 128, 256, 512, 1024],
    "heads": [1, 2, 4, 8],
    "d_ff": [12, 32, 128, 512, 2048, 4096],
}
LAYERS = [(1, 8, 8, 12), (3, 8, 4, 12), (50, 512, 8, 2048), (200, 64, 1, 32), (1000, 1024, 2, 4096)]


@pytest.fixture
def sized(touch, slide):
    """A function that opens the explorer and chooses these sizes."""

    def open_it(*sizes, width=1280):
        seen = touch(live.matrix_explorer(), width=width)
        for (label, values), size in zip(VALUES.items(), sizes, strict=True):
            slide(seen, label, values.index(size))
        return seen

    return open_it


def choose(seen, product):
    """Choose the product with this result, by keyboard."""
    seen.figure.get_by_label("product").focus()
    seen.page.keyboard.type(f"{product} =")


def layer_of(d_model, heads, d_ff):
    with torch.device("meta"):
        return EncoderLayer(TransformerConfig(d_model=d_model, num_heads=heads, d_ff=d_ff, dropout=0.0))


@pytest.mark.parametrize("sizes", LAYERS)
def test_every_shape_is_that_of_the_layer(sized, sizes):
    seq_len, d_model, heads, d_ff = sizes
    layer, x = layer_of(d_model, heads, d_ff), torch.zeros(1, seq_len, d_model, device="meta")
    with capture_attention(layer) as captured:
        ran = {entry.part: entry for entry in shape_summary(layer, x).entries}
    label = sized(*sizes).figure.get_by_role("img").get_attribute("aria-label")
    shown = {}
    for name, *shape in re.findall(r"(\w[\wᵀ ]*?) \((\d+), (\d+)\)", label):
        # A matrix that stands in two equations has the same shape in both.
        assert shown.setdefault(name, tuple(map(int, shape))) == tuple(map(int, shape))

    def given(part):
        return ran[part].input[1:]

    def made(part, parts=1):
        rows, columns = ran[part].output[1:]
        return rows, columns // parts

    def learned(part, parts=1):
        rows, columns = dict(ran[part].parameters)["weight"][::-1]
        return rows, columns // parts

    projections = {name: f"attention.{word}_projection" for name, word in zip("QKV", ("query", "key", "value"), strict=True)}
    assert shown == {
        "X": tuple(x.shape[1:]),
        **{f"W_{name}": learned(part, heads) for name, part in projections.items()},
        **{name: made(part, heads) for name, part in projections.items()},
        "Kᵀ": made(projections["K"], heads)[::-1],
        "scores": captured["attention"].shape[2:],
        "weights": captured["attention"].shape[2:],
        "head 1": made(projections["V"], heads),
        "joined": given("attention.output_projection"),
        "W_O": learned("attention.output_projection"),
        "attention output": made("attention.output_projection"),
        "Z": given("feed_forward.inner"),
        "W_1": learned("feed_forward.inner"),
        "F_1": made("feed_forward.inner"),
        "F_2": given("feed_forward.outer"),
        "W_2": learned("feed_forward.outer"),
        "F_3": made("feed_forward.outer"),
        "output": made("feed_forward_residual.norm"),
    }


@pytest.mark.parametrize("sizes", LAYERS)
def test_its_counts_are_those_of_the_layer_and_of_torchs_counter(sized, sizes):
    seq_len, d_model, heads, d_ff = sizes
    layer, x = layer_of(d_model, heads, d_ff), torch.zeros(1, seq_len, d_model, device="meta")
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        layer(x)
    flops = {name.removeprefix("EncoderLayer").lstrip("."): sum(by.values()) for name, by in counter.get_flop_counts().items()}

    def both(*parts):
        """The parameters of these parts, and half of their operations: an addition goes with each multiplication."""
        numbers = [parameter.numel() for part in parts for parameter in layer.get_submodule(part).parameters()]
        return sum(numbers), sum(flops.get(part, 0) for part in parts) // 2

    projections = [f"attention.{name}_projection" for name in ("query", "key", "value", "output")]
    expected = {
        "Q, K, V": both(*projections[:3]),
        "scores, heads": (0, both("attention")[1] - both(*projections)[1]),
        "joined · W_O": both(projections[3]),
        "feed-forward": both("feed_forward"),
        "norms (γ, β)": both("attention_residual.norm", "feed_forward_residual.norm"),
        "the layer": both(""),
    }
    rows = sized(*sizes).figure.locator("tbody tr").all_inner_texts()
    shown = {
        name: tuple(int(count.replace(",", "")) for count in counts) for name, *counts in (row.split("\t") for row in rows)
    }
    assert shown == expected


@pytest.mark.parametrize(
    ("product", "left", "right", "times"),
    [
        ("Q", "X", "W_Q", 4),
        ("K", "X", "W_K", 4),
        ("V", "X", "W_V", 4),
        ("scores", "Q", "Kᵀ", 4),
        ("head 1", "weights", "V", 4),
        ("attention output", "joined", "W_O", 1),
        ("F_1", "Z", "W_1", 1),
        ("F_3", "F_2", "W_2", 1),
    ],
)
def test_the_lit_row_and_column_make_the_lit_number(sized, slide, product, left, right, times):
    """In the sizes of the chapter's drawing each number is a square, so the lit ones can be counted."""
    seen = sized(3, 8, 4, 12)
    choose(seen, product)
    slide(seen, "row", 1)
    slide(seen, "column", 1)
    lit = seen.figure.locator("rect.tl-lit").evaluate_all(
        """nodes => Object.fromEntries(nodes.map(node => {
            const whole = node.previousElementSibling
            const name = whole.previousElementSibling.previousElementSibling
            const place = ['x', 'y', 'width', 'height'].map(key => node[key].baseVal.value)
            return [name.textContent, {place, whole: ['x', 'y'].map(key => whole[key].baseVal.value)}]
        }))"""
    )
    row, column, number = (lit[name.replace("_", "")] for name in (left, right, product))
    cell = number["place"][2]
    squares = {
        name: [round((part["place"][axis] - part["whole"][axis]) / cell, 3) for axis in (0, 1)]
        + [round(part["place"][axis] / cell, 3) for axis in (2, 3)]
        for name, part in (("row", row), ("column", column), ("number", number))
    }
    terms = squares["row"][2]
    assert squares == {"row": [0, 1, terms, 1], "column": [1, 0, 1, terms], "number": [1, 1, 1, 1]}

    says = seen.figure.locator(".tl-says").inner_text()
    assert f"row 1 of {left} times column 1 of {right}, {terms:g} multiplications" in says
    label = seen.figure.get_by_role("img").get_attribute("aria-label")
    shapes = {
        name: torch.ones(int(rows), int(columns)) for name, rows, columns in re.findall(r"(\w[\wᵀ ]*) \((\d+), (\d+)\)", label)
    }
    result = shapes[left] @ shapes[right]
    assert result.shape == shapes[product].shape and result[1, 1] == terms
    assert f": {int(times * result.sum())}." in says
    learned = sum(shapes[right].shape[0] * columns + columns for columns in shapes[right].shape[1:]) * times
    assert (f"{learned} parameters" if right.startswith("W") else "No parameters") in says


def test_the_pointer_chooses_the_number_below_it(sized):
    seen = sized(3, 8, 4, 12)
    # In F_1, the only matrix of this name: 3 rows of 12.
    frame = seen.figure.locator("svg text", has_text=re.compile("^F1$")).locator("xpath=following-sibling::*[name()='rect'][2]")
    frame.scroll_into_view_if_needed()
    box = frame.bounding_box()
    seen.page.mouse.move(box["x"] + box["width"] * 4.5 / 12, box["y"] + box["height"] * 1.5 / 3)
    assert "row 1 of Z times column 4 of W_1" in seen.figure.locator(".tl-says").inner_text()
    assert seen.figure.get_by_label("product").evaluate("node => node.selectedOptions[0].textContent") == "F_1 = Z · W_1"
    assert [seen.figure.get_by_role("slider", name=name).input_value() for name in ("row", "column")] == ["1", "4"]


def test_a_product_keeps_its_number_inside(sized, slide):
    """A row that a smaller sentence does not have becomes its last one."""
    seen = sized(50, 512, 8, 2048)
    slide(seen, "row", 49)
    seen.figure.get_by_role("slider", name="seq_len").press("ArrowLeft")
    assert "row 9 of X" in seen.figure.locator(".tl-says").inner_text()
    assert seen.complaints == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("sizes", [(4000, 1024, 8, 4096), (4000, 8, 8, 12), (1, 1024, 1, 12), (1, 8, 1, 12)])
def test_the_largest_and_the_smallest_sizes_fit(sized, width, sizes):
    seen = sized(*sizes, width=width)
    assert seen.figure.locator(".tl-stage").evaluate("stage => stage.scrollWidth <= stage.clientWidth")
    outside = seen.figure.evaluate(
        """figure => [...figure.querySelectorAll('svg :is(rect, text)')].filter(node => {
            const [box, whole] = [node.getBoundingClientRect(), node.ownerSVGElement.getBoundingClientRect()]
            return box.left < whole.left - 1 || box.right > whole.right + 1 || box.bottom > whole.bottom + 3
        }).length"""
    )
    assert outside == 0 and seen.complaints == []


def test_both_buttons_set_their_sizes(sized):
    seen = sized(200, 16, 1, 32)
    for name, total in [("drawing's sizes", layer_of(8, 4, 12)), ("paper's sizes", layer_of(512, 8, 2048))]:
        seen.figure.get_by_role("button", name=name).press("Enter")
        count = sum(parameter.numel() for parameter in total.parameters())
        assert seen.figure.locator("tbody tr").last.inner_text().split("\t")[1] == f"{count:,}"


def test_it_begins_with_the_drawing_and_a_small_product_is_drawn_once_more_larger(touch):
    seen = touch(live.matrix_explorer())
    label = seen.figure.get_by_role("img").get_attribute("aria-label")
    assert "X (3, 8)" in label and "W_1 (8, 12)" in label
    larger = seen.figure.locator("svg text", has_text="times as large")
    assert larger.count() == 0
    seen.figure.get_by_role("button", name="paper's sizes").press("Enter")
    assert larger.count() == 1
    widths = seen.figure.locator("svg text", has_text=re.compile("^X$")).evaluate_all(
        "nodes => nodes.map(node => node.nextElementSibling.nextElementSibling.width.baseVal.value)"
    )
    times = float(re.search(r"([\d.]+) times", larger.text_content()).group(1))
    assert widths[1] / widths[0] == pytest.approx(times, abs=0.06)
    # The row in the middle of X, in both.
    assert [seen.figure.get_by_role("slider", name=name).input_value() for name in ("row", "column")] == ["25", "32"]
    assert seen.figure.locator("rect.tl-lit").count() == 6


@pytest.mark.parametrize("width", [390, 1280])
def test_a_long_sentence_makes_scores_and_heads_the_largest_row(touch, slide, width):
    """At d_ff tokens they cost what the feed-forward network costs, and beyond it more."""
    seen = touch(live.matrix_explorer(), width=width)
    seen.figure.get_by_role("button", name="paper's sizes").press("Enter")
    found = {}
    for length in (1000, 2048, 4000):
        slide(seen, "seq_len", VALUES["seq_len"].index(length))
        rows = [row.split("\t") for row in seen.figure.locator("tbody tr").all_inner_texts()]
        costs = {name: int(count.replace(",", "")) for name, _, count in rows}
        found[length] = costs["scores, heads"] - costs["feed-forward"]
    assert found[1000] < 0 == found[2048] < found[4000]


def test_without_scripts_it_tells_the_papers_sizes(touch):
    layer = layer_of(512, 8, 2048)
    inside = sum(parameter.numel() for parameter in layer.feed_forward.parameters())
    says = live.matrix_explorer().says
    assert f"{inside:,} of its {sum(parameter.numel() for parameter in layer.parameters()):,}" in says
    still = touch(live.matrix_explorer(), scripts=False).figure.get_by_role("img")
    assert "W_1(512, 2048)" in still.text_content() and "W_2(2048, 512)" in still.text_content()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_sizes_stay_in_view_with_the_table_that_they_change(touch, width):
    seen = touch(live.matrix_explorer(), width=width)
    seen.figure.get_by_role("button", name="paper's sizes").press("Enter")
    table = seen.figure.get_by_role("table")
    table.evaluate("node => node.scrollIntoView({ block: 'end' })")
    top = seen.figure.get_by_role("slider", name="seq_len").bounding_box()["y"]
    last = seen.figure.get_by_role("slider", name="d_ff").bounding_box()
    assert seen.page.evaluate("scrollY") > 200 and 0 <= top < last["y"] + last["height"] < table.bounding_box()["y"]
