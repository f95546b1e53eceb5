"""A deep encoder that has to copy its input, and the loop that trains it: the easiest task that a bad start can spoil."""

import copy
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim.lr_scheduler import LambdaLR, LRScheduler
from torch.testing import assert_close

from transformer_lib.encoder import Encoder, TransformerConfig
from transformer_lib.positional_encoding import PositionalEncoding
from transformer_lib.progress import progress
from transformer_lib.schedule import NoamSchedule, noam_rate, transformer_optimizer
from transformer_lib.teaching.record import record
from transformer_lib.transformer import TokenEmbedding

VOCABULARY = 12
LETTERS = "abcdefghijkl"
D_MODEL = 32
LENGTH = 8
WARMUP = 100
FACTOR = 0.25  # multiplies the schedule: its own peak is too high for the deep stack
PEAK = FACTOR / math.sqrt(D_MODEL * WARMUP)  # 0.0044
GUESS = math.log(VOCABULARY)  # the loss of a network that knows nothing, 2.485


class DeepStack(nn.Module):
    """Embedding, positions, `layers` encoder layers and one linear layer: logits for each place of a sentence.

    Shapes: `tokens` is `(batch, seq)`; the states are `(batch, seq, d_model)`, the logits `(batch, seq, vocab)`.
    """

    def __init__(self, layers: int, *, seed: int, pre_norm: bool = False) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.embedding = TokenEmbedding(VOCABULARY, D_MODEL)
        self.positions = PositionalEncoding(D_MODEL)
        sizes = {"d_model": D_MODEL, "num_heads": 4, "d_ff": 2 * D_MODEL}
        self.encoder = Encoder(TransformerConfig(num_layers=layers, **sizes, dropout=0.0, pre_norm=pre_norm))
        for parameter in self.encoder.parameters():
            if parameter.ndim == 2:
                nn.init.xavier_uniform_(parameter)
        self.output = nn.Linear(D_MODEL, VOCABULARY)

    def states(self, tokens: Tensor) -> Tensor:
        return self.encoder(self.positions(self.embedding(tokens)))

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output(self.states(tokens))


with_warmup = partial(NoamSchedule, d_model=D_MODEL, warmup=WARMUP)


def without_warmup(optimizer: torch.optim.Optimizer) -> LambdaLR:
    """Return the schedule of width D_MODEL and warm-up WARMUP with its rise cut off.

    The first WARMUP steps all run with the highest rate; from there on the rate falls as always.
    """
    return LambdaLR(optimizer, lambda done: noam_rate(max(done + 1, WARMUP), D_MODEL, WARMUP))


def climb_of_ten(optimizer: torch.optim.Optimizer) -> LambdaLR:
    """Return `without_warmup` with a rise of ten steps before it."""
    return LambdaLR(optimizer, lambda done: noam_rate(max(done + 1, WARMUP), D_MODEL, WARMUP) * min(1, (done + 1) / 10))


