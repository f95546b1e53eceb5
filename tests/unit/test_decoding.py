"""Chapter 13, held to a decoder that never remembers anything, to brute force, and to what it promises."""

import math
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from transformer_lib.decoding import (
    CachedTransformer,
    beam_hypotheses,
    beam_search,
    greedy_decode,
    length_penalty,
    sample_decode,
    sampling_probabilities,
)
from transformer_lib.seq2seq import EOS_ID as EOS
from transformer_lib.seq2seq import PAD_ID as PAD
from transformer_lib.seq2seq import SOS_ID as SOS
from transformer_lib.teaching.later_models import with_positions
from transformer_lib.transformer import Transformer, TransformerConfig

ONES = torch.full((2, 3), 3)


def tiny(seed=0, *, vocab=9, sharp=4.0, ending=0.0, kind=Transformer, **changes):
    """Return an untrained model that has opinions: `sharp` scales its logits, `ending` moves those of EOS."""
    torch.manual_seed(seed)
    sizes = {"d_model": 8, "num_layers": 2, "num_heads": 2, "d_ff": 12, "dropout": 0.1, **changes}
    model = kind(TransformerConfig(source_vocab_size=vocab, target_vocab_size=vocab, **sizes)).double()
    with torch.no_grad():
        model.output.weight *= sharp
    model.output.register_forward_hook(lambda _, given, logits: logits + ending * (torch.arange(vocab) == EOS))
    return model


def with_cache(model):
    """Return a `CachedTransformer` with the parameters, the ending and the modes of `model`."""
    cached = CachedTransformer(model.config).double()
    cached.load_state_dict(model.state_dict())
    cached.output._forward_hooks = model.output._forward_hooks
    return cached.train(model.training)


def sentences(seed, count, length, vocab=9):
    """Return words of mixed lengths, padded on the right; at least one word each."""
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(3, vocab, (count, length), generator=generator)
    lengths = torch.randint(1, length + 1, (count, 1), generator=generator)
    return words.masked_fill(torch.arange(length) >= lengths, PAD)


def recorded(model):
    """Let `model.decode` keep the logits of the last place of each call, and return the list."""
    kept, decode = [], model.decode

    def keeping(*args, **kwargs):
        logits = decode(*args, **kwargs)
        kept.append(logits[:, -1].clone())
        return logits

    model.decode = keeping
    return kept


def log_probabilities(model, source, tokens):
    """Return each token's log-probability by teacher forcing, for one sentence; padding and SOS are no words."""
    model.eval()
    target_in = torch.tensor([[SOS, *tokens[:-1]]])
    with torch.no_grad():
        logits = model(source, target_in)[0]
    logits[:, [PAD, SOS]] = -math.inf
    return logits.log_softmax(dim=-1)[range(len(tokens)), list(tokens)]


# Cached is uncached


@given(
    seed=st.integers(0, 10_000),
    count=st.integers(1, 4),
    length=st.integers(1, 6),
    max_len=st.integers(1, 9),
    pre_norm=st.booleans(),
    positions=st.sampled_from(["sinusoidal", "learned"]),
    ending=st.sampled_from([-2.0, 0.0, 2.0]),
)
@settings(max_examples=12)
def test_a_cache_changes_no_score_of_any_step(seed, count, length, max_len, pre_norm, positions, ending):
    """Greedy decoding and a beam, on sentences of mixed lengths."""
    model = tiny(seed, pre_norm=pre_norm, positions=positions, max_len=9, ending=ending)
    cached, source = with_cache(model), sentences(seed, count, length)
    steps, steps_cached = recorded(model), recorded(cached)
    assert greedy_decode(cached, source, max_len).equal(greedy_decode(model, source, max_len))
    ours, expected = (beam_hypotheses(one, source, max_len, beam_size=3) for one in (cached, model))
    assert [[h.tokens for h in found] for found in ours] == [[h.tokens for h in found] for found in expected]
    scores = [[h.score for found in every for h in found] for every in (ours, expected)]
    assert_close(*scores, rtol=1e-9, atol=0)
    assert len(steps_cached) == len(steps)
    assert_close(steps_cached, steps)


