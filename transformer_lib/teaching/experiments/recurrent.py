"""The remembering task: name the first symbol of a sequence; and the ways to hold a gate while a layer learns it."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot

from transformer_lib.progress import progress

SYMBOLS = 8


def memory_batch(*, count: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return `count` random sequences as one-hot vectors `(count, length, SYMBOLS)`, and their first symbols `(count,)`.

    Raises `ValueError` for a length below 1.
    """
    if length < 1:
        raise ValueError(f"length must be at least 1, but it is {length}")
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
    """Hold gate number `block` at `value` (0 or 1), whatever comes in and however long it is trained; return `cell`.

    Raises `ValueError` for another value.
    """
    if value not in (0, 1):
        raise ValueError(f"value must be 0 or 1, but it is {value}")
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


class RememberFirst(nn.Module):
    """A recurrent layer, and one linear layer that scores the symbols from its last state."""

    def __init__(self, layer: nn.Module, hidden_size: int) -> None:
        super().__init__()
        self.layer = layer
        self.output = nn.Linear(hidden_size, SYMBOLS)

    def forward(self, x: Tensor) -> Tensor:
        _, state = self.layer(x)
        last = state[0] if isinstance(state, tuple) else state  # an LSTM's state is a pair
        return self.output(last[-1])  # (batch, SYMBOLS)


def train_to_remember(
    make_layer: Callable[[int, int], nn.Module],
    *,
    seed: int,
    hidden_size: int = 32,
    steps: int = 400,
    shortest: int = 20,
    longest: int = 40,
    batch: int = 64,
    learning_rate: float = 1e-2,
) -> RememberFirst:
    """Return a model trained to name the first symbol, around `make_layer(SYMBOLS, hidden_size)`.

    Each step draws one batch of one random length from `shortest` to `longest`. `seed` fixes weights and sequences.
    """
    torch.manual_seed(seed)
    model = RememberFirst(make_layer(SYMBOLS, hidden_size), hidden_size)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    for _ in progress(range(steps), description=f"remember, seed {seed}"):
        length = int(torch.randint(shortest, longest + 1, (), generator=generator))
        x, first = memory_batch(count=batch, length=length, generator=generator)
        loss = cross_entropy(model(x), first)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
    return model


@torch.no_grad()
def memory_accuracy(model: nn.Module, *, lengths: Sequence[int], count: int = 500, seed: int = 0) -> list[float]:
    """Return for each length the share of `count` new sequences whose first symbol `model` names."""
    generator = torch.Generator().manual_seed(1_000_000 + seed)
    accuracy = []
    for length in lengths:
        x, first = memory_batch(count=count, length=length, generator=generator)
        accuracy.append((model(x).argmax(dim=-1) == first).float().mean().item())
    return accuracy


@torch.no_grad()
def states_by_length(
    layer: nn.Module, *, lengths: Sequence[int], count: int, seed: int = 0
) -> tuple[dict[int, Tensor], Tensor]:
    """Return the output of `layer` after each of `lengths` steps, each `(count, hidden)`, and the first symbols `(count,)`."""
    generator = torch.Generator().manual_seed(2_000_000 + seed)
    x, first = memory_batch(count=count, length=max(lengths), generator=generator)
    outputs, _ = layer(x)  # (count, max(lengths), hidden)
    return {length: outputs[:, length - 1] for length in lengths}, first


def fresh_readout_accuracy(states: Tensor, first: Tensor, *, held_out: int) -> float:
    """Fit a new linear readout to `states`, `(count, hidden)`, and return how often it names the first symbol.

    Measured on the last `held_out` of them, which the fit does not see. The layer stays as it is: what is measured is what
    a linear readout can find in the states of this one length.
    """
    states = (states - states.mean(dim=0)) / (states.std(dim=0) + 1e-6)
    readout = nn.Linear(states.size(1), SYMBOLS)
    nn.init.zeros_(readout.weight)
    nn.init.zeros_(readout.bias)
    optimizer = torch.optim.LBFGS(readout.parameters(), max_iter=60, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = cross_entropy(readout(states[:-held_out]), first[:-held_out]) + 1e-4 * readout.weight.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    with torch.no_grad():
        return (readout(states[-held_out:]).argmax(dim=-1) == first[-held_out:]).float().mean().item()


def _rows(cell: nn.Module, block: int) -> slice:
    return slice(block * cell.hidden_size, (block + 1) * cell.hidden_size)