def batches(seed: int, size: int = 64) -> Iterator[Tensor]:
    """Yield batches of random letters without end."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield torch.randint(VOCABULARY, (size, LENGTH), generator=generator)


def copy_loss(model: nn.Module, tokens: Tensor) -> Tensor:
    return cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())


def train_to_copy(
    model: nn.Module,
    *,
    seed: int,
    learning_rate: float,
    schedule: Callable[[torch.optim.Optimizer], LRScheduler] | None = None,
    steps: int,
    after_step: Callable[[], None] | None = None,
) -> list[float]:
    """Train `model` to give back each sentence of random tokens, and return the loss of each step.

    Adam with the paper's numbers and `learning_rate`; `schedule(optimizer)` makes the schedule, without one the rate stays.
    `seed` fixes the sentences. `after_step` is called after each step, to measure.
    """
    optimizer = transformer_optimizer(model, learning_rate)
    rates = schedule(optimizer) if schedule else None
    losses = []
    for _, tokens in zip(progress(range(steps), description=f"copying, seed {seed}"), batches(seed)):
        loss = copy_loss(model, tokens)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rates:
            rates.step()
        losses.append(loss.item())
        if after_step:
            after_step()
    return losses


@dataclass
class Run:
    """A training that was watched: loss and mean move of a weight in each step, and looks, by the number of steps done."""

    model: DeepStack
    losses: list[float] = field(default_factory=list)
    moves: list[float] = field(default_factory=list)
    spreads: dict[int, float] = field(default_factory=dict)
    looks: dict[int, tuple[Tensor, str]] = field(default_factory=dict)  # states of eight first letters, letters answered


watched = next(batches(seed=11))


def weights_of(model: nn.Module) -> Tensor:
    return torch.cat([weight.detach().flatten() for weight in model.parameters()])


@torch.no_grad()
def spread(model: DeepStack) -> float:
    """Return how far the 512 places of 64 inputs lie apart: the standard deviation, averaged over the 32 columns."""
    return model.states(watched).flatten(0, 1).std(dim=0).mean().item()


@torch.no_grad()
def look_at(model: DeepStack) -> tuple[Tensor, str]:
    """Return the states of eight first letters, (8, 32), and the letters answered."""
    answers = model(watched[:8])[:, 0].argmax(dim=-1)
    return model.states(watched[:8])[:, 0], "".join(LETTERS[i] for i in answers)


def watch_training(schedule: Callable, *, steps: int = WARMUP, seed: int = 0, looks: Iterable[int] = (1, 5, WARMUP)) -> Run:
    """Train the stack of twelve layers, post-norm, and look at it after so many steps as `looks` says."""
    run = Run(DeepStack(layers=12, seed=seed))
    run.looks[0], run.spreads[0] = look_at(run.model), spread(run.model)
    before = weights_of(run.model)

    def after_step() -> None:
        nonlocal before
        after = weights_of(run.model)
        run.moves.append((after - before).abs().mean().item())
        before = after
        if len(run.moves) in looks:
            run.looks[len(run.moves)], run.spreads[len(run.moves)] = look_at(run.model), spread(run.model)

    run.losses = train_to_copy(
        run.model, seed=seed, learning_rate=FACTOR, schedule=schedule, steps=steps, after_step=after_step
    )
    return run


def train_twice() -> tuple[Run, Run]:
    """Train the same network on the same batches, at the full rate at once and climbing to it; print where both end."""
    at_once, climbing = watch_training(without_warmup), watch_training(with_warmup)
    print(f"loss after {WARMUP} steps: at once ≈ {at_once.losses[-1]:.2f}, climbing ≈ {climbing.losses[-1]:.2f}")
    assert min(at_once.losses) > 2.4 and at_once.losses[-1] < 2.6 and climbing.losses[-1] < 0.3
    assert len(set(at_once.looks[1][1])) == 1 and at_once.spreads[1] < 0.3 * at_once.spreads[0], "one step makes all alike"
    assert at_once.spreads[5] < 0.02 and at_once.moves[0] > 0.0038
    assert climbing.moves[0] < 0.0001 and max(climbing.moves) < 0.25 * at_once.moves[0]
    return at_once, climbing


def with_a_fresh_adam(run: Run, steps: int = 20) -> list[float]:
    """Train a copy of a trained network on at the full rate, with an Adam that starts anew; print its losses."""
    losses = train_to_copy(copy.deepcopy(run.model), seed=1, learning_rate=PEAK, steps=steps)
    for step in (1, 2, 3, 5, 10, steps):
        print(f"loss before step {step:2}: ≈ {losses[step - 1]:.2f}")
    assert losses[0] < 0.3 and losses[1] > GUESS and losses[-1] < 0.6
    return losses


def recorded(stack: str, peak: float, schedule: str) -> list[float]:
    """Return what the record says of a stack: the losses at the end of three runs."""
    rows = record("schedule_warmup")["numbers"]
    (losses,) = [r["losses"] for r in rows if (r["stack"], round(r["peak"], 4), r["schedule"]) == (stack, peak, schedule)]
    return losses


def compare_with_torch(adam: Callable) -> None:
    """Assert that `adam(gradients, rates)` moves one weight as torch's Adam does under `NoamSchedule`, and say so."""
    gradients = torch.randn(30, generator=torch.Generator().manual_seed(11), dtype=torch.float64)
    weight = nn.Parameter(torch.zeros((), dtype=torch.float64))
    optimizer = transformer_optimizer(nn.ParameterList([weight]))
    schedule = NoamSchedule(optimizer, d_model=16, warmup=10)
    places = []
    for gradient in gradients:
        weight.grad = gradient.clone()
        optimizer.step()
        schedule.step()
        places.append(weight.item())
    moves = adam(gradients.tolist(), [noam_rate(step, 16, 10) for step in range(1, 31)])
    assert_close(places, torch.tensor(moves, dtype=torch.float64).cumsum(0).tolist())
    print("equal to torch's Adam under NoamSchedule: 30 moves of one weight")


def decaying(make: Callable, size: float, steps: int = 100, rate: float = 0.01, decay: float = 1.0) -> list[float]:
    """Return the places of a weight that starts at 1, whose gradients are ±`size` by turns, under an optimizer of torch."""
    weight = nn.Parameter(torch.ones((), dtype=torch.float64))
    optimizer = make([weight], lr=rate, betas=(0.9, 0.98), eps=1e-9, weight_decay=decay)
    places = [1.0]
    for step in range(steps):
        weight.grad = torch.tensor(size if step % 2 else -size, dtype=torch.float64)
        optimizer.step()
        places.append(weight.item())
    return places


