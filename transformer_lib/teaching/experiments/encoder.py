"""Chapter 7's ablation: layers that lack a part, and three things to ask of a stack of them."""

# What a layer computes, by its switches: attention(x), norm(attention(x)), x + attention(x) or norm(x + attention(x)), and with
# feed_forward the same once more around a feed-forward network. With everything switched on it is an EncoderLayer.

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from transformer_lib.attention import MultiHeadAttention
from transformer_lib.encoder import FeedForward, LayerNorm

__all__ = [
    "VARIANTS",
    "AblatedLayer",
    "SayIt",
    "difference",
    "differences_by_depth",
    "floor_when_alike",
    "name_yourself",
    "train_to_say",
]

D_MODEL, NUM_HEADS, D_FF = 32, 4, 64
TOKENS, PLACES = 10, 8
LEARNING_RATE, BATCH = 1e-3, 32

# The five of the figure, and attention alone that does not start as small as torch starts it.
VARIANTS: dict[str, dict] = {
    "attention alone": {},
    "attention, larger start": {"start": 2.0},
    "norm": {"norm": True},
    "sum": {"add": True},
    "sum & norm": {"add": True, "norm": True},
    "full layer": {"add": True, "norm": True, "feed_forward": True},
}


class AblatedLayer(nn.Module):
    """An encoder layer whose parts can be switched on one by one.

    `start` is the standard deviation of attention's weights at the start, times √d_model; None leaves them as torch draws
    them, uniformly with a standard deviation of 0.58 / √d_model.
    """

    def __init__(
        self, *, add: bool = False, norm: bool = False, feed_forward: bool = False, start: float | None = None
    ) -> None:
        super().__init__()
        self.add = add
        self.attention = MultiHeadAttention(D_MODEL, NUM_HEADS)
        self.feed_forward = FeedForward(D_MODEL, D_FF) if feed_forward else None
        self.norms = nn.ModuleList(LayerNorm(D_MODEL) if norm else nn.Identity() for _ in range(1 + feed_forward))
        if start is not None:
            for part in self.attention.children():
                nn.init.normal_(part.weight, std=start / math.sqrt(D_MODEL))

    def forward(self, x: Tensor) -> Tensor:
        x = self.norms[0](x * self.add + self.attention(x, x, x))
        if self.feed_forward is None:
            return x
        return self.norms[1](x * self.add + self.feed_forward(x))


def difference(x: Tensor) -> float:
    """Return how far the tokens of `x` (1, seq, d_model) are from their average, in parts of their own size: 0 is all alike."""
    return ((x - x.mean(dim=1, keepdim=True)).norm() / x.norm()).item()


@torch.no_grad()
def differences_by_depth(make_layer: Callable[[], nn.Module], seed: int, depth: int = 12) -> list[float]:
    """Return `difference` of ten random tokens, before the first layer and after each of `depth` new ones, in float64."""
    torch.manual_seed(seed)
    x = torch.randn(1, 10, D_MODEL, dtype=torch.float64)
    found = [difference(x)]
    for _ in range(depth):
        x = make_layer().double()(x)  # (1, 10, d_model)
        found.append(difference(x))
    return found


class SayIt(nn.Module):
    """An embedding, `depth` layers and a linear layer that scores the tokens at each place. No positions: none are needed."""

    def __init__(self, make_layer: Callable[[], nn.Module], depth: int = 6) -> None:
        super().__init__()
        self.embedding = nn.Embedding(TOKENS, D_MODEL)
        self.layers = nn.Sequential(*[make_layer() for _ in range(depth)])
        self.output = nn.Linear(D_MODEL, TOKENS)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output(self.layers(self.embedding(tokens)))  # (batch, seq, tokens)


def name_yourself() -> tuple[Tensor, Tensor]:
    """Return a batch of sentences and what to say at each place: the token that stands there."""
    tokens = torch.randint(TOKENS, (BATCH, PLACES))
    return tokens, tokens


def train_to_say(
    make_layer: Callable[[], nn.Module],
    seed: int,
    steps: int,
    depth: int = 6,
    make_batch: Callable[[], tuple[Tensor, Tensor]] = name_yourself,
) -> list[float]:
    """Train a `SayIt` and return the loss of each step. The seed moves the weights and the sentences."""
    torch.manual_seed(seed)
    model = SayIt(make_layer, depth)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    losses = []
    for _ in range(steps):
        tokens, targets = make_batch()
        loss = cross_entropy(model(tokens).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def floor_when_alike(tokens: int = TOKENS, places: int = PLACES) -> float:
    """Return the least mean loss of `name_yourself` for a model whose places all give one answer.

    Such a model can at best know how often each token occurs: a token that stands at c of the places gets the probability
    c / places. A token is drawn c times with the binomial probability, and each of the `tokens` adds alike.
    """
    share = 1 / tokens
    return tokens * sum(
        math.comb(places, c) * share**c * (1 - share) ** (places - c) * (c / places) * math.log(places / c)
        for c in range(1, places + 1)
    )
