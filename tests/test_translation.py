"""Chapter 14: the grammar and its four sets, the tokenizer, the scores, the translator; pitfalls 25, 26, 27 and 30."""

import gzip
import json
import math
import os
import re
import subprocess
import sys
from random import Random

import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from transformer_lib import translation
from transformer_lib.alignment import AttentionSeq2Seq
from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID, Seq2Seq
from transformer_lib.training import Batch, History, train
from transformer_lib.transformer import Transformer, TransformerConfig
from transformer_lib.translation import (
    LONGEST,
    UNKNOWN_ID,
    BytePairTokenizer,
    ParallelCorpus,
    Translator,
    corpus_bleu,
    encode_pairs,
    exact_match,
    grammar_corpus,
    pretrained_translator,
)

SETS = ("train", "held_out", "longer", "unseen")
seeds = st.integers(0, 10**6)
# A corpus takes a moment to make, and a smaller seed is no simpler: shrinking would be a waste.
A_FEW = settings(max_examples=4, deadline=None, phases=[Phase.reuse, Phase.generate])


@pytest.fixture(scope="module")
def corpus():
    return grammar_corpus(1500, seed=3, test_count=200)


@pytest.fixture(scope="module")
def tokenizer(corpus):
    return BytePairTokenizer.train((text for pair in corpus.train for text in pair), vocab_size=300)


def small_model(vocab, **sizes):
    torch.manual_seed(0)
    sizes = {"d_model": 32, "num_layers": 1, "num_heads": 2, "d_ff": 64, "dropout": 0.0, "max_len": 40, **sizes}
    return Transformer(TransformerConfig(vocab, vocab, shared_vocabulary=True, **sizes))


@pytest.fixture(scope="module")
def translator(tokenizer):
    return Translator(small_model(len(tokenizer)), tokenizer)


# The four sets


@settings(A_FEW)
@given(count=st.integers(500, 900), seed=seeds, test_count=st.integers(1, 60))
def test_the_four_sets_have_their_sizes_and_share_no_sentence(count, seed, test_count):
    made = grammar_corpus(count, seed, test_count)
    assert [len(getattr(made, name)) for name in SETS] == [count] + 3 * [test_count]
    sentences = [english for name in SETS for english, _ in getattr(made, name)]
    assert len(set(sentences)) == len(sentences)
    assert ("I am a student", "je suis étudiant") in made.train


@settings(A_FEW)
@given(seed=seeds)
def test_longer_is_longer_than_all_of_training_on_both_sides(seed):
    made = grammar_corpus(600, seed, 60)
    for side in (0, 1):
        longest = max(len(pair[side].split()) for pair in made.train)
        assert longest <= LONGEST
        assert all(len(pair[side].split()) > longest for pair in made.longer)
        assert all(len(pair[side].split()) <= LONGEST for pair in made.held_out + made.unseen)


# Read from the English text alone, and from tables of words: not from what the grammar says of its own sentences.
NOUN = {form: row[0] for row in translation._NOUNS for form in row[:2]}
ADJECTIVE = {row[0] for row in translation._ADJECTIVES}
VERB = {form: row[0] for row in translation._TRANSITIVE for form in row[:2]}
ARTICLES = "the|an|a|my|his|her|this|these"


def alternatives(words):
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def combinations(english):
    found = set()
    nouns, adjectives, verbs = map(alternatives, (NOUN, ADJECTIVE, VERB))
    for adjective, noun in re.findall(rf"\b({adjectives}) ({nouns})\b", english):
        found.add((adjective, NOUN[noun]))
    for noun, adjective in re.findall(rf"\b({nouns}) (?:is|are)(?: not)? ({adjectives})\b", english):
        found.add((adjective, NOUN[noun]))
    for verb, noun in re.findall(rf"\b({verbs}) (?:{ARTICLES}) (?:(?:{adjectives}) )?({nouns})\b", english):
        found.add((VERB[verb], NOUN[noun]))
    return found


