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


def expected_walk(config, source, target):
    """Run a model of this configuration and return the shape and the parameters at each station, in their order."""
    model = Transformer(config)
    shapes, names, counted = {}, {part: name for name, part in model.named_modules()}, set()

    def note(part, given, made):
        name = names[part]
        shapes[f"{name} of the target" if name in shapes else name] = tuple(made.shape)

    for part in model.modules():
        part.register_forward_hook(note)
    with capture_attention(model) as weights, torch.no_grad():
        logits = model(torch.tensor([source]), torch.tensor([target]))

    def count(*parts):
        """The parameters in these parts that stand in no part before."""
        found = {parameter for part in parts for parameter in model.get_submodule(part).parameters()} - counted
        counted.update(found)
        return sum(parameter.numel() for parameter in found)

    def attention(path):
        yield tuple(weights[path].shape), count(f"{path}.W_q", f"{path}.W_k")
        yield shapes[path], count(f"{path}.W_v", f"{path}.W_o")
        yield shapes[f"{path}_add_norm"], count(f"{path}_add_norm")

    def one(*paths):
        return [(shapes[path], count(path)) for path in paths]

    def feed_forward(stack):
        path = f"{stack}.layers.0.feed_forward"
        return one(f"{path}.inner", f"{path}.outer", f"{path}_add_norm")

    of_the_target = "source_embedding of the target" if config.shared_vocabulary else "target_embedding"
    return [
        ((1, len(source)), 0),
        *one("source_embedding", "positional_encoding"),
        *attention("encoder.layers.0.attention"),
        *feed_forward("encoder"),
        (shapes[f"encoder.layers.{config.num_layers - 1}"], count("encoder")),
        (shapes["encoder"], 0),
        ((1, len(target)), 0),
        (shapes[of_the_target], count("target_embedding")),
        (shapes["positional_encoding of the target"], 0),
        *attention("decoder.layers.0.self_attention"),
        *attention("decoder.layers.0.cross_attention"),
        *feed_forward("decoder"),
        *one("decoder"),
        (tuple(logits.shape), count("output")),
        (tuple(logits.softmax(dim=-1).shape), 0),
    ]


@pytest.mark.parametrize(
    ("sizes", "shared", "source", "target"),
    [((8, 8, 1, 64, 13), False, "a b c", ""), ((64, 4, 2, 16, 50), True, "one", "un deux trois quatre")],
)
def test_every_station_is_that_of_the_model(touch, slide, sizes, shared, source, target):
    names = ("d_model", "num_heads", "num_layers", "d_ff", "source_vocab_size", "target_vocab_size")
    config = TransformerConfig(**dict(zip(names, (*sizes, sizes[-1]), strict=True)), shared_vocabulary=shared)
    ids = torch.arange(EOS_ID + 1, sizes[-1]).tolist()
    stations = expected_walk(config, ids[: len(source.split())], [SOS_ID, *ids[: len(target.split())]])
    seen = touch(live.sentence_walk(), width=390)
    for (label, values), size in zip(VALUES.items(), sizes, strict=True):
        slide(seen, label, values.index(size))
    if shared:
        seen.figure.get_by_role("checkbox", name="one shared matrix").press("Space")
    seen.figure.get_by_role("textbox", name="source sentence").fill(source)
    seen.figure.get_by_role("textbox", name="target so far").fill(target)
    seen.figure.get_by_label("part").press("Home")
    so_far, onward = 0, seen.figure.get_by_role("button", name="next")
    for shape, parameters in stations:
        so_far += parameters
        said = seen.figure.locator(".tl-says").inner_text()
        counts = [int(count.replace(",", "")) for count in re.findall(r"(?<=[:f] )[\d,]+(?=\. From| of|\.$)", said)]
        assert counts == [parameters, so_far, sum(parameter_table(config).values())]
        label = seen.figure.get_by_role("img").get_attribute("aria-label")
        assert re.search(r"Result: [\w -]+ \(([\d, ]+)\)$", label)[1] == ", ".join(map(str, shape))
        if onward.is_enabled():
            onward.press("Enter")
    assert onward.is_disabled()
