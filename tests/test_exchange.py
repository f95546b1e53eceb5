"""One part exchanged for another: a new attention is one class, the model that uses it one more; nothing else is touched."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib.attention import MultiHeadAttention, join_heads, split_heads
from transformer_lib.decoding import CachedTransformer, greedy_decode
from transformer_lib.schedule import label_smoothed_loss
from transformer_lib.seq2seq import PAD_ID
from transformer_lib.transformer import Transformer, TransformerConfig

CONFIG = TransformerConfig(
    source_vocab_size=11, target_vocab_size=13, d_model=16, num_layers=2, num_heads=2, d_ff=32, dropout=0.1, max_len=40
)


def rotated(x, positions):
    """Turn each pair of dimensions of `x`, (batch, heads, seq, d_k), by an angle that grows with the position."""
    pair = torch.arange(x.size(-1) // 2, dtype=x.dtype)
    angle = positions[:, None] / 10_000 ** (2 * pair / x.size(-1))  # (seq, d_k / 2)
    even, odd = x[..., 0::2], x[..., 1::2]  # each (batch, heads, seq, d_k / 2)
    turned = [even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos()]
    return torch.stack(turned, dim=-1).flatten(start_dim=-2)


class RotaryAttention(MultiHeadAttention):
    """Self-attention that knows positions by itself: the queries stand at the last positions of the keys."""

    def attend(self, query, k, v, mask):
        q = split_heads(self.query_projection(query), self.num_heads)  # (batch, heads, query, d_k)
        positions = torch.arange(k.size(2), dtype=k.dtype)
        q, k = rotated(q, positions[k.size(2) - q.size(2) :]), rotated(k, positions)
        heads = F.scaled_dot_product_attention(q, k, v, mask, self.dropout if self.training else 0.0)
        return self.output_projection(join_heads(heads))


class MultiQueryAttention(nn.Module):
    """An attention of another kind, and no subclass: many queries share one head of keys and values."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        self.num_heads, d_k = num_heads, d_model // num_heads
        self.query_projection, self.output_projection = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.key_projection, self.value_projection = nn.Linear(d_model, d_k), nn.Linear(d_model, d_k)

    def forward(self, query, key, value, mask=None):
        return self.attend(query, *self.keys_and_values(key, value), mask)

    def keys_and_values(self, key, value):
        return self.key_projection(key)[:, None], self.value_projection(value)[:, None]  # each (batch, 1, key, d_k)

    def attend(self, query, k, v, mask):
        q = split_heads(self.query_projection(query), self.num_heads)
        heads = F.scaled_dot_product_attention(
            q, k.expand(-1, self.num_heads, -1, -1), v.expand(-1, self.num_heads, -1, -1), mask
        )
        return self.output_projection(join_heads(heads))


class NoPositions(nn.Module):
    def forward(self, x, offset=0):
        return x


class Rotary(Transformer):
    def __init__(self, config):
        super().__init__(config)
        self.positions = NoPositions()
        for layer in self.encoder.layers:
            layer.attention = RotaryAttention(config.d_model, config.num_heads)
        for layer in self.decoder.layers:
            layer.self_attention = RotaryAttention(config.d_model, config.num_heads)


class MultiQuery(Transformer):
    def __init__(self, config):
        super().__init__(config)
        for layer in self.encoder.layers:
            layer.attention = MultiQueryAttention(config.d_model, config.num_heads)
        for layer in self.decoder.layers:
            layer.self_attention = MultiQueryAttention(config.d_model, config.num_heads)
            layer.cross_attention = MultiQueryAttention(config.d_model, config.num_heads)


class CachedRotary(Rotary, CachedTransformer):
    """The cache comes by inheritance alone."""


class CachedMultiQuery(MultiQuery, CachedTransformer):
    """The cache comes by inheritance alone."""


PAIRS = pytest.mark.parametrize(("plain", "cached"), [(Rotary, CachedRotary), (MultiQuery, CachedMultiQuery)])


def sentences(vocab_size, lengths):
    ids = torch.randint(3, vocab_size, (len(lengths), max(lengths)))
    return ids.masked_fill(torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None], PAD_ID)


@PAIRS
def test_it_trains(plain, cached):
    torch.manual_seed(0)
    model = plain(CONFIG)
    source, target = sentences(11, [7, 5, 3]), sentences(13, [6, 6, 4])
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(30):
        loss = label_smoothed_loss(model(source, target[:, :-1]), target[:, 1:], smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in model.parameters())
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 0.5


@PAIRS
@pytest.mark.usefixtures("float64_default")
def test_cached_equals_uncached(plain, cached):
    torch.manual_seed(0)
    model = plain(CONFIG).eval()
    keeping = cached(CONFIG).eval()
    keeping.load_state_dict(model.state_dict())
    source, words = sentences(11, [7, 5]), torch.randint(3, 13, (2, 9))
    expected = model(source, words)
    state = keeping.start(source)
    pieces = [keeping.decode(piece, state) for piece in words.split([1, 3, 1, 4], dim=1)]
    assert_close(torch.cat(pieces, dim=1), expected)
    assert_close(greedy_decode(keeping, source, max_len=20), greedy_decode(model, source, max_len=20))


@pytest.mark.parametrize(("model_class", "moves"), [(Rotary, False), (Transformer, True)])
@pytest.mark.usefixtures("float64_default")
def test_only_rotation_is_blind_to_where_a_sentence_starts(model_class, moves):
    """Three padded places in front move every word; its distances stay, and so do the rotary model's logits."""
    torch.manual_seed(0)
    model = model_class(CONFIG).eval()
    source, words = sentences(11, [6]), sentences(13, [5])
    shifted = [torch.cat([torch.full((1, 3), PAD_ID), ids], dim=1) for ids in (source, words)]
    assert torch.allclose(model(*shifted)[:, 3:], model(source, words)) != moves


@pytest.mark.usefixtures("float64_default")
def test_rotation_tells_the_order_of_words():
    torch.manual_seed(0)
    x, order = torch.randn(1, 5, 16), [4, 2, 0, 1, 3]
    for attention, sees_order in ((MultiHeadAttention(16, 2), False), (RotaryAttention(16, 2), True)):
        assert torch.allclose(attention(x[:, order], x[:, order], x[:, order]), attention(x, x, x)[:, order]) != sees_order


def test_every_other_parameter_is_the_transformers():
    ours = {name: parameter.shape for name, parameter in Rotary(CONFIG).named_parameters()}
    assert ours == {name: parameter.shape for name, parameter in Transformer(CONFIG).named_parameters()}
