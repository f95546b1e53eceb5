"""The tasks are what they say, and the loop trains and measures a model on them."""

import math

import pytest
import torch
from torch import nn
from torch.nn.functional import one_hot

from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID
from transformer_lib.teaching.experiments.sequence_tasks import (
    VOCABULARY,
    exact_match,
    right_words,
    task_batch,
    train_on_task,
)


@pytest.mark.parametrize(("task", "order"), [("copy", 1), ("reverse", -1)])
def test_the_answer_is_the_source_in_some_order(task, order):
    source, target_in, target_out = task_batch(task, count=50, length=7, generator=torch.Generator().manual_seed(0))
    assert source.min() == 3
    assert source.max() == VOCABULARY - 1
    for sentence, given, expected in zip(source.tolist(), target_in.tolist(), target_out.tolist(), strict=True):
        assert given == [SOS_ID, *sentence[::order]]
        assert expected == [*sentence[::order], EOS_ID]


def test_a_generator_fixes_the_sentences():
    first, second = (torch.Generator().manual_seed(4) for _ in range(2))
    batches = [task_batch("copy", count=8, length=6, generator=generator)[0] for generator in (first, second, second)]
    assert batches[0].equal(batches[1])
    assert not batches[1].equal(batches[2])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"task": "sort", "length": 3}, "task is 'sort', expected one of copy, reverse"),
        ({"task": "copy", "length": 0}, "length must be at least 1, but it is 0"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        task_batch(**settings, count=2, generator=torch.Generator())


class NextSymbol(nn.Module):
    """Sees the word before, and learns which word comes next."""

    def __init__(self):
        super().__init__()
        self.output = nn.Embedding(VOCABULARY, VOCABULARY)
        self.lengths = set()

    def forward(self, source, target_in):
        self.lengths.add(source.size(1))
        return self.output(target_in)


def test_training_lowers_the_loss_on_all_lengths():
    torch.manual_seed(0)
    model = NextSymbol()
    losses = train_on_task(model, task="copy", seed=0, steps=200, longest=4, learning_rate=0.05)
    assert len(losses) == 200
    assert sum(losses[-20:]) < 0.9 * sum(losses[:20])
    assert model.lengths == {1, 2, 3, 4}


def test_with_warmup_the_rate_climbs_and_falls(monkeypatch):
    rates = []
    step = torch.optim.Adam.step

    def remember(self, *arguments):
        rates.append(self.param_groups[0]["lr"])
        return step(self, *arguments)

    monkeypatch.setattr(torch.optim.Adam, "step", remember)
    train_on_task(NextSymbol(), task="copy", seed=0, steps=12, longest=2, learning_rate=0.1, warmup=4)
    assert rates[:4] == pytest.approx([0.025, 0.05, 0.075, 0.1])
    assert rates[4:] == pytest.approx([0.1 * left / 8 for left in range(8, 0, -1)])
    rates.clear()
    train_on_task(NextSymbol(), task="copy", seed=0, steps=3, longest=2, learning_rate=0.1)
    assert rates == [0.1, 0.1, 0.1]


class Script(list):
    """What is left to write."""

    def reorder(self, rows):
        self[:] = [words[rows] for words in self]


class Answers(nn.Module):
    """Writes what `answer(source)` says, whatever it reads; `read` holds the sources."""

    max_len = math.inf

    def __init__(self, answer):
        super().__init__()
        self.answer, self.read = answer, []

    def start(self, source):
        self.read.append(source)
        return Script(self.answer(source).unbind(dim=1))

    def decode(self, words, state):
        assert words.size(1) == 1
        return one_hot(state.pop(0), VOCABULARY).float().unsqueeze(1)


def right_answer(source):
    return nn.functional.pad(source.flip(1), (0, 1), value=EOS_ID)


def one_wrong_word_in_half_of_the_answers(source):
    answers = right_answer(source)
    answers[::2, 1] = 3 + (answers[::2, 1] - 2) % 10
    return answers


def never_stops(source):
    answers = right_answer(source)
    answers[:, -1] = 5
    return answers


def stops_early(source):
    answers = right_answer(source)
    answers[:, -2:] = EOS_ID
    return answers


@pytest.mark.parametrize(
    ("answer", "expected"),
    [(right_answer, 1.0), (one_wrong_word_in_half_of_the_answers, 0.5), (never_stops, 0.0), (stops_early, 0.0)],
)
def test_an_answer_counts_as_a_whole_with_its_eos(answer, expected):
    assert exact_match(Answers(answer), task="reverse", length=5, seed=0) == expected


def test_another_seed_measures_other_sentences():
    model = Answers(right_answer)
    for seed in (0, 1, 1):
        exact_match(model, task="copy", length=5, count=3, seed=seed)
    first, second, third = model.read
    assert not first.equal(second)
    assert second.equal(third)
    assert PAD_ID not in first and first.shape == (3, 5)


def test_right_words_tells_reading_from_writing():
    """Teacher forcing against free writing: given the right words it knows the next one; alone it repeats one word."""

    class Parrot(Answers):
        def forward(self, source, target_in):
            next_words = torch.cat([target_in[:, 1:], torch.full((len(source), 1), EOS_ID)], dim=1)
            return one_hot(next_words, VOCABULARY)

    parrot = Parrot(lambda source: source[:, :1].expand(-1, 7))
    forced, free = right_words(parrot, task="copy", length=6, count=40, seed=0)
    assert forced.shape == free.shape == (40, 7)
    assert forced.all()
    assert free[:, 0].all()
    assert not free[:, -1].any()
    assert 0 < free[:, 1:-1].float().mean() < 0.5


def test_measuring_gives_the_model_its_mode_back():
    model = Answers(right_answer).train()
    exact_match(model, task="reverse", length=3, seed=0)
    assert model.training
