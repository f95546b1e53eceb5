"""Chapter 14: the corpus, the tokenizer, the scores, the translator."""

import copy
import math
import pickle
import re
from functools import partial

import pytest
import torch
from torch.testing import assert_close

from transformer_lib.pieces import words_of
from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID
from transformer_lib.teaching.corpora.english_french import grammar_corpus
from transformer_lib.teaching.experiments.translation import SETTINGS, corpus_and_tokenizer
from transformer_lib.training import Batch, train, training_step
from transformer_lib.transformer import Transformer, TransformerConfig
from transformer_lib.translation import (
    UNKNOWN_ID,
    BytePairTokenizer,
    Translator,
    corpus_bleu,
    encode_pairs,
    exact_match,
    pretrained_translator,
)


@pytest.fixture(scope="module")
def corpus():
    return grammar_corpus(1500, seed=3, test_count=200)


@pytest.fixture(scope="module")
def tokenizer(corpus):
    return BytePairTokenizer.train((text for pair in corpus.train for text in pair), vocab_size=300)


def small_model(vocab, **sizes):
    torch.manual_seed(0)
    sizes = {"d_model": 32, "num_layers": 1, "num_heads": 2, "d_ff": 64, "dropout": 0.0, "max_len": 40, **sizes}
    words = {"source_vocab_size": vocab, "target_vocab_size": vocab, "shared_vocabulary": True}
    return Transformer(TransformerConfig(**words | sizes))


@pytest.fixture(scope="module")
def translator(tokenizer):
    return Translator(small_model(len(tokenizer)), tokenizer)


# The tokenizer


def test_the_special_ids_are_those_of_the_course(tokenizer):
    names = [tokenizer.backend.id_to_token(index) for index in range(4)]
    assert [names[index] for index in (PAD_ID, SOS_ID, EOS_ID, UNKNOWN_ID)] == ["<pad>", "<sos>", "<eos>", "<unknown>"]
    assert len(tokenizer) <= 300


def test_decoding_stops_at_the_end(tokenizer):
    ids = tokenizer.encode("je suis étudiant")
    assert tokenizer.decode([SOS_ID, *ids, EOS_ID, *ids, PAD_ID]) == "je suis étudiant"
    assert tokenizer.decode([*ids, UNKNOWN_ID, PAD_ID]) == "je suis étudiant"
    assert tokenizer.decode([]) == tokenizer.decode([EOS_ID]) == ""


def test_each_target_ends_in_eos(tokenizer, corpus):
    for (source, target), (english, french) in zip(encode_pairs(tokenizer, corpus.train), corpus.train, strict=True):
        assert target[-1] == EOS_ID and EOS_ID not in source + target[:-1]
        assert (tokenizer.decode(source), tokenizer.decode(target)) == (english, french)


def test_the_vocabulary_is_made_from_training_alone(tokenizer):
    assert tokenizer.encode("ж") == [tokenizer.backend.token_to_id("▁"), UNKNOWN_ID]

    all_of_it, its_tokenizer = corpus_and_tokenizer()
    again = BytePairTokenizer.train((t for pair in all_of_it.train for t in pair), SETTINGS["vocabulary"])
    assert again.backend.to_str() == its_tokenizer.backend.to_str()


def test_a_mark_before_each_word_and_an_end_after_each_apostrophe(tokenizer):
    for token in tokenizer.tokens("l'homme n'est pas ici"):
        assert "▁" not in token[1:] and "'" not in token[:-1]


def test_punctuation_is_a_token_of_its_own():
    made = BytePairTokenizer.train(['a lake. a lake. a "lake" (lake) e-mail lake, lake'], vocab_size=60)
    assert made.tokens("lake. e-mail (") == ["▁lake", ".", "▁e-mail", "▁", "("]
    assert made.decode(made.encode('a "lake", (lake).')) == 'a "lake", (lake).'


@pytest.mark.parametrize(
    "odd", ["l’e\u0301glise !", "l'église\u202f!", " l'église\xa0 !", "l\u02bcéglise\t!", "\u200el'e\u00ad\u0301glise\u3000!"]
)
def test_all_spaces_and_apostrophes_are_the_plain_ones(odd):
    """For training, for what is read, for the words that are known, and for references."""
    made = BytePairTokenizer.train([odd] * 9, vocab_size=60)
    plain = "l'église !"
    reader = Translator(small_model(len(made)), made, sentences=[odd])
    assert made.encode(odd) == made.encode(plain) == reader.read(odd) and made.decode(made.encode(odd)) == plain
    assert made.tokens(odd) == made.tokens(plain) and reader.words == {"l'église"}
    long = [f"{odd} a b c"], [f"{plain} a b c"]
    assert corpus_bleu(*long).score == pytest.approx(100) and exact_match(*long) == 1