def test_the_combinations_are_read_rightly():
    assert combinations("the old man sees a red apple and these cats are not big") == {
        ("old", "man"),
        ("red", "apple"),
        ("see", "apple"),
        ("big", "cat"),
    }
    assert combinations("I look for her and my uncle sings") == set()


@settings(A_FEW)
@given(seed=seeds)
def test_an_unseen_sentence_holds_a_pair_that_no_other_set_has(seed):
    made = grammar_corpus(1500, seed, 100)
    seen = {pair for name in ("train", "held_out", "longer") for text, _ in getattr(made, name) for pair in combinations(text)}
    kept_back = {pair for text, _ in made.unseen for pair in combinations(text)} - seen
    assert all(combinations(text) & kept_back for text, _ in made.unseen)
    assert len({pair for text, _ in made.unseen for pair in combinations(text) & kept_back}) > 20


def words(pair):
    english, french = pair
    return set(english.split()), set(re.findall(r"[^ ']+'?", french))


@settings(A_FEW)
@given(seed=seeds)
def test_training_holds_each_word_of_the_other_sets(seed):
    made = grammar_corpus(500, seed, 60)
    english, french = (set().union(*side) for side in zip(*map(words, made.train)))
    for pair in made.held_out + made.longer + made.unseen:
        assert words(pair)[0] <= english and words(pair)[1] <= french


def test_the_same_seed_gives_the_same_corpus_in_each_process(corpus):
    script = (
        "from transformer_lib.translation import grammar_corpus;"
        "c = grammar_corpus(1500, seed=3, test_count=200);"
        "import hashlib; print(hashlib.sha256(repr(c).encode()).hexdigest())"
    )
    hashes = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": value, "PYTHONIOENCODING": "utf8"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for value in ("1", "2")
    }
    assert len(hashes) == 1
    assert grammar_corpus(1500, seed=3, test_count=200) == corpus
    assert grammar_corpus(1500, seed=4, test_count=200).train != corpus.train


# The French


@pytest.fixture(scope="module")
def many():
    """Return a dictionary of many sentences, and fail if one has two translations."""
    draw, pairs = Random(0), {}
    for _ in range(20_000):
        clause = translation._clause(draw)
        french = translation._spell(clause.french)
        assert pairs.setdefault(clause.english, french) == french
    return pairs


def test_each_noun_phrase_has_one_translation_and_these_are_right():
    draw, phrases = Random(0), {}
    for _ in range(50_000):
        phrase = translation._noun_phrase(draw, "person animal food text thing")
        french = translation._spell(phrase.french)
        assert phrases.setdefault(phrase.english, french) == french
    # Written by hand, one line for each rule.
    expected = {
        "the man": "l'homme",  # silent h
        "the owl": "le hibou",  # and one that is not silent
        "this owl": "ce hibou",
        "this uncle": "cet oncle",
        "this man": "cet homme",
        "this small man": "ce petit homme",
        "this church": "cette église",
        "these uncles": "ces oncles",
        "my church": "mon église",
        "my old church": "ma vieille église",
        "her orange": "son orange",
        "his orange": "son orange",
        "his red orange": "son orange rouge",
        "an orange": "une orange",
        "a horse": "un cheval",
        "the horses": "les chevaux",
        "the newspapers": "les journaux",
        "the old tree": "le vieil arbre",
        "the old trees": "les vieux arbres",
        "a beautiful bird": "un bel oiseau",
        "a beautiful owl": "un beau hibou",
        "the beautiful birds": "les beaux oiseaux",
        "a new tree": "un nouvel arbre",
        "a new car": "une nouvelle voiture",
        "the black cats": "les chats noirs",
        "a white cow": "une vache blanche",
        "his happy sisters": "ses sœurs heureuses",
        "an expensive hat": "un chapeau cher",
        "an old egg": None,
        "the tired egg": None,
    }
    assert {english: phrases.get(english) for english in expected} == expected