def test_the_cache_saves_the_work_that_it_is_there_for():
    model = tiny(ending=-100.0, max_len=16)
    source = sentences(0, 2, 5)
    for one, expected_words, times_crossed in ((model, [1, 2, 3, 4, 5, 6], 12), (with_cache(model), [1] * 6, 2)):
        read, crossed = [], []
        one.decoder.layers[0].feed_forward.register_forward_pre_hook(lambda _, given, read=read: read.append(given[0].size(1)))
        for layer in one.decoder.layers:
            layer.cross_attention.W_k.register_forward_pre_hook(lambda *_, crossed=crossed: crossed.append(1))
        greedy_decode(one, source, 6)
        assert read == expected_words
        assert len(crossed) == times_crossed, "the source is projected once in each of the two layers"


def test_two_texts_at_a_time_do_not_mix():
    """What is remembered stands in the state: two searches take turns on one model."""
    model = with_cache(tiny(max_len=9)).eval()
    words, sources = torch.tensor([[SOS, 3, 4, 5]]), [torch.tensor([[3, 4, 5]]), torch.tensor([[6, 7, 8]])]
    with torch.no_grad():
        states = [model.start(source) for source in sources]
        turns = [[model.decode(word, state) for state in states] for word in words.split(1, dim=1)]
        for source, steps in zip(sources, zip(*turns, strict=True), strict=True):
            assert_close(torch.cat(steps, dim=1), model(source, words))


@pytest.mark.parametrize("positions", ["rotary", "T5's bias"])
def test_a_cache_serves_an_attention_with_another_mix(positions):
    plain, cached = (with_positions(tiny(max_len=9, kind=kind), positions).eval() for kind in (Transformer, CachedTransformer))
    cached.load_state_dict(plain.state_dict())
    source = sentences(0, 3, 5)
    steps, steps_cached = recorded(plain), recorded(cached)
    assert greedy_decode(cached, source, 9).equal(greedy_decode(plain, source, 9))
    assert_close(steps_cached, steps)


# Where sentences end


@given(
    seed=st.integers(0, 10_000),
    max_len=st.integers(1, 8),
    beam_size=st.integers(1, 5),
    ending=st.sampled_from([-9.0, 0.0, 1.5]),
)
@settings(max_examples=12)
def test_finished_sentences_stay_finished(seed, max_len, beam_size, ending):
    model = tiny(seed, ending=ending, max_len=8)
    source = sentences(seed, 4, 5)
    written = [
        greedy_decode(model, source, max_len),
        sample_decode(model, source, max_len, generator=torch.Generator().manual_seed(seed)),
        beam_search(model, source, max_len, beam_size=beam_size),
    ]
    for batch in written:
        assert batch.dtype == torch.int64 and 1 <= batch.size(1) <= max_len
        for row in batch.tolist():
            words, end, rest = row, [], []
            if EOS in row:
                words, end, rest = row[: row.index(EOS)], [EOS], row[row.index(EOS) + 1 :]
            assert min(words, default=3) >= 3 and set(rest) <= {PAD}
            assert end or len(row) == max_len, "cut off only at max_len"
        longest = max(row.index(EOS) + 1 if EOS in row else len(row) for row in batch.tolist())
        assert batch.size(1) == longest, "the loop stops when the last sentence ends"


@pytest.mark.parametrize("decode", [greedy_decode, sample_decode, beam_search, partial(beam_search, beam_size=3, alpha=2.0)])
def test_a_long_neighbour_changes_nothing(decode):
    """Each sentence has its own limit; with top_k=1 a drawn word is no accident."""
    model, source = tiny(ending=-9.0, max_len=16).eval(), torch.tensor([[3, 4, PAD, PAD, PAD], [5, 6, 7, 8, 3]])
    decode = partial(decode, top_k=1) if decode is sample_decode else decode
    together = decode(model, source, torch.tensor([4, 12]))
    for row, limit in enumerate([4, 12]):
        alone = decode(model, source[row : row + 1][:, : 2 + 3 * row], limit)[0]
        assert together[row, :limit].equal(alone) and (together[row, limit:] == PAD).all()


