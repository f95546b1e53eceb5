"""Chapter 5's experiments: who loves whom, and positions that no training has reached."""

import math
from collections.abc import Callable, Iterable
from itertools import permutations

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, softmax

from transformer_lib.positional_encoding import LearnedPositionalEmbedding, PositionalEncoding

NAMES = ["John", "Susan", "Anna", "Ben", "Kim", "Lee", "Maria", "Tom"]
LOVES = len(NAMES)  # the verb's id comes after those of the names

WIDTH, STEPS = 32, 400
WORDS, LENGTH = 12, 16  # of the random sentences
TRAINED, TABLE = 48, 128  # positions

Network = Callable[[int, Callable], nn.Module]


def who_loves(network: Network, positions: Callable) -> Tensor:
    """Train on *a loves b*, three times; print the losses, and return what run 0 answers to two twins, (2, names)."""
    sentences = torch.tensor([[a, LOVES, b] for a, b in permutations(range(LOVES), 2)])  # (56, 3)
    losses, first = [], None
    for seed in range(3):
        torch.manual_seed(seed)
        model = network(LOVES + 1, positions)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(STEPS):
            loss = cross_entropy(model(sentences).mean(dim=1), sentences[:, 0])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append(f"≈ {loss.item():.4f}")
        assert loss < 0.02 or math.log(2) - 1e-4 < loss < math.log(2) + 0.01
        first = first or model
    print(f"loss of three runs, {getattr(positions, '__name__', type(positions).__name__):18}:", *losses)
    with torch.no_grad():
        twins = first(torch.tensor([[0, LOVES, 1], [1, LOVES, 0]])).mean(dim=1)
    return softmax(twins, dim=-1)[:, :LOVES]


def random_rows(max_len: int = TABLE) -> Tensor:
    """Return rows whose numbers have the typical size of the sinusoids', and no order."""
    return torch.randn(max_len, WIDTH) / math.sqrt(2)


def smooth_rows() -> Tensor:
    """Return random rows that change as slowly as the mean of nine, so that neighbours are alike."""
    return 3 * random_rows(TABLE + 8).unfold(0, 9, 1).mean(dim=-1)


def fast_hands() -> Tensor:
    """Return hands whose speeds are drawn at random, from 0 to half a turn for each position."""
    angle = torch.arange(TABLE).unsqueeze(1) * (math.pi * torch.rand(WIDTH // 2))
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(start_dim=1)


def _fixed(rows: Callable[[], Tensor]) -> PositionalEncoding:
    layer = PositionalEncoding(WIDTH, TABLE)
    layer.table = rows().unsqueeze(0)
    return layer


def _turned(network: type[nn.Module]) -> type[nn.Module]:
    """Return a network that adds no rows: its scores compare words whose own pairs are turned by their positions."""

    class Rotary(network):
        def forward(self, tokens: Tensor, offset: int = 0) -> Tensor:
            x = self.embedding(tokens)
            rows = self.positions.table[0, offset : offset + tokens.size(1)]
            sine, cosine = rows[:, 0::2], rows[:, 1::2]

            def turn(x: Tensor) -> Tensor:
                even, odd = x[..., 0::2], x[..., 1::2]
                return torch.stack([cosine * even + sine * odd, cosine * odd - sine * even], dim=-1).flatten(-2)

            scores = turn(self.matrix(x)) @ turn(x).mT / math.sqrt(x.size(-1))
            return self.output(softmax(scores, dim=-1) @ x)

    return Rotary


def _train_to_look_back(model: nn.Module, furthest: int) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        tokens = torch.randint(WORDS, (32, LENGTH))
        offset = int(torch.randint(furthest + 1, ()))
        logits = model(tokens, offset)[:, 1:]  # the first word has none before it
        loss = cross_entropy(logits.flatten(0, 1), tokens[:, :-1].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def _share_right(model: nn.Module, offset: int) -> Tensor:
    tokens = torch.randint(WORDS, (500, LENGTH))
    return (model(tokens, offset)[:, 1:].argmax(dim=-1) == tokens[:, :-1]).float().mean()


KINDS = {
    "hands": lambda network: network(WORDS, PositionalEncoding(WIDTH, TABLE)),
    "random rows": lambda network: network(WORDS, _fixed(random_rows)),
    "learned rows": lambda network: network(WORDS, LearnedPositionalEmbedding(WIDTH, TABLE)),
    "rotary": lambda network: _turned(network)(WORDS, PositionalEncoding(WIDTH, TABLE)),
    "fast hands": lambda network: network(WORDS, _fixed(fast_hands)),
    "smooth rows": lambda network: network(WORDS, _fixed(smooth_rows)),
}
BOUNDS = {"hands": (0.6, 0.97), "fast hands": (0.6, 0.99), "rotary": (0.95, 1.001)}  # all others: (0.05, 0.3)


def name_the_word_before(network: Network, kinds: Iterable[str], furthest: int = TRAINED - LENGTH) -> dict[str, Tensor]:
    """Train each kind three times on positions below 48; return the share right where a sentence begins, (3, places).

    A sentence of 16 random words begins anywhere from 0 to `furthest` in training, and at 0, 8, … 112 in the test.
    """
    right = {}
    print("share right      trained positions      new positions")
    for kind in kinds:
        runs = []
        for seed in range(3):
            torch.manual_seed(seed)
            model = KINDS[kind](network)
            _train_to_look_back(model, furthest)
            runs.append(torch.stack([_share_right(model, offset) for offset in range(0, TABLE - LENGTH + 1, 8)]))
        right[kind] = torch.stack(runs)
        inside, outside = right[kind][:, : furthest // 8 + 1], right[kind][:, (furthest + LENGTH) // 8 :]
        print(f"{kind:16} ≈ {inside.mean():.2f}                 ≈ {outside.mean():.2f}")
        if furthest == TRAINED - LENGTH:
            low, high = BOUNDS.get(kind, (0.05, 0.3))
            assert inside.mean() > 0.9 and low < outside.mean() < high, kind
    return right


def typical_size(x: Tensor) -> float:
    """Return the root of the mean of the squares."""
    return x.square().mean().sqrt().item()
