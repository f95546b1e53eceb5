"""Shapes and parameters at every station are those of the library's Transformer, for more than one size."""

import re

import pytest
import torch

from transformer_lib.seq2seq import EOS_ID, SOS_ID
from transformer_lib.teaching.figures import capture_attention, live
from transformer_lib.transformer import Transformer, TransformerConfig, parameter_table

VALUES = {
    "d_model": [8, 16, 32, 64, 128, 256, 512, 1024],
    "heads": [1, 2, 4, 8],
    "layers": [1, 2, 3, 4, 6],
    "d_ff": [16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
    "vocabulary": [13, 50, 200, 1000, 8000, 37000],
}
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
