"""capture_attention: what it keeps is what the forward pass used (pitfall 6), and it leaves no trace in the model."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer_lib.attention import MultiHeadAttention, attention_weights
from transformer_lib.teaching import capture_attention


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = MultiHeadAttention(8, 2)
        self.second = MultiHeadAttention(8, 4)

    def forward(self, x, memory, mask=None):
        x = self.first(x, x, x)
        return self.second(x, memory, memory, mask)


@pytest.fixture
def case():
    torch.manual_seed(0)
    mask = torch.rand(2, 1, 1, 5) < 0.6
    mask[..., 0] = True
    return Two().eval(), torch.randn(2, 3, 8), torch.randn(2, 5, 8), mask


@pytest.mark.pitfall(6)
def test_it_keeps_each_layers_masked_weights(case):
    model, x, memory, mask = case
    with capture_attention(model) as kept:
        output = model(x, memory, mask)
    assert_close(output, model(x, memory, mask))
    assert {name: tuple(weights.shape) for name, weights in kept.items()} == {
        "first": (2, 2, 3, 3),
        "second": (2, 4, 3, 5),
    }
    inner = model.first(x, x, x)
    assert_close(kept["second"], attention_weights(model.second, inner, memory, mask))
    assert not kept["second"].masked_select(~mask).any()
    assert not any(weights.requires_grad for weights in kept.values())


def test_the_model_is_left_as_it_was(case):
    model, x, memory, _ = case
    with pytest.raises(RuntimeError, match="stop"), capture_attention(model) as kept:
        raise RuntimeError("stop")
    model(x, memory)
    assert kept == {}
    assert "attend" not in vars(model.first)


def test_a_second_pass_replaces_the_first(case):
    model, x, memory, _ = case
    with capture_attention(model) as kept:
        model(x, memory)
        model(x[:, :1], memory)
    assert kept["second"].shape == (2, 4, 1, 5)


def test_a_layer_alone_has_the_empty_name(case):
    layer, x = case[0].first, case[1]
    with capture_attention(layer) as kept:
        layer(query=x, key=x, value=x)
    assert list(kept) == [""]


class Backwards(MultiHeadAttention):
    """What it looks at is not what the projections say."""

    def attend(self, query, k, v, mask):
        return super().attend(query, k.flip(2), v, mask)


def test_it_keeps_what_a_subclass_really_used(case):
    layer, x = Backwards(8, 2), case[1]
    with capture_attention(layer) as kept:
        output = layer(x, x, x)
    assert_close(kept[""], attention_weights(layer, x, x).flip(-1))
    mixed = kept[""] @ layer.keys_and_values(x, x)[1]  # (batch, heads, query, d_k)
    assert_close(output, layer.output_projection(mixed.transpose(1, 2).flatten(start_dim=2)))


def test_it_keeps_the_weights_of_a_layer_in_pieces(case):
    """A model with a cache calls `attend` on keys and values that it has kept."""
    layer, x, memory, mask = case[0].second, *case[1:]
    with capture_attention(layer) as kept:
        layer.attend(x, *layer.keys_and_values(memory, memory), mask=mask)
    assert_close(kept[""], attention_weights(layer, x, memory, mask))


def test_a_model_without_attention_is_refused():
    with (
        pytest.raises(ValueError, match="must contain a MultiHeadAttention, but Linear has none"),
        capture_attention(nn.Linear(2, 2)),
    ):
        pass
