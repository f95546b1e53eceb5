"""Chapter 03: preprocessing, vocabulary, batches, readers and the classifier."""

import itertools
import re
import unicodedata
from collections import Counter

import pytest
import torch
from helpers import assert_equal_with_gradients
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import pad

from transformer_lib.seq2seq import PAD_ID
from transformer_lib.teaching.corpora.reviews import synthetic_reviews
from transformer_lib.teaching.exercises.text import review_classifier, text_to_batch
from transformer_lib.teaching.experiments.text import encode_reviews
from transformer_lib.text import (
    Review,
    SentimentClassifier,
    Vocabulary,
    bucket_batches,
    normalise,
    pad_batch,
    tokenize,
)

batches_of_ids = st.lists(st.lists(st.integers(1, 29), max_size=9), min_size=1, max_size=6)


# Preprocessing


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Good, isn't it?", "good isn't it"),
        ("one<br />two<br>three<BR/>four<br   />five", "one two three four five"),
        ("정말 재미있어요! 10점", "정말 재미있어요 점"),
        ("ㅋㅋㅋ ㅠㅠ", "ㅋㅋㅋ ㅠㅠ"),
        ("Très DRÔLE…", "très drôle"),
        ("Отличный фильм", "отличный фильм"),
        ("हिन्दी", "हिन्दी"),
        ("it’s", "it's"),
        ("snake_case 10/10 \t\n\u00a0 x²", "snake case x"),
        ("<branch>", "branch"),
        ("", ""),
        ("!!! 10/10", ""),
    ],
)
def test_normalise(text, expected):
    assert normalise(text) == expected


def test_normalise_composes_hangul():
    assert normalise(unicodedata.normalize("NFD", "한국 영화")) == "한국 영화"


def test_tokenize_drops_quotation_marks_and_keeps_apostrophes():
    assert tokenize("'No', I can't 'say' '' it's") == ["no", "i", "can't", "say", "it's"]


# Vocabulary


def test_ids_by_hand():
    vocabulary = Vocabulary(["not", "good", "good", "good", "film", "a", "film"], oov_buckets=1000)
    assert vocabulary.words == ["good", "film", "not", "a"]
    assert vocabulary.encode(["good", "film", "not", "a"]) == [1, 2, 3, 4]
    assert vocabulary.encode(["splendid"]) == [5 + 4021696590 % 1000]  # its CRC-32, in every process
    assert vocabulary.decode([0, 1, 4, 5, 6]) == ["<pad>", "good", "a", "<oov 0>", "<oov 1>"]
    assert len(vocabulary) == 1005
    assert Vocabulary(["not", "good", "good", "film", "film"], max_size=2).words == ["good", "film"]


def test_no_word_of_the_validation_data_gets_an_id():
    """Through the one function that turns two sets of reviews into ids: `encode_reviews`."""
    training = [Review("the film was good", 1), Review("the film was dull", 0)]
    validation = [Review("the music was delightful", 1)]
    vocabulary, train_set, validation_set = encode_reviews(training, validation)
    assert vocabulary.words == ["the", "film", "was", "good", "dull"]
    known = [i <= len(vocabulary.words) for i in validation_set[0][0]]
    assert known == [True, False, True, False]
    assert train_set == ([[1, 2, 3, 4], [1, 2, 3, 5]], [1, 0])


# Batches


@given(sequences=batches_of_ids, extra=st.integers(0, 5))
def test_pad_batch_fills_up_at_the_end(sequences, extra):
    width = max(1, *map(len, sequences)) + extra
    batch = pad_batch(sequences, length=width if extra else None)
    assert batch.shape == (len(sequences), width) and batch.dtype is torch.int64
    for row, ids in zip(batch.tolist(), sequences, strict=True):
        assert row == ids + [0] * (width - len(ids))
    assert PAD_ID == 0


@given(sequences=batches_of_ids, size=st.integers(1, 4), seed=st.none() | st.integers(0, 9))
def test_bucket_batches_hold_each_review_once_with_its_label(sequences, size, seed):
    labels = [sum(ids) % 2 for ids in sequences]
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    batches = bucket_batches(sequences, labels, batch_size=size, generator=generator)
    found = [
        ([i for i in row if i], int(label))
        for tokens, batch_labels in batches
        for row, label in zip(tokens.tolist(), batch_labels.tolist(), strict=True)
    ]
    assert sorted(found) == sorted(zip(sequences, labels, strict=True))
    spans = sorted((int(lengths.min()), int(lengths.max())) for lengths in ((t != 0).sum(1) for t, _ in batches))
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans)), "lengths are mixed"


def test_bucket_batches_shuffle_with_a_generator_and_not_without():
    sequences = [[n] for n in range(1, 101)]
    fixed = bucket_batches(sequences, [0] * 100, batch_size=10)
    assert torch.cat([t for t, _ in fixed]).flatten().tolist() == list(range(1, 101))
    generator = torch.Generator().manual_seed(0)
    drawn = [bucket_batches(sequences, [0] * 100, batch_size=10, generator=generator) for _ in range(2)]
    together = [{frozenset(t.flatten().tolist()) for t, _ in batches} for batches in drawn]
    assert together[0] != together[1], "of equal lengths, others share a batch"
    longer = bucket_batches([[1] * n for n in range(1, 41)], [0] * 40, batch_size=4, generator=generator)
    widths = [tokens.size(1) for tokens, _ in longer]
    assert widths != sorted(widths) == list(range(4, 41, 4))


