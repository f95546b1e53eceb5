"""The copy and reverse tasks, and the loop that trains and measures a sequence-to-sequence model on them."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, pad

from transformer_lib.eval_mode import eval_mode
from transformer_lib.progress import progress
from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID, greedy_decode

SYMBOLS = 10
VOCABULARY = 3 + SYMBOLS

TASKS: dict[str, Callable[[Tensor], Tensor]] = {
    "copy": lambda source: source,
    "reverse": lambda source: source.flip(1),
}


def task_batch(task: str, *, count: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Return `count` random sentences of `length` symbols, without padding, as `(source, target_in, target_out)`."""
    source = torch.randint(3, VOCABULARY, (count, length), generator=generator)
    answer = TASKS[task](source)
    return source, pad(answer, (1, 0), value=SOS_ID), pad(answer, (0, 1), value=EOS_ID)


def train_on_task(
    model: nn.Module,
    *,
    task: str,
    seed: int,
    steps: int = 1500,
    longest: int = 16,
    learning_rate: float = 5e-3,
    warmup: int = 0,
) -> list[float]:
    """Train `model(source, target_in)` on `task`, each batch of one length from 1 to `longest`; return each step's loss.

    The learning rate is constant; with `warmup` it climbs for so many steps, and falls in a straight line to almost 0.
    """
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)

    def share_of_rate(step: int) -> float:
        return min((step + 1) / warmup, (steps - step) / (steps - warmup)) if warmup else 1.0

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, share_of_rate)
    losses = []
    model.train()
    for _ in progress(range(steps), description=f"{task}, seed {seed}"):
        length = int(torch.randint(1, longest + 1, (), generator=generator))
        source, target_in, target_out = task_batch(task, count=64, length=length, generator=generator)
        loss = cross_entropy(model(source, target_in).flatten(0, 1), target_out.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def right_words(model: nn.Module, *, task: str, length: int, count: int = 200, seed: int) -> tuple[Tensor, Tensor]:
    """Return which words, `(count, length + 1)`, are right, with teacher forcing and freely written; the last is EOS."""
    generator = torch.Generator().manual_seed(seed)
    source, target_in, target_out = task_batch(task, count=count, length=length, generator=generator)
    with eval_mode(model):
        forced = model(source, target_in).argmax(dim=-1)
    return forced == target_out, _written(model, source) == target_out


def exact_match(model: nn.Module, *, task: str, length: int, count: int = 200, seed: int) -> float:
    """Return the share of `count` new sentences that the model answers without a mistake, EOS included."""
    generator = torch.Generator().manual_seed(seed)
    source, _, target_out = task_batch(task, count=count, length=length, generator=generator)
    return (_written(model, source) == target_out).all(dim=1).float().mean().item()


def _written(model: nn.Module, source: Tensor) -> Tensor:
    """Return what the model writes, `(count, length + 1)`: it may have stopped early."""
    length = source.size(1) + 1
    written = greedy_decode(model, source, max_len=length)
    return pad(written, (0, length - written.size(1)), value=PAD_ID)
