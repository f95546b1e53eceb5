"""Shapes, parameters and multiplications are those of the library's layer; the scale stays, or it says how it changes."""

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
    for names, *shape in re.findall(r"([\w, ]+?) \((\d+), (\d+)\)", label):
        shown |= dict.fromkeys(names.strip().split(", "), tuple(map(int, shape)))

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
        "Z": given("feed_forward.inner"),
        **{f"W_{name}": learned(part, heads) for name, part in projections.items()},
        **{name: made(part, heads) for name, part in projections.items()},
        "scores": captured["attention"].shape[2:],
        "W_O": learned("attention.output_projection"),
        "W_1": learned("feed_forward.inner"),
        "F_1": made("feed_forward.inner"),
        "F_2": given("feed_forward.outer"),
        "W_2": learned("feed_forward.outer"),
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


def boxes(seen):
    """The left edge, the top, the width and the height of each matrix, in numbers by the scale that the figure shows."""
    numbers = int(seen.figure.locator("svg text").first.text_content().removesuffix(" numbers").replace(",", ""))
    pixels = seen.figure.locator("svg path").first.evaluate("path => path.getBBox().width")
    found = seen.figure.locator("svg rect").evaluate_all(
        "nodes => nodes.map(node => ['x', 'y', 'width', 'height'].map(key => node[key].baseVal.value))"
    )
    return numbers / pixels, found


@pytest.mark.parametrize("width", [390, 1280])
def test_a_longer_sentence_keeps_the_scale_and_a_new_scale_is_told(touch, slide, width):
    seen = touch(live.matrix_explorer(), width=width)
    change = seen.figure.locator(".tl-change")
    assert change.count() == 0
    scale, _ = boxes(seen)
    seen.figure.get_by_role("button", name="paper's sizes").press("Enter")
    assert change.text_content() == f"all is {boxes(seen)[0] / scale:g} times as small as before"
    slide(seen, "seq_len", 0)
    scale, places = boxes(seen)
    for length in VALUES["seq_len"][1:]:
        seen.figure.get_by_role("slider", name="seq_len").press("ArrowRight")
        now, found = boxes(seen)
        if length <= 2048:
            assert now == scale and change.count() == 0
            assert found[:4] == places[:4], "what is learned does not grow"
            assert [place[:3] for place in found[4:6]] == [place[:3] for place in places[4:6]], "what is computed grows down"
            assert {place[3] for place in found[4:]} == {max(2, length / scale)}
        else:
            assert now == 2 * scale and change.text_content() == "all is 2 times as small as before"
    seen.figure.get_by_role("slider", name="seq_len").press("ArrowLeft")
    assert change.text_content() == "all is 2 times as large as before"


@pytest.mark.parametrize(("width", "high"), [(390, 1100), (1280, 800)])
@pytest.mark.parametrize("sizes", [(3, 8, 4, 12), (50, 512, 8, 2048), (4000, 1024, 8, 4096), (2048, 64, 1, 512)])
def test_it_fits_on_about_one_screen(sized, width, high, sizes):
    assert sized(*sizes, width=width).figure.bounding_box()["height"] <= high


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


def test_it_begins_with_the_drawing(touch):
    label = touch(live.matrix_explorer()).figure.get_by_role("img").get_attribute("aria-label")
    assert "X, Z (3, 8)" in label and "W_1 (8, 12)" in label


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


def test_the_sizes_stay_in_view_with_the_table_that_they_change(touch):
    seen = touch(live.matrix_explorer(), width=390)
    seen.page.set_viewport_size({"width": 390, "height": 800})  # low enough to scroll, whatever font the system has
    seen.figure.get_by_role("button", name="paper's sizes").press("Enter")
    table = seen.figure.get_by_role("table")
    table.evaluate("node => node.scrollIntoView({ block: 'end' })")
    top = seen.figure.get_by_role("slider", name="seq_len").bounding_box()["y"]
    last = seen.figure.get_by_role("slider", name="d_ff").bounding_box()
    assert seen.page.evaluate("scrollY") > 50 and 0 <= top < last["y"] + last["height"] < table.bounding_box()["y"]
