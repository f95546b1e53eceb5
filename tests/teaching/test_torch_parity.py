"""Every parameter has its twin once, and what is not alike is not paired. The chapters' tests show that outputs are alike."""

import pytest
import torch
from torch import nn

from transformer_lib.attention import MultiHeadAttention
from transformer_lib.decoder import Decoder
from transformer_lib.encoder import Encoder, TransformerConfig
from transformer_lib.teaching.torch_parity import compare_gradients, copy_to_torch, matching_parameters
from transformer_lib.transformer import Transformer

SIZES = {"batch_first": True, "norm_first": True}
STACK = {"d_model": 8, "num_layers": 2, "num_heads": 2, "d_ff": 12}
STACKS = {
    "attention": (lambda: MultiHeadAttention(8, 2), lambda: nn.MultiheadAttention(8, 2)),
    "encoder": (
        lambda: Encoder(TransformerConfig(**STACK, pre_norm=True)),
        lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(8, 2, 12, **SIZES), 2, nn.LayerNorm(8), enable_nested_tensor=False
        ),
    ),
    "decoder": (
        lambda: Decoder(TransformerConfig(**STACK, pre_norm=True)),
        lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 12, **SIZES), 2, nn.LayerNorm(8)),
    ),
}


@pytest.mark.parametrize(("make_ours", "make_theirs"), STACKS.values(), ids=STACKS)
def test_each_parameter_is_paired_once(make_ours, make_theirs):
    ours, theirs = make_ours(), make_theirs()
    pairs = matching_parameters(ours, theirs)
    assert sorted(id(its) for _, its in pairs) == sorted(map(id, theirs.parameters()))
    assert sorted(id(one) for mine, _ in pairs for one in mine) == sorted(map(id, ours.parameters()))


def test_the_stacks_of_a_transformer_are_paired():
    config = TransformerConfig(**STACK, source_vocab_size=9, target_vocab_size=9, pre_norm=True)
    ours, theirs = Transformer(config), nn.Transformer(8, 2, 2, 2, 12, **SIZES)
    pairs = matching_parameters(ours, theirs)
    assert sorted(id(its) for _, its in pairs) == sorted(map(id, theirs.parameters()))
    stacks = [*ours.encoder.parameters(), *ours.decoder.parameters()]
    assert sorted(id(one) for mine, _ in pairs for one in mine) == sorted(map(id, stacks))


def test_a_copy_keeps_query_key_value_in_order():
    """And the gradients come in the same order."""
    ours, theirs = MultiHeadAttention(4, 2), nn.MultiheadAttention(4, 2, batch_first=True)
    copy_to_torch(ours, theirs)
    projections = (ours.query_projection, ours.key_projection, ours.value_projection)
    for projection, rows in zip(projections, theirs.in_proj_weight.chunk(3), strict=True):
        assert projection.weight.equal(rows)
    for number, parameter in enumerate(ours.parameters()):
        parameter.grad = torch.full_like(parameter, number)
    theirs.in_proj_weight.grad = torch.zeros(12, 4)
    theirs.in_proj_bias.grad = torch.zeros(12)
    theirs.out_proj.weight.grad, theirs.out_proj.bias.grad = torch.zeros(4, 4), torch.zeros(4)
    (mine, its), *_ = compare_gradients(ours, theirs)
    assert its is theirs.in_proj_weight.grad
    assert mine.equal(torch.cat([projection.weight.grad for projection in projections]))


def test_torchs_last_norm_of_post_norm_has_no_twin():
    theirs = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 12), 2, nn.LayerNorm(8), enable_nested_tensor=False)
    with pytest.raises(AttributeError, match="weight"):
        copy_to_torch(Encoder(TransformerConfig(**STACK)), theirs)
