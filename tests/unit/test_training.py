"""Chapter 12: the shift, batches, loss per real token, one step, the loop, the mean of checkpoints."""

import copy
import math
import os
import pickle
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from interrupted_run import CHECKPOINT_EVERY, STEPS, run
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib import _checkpoints, _files
from transformer_lib.alignment import AttentionSeq2Seq
from transformer_lib.schedule import NoamSchedule, transformer_optimizer
from transformer_lib.seq2seq import Seq2Seq
from transformer_lib.training import (
    Batch,
    Checkpoint,
    Validation,
    average_checkpoints,
    evaluate,
    load_checkpoint,
    save_checkpoint,
    shift_right,
    token_batches,
    train,
    training_step,
    update_parameters,
)
from transformer_lib.transformer import Transformer, TransformerConfig

VOCAB = 11
EXACT = {"rtol": 0, "atol": 1e-12}
WITHOUT_SMOOTHING = partial(training_step, smoothing=0.0)
sentences = st.lists(st.integers(3, VOCAB - 1), min_size=1, max_size=6)
some_pairs = st.lists(st.tuples(sentences, sentences.map(lambda words: [*words, 2])), min_size=1, max_size=12)


def pairs(count, seed, longest=6):
    """Return sentence pairs of 1 … `longest` - 1 words, each target with EOS behind it."""
    generator = torch.Generator().manual_seed(seed)

    def words():
        length = int(torch.randint(1, longest, (), generator=generator))
        return torch.randint(3, VOCAB, (length,), generator=generator).tolist()

    return [(words(), [*words(), 2]) for _ in range(count)]


def transformer(dropout=0.0, d_model=8):
    sizes = {"d_model": d_model, "num_layers": 1, "num_heads": 2, "d_ff": 16, "dropout": dropout}
    return Transformer(TransformerConfig(source_vocab_size=VOCAB, target_vocab_size=VOCAB, **sizes)).double()


MODELS = {
    "transformer": transformer,
    "seq2seq": lambda: Seq2Seq(VOCAB, VOCAB, d_model=6, hidden_size=7).double(),
    "attention-seq2seq": lambda: AttentionSeq2Seq(VOCAB, VOCAB, d_model=6, hidden_size=7).double(),
}
EACH_MODEL = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def model_with_seed(make, seed=0):
    torch.manual_seed(seed)
    return make()


def gradients(model):
    return [parameter.grad for parameter in model.parameters()]


def one_step(model, batch, **settings):
    """Train one step without moving the weights: the gradients stay to be looked at."""
    loss = training_step(model, batch, torch.optim.SGD(model.parameters(), lr=0.0), **settings)
    return loss, gradients(model)


def same_weights(one, other):
    return all(a.equal(b) for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True))


# The shift


def test_the_decoder_reads_one_word_behind():
    target_out = torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]])
    assert shift_right(target_out).tolist() == [[1, 5, 6, 7], [1, 8, 2, 0]]
    assert shift_right(target_out, sos_id=9).tolist() == [[9, 5, 6, 7], [9, 8, 2, 0]]


# Batches


@given(pairs=some_pairs)
@settings(max_examples=30)
def test_a_batch_holds_its_pairs_shifted_and_counts_words(pairs):
    """Only padding follows EOS, and what is read was said one position before."""
    batch = Batch.from_pairs(pairs)
    assert batch.source.shape == (len(pairs), max(len(source) for source, _ in pairs))
    assert contents([batch]) == pairs
    assert all(2 not in row[:-1] and row[-1] == 2 for _, row in contents([batch]))
    assert batch.target_in[:, 0].eq(1).all() and batch.target_in[:, 1:].equal(batch.target_out[:, :-1])
    assert batch.num_tokens == sum(len(target) for _, target in pairs)


@given(pairs=some_pairs, parts=st.integers(1, 15))
@settings(max_examples=30)
def test_split_loses_no_sentence(pairs, parts):
    batch = Batch.from_pairs(pairs)
    split = batch.split(parts)
    assert len(split) <= parts
    for name in ("source", "target_in", "target_out"):
        assert torch.cat([getattr(part, name) for part in split]).equal(getattr(batch, name))


def contents(batches):
    """Return the sentence pairs of `batches`, without padding."""
    return [
        ([i for i in source if i], [i for i in target if i])
        for batch in batches
        for source, target in zip(batch.source.tolist(), batch.target_out.tolist(), strict=True)
    ]


