"""Chapter 4's translator: its sentences, its training, and the row that can be hidden."""

import torch
from torch.testing import assert_close

from transformer_lib.alignment import AttentionSeq2Seq
from transformer_lib.seq2seq import EOS_ID, SOS_ID, greedy_decode
from transformer_lib.teaching.experiments.alignment import (
    short_sentences,
    train_translator,
    translate,
    translates_rightly,
)


def a_model(sentences):
    torch.manual_seed(0)
    return AttentionSeq2Seq(*sentences.sizes, d_model=8, hidden_size=8)


def test_the_new_sentences_are_new_and_all_are_short_and_known():
    sentences = short_sentences()
    assert not {english for english, _ in sentences.train} & {english for english, _ in sentences.new}
    for english, french in sentences.train + sentences.new:
        assert "'" not in french and max(len(english.split()), len(french.split())) <= 7
        assert set(english.split()) <= set(sentences.english) and set(french.split()) <= set(sentences.french)
    for vocabulary, size in zip((sentences.english, sentences.french), sentences.sizes, strict=True):
        assert sorted(vocabulary.values()) == list(range(3, size))


def test_a_short_training_learns_and_the_seed_decides():
    sentences = short_sentences()
    losses = [train_translator(a_model(sentences), sentences, seed=seed, steps=12) for seed in (0, 0, 1)]
    assert losses[0] == losses[1] != losses[2]
    assert losses[0][-1] < losses[0][0]


def test_a_translation_is_what_greedy_decoding_writes_and_its_weights_sum_to_one():
    sentences = short_sentences()
    model = a_model(sentences)
    english = sentences.new[0][0]
    words, weights = translate(model, sentences, english)
    source = torch.tensor([[sentences.english[word] for word in english.split()]])
    names = {number: word for word, number in sentences.french.items()} | {SOS_ID: "<sos>", EOS_ID: "<eos>", 0: "<pad>"}
    assert words == [names[number] for number in greedy_decode(model, source, max_len=10)[0].tolist()]
    assert weights.shape == (len(words), source.size(1))
    assert_close(weights.sum(dim=1), torch.ones(len(words)))
    assert not translates_rightly(model, sentences, sentences.new[0])


def test_a_hidden_row_gets_no_weight():
    sentences = short_sentences()
    model = a_model(sentences)
    _, weights = translate(model, sentences, "this white owl is small", hidden="white")
    assert weights[:, 1].eq(0).all() and weights[:, 2].gt(0).all()
    assert model.training
