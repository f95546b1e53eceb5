"""Shapes and parameters at every station are those of the library's Transformer, for more than one size."""

import re

import pytest
import torch

from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID
from transformer_lib.teaching.figures import capture_attention, live
from transformer_lib.transformer import Transformer, TransformerConfig, parameter_table

VALUES = {
    "d_model": [8, 16, 32, 64, 128, 256, 512, 1024],
    "heads": [1, 2, 4, 8],
    "layers": [1, 2, 3, 4, 6],
    "d_ff": [16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
    "vocabulary": [13, 50, 200, 1000, 8000, 37000],
}
BASE = (512, 8, 6, 2048, 37000)
MODELS = [((8, 8, 1, 64, 13), False, "a b c", ""), ((64, 4, 2, 16, 50), True, "one", "un deux trois quatre")]


@pytest.fixture
def walk(touch, slide):
    """A function that opens the walk, chooses sizes and writes the sentences."""

    def open_it(sizes=(), *, shared=False, source=None, target=None, **page):
        seen = touch(live.sentence_walk(), **page)
        for (label, values), size in zip(VALUES.items(), sizes, strict=False):
            slide(seen, label, values.index(size))
        if shared:
            seen.figure.get_by_role("checkbox", name="one shared matrix").press("Space")
        for label, text in [("source sentence", source), ("target so far", target)]:
            if text is not None:
                seen.figure.get_by_role("textbox", name=label).fill(text)
        return seen

    return open_it


def go(seen, number):
    """Choose the station with this number in the list, by keyboard."""
    seen.figure.get_by_label("part").press("Home")
    for _ in range(number - 1):
        seen.page.keyboard.press("ArrowDown")


def says(seen):
    return seen.figure.locator(".tl-says").inner_text()


def counts(seen):
    """The parameters of this part, of all until here, and of the model."""
    return [int(number.replace(",", "")) for number in re.findall(r"(?<=[:f] )[\d,]+(?=\. From| of|\.$)", says(seen))]


def result(seen):
    label = seen.figure.get_by_role("img").get_attribute("aria-label")
    return tuple(int(number) for number in re.search(r"Result: [\w -]+ \(([\d, ]+)\)$", label)[1].split(", "))


def expected_walk(config, source, target):
    """Run a model of this configuration and return the shape and the parameters at each station, in their order."""
    model = Transformer(config)
    shapes, names = {}, {part: name for name, part in model.named_modules()}

    def note(part, given, made):
        name = names[part]
        shapes[f"{name} of the target" if name in shapes else name] = tuple(made.shape)

    for part in model.modules():
        part.register_forward_hook(note)
    with capture_attention(model) as weights, torch.no_grad():
        logits = model(torch.tensor([source]), torch.tensor([target]))

    counted = set()

    def count(*parts):
        """The parameters in these parts that stand in no part before."""
        found = {parameter for part in parts for parameter in model.get_submodule(part).parameters()} - counted
        counted.update(found)
        return sum(parameter.numel() for parameter in found)

    def attention(layer, name):
        path = f"{layer}.{name}"
        yield tuple(weights[path].shape), count(f"{path}.query_projection", f"{path}.key_projection")
        yield shapes[path], count(f"{path}.value_projection", f"{path}.output_projection")
        yield shapes[f"{layer}.{name}_residual"], count(f"{layer}.{name}_residual")

    def feed_forward(layer):
        yield shapes[f"{layer}.feed_forward.inner"], count(f"{layer}.feed_forward.inner")
        yield shapes[f"{layer}.feed_forward.outer"], count(f"{layer}.feed_forward.outer")
        yield shapes[f"{layer}.feed_forward_residual"], count(f"{layer}.feed_forward_residual")

    first = {stack: f"{stack}.layers.0" for stack in ("encoder", "decoder")}
    target_side = " of the target"
    stations = [
        ((1, len(source)), 0),
        (shapes["source_embedding"], count("source_embedding")),
        (shapes["positional_encoding"], count("positional_encoding")),
        *attention(first["encoder"], "attention"),
        *feed_forward(first["encoder"]),
        (shapes[f"encoder.layers.{config.num_layers - 1}"], count("encoder")),
        (shapes["encoder"], 0),
        ((1, len(target)), 0),
        (
            shapes[f"source_embedding{target_side}" if config.shared_vocabulary else "target_embedding"],
            count("target_embedding"),
        ),
        (shapes[f"positional_encoding{target_side}"], 0),
        *attention(first["decoder"], "self_attention"),
        *attention(first["decoder"], "cross_attention"),
        *feed_forward(first["decoder"]),
        (shapes["decoder"], count("decoder")),
        (tuple(logits.shape), count("output")),
        (tuple(logits.softmax(dim=-1).shape), 0),
    ]
    assert counted == set(model.parameters())
    return stations


@pytest.mark.parametrize(("sizes", "shared", "source", "target"), MODELS)
def test_every_station_is_that_of_the_model(walk, sizes, shared, source, target):
    d_model, heads, layers, d_ff, vocabulary = sizes
    config = TransformerConfig(
        d_model=d_model,
        num_heads=heads,
        num_layers=layers,
        d_ff=d_ff,
        source_vocab_size=vocabulary,
        target_vocab_size=vocabulary,
        shared_vocabulary=shared,
    )
    ids = torch.arange(EOS_ID + 1, vocabulary).tolist()
    stations = expected_walk(config, ids[: len(source.split())], [SOS_ID, *ids[: len(target.split())]])
    seen = walk(sizes, shared=shared, source=source, target=target)
    go(seen, 1)
    so_far, shown = 0, []
    for number, (_, parameters) in enumerate(stations, start=1):
        part = seen.figure.get_by_label("part").evaluate("node => node.selectedOptions[0].textContent")
        assert part.startswith(f"{number} · ")
        so_far += parameters
        assert counts(seen) == [parameters, so_far, sum(parameter_table(config).values())]
        shown.append((result(seen), counts(seen)[0]))
        if number < len(stations):
            seen.figure.get_by_role("button", name="next").press("Enter")
    assert shown == stations
    assert seen.figure.get_by_role("button", name="next").is_disabled()
    assert seen.complaints == []


def test_the_papers_sizes_give_its_parameters(walk):
    seen = walk(BASE, shared=True)
    assert counts(seen)[-1] == sum(parameter_table(TransformerConfig.base()).values())


def test_what_was_given_and_made_is_drawn_to_one_scale(walk):
    """Feed-forward: the inner rows are as much wider as d_ff is than d_model; each number is as wide in both."""
    seen = walk((64, 4, 2, 256))
    go(seen, 7)
    given, made = seen.figure.locator("svg > rect[fill=none]").evaluate_all(
        "nodes => nodes.map(node => [node.width.baseVal.value, node.height.baseVal.value])"
    )
    assert made[0] / given[0] == pytest.approx(256 / 64) and made[1] == given[1]
    assert result(seen) == (1, 4, 256)


def test_hidden_weights_are_those_that_the_mask_sets_to_zero(walk):
    seen = walk((16, 2, 1, 16, 13), source="a <PAD> b", target="x <PAD> y")
    model = Transformer(
        TransformerConfig(d_model=16, num_heads=2, num_layers=1, d_ff=16, source_vocab_size=13, target_vocab_size=13)
    )
    with capture_attention(model) as weights:
        model(torch.tensor([[3, PAD_ID, 4]]), torch.tensor([[SOS_ID, 3, PAD_ID, 4]]))
    for station, name in [
        (4, "encoder.layers.0.attention"),
        (15, "decoder.layers.0.self_attention"),
        (18, "decoder.layers.0.cross_attention"),
    ]:
        go(seen, station)
        expected = weights[name][0] == 0  # (heads, query, key)
        drawn = seen.figure.locator("path.tl-hidden").evaluate_all(
            """(nodes, [rows, columns]) => nodes.map(path => {
                const {x, y, width, height} = path.previousElementSibling.getBBox()
                return Array.from({length: rows}, (_, row) => Array.from({length: columns}, (_, column) =>
                    path.isPointInFill(new DOMPoint(x + width * (column + .5) / columns, y + height * (row + .5) / rows))))
            })""",
            list(expected.shape[1:]),
        )
        assert drawn == expected.tolist()
        assert "padding" in says(seen)


def test_back_next_list_and_map_go_to_the_same_stations(walk):
    seen = walk()
    assert seen.figure.get_by_label("part").input_value() == "2 · source: embedding"
    back, forward = (seen.figure.get_by_role("button", name=name) for name in ("back", "next"))
    back.press("Enter")
    assert back.is_disabled()
    forward.press("Space")
    forward.press("Enter")
    assert result(seen) == (1, 4, 64) and "sines" in seen.figure.get_by_role("img").get_attribute("aria-label")
    back.press("Enter")
    assert seen.figure.get_by_label("part").input_value() == "2 · source: embedding"
    for box, part in [("softmax", "26 · softmax"), ("cross-attention", "18 · decoder 1: cross"), ("memory", "11 · the memory")]:
        seen.figure.locator("svg g g", has_text=re.compile(f"^{box}$")).click()
        assert seen.figure.get_by_label("part").input_value().startswith(part)
        lit = seen.figure.locator("svg g g:has(rect[fill='var(--tl-accent)'])").all_text_contents()
        assert lit == [box]


def test_a_word_that_comes_again_keeps_its_id(walk):
    seen = walk(source="no no yes <EOS>", target="yes no")
    go(seen, 1)
    shown = seen.figure.locator("svg > text[text-anchor=middle]").all_text_contents()
    assert shown == ["3", "3", "4", str(EOS_ID)]
    go(seen, 12)
    ids = seen.figure.locator("svg > text[text-anchor=middle]")
    assert ids.all_text_contents() == [str(SOS_ID), "3", "4"], "the target has a vocabulary of its own"
    seen.figure.get_by_role("checkbox", name="one shared matrix").press("Space")
    assert ids.all_text_contents() == [str(SOS_ID), "4", "3"], "one vocabulary for both"


@pytest.mark.parametrize(
    ("source", "target", "problem"),
    [
        ("", "je", "The source is empty"),
        ("  \t ", "", "The source is empty"),
        ("a b c d e f g h i j k", "", "room for 10 words, but here are 11 different ones"),
        ("a", "a b c d e f g h i j k l", "room for 10 words, but here are 12 different ones"),
        ("a " * 5001, "", "5,000 positions, but the source has 5,001"),
        ("a", "a " * 5000, "5,000 positions, but the target has 5,001"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence_and_the_drawing_stays(walk, source, target, problem):
    seen = walk()
    before = seen.figure.locator(".tl-stage").inner_html()
    seen.figure.get_by_role("textbox", name="target so far").fill(target)
    between = seen.figure.locator(".tl-stage").inner_html()
    seen.figure.get_by_role("textbox", name="source sentence").fill(source)
    assert problem in says(seen)
    assert seen.figure.locator(".tl-says.tl-wrong").count() == 1
    assert seen.figure.locator(".tl-stage").inner_html() in (before, between)
    seen.figure.get_by_role("textbox", name="source sentence").fill("I am")
    seen.figure.get_by_role("textbox", name="target so far").fill("")
    assert seen.figure.locator(".tl-says.tl-wrong").count() == 0
    go(seen, 1)
    assert result(seen) == (1, 2) and seen.complaints == []
    assert "source ids (1, 2): batch 1, places 2" in seen.figure.locator("svg > text").all_text_contents()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    "text",
    ["나는 학생 입니다", "🎓 👩‍👩‍👧‍👦", "<b>no</b> <script>alert(1)</script>", "no " * 300, "incomprehensibilities" * 4, "x"],
)
def test_any_sentence_is_drawn_inside_its_picture(walk, text, width):
    seen = walk(source=text, target=text, width=width)
    length = len(text.split())
    for number, shape in [
        (1, (1, length)),
        (4, (1, 4, length, length)),
        (15, (1, 4, length + 1, length + 1)),
        (26, (1, length + 1, 13)),
    ]:
        go(seen, number)
        assert seen.figure.locator("b").count() == 0
        assert result(seen) == shape
        outside = seen.figure.evaluate(
            """figure => [...figure.querySelectorAll('svg :is(rect, text)')].filter(node => {
                const [box, whole] = [node.getBoundingClientRect(), node.ownerSVGElement.getBoundingClientRect()]
                return box.left < whole.left - 1 || box.right > whole.right + 1 || box.bottom > whole.bottom + 3
            }).map(node => node.outerHTML)"""
        )
        assert outside == []
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        controls = seen.figure.locator("input, select, button").evaluate_all(
            "nodes => Math.max(...nodes.map(node => node.getBoundingClientRect().right))"
        )
        assert controls <= seen.figure.evaluate("figure => figure.getBoundingClientRect().right")
    assert seen.complaints == []


def test_where_no_script_runs_it_tells_what_a_real_pass_gave(touch):
    figure = live.sentence_walk()
    seen = touch(figure, scripts=False)
    rows = [row.split("\t") for row in seen.figure.locator("tbody tr").all_inner_texts()]
    model = Transformer(TransformerConfig.tiny(13, 13))
    total = sum(parameter.numel() for parameter in model.parameters())
    assert sum(int(count.replace(",", "")) for _, _, count in rows) == total
    assert f"{total:,}" in figure.says
    assert [shape for _, shape, _ in rows] == [*["(1, 4, 64)"] * 3, *["(1, 3, 64)"] * 3, "(1, 3, 13)"]


def test_it_leaves_torchs_random_numbers_as_they_were():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    live.sentence_walk()
    assert torch.equal(torch.rand(3), expected)
