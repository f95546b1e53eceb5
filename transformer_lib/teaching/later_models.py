"""What came after the paper: each later idea as a short class, the difference to ours."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lib.attention import MultiHeadAttention
from transformer_lib.encoder import Encoder, TransformerConfig
from transformer_lib.language_model import RMSNorm, rotate
from transformer_lib.masks import padding_mask
from transformer_lib.positional_encoding import LearnedPositionalEmbedding
from transformer_lib.seq2seq import EOS_ID, PAD_ID
from transformer_lib.transformer import TokenEmbedding, Transformer

# The classes stand on a page of the book, so they are as short as those of a notebook.
Mask = Tensor | None

# Positions, told by attention itself


class RotaryAttention(MultiHeadAttention):
    """Self-attention that turns queries and keys by their positions."""

    def look_up(self, q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
        # A cache holds the words before: the queries stand at the last positions.
        q, k = rotate(q, k.size(2) - q.size(2)), rotate(k)
        return super().look_up(q, k, v, mask)


class BiasedAttention(MultiHeadAttention):
    """Self-attention that adds a number for each head and distance to the scores."""

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        bias: nn.Module,
    ) -> None:
        super().__init__(d_model, num_heads)
        self.bias = bias

    def look_up(self, q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
        position = torch.arange(k.size(2), device=k.device)
        own = position[k.size(2) - q.size(2) :]  # where the queries stand
        bias = self.bias(position - own[:, None])  # (heads, query, key)
        if mask is not None:
            bias = bias.masked_fill(~mask, -math.inf)  # (batch, heads, query, key)
        return F.scaled_dot_product_attention(q, k, v, bias)


class AlibiBias(nn.Module):
    """The farther, the less: minus the distance, times the slope of the head."""

    def __init__(self, num_heads: int) -> None:
        super().__init__()
        slopes = 2 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)  # (heads)
        self.register_buffer("slopes", slopes, persistent=False)

    def forward(self, distance: Tensor) -> Tensor:
        return -self.slopes[:, None, None] * distance.abs()  # (heads, query, key)


class T5Bias(nn.Module):
    """A learned number for each head and bucket of distances."""

    def __init__(
        self,
        num_heads: int,
        both_sides: bool,
        buckets: int = 32,
        furthest: int = 128,
    ) -> None:
        super().__init__()
        self.both_sides, self.buckets, self.furthest = both_sides, buckets, furthest
        self.table = nn.Parameter(torch.zeros(buckets, num_heads))

    def forward(self, distance: Tensor) -> Tensor:
        return self.table[self.bucket(distance)].movedim(-1, 0)  # (heads, query, key)

    def bucket(self, distance: Tensor) -> Tensor:
        """Return the number of the bucket that each distance belongs to."""
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

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        return self.dropout(x)


def exchange(stack: nn.Module, name: str, make: Callable[..., nn.Module]) -> None:
    """Put another attention in place of each layer's, with the weights that fit."""
    for layer in stack.layers:
        old = getattr(layer, name)
        new = make(old.d_model, old.num_heads)
        for part, weight in old.named_parameters():
            if weight.shape == new.get_parameter(part).shape:
                new.get_parameter(part).data = weight.data
        setattr(layer, name, new)


def with_positions(model: Transformer, kind: str) -> Transformer:
    """Let `model` know positions by its self-attention alone: one of `POSITIONS`."""
    model.positional_encoding = NoPositions(model.config.dropout)
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


# Attention itself


class WindowedAttention(MultiHeadAttention):
    """Self-attention that looks `reach` words to each side at most."""

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        reach: int,
    ) -> None:
        super().__init__(d_model, num_heads)
        self.reach = reach

    def look_up(self, q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
        position = torch.arange(k.size(2), device=k.device)
        own = position[k.size(2) - q.size(2) :]  # where the queries stand
        near = (position - own[:, None]).abs() <= self.reach  # (query, key)
        return super().look_up(q, k, v, near if mask is None else mask & near)


def online_attention(query: Tensor, key: Tensor, value: Tensor, block: int) -> Tensor:
    """Equation 1 without its matrix: read `block` keys, add to the sums, forget them."""
    highest = query.new_full((*query.shape[:-1], 1), -math.inf)  # (..., query, 1)
    total, mixed = torch.zeros_like(highest), torch.zeros_like(highest)
    blocks = zip(key.split(block, dim=-2), value.split(block, dim=-2), strict=True)
    for k, v in blocks:
        scores = query @ k.transpose(-2, -1) / math.sqrt(query.size(-1))
        before, highest = highest, highest.maximum(scores.amax(dim=-1, keepdim=True))
        weights = (scores - highest).exp()  # (..., query, block)
        # The sums so far were made with the highest score so far.
        correction = (before - highest).exp()
        total = correction * total + weights.sum(dim=-1, keepdim=True)
        mixed = correction * mixed + weights @ v  # (..., query, d_v)
    return mixed / total


class QueryKeyNormAttention(MultiHeadAttention):
    """Attention that gives all queries and keys the same length before they meet."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__(d_model, num_heads)
        self.query_norm = RMSNorm(d_model // num_heads)
        self.key_norm = RMSNorm(d_model // num_heads)

    def look_up(self, q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
        return super().look_up(self.query_norm(q), self.key_norm(k), v, mask)


# Parts of a layer


# The shapes of a model


class EncoderOnly(nn.Module):
    """BERT's shape: our encoder, and an output layer that guesses hidden words."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        d_model, vocab = config.d_model, config.source_vocab_size
        self.embedding = TokenEmbedding(vocab, d_model)
        learned = LearnedPositionalEmbedding(d_model, config.max_len, config.dropout)
        self.positional_encoding = learned
        self.encoder = Encoder(config)
        self.output = nn.Linear(d_model, vocab, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.positional_encoding(self.embedding(tokens))  # (batch, seq, d_model)
        x = self.encoder(x, padding_mask(tokens))
        return self.output(x)  # (batch, seq, vocab)


def hide_words(
    tokens: Tensor,
    hidden_id: int,
    vocab_size: int,
    share: float = 0.15,
) -> tuple[Tensor, Tensor]:
    """Return the tokens with some hidden, and the hidden words alone, else padding."""
    device = tokens.device
    chosen = torch.rand(tokens.shape, device=device) < share  # (batch, seq)
    chosen = chosen & (tokens > EOS_ID)
    dice = torch.rand(tokens.shape, device=device)
    # Of the chosen words: dice < 0.8 hidden, up to 0.9 any word, above as it was.
    any_word = torch.randint(EOS_ID + 1, vocab_size, tokens.shape, device=device)
    seen = tokens.where(~chosen | (dice >= 0.9), any_word)
    seen = seen.masked_fill(chosen & (dice < 0.8), hidden_id)
    return seen, tokens.where(chosen, PAD_ID)
