"""The rate of each step, Adam with the paper's numbers, the schedule, the smoothed loss."""

import io
import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib.schedule import NoamSchedule, label_smoothed_loss, noam_rate, transformer_optimizer
from transformer_lib.transformer import Transformer, TransformerConfig

widths, warmups, steps = st.integers(1, 2048), st.integers(1, 10_000), st.integers(1, 300_000)
smoothings = st.floats(0, 0.9)


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


def some_logits(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).requires_grad_()


def some_targets(*shape, low=1, vocab=7, seed=0):
    return torch.randint(low, vocab, shape, generator=torch.Generator().manual_seed(seed))


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


@settings(max_examples=30)
@given(batch=st.integers(1, 3), seq=st.integers(1, 4), vocab=st.integers(2, 9), smoothing=smoothings)
def test_each_word_gets_smoothing_over_vocab(batch, seq, vocab, smoothing):
    logits = some_logits(batch, seq, vocab, seed=vocab)
    target = some_targets(batch, seq, vocab=vocab)
    wanted = smoothing / vocab + (1 - smoothing) * F.one_hot(target, vocab)
    log_p = logits.log_softmax(dim=-1)
    expected = -(wanted * log_p).sum() / (batch * seq)
    loss = label_smoothed_loss(logits, target, smoothing)
    assert_close(loss, expected)
    assert_close(
        torch.autograd.grad(loss, logits)[0],
        ((log_p.exp() - wanted) / (batch * seq)).detach(),
    )


def test_the_three_formulas_have_different_values():
    """Five words, all logits 0 but the right one's 2 and padding's −1; by hand."""
    logits, right = torch.tensor([[-1.0, 0, 0, 2, 0]]).double(), torch.tensor([3])
    log_p = logits.log_softmax(dim=-1)[0]
    loss = label_smoothed_loss(logits, right, smoothing=0.1).item()
    others = torch.tensor([1.0, 1, 1, 0, 1]).double()
    by_v = -(0.92 * log_p[3] + 0.02 * (others * log_p).sum())
    by_v_less_1 = -(0.9 * log_p[3] + 0.025 * (others * log_p).sum())
    by_v_less_2 = -(0.9 * log_p[3] + 0.1 / 3 * log_p[[1, 2, 4]].sum())
    assert loss == pytest.approx(by_v.item())
    assert loss == pytest.approx(0.5556, abs=5e-5)
    assert by_v_less_1.item() == pytest.approx(0.6006, abs=5e-5)
    assert by_v_less_2.item() == pytest.approx(0.5756, abs=5e-5)


@settings(max_examples=30)
@given(pad_id=st.sampled_from([0, 3, 6]), more=st.integers(1, 4), smoothing=smoothings)
def test_padding_changes_nothing(pad_id, more, smoothing):
    logits, target = some_logits(2, 4, 7), some_targets(2, 4)
    target = torch.where(target == pad_id, 1 if pad_id != 1 else 2, target)
    wild = torch.cat([logits, 30 * some_logits(2, more, 7, seed=1)], dim=1)
    padded = torch.cat([target, torch.full((2, more), pad_id)], dim=1)
    for reduction in ("mean", "sum"):
        loss = label_smoothed_loss(wild, padded, smoothing, pad_id, reduction)
        assert_close(loss, label_smoothed_loss(logits, target, smoothing, pad_id, reduction))
        gradient = torch.autograd.grad(loss, wild, retain_graph=True)[0]
        assert gradient[:, 4:].count_nonzero() == 0
        assert gradient[:, :4].count_nonzero() == gradient[:, :4].numel()


def test_mean_and_sum_count_the_real_tokens():
    logits, target = some_logits(3, 5, 7), some_targets(3, 5, low=0, seed=2)
    real = int((target != 0).sum())
    assert 0 < real < 15
    assert_close(label_smoothed_loss(logits, target, reduction="sum"), real * label_smoothed_loss(logits, target))


def test_defaults_are_smoothing_0_1_and_padding_0():
    logits, target = some_logits(3, 5, 7), some_targets(3, 5, low=0, seed=2)
    assert_close(label_smoothed_loss(logits, target), label_smoothed_loss(logits, target, 0.1, 0, "mean"))
    assert_close(
        label_smoothed_loss(logits, target, smoothing=0.0),
        F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0),
    )


def test_any_number_of_axes():
    logits, target = some_logits(2, 3, 4, 7), some_targets(2, 3, 4)
    loss = label_smoothed_loss(logits, target)
    assert_close(loss, label_smoothed_loss(logits.flatten(0, 2), target.flatten()))
    assert_close(loss, label_smoothed_loss(logits.transpose(0, 2), target.transpose(0, 2)))
    assert_close(label_smoothed_loss(logits[0, 0, 0], target[0, 0, 0]), label_smoothed_loss(logits[0, 0, :1], target[0, 0, :1]))


@pytest.mark.parametrize("call", [lambda: noam_rate(0, 512), lambda: noam_rate(1, 512, 0), lambda: a_run(warmup=0)])
def test_there_is_no_step_0_and_no_warm_up_of_0_steps(call):
    with pytest.raises(ZeroDivisionError):
        call()


LOGITS, IDS = torch.zeros(3, 2, 7), torch.ones(3, 2, dtype=torch.long)
WRONG_CALLS = {
    "smoothing must be at least 0 and below 1, but it is -0.1": lambda: label_smoothed_loss(LOGITS, IDS, smoothing=-0.1),
    "reduction must be 'mean' or 'sum', but it is 'none'": lambda: label_smoothed_loss(LOGITS, IDS, reduction="none"),
    r"logits must have the axes of target .* \(3, 2, 7\) and \(2, 3\)": lambda: label_smoothed_loss(LOGITS, IDS.T),
}


@pytest.mark.parametrize(("message", "call"), WRONG_CALLS.items(), ids=WRONG_CALLS)
def test_wrong_input_says_what_came(message, call, as_a_user_calls_it):
    with pytest.raises(ValueError, match=message):
        call()