@given(seed=st.integers(0, 10_000), max_len=st.integers(1, 7))
@settings(max_examples=10)
def test_the_beam_never_extends_a_finished_one(seed, max_len):
    model = tiny(seed, ending=1.0, max_len=8)
    source = sentences(seed, 3, 4)
    best = beam_search(model, source, max_len)  # by default a beam of 4, and α = 0.6
    for row, first, found in zip(source, best, beam_hypotheses(model, source, max_len, beam_size=4, alpha=0.6), strict=True):
        assert tuple(first[first != PAD].tolist()) == found[0].tokens
        assert 1 <= len(found) <= 4 and len({h.tokens for h in found}) == len(found)
        finished = [h.tokens[-1] == EOS for h in found]
        assert finished == sorted(finished, reverse=True), "what was cut off comes last"
        for group in (True, False):
            scores = [h.score for h, done in zip(found, finished, strict=True) if done is group]
            assert scores == sorted(scores, reverse=True)
        for h in found:
            assert EOS not in h.tokens[:-1] and len(h.tokens) <= max_len
            expected = log_probabilities(model, row[None], h.tokens).sum().item()
            assert_close(h.log_probability, expected, rtol=1e-9, atol=1e-9)
            assert_close(h.score, expected / ((5 + len(h.tokens)) / 6) ** 0.6, rtol=1e-9, atol=1e-9)


def patient_beam(model, source, max_len, beam_size, alpha):
    """Return tokens and scores of a beam search in lists, for one sentence, that never stops before `max_len`."""
    model.eval()
    live, complete = [((), 0.0)], []
    with torch.no_grad():
        for length in range(1, max_len + 1):
            candidates = []
            for tokens, total in live:
                logits = model(source, torch.tensor([[SOS, *tokens]]))[0, -1]
                logits[[PAD, SOS]] = -math.inf
                for word, step in enumerate(logits.log_softmax(dim=-1).tolist()):
                    candidates.append(((*tokens, word), total + step))
            best = sorted(candidates, key=lambda one: one[1], reverse=True)[:beam_size]
            complete += [(tokens, t / length_penalty(length, alpha)) for tokens, t in best if tokens[-1] == EOS]
            live = [one for one in best if one[0][-1] != EOS]
    return sorted(complete, key=lambda one: one[1], reverse=True)[:beam_size]


@given(
    seed=st.integers(0, 10_000),
    beam_size=st.integers(1, 5),
    alpha=st.sampled_from([0.0, 0.6, 1.0, 4.0]),
    ending=st.sampled_from([-1.0, 0.5, 2.0]),
    max_len=st.integers(1, 8),
)
@settings(max_examples=12)
def test_to_stop_early_loses_nothing(seed, beam_size, alpha, ending, max_len):
    model = tiny(seed, ending=ending, max_len=8)
    source = sentences(seed, 3, 4)
    for row, found in zip(source, beam_hypotheses(model, source, max_len, beam_size, alpha), strict=True):
        patient = patient_beam(model, row[None], max_len, beam_size, alpha)
        complete = [h for h in found if h.tokens[-1] == EOS]
        assert [h.tokens for h in complete] == [tokens for tokens, _ in patient]
        assert_close([h.score for h in complete], [score for _, score in patient], rtol=1e-9, atol=1e-9)
        cut_off = found[len(complete) :]
        assert all(len(h.tokens) == max_len for h in cut_off)


def test_the_search_does_stop_early():
    model = tiny(ending=3.0, max_len=64)
    steps = recorded(model)
    beam_hypotheses(model, sentences(0, 3, 4), 64, beam_size=2)
    assert len(steps) < 40


# One sentence does not know of the others


@pytest.mark.parametrize("decode", [greedy_decode, beam_search])
def test_a_sentence_is_written_the_same_alone_and_among_others(decode):
    model = tiny(3, ending=0.5, max_len=8)
    source = sentences(5, 6, 5)
    together = decode(model, source, 8)
    for row, written in zip(source, together, strict=True):
        alone = decode(model, row[row != PAD][None], 8)[0]
        assert written[: len(alone)].equal(alone) and not written[len(alone) :].any()


# Sampling