def test_where_no_space_parts_words_each_letter_is_one():
    made = BytePairTokenizer.train(["我昨天去了图书馆。"] * 9, vocab_size=60)
    assert made.tokens("我去图书馆。") == ["▁", *"我去图书馆。"] and made.decode(made.encode("我去图书馆。")) == "我去图书馆。"
    assert words_of("हिन्दी में, 我去 isn't e\u0323tude.") == ["हिन्दी", "में", "我", "去", "isn't", "e\u0323tude"]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_of_a_tokenizer_reads_a_special_name_as_text(tokenizer, copied):
    assert copied(tokenizer).encode("a <pad> b") == tokenizer.encode("a <pad> b")


def test_a_saved_tokenizer_is_the_same(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "pieces.json")
    loaded = BytePairTokenizer.load(tmp_path / "pieces.json")
    assert loaded.encode("je ne l'aime pas") == tokenizer.encode("je ne l'aime pas")
    assert loaded.backend.to_str() == tokenizer.backend.to_str()


# The scores


def test_bleu_by_hand():
    """One sentence, 4 of 5 words right: precisions 4/5, 3/4, 2/3, 1/2, no penalty for the length."""
    score = corpus_bleu(["a b c d e"], ["a b c d f"])
    assert score.score == pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)
    short, long = "a b c d", "a b c d e f"
    assert corpus_bleu([short], [long]).score == pytest.approx(100 * math.exp(1 - 6 / 4))
    assert corpus_bleu([long], [short]).score == pytest.approx(100 * (4 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)


def test_bleu_is_of_the_corpus_with_its_signature():
    predictions, references = ["a b c d e", "x y z v w u"], ["a b c d f", "x y z v w u"]
    each = [corpus_bleu([p], [r]).score for p, r in zip(predictions, references, strict=True)]
    assert abs(corpus_bleu(predictions, references).score - sum(each) / 2) > 1
    assert corpus_bleu(["A B C D E"], ["a b c d e"]).score < 1
    signature = corpus_bleu(predictions, references).signature
    assert re.fullmatch(r"nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:[\d.]+", signature)


def test_bleu_of_scripts_without_spaces_counts_characters():
    for text, language, cut in [
        ("我昨天去了图书馆。", "zh-TW", "zh"),
        ("私は学生です。", "", "char"),
        ("ฉันเป็นนักเรียน", "th", "char"),
    ]:
        found = corpus_bleu([text] * 2, [text] * 2, language)
        assert found.score == pytest.approx(100) and not found.doubt and f"tok:{cut}|" in found.signature
    words = corpus_bleu(["x"], ["나는 학교(學校)에 매일 간다"])  # two letters make no script
    assert "tok:13a|" in words.signature
    short = corpus_bleu(["a b c"], ["a b c"])
    assert short.score == 0 and "see chrF" in short.doubt and short.chrf == pytest.approx(100)


def test_exact_match_counts_to_the_letter():
    assert exact_match(["a b", "c", "", "E"], ["a b", "d", "x", "e"]) == 0.25


# The translator


def test_many_sentences_keep_their_order(corpus):
    translator = pretrained_translator()
    sources = [english for english, _ in corpus.train[:230]]
    together = translator.translate(sources)
    assert len(together) == 230
    for index in (0, 99, 100, 229):
        assert together[index] == translator.translate(sources[index])
    assert translator.translate([]) == [] and translator.translate(tuple(sources[:2])) == together[:2]
    # A short one beside a long one: its own limit, with any beam.
    endless, long = "cow cow cow", f"{sources[0]} and {sources[1]}"
    for beam_size in (1, 4):
        assert translator.translate([endless, long], beam_size)[0] == translator.translate(endless, beam_size)


@pytest.mark.parametrize("text", ["  I  am a\tstudent ", "I am a student.", "I am a student !"])
def test_spaces_and_a_last_full_stop_change_nothing(text, translator):
    assert translator.read(text) == translator.tokenizer.encode("I am a student")
    assert UNKNOWN_ID not in translator.read("I AM a Student")


def test_words_that_no_training_sentence_had_are_listed(translator, corpus, tmp_path):
    """Each once, as they were typed: a capital may be a small letter, but an i is no I; what is no letter is no word."""
    reader = pretrained_translator()
    assert reader.unknown_words("The teacher doesn’t see a zebra, the teacher 😀!") == ["teacher", "doesn't", "zebra"]
    assert reader.unknown_words("i sing, I sing") == ["i"] and reader.unknown_words(" ?") == []
    sentences = [english for english, _ in corpus.train]
    made = Translator(translator.model, translator.tokenizer, sentences=sentences)
    made.save(tmp_path / "small.pt")
    for one in (made, Translator.load(tmp_path / "small.pt")):
        assert [one.unknown_words(text) for text in (sentences[0], "I am a robot")] == [[], ["robot"]]
        assert one.words == {word for text in sentences for word in text.split()}


def test_a_saved_translator_says_the_same(translator, corpus, tmp_path):
    translator.save(tmp_path / "small.pt")
    loaded = Translator.load(tmp_path / "small.pt")
    assert loaded.model.output.weight is loaded.model.source_embedding.weight
    for mine, saved in zip(translator.model.parameters(), loaded.model.parameters(), strict=True):
        assert_close(saved, mine.half().float(), rtol=0, atol=0)
    assert loaded.model.config == translator.model.config
    assert isinstance(loaded.translate(corpus.held_out[0][0]), str)


@pytest.fixture(scope="module")
def two_vocabularies(corpus):
    """A translator that knows six sentences by heart, with a tokenizer for each language, and these sentences."""
    pairs = corpus.train[:6]
    english, french = (BytePairTokenizer.train([pair[side] for pair in corpus.train], 200 + side) for side in (0, 1))
    model = small_model(len(english), target_vocab_size=len(french), shared_vocabulary=False)
    batch = Batch.from_pairs(encode_pairs(english, pairs, french))
    train(model, [batch], steps=150, step=partial(training_step, smoothing=0.0))
    return Translator(model, english, french), *map(list, zip(*pairs))


def test_each_language_has_its_tokenizer_and_the_file_keeps_both(two_vocabularies, tmp_path):
    translator, sources, references = two_vocabularies
    ((source, target),) = encode_pairs(translator.tokenizer, [(sources[0], references[0])], translator.target_tokenizer)
    assert source == translator.tokenizer.encode(sources[0]) == translator.read(sources[0])
    assert target == [*translator.target_tokenizer.encode(references[0]), EOS_ID]
    assert translator.tokenizer.decode(target) != references[0] == translator.target_tokenizer.decode(target)
    assert translator.translate(sources) == translator.translate(sources, beam_size=3) == references
    translator.save(tmp_path / "two.pt")
    assert Translator.load(tmp_path / "two.pt").translate(sources) == references


WRONG_CALLS = {
    "one text": (lambda t: BytePairTokenizer.train("I am", 50), "sentences must be a list of texts, not 'I am'"),
    "small vocabulary": (lambda t: BytePairTokenizer.train(["abc"], 7), "vocab_size must be at least 8, but it is 7"),
    "bleu unequal": (lambda t: corpus_bleu(["je"], ["je", "tu"]), "must be equally many, but they are 1 and 2"),
    "bleu of one text": (lambda t: corpus_bleu("je", "je"), "predictions must be a list, not a text: 'je'"),
    "a full stop": (lambda t: t.translate("."), "text must hold at least one word, but it is empty"),
    "Korean": (lambda t: t.translate("나는 학생"), "also holds 나 는 생 학"),
    "too long": (lambda t: t.translate("I am " * 60), "text must have at most 40 tokens, but 'I am .* has 1[0-9]{2}"),
    "no such translator": (lambda t: pretrained_translator("german"), "name must be 'translator' or 'captions'"),
}


@pytest.mark.parametrize(("call", "message"), WRONG_CALLS.values(), ids=WRONG_CALLS)
def test_wrong_input_says_what_came_and_what_was_expected(call, message, translator, as_a_user_calls_it):
    with pytest.raises(ValueError, match=message):
        call(translator)


# The translators that come with the library


def test_the_pretrained_translators_still_translate():
    translator = pretrained_translator()
    assert translator.translate("I am a student") == "je suis étudiant"
    assert translator.tokenizer.backend.to_str() == corpus_and_tokenizer()[1].backend.to_str()
    captions = pretrained_translator("captions")
    assert captions.translate("A dog runs on the beach.").startswith("Un chien ")
    assert captions.unknown_words("A pangolin runs on the beach, and they don't blorp.") == ["pangolin", "blorp"]
