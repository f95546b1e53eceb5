"""What came after the paper: each later idea as a short class, the difference to ours."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from transformer_lib.attention import MultiHeadAttention, join_heads, split_heads
from transformer_lib.encoder import Encoder, FeedForward
from transformer_lib.masks import look_ahead_mask, padding_mask
from transformer_lib.positional_encoding import LearnedPositionalEmbedding
from transformer_lib.seq2seq import EOS_ID, PAD_ID
from transformer_lib.transformer import TokenEmbedding, Transformer

# The classes stand on a page of the book, so they are as short as those of a notebook.

# Positions, told by attention itself


def rotated(x, position):
    """Turn each pair of dimensions of x, (batch, heads, seq, d_k)."""
    pair = torch.arange(x.size(-1) // 2, dtype=x.dtype)
    angle = position[:, None] / 10_000 ** (2 * pair / x.size(-1))  # (seq, d_k / 2)
    even, odd = x[..., 0::2], x[..., 1::2]  # each (batch, heads, seq, d_k / 2)
    new_even = even * angle.cos() - odd * angle.sin()
    new_odd = even * angle.sin() + odd * angle.cos()
    return torch.stack([new_even, new_odd], dim=-1).flatten(start_dim=-2)


class RotaryAttention(MultiHeadAttention):
    """Self-attention that turns queries and keys by their positions."""

    def attend(self, query, k, v, mask):
        q = split_heads(self.query_projection(query), self.num_heads)
        # A cache holds the words before: the queries stand at the last positions.
        position = torch.arange(k.size(2), dtype=k.dtype)
        q, k = rotated(q, position[k.size(2) - q.size(2) :]), rotated(k, position)
        dropout = self.dropout if self.training else 0.0
        heads = F.scaled_dot_product_attention(q, k, v, mask, dropout)
        return self.output_projection(join_heads(heads))


class BiasedAttention(MultiHeadAttention):
    """Self-attention that adds a number for each head and distance to the scores."""

    def __init__(self, d_model, num_heads, dropout=0.0, *, bias):
        super().__init__(d_model, num_heads, dropout)
        self.bias = bias

    def attend(self, query, k, v, mask):
        q = split_heads(self.query_projection(query), self.num_heads)
        position = torch.arange(k.size(2))
        own = position[k.size(2) - q.size(2) :]  # where the queries stand
        bias = self.bias(position - own[:, None])  # (heads, query, key)
        if mask is not None:
            bias = bias.masked_fill(~mask, -math.inf)  # (batch, heads, query, key)
        dropout = self.dropout if self.training else 0.0
        heads = F.scaled_dot_product_attention(q, k, v, bias, dropout)
        return self.output_projection(join_heads(heads))


class AlibiBias(nn.Module):
    """The farther, the less: minus the distance, times the slope of the head."""

    def __init__(self, num_heads):
        super().__init__()
        slopes = 2 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)  # (heads)
        self.register_buffer("slopes", slopes, persistent=False)

    def forward(self, distance):
        return -self.slopes[:, None, None] * distance.abs()  # (heads, query, key)


class T5Bias(nn.Module):
    """A learned number for each head and bucket of distances."""

    def __init__(self, num_heads, both_sides, buckets=32, furthest=128):
        super().__init__()
        self.both_sides, self.buckets, self.furthest = both_sides, buckets, furthest
        self.table = nn.Parameter(torch.zeros(buckets, num_heads))

    def forward(self, distance):
        return self.table[self.bucket(distance)].movedim(-1, 0)  # (heads, query, key)

    def bucket(self, distance):
        # An encoder looks to both sides, and each side gets half of the buckets.
        buckets = self.buckets // 2 if self.both_sides else self.buckets
        away = distance.abs() if self.both_sides else (-distance).clamp(min=0)
        # The first half is exact; the other half grows wider up to the furthest.
        exact = buckets // 2
        far = (away.clamp(min=exact) / exact).log() / math.log(self.furthest / exact)
        far = (exact + (far * (buckets - exact)).long()).clamp(max=buckets - 1)
        side = buckets * (distance > 0) if self.both_sides else 0
        return away.where(away < exact, far) + side


class NoPositions(nn.Module):
    """Add nothing to the word vectors; keep the dropout that stands there."""

    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, offset=0):
        return self.dropout(x)


def exchange(stack, name, make):
    """Put another attention in place of each layer's, with the weights that fit."""
    for layer in stack.layers:
        old = getattr(layer, name)
        new = make(old.d_model, old.num_heads, old.dropout)
        for part, weight in old.named_parameters():
            if weight.shape == new.get_parameter(part).shape:
                new.get_parameter(part).data = weight.data
        setattr(layer, name, new)


def with_positions(model: Transformer, kind: str) -> Transformer:
    """Let `model` know positions by its self-attention alone: one of `POSITIONS`."""
    model.positions = NoPositions(model.config.dropout)
    in_encoder, in_decoder = POSITIONS[kind](model.config.num_heads)
    exchange(model.encoder, "attention", in_encoder)
    exchange(model.decoder, "self_attention", in_decoder)
    return model


def _alibi(num_heads: int, times: float = 1.0) -> tuple[Callable[..., nn.Module], ...]:
    bias = AlibiBias(num_heads)
    bias.slopes *= times
    return (partial(BiasedAttention, bias=bias),) * 2


def _t5(num_heads: int) -> tuple[Callable[..., nn.Module], ...]:
    # All layers of a stack share one table.
    return tuple(partial(BiasedAttention, bias=T5Bias(num_heads, both_sides)) for both_sides in (True, False))


