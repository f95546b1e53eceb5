"""Chapter 12: the shift, batches, loss per real token, one step, the loop, the mean of checkpoints."""

import copy
import math
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib.alignment import AttentionSeq2Seq
from transformer_lib.schedule import NoamSchedule, transformer_optimizer
from transformer_lib.seq2seq import Seq2Seq
from transformer_lib.training import (
    Batch,
    Validation,
    average_checkpoints,
    evaluate,
    label_smoothed_loss,
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


@pytest.mark.parametrize(
    ("many", "sizes"),
    [
        ([([3] * 6, [3, 2])] * 7, [2, 2, 2, 1]),  # the source is the longer side
        ([([3, 2], [3] * 5 + [2])] * 7, [2, 2, 2, 1]),
        ([([3], [3, 3, 2])] * 10, [4, 4, 2]),  # as full as the budget allows
        ([([3] * 6, [2]), *[([3], [3, 2])] * 6], [2, 5]),  # a long sentence narrows its own batch
    ],
)
def test_the_longer_side_fills_the_budget(many, sizes):
    assert [len(batch.source) for batch in token_batches(many, 12)] == sizes


def test_sentences_of_similar_length_share_a_batch():
    many = pairs(300, seed=3, longest=30)
    batches = token_batches(many, 200, seed=0)
    padding = 1 - sum(batch.num_tokens for batch in batches) / sum(batch.target_out.numel() for batch in batches)
    assert padding < 0.05
    batches = token_batches([([3] * (n * 7 % 30 + 1), [4, 2]) for n in range(300)], 200, seed=0)
    places = sum(batch.source.numel() for batch in batches)
    assert sum(int((batch.source == 0).sum()) for batch in batches) / places < 0.2, "of equal targets, sources are alike too"


def test_the_seed_makes_the_order():
    """Of the batches, and of who shares one among equals; without one the shortest come first. The global state stays."""
    many = pairs(60, seed=4)
    before = torch.get_rng_state()
    order = {seed: contents(token_batches(many, 30, seed)) for seed in (None, 0, 1)}
    assert order[0] == contents(token_batches(many, 30, 0)) != order[1]
    lengths = [len(target) for _, target in order[None]]
    assert lengths == sorted(lengths)
    assert len({token_batches(many, 30, seed)[0].target_out.size(1) for seed in range(8)}) > 1
    equally_long = [([3, word], [word, 2]) for word in range(3, 11)]
    together = [{frozenset(batch.source[:, 1].tolist()) for batch in token_batches(equally_long, 4, s)} for s in range(4)]
    assert any(groups != together[0] for groups in together)
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
    """It gives the mode back."""
    model = model_with_seed(lambda: transformer(dropout=0.5))
    batches = token_batches(pairs(9, seed=6), 20)
    recording = []
    model.register_forward_hook(lambda *_: recording.append(torch.is_grad_enabled()))
    for mode in (True, False):
        model.train(mode)
        assert evaluate(model, batches) == evaluate(model, batches)
        assert model.training is mode
    assert set(recording) == {False}


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


def test_a_history_counts_the_words_to_say_and_no_padding():
    """Not the source's, not SOS, but each EOS."""
    batch = Batch.from_pairs([([3, 4, 5], [5, 2]), ([3] * 6, [4, 5, 6, 7, 2]), ([3], [2])])
    assert train(model_with_seed(transformer), [batch, Batch.from_pairs(ONE)], steps=3).tokens == 8 + 2 + 8


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


# Wrong input

ONE = [([3, 4], [5, 2])]
IDS, LOGITS = torch.ones(2, 3, dtype=torch.int64), torch.zeros(3, 2, 7)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Batch.from_pairs([*ONE, ([], [5, 2])]), "source of pair 1 must hold at least one word"),
        (lambda: Batch.from_pairs([([3], [5, 2, 0])]), r"target of pair 0 .* no padding \(id 0\)"),
        (lambda: Batch.from_pairs([([3], [2, 5])]), r"must end in EOS \(id 2\), but it ends in 5"),
        (lambda: token_batches([], 10), "pairs must hold at least one"),
        (lambda: token_batches([*ONE, ([3] * 9, [4, 2])], 8), "it is 8, and pair 1 has a sentence of 9 tokens"),
        (lambda: evaluate(transformer(), []), "batches must hold at least one"),
        (lambda: train(transformer(), [Batch.from_pairs(ONE)], steps=0), "steps must be at least 1, but it is 0"),
        (lambda: label_smoothed_loss(LOGITS, LOGITS[..., 0].long(), -0.1), "at least 0 and below 1, but it is -0.1"),
        (lambda: label_smoothed_loss(LOGITS, IDS), r"the axes of target .* \(3, 2, 7\) and \(2, 3\)"),
    ],
)
def test_wrong_input_is_named(call, message, as_a_user_calls_it):
    with pytest.raises(ValueError, match=message):
        call()


# The smoothed loss


def some_logits(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).requires_grad_()


def some_targets(*shape, low=1, vocab=7, seed=0):
    return torch.randint(low, vocab, shape, generator=torch.Generator().manual_seed(seed))


@settings(max_examples=30)
@given(batch=st.integers(1, 3), seq=st.integers(1, 4), vocab=st.integers(2, 9), smoothing=st.floats(0, 0.9))
def test_each_word_gets_smoothing_over_vocab(batch, seq, vocab, smoothing):
    logits = some_logits(batch, seq, vocab, seed=vocab)
    target = some_targets(batch, seq, vocab=vocab)
    wanted = smoothing / vocab + (1 - smoothing) * F.one_hot(target, vocab)
    log_p = logits.log_softmax(dim=-1)
    expected = -(wanted * log_p).sum() / (batch * seq)
    loss = label_smoothed_loss(logits, target, smoothing)
    assert_close(loss, expected)
    assert_close(torch.autograd.grad(loss, logits)[0], ((log_p.exp() - wanted) / (batch * seq)).detach())


@settings(max_examples=30)
@given(pad_id=st.sampled_from([0, 3, 6]), more=st.integers(1, 4), smoothing=st.floats(0, 0.9))
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
    torchs = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0, label_smoothing=0.1)
    assert_close(label_smoothed_loss(logits, target), torchs)


def test_any_number_of_axes():
    logits, target = some_logits(2, 3, 4, 7), some_targets(2, 3, 4)
    loss = label_smoothed_loss(logits, target)
    assert_close(loss, label_smoothed_loss(logits.flatten(0, 2), target.flatten()))
    assert_close(loss, label_smoothed_loss(logits.transpose(0, 2), target.transpose(0, 2)))
