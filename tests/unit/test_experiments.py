"""The experiments of the chapters, in short: what each makes, trains or counts is what its name says."""

import itertools
import math
import random

import pytest
import torch
from torch import nn
from torch.nn.functional import layer_norm
from torch.testing import assert_close

from transformer_lib.alignment import AttentionSeq2Seq
from transformer_lib.attention import MultiHeadAttention
from transformer_lib.decoding import CachedTransformer, attend, keys_and_values
from transformer_lib.encoder import EncoderLayer, TransformerConfig
from transformer_lib.seq2seq import EOS_ID, SOS_ID
from transformer_lib.teaching import record
from transformer_lib.teaching.corpora.stories import is_a_story, stories
from transformer_lib.teaching.experiments import alignment, encoder, interpretation, recurrent, sequence_tasks, text
from transformer_lib.teaching.experiments import positional_encoding as positions
from transformer_lib.teaching.experiments import transformer as pieces
from transformer_lib.teaching.experiments import translation as kinds
from transformer_lib.text import SentimentClassifier, bucket_batches, pad_batch, tokenize
from transformer_lib.translation import pretrained_translator


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


# Chapters 1 and 4: copying and reversing


@pytest.mark.parametrize(("task", "order"), [("copy", 1), ("reverse", -1)])
def test_the_answer_is_the_source_in_some_order(task, order):
    source, target_in, target_out = sequence_tasks.task_batch(task, count=50, length=7, generator=generator())
    for sentence, given, expected in zip(source.tolist(), target_in.tolist(), target_out.tolist()):
        assert given == [SOS_ID, *sentence[::order]] and expected == [*sentence[::order], EOS_ID]


@pytest.mark.parametrize(("wrong", "expected"), [(0, 1.0), (1, 0.5)])
def test_an_answer_counts_as_a_whole(monkeypatch, wrong, expected):
    """With a mistake in one word of every second answer, half of them are right."""

    def write(model, source, max_len):
        answer = nn.functional.pad(source.flip(1), (0, 1), value=EOS_ID)
        answer[::2, 0] += wrong
        return answer

    monkeypatch.setattr(sequence_tasks, "greedy_decode", write)
    assert sequence_tasks.exact_match(nn.Identity(), task="reverse", length=5, seed=0) == expected


# Chapter 2: remembering


def test_a_gate_is_opened_alone():
    cell = nn.GRUCell(3, 4)
    before = cell.bias_ih.detach().clone()
    recurrent.open_gate(cell, block=1, bias=3.0)
    assert (cell.bias_ih[4:8] == 3).all() and cell.bias_ih[:4].equal(before[:4]) and cell.bias_ih[8:].equal(before[8:])


@pytest.mark.parametrize("value", [0, 1])
def test_a_frozen_gate_stays_frozen(value):
    torch.manual_seed(0)
    cell = recurrent.freeze_gate(nn.GRUCell(3, 4), block=1, value=value)
    before = cell.weight_ih.detach().clone()
    optimizer = torch.optim.Adam(cell.parameters(), lr=0.1)
    cell(torch.randn(5, 3), torch.randn(5, 4)).square().sum().backward()
    optimizer.step()
    assert cell.weight_ih[4:8].equal(before[4:8])
    assert cell.weight_ih[8:].equal(before[8:]) == bool(value)  # with a gate of 1 the proposal has no say, and learns nothing


def test_the_watched_forget_gate_is_torchs():
    layer = nn.LSTM(len(recurrent.WORDS), 4, batch_first=True)
    words, subjects = recurrent.stories(3, 30, random.Random(0))
    h, _, f = recurrent.forget_gates(layer, words)
    assert torch.allclose(h, layer(nn.functional.one_hot(words, len(recurrent.WORDS)).float())[0], atol=1e-6)
    assert words.shape == subjects.shape == f.shape[:2] and (subjects < len(recurrent.ANIMALS)).all()


# Chapter 3: reviews


def test_without_its_mask_the_classifier_reads_padding():
    torch.manual_seed(0)
    classifier = SentimentClassifier(9, d_model=4, hidden_size=4)
    bare, full = text.WithoutMask(classifier), pad_batch([[1, 2, 3], [4, 5, 6]])
    assert_close(bare(full), classifier(full))
    ((padded, _),) = text.more_padding([(full, torch.zeros(2))], columns=5)
    assert (bare(padded) - bare(full)).abs().max() > 1e-3
    assert_close(classifier(padded), classifier(full))


def test_the_pretrained_reader_classifies_as_its_record_says():
    numbers, (vocabulary, *models) = record("review_reader")["numbers"], text.pretrained_review_reader()
    training, held_out = text.review_reader_sets()
    assert not {one.text for one in training} & {one.text for reviews in held_out.values() for one in reviews}
    for name, model in zip(("classifier", "bag"), models):
        for kind, reviews in held_out.items():
            sequences = [vocabulary.encode(tokenize(one.text)) for one in reviews]
            batches = bucket_batches(sequences, [one.label for one in reviews], batch_size=256)
            assert text.accuracy(model, batches) == pytest.approx(numbers["accuracy"][name][kind], abs=0.002), (name, kind)


# Chapter 4: a small translator


def test_short_sentences_are_new_and_a_hidden_row_gets_no_weight():
    sentences = alignment.short_sentences()
    assert not {english for english, _ in sentences.train} & {english for english, _ in sentences.new}
    torch.manual_seed(0)
    model = AttentionSeq2Seq(*sentences.sizes, d_model=8, hidden_size=8)
    losses = alignment.train_translator(model, sentences, seed=0, steps=12)
    assert losses[-1] < losses[0]
    words, weights = alignment.translate(model, sentences, "the white cow is tired", hidden="white")
    assert weights.shape == (len(words), 5) and weights[:, 1].eq(0).all() and weights[:, 2].gt(0).all()


