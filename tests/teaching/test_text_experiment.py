"""The bag of words, the missing mask, the training loop and the pretrained reader of chapter 3."""

import sys
from importlib.resources import files

import pytest
import torch
from torch.testing import assert_close

from transformer_lib.teaching import record
from transformer_lib.teaching.experiments.text import (
    BagOfWords,
    WithoutMask,
    accuracy,
    more_padding,
    pretrained_review_reader,
    review_reader_sets,
    train_classifier,
)
from transformer_lib.text import SentimentClassifier, bucket_batches, pad_batch, tokenize


def test_the_bag_adds_weights_and_sees_neither_order_nor_padding():
    bag = BagOfWords(5)
    with torch.no_grad():
        bag.weights.weight[:] = torch.tensor([[9.0], [1.0], [20.0], [300.0], [4000.0]])
        bag.bias[:] = 0.5
    logits = bag(torch.tensor([[1, 2, 2, 0], [2, 1, 2, 0], [3, 0, 0, 0], [0, 0, 0, 0]]))
    assert_close(logits, torch.tensor([41.5, 41.5, 300.5, 0.5]))
    assert BagOfWords(5)(torch.tensor([[1, 2]])).item() == 0


def test_without_its_mask_the_classifier_is_the_same_where_nothing_is_padded():
    torch.manual_seed(0)
    classifier = SentimentClassifier(9, d_model=4, hidden_size=4)
    bare = WithoutMask(classifier)
    full = pad_batch([[1, 2, 3], [4, 5, 6]])
    assert_close(bare(full), classifier(full))
    ((padded, _),) = more_padding([(full, torch.zeros(2))], columns=5)
    assert_close(padded, pad_batch([[1, 2, 3], [4, 5, 6]], length=8))
    assert (bare(padded) - bare(full)).abs().max() > 1e-3


def test_training_calls_for_new_batches_each_epoch_and_learns():
    tokens, labels = torch.tensor([[1, 0], [2, 0], [1, 1], [2, 2]]), torch.tensor([1.0, 0.0, 1.0, 0.0])
    calls = []

    def batches():
        calls.append(1)
        return [(tokens[:2], labels[:2]), (tokens[2:], labels[2:])]

    bag = BagOfWords(3)
    losses = train_classifier(bag, batches, epochs=30, learning_rate=0.1)
    assert len(calls) == 30 and len(losses) == 60
    assert losses[-1] < 0.5 < losses[0]
    assert accuracy(bag, batches()) == 1


def test_accuracy_counts_reviews_and_not_batches():
    bag = BagOfWords(3)
    with torch.no_grad():
        bag.weights.weight[1] = 1.0
    batches = [(torch.tensor([[1], [1], [1]]), torch.ones(3)), (torch.tensor([[1]]), torch.zeros(1))]
    assert accuracy(bag, batches) == pytest.approx(0.75)
    assert accuracy(bag, [(torch.tensor([[2]]), torch.zeros(1))]) == 1  # a logit of 0 says negative


def test_the_pretrained_reader_classifies_as_its_record_says():
    numbers, (vocabulary, *models) = record("review_reader")["numbers"], pretrained_review_reader()
    training, held_out = review_reader_sets()
    assert {kind: len(reviews) for kind, reviews in held_out.items()} == numbers["held out"]
    assert not {one.text for one in training} & {one.text for reviews in held_out.values() for one in reviews}
    assert set(vocabulary.words) == {word for one in training for word in tokenize(one.text)}
    for name, model in zip(("classifier", "bag"), models, strict=True):
        assert sum(weight.numel() for weight in model.parameters()) == numbers["parameters"][name]
        for kind, reviews in held_out.items():
            sequences = [vocabulary.encode(tokenize(one.text)) for one in reviews]
            batches = bucket_batches(sequences, [one.label for one in reviews], batch_size=256)
            assert accuracy(model, batches) == pytest.approx(numbers["accuracy"][name][kind], abs=0.002), (name, kind)


def test_training_never_touched_the_vectors_of_its_buckets():
    made, reader = record("review_reader"), pretrained_review_reader()
    torch.manual_seed(made["seeds"][0])
    sizes = {name: made["settings"][name] for name in ("d_model", "hidden_size", "num_layers")}
    start = SentimentClassifier(len(reader.vocabulary), **sizes).embedding.weight
    moved = (reader.classifier.embedding.weight - start).abs().amax(dim=1) > 1e-3  # half precision moves each a little
    assert moved.nonzero().flatten().tolist() == list(range(1, 1 + len(reader.vocabulary.words)))
    assert reader.bag.weights.weight[~moved].eq(0).all()


def test_the_pretrained_reader_is_small_and_a_damaged_file_is_refused(tmp_path, monkeypatch):
    path = files("transformer_lib") / "pretrained" / "review_reader.pt"
    assert path.stat().st_size < 40_000
    (tmp_path / "pretrained").mkdir()
    (tmp_path / "pretrained" / "review_reader.pt").write_bytes(path.read_bytes()[:-1])
    monkeypatch.setattr(sys.modules[pretrained_review_reader.__module__], "files", lambda package: tmp_path)
    with pytest.raises(ValueError, match="review_reader.pt is damaged: its SHA-256 must be "):
        pretrained_review_reader()
