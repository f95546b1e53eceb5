"""Shapes, parameters and multiplications are those of the library's layer."""

import re

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from transformer_lib.encoder import EncoderLayer, TransformerConfig
from transformer_lib.teaching.figures import live

VALUES = {
    "seq_len": [1, 3, 10, 50, 200, 1000, 2048, 4000],
    "d_model": [8, 16, 32, 64, 128, 256, 512, 1024],
    "heads": [1, 2, 4, 8],
    "d_ff": [12, 32, 128, 512, 2048, 4096],
}
PROJECTIONS = [f"attention.W_{name[0]}" for name in ("query", "key", "value", "output")]


@pytest.mark.parametrize("sizes", [(3, 8, 4, 12), (50, 512, 8, 2048), (200, 64, 1, 32)])
def test_shapes_and_counts_are_those_of_the_layer_and_of_torchs_counter(touch, slide, sizes):
    seen = touch(live.matrix_explorer(), width=390)
    for (label, values), size in zip(VALUES.items(), sizes, strict=True):
        slide(seen, label, values.index(size))
    seq_len, d_model, heads, d_ff = sizes
    with torch.device("meta"):
        layer = EncoderLayer(TransformerConfig(d_model=d_model, num_heads=heads, d_ff=d_ff, dropout=0.0))
        with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
            layer(torch.zeros(1, seq_len, d_model))
    flops = {name.removeprefix("EncoderLayer").lstrip("."): sum(by.values()) for name, by in counter.get_flop_counts().items()}

    def both(*parts):
        """The parameters of these parts, and half of their operations: an addition goes with each multiplication."""
        counted = sum(parameter.numel() for part in parts for parameter in layer.get_submodule(part).parameters())
        return counted, sum(flops.get(part, 0) for part in parts) // 2

    rows = [row.split("\t") for row in seen.figure.locator("tbody tr").all_inner_texts()]
    assert {name: tuple(int(count.replace(",", "")) for count in counts) for name, *counts in rows} == {
        "Q, K, V": both(*PROJECTIONS[:3]),
        "scores, heads": (0, both("attention")[1] - both(*PROJECTIONS)[1]),
        "joined · W_O": both(PROJECTIONS[3]),
        "feed-forward": both("feed_forward"),
        "norms (γ, β)": both("attention_add_norm.norm", "feed_forward_add_norm.norm"),
        "the layer": both(""),
    }
    label = seen.figure.get_by_role("img").get_attribute("aria-label")
    shown = {}
    for names, *shape in re.findall(r"([\w, ]+?) \((\d+), (\d+)\)", label):
        shown |= dict.fromkeys(names.strip().split(", "), tuple(map(int, shape)))
    d_k, inner, outer = d_model // heads, layer.feed_forward.inner.weight, layer.feed_forward.outer.weight
    assert shown == {
        **dict.fromkeys(("X", "Z", "F_2" if d_ff == d_model else "X"), (seq_len, d_model)),
        **dict.fromkeys(("W_Q", "W_K", "W_V"), (d_model, d_k)),
        **dict.fromkeys(("Q", "K", "V"), (seq_len, d_k)),
        **{"scores": (seq_len, seq_len), "W_O": (d_model, d_model), "F_1": (seq_len, d_ff), "F_2": (seq_len, d_ff)},
        **{"W_1": tuple(inner.T.shape), "W_2": tuple(outer.T.shape)},
    }
