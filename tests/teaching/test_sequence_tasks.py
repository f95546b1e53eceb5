"""The tasks are what they say, and the loop trains and measures a model on them."""

import pytest
import torch
from torch import nn
from torch.nn.functional import one_hot

from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID
from transformer_lib.teaching.experiments.sequence_tasks import (
    VOCABULARY,
    best_words,
    exact_match,
    right_words,
    task_batch,
    train_on_task,
)


@pytest.mark.parametrize(("task", "order"), [("copy", 1), ("reverse", -1)])
def test_the_answer_is_the_source_in_the_order_of_the_task(task, order):
    source, target_in, target_out = task_batch(task, count=50, length=7, generator=torch.Generator().manual_seed(0))
    assert source.min() == 3
    assert source.max() == VOCABULARY - 1
    for sentence, given, expected in zip(source.tolist(), target_in.tolist(), target_out.tolist(), strict=True):
        assert given == [SOS_ID, *sentence[::order]]
        assert expected == [*sentence[::order], EOS_ID]


def test_the_same_generator_gives_the_same_sentences_and_then_other_ones():
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


def test_with_a_warm_up_the_rate_climbs_and_then_falls_to_almost_nothing(monkeypatch):
    rates = []
    step = torch.optim.Adam.step

    def remember(self, *arguments):
        rates.append(self.param_groups[0]["lr"])
        return step(self, *arguments)

    monkeypatch.setattr(torch.optim.Adam, "step", remember)
    train_on_task(NextSymbol(), task="copy", seed=0, steps=12, longest=2, learning_rate=0.1, warm_up=4)
    assert rates[:4] == pytest.approx([0.025, 0.05, 0.075, 0.1])
    assert rates[4:] == pytest.approx([0.1 * left / 8 for left in range(8, 0, -1)])
    rates.clear()
    train_on_task(NextSymbol(), task="copy", seed=0, steps=3, longest=2, learning_rate=0.1)
    assert rates == [0.1, 0.1, 0.1]


class Answers(nn.Module):
    """Decodes with a function of the source."""

    def __init__(self, generate):
        super().__init__()
        self.generate = generate


def right_answer(source, max_len):
    return nn.functional.pad(source.flip(1), (0, 1), value=EOS_ID)


def one_wrong_word_in_half_of_the_answers(source, max_len):
    answers = right_answer(source, max_len)
    answers[::2, 1] = SOS_ID
    return answers


def never_stops(source, max_len):
    answers = right_answer(source, max_len)
    answers[:, -1] = 5
    return answers


def stops_early(source, max_len):
    return right_answer(source, max_len)[:, :-2]


@pytest.mark.parametrize(
    ("generate", "expected"),
    [(right_answer, 1.0), (one_wrong_word_in_half_of_the_answers, 0.5), (never_stops, 0.0), (stops_early, 0.0)],
)
def test_an_answer_counts_only_as_a_whole_with_its_eos(generate, expected):
    assert exact_match(Answers(generate), task="reverse", length=5, seed=0) == expected


def test_measuring_uses_other_sentences_for_another_seed():
    seen = []

    def remember(source, max_len):
        seen.append(source)
        assert max_len == 6
        return one_hot(source).argmax(-1)

    for seed in (0, 1, 1):
        exact_match(Answers(remember), task="copy", length=5, count=3, seed=seed)
    assert not seen[0].equal(seen[1])
    assert seen[1].equal(seen[2])
    assert PAD_ID not in seen[0]


def test_right_words_tells_teacher_forcing_from_free_writing():
    class Parrot(nn.Module):
        """Given the right words it knows the next one; left alone it writes the same word again and again."""

        def forward(self, source, target_in):
            next_words = torch.cat([target_in[:, 1:], torch.full((len(source), 1), EOS_ID)], dim=1)
            return one_hot(next_words, VOCABULARY)

        def generate(self, source, max_len):
            return source[:, :1].expand(-1, max_len)

    forced, free = right_words(Parrot(), task="copy", length=6, count=40, seed=0)
    assert forced.shape == free.shape == (40, 7)
    assert forced.all()
    assert free[:, 0].all()
    assert not free[:, -1].any()
    assert 0 < free[:, 1:-1].float().mean() < 0.5


class Copies(nn.Module):
    """Has no `generate`: `decode` knows the next word of the source from the number of words so far."""

    def __init__(self):
        super().__init__()
        self.encoded = 0

    def encode(self, source):
        self.encoded += 1
        return nn.functional.pad(source, (0, 1), value=EOS_ID)

    def decode(self, target_in, memory, source):
        assert target_in[:, 0].tolist() == [SOS_ID] * len(source)
        assert target_in[:, 1:].equal(memory[:, : target_in.size(1) - 1])
        return one_hot(memory[:, : target_in.size(1)], VOCABULARY).float()


def test_a_model_without_generate_reads_its_own_words_and_is_encoded_once():
    model = Copies()
    source = torch.tensor([[3, 4, 5], [6, 7, 8]])
    assert best_words(model, source, 4).tolist() == [[3, 4, 5, EOS_ID], [6, 7, 8, EOS_ID]]
    assert model.encoded == 1
    assert exact_match(model, task="copy", length=5, seed=0) == 1.0
    assert exact_match(model, task="reverse", length=5, count=20, seed=0) < 0.5