# The classifier


def reference(model, tokens):
    """Each review alone through torch's GRU, without any padding."""
    logits = []
    for row in tokens:
        ids = row[row != 0]
        state = torch.zeros(model.gru.hidden_size).double()
        if len(ids):
            state = model.gru(model.embedding(ids).unsqueeze(0))[0][0, -1]
        logits.append(model.output(state))
    return torch.cat(logits)


@settings(max_examples=25)
@given(sequences=batches_of_ids, layers=st.integers(1, 3), extra=st.integers(0, 50), seed=st.integers(0, 9))
def test_classifier_equals_torch_on_each_review_and_padding_moves_nothing(sequences, layers, extra, seed):
    torch.manual_seed(seed)
    model = SentimentClassifier(30, d_model=5, hidden_size=4, num_layers=layers).double()
    tokens, weights = pad_batch([*sequences, [7]]), [*model.parameters()]
    assert_equal_with_gradients(model(tokens), reference(model, tokens), weights)
    assert_equal_with_gradients(model(pad(tokens, (0, extra))), model(tokens), weights)


# Generated reviews


def test_synthetic_reviews_are_twins():
    verdicts = {}
    for text, label in synthetic_reviews(2000, seed=4):
        verdicts.setdefault(frozenset(Counter(tokenize(text)).items()), []).append(label)
    assert all(2 * sum(labels) == len(labels) for labels in verdicts.values()), "a bag of words could tell"


@pytest.mark.parametrize(
    ("seed", "text", "label"),
    [
        (1, "The cast was stupid, but I cannot say that the script was not charming.", 1),
        (8, "Although the ending was exciting, nobody can say that the acting was not boring.", 0),
        (9, "The music was not clever at all, although the cast is really brilliant.", 0),
        (15, "The ending was good, not bad.", 1),
    ],
)
def test_labels_mean_what_the_reviews_say(seed, text, label):
    assert Review(text, label) in synthetic_reviews(2, seed=seed)


# Wrong input

MODEL = SentimentClassifier(10, d_model=4, hidden_size=4)
WRONG_CALLS = {
    "a text, not words": (lambda: Vocabulary(["the"]).encode("a film"), "tokens must be a list, not a text: 'a film'"),
    "too long": (lambda: pad_batch([[1, 2, 3]], length=2), "length must be at least 3, but it is 2"),
    "labels missing": (lambda: bucket_batches([[1], [2]], [0]), "sequences and labels must be equally many.* 2 and 1"),
    "padding in front": (lambda: MODEL(torch.tensor([[0, 1]])), "must come after the words, but in row 0 of tokens"),
}


@pytest.mark.parametrize(("call", "message"), WRONG_CALLS.values(), ids=WRONG_CALLS.keys())
def test_wrong_input_says_what_was_expected(call, message, as_a_user_calls_it):
    with pytest.raises(ValueError, match=message):
        call()


# The exercises


def reader_of(last, **parts):
    """Return a class for `review_classifier` that takes the state `last(outputs, lengths)` of each row."""

    class Reader(nn.Module):
        def __init__(self, vocab_size, d_model, hidden_size):
            super().__init__()
            self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=0)
            self.gru = parts.get("gru") or nn.GRU(d_model, hidden_size, batch_first=True)
            self.output = parts.get("output") or nn.Linear(hidden_size, 1)

        def forward(self, tokens):
            lengths = (tokens != 0).sum(dim=1)
            return self.output(last(self.gru(self.embedding(tokens))[0], lengths)).squeeze(1)

    return Reader


def rows_of_ids(first=1, clean=lambda text: normalise(text).split(), left=False):
    def answer(training, texts):
        counts = Counter(word for text in training for word in clean(text))
        ids = {word: i for i, (word, _) in enumerate(counts.most_common(), start=first)}
        rows = [[ids.get(word, len(ids) + first) for word in clean(text)] for text in texts]
        empty = [[0] * (max(map(len, rows)) - len(row)) for row in rows]
        return [zeros + row if left else row + zeros for row, zeros in zip(rows, empty, strict=True)]

    return answer


ANSWERS = [
    (review_classifier, reader_of(lambda outputs, lengths: outputs[torch.arange(len(outputs)), lengths - 1]), "✓"),
    (review_classifier, reader_of(lambda outputs, lengths: outputs[:, -1]), "reads the padding too"),
    (review_classifier, reader_of(None, gru=nn.GRU(6, 5)), "batch_first=True"),
    (review_classifier, reader_of(None, output=nn.Linear(6, 1)), r"nn.Linear\(5, 1\)"),
    (text_to_batch, rows_of_ids(), "✓"),
    (text_to_batch, rows_of_ids(first=0), "begin with 1"),
    (text_to_batch, rows_of_ids(clean=str.split), "split at spaces and nothing else"),
    (text_to_batch, rows_of_ids(left=True), "after the words"),
]


@pytest.mark.parametrize(("exercise", "answer", "words"), ANSWERS)
def test_the_judge_says_what_is_wrong(capsys, exercise, answer, words):
    exercise(answer)
    line = capsys.readouterr().out
    assert line.startswith("✓" if words == "✓" else "✗") and re.search(words, line), line
