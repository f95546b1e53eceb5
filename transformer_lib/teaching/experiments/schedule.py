"""A deep encoder that has to copy its input, and the loop that trains it: the easiest task that a bad start can spoil."""

import copy
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from transformer_lib.encoder import Encoder, TransformerConfig
from transformer_lib.positional_encoding import PositionalEncoding
from transformer_lib.progress import progress
from transformer_lib.schedule import noam_rate, transformer_optimizer
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
    """Embedding, positions, `layers` encoder layers and one linear layer: logits for each place of a sentence."""

    def __init__(self, layers: int = 12, *, seed: int, pre_norm: bool = False) -> None:
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


def rates(steps: int, *, climb: int = WARMUP, factor: float = FACTOR) -> list[float]:
    """Return the paper's rates times `factor`; they reach the peak after `climb` steps, stay until WARMUP, and fall."""
    return [factor * noam_rate(max(step, WARMUP), D_MODEL, WARMUP) * min(1, step / climb) for step in range(1, steps + 1)]


def batches(seed: int, size: int = 64) -> Iterator[Tensor]:
    """Yield batches of random letters without end."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield torch.randint(VOCABULARY, (size, LENGTH), generator=generator)


def copy_loss(model: nn.Module, tokens: Tensor) -> Tensor:
    return cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())


def train_to_copy(
    model: nn.Module, rates: list[float], data: Iterator[Tensor], optimizer: torch.optim.Optimizer | None = None
) -> Iterator[float]:
    """Train `model` to give back its input, a step for each rate, with the paper's Adam; yield the loss of each step."""
    optimizer = optimizer or transformer_optimizer(model)
    for rate, tokens in zip(progress(rates, description="copying"), data):
        optimizer.param_groups[0]["lr"] = rate
        loss = copy_loss(model, tokens)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


watched = next(batches(seed=11))


def weights_of(model: nn.Module) -> Tensor:
    return nn.utils.parameters_to_vector(model.parameters()).detach()


@torch.no_grad()
def look_at(model: DeepStack) -> tuple[Tensor, str, float]:
    """Return the states of eight first letters, (8, 32), the letters answered, and the spread.

    The spread says how far the 512 places of 64 inputs lie apart: the standard deviation, averaged over the 32 columns.
    """
    states = model.states(watched)  # (64, 8, 32)
    answers = model.output(states[:8, 0]).argmax(dim=-1)
    return states[:8, 0], "".join(LETTERS[i] for i in answers), states.flatten(0, 1).std(dim=0).mean().item()


def spread(model: DeepStack) -> float:
    return look_at(model)[2]


@dataclass
class Run:
    """A training that was watched: loss and mean move of a weight in each step, and looks, by the number of steps done."""

    model: DeepStack
    optimizer: torch.optim.Optimizer
    losses: list[float] = field(default_factory=list)
    moves: list[float] = field(default_factory=list)
    looks: dict[int, tuple[Tensor, str, float]] = field(default_factory=dict)


def watch_training(climb: int, *, steps: int = WARMUP, seed: int = 0, looks: Iterable[int] = (1, 5)) -> Run:
    """Train the stack of twelve layers, post-norm, and look at it after so many steps as `looks` says."""
    model = DeepStack(seed=seed)
    run = Run(model, transformer_optimizer(model), looks={0: look_at(model)})
    before = weights_of(model)
    for step, loss in enumerate(train_to_copy(model, rates(steps, climb=climb), batches(seed), run.optimizer), start=1):
        run.losses.append(loss)
        run.moves.append((weights_of(model) - before).abs().mean().item())
        before = weights_of(model)
        if step in looks:
            run.looks[step] = look_at(model)
    return run


def train_twice() -> tuple[Run, Run]:
    """Train the same network on the same batches, at the full rate at once and climbing to it; print where both end."""
    at_once, climbing = watch_training(climb=1), watch_training(climb=WARMUP)
    print(f"loss after {WARMUP} steps: at once ≈ {at_once.losses[-1]:.2f}, climbing ≈ {climbing.losses[-1]:.2f}")
    assert min(at_once.losses) > 2.4 and at_once.losses[-1] < 2.6 and climbing.losses[-1] < 0.3
    fresh, first, fifth = [spread for _, _, spread in at_once.looks.values()]
    assert len(set(at_once.looks[1][1])) == 1 and first < 0.3 * fresh and fifth < 0.02, "one step makes all alike"
    assert all(spread > 0.5 * fresh for _, _, spread in climbing.looks.values())
    assert max(at_once.moves) == at_once.moves[0] > 0.0038 and max(climbing.moves) < 0.2 * at_once.moves[0]
    return at_once, climbing