def test_sampling_by_hand():
    logits = torch.tensor([0.1, 0.4, 0.3, 0.2], dtype=torch.float64).log()
    chances = sampling_probabilities
    assert_close(chances(logits).tolist(), [0.1, 0.4, 0.3, 0.2])
    assert_close(chances(logits, top_k=2).tolist(), [0.0, 4 / 7, 3 / 7, 0.0])
    assert_close(chances(logits, top_p=0.7).tolist(), [0.0, 4 / 7, 3 / 7, 0.0])
    assert_close(chances(logits, top_p=0.71).tolist(), [0.0, 4 / 9, 3 / 9, 2 / 9])
    assert_close(chances(logits, top_p=1e-9).tolist(), [0.0, 1.0, 0.0, 0.0])
    # top_p counts what top_k has left: 4/7 alone reach one half.
    assert_close(chances(logits, top_k=2, top_p=0.5).tolist(), [0.0, 1.0, 0.0, 0.0])
    assert_close(chances(logits, temperature=0.5).tolist(), [1 / 30, 16 / 30, 9 / 30, 4 / 30])
    assert_close(chances(logits, top_k=9, top_p=1.0).tolist(), [0.1, 0.4, 0.3, 0.2])
    assert chances(torch.zeros(2), top_p=0.5).tolist() == [1.0, 0.0]  # one of two equal ones reaches one half


def test_draws_follow_the_probabilities():
    model = tiny(vocab=6, sharp=2.0, max_len=8)
    source = torch.tensor([[3, 4, 5]]).expand(20_000, -1)
    drawn = sample_decode(model, source, 1, temperature=1.5, generator=torch.Generator().manual_seed(0))[:, 0]
    shares = drawn.bincount(minlength=6) / len(drawn)
    model.eval()
    with torch.no_grad():
        logits = model(source[:1], torch.tensor([[SOS]]))[0, -1]
    logits[[PAD, SOS]] = -math.inf
    assert_close(shares.double(), (logits / 1.5).softmax(dim=-1), rtol=0, atol=0.02)


def test_sampling_repeats_with_its_generator_and_ends_in_greedy():
    model, source = tiny(1, max_len=8), sentences(1, 4, 5)

    def write(seed, **arguments):
        return sample_decode(model, source, 8, generator=torch.Generator().manual_seed(seed), **arguments)

    assert write(0).equal(write(0))
    assert len({tuple(write(seed).flatten().tolist()) for seed in range(5)}) > 1
    for arguments in ({"temperature": 1e-6}, {"top_k": 1}, {"top_p": 1e-9}):
        for seed in range(5):
            assert write(seed, **arguments).equal(greedy_decode(model, source, 8)), arguments


# The model is left as it was


@pytest.mark.parametrize("decode", [greedy_decode, sample_decode, beam_search, beam_hypotheses])
def test_dropout_is_off_while_writing_and_every_mode_is_put_back(decode):
    model, source = tiny(2, dropout=0.5, max_len=8), sentences(2, 3, 4)
    model.train()
    model.encoder.eval()
    modes = [part.training for part in model.modules()]
    seen = []
    model.decoder.register_forward_pre_hook(lambda part, _: seen.append(any(p.training for p in part.modules())))
    written = decode(model, source, 5)
    assert seen and not any(seen)
    assert [part.training for part in model.modules()] == modes
    assert not getattr(written, "requires_grad", False) and torch.is_grad_enabled()

    def fails(*_):
        raise RuntimeError("interrupted")

    model.decoder.register_forward_pre_hook(fails)
    with pytest.raises(RuntimeError, match="interrupted"):
        decode(model, source, 5)
    assert [part.training for part in model.modules()] == modes and torch.is_grad_enabled()


# Wrong input


@pytest.mark.usefixtures("as_a_user_calls_it")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: beam_search(tiny(), ONES, 5, beam_size=0), "beam_size must be at least 1, but it is 0"),
        (lambda: beam_search(tiny(), ONES, 5, alpha=-0.1), "alpha must be in 0 … 10, but it is -0.1"),
        (lambda: sample_decode(tiny(), ONES, 5, temperature=0.0), "temperature must be above 0, but it is 0.0"),
        (lambda: sampling_probabilities(torch.zeros(3), top_k=0), "top_k must be at least 1, but it is 0"),
        (lambda: sampling_probabilities(torch.zeros(3), top_p=1.1), "top_p must be above 0 and at most 1, but it is 1.1"),
    ],
)
def test_wrong_input_says_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()
