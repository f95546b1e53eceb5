"""What a layer must remember: the first symbol of a sequence, or who is tired in a story; and the ways to hold a gate."""

import math
import random
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot

from transformer_lib.progress import progress
from transformer_lib.teaching.record import record

SYMBOLS = 8


def memory_batch(*, count: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return `count` random sequences as one-hot vectors `(count, length, SYMBOLS)`, and their first symbols `(count,)`."""
    symbols = torch.randint(SYMBOLS, (count, length), generator=generator)
    return one_hot(symbols, SYMBOLS).to(torch.get_default_dtype()), symbols[:, 0]


def open_gate(cell: nn.Module, *, block: int, bias: int | float) -> nn.Module:
    """Set the input bias of gate number `block` to `bias`, so that the gate starts open, and return `cell`.

    The gates lie in blocks of `hidden_size` rows: an LSTM's are input 0, forget 1, output 3; a GRU's reset 0, update 1.
    """
    with torch.no_grad():
        cell.bias_ih[_rows(cell, block)] = bias
    return cell


def freeze_gate(cell: nn.Module, *, block: int, value: int) -> nn.Module:
    """Hold gate number `block` at `value` (0 or 1), whatever comes in and however long it is trained; return `cell`."""
    rows = _rows(cell, block)

    def without_these_rows(gradient: Tensor) -> Tensor:
        kept = gradient.clone()
        kept[rows] = 0
        return kept

    with torch.no_grad():
        for parameter in cell.parameters():
            parameter[rows] = 0
        cell.bias_ih[rows] = 20.0 if value else -20.0  # σ(20) is 1 to the eighth decimal place
    for parameter in cell.parameters():
        parameter.register_hook(without_these_rows)
    return cell


class Reader(nn.Module):
    """A recurrent layer over one-hot vectors, and one linear layer that scores `answers` after each step."""

    def __init__(self, layer: nn.Module, hidden_size: int, answers: int) -> None:
        super().__init__()
        self.layer, self.output = layer, nn.Linear(hidden_size, answers)

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.layer(x)[0])  # (count, length, answers)


def _train(model: Reader, steps: int, batch: Callable[[], tuple[Tensor, Tensor]]) -> Reader:
    """Train for so many steps; `batch()` returns the scores of some answers, and those that are right."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in progress(range(steps), description="remember"):
        loss = cross_entropy(*batch())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
    return model


def train_to_remember(
    make_layer: Callable[[int, int], nn.Module], *, seed: int, steps: int = 400, shortest: int = 20, longest: int = 40
) -> Reader:
    """Return a model of 32 numbers, around `make_layer(SYMBOLS, 32)`, trained to name the first symbol.

    Each step draws 64 sequences of one random length from `shortest` to `longest`. `seed` fixes weights and sequences.
    """
    torch.manual_seed(seed)
    model = Reader(make_layer(SYMBOLS, 32), 32, SYMBOLS)
    generator = torch.Generator().manual_seed(seed)

    def batch() -> tuple[Tensor, Tensor]:
        length = int(torch.randint(shortest, longest + 1, (), generator=generator))
        x, first = memory_batch(count=64, length=length, generator=generator)
        return model.output(model.layer(x)[0][:, -1]), first

    return _train(model, steps, batch)


@torch.no_grad()
def memory_accuracy(model: Reader, *, lengths: Sequence[int], seed: int = 0) -> list[float]:
    """Return for each length the share of 500 new sequences whose first symbol `model` names."""
    generator = torch.Generator().manual_seed(1_000_000 + seed)
    accuracy = []
    for length in lengths:
        x, first = memory_batch(count=500, length=length, generator=generator)
        accuracy.append((model(x)[:, -1].argmax(dim=-1) == first).float().mean().item())
    return accuracy


ANIMALS = ["cow", "horse", "dog", "cat", "hen", "pig", "goat", "duck"]
WORDS = [*ANIMALS, "the", "eats", "sleeps", "runs", "sees", "and", "is", "tired", "."]
_IDS = {word: place for place, word in enumerate(WORDS)}


def story(length: int, choose: random.Random) -> tuple[list[str], list[str]]:
    """Return `length` words of sentences such as *the cow runs and sees the horse and is tired .*, and each one's subject."""
    words, subjects = [], []
    while len(words) < length:
        subject = choose.choice(ANIMALS)
        deeds = [choose.choice(["eats", "sleeps", "runs", "sees", "sees"]) for _ in range(choose.randint(1, 7))]
        seen = [f"{deed} the {choose.choice(ANIMALS)}" if deed == "sees" else deed for deed in deeds]
        sentence = f"the {subject} {' and '.join(seen)} and is tired .".split()
        words += sentence
        subjects += [subject] * len(sentence)
    return words[:length], subjects[:length]


def stories(count: int, length: int, choose: random.Random) -> tuple[Tensor, Tensor]:
    """Return the ids of the words of `count` stories, `(count, length)`, and those of their subjects."""
    pairs = [story(length, choose) for _ in range(count)]
    words, subjects = ([[_IDS[word] for word in pair[side]] for pair in pairs] for side in (0, 1))
    return torch.tensor(words), torch.tensor(subjects)


def vectors(words: Tensor) -> Tensor:
    """Return a vector for each word."""
    return one_hot(words, len(WORDS)).float()


def train_on_stories(layer: nn.Module, *, steps: int, choose: random.Random) -> Reader:
    """Return a model that is trained to name, at each *tired*, the subject of its sentence."""
    model = Reader(layer, layer.hidden_size, len(ANIMALS))

    def batch() -> tuple[Tensor, Tensor]:
        words, subjects = stories(32, 40, choose)
        asked = words == _IDS["tired"]
        return model(vectors(words))[asked], subjects[asked]

    return _train(model, steps, batch)


@torch.no_grad()
def forget_gates(layer: nn.LSTM, words: Tensor, keep_at: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Return h, c and the forget gate of torch's LSTM after each word, each `(count, length, hidden)`.

    At the word `keep_at` the forget gate is held at 1.
    """
    h = c = torch.zeros(len(words), layer.hidden_size)
    steps = []
    for word in words.unbind(dim=1):
        blocks = vectors(word) @ layer.weight_ih_l0.T + layer.bias_ih_l0
        blocks = blocks + h @ layer.weight_hh_l0.T + layer.bias_hh_l0
        i, f, g, o = blocks.chunk(4, dim=-1)
        f = f.sigmoid()
        if keep_at is not None:
            f = torch.where((word == _IDS[keep_at])[:, None], 1.0, f)
        c = f * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        steps.append((h, c, f))
    return tuple(torch.stack(each, dim=1) for each in zip(*steps, strict=True))


def who_is_tired() -> None:
    """Print from the record how often LSTM and plain cell name who is tired, and where the forget gate stands."""
    numbers = record("recurrent_story")["numbers"]
    lstm, plain = numbers["LSTM, 1500 steps"], numbers["RNN, 1500 steps"]
    for what, values in {
        "LSTM, share right": [run["right"] for run in lstm],
        "  forget gate at full stops": [run["forget gate"]["full stop"] for run in lstm],
        "  at subjects": [run["forget gate"]["subject"] for run in lstm],
        "  at all other words": [run["forget gate"]["other word"] for run in lstm],
        "plain cell, share right": [run["right"] for run in plain],
    }.items():
        print(f"{what:28}", *(f"{value:.2f}" for value in values), sep="  ")


def gradient_by_distance(layer: nn.Module, steps: int = 60) -> Tensor:
    """Return the size of the last output's gradient for the input at each distance, `(steps)`, nearest first."""
    torch.manual_seed(0)
    x = torch.randn(16, steps, SYMBOLS, dtype=torch.float64, requires_grad=True)
    outputs, _ = layer.double()(x)
    outputs[:, -1].backward(torch.randn_like(outputs[:, -1]))
    return x.grad.square().sum(dim=(0, 2)).sqrt().flip(0)


def factor_per_step(gradients: dict[str, Tensor], bounds: dict[str, tuple[float, float]]) -> None:
    """Print by what a step back multiplies each of `gradients`, from distance 2 to 52; assert that it is within `bounds`."""
    for name, sizes in gradients.items():
        factor = (sizes[52] / sizes[2]).item() ** (1 / 50)
        assert bounds[name][0] < factor < bounds[name][1], (name, factor)
        print(f"{name:28} ≈ {factor:.2f} per step, after 50 steps 10 to the ≈ {50 * math.log10(factor):.1f}")


def mean_shares() -> dict[str, list[float]]:
    """Return from the record `recurrent_memory` for each cell the share of first words named, of 20 to 100, a mean a seed."""
    memory = record("recurrent_memory")
    tested = [place for place, length in enumerate(memory["settings"]["tested_lengths"]) if length >= 20]
    return {
        name: [sum(run[place] for place in tested) / len(tested) for run in runs] for name, runs in memory["numbers"].items()
    }


def without_gates() -> None:
    """Print how often each cell names the first of 20 to 100 words, and how many seeds learnt it."""
    for name, shares in mean_shares().items():
        learnt = sum(share > 0.5 for share in shares)
        print(f"{name:54} {min(shares):.2f} to {max(shares):.2f}   {learnt} of {len(shares)}")


def compare_with_torch(cells: Sequence[type], make_layer: type, make_both_ways: type) -> None:
    """Assert in float64 that layers of our `cells` equal torch's; print a line for each."""
    torch.manual_seed(0)
    x = torch.randn(3, 5, 4, dtype=torch.float64, requires_grad=True)
    for cell in cells:
        name = cell.__name__.removesuffix("Cell")
        for both_ways in (False, True):
            ours = (make_both_ways if both_ways else make_layer)(cell(4, 6)).double()
            theirs = getattr(nn, name)(4, 6, batch_first=True, bidirectional=both_ways).double()
            with torch.no_grad():
                for mine, given in zip(ours.parameters(), theirs.parameters(), strict=True):
                    given.copy_(mine)
            outputs = [ours(x) if both_ways else ours(x)[0], theirs(x)[0]]
            weight = torch.randn_like(outputs[0])
            gradients = [torch.autograd.grad((y * weight).sum(), [x, *m.parameters()]) for y, m in zip(outputs, (ours, theirs))]
            torch.testing.assert_close(*outputs)
            torch.testing.assert_close(*gradients)
        print(f"{name:4} equal to torch, one way and both: outputs and gradients")


def _rows(cell: nn.Module, block: int) -> slice:
    return slice(block * cell.hidden_size, (block + 1) * cell.hidden_size)