@pytest.fixture(scope="module")
def with_few_words():
    """Return the same for a smaller vocabulary, in which each sentence below is drawn sooner or later."""
    few = {
        "_NOUNS": "man cat dog apple tree story",
        "_ADJECTIVES": "small red happy tired",
        "_TRANSITIVE": "see love hear have eat read look",
        "_INTRANSITIVE": "sing listen swim work sleep",
        "_PROFESSIONS": "student baker",
        "_DETERMINERS": "the a",
        "_PLACES": "garden school market station",
    }
    with pytest.MonkeyPatch.context() as patch:
        for table, wanted in few.items():
            rows = [row for row in getattr(translation, table) if row[0].split()[0] in wanted.split()]
            patch.setattr(translation, table, rows)
        draw, pairs = Random(0), {}
        for number in range(40_000):
            # Half of them have a verb, and neither place nor time: most of the rules below are about those.
            verb_only = number % 2 == 0
            clause = translation._doing(draw, number % 4 == 0) if verb_only else translation._clause(draw)
            french = translation._spell(clause.french)
            assert pairs.setdefault(clause.english, french) == french
    return pairs


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("I am not a student", "je ne suis pas étudiant"),
        ("she is a student", "elle est étudiante"),
        ("they are bakers", "ils sont boulangers"),
        ("we are happy", "nous sommes heureux"),
        ("she is not tired", "elle n'est pas fatiguée"),
        ("she has left", "elle est partie"),
        ("they have not arrived", "ils ne sont pas arrivés"),
        ("I see him", "je le vois"),
        ("he does not love her", "il ne l'aime pas"),
        ("I love them", "je les aime"),
        ("you do not hear me", "tu ne m'entends pas"),
        ("she looks for you", "elle te cherche"),
        ("I often sing", "je chante souvent"),
        ("he does not always listen", "il n'écoute pas toujours"),
        ("I listen", "j'écoute"),
        ("we swim", "nous nageons"),
        ("she sings at the school", "elle chante à l'école"),
        ("she sings at the market", "elle chante au marché"),
        ("he sleeps in the garden", "il dort dans le jardin"),
        ("we work at the station", "nous travaillons à la gare"),
        ("I work today", "je travaille aujourd'hui"),
        ("she has a cat", "elle a un chat"),
        ("I have a dog", "j'ai un chien"),
        ("she does not have a cat", "elle n'a pas de chat"),
        ("I do not eat an apple", "je ne mange pas de pomme"),
        ("he does not read the story", "il ne lit pas l'histoire"),
        ("I do not see a tree", "je ne vois pas d'arbre"),
    ],
)
def test_these_clauses_are_right(with_few_words, english, french):
    assert with_few_words.get(english, "the grammar does not say it") == french


VOWEL = "[aâàeéèêiîoôuœ]"
WRONG_FRENCH = {
    "no elision": rf"\b(je|ne|le|la|me|te|de|que) (?!hibou)({VOWEL}|h)",
    "elision before hibou": r"'hibou",
    "no contraction": r"\bà les? ",
    "masculine before a vowel": rf"\b(ce|beau|vieux|nouveau) (homme|enfant|oncle|oiseau|œuf|arbre)\b",
    "feminine before a vowel": rf"\b(ma|sa) (?!hibou)({VOWEL}|h)",
    "ne without pas": r"\b(ne |n')(?!.*\bpas\b)",
    "two spaces": r"  |^ | $",
    "participle, she": r"\belle (n')?est (pas )?(arrivé|parti|tombé|revenu|sorti)\b",
    "participle, they": r"\bils (ne )?sont (pas )?(arrivé|parti|tombé|revenu|sorti)\b",
    "gender of the article": r"\b(un|le|ce|mon) (pomme|poire|vache|femme|fille|sœur|lettre|voiture|robe|maison)\b",
    "gender of the article, masculine": r"\b(une|la|cette|ma|sa) (garçon|chat|chien|livre|gâteau|chapeau|journal|cheval)\b",
    "person of the verb": r"\b(je|j'|il |elle )\w*(ons|ent)\b(?<!content)",
}


