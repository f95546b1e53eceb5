"""The translator in the page is the library's: the same tokens, probabilities, attention weights, hypotheses."""

import base64

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.testing import assert_close

from transformer_lib.decoding import beam_hypotheses, greedy_decode, sampling_probabilities
from transformer_lib.seq2seq import PAD_ID, SOS_ID
from transformer_lib.teaching import capture_attention
from transformer_lib.teaching.corpora.english_french import grammar_corpus
from transformer_lib.translation import pretrained_translator


@pytest.fixture(scope="module")
def translator():
    translator = pretrained_translator()
    translator.model.eval()
    return translator


@pytest.fixture(scope="module")
def corpus():
    return grammar_corpus(12_000, seed=0)


@pytest.fixture(scope="module")
def sentences(corpus):
    return [english for english, _ in corpus.held_out[:140] + corpus.longer[:30] + corpus.unseen[:30]]


@pytest.fixture(scope="module")
def engine(visit, server):
    """A page with the model's scripts, without any box: `engine(code, argument)` runs code there."""
    page = visit(f"{server}/book/bibliography.html").page
    page.add_script_tag(url=f"{server}/_static/translator/client.js")
    page.evaluate(
        """async () => {
            for (const src of transformer_lib.client.urls) {
                const script = Object.assign(document.createElement("script"), { src })
                document.head.append(script)
                await new Promise(resolve => script.onload = resolve)
            }
            window.translator = transformer_lib.translation.pretrained_translator()
        }"""
    )
    yield page.evaluate
    page.close()


def floats(text):
    return torch.from_numpy(np.frombuffer(base64.b64decode(text), dtype="<f4").copy())


# Numbers come back as the bytes of float32: as text they would be many megabytes.
AS_TEXT = """const as_text = rows => {
    const bytes = new Uint8Array(Float32Array.from(rows.flatMap(row => [...row])).buffer)
    let text = ""
    for (const byte of bytes) text += String.fromCharCode(byte)
    return btoa(text)
};"""


@pytest.fixture(scope="module")
def written(engine, sentences):
    """For each sentence the tokens and the probabilities, (written, vocab), as the page writes them."""
    answers = engine(
        "sentences => {"
        + AS_TEXT
        + """
            const { softmax } = transformer_lib.tensors
            return sentences.map(text => {
                const steps = [...translator.write(translator.read(text))]
                return [steps.map(step => step.word), as_text(steps.map(step => softmax(step.logits)))]
            })
        }""",
        sentences,
    )
    return [(tokens, floats(numbers).reshape(len(tokens), -1)) for tokens, numbers in answers]


@pytest.fixture(scope="module")
def source(translator, sentences):
    """All sentences as one batch, (200, source)."""
    return padded([translator.read(sentence) for sentence in sentences])


def padded(rows):
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD_ID)


def test_greedy_tokens_are_the_librarys(translator, source, written):
    assert len(written) == 200
    expected = greedy_decode(translator.model, source, 40)
    assert_close(padded([tokens for tokens, _ in written]), expected)


@torch.no_grad()
def test_probabilities_of_the_next_word_are_the_librarys(translator, source, written):
    logits = translator.model(source, padded([[SOS_ID, *tokens[:-1]] for tokens, _ in written]))  # (200, written, vocab)
    logits[:, :, [PAD_ID, SOS_ID]] = -torch.inf
    for row, (tokens, probabilities) in zip(logits.softmax(dim=-1), written, strict=True):
        assert_close(probabilities, row[: len(tokens)], rtol=0, atol=1e-4)


@torch.no_grad()
def test_attention_weights_are_the_librarys(engine, translator, sentences):
    for sentence in [sentences[0], max(sentences, key=len)]:
        tokens, kept = engine(
            """text => {
                const { kept, record } = transformer_lib.attention.capture_attention()
                const tokens = Array.from(translator.write(translator.read(text), [], record), step => step.word)
                // A step sees only the words before it: what it cannot see gets weight 0.
                const whole = rows => rows.map(row => Array.from(rows.at(-1), (_, key) => row[key] ?? 0))
                return [tokens, Object.fromEntries(Object.entries(kept).map(([name, heads]) => [name, heads.map(whole)]))]
            }""",
            sentence,
        )
        source, target_in = translator.read(sentence), [SOS_ID, *tokens[:-1]]
        with capture_attention(translator.model) as expected:
            translator.model(torch.tensor([source]), torch.tensor([target_in]))
        assert kept.keys() == expected.keys() and len(kept) == 6
        for name, weights in expected.items():
            assert_close(torch.tensor(kept[name]), weights[0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("beam", [1, 4])
def test_beam_finds_the_librarys_hypotheses(engine, translator, source, beam):
    rows = source[::10]
    found = engine(
        """([rows, beam]) => rows.map(row => transformer_lib.decoding.beam_hypotheses(
            translator.model, row.filter(token => token), 40, beam))""",
        [rows.tolist(), beam],
    )
    for hypotheses, expected in zip(found, beam_hypotheses(translator.model, rows, 40, beam), strict=True):
        assert [tuple(one["tokens"]) for one in hypotheses] == [one.tokens for one in expected]
        for one, other in zip(hypotheses, expected, strict=True):
            assert one["score"] == pytest.approx(other.score, abs=1e-4)
            assert one["log_probability"] == pytest.approx(other.log_probability, abs=1e-4)


@pytest.mark.parametrize("temperature, top_k, top_p", [(1.0, None, None), (0.5, 5, None), (2.0, None, 0.9), (1.0, 20, 0.3)])
def test_sampling_probabilities_are_the_librarys(engine, temperature, top_k, top_p):
    torch.manual_seed(0)
    logits = 3 * torch.randn(50)
    ours = engine(
        """([logits, temperature, top_k, top_p]) => Array.from(transformer_lib.decoding.sampling_probabilities(
            Float32Array.from(logits), temperature, top_k ?? undefined, top_p ?? undefined))""",
        [logits.tolist(), temperature, top_k, top_p],
    )
    assert_close(
        torch.tensor(ours, dtype=torch.float32), sampling_probabilities(logits, temperature, top_k, top_p), rtol=0, atol=1e-5
    )


def test_text_becomes_the_librarys_tokens(engine, translator, corpus, sentences):
    texts = [french for _, french in corpus.held_out[:300]] + sentences
    texts += [
        "e\u0301cole",
        "l’école\u202fd' \xa0“ici”\u00ad",
        "She  is\ta Student.",
        "qu'aujourd'hui",
        "▁the cow",
        "I am!",
        "xy",
        " a ",
    ]
    ours = engine(
        """texts => texts.map(text => [translator.tokenizer.tokens(text), translator.tokenizer.encode(text),
            translator.tokenizer.decode(translator.tokenizer.encode(text))])""",
        texts,
    )
    for text, (tokens, ids, again) in zip(texts, ours, strict=True):
        expected = translator.tokenizer.encode(text)
        assert ids == expected, text
        assert tokens == translator.tokenizer.tokens(text), text
        assert again == translator.tokenizer.decode(expected)