@given(pairs=some_pairs, max_tokens=st.integers(7, 40), seed=st.none() | st.integers(0, 5))
@settings(max_examples=40)
def test_batches_keep_their_budget_and_every_pair(pairs, max_tokens, seed):
    """None is above its budget of tokens, and each pair is in exactly one."""
    batches = token_batches(pairs, max_tokens, seed)
    assert max(batch.source.numel() for batch in batches) <= max_tokens
    assert max(batch.target_out.numel() for batch in batches) <= max_tokens
    assert sorted(contents(batches)) == sorted(pairs)


@pytest.mark.parametrize("side", [0, 1], ids=["source", "target"])
def test_the_budget_holds_where_one_side_is_long(side):
    long, short = [3] * 5 + [2], [3, 2]
    many = [(long, short) if side == 0 else (short, long)] * 7
    batches = token_batches(many, 12)
    assert [len(batch.source) for batch in batches] == [2, 2, 2, 1]


def test_a_batch_is_as_full_as_its_budget_allows():
    batches = token_batches([([3], [3, 3, 2])] * 10, 12)
    assert [len(batch.source) for batch in batches] == [4, 4, 2]


def test_a_long_sentence_narrows_its_own_batch():
    batches = token_batches([([3] * 6, [2]), *[([3], [3, 2])] * 6], 12)
    assert [len(batch.source) for batch in batches] == [2, 5]


def test_sentences_of_similar_length_share_a_batch():
    many = pairs(300, seed=3, longest=30)
    batches = token_batches(many, 200, seed=0)
    padding = 1 - sum(batch.num_tokens for batch in batches) / sum(batch.target_out.numel() for batch in batches)
    assert padding < 0.05
    batches = token_batches([([3] * (n * 7 % 30 + 1), [4, 2]) for n in range(300)], 200, seed=0)
    places = sum(batch.source.numel() for batch in batches)
    assert sum(int((batch.source == 0).sum()) for batch in batches) / places < 0.2, "of equal targets, sources are alike too"


def test_the_seed_makes_the_order():
    """Without one the shortest come first; the global random state stays."""
    many = pairs(60, seed=4)
    order = {seed: contents(token_batches(many, 30, seed)) for seed in (None, 0, 1)}
    assert order[0] == contents(token_batches(many, 30, 0))
    assert order[0] != order[1]
    lengths = [len(target) for _, target in order[None]]
    assert lengths == sorted(lengths)
    first = {seed: token_batches(many, 30, seed)[0].target_out.size(1) for seed in range(8)}
    assert len(set(first.values())) > 1, "the batches themselves are in random order too"
    equally_long = [([3, word], [word, 2]) for word in range(3, 11)]
    together = [{frozenset(batch.source[:, 1].tolist()) for batch in token_batches(equally_long, 4, s)} for s in range(4)]
    assert any(groups != together[0] for groups in together), "and who shares a batch is random among equals"
    torch.manual_seed(0)
    before = torch.get_rng_state()
    token_batches(many, 30, 5)
    assert torch.get_rng_state().equal(before)


# The loss


@EACH_MODEL
@settings(max_examples=10)
@given(pairs=some_pairs, more=st.integers(1, 5))
def test_more_padding_moves_nothing(make, pairs, more):
    """Neither the loss nor a gradient, in training and in evaluation."""
    model = model_with_seed(make)
    batch = Batch.from_pairs(pairs)
    wider = Batch(*(F.pad(ids, (0, more)) for ids in (batch.source, batch.target_in, batch.target_out)))
    loss, expected = one_step(model, batch)
    wider_loss, given_ = one_step(model, wider)
    assert_close(wider_loss, loss, **EXACT)
    assert_close(given_, expected, **EXACT)
    assert_close(evaluate(model, [wider]), evaluate(model, [batch]), **EXACT)


@EACH_MODEL
@settings(max_examples=10)
@given(pairs=some_pairs, parts=st.integers(2, 13))
def test_k_micro_batches_equal_one_batch(make, pairs, parts):
    model = model_with_seed(make)
    batch = Batch.from_pairs(pairs)
    loss, expected = one_step(model, batch)
    parts_loss, given_ = one_step(model, batch, accumulation_steps=parts)
    assert_close(parts_loss, loss, **EXACT)
    assert_close(given_, expected, **EXACT)