@pytest.mark.parametrize("mistake", WRONG_FRENCH.values(), ids=WRONG_FRENCH.keys())
def test_no_sentence_holds_a_usual_mistake(many, mistake):
    found = [french for french in many.values() if re.search(mistake, french)]
    assert not found, found[:3]


def test_two_clauses_are_spelled_together():
    draw = Random(1)
    joined = [sentence.french for sentence in (translation._sentence(draw) for _ in range(4000)) if "parce" in sentence.french]
    assert any("parce qu'il " in french or "parce qu'elle " in french for french in joined)
    assert not any(re.search(r"parce que (il|elle|un)", french) for french in joined)


# Corpus and files


def test_a_sentence_in_two_sets_is_refused():
    with pytest.raises(ValueError, match="'I am' is in train and in held_out"):
        ParallelCorpus(train=(("I am", "je suis"),), held_out=(("I am", "je suis"),))


def write(path, text):
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("ending", ["en", "en.gz"])
def test_files_are_read_line_by_line(tmp_path, ending):
    source = write(tmp_path / f"text.{ending}", "A man.\nTwo men.\n \nA dog.\u2028It barks.\nA man.\nA cat.\n")
    target = write(tmp_path / "text.fr", "Un homme.\nDeux hommes.\nVide.\nUn chien.\nUn homme.\nUn chat.\n")
    read = ParallelCorpus.from_files(source, target, held_out=2)
    assert read.train == (
        ("A man.", "Un homme."),
        ("Two men.", "Deux hommes."),
        ("A dog.\u2028It barks.", "Un chien."),
    )
    # "A man." is also in training.
    assert read.held_out == (("A cat.", "Un chat."),)
    assert read.longer == read.unseen == ()


