"""Every parameter has its twin once, and what is not alike is not paired. The chapters' tests show that outputs are alike."""

import pytest
import torch
from torch import nn

from transformer_lib.attention import MultiHeadAttention
from transformer_lib.encoder import Encoder, TransformerConfig
from transformer_lib.teaching.torch_parity import compare_gradients, copy_to_torch, matching_parameters
from transformer_lib.transformer import Transformer

STACK = {"d_model": 8, "num_layers": 2, "num_heads": 2, "d_ff": 12}


def test_the_stacks_of_a_transformer_are_paired_once():
    config = TransformerConfig(**STACK, source_vocab_size=9, target_vocab_size=9, pre_norm=True)
    ours, theirs = Transformer(config), nn.Transformer(8, 2, 2, 2, 12, batch_first=True, norm_first=True)
    pairs = matching_parameters(ours, theirs)
    assert sorted(id(its) for _, its in pairs) == sorted(map(id, theirs.parameters()))
    stacks = [*ours.encoder.parameters(), *ours.decoder.parameters()]
    assert sorted(id(one) for mine, _ in pairs for one in mine) == sorted(map(id, stacks))


def test_a_copy_and_its_gradients_keep_query_key_value_in_order():
    ours, theirs = MultiHeadAttention(4, 2), nn.MultiheadAttention(4, 2, batch_first=True)
    copy_to_torch(ours, theirs)
    projections = (ours.W_q, ours.W_k, ours.W_v)
    assert torch.cat([projection.weight for projection in projections]).equal(theirs.in_proj_weight)
    for number, parameter in enumerate(ours.parameters()):
        parameter.grad = torch.full_like(parameter, number)
    for parameter in theirs.parameters():
        parameter.grad = torch.zeros_like(parameter)
    (mine, its), *_ = compare_gradients(ours, theirs)
    assert its is theirs.in_proj_weight.grad and mine.equal(torch.cat([part.weight.grad for part in projections]))


def test_torchs_last_norm_of_post_norm_has_no_twin():
    theirs = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 12), 2, nn.LayerNorm(8), enable_nested_tensor=False)
    with pytest.raises(AttributeError, match="weight"):
        copy_to_torch(Encoder(TransformerConfig(**STACK)), theirs)
