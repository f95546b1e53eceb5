"""Chapter 14's experiments: three kinds on equal terms, averages of checkpoints, one head less, runs that are kept."""

import json
from functools import partial

import pytest
import torch

from benchmarks.runs import finish
from transformer_lib.attention import MultiHeadAttention
from transformer_lib.decoding import CachedTransformer
from transformer_lib.teaching import record
from transformer_lib.teaching.corpora.english_french import grammar_corpus
from transformer_lib.teaching.experiments import translation as experiment
from transformer_lib.teaching.experiments.translation import KINDS, RATES, SETTINGS, parameters
from transformer_lib.training import History, evaluate, token_batches
from transformer_lib.translation import BytePairTokenizer, Translator, encode_pairs


@pytest.fixture(scope="module")
def corpus():
    return grammar_corpus(600, seed=3, test_count=50)


@pytest.fixture(scope="module")
def tokenizer(corpus):
    return BytePairTokenizer.train((text for pair in corpus.train for text in pair), vocab_size=300)


@pytest.mark.parametrize("shared", [True, False])
def test_three_kinds_of_one_size(shared):
    sizes = [parameters(experiment.make_model(kind, SETTINGS["vocabulary"], shared)) for kind in KINDS]
    assert len(sizes) == 3
    assert max(sizes) < 1.1 * min(sizes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shared", [True, False])
def test_all_kinds_share_their_words_and_drop_out_alike(kind, shared):
    torch.manual_seed(0)
    model = experiment.make_model(kind, 30, shared)
    words = [parameter for parameter in model.parameters() if 30 in parameter.shape and parameter.ndim == 2]
    assert len(words) == (1 if shared else 3)
    assert words[0].std().item() == pytest.approx(SETTINGS["d_model"] ** -0.5, rel=0.1)
    source, target_in = torch.full((1, 4), 7), torch.full((1, 3), 8)
    model.train()
    assert not model(source, target_in).equal(model(source, target_in))
    model.eval()
    assert model(source, target_in).equal(model(source, target_in))


def test_three_kinds_see_the_same_batches(corpus, tokenizer, monkeypatch):
    seen = {}

    def watch(model, batches, **settings):
        seen[type(model).__name__] = (torch.cat([batch.source.flatten() for batch in batches(0)]), settings["steps"])
        return History()

    monkeypatch.setattr(experiment, "train", watch)
    for kind in KINDS:
        model = experiment.make_model(kind, len(tokenizer))
        experiment.train_translator(model, corpus, tokenizer, rate=1.0, seed=1)
    assert set(seen) == {"Seq2Seq", "AttentionSeq2Seq", "CachedTransformer"}
    first, *others = seen.values()
    for batches, steps in others:
        assert torch.equal(batches, first[0]) and steps == first[1] == SETTINGS["steps"]


def tiny_model(tokenizer):
    torch.manual_seed(0)
    return CachedTransformer(experiment.transformer_config(len(tokenizer), d_model=16, num_heads=2, d_ff=16, num_layers=1))


def test_without_warmup_the_schedule_starts_at_its_peak(corpus, tokenizer):
    _, rising = experiment.train_translator(tiny_model(tokenizer), corpus, tokenizer, rate=1.0, seed=0, steps=3)
    _, falling = experiment.train_translator(tiny_model(tokenizer), corpus, tokenizer, rate=1.0, seed=0, steps=3, warmup=False)
    peak = (SETTINGS["d_model"] * SETTINGS["warmup"]) ** -0.5
    assert rising.learning_rates[0] == pytest.approx(peak / SETTINGS["warmup"])
    assert falling.learning_rates[0] == pytest.approx(peak) and falling.learning_rates[2] < peak


def test_averages_are_of_the_last_checkpoints_of_one_run(corpus, tokenizer, monkeypatch):
    monkeypatch.setitem(SETTINGS, "steps", 6)
    model = tiny_model(tokenizer)
    found = experiment.trained_and_averaged(model, corpus, tokenizer, rate=1.0, seed=0, last=(2,), every=2)
    one_run, weights = tiny_model(tokenizer), []
    for steps in (4, 6):
        one_run = tiny_model(tokenizer)
        experiment.train_translator(one_run, corpus, tokenizer, rate=1.0, seed=0, steps=steps)
        weights.append(one_run.state_dict())
    last, mean = found[1].model.state_dict(), found[2].model.state_dict()
    for name in last:
        assert last[name].equal(weights[1][name])
        torch.testing.assert_close(mean[name], (weights[0][name] + weights[1][name]) / 2)


def test_without_a_head_the_others_work_on_and_it_comes_back(as_a_user_calls_it):
    torch.manual_seed(0)
    attention = MultiHeadAttention(8, 2)
    x = torch.randn(1, 3, 8)
    before = attention(x, x, x)
    k, v = attention.keys_and_values(x, x)
    v = v.clone()
    v[:, 1] = 0  # what the second head would say
    wanted = attention.attend(x, k, v, None)
    with pytest.raises(KeyboardInterrupt), experiment.without_head(attention, 1):
        torch.testing.assert_close(attention(x, x, x), wanted)
        assert not attention(x, x, x).allclose(before)
        raise KeyboardInterrupt
    assert attention(x, x, x).equal(before)


def test_narrow_keys_change_the_scores_alone():
    torch.manual_seed(0)
    config = experiment.transformer_config(30)
    model = experiment.narrow_keys(CachedTransformer(config), d_k=6).eval()
    attentions = 2 * 3  # layers times (encoder, decoder, cross)
    fewer = attentions * 2 * (96 + 1) * (96 - 4 * 6)
    assert parameters(CachedTransformer(config)) - parameters(model) == fewer
    source, words = torch.randint(3, 30, (2, 5)), torch.randint(3, 30, (2, 4))
    state = model.start(source)
    steps = torch.cat([model.decode(word, state) for word in words.split(1, dim=1)], dim=1)
    torch.testing.assert_close(steps, model(source, words), rtol=1e-4, atol=1e-5)


def test_what_is_measured(corpus, tokenizer):
    pairs = corpus.held_out[:40]

    class FirstIsWrong(Translator):
        def translate(self, texts, beam_size, alpha):
            answers = dict(pairs)
            return ["faux", *(answers[text] for text in texts[1:])]

    model = tiny_model(tokenizer)
    measured = experiment.measure(FirstIsWrong(model, tokenizer), pairs)
    assert measured["exact_match"] == 39 / 40
    assert sum(count for count, _ in measured["by_length"].values()) == 40
    assert sum(right for _, right in measured["by_length"].values()) == 39
    count, right = measured["by_length"][str(len(pairs[0][0].split()))]
    assert count - right == 1
    assert measured["bleu"] < 100 and measured["signature"].startswith("nrefs:1|case:mixed")
    batches = token_batches(encode_pairs(tokenizer, pairs), max_tokens=10_000, seed=3)
    assert measured["loss"] == pytest.approx(evaluate(model, batches), rel=1e-4)


def test_finished_runs_are_kept_and_those_of_other_settings_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    jobs = {"three": partial(int, "3"), "broken": partial(int, "x")}
    with pytest.raises(ValueError, match="invalid literal"):
        finish("numbers", jobs, "a")
    kept = json.loads((tmp_path / "transformer-lib-numbers.json").read_text())["runs"]
    assert kept in ({}, {"three": 3})
    assert finish("numbers", {"three": partial(int, "3")}, "a") == {"three": 3}
    # What is there is not run again; with other settings it is.
    assert finish("numbers", {"three": partial(int, "4")}, "a") == {"three": 3}
    assert finish("numbers", {"three": partial(int, "4")}, "b") == {"three": 4}


def test_the_rates_of_the_record_are_those_in_the_code():
    assert record("translation")["settings"]["rates"] == RATES
