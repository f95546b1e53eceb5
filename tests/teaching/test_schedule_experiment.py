"""The deep stack that copies, and its schedule without a warm-up."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer_lib.schedule import NoamSchedule, noam_rate, transformer_optimizer
from transformer_lib.teaching.experiments.schedule import (
    D_MODEL,
    LENGTH,
    VOCABULARY,
    WARMUP,
    DeepStack,
    train_to_copy,
    without_warmup,
)

TOKENS = torch.arange(2 * LENGTH).view(2, LENGTH) % VOCABULARY


def rates(schedule, count):
    optimizer = transformer_optimizer(nn.Linear(1, 1))
    made = schedule(optimizer)
    found = []
    for _ in range(count):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        made.step()
    return found


def with_warmup(optimizer):
    return NoamSchedule(optimizer, d_model=D_MODEL, warmup=WARMUP)


def test_without_warmup_starts_at_the_peak():
    """And falls from there as always."""
    cut, whole = rates(without_warmup, WARMUP + 50), rates(with_warmup, WARMUP + 50)
    assert cut[:WARMUP] == pytest.approx([noam_rate(WARMUP, D_MODEL, WARMUP)] * WARMUP)
    assert cut[WARMUP:] == pytest.approx(whole[WARMUP:])
    assert whole[0] == pytest.approx(cut[0] / WARMUP)


@pytest.mark.parametrize("pre_norm", [False, True])
def test_stack_gives_logits_and_follows_its_seed(pre_norm):
    stack = DeepStack(3, seed=1, pre_norm=pre_norm)
    assert len(stack.encoder.layers) == 3
    assert stack.encoder.layers[0].attention_residual.pre_norm is pre_norm
    assert stack.states(TOKENS).shape == (2, LENGTH, D_MODEL)
    assert_close(stack(TOKENS), stack.output(stack.states(TOKENS)))
    assert stack(TOKENS).shape == (2, LENGTH, VOCABULARY)
    assert_close(DeepStack(3, seed=1, pre_norm=pre_norm)(TOKENS), stack(TOKENS))
    assert not torch.equal(DeepStack(3, seed=2, pre_norm=pre_norm)(TOKENS), stack(TOKENS))


def test_a_shallow_stack_learns_to_copy():
    """And says when a step is done."""
    stack, calls = DeepStack(1, seed=0), []
    losses = train_to_copy(
        stack, seed=0, learning_rate=0.25, schedule=without_warmup, steps=60, after_step=lambda: calls.append(1)
    )
    assert len(losses) == len(calls) == 60
    assert losses[0] > 2 and losses[-1] < 0.5
    assert (stack(TOKENS).argmax(dim=-1) == TOKENS).float().mean() > 0.9


def test_without_a_schedule_the_rate_stays():
    stack = DeepStack(1, seed=0)
    before = stack.output.bias.detach().clone()
    train_to_copy(stack, seed=0, learning_rate=0.001, steps=1)
    moved = (stack.output.bias - before).abs()
    assert_close(moved, torch.full_like(moved, 0.001), rtol=1e-2, atol=0)


def test_equal_seeds_train_alike():
    runs = [train_to_copy(DeepStack(1, seed=0), seed=seed, learning_rate=0.01, steps=3) for seed in (5, 5, 6)]
    assert runs[0] == runs[1] != runs[2]