# What makes the attentions of the encoder and of the decoder, from the number of heads.
POSITIONS = {
    "none": lambda num_heads: (MultiHeadAttention, MultiHeadAttention),
    "rotary": lambda num_heads: (RotaryAttention, RotaryAttention),
    "ALiBi": _alibi,
    "T5's bias": _t5,
    "ALiBi, 8 times as steep": partial(_alibi, times=8.0),
}


# Parts of a layer


class GroupedQueryAttention(MultiHeadAttention):
    """Attention in which several heads of queries share a head of keys and values."""

    def __init__(self, d_model, num_heads, dropout=0.0, *, groups):
        super().__init__(d_model, num_heads, dropout)
        self.groups = groups
        self.key_projection = nn.Linear(d_model, groups * d_model // num_heads)
        self.value_projection = nn.Linear(d_model, groups * d_model // num_heads)

    def keys_and_values(self, key, value):
        k = split_heads(self.key_projection(key), self.groups)
        v = split_heads(self.value_projection(value), self.groups)
        return k, v  # each (batch, groups, key, d_k)

    def attend(self, query, k, v, mask):
        share = self.num_heads // self.groups  # so many heads look into one group
        k, v = k.repeat_interleave(share, dim=1), v.repeat_interleave(share, dim=1)
        return super().attend(query, k, v, mask)


class RMSNorm(nn.Module):
    """Divide each vector by the root of its mean square, then scale by γ."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        mean_square = x.pow(2).mean(dim=-1, keepdim=True)  # (..., 1)
        return x / (mean_square + self.eps).sqrt() * self.weight


class GatedFeedForward(FeedForward):
    """A feed-forward network in which one linear layer opens or closes the other."""

    def __init__(self, d_model, d_ff, gate=F.silu):
        super().__init__(d_model, d_ff)
        self.gate_layer, self.gate = nn.Linear(d_model, d_ff), gate

    def forward(self, x):
        inside = self.gate(self.gate_layer(x)) * self.inner(x)  # (..., d_ff)
        return self.outer(inside)  # (..., d_model)


def modernise(stack, d_ff, groups):
    """Give a pre-norm stack of encoder layers the parts of Llama's layers."""
    for layer in stack.layers:
        d_model, heads = layer.attention.d_model, layer.attention.num_heads
        layer.attention = RotaryGroupedAttention(d_model, heads, groups=groups)
        layer.feed_forward = GatedFeedForward(d_model, d_ff)
        layer.attention_residual.norm = RMSNorm(d_model)
        layer.feed_forward_residual.norm = RMSNorm(d_model)
    stack.norm = RMSNorm(d_model)


class RotaryGroupedAttention(GroupedQueryAttention, RotaryAttention):
    """Both at once, by inheritance alone."""


# The shapes of a model


class EncoderOnly(nn.Module):
    """BERT's shape: our encoder, and an output layer that guesses hidden words."""

    def __init__(self, config):
        super().__init__()
        d_model, vocab = config.d_model, config.source_vocab_size
        self.embedding = TokenEmbedding(vocab, d_model)
        learned = LearnedPositionalEmbedding(d_model, config.max_len, config.dropout)
        self.positions = learned
        self.encoder = Encoder(config)
        self.output = nn.Linear(d_model, vocab, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, tokens):
        x = self.positions(self.embedding(tokens))  # (batch, seq, d_model)
        x = self.encoder(x, padding_mask(tokens))
        return self.output(x)  # (batch, seq, vocab)


def hide_words(tokens, hidden_id, vocab_size, share=0.15):
    """Return the tokens with some hidden, and the hidden words alone, else padding."""
    chosen = (torch.rand(tokens.shape) < share) & (tokens > EOS_ID)  # (batch, seq)
    dice = torch.rand(tokens.shape)
    # Of the chosen words 8 of 10 are hidden; one becomes any word, and one stays.
    any_word = torch.randint(EOS_ID + 1, vocab_size, tokens.shape)
    seen = tokens.where(~chosen | (dice >= 0.9), any_word)
    seen = seen.masked_fill(chosen & (dice < 0.8), hidden_id)
    return seen, tokens.where(chosen, PAD_ID)


class DecoderOnly(nn.Module):
    """GPT's shape: encoder layers under a look-ahead mask write on from a prompt."""

    def __init__(self, config):
        super().__init__()
        d_model, vocab = config.d_model, config.target_vocab_size
        self.max_len = math.inf  # rotary positions have no last one
        self.embedding = TokenEmbedding(vocab, d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.stack = Encoder(config)
        exchange(self.stack, "attention", RotaryAttention)
        self.output = nn.Linear(d_model, vocab, bias=False)
        self.output.weight = self.embedding.weight

    def start(self, prompt):
        # Padding goes to the front, so that the next word stands behind the last.
        order = (prompt != PAD_ID).int().argsort(dim=1, stable=True)
        return Written(prompt.gather(1, order))

    def decode(self, words, state):
        state.words = torch.cat([state.words, words], dim=1)  # (batch, written)
        causal = look_ahead_mask(state.words.size(1), words.device)
        x = self.dropout(self.embedding(state.words))  # (batch, written, d_model)
        x = self.stack(x, padding_mask(state.words) & causal)
        return self.output(x[:, -words.size(1) :])  # (batch, words, vocab)

    def forward(self, prompt, words):
        return self.decode(words, self.start(prompt))


class Written:
    """What a decoder-only model knows between two words: all words so far."""

    def __init__(self, words):
        self.words = words

    def select(self, rows):
        self.words = self.words[rows]
