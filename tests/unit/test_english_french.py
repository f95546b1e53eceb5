"""The grammar of chapter 14's sentences: its four sets, and its French."""

import hashlib
import re
from random import Random

import pytest

from transformer_lib.teaching.corpora import english_french as grammar
from transformer_lib.teaching.corpora.english_french import LONGEST, grammar_corpus

SETS = ("train", "held_out", "longer", "unseen")


@pytest.fixture(scope="module", params=[3, 8])
def corpus(request):
    return grammar_corpus(800, seed=request.param, test_count=60)


def test_the_four_sets_have_their_sizes_and_share_no_sentence(corpus):
    assert [len(getattr(corpus, name)) for name in SETS] == [800, 60, 60, 60]
    sentences = [english for name in SETS for english, _ in getattr(corpus, name)]
    assert len(set(sentences)) == len(sentences)
    assert ("I am a student", "je suis étudiant") in corpus.train


def test_the_same_seed_gives_the_same_corpus_in_each_process():
    """Python orders sets differently in each; the translators were trained on these sentences."""
    text = repr(grammar_corpus(800, seed=3, test_count=60))
    assert hashlib.sha256(text.encode()).hexdigest()[:8] == "b3c9c109"


def test_longer_is_longer_and_training_holds_each_word_of_the_others(corpus):
    for side in (0, 1):
        longest = max(len(pair[side].split()) for pair in corpus.train)
        assert longest <= LONGEST and all(len(pair[side].split()) > longest for pair in corpus.longer)
        known, others = (
            {word for pair in pairs for word in re.findall(r"[^ ']+'?", pair[side])}
            for pairs in (corpus.train, corpus.held_out + corpus.longer + corpus.unseen)
        )
        assert others <= known


# Read from the English text alone, and from tables of words: not from what the grammar says of its own sentences.
NOUN = {form: noun.lemma for noun in grammar.NOUNS for form in noun.english}
VERB = {form: verb.english for verb in grammar.TRANSITIVE for form in (verb.english, verb.third)}
ADJECTIVES, NOUNS, VERBS = (
    "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    for words in ({adjective.english for adjective in grammar.ADJECTIVES}, NOUN, VERB)
)


def combinations(english):
    found = {(a, NOUN[n]) for a, n in re.findall(rf"\b({ADJECTIVES}) ({NOUNS})\b", english)}
    found |= {(a, NOUN[n]) for n, a in re.findall(rf"\b({NOUNS}) (?:is|are)(?: not)? ({ADJECTIVES})\b", english)}
    objects = rf"\b({VERBS}) (?:the|an|a|my|his|her|this|these) (?:(?:{ADJECTIVES}) )?({NOUNS})\b"
    return found | {(VERB[v], NOUN[n]) for v, n in re.findall(objects, english)}


def test_an_unseen_sentence_holds_a_pair_that_no_other_set_has(corpus):
    seen = {pair for name in SETS[:3] for text, _ in getattr(corpus, name) for pair in combinations(text)}
    assert all(combinations(text) - seen for text, _ in corpus.unseen)


@pytest.fixture(scope="module")
def clauses():
    """Return many sentences, some of a small vocabulary; fail if one has two translations."""
    few = {"NOUNS": "man cat dog apple tree story", "ADJECTIVES": "small happy tired", "PROFESSIONS": "student baker"}
    few |= {
        "TRANSITIVE": "see love hear have eat read look",
        "INTRANSITIVE": "sing listen swim work sleep",
        "DETERMINERS": "the a",
    }
    few["PLACES"] = "garden school market station"
    rng, pairs = Random(0), {}

    def draw(count):
        for number in range(count):
            clause = grammar._doing(rng, number % 4 == 0) if number % 2 == 0 else grammar._clause(rng)
            french = grammar._elide(clause.french)
            assert pairs.setdefault(clause.english, french) == french

    draw(6000)
    for phrase in (grammar._noun_phrase(rng, ["person", "animal", "food", "text", "thing"]) for _ in range(30_000)):
        pairs[phrase.english] = grammar._elide(phrase.french)
    with pytest.MonkeyPatch.context() as patch:
        for table, wanted in few.items():
            name = [(row, row.english if isinstance(row.english, str) else row.english[0]) for row in getattr(grammar, table)]
            patch.setattr(grammar, table, [row for row, english in name if english.split()[0] in wanted.split()])
        draw(40_000)
    return pairs


# Written by hand, one line for each rule.
RULES = """
the man: l'homme|the owl: le hibou|this uncle: cet oncle|this church: cette église|my church: mon église
my old church: ma vieille église|his red orange: son orange rouge|the horses: les chevaux|the old tree: le vieil arbre
a beautiful bird: un bel oiseau|a beautiful owl: un beau hibou|a new car: une nouvelle voiture|a white cow: une vache blanche
his happy sisters: ses sœurs heureuses|I am not a student: je ne suis pas étudiant|she is a student: elle est étudiante
we are happy: nous sommes heureux|she is not tired: elle n'est pas fatiguée|she has left: elle est partie
they have not arrived: ils ne sont pas arrivés|I see him: je le vois|he does not love her: il ne l'aime pas
you do not hear me: tu ne m'entends pas|he does not always listen: il n'écoute pas toujours|we swim: nous nageons
she sings at the market: elle chante au marché|he sleeps in the garden: il dort dans le jardin|I have a dog: j'ai un chien
I do not eat an apple: je ne mange pas de pomme|I do not see a tree: je ne vois pas d'arbre
"""


def test_each_rule_has_a_sentence_that_is_right(clauses):
    expected = dict(rule.split(": ") for line in RULES.strip().splitlines() for rule in line.split("|"))
    assert {english: clauses.get(english) for english in expected} == expected


VOWEL = "[aâàeéèêiîoôuœ]"
WRONG_FRENCH = {
    "no elision": rf"\b(je|ne|le|la|me|te|de|que) (?!hibou)({VOWEL}|h)",
    "elision before hibou": r"'hibou",
    "no contraction": r"\bà les? ",
    "masculine before a vowel": r"\b(ce|beau|vieux|nouveau) (homme|enfant|oncle|oiseau|œuf|arbre)\b",
    "feminine before a vowel": rf"\b(ma|sa) (?!hibou)({VOWEL}|h)",
    "ne without pas": r"\b(ne |n')(?!.*\bpas\b)",
    "participle": r"\b(elle (n')?est|ils (ne )?sont) (pas )?(arrivé|parti|tombé|revenu|sorti)\b",
    "gender of the article": r"\b(un|le|ce|mon) (pomme|poire|vache|femme|fille|sœur|lettre|voiture|robe|maison)\b",
    "gender of the article, masculine": r"\b(une|la|cette|ma|sa) (garçon|chat|chien|livre|gâteau|chapeau|journal|cheval)\b",
    "person of the verb": r"\b(je|j'|il |elle )\w*(ons|ent)\b(?<!content)",
}


@pytest.mark.parametrize("mistake", WRONG_FRENCH.values(), ids=WRONG_FRENCH.keys())
def test_no_sentence_holds_a_usual_mistake(clauses, mistake):
    assert not [french for french in clauses.values() if re.search(mistake, french)][:3]