def test_the_loss_is_that_of_each_sentence_alone():
    """Summed, and divided by all words."""
    model, many = model_with_seed(transformer), pairs(9, seed=6)
    total = torch.zeros((), dtype=torch.float64)
    for source, target in many:
        logits = model(torch.tensor([source]), torch.tensor([[1, *target[:-1]]]))[0]
        for scores, word in zip(logits, target, strict=True):
            total = total + scores.logsumexp(dim=0) - scores[word]
    expected = total / sum(len(target) for _, target in many)
    expected_gradients = torch.autograd.grad(expected, list(model.parameters()))
    loss, given_ = one_step(model, Batch.from_pairs(many), smoothing=0.0)
    assert_close(loss, expected.item(), **EXACT)
    assert_close(given_, list(expected_gradients), **EXACT)
    assert_close(evaluate(model, token_batches(many, 12, seed=1)), expected.item(), **EXACT)


def test_evaluate_has_no_dropout_and_no_gradients():
    """It gives the mode back, also after an error."""
    model = model_with_seed(lambda: transformer(dropout=0.5))
    batches = token_batches(pairs(9, seed=6), 20)
    recording = []
    model.register_forward_hook(lambda *_: recording.append(torch.is_grad_enabled()))
    for mode in (True, False):
        model.train(mode)
        assert evaluate(model, batches) == evaluate(model, batches)
        assert model.training is mode
    assert set(recording) == {False}

    class Broken(nn.Linear):
        def forward(self, *_):
            raise RuntimeError("broken")

    broken = Broken(1, 1)
    with pytest.raises(RuntimeError, match="broken"):
        evaluate(broken, batches)
    assert broken.training


# train


