"""The rate of each step, Adam with the paper's numbers, the schedule."""

import io
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from transformer_lib.schedule import NoamSchedule, noam_rate, transformer_optimizer

widths = st.integers(1, 2048)


def a_run(d_model=512, warmup=6, learning_rate=1.0):
    torch.manual_seed(3)
    model = nn.Linear(4, 4)
    optimizer = transformer_optimizer(model, learning_rate)
    return model, optimizer, NoamSchedule(optimizer, d_model, warmup)


def trained_rates(run, count):
    """Return the rates with which `count` steps moved the weights."""
    model, optimizer, schedule = run
    found = []
    for _ in range(count):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.zero_grad()
        model.weight.square().sum().backward()
        optimizer.step()
        schedule.step()
    return found


def saved_and_loaded(parts):
    file = io.BytesIO()
    torch.save([part.state_dict() for part in parts], file)
    file.seek(0)
    return torch.load(file, weights_only=True)


@settings(max_examples=50)
@given(step=st.integers(1, 300_000), d_model=widths, warmup=st.integers(1, 10_000))
def test_rate_is_the_formula(step, d_model, warmup):
    rising, falling = step * warmup**-1.5, step**-0.5
    assert noam_rate(step, d_model, warmup) == pytest.approx(min(rising, falling) / math.sqrt(d_model))


@pytest.mark.parametrize(("step", "rate"), [(1, 1 / (22.62742 * 252_982.2)), (4000, 1 / 1431.084), (100_000, 1 / 7155.418)])
def test_rates_of_the_papers_run(step, rate):
    """By hand: √512 = 22.627, 4000^1.5 = 252,982, √2,048,000 = 1431.08, √51,200,000 = 7155.4."""
    assert noam_rate(step, 512) == pytest.approx(rate, rel=1e-6)


@settings(max_examples=20)
@given(d_model=widths, warmup=st.integers(1, 12), learning_rate=st.floats(0.1, 2))
def test_the_first_step_has_the_rate_of_step_1(d_model, warmup, learning_rate):
    expected = [learning_rate * noam_rate(step, d_model, warmup) for step in range(1, 21)]
    assert trained_rates(a_run(d_model, warmup, learning_rate), count=20) == pytest.approx(expected)


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
    def groups():
        return torch.optim.SGD([{"params": nn.Linear(2, 2).parameters(), "lr": lr} for lr in (1.0, 3.0)])

    optimizer, resumed = groups(), groups()
    schedule = NoamSchedule(optimizer, d_model=4, warmup=4)
    assert [group["lr"] for group in optimizer.param_groups] == pytest.approx([0.0625, 0.1875])
    optimizer.step()
    schedule.step()
    NoamSchedule(resumed, d_model=4, warmup=4).load_state_dict(saved_and_loaded([schedule])[0])
    assert [group["lr"] for group in resumed.param_groups] == pytest.approx([0.125, 0.375])


@pytest.mark.parametrize("order", ["optimizer first", "schedule first", "schedule made last"])
@pytest.mark.parametrize("stopped", [0, 6, 9])
def test_resuming_goes_on_bit_for_bit(order, stopped):
    """With the saved run's width and warm-up, whatever those of the new one."""
    never_stopped, first, second = a_run(), a_run(), a_run(d_model=64, warmup=100, learning_rate=0.1)
    rates = trained_rates(never_stopped, 15)
    before = trained_rates(first, stopped)
    model, optimizer, schedule = second
    states = saved_and_loaded(first)
    model.load_state_dict(states[0])
    if order == "schedule first":
        schedule.load_state_dict(states[2])
    optimizer.load_state_dict(states[1])
    if order != "schedule first":
        schedule = NoamSchedule(optimizer, d_model=64, warmup=100) if order == "schedule made last" else schedule
        schedule.load_state_dict(states[2])
    assert before + trained_rates((model, optimizer, schedule), 15 - stopped) == rates
    assert_close(model.state_dict(), never_stopped[0].state_dict(), rtol=0, atol=0)


def test_optimizer_has_the_papers_numbers():
    defaults = a_run(learning_rate=0.3)[1].defaults
    assert defaults["betas"] == (0.9, 0.98) and defaults["eps"] == 1e-9
    assert defaults["lr"] == 0.3 and defaults["weight_decay"] == 0


@pytest.mark.parametrize("call", [lambda: noam_rate(0, 512), lambda: noam_rate(1, 512, 0), lambda: a_run(warmup=0)])
def test_there_is_no_step_0_and_no_warm_up_of_0_steps(call):
    with pytest.raises(ZeroDivisionError):
        call()