@pytest.mark.parametrize(
    ("source", "target", "held_out", "message"),
    [
        ("a\nb\n", "a\n", 0, "have 2 and 1 lines"),
        ("a\n", "a\n", 1, "held_out must be at least 0 and below 1, but it is 1"),
        ("a\n", "a\n", -1, "held_out must be at least 0"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path, source, target, held_out, message):
    with pytest.raises(ValueError, match=message):
        ParallelCorpus.from_files(write(tmp_path / "a.en", source), write(tmp_path / "a.fr", target), held_out)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match="there is no file .*nothing.en"):
        ParallelCorpus.from_files(tmp_path / "nothing.en", tmp_path / "nothing.fr")


# The tokenizer


def test_the_special_ids_are_those_of_the_course(tokenizer):
    names = [tokenizer.pieces.id_to_token(index) for index in range(4)]
    assert [names[index] for index in (PAD_ID, SOS_ID, EOS_ID, UNKNOWN_ID)] == ["<pad>", "<sos>", "<eos>", "<unknown>"]
    assert len(tokenizer) <= 300


def test_text_comes_back_as_it_was(tokenizer, corpus):
    for name in SETS:
        for text in (text for pair in getattr(corpus, name) for text in pair):
            ids = tokenizer.encode(text)
            assert min(ids) > UNKNOWN_ID
            assert tokenizer.decode(ids) == text


def test_decoding_stops_at_the_end_and_leaves_special_tokens_out(tokenizer):
    """Pitfall 26."""
    ids = tokenizer.encode("je suis étudiant")
    assert tokenizer.decode([SOS_ID, *ids, EOS_ID, *ids, PAD_ID]) == "je suis étudiant"
    assert tokenizer.decode([*ids, UNKNOWN_ID, PAD_ID]) == "je suis étudiant"
    assert tokenizer.decode([]) == tokenizer.decode([EOS_ID]) == ""


def test_each_target_ends_in_eos(tokenizer, corpus):
    """Pitfall 26."""
    for (source, target), (english, french) in zip(encode_pairs(tokenizer, corpus.train), corpus.train, strict=True):
        assert target[-1] == EOS_ID and EOS_ID not in source + target[:-1]
        assert (tokenizer.decode(source), tokenizer.decode(target)) == (english, french)


def test_the_vocabulary_is_made_from_training_alone(tokenizer):
    """Pitfall 27."""
    assert tokenizer.encode("ж") == [tokenizer.pieces.token_to_id("▁"), UNKNOWN_ID]
    from transformer_lib.teaching.experiments.translation import SETTINGS, corpus_and_tokenizer

    all_of_it, its_tokenizer = corpus_and_tokenizer()
    again = BytePairTokenizer.train((t for pair in all_of_it.train for t in pair), SETTINGS["vocabulary"])
    assert again.pieces.to_str() == its_tokenizer.pieces.to_str()


def test_pieces_are_merged_by_how_often_they_stand_together():
    """The first merges of a text that one can count by hand: l+o, then lo+w (5 times each), then ▁+low."""
    made = BytePairTokenizer.train(["low low low lower lowest"], vocab_size=4 + 8 + 3)
    assert made.tokens("low lower") == ["▁low", "▁low", "e", "r"]


def test_a_mark_before_each_word_and_an_end_after_each_apostrophe(tokenizer):
    for token in tokenizer.tokens("l'homme n'est pas ici"):
        assert "▁" not in token[1:] and "'" not in token[:-1]


def test_a_curly_apostrophe_and_a_composed_letter_are_the_plain_ones(tokenizer):
    assert tokenizer.encode("l’e\u0301glise") == tokenizer.encode("l'église")


def test_a_saved_tokenizer_is_the_same(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "pieces.json")
    loaded = BytePairTokenizer.load(tmp_path / "pieces.json")
    assert loaded.encode("je ne l'aime pas") == tokenizer.encode("je ne l'aime pas")
    assert loaded.pieces.to_str() == tokenizer.pieces.to_str()


@pytest.mark.parametrize("content", ["", "{}", '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}'])
def test_a_file_that_holds_no_tokenizer_of_ours(content, tmp_path):
    with pytest.raises(ValueError, match="pieces.json (does not hold a tokenizer|holds a tokenizer that was not)"):
        BytePairTokenizer.load(write(tmp_path / "pieces.json", content))


# The scores


def test_pitfall_30_bleu_by_hand():
    """One sentence, 4 of 5 words right: precisions 4/5, 3/4, 2/3, 1/2, no penalty for the length."""
    score = corpus_bleu(["a b c d e"], ["a b c d f"])
    assert score.score == pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)
    short = corpus_bleu(["a b c d"], ["a b c d e f"])
    assert short.score == pytest.approx(100 * math.exp(1 - 6 / 4))


def test_pitfall_30_bleu_is_of_the_corpus_with_case_and_with_its_signature():
    predictions, references = ["a b c d e", "x y z v w u"], ["a b c d f", "x y z v w u"]
    each = [corpus_bleu([p], [r]).score for p, r in zip(predictions, references, strict=True)]
    assert abs(corpus_bleu(predictions, references).score - sum(each) / 2) > 1
    assert corpus_bleu(["A B C D E"], ["a b c d e"]).score < 1
    signature = corpus_bleu(predictions, references).signature
    assert re.fullmatch(r"nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:[\d.]+", signature)