@pytest.mark.parametrize("parts", [1, 3])
def test_train_is_a_plain_torch_loop(parts):
    batches = token_batches(pairs(30, seed=7), 40, seed=0)
    ours, theirs = model_with_seed(transformer), model_with_seed(transformer)
    step = partial(training_step, accumulation_steps=parts, max_grad_norm=0.5)
    history = train(ours, batches, steps=2 * len(batches) + 1, step=step)

    optimizer, losses = torch.optim.Adam(theirs.parameters(), lr=0.001, betas=(0.9, 0.98), eps=1e-9), []
    for batch in [*batches, *batches, batches[0]]:
        logits = theirs(batch.source, batch.target_in)
        loss = F.cross_entropy(logits.flatten(0, 1), batch.target_out.flatten(), ignore_index=0, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(theirs.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
    assert_close(history.losses, losses)
    assert_close(ours.state_dict(), theirs.state_dict())
    assert history.learning_rates == [0.001] * len(losses)


def test_one_batch_is_learned_and_decoded_freely():
    batch = Batch.from_pairs(pairs(8, seed=9, longest=9))
    model = model_with_seed(lambda: transformer(d_model=32).float())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    train(model, [batch], steps=150, optimizer=optimizer, step=WITHOUT_SMOOTHING)
    model.eval()
    written = torch.ones(8, 1, dtype=torch.int64)
    for _ in range(batch.target_out.size(1)):
        best = model(batch.source, written)[:, -1].argmax(dim=-1, keepdim=True)
        written = torch.cat([written, best], dim=1)
    real = batch.target_out != 0
    assert written[:, 1:][real].equal(batch.target_out[real])


def test_epochs_are_asked_for_in_order_and_used_up():
    seen = []

    class Watching(nn.Module):
        def __init__(self):
            super().__init__()
            self.scores = nn.Parameter(torch.zeros(VOCAB))

        def forward(self, source, target_in):
            seen.append(int(source[0, 0]))
            return self.scores.expand(*target_in.shape, VOCAB)

    def epoch(number):
        return [Batch.from_pairs([([3 + number], [4, 2])])] * (number + 1)

    train(Watching(), epoch, steps=7)
    assert seen == [3, 4, 4, 5, 5, 5, 6]


def test_the_step_that_is_asked_for_is_made():
    """With model, batch and optimizer, once a batch; what it returns is the loss, and nothing else moves a weight."""
    model, batches, given_ = model_with_seed(transformer), [Batch.from_pairs(pairs(3, seed=n)) for n in range(2)], []
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    before = copy.deepcopy(model.state_dict())

    def step(*arguments):
        given_.append(arguments)
        assert model.training
        return 10.0 + len(given_)

    history = train(model, batches, steps=3, optimizer=optimizer, step=step)
    assert history.losses == [11.0, 12.0, 13.0]
    assert [(one[0] is model, one[2] is optimizer, len(one)) for one in given_] == [(True, True, 3)] * 3
    for (_, batch, _), expected in zip(given_, [*batches, batches[0]], strict=True):
        for side in ("source", "target_in", "target_out"):
            assert getattr(batch, side).equal(getattr(expected, side))
    assert_close(model.state_dict(), before, rtol=0, atol=0)


def test_a_history_counts_the_words_to_say_and_no_padding():
    """Not the source's, not SOS, but each EOS; and how long the steps took makes two histories no different."""
    batch = Batch.from_pairs([([3, 4, 5], [5, 2]), ([3] * 6, [4, 5, 6, 7, 2]), ([3], [2])])
    assert batch.target_out.numel() == 15 and batch.num_tokens == 2 + 5 + 1
    one = Batch.from_pairs([([3, 4], [5, 2])])
    validation = Validation([batch], every=1)
    history = train(model_with_seed(transformer), [batch, one], steps=3, validation=validation)
    assert history.tokens == 8 + 2 + 8
    assert history.seconds > 0
    assert replace(history, seconds=0.0) == history != replace(history, tokens=17)


def test_the_schedule_is_followed_and_losses_measured():
    model = model_with_seed(transformer)
    optimizer = transformer_optimizer(model)
    schedule = NoamSchedule(optimizer, 8, 3)
    batch = Batch.from_pairs(pairs(4, seed=8))
    model.eval()
    history = train(model, [batch], steps=5, optimizer=optimizer, schedule=schedule, validation=Validation([batch], every=2))
    assert_close(history.learning_rates, [8**-0.5 * min(step**-0.5, step * 3**-1.5) for step in range(1, 6)])
    assert list(history.validation_losses) == [2, 4, 5]
    assert history.validation_losses[5] == evaluate(model, [batch])
    assert model.training


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_no_number_moves_nothing(loss):
    model = model_with_seed(transformer)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    before = copy.deepcopy(model.state_dict())
    model(IDS, IDS).sum().backward()
    with pytest.raises(FloatingPointError, match=f"the loss is {loss}"):
        update_parameters(model, optimizer, loss, None)
    assert_close(model.state_dict(), before, rtol=0, atol=0)


def test_a_loss_that_is_nan_stops_the_run(tmp_path):
    """Before a weight moves, and before a checkpoint is written."""
    model = model_with_seed(transformer)
    with torch.no_grad():
        model.output.weight[3] = math.nan
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(FloatingPointError, match="nan in step 1"):
        train(model, [Batch.from_pairs(pairs(4, seed=8))], steps=3, checkpoint=Checkpoint(tmp_path / "run.pt", every=1))
    assert_close(model.state_dict(), before, rtol=0, atol=0, equal_nan=True)
    assert list(tmp_path.iterdir()) == []


# The mean of checkpoints


def test_the_mean_of_checkpoints_is_the_mean_of_weights(tmp_path):
    models = [model_with_seed(transformer, seed) for seed in range(3)]
    paths = [tmp_path / f"{seed}.pt" for seed in range(3)]
    for path, model in zip(paths, models, strict=True):
        save_checkpoint(path, model)
    mean = model_with_seed(transformer, seed=9)
    average_checkpoints(paths, mean)
    for name, weight in mean.state_dict().items():
        assert_close(weight, sum(model.state_dict()[name] for model in models) / 3)


def test_whole_numbers_are_not_averaged(tmp_path):
    models = [nn.BatchNorm1d(2) for _ in range(2)]
    for i, model in enumerate(models):
        model(torch.randn(4, 2))
        model.num_batches_tracked.fill_(3 + i)
        save_checkpoint(tmp_path / f"{i}.pt", model)
    mean = nn.BatchNorm1d(2)
    average_checkpoints([tmp_path / "0.pt", tmp_path / "1.pt"], mean)
    assert mean.num_batches_tracked == 4
    assert_close(mean.running_mean, (models[0].running_mean + models[1].running_mean) / 2)


# Wrong input

ONE = [([3, 4], [5, 2])]
IDS = torch.ones(2, 3, dtype=torch.int64)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Batch.from_pairs([]), "pairs must hold at least one"),
        (lambda: Batch.from_pairs([*ONE, ([], [5, 2])]), "source of pair 1 must hold at least one word"),
        (lambda: Batch.from_pairs([([3], [5, 2, 0])]), r"target of pair 0 .* no padding \(id 0\)"),
        (lambda: Batch.from_pairs([([3], [2, 5])]), r"must end in EOS \(id 2\), but it ends in 5"),
        (lambda: token_batches([], 10), "pairs must hold at least one"),
        (lambda: token_batches([*ONE, ([3] * 9, [4, 2])], 8), "it is 8, and pair 1 has a sentence of 9 tokens"),
        (lambda: evaluate(transformer(), []), "batches must hold at least one"),
        (lambda: train(transformer(), lambda epoch: [], steps=1), "batches of epoch 0 must hold at least one"),
        (lambda: train(transformer(), [Batch.from_pairs(ONE)], steps=0), "steps must be at least 1, but it is 0"),
        (lambda: average_checkpoints([], transformer()), "paths must hold at least one"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Stop and go on


def kill(place, checkpoint):
    """Start the run in a process of its own, and return how that ended."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, str(Path(__file__).parents[1] / "interrupted_run.py"), str(checkpoint), place]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


def done(checkpoint):
    return len(torch.load(checkpoint, weights_only=True)["extra"]["history"]["losses"])


def test_a_killed_run_ends_with_the_same_bits(tmp_path):
    """Killed in a step, and once more while it writes a checkpoint."""
    whole, history = run()
    checkpoint = tmp_path / "run.pt"

    killed = kill("a-step", checkpoint)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert done(checkpoint) == CHECKPOINT_EVERY, "it died in step 5, in the middle of a batch"

    killed = kill("a-checkpoint", checkpoint)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert done(checkpoint) == 2 * CHECKPOINT_EVERY, "the old file is whole"
    assert (tmp_path / ".run.pt.new").exists(), "it died while the next one was written"

    torch.manual_seed(99)
    resumed, resumed_history = run(checkpoint, resume=True)
    assert same_weights(resumed, whole)
    assert resumed_history == history
    assert list(tmp_path.iterdir()) == [checkpoint]


class Stop(Exception):
    """The run is stopped here."""


@pytest.mark.parametrize("stopped_in", [1, CHECKPOINT_EVERY, CHECKPOINT_EVERY + 1, 8, STEPS])
def test_a_stopped_run_ends_with_the_same_bits(tmp_path, stopped_in):
    whole, history = run()

    def stop_in_a_step(model):
        def count(module, *_):
            passes.append(module.training)
            if passes.count(True) == 2 * stopped_in:
                raise Stop

        passes = []
        model.register_forward_hook(count)

    with pytest.raises(Stop):
        run(tmp_path / "run.pt", on_model=stop_in_a_step)
    # Before the first checkpoint there is nothing to go on from: the run starts again, as the caller starts it.
    started = (tmp_path / "run.pt").exists()
    assert started is (stopped_in > CHECKPOINT_EVERY)
    resumed, resumed_history = run(tmp_path / "run.pt", resume=started)
    assert same_weights(resumed, whole)
    assert resumed_history == history


def test_a_finished_run_may_become_longer(tmp_path):
    """And asked for no more steps it stays as it is."""
    checkpoint = tmp_path / "run.pt"
    first, _ = run(checkpoint, steps=7)
    again, history = run(checkpoint, resume=True, steps=7)
    assert same_weights(again, first)
    assert len(history.losses) == 7
    longer, history = run(checkpoint, resume=True, steps=STEPS)
    assert same_weights(longer, run()[0])
    assert len(history.losses) == STEPS


def test_a_checkpoint_is_not_written_over_by_mistake(tmp_path):
    checkpoint = tmp_path / "run.pt"
    run(checkpoint, steps=4)
    before = checkpoint.read_bytes()
    with pytest.raises(FileExistsError, match="resume=True"):
        run(checkpoint, steps=5)
    with pytest.raises(ValueError, match="steps must not be below"):
        run(checkpoint, resume=True, steps=3)
    assert checkpoint.read_bytes() == before


# Checkpoints


def trained_parts(seed=0, make=transformer):
    model = model_with_seed(make, seed)
    optimizer = transformer_optimizer(model)
    schedule = NoamSchedule(optimizer, 8, 5)
    train(model, [Batch.from_pairs(pairs(4, seed=8))], steps=3, optimizer=optimizer, schedule=schedule)
    return model, optimizer, schedule


def states(parts):
    return copy.deepcopy([part.state_dict() for part in parts])


def assert_unchanged(parts, before):
    assert_close(states(parts)[:2], before[:2], rtol=0, atol=0)
    assert parts[2].get_last_lr() == before[2]["_last_lr"]


def test_what_was_saved_comes_back(tmp_path):
    saved, parts = trained_parts(), trained_parts(seed=1)
    extra = {"step": 3, "words": ["je", "suis"], "numbers": torch.arange(3), "nested": {"losses": [1.5, 2.5]}}
    save_checkpoint(tmp_path / "a.pt", *saved, extra)
    loaded = load_checkpoint(str(tmp_path / "a.pt"), *parts)
    assert loaded.pop("numbers").equal(extra.pop("numbers"))
    assert loaded == extra
    assert_unchanged(parts, states(saved))
    assert list(tmp_path.iterdir()) == [tmp_path / "a.pt"]


def test_a_model_alone_comes_back(tmp_path):
    """And weights that are tied stay one."""
    config = replace(TransformerConfig.tiny(VOCAB, VOCAB), d_model=8, d_ff=8, num_heads=2, shared_vocabulary=True)
    model, other = Transformer(config), Transformer(config)
    save_checkpoint(tmp_path / "a.pt", model)
    assert load_checkpoint(tmp_path / "a.pt", other) == {}
    assert same_weights(model, other)
    assert other.output.weight is other.source_embedding.weight


@pytest.mark.parametrize("fails", ["torch.save", "os.fsync", "os.replace"])
def test_a_failed_save_leaves_the_old_file_whole(tmp_path, monkeypatch, fails):
    """And no other file."""
    path = tmp_path / "a.pt"
    save_checkpoint(path, transformer())
    before = path.read_bytes()

    def write_half_and_fail(state, file):
        file.write(before[: len(before) // 2])
        raise OSError("the disk is full")

    def fail(*_):
        raise OSError("the disk is full")

    module, name = fails.split(".")
    home = _checkpoints if module == "torch" else _files
    monkeypatch.setattr(getattr(home, module), name, write_half_and_fail if name == "save" else fail)
    with pytest.raises(OSError, match="disk is full"):
        save_checkpoint(path, transformer())
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


class Attack:
    def __reduce__(self):
        return os.mkdir, ("attacked",)


def foreign_files(folder):
    torch.save(transformer().state_dict(), folder / "plain-weights.pt")
    torch.save(transformer(), folder / "whole-model.pt")
    torch.save(torch.zeros(3), folder / "tensor.pt")
    torch.save({"format": "transformer_lib checkpoint 1", "model": Attack()}, folder / "attack.pt")
    (folder / "text.pt").write_text("je suis étudiant\n" * 50, encoding="utf-8")
    (folder / "pickle.pt").write_bytes(pickle.dumps({"model": Attack()}))
    (folder / "zeros.pt").write_bytes(bytes(5000))
    return sorted(folder.iterdir())


def test_a_foreign_file_is_named_and_runs_no_code(tmp_path, monkeypatch):
    files = foreign_files(tmp_path)
    assert len(files) == 7
    monkeypatch.chdir(tmp_path)
    parts = trained_parts()
    before = states(parts)
    for path in files:
        content = path.read_bytes()
        with pytest.raises(ValueError, match=path.name):
            load_checkpoint(path, *parts)
        with pytest.raises(ValueError, match=path.name):
            train(parts[0], [Batch.from_pairs(pairs(2, seed=1))], steps=3, checkpoint=Checkpoint(path, resume=True))
        assert path.read_bytes() == content
    assert_unchanged(parts, before)
    assert not (tmp_path / "attacked").exists()


@pytest.mark.parametrize("share", [0, 0.001, 0.1, 0.5, 0.9, 0.999, 1])
def test_a_truncated_checkpoint_is_named(tmp_path, share):
    parts = trained_parts()
    save_checkpoint(tmp_path / "a.pt", *parts)
    whole = (tmp_path / "a.pt").read_bytes()
    (tmp_path / "cut.pt").write_bytes(whole[: min(int(share * len(whole)), len(whole) - 1)])
    before = states(parts)
    with pytest.raises(ValueError, match=r"cut\.pt cannot be read as one: it is cut off"):
        load_checkpoint(tmp_path / "cut.pt", *parts)
    assert_unchanged(parts, before)
    assert (tmp_path / "a.pt").read_bytes() == whole


def test_a_flipped_bit_in_the_weights_is_noticed(tmp_path):
    model, path = model_with_seed(transformer), tmp_path / "a.pt"
    save_checkpoint(path, model)
    content = bytearray(path.read_bytes())
    place = content.index(model.output.weight.detach().numpy().tobytes())
    content[place + 5] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        load_checkpoint(path, model)


OTHER_MODELS = {
    "wider": lambda: transformer(d_model=16),
    "single precision": lambda: transformer().float(),
    "another kind": MODELS["seq2seq"],
    "fewer layers": lambda: nn.ModuleDict({"output": nn.Linear(8, VOCAB, bias=False).double()}),
}


@pytest.mark.parametrize("other", OTHER_MODELS.values(), ids=OTHER_MODELS)
def test_another_models_checkpoint_changes_nothing(tmp_path, other):
    save_checkpoint(tmp_path / "a.pt", *trained_parts())
    model = other()
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(ValueError, match=r"a\.pt cannot be read as one: its model"):
        load_checkpoint(tmp_path / "a.pt", model)
    assert_close(model.state_dict(), before, rtol=0, atol=0)


def test_a_missing_part_changes_nothing(tmp_path):
    """Nor does one that does not fit."""
    saved, parts = trained_parts(), trained_parts(seed=1)
    before = states(parts)
    save_checkpoint(tmp_path / "weights.pt", saved[0])
    save_checkpoint(tmp_path / "no-schedule.pt", *saved[:2])
    # Two groups of parameters, where the run has one.
    groups = [{"params": [p]} for p in list(saved[0].parameters())[:2]]
    save_checkpoint(tmp_path / "groups.pt", saved[0], torch.optim.Adam(groups), saved[2])
    for name, message in [("weights", "state of the optimizer"), ("no-schedule", "the schedule"), ("groups", "group")]:
        with pytest.raises(ValueError, match=message):
            load_checkpoint(tmp_path / f"{name}.pt", *parts)
    with pytest.raises(ValueError, match="one that train wrote"):
        train(
            saved[0],
            [Batch.from_pairs(pairs(2, seed=1))],
            steps=3,
            checkpoint=Checkpoint(tmp_path / "no-schedule.pt", resume=True),
        )
    assert_unchanged(parts, before)


def put(*place, value):
    """Return a function that puts `value` at a place in a saved state; a place that is not there yet is made."""

    def forge(state):
        for name in place[:-1]:
            state = state[name]
        state[place[-1]] = value

    return forge


def drop(*place):
    def forge(state):
        for name in place[:-1]:
            state = state[name]
        del state[place[-1]]

    return forge


GROUP, MOMENTS, RUN = ("optimizer", "param_groups", 0), ("optimizer", "state", 0), ("extra", "history")
WEIGHT = ("model", "output.weight")
NAN, INF = math.nan, math.inf
FORGED = {
    "later": put("format", value="transformer_lib checkpoint 2"),
    "another kind": put("format", value="transformer_lib translator 1"),
    "unknown part": put("more", value=1),
    "no part": drop("schedule"),
    "no model": put("model", value=None),
    "weights of another shape": put(*WEIGHT, value=torch.zeros(VOCAB, 9).double()),
    "weights of another kind": put(*WEIGHT, value=torch.zeros(VOCAB, 8)),
    "weights that are none": put(*WEIGHT, value=[1.0]),
    "weights without numbers": put(*WEIGHT, value=torch.zeros(VOCAB, 8, device="meta").double()),
    "sparse weights": put(*WEIGHT, value=torch.zeros(VOCAB, 8).double().to_sparse()),
    "weights that are not finite": put(*WEIGHT, value=torch.full((VOCAB, 8), NAN).double()),
    "unknown weights": put("model", "more", value=torch.zeros(1).double()),
    "fewer weights": drop(*WEIGHT),
    "an optimizer that is none": put("optimizer", value=[]),
    "rate: nan": put(*GROUP, "lr", value=NAN),
    "rate: negative": put(*GROUP, "lr", value=-0.1),
    "rate: text": put(*GROUP, "lr", value="0.1"),
    "no rate": drop(*GROUP, "lr"),
    "betas: too large": put(*GROUP, "betas", value=(0.9, 1.5)),
    "betas: one": put(*GROUP, "betas", value=(0.9,)),
    "a flag": put(*GROUP, "amsgrad", value=True),
    "a flag that was none": put(*GROUP, "foreach", value=True),
    "unknown field of a group": put(*GROUP, "more", value=1),
    "parameters in another order": lambda state: state["optimizer"]["param_groups"][0]["params"].reverse(),
    "two groups": lambda state: state["optimizer"]["param_groups"].append(state["optimizer"]["param_groups"][0]),
    "state of no parameter": put("optimizer", "state", 999, value={}),
    "count: negative": put(*MOMENTS, "step", value=torch.tensor(-1.0)),
    "count: nan": put(*MOMENTS, "step", value=torch.tensor(NAN)),
    "count: two": put(*MOMENTS, "step", value=torch.zeros(2)),
    "moments: another shape": put(*MOMENTS, "exp_avg", value=torch.zeros(3).double()),
    "moments: infinite": lambda state: state["optimizer"]["state"][0]["exp_avg"].fill_(INF),
    "moments: negative squares": lambda state: state["optimizer"]["state"][0]["exp_avg_sq"].fill_(-1),
    "moments: missing": drop(*MOMENTS, "exp_avg"),
    "moments: unknown": put(*MOMENTS, "more", value=torch.zeros(())),
    "schedule: a method": put("schedule", "get_lr", value=3),
    "schedule: negative count": put("schedule", "last_epoch", value=-5),
    "schedule: no count": drop("schedule", "last_epoch"),
    "schedule: nan": put("schedule", "base_lrs", value=[NAN]),
    "schedule: two groups": put("schedule", "_last_lr", value=[0.1, 0.1]),
    "schedule: a negative rate": put("schedule", "_last_lr", value=[-0.1]),
    "schedule: no warm-up": put("schedule", "warmup", value=0),
    "losses: text": put(*RUN, "losses", value=["1", "2", "3"]),
    "losses: nan": put(*RUN, "losses", value=[1.0, NAN, 1.0]),
    "losses: two of three": put(*RUN, "losses", value=[1.0, 1.0]),
    "tokens: negative": put(*RUN, "tokens", value=-5),
    "tokens: part of one": put(*RUN, "tokens", value=1.5),
    "seconds: negative": put(*RUN, "seconds", value=-1.0),
    "measured later": put(*RUN, "validation_losses", value={99: 1.0}),
    "unknown field of the history": put(*RUN, "more", value=1),
    "place: negative": put("extra", "place", value=(-1, 0)),
    "place: later": put("extra", "place", value=(0, 99)),
    "place: text": put("extra", "place", value=("0", 0)),
    "no random numbers": drop("extra", "random"),
    "random numbers: too few": put("extra", "random", "cpu", value=torch.zeros(3, dtype=torch.uint8)),
    "random numbers: another kind": put("extra", "random", "cpu", value="0"),
    "unknown field of the run": put("extra", "more", value=1),
}  # fmt: skip


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_forged_checkpoint_changes_nothing(tmp_path, forge):
    """Its checksums are right, because torch has written it."""
    path, batches = tmp_path / "run.pt", [Batch.from_pairs(pairs(4, seed=8))]
    model, optimizer, schedule = trained_parts()
    train(model, batches, steps=3, optimizer=optimizer, schedule=schedule, checkpoint=Checkpoint(path, every=3))
    model, optimizer, schedule = parts = trained_parts(seed=1)
    before, random = states(parts), torch.get_rng_state()
    state = torch.load(path, weights_only=True)
    forge(state)
    torch.save(state, path)
    with pytest.raises(ValueError, match=r"^path must name a checkpoint, but \S*run\.pt cannot be read as one: [^\n]*$"):
        train(model, batches, steps=5, optimizer=optimizer, schedule=schedule, checkpoint=Checkpoint(path, resume=True))
    assert_unchanged(parts, before)
    assert schedule.state_dict() == before[2] and torch.get_rng_state().equal(random)


def test_a_rate_set_by_hand_comes_back(tmp_path):
    saved, (model, optimizer, schedule) = trained_parts(), trained_parts(seed=1)
    saved[1].param_groups[0]["lr"] = 0.125
    save_checkpoint(tmp_path / "a.pt", *saved)
    load_checkpoint(tmp_path / "a.pt", model, optimizer, schedule)
    assert optimizer.param_groups[0]["lr"] == 0.125
    assert_close(states((model, optimizer, schedule)), states(saved), rtol=0, atol=0)


def test_no_file_and_no_folder_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.pt"):
        load_checkpoint(tmp_path / "none.pt", transformer())
    with pytest.raises(FileNotFoundError):
        save_checkpoint(tmp_path / "none" / "a.pt", transformer())