# Chapter 5: positions


def test_the_controls_are_as_large_as_the_hands_and_only_hands_are_turned_by_one_matrix():
    torch.manual_seed(0)
    for rows, turned in ((positions.random_rows(), False), (positions.smooth_rows(), False), (positions.fast_hands(), True)):
        assert rows.shape == (128, 32) and positions.typical_size(rows) == pytest.approx(0.5**0.5, abs=0.05)
        before, after = rows[:-1].double(), rows[1:].double()
        missed = (before @ torch.linalg.lstsq(before, after).solution - after).norm() / after.norm()
        assert (missed < 1e-3) == turned


# Chapter 7: a layer whose parts can be switched off


def test_each_switch_is_the_part_it_names():
    torch.manual_seed(0)
    x, layer = torch.randn(2, 5, encoder.D_MODEL), encoder.AblatedLayer()
    attended = layer.attention(x, x, x)
    assert_close(layer(x), attended)
    layer.add = True
    assert_close(layer(x), x + attended)
    ours = encoder.AblatedLayer(**encoder.VARIANTS["full layer"])
    sizes = {"d_model": encoder.D_MODEL, "num_heads": encoder.NUM_HEADS, "d_ff": encoder.D_FF}
    whole = EncoderLayer(TransformerConfig(**sizes, dropout=0.0))
    whole.attention.load_state_dict(ours.attention.state_dict())
    whole.feed_forward.load_state_dict(ours.feed_forward.state_dict())
    assert_close(whole(x), ours(x))


def test_the_floor_where_all_tokens_are_alike(monkeypatch):
    monkeypatch.setattr(encoder, "TOKENS", 2)
    monkeypatch.setattr(encoder, "PLACES", 3)
    shares = [s.count(token) / 3 for s in itertools.product(range(2), repeat=3) for token in set(s)]
    assert encoder.floor_when_alike() == pytest.approx(-sum(share * math.log(share) for share in shares) / 8)


# Chapter 10: one piece less


@pytest.mark.parametrize("piece", pieces.PIECES)
def test_each_piece_is_missed_and_the_rest_starts_alike(piece):
    source, target = torch.tensor([[5, 12, 12, 3], [4, 6, 7, 8]]), torch.tensor([[1, 5, 12], [1, 4, 6]])
    whole, lacking = pieces.small(0), pieces.without(piece, 0)
    assert (lacking(source, target) - whole(source, target)).abs().max() > 1e-3
    assert_close(lacking.source_embedding.weight, whole.source_embedding.weight)
    if piece == "cross-attention":
        assert_close(lacking(source.flip(0), target), lacking(source, target))
    if piece == "positions":
        assert_close(lacking(source.flip(1), target), lacking(source, target))


def test_the_frame_without_its_plus_or_its_norm():
    x = torch.randn(1, 4, 32)
    frames = (pieces.without(piece, 0).encoder.layers[0].attention_add_norm for piece in ("plus", "norm"))
    for frame, expected in zip(frames, (layer_norm(2 * x, (32,)), 3 * x)):
        assert_close(frame(x, lambda x: 2 * x), expected)


# Chapters 14 and 15: three kinds of translators, heads, exchanged words


@pytest.mark.parametrize("shared", [True, False])
def test_three_kinds_of_one_size(shared):
    sizes = [kinds.parameters(kinds.make_model(kind, kinds.SETTINGS["vocabulary"], shared)) for kind in kinds.KINDS]
    assert len(sizes) == 3 and max(sizes) < 1.1 * min(sizes)


def test_without_a_head_the_others_work_on_and_it_comes_back():
    torch.manual_seed(0)
    attention, x = MultiHeadAttention(8, 2), torch.randn(1, 3, 8)
    before = attention(x, x, x)
    k, v = keys_and_values(attention, x)
    wanted = attend(attention, x, (k, torch.stack([v[:, 0], torch.zeros_like(v[:, 1])], dim=1)), None)
    with kinds.without_head(attention, 1):
        assert_close(attention(x, x, x), wanted)
    assert attention(x, x, x).equal(before)


def test_narrow_keys_change_the_scores_alone():
    torch.manual_seed(0)
    config = kinds.transformer_config(30)
    model = kinds.narrow_keys(CachedTransformer(config), d_k=6).eval()
    assert kinds.parameters(CachedTransformer(config)) - kinds.parameters(model) == 6 * 2 * (96 + 1) * (96 - 4 * 6)
    source, words = torch.randint(3, 30, (2, 5)), torch.randint(3, 30, (2, 4))
    state = model.start(source)
    steps = torch.cat([model.decode(word, state) for word in words.split(1, dim=1)], dim=1)
    assert_close(steps, model(source, words), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("frame", interpretation.FRAMES)
def test_the_two_texts_of_a_pair_differ_in_the_noun_alone(frame):
    tokens = pretrained_translator().tokenizer.tokens
    found = interpretation.pairs(frame)
    assert len(found) == len(set(found)) == 164
    for pair in found:
        one, other = tokens(pair.text), tokens(pair.other)
        assert [place for place in range(len(one)) if one[place] != other[place]] == [pair.places[1]]
        assert pair.own_form != pair.other_form


# Chapter 13: stories, and who can tell that one is strange


def test_the_grammar_knows_its_own_stories_and_no_others():
    told = [rest for _, rest in stories(300, seed=1)]
    assert len(set(told)) > 200 and all(map(is_a_story, told))
    assert not any(is_a_story(rest.replace("found a", "found")) for rest in told if "found a" in rest)
    assert not is_a_story("and then it met a song .") and not is_a_story("and then it sang a song")
