"""The rate of each step, Adam with the paper's numbers, the schedule."""

import io
import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from transformer_lib.schedule import NoamSchedule, noam_rate, transformer_optimizer
from transformer_lib.transformer import Transformer, TransformerConfig

widths, warmups, steps = st.integers(1, 2048), st.integers(1, 10_000), st.integers(1, 300_000)


def trained_rates(optimizer, schedule, count):
    """Return the rates that `count` steps of the optimizer ran with."""
    rates = []
    for _ in range(count):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return rates


def a_run(d_model=512, warmup=6, learning_rate=1.0):
    optimizer = transformer_optimizer(nn.Linear(2, 2), learning_rate)
    return optimizer, NoamSchedule(optimizer, d_model, warmup)


def saved_and_loaded(state):
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


@settings(max_examples=50)
@given(step=steps, d_model=widths, warmup=warmups)
def test_rate_is_the_formula(step, d_model, warmup):
    rising, falling = step * warmup**-1.5, step**-0.5
    assert noam_rate(step, d_model, warmup) == pytest.approx(min(rising, falling) / math.sqrt(d_model))


def test_rates_of_the_papers_run():
    """By hand: √512 = 22.627, 4000^1.5 = 252,982, √2,048,000 = 1431.08, √51,200,000 = 7155.4."""
    assert noam_rate(1, 512) == pytest.approx(1 / (22.62742 * 252_982.2), rel=1e-6)
    assert noam_rate(2, 512) == pytest.approx(2 / (22.62742 * 252_982.2), rel=1e-6)
    assert noam_rate(4000, 512) == pytest.approx(1 / 1431.084, rel=1e-6)
    assert noam_rate(100_000, 512) == pytest.approx(1 / 7155.418, rel=1e-6)


@settings(max_examples=20)
@given(d_model=widths, warmup=st.integers(1, 12), learning_rate=st.floats(0.1, 2))
def test_the_first_step_has_the_rate_of_step_1(d_model, warmup, learning_rate):
    expected = [learning_rate * noam_rate(step, d_model, warmup) for step in range(1, 21)]
    assert trained_rates(*a_run(d_model, warmup, learning_rate), count=20) == pytest.approx(expected)


def test_the_rate_moves_the_weights():
    """Adam's first move is the rate, whatever the gradient's size: 0.5 for d_model 4 and warm-up 1."""
    model = nn.Linear(3, 1, bias=False)
    before = model.weight.detach().clone()
    optimizer = transformer_optimizer(model)
    NoamSchedule(optimizer, d_model=4, warmup=1)
    model.weight.grad = torch.tensor([[5.0, -5e-5, 0.0]])
    optimizer.step()
    assert_close(model.weight - before, torch.tensor([[-0.5, 0.5, 0.0]]), rtol=1e-4, atol=1e-6)


def test_every_group_gets_the_rate_times_its_own():
    optimizer = torch.optim.SGD([{"params": nn.Linear(2, 2).parameters(), "lr": lr} for lr in (1.0, 3.0)])
    schedule = NoamSchedule(optimizer, d_model=4, warmup=4)
    assert [group["lr"] for group in optimizer.param_groups] == pytest.approx([0.0625, 0.1875])
    resumed = torch.optim.SGD([{"params": nn.Linear(2, 2).parameters(), "lr": lr} for lr in (1.0, 3.0)])
    optimizer.step()
    schedule.step()
    NoamSchedule(resumed, d_model=4, warmup=4).load_state_dict(saved_and_loaded(schedule.state_dict()))
    assert [group["lr"] for group in resumed.param_groups] == pytest.approx([0.125, 0.375])


@pytest.mark.parametrize("order", ["optimizer first", "schedule first", "schedule made last", "schedule only"])
@pytest.mark.parametrize("stopped", [0, 6, 9])
def test_resuming_gives_the_same_rates(order, stopped):
    never_stopped = trained_rates(*a_run(learning_rate=0.5), count=15)
    optimizer, schedule = a_run(learning_rate=0.5)
    before = trained_rates(optimizer, schedule, stopped)
    states = saved_and_loaded({"optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()})

    optimizer, schedule = a_run(learning_rate=0.5)
    if order != "schedule only":
        optimizer.load_state_dict(states["optimizer"])
    if order == "schedule made last":
        schedule = NoamSchedule(optimizer, d_model=512, warmup=6)
    schedule.load_state_dict(states["schedule"])
    if order == "schedule first":
        optimizer.load_state_dict(states["optimizer"])
    assert before + trained_rates(optimizer, schedule, 15 - stopped) == never_stopped


def test_a_resumed_run_keeps_its_width_and_warm_up():
    optimizer, schedule = a_run(d_model=512, warmup=6)
    trained_rates(optimizer, schedule, 3)
    resumed, other = a_run(d_model=64, warmup=100)
    other.load_state_dict(saved_and_loaded(schedule.state_dict()))
    assert trained_rates(resumed, other, 10) == trained_rates(optimizer, schedule, 10)


def test_resuming_goes_on_bit_for_bit():
    def train(model, optimizer, schedule, batches):
        for x in batches:
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
            schedule.step()
        return model.state_dict()

    def made():
        torch.manual_seed(3)
        model = nn.Linear(4, 4)
        optimizer = transformer_optimizer(model)
        return model, optimizer, NoamSchedule(optimizer, d_model=16, warmup=4)

    batches = torch.randn(10, 5, 4, generator=torch.Generator().manual_seed(1))
    never_stopped = train(*made(), batches)
    first = made()
    train(*first, batches[:4])
    second = made()
    for part, state in zip(second, saved_and_loaded([part.state_dict() for part in first]), strict=True):
        part.load_state_dict(state)
    assert_close(train(*second, batches[4:]), never_stopped, rtol=0, atol=0)


def test_optimizer_has_the_papers_numbers():
    """And each parameter once."""
    config = replace(TransformerConfig.tiny(9, 9), shared_vocabulary=True)
    model = Transformer(config)
    optimizer = transformer_optimizer(model)
    assert isinstance(optimizer, torch.optim.Adam)
    assert optimizer.defaults["betas"] == (0.9, 0.98)
    assert optimizer.defaults["eps"] == 1e-9
    assert optimizer.defaults["lr"] == 1.0
    assert optimizer.defaults["weight_decay"] == 0
    assert transformer_optimizer(model, learning_rate=0.3).defaults["lr"] == 0.3
    (group,) = optimizer.param_groups
    ids = [id(parameter) for parameter in group["params"]]
    assert len(ids) == len(set(ids))
    assert set(ids) == {id(parameter) for parameter in model.parameters()}


@pytest.mark.parametrize("call", [lambda: noam_rate(0, 512), lambda: noam_rate(1, 512, 0), lambda: a_run(warmup=0)])
def test_there_is_no_step_0_and_no_warm_up_of_0_steps(call):
    with pytest.raises(ZeroDivisionError):
        call()
