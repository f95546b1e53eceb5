"""Chapter 17: one step, in however many parts and processes it is cut; and what it costs in bytes."""

import math

import pytest
import torch
import torch.distributed as dist
from torch.testing import assert_close

from transformer_lib.scaling import SINGLE, DistributedStep, ProcessGroup, bytes_sent, memory_table
from transformer_lib.schedule import transformer_optimizer
from transformer_lib.training import Batch, Checkpoint, label_smoothed_loss, train, training_step
from transformer_lib.transformer import Transformer, TransformerConfig


def small_model(seed=0, dropout=0.0):
    torch.manual_seed(seed)
    sizes = {"d_model": 8, "num_layers": 1, "num_heads": 2, "d_ff": 16, "dropout": dropout}
    return Transformer(TransformerConfig(source_vocab_size=11, target_vocab_size=11, **sizes))


def batch(count=7, seed=0):
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 6, (count,), generator=generator).tolist()
    return Batch.from_pairs(
        [(torch.randint(3, 11, (n,), generator=generator).tolist(), [*range(3, 3 + n), 2]) for n in lengths]
    )


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 50])
def test_steps_are_those_of_chapter_12_in_any_number_of_parts(float64_default, parts):
    ours, theirs, seen = small_model(), small_model(), []
    ours.register_forward_pre_hook(lambda _, given: seen.append(len(given[0])))
    settings = {"smoothing": 0.1, "max_grad_norm": 0.5}
    step = DistributedStep(ours, accumulation_steps=parts, **settings)
    optimizers = [transformer_optimizer(model, 0.01) for model in (ours, theirs)]
    for seed in range(2):
        loss = step(ours, batch(seed=seed), optimizers[0])
        assert_close(loss, training_step(theirs, batch(seed=seed), optimizers[1], **settings))
        assert_close(dict(ours.named_parameters()), dict(theirs.named_parameters()))
    assert seen == [len(part.source) for part in batch().split(parts)] * 2


@pytest.mark.parametrize("count", [2, 7], ids=["one without a sentence", "all with sentences"])
def test_the_shares_of_all_processes_are_the_whole_batch(float64_default, monkeypatch, count):
    """The mean of their gradients, which is what `wrap_model` makes of them, and the sum of their losses."""
    whole, shares, losses = small_model(), [small_model() for _ in range(3)], []
    loss = training_step(whole, batch(count), torch.optim.SGD(whole.parameters(), lr=0.0))
    monkeypatch.setattr(ProcessGroup, "sum", lambda self, number, device: losses.append(number) or 100.0)
    for rank, model in enumerate(shares):
        step = DistributedStep(model, ProcessGroup(rank, world_size=3))
        assert step(model, batch(count), torch.optim.SGD(model.parameters(), lr=0.0)) == 100.0
    assert_close(sum(losses), loss)
    for name, parameter in whole.named_parameters():
        assert_close(sum(model.get_parameter(name).grad for model in shares) / 3, parameter.grad)


def test_bfloat16_is_for_the_products_and_not_for_the_loss():
    exact, rounded = small_model(), small_model()
    seen = {}
    rounded.output.register_forward_hook(lambda module, given, result: seen.update(logits=result.dtype))
    losses = [
        DistributedStep(model, precision=precision)(model, batch(), transformer_optimizer(model, 0.01))
        for model, precision in ((exact, "float32"), (rounded, "bfloat16"))
    ]
    assert seen["logits"] == torch.bfloat16
    assert 0 < abs(losses[0] - losses[1]) < 0.02
    # bfloat16 has 8 bits: a loss computed in it would be one of its numbers.
    assert torch.tensor(losses[1]).bfloat16().item() != pytest.approx(losses[1], abs=1e-7)
    assert all(parameter.dtype == parameter.grad.dtype == torch.float32 for parameter in rounded.parameters())


def alone_in_a_group(monkeypatch, rank):
    """Return a place in a group of two, whose other process is not there: each sum is this one's."""
    monkeypatch.setattr(ProcessGroup, "sum", lambda self, number, device: number)
    return ProcessGroup(rank, world_size=2)


def dropped(group, seed):
    """Return what dropout lets through in the group's share of a step, and the generator's state after it."""
    model, masks = small_model(dropout=0.5), []
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.register_forward_hook(lambda part, given, result: masks.append(result != 0))
    torch.manual_seed(seed)
    same_sentence_twice = Batch.from_pairs([([5, 6, 7, 8], [5, 6, 7, 2])] * 2)
    DistributedStep(model, group)(model, same_sentence_twice, transformer_optimizer(model, 0.01))
    assert len(masks) == 7 and all(len(mask) == 1 for mask in masks), "one sentence of the two, through one layer and one"
    return masks, torch.get_rng_state()