# Going deeper: what makes a long first move harmful


def _length(moves: list[Tensor]) -> float:
    return torch.cat([move.flatten() for move in moves]).norm().item()


def one_step(direction: Callable[[Tensor], Tensor], seed: int, rows: int = 64, **stack) -> tuple[float, float]:
    """Return the spread before and after one step as long as Adam's first; `direction` says where it goes."""
    model = DeepStack(**{"layers": 12} | stack, seed=seed)
    before = spread(model)
    copy_loss(model, next(batches(seed, rows))).backward()
    gradients = [weight.grad for weight in model.parameters()]
    moves = [direction(gradient) for gradient in gradients]
    stretch = _length([PEAK * gradient.sign() for gradient in gradients]) / _length(moves)
    with torch.no_grad():
        for weight, move in zip(model.parameters(), moves, strict=True):
            weight += stretch * move
    return before, spread(model)


def steps_in_four_directions() -> None:
    """Move fresh stacks once, by the same length, and print the spread before and after."""
    coin = torch.Generator().manual_seed(0)

    def against_signs(gradient: Tensor) -> Tensor:
        return -gradient.sign()

    def random_signs(gradient: Tensor) -> Tensor:
        return torch.randint(0, 2, gradient.shape, generator=coin) * 2.0 - 1

    print("spread before → after the step, in three starts")
    for name, direction, least, most, settings in [
        ("against the gradient's signs, as Adam", against_signs, 0, 0.3, {}),
        ("the same, on 1,024 inputs", against_signs, 0, 0.3, {"rows": 1024}),
        ("against the gradient itself", torch.neg, 0, 0.3, {}),
        ("random signs", random_signs, 0.8, 2, {}),
        ("as Adam; 2 layers, post-norm", against_signs, 0.5, 2, {"layers": 2}),
        ("as Adam; 12 layers, pre-norm", against_signs, 0.5, 2, {"pre_norm": True}),
    ]:
        found = [one_step(direction, seed, **settings) for seed in range(3)]
        print(f"{name:40}" + "".join(f"  ≈ {before:.2f} → ≈ {after:.2f}" for before, after in found))
        assert all(least * before < after < most * before for before, after in found), name


def _take_steps(model: DeepStack, optimizer: torch.optim.Optimizer, data: Iterator[Tensor], rates: Iterable[float]) -> None:
    for rate in rates:
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        copy_loss(model, next(data)).backward()
        optimizer.step()


def two_networks_two_adams(seed: int) -> None:
    """Take five steps at the full rate with a fresh or a climbed network, each with two Adams; print first move and spread."""
    fresh, data = DeepStack(layers=12, seed=seed), batches(seed)
    idle = copy.deepcopy(fresh)
    idle_adam = transformer_optimizer(idle)
    _take_steps(idle, idle_adam, data, [0.0] * 20)
    climbed = copy.deepcopy(fresh)
    climbed_adam = transformer_optimizer(climbed)
    _take_steps(climbed, climbed_adam, batches(seed), [FACTOR * noam_rate(step, D_MODEL, WARMUP) for step in range(1, 41)])
    forgetful = copy.deepcopy(climbed)
    full = None
    print(f"{f'start {seed}':34}{'first move':14}spread before → after")
    for name, model, optimizer in [
        ("fresh network, fresh Adam", fresh, transformer_optimizer(fresh)),
        ("fresh network, Adam has watched", idle, idle_adam),
        ("climbed, Adam kept", climbed, climbed_adam),
        ("climbed, fresh Adam", forgetful, transformer_optimizer(forgetful)),
    ]:
        before, start = spread(model), weights_of(model)
        _take_steps(model, optimizer, data, [PEAK])
        move = (weights_of(model) - start).abs().mean().item()
        _take_steps(model, optimizer, data, [PEAK] * 4)
        full, after = full or move, spread(model)
        print(f"{name:34}≈ {move / full:.2f}        ≈ {before:.2f} → ≈ {after:.3f}")
        kept = name == "climbed, Adam kept"
        assert (move < 0.5 * full and after > 0.8 * before) if kept else (move > 0.5 * full and after < 0.7 * before), name


def a_climb_of_ten_steps() -> None:
    """Train with a rise of ten steps, look at every fifth one, and print spread and loss."""
    run = watch_training(climb_of_ten, seed=1, steps=80, looks=range(5, 81, 5))
    lowest = min(run.spreads.values())
    print(f"spread: fresh ≈ {run.spreads[0]:.2f}, at its lowest ≈ {lowest:.2f}, at the end ≈ {run.spreads[80]:.2f}")
    print(f"loss at steps 40 and 80: ≈ {run.losses[39]:.2f}, ≈ {run.losses[79]:.2f}")
    assert lowest > 0.05 and min(run.losses) > 1.5
