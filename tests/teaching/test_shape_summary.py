"""The summary of shapes: what a real forward pass did, and nothing else."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from transformer_lib.encoder import Encoder, TransformerConfig
from transformer_lib.teaching.figures import shape_summary


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.unused = nn.Linear(4, 9)

    def forward(self, x):
        return self.linear(self.linear(x))


@pytest.mark.parametrize(("layers", "d_model", "heads", "d_ff", "seq"), [(1, 8, 4, 12, 3), (3, 16, 2, 20, 7)])
def test_it_follows_the_configuration(layers, d_model, heads, d_ff, seq):
    sizes = {"num_layers": layers, "d_model": d_model, "num_heads": heads, "d_ff": d_ff}
    encoder = Encoder(TransformerConfig(**sizes, pre_norm=True))
    summary = shape_summary(encoder, torch.zeros(2, seq, d_model))
    assert len(summary.entries) == 8 * layers + 1
    assert summary.total == sum(parameter.numel() for parameter in encoder.parameters())
    inner = next(entry for entry in summary.entries if entry.part == "layers.0.feed_forward.inner")
    assert inner.input == (2, seq, d_model)
    assert inner.output == (2, seq, d_ff)
    assert inner.parameters == (("weight", (d_ff, d_model)), ("bias", (d_ff,)))
    assert inner.count == d_ff * d_model + d_ff


def test_the_entries_are_in_the_order_of_the_calls():
    config = TransformerConfig(d_model=8, num_layers=1, num_heads=2, d_ff=12)
    norm_first = shape_summary(Encoder(replace(config, pre_norm=True)), torch.zeros(1, 2, 8))
    norm_last = shape_summary(Encoder(config), torch.zeros(1, 2, 8))
    assert norm_first.entries[0].part == "layers.0.attention_residual.norm"
    assert norm_last.entries[-1].part == "layers.0.feed_forward_residual.norm"


def test_a_part_called_twice_is_counted_once():
    """And one that is never called, not at all."""
    summary = shape_summary(Twice(), torch.zeros(1, 4))
    assert [(entry.part, entry.count) for entry in summary.entries] == [("linear", 20), ("linear", 0)]


def test_shared_parameters_are_counted_once():
    first, second = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)
    second.weight = first.weight
    assert shape_summary(nn.Sequential(first, second), torch.zeros(1, 4)).total == 16


def test_a_single_layer_is_called_by_its_kind():
    (entry,) = shape_summary(nn.Linear(4, 2), torch.zeros(1, 4)).entries
    assert entry.part == "Linear"


def test_a_part_that_returns_a_pair_shows_its_first():
    (entry,) = shape_summary(nn.GRU(4, 5, batch_first=True), torch.zeros(2, 3, 4)).entries
    assert entry.output == (2, 3, 5)


def test_no_hook_stays_behind():
    model = Twice()
    shape_summary(model, torch.zeros(1, 4))
    with pytest.raises(RuntimeError):
        shape_summary(model, torch.zeros(1, 3))
    assert not any(part._forward_hooks for part in model.modules())


def test_it_is_shown_as_a_table_with_a_sum():
    summary = shape_summary(nn.Linear(40, 30), torch.zeros(1, 40))
    text, page = repr(summary), summary._repr_html_()
    for shown in ("part", "Linear", "(1, 40)", "(1, 30)", "weight (30, 40), bias (30,)", "1,230", "all together"):
        assert shown in text
        assert shown in page
    assert page.count("<tr>") == 3
    assert 'scope="col"' in page and 'scope="row"' in page