def first_step(at_once: Run) -> None:
    """Print the mean size of a fresh weight, its mean first move, and how many gradients are 0."""
    model = DeepStack(seed=0)
    copy_loss(model, next(batches(seed=0))).backward()
    size, zeros = weights_of(model).abs().mean(), torch.cat([w.grad.flatten() == 0 for w in model.parameters()]).float().mean()
    print(f"mean size of a weight ≈ {size:.2f}, mean first move ≈ {at_once.moves[0]:.4f}, gradients of 0 ≈ {zeros:.0%}")
    assert 0.025 < at_once.moves[0] / size < 0.035 and 0.04 < zeros < 0.1


def with_a_fresh_adam(run: Run, steps: int = 20) -> None:
    """Train copies of a trained network on at the full rate, with its own Adam and with a new one; print their losses."""
    model, own = copy.deepcopy((run.model, run.optimizer))
    kept = list(train_to_copy(model, [PEAK] * steps, batches(seed=1), own))
    fresh = list(train_to_copy(copy.deepcopy(run.model), [PEAK] * steps, batches(seed=1)))
    print("loss before step   its own Adam   a fresh Adam")
    for step in (1, 2, 3, 5, 10, steps):
        print(f"{step:16}   ≈ {kept[step - 1]:.2f}         ≈ {fresh[step - 1]:.2f}")
    assert max(kept) < 0.3 and fresh[1] > GUESS and fresh[-1] < 0.6


def decaying(make: Callable, size: float) -> list[float]:
    """Return 101 places of a weight that starts at 1, with gradients of ±`size` by turns, under an optimizer of torch."""
    weight = nn.Parameter(torch.ones((), dtype=torch.float64))
    optimizer = make([weight], lr=0.01, betas=(0.9, 0.98), eps=1e-9, weight_decay=1.0)
    places = [1.0]
    for step in range(100):
        weight.grad = torch.tensor(-size if step % 2 else size, dtype=torch.float64)
        optimizer.step()
        places.append(weight.item())
    return places


# Going deeper: what makes a long first move harmful


def one_step(direction: Callable[[Tensor], Tensor], seed: int, rows: int = 64, **stack) -> tuple[float, float]:
    """Return the spread before and after one step as long as Adam's first; `direction` says where it goes."""
    model = DeepStack(**stack, seed=seed)
    before = spread(model)
    copy_loss(model, next(batches(seed, rows))).backward()
    gradient = nn.utils.parameters_to_vector(weight.grad for weight in model.parameters())
    move = direction(gradient)
    move *= PEAK * gradient.sign().norm() / move.norm()
    nn.utils.vector_to_parameters(weights_of(model) + move, model.parameters())
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


def two_networks_two_adams(seed: int) -> None:
    """Take five steps at the full rate with a fresh or a climbed network, each with two Adams; print first move and spread."""
    fresh, data = DeepStack(seed=seed), batches(seed)
    idle, climbed = copy.deepcopy(fresh), copy.deepcopy(fresh)
    idle_adam, climbed_adam = transformer_optimizer(idle), transformer_optimizer(climbed)
    list(train_to_copy(idle, [0.0] * 20, data, idle_adam))
    list(train_to_copy(climbed, rates(40), batches(seed), climbed_adam))
    full = None
    print(f"{f'start {seed}':34}{'first move':14}spread before → after")
    for name, model, optimizer in [
        ("fresh network, fresh Adam", fresh, None),
        ("fresh network, Adam has watched", idle, idle_adam),
        ("climbed, Adam kept", climbed, climbed_adam),
        ("climbed, fresh Adam", copy.deepcopy(climbed), None),
    ]:
        before, start = spread(model), weights_of(model)
        steps = train_to_copy(model, [PEAK] * 5, data, optimizer)
        next(steps)
        move = (weights_of(model) - start).abs().mean().item()
        list(steps)
        full, after = full or move, spread(model)
        print(f"{name:34}≈ {move / full:.2f}        ≈ {before:.2f} → ≈ {after:.3f}")
        kept = name == "climbed, Adam kept"
        assert (move < 0.5 * full and after > 0.8 * before) if kept else (move > 0.5 * full and after < 0.7 * before), name


def a_climb_of_ten_steps() -> None:
    """Train with a climb of ten steps, look at every fifth one, and print spread and loss; then the loss of a climb of 100."""
    run = watch_training(climb=10, seed=1, steps=80, looks=range(5, 81, 5))
    longer = watch_training(climb=WARMUP, seed=1, steps=80, looks=())
    fresh, *later = [look[2] for look in run.looks.values()]
    print(f"spread: fresh ≈ {fresh:.2f}, at its lowest ≈ {min(fresh, *later):.2f}, after step 80 ≈ {later[-1]:.2f}")
    print(f"loss at steps 40 and 80: ≈ {run.losses[39]:.2f}, ≈ {run.losses[79]:.2f}")
    print(f"with a climb of {WARMUP} steps: ≈ {longer.losses[39]:.2f}, ≈ {longer.losses[79]:.2f}")
    assert min(later) > 0.05 and min(run.losses) > 1.5 and longer.losses[79] < 1