def test_pitfall_30_predictions_come_first():
    """Swapped, precision would become recall, and the short text would be the reference: no penalty."""
    assert corpus_bleu(["a b c d e f"], ["a b c d"]).score == pytest.approx(100 * (4 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)


def test_exact_match_counts_to_the_letter():
    assert exact_match(["a b", "c", "", "E"], ["a b", "c ", "x", "e"]) == 0.25


# The translator


def test_a_model_that_knows_a_few_sentences_by_heart_says_them_freely(tokenizer, corpus):
    """Pitfalls 25 and 30: trained with teacher forcing, decoded without, compared as text."""
    pairs = corpus.train[:6]
    model = small_model(len(tokenizer))
    train(model, [Batch.from_pairs(encode_pairs(tokenizer, pairs))], steps=150, smoothing=0.0)
    translator = Translator(model, tokenizer)
    sources, references = map(list, zip(*pairs))
    assert translator.translate(sources) == references
    assert translator.translate(sources, beam=3) == references
    assert [translator.translate(source) for source in sources] == references


def test_many_sentences_keep_their_order(corpus):
    translator = pretrained_translator()
    sources = [english for english, _ in corpus.train[:230]]
    together = translator.translate(sources)
    assert len(together) == 230
    for index in (0, 99, 100, 229):
        assert together[index] == translator.translate(sources[index])
    assert translator.translate([]) == []


@pytest.mark.parametrize(
    "make", [lambda v: Seq2Seq(v, v, d_model=8, hidden_size=8), lambda v: AttentionSeq2Seq(v, v, d_model=8, hidden_size=8)]
)
def test_the_older_models_can_be_translators_too(make, tokenizer, corpus):
    torch.manual_seed(0)
    translator = Translator(make(len(tokenizer)), tokenizer)
    some = [english for english, _ in corpus.held_out[:5]]
    assert len(translator.translate(some)) == 5
    assert isinstance(translator.translate(some[0]), str)


@pytest.mark.parametrize(
    "text", ["i am a student", "  I  am a\tstudent ", "I am a student.", "I am a student!", "I AM a Student"]
)
def test_spaces_capitals_and_a_last_full_stop_change_nothing(text, tokenizer):
    read = translation._read_text(text, tokenizer, most=40)
    expected = tokenizer.encode("I am a student")
    if text.startswith("i"):  # the small i is another letter: it is known, and stays
        assert read[1:] == expected[1:]
    elif text == "I AM a Student":
        assert UNKNOWN_ID not in read
    else:
        assert read == expected


def test_a_known_full_stop_stays():
    made = BytePairTokenizer.train(["A man.", "Un homme."], vocab_size=30)
    assert translation._read_text("A man.", made, most=40) == made.encode("A man.")


def test_an_unknown_word_is_read_in_pieces(translator):
    assert isinstance(translator.translate("the robot sings"), str)


def test_a_saved_translator_says_the_same(translator, corpus, tmp_path):
    translator.save(tmp_path / "small.pt")
    loaded = Translator.load(tmp_path / "small.pt")
    assert loaded.model.output.weight is loaded.model.source_embedding.weight
    assert next(translator.model.parameters()).dtype == next(loaded.model.parameters()).dtype == torch.float32
    for mine, saved in zip(translator.model.parameters(), loaded.model.parameters(), strict=True):
        assert_close(saved, mine.half().float(), rtol=0, atol=0)
    assert loaded.model.config == translator.model.config
    assert isinstance(loaded.translate(corpus.held_out[0][0]), str)
    # The shared matrix is written once.
    numbers = sum(parameter.numel() for parameter in loaded.model.parameters())
    assert (tmp_path / "small.pt").stat().st_size < 2 * numbers + 60_000


@pytest.mark.parametrize("content", ["", "no translator", "truncated"])
def test_a_file_that_holds_no_translator(content, translator, tmp_path):
    path = write(tmp_path / "broken.pt", content)
    if content == "truncated":
        translator.save(path)
        path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ValueError, match="broken.pt does not hold a translator"):
        Translator.load(path)