def test_no_two_processes_drop_the_same(monkeypatch):
    """One and the same sentence, one and the same state of the generator; and that state stays the same in both."""
    (first, after_first), (second, after_second) = (dropped(alone_in_a_group(monkeypatch, rank), seed=3) for rank in (0, 1))
    again, _ = dropped(alone_in_a_group(monkeypatch, 1), seed=3)
    later, _ = dropped(alone_in_a_group(monkeypatch, 1), seed=4)
    assert not any(ours.equal(theirs) for ours, theirs in zip(first, second, strict=True))
    assert all(ours.equal(theirs) for ours, theirs in zip(second, again, strict=True))
    assert not any(ours.equal(theirs) for ours, theirs in zip(second, later, strict=True))
    assert after_first.equal(after_second) and not after_first.equal(torch.Generator().manual_seed(3).get_state())


@pytest.mark.parametrize(
    ("rank", "options"),
    [(None, {"accumulation_steps": 3}), (None, {"precision": "bfloat16", "max_grad_norm": 0.5}), (1, {})],
    ids=["in parts", "bfloat16", "process 1 of 2"],
)
def test_a_resumed_run_drops_what_the_whole_one_drops(tmp_path, monkeypatch, rank, options):
    group = SINGLE if rank is None else alone_in_a_group(monkeypatch, rank)

    def run(steps=7, resume=False, path=None):
        model = small_model(dropout=0.3)
        torch.rand(5 if resume else 0)  # what was drawn before a run goes on makes no difference
        batches = lambda epoch: [batch(5, seed=2 * epoch), batch(4, seed=2 * epoch + 1)]
        more = {"optimizer": transformer_optimizer(model, 0.01), "step": DistributedStep(model, group, **options)}
        return model, train(model, batches, steps=steps, checkpoint=path and Checkpoint(path, resume=resume), **more)

    whole, history = run()
    run(steps=3, path=tmp_path / "run.pt")
    resumed, resumed_history = run(resume=True, path=tmp_path / "run.pt")
    assert resumed_history == history and len(set(history.losses)) == 7
    assert all(mine.equal(its) for mine, its in zip(resumed.parameters(), whole.parameters(), strict=True))


def test_a_step_with_no_number_changes_nothing():
    model = small_model()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    model.register_forward_hook(lambda *given: given[-1] * math.nan)
    with pytest.raises(FloatingPointError, match="the loss is nan in step 1"):
        train(model, [batch()], steps=1, optimizer=transformer_optimizer(model, 0.01), step=DistributedStep(model))
    assert all(value.equal(before[name]) for name, value in model.state_dict().items())


def test_another_precision_is_refused():
    with pytest.raises(ValueError, match="precision"):
        DistributedStep(small_model(), precision="float8")


def test_alone_there_is_nobody_to_meet_and_others_are_not_waited_for_longer_than_ten_minutes(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    group = ProcessGroup.init(torch.device("cpu"))
    group.barrier()
    group.destroy()
    assert (group.rank, group.world_size, group.sum(2.5, torch.device("cpu"))) == (0, 1, 2.5)
    met = []
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr(dist, "init_process_group", lambda backend, timeout: met.append((backend, timeout.seconds)))
    monkeypatch.setattr(dist, "get_rank", lambda: 1)
    monkeypatch.setattr(dist, "get_world_size", lambda: 2)
    assert ProcessGroup.init(torch.device("cpu")) == ProcessGroup(1, 2) and met == [("gloo", 600)]


def kept_and_counted(**sizes):
    """Return the bytes that torch keeps of a forward pass for the backward pass, and those in the table."""
    sizes = {"d_model": 32, "num_heads": 2, "d_ff": 32, "target_vocab_size": 20, **sizes}
    model = Transformer(TransformerConfig(source_vocab_size=20, dropout=0.1, **sizes))
    own, kept = {parameter.data_ptr() for parameter in model.parameters()}, {}

    def note(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    source, target = torch.randint(3, 20, (4, 7)), torch.randint(3, 20, (4, 10))
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        label_smoothed_loss(model(source, target), target, reduction="sum").backward()
    table = memory_table(model.config, source.numel(), target.numel())
    activations = sum(table[part] for part in ("encoder", "decoder", "output"))
    assert sum(table.values()) - activations == 16 * sum(parameter.numel() for parameter in model.parameters())
    return sum(kept.values()), activations


@pytest.mark.parametrize("wider", [{"d_model": 64}, {"d_ff": 64}, {"target_vocab_size": 40}], ids=str)
def test_memory_grows_with_each_width_to_the_byte(wider):
    """What does not grow with a width, one number for a position or a head, is left out of the table."""
    for num_layers in (1, 3):
        (kept, counted), (more, more_counted) = (kept_and_counted(num_layers=num_layers, **w) for w in ({}, wider))
        assert more - kept == more_counted - counted


def test_bytes_sent_by_hand():
    assert [bytes_sent(1000, processes) for processes in (1, 2, 8)] == [0, 4000, 7000]