def test_loading_runs_no_code(tmp_path, capsys):
    class Attack:
        def __reduce__(self):
            return print, ("run!",)

    torch.save({"config": Attack()}, tmp_path / "attack.pt")
    with pytest.raises(ValueError, match="does not hold a translator"):
        Translator.load(tmp_path / "attack.pt")
    assert capsys.readouterr().out == ""


PAIR = (("I am", "je suis"),)
WRONG_CALLS = {
    "few": (lambda t: grammar_corpus(499, 0), "count must be in 500 … 50000, but it is 499"),
    "many": (lambda t: grammar_corpus(50_001, 0), "count must be in 500 … 50000"),
    "no tests": (lambda t: grammar_corpus(500, 0, 0), "test_count must be in 1 … 5000, but it is 0"),
    "no pair": (lambda t: ParallelCorpus(train=(("I am",),)), r"train must hold pairs of two texts, not \('I am',\)"),
    "empty side": (lambda t: ParallelCorpus(train=(("I am", ""),)), "train must hold pairs of two texts"),
    "no text": (lambda t: ParallelCorpus(train=PAIR, unseen=(("I am", 3),)), "unseen must hold pairs"),
    "one text": (lambda t: BytePairTokenizer.train("I am", 50), "sentences must be a list of texts, not one: 'I am'"),
    "empty sentence": (lambda t: BytePairTokenizer.train(["I am", " "], 50), "text must hold at least one word"),
    "no sentences": (lambda t: BytePairTokenizer.train([], 50), "the 1 characters of the 0 sentences"),
    "small vocabulary": (lambda t: BytePairTokenizer.train(["abc"], 7), "vocab_size must leave room for 4 special tokens"),
    "encode a number": (lambda t: t.tokenizer.encode(5), "text must be a string, but it is 5"),
    "encode nothing": (lambda t: t.tokenizer.encode("  "), "text must hold at least one word, but it is empty"),
    "bleu of a text": (lambda t: corpus_bleu("je suis", ["je suis"]), "predictions must be a list of texts"),
    "bleu of numbers": (lambda t: corpus_bleu(["je"], [3]), "references must be a list of texts"),
    "bleu unequal": (lambda t: corpus_bleu(["je"], ["je", "tu"]), "there are 1 predictions and 2 such references"),
    "bleu empty reference": (lambda t: corpus_bleu(["je"], [""]), "one reference that is not empty"),
    "bleu of nothing": (lambda t: corpus_bleu([], []), "references is empty"),
    "match unequal": (lambda t: exact_match(["je"], []), "there are 1 and 0"),
    "match of nothing": (lambda t: exact_match([], []), "at least one, but there are 0 and 0"),
    "translate nothing": (lambda t: t.translate(""), "text must hold at least one word, but it is empty"),
    "translate a space": (lambda t: t.translate("\n "), "text must hold at least one word, but it is empty"),
    "translate a full stop": (lambda t: t.translate("."), "text must hold at least one word, but it is empty"),
    "translate a number": (lambda t: t.translate(7), "text must be a string, but it is 7"),
    "translate None": (lambda t: t.translate([None]), "text must be a string, but it is None"),
    "translate Korean": (lambda t: t.translate("나는 학생"), "also holds 나 는 생 학"),
    "too long": (lambda t: t.translate("I am " * 60), "text must have at most 40 tokens, but 'I am .* has 1[0-9]{2}"),
    "no beam": (lambda t: t.translate("I am", beam=0), "beam must be at least 1, a GRU's is 1, but it is 0"),
    "no file": (lambda t: Translator.load("nothing.pt"), "there is no file nothing.pt"),
}


@pytest.mark.parametrize(("call", "message"), WRONG_CALLS.values(), ids=WRONG_CALLS.keys())
def test_wrong_input_says_what_came_and_what_was_expected(call, message, translator, as_a_user_calls_it):
    with pytest.raises(ValueError, match=message):
        call(translator)


def test_a_gru_has_no_beam(tokenizer):
    translator = Translator(Seq2Seq(len(tokenizer), len(tokenizer), d_model=4, hidden_size=4), tokenizer)
    with pytest.raises(ValueError, match="a GRU's is 1, but it is 2"):
        translator.translate("I am", beam=2)


# The comparison and the translator that comes with the library


def test_three_models_of_one_size():
    from transformer_lib.teaching.experiments.translation import MODELS, SETTINGS, parameters

    numbers = {name: parameters(make(SETTINGS["vocabulary"])) for name, make in MODELS.items()}
    assert len(numbers) == 3
    assert max(numbers.values()) < 1.1 * min(numbers.values())


def test_three_models_see_the_same_batches(corpus, tokenizer, monkeypatch):
    from transformer_lib.teaching.experiments import translation as task

    seen = {}

    def watch(model, batches, **settings):
        seen[type(model).__name__] = (torch.cat([batch.source.flatten() for batch in batches(0)]), settings["steps"])
        return History()

    monkeypatch.setattr(task, "train", watch)
    for name in task.MODELS:
        task.train_translator(name, corpus, tokenizer, seed=1)
    assert set(seen) == {"Seq2Seq", "AttentionSeq2Seq", "Transformer"}
    first, *others = seen.values()
    for batches, steps in others:
        assert torch.equal(batches, first[0]) and steps == first[1] == task.SETTINGS["steps"]


def test_what_is_measured(corpus):
    from transformer_lib.teaching.experiments.translation import measure

    pairs = corpus.held_out[:40]

    class FirstIsWrong(Translator):
        def __init__(self):
            pass

        def translate(self, texts):
            answers = dict(pairs)
            return ["faux", *(answers[text] for text in texts[1:])]

    measured = measure(FirstIsWrong(), pairs)
    assert measured["exact_match"] == 39 / 40
    assert sum(count for count, _ in measured["by_length"].values()) == 40
    assert sum(right for _, right in measured["by_length"].values()) == 39
    count, right = measured["by_length"][str(len(pairs[0][0].split()))]
    assert count - right == 1
    assert measured["bleu"] < 100 and measured["signature"].startswith("nrefs:1|case:mixed")


def test_finished_runs_are_kept_and_those_of_other_settings_are_not(tmp_path):
    from benchmarks.translation import read_finished, write_finished

    path = tmp_path / "finished.json"
    assert read_finished(path, "a") == {}
    write_finished(path, "a", {"GRU, seed 0": {"parameters": 3}})
    assert read_finished(path, "a") == {"GRU, seed 0": {"parameters": 3}}
    assert read_finished(path, "b") == {}


def test_the_pretrained_translator_still_translates():
    from transformer_lib.teaching.experiments.translation import corpus_and_tokenizer

    translator = pretrained_translator()
    assert translator.translate("I am a student") == "je suis étudiant"
    corpus, tokenizer = corpus_and_tokenizer()
    assert translator.tokenizer.pieces.to_str() == tokenizer.pieces.to_str()
    sources, references = map(list, zip(*corpus.held_out[:200]))
    assert exact_match(translator.translate(sources), references) >= 0.95


def test_the_pretrained_file_is_small_and_says_how_it_was_made():
    from benchmarks.translation import PRETRAINED

    assert (PRETRAINED / "translator.pt").stat().st_size <= 2_000_000
    made = json.loads((PRETRAINED / "translator.json").read_text(encoding="utf8"))
    assert made["command"] == "python -m benchmarks.translation"
    assert made["held_out"]["exact_match"] >= 0.95
    assert {"python", "torch", "tokenizers"} <= set(made["versions"]) and "seed" in made


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "translator.pt"
    path.write_bytes(b"other weights")
    with pytest.raises(ValueError, match="is damaged: its SHA-256 must be 00aa, but it is [0-9a-f]{64}"):
        translation._checked_file(path, "00aa")
