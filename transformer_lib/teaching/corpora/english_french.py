"""A grammar of simple English sentences and their one right French translation: agreement, elision, negation, word order.

*I* is a man, *you* one friend and *they* are men, so that each sentence has one right translation.
"""

import random
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from transformer_lib.data import TextPairs
from transformer_lib.validation import check_range

__all__ = ["LONGEST", "grammar_corpus"]

LONGEST = 10  # words of a training sentence, in each language


class ParallelCorpus(NamedTuple):
    """Pairs of a sentence and its translation, in four sets that share no sentence."""

    train: TextPairs
    held_out: TextPairs
    longer: TextPairs
    unseen: TextPairs


SETS = ParallelCorpus._fields


def _rows(table: str) -> list[list[str]]:
    """Return the rows of a table of words: columns stand apart by ` | `."""
    return [[column.strip() for column in line.split("|")] for line in table.strip().splitlines()]


class Noun(NamedTuple):
    english: tuple[str, str]  # singular, plural
    french: tuple[str, str]
    gender: str  # m or f
    kind: str  # person, animal, food, text or thing

    @property
    def lemma(self) -> str:
        return self.english[0]


class Place(NamedTuple):
    english: str
    french: str
    gender: str
    preposition: str  # in English


class Profession(NamedTuple):
    english: tuple[str, str]  # singular, plural
    french: tuple[str, str]  # masculine, feminine; s makes the plural


class Adjective(NamedTuple):
    english: str
    before: bool  # whether it stands before the noun in French
    french: list[str]  # masculine, feminine, masculine plural, feminine plural
    kinds: list[str]  # of the nouns it goes with


class Verb(NamedTuple):
    english: str
    third: str  # the English form for he and she
    french: list[str]  # for je, tu, il, nous, ils
    kinds: list[str]  # of its objects; empty for a verb without object


class Participle(NamedTuple):
    english: str
    french: str  # masculine singular; the others add e, s, es


class Pronoun(NamedTuple):
    english: str
    as_object: str
    french: str
    french_as_object: str
    person: int  # the place of the verb's form: je 0, tu 1, il and elle 2, nous 3, ils 4
    gender: str
    plural: bool


class Determiner(NamedTuple):
    english: tuple[str, str | None]  # before one, before many; no plural: None
    french: tuple[str, str, str | None]  # masculine, feminine, plural


def _conjugate(forms: str) -> list[str]:
    """Return a verb's forms for je, tu, il, nous, ils; those of a regular -er verb are made."""
    if " " in forms:
        return forms.split()
    stem = forms.removesuffix("er")
    soft = "e" if stem.endswith("g") else ""  # nous mangeons: the g stays soft
    return [stem + ending for ending in ("e", "es", "e", soft + "ons", "ent")]


NOUNS = [
    Noun((one, many), (un, des), gender, kind)
    for one, many, un, des, gender, kind in _rows("""
man | men | homme | hommes | m | person
woman | women | femme | femmes | f | person
boy | boys | garçon | garçons | m | person
girl | girls | fille | filles | f | person
child | children | enfant | enfants | m | person
uncle | uncles | oncle | oncles | m | person
neighbour | neighbours | voisin | voisins | m | person
sister | sisters | sœur | sœurs | f | person
brother | brothers | frère | frères | m | person
cat | cats | chat | chats | m | animal
dog | dogs | chien | chiens | m | animal
horse | horses | cheval | chevaux | m | animal
bird | birds | oiseau | oiseaux | m | animal
owl | owls | hibou | hiboux | m | animal
cow | cows | vache | vaches | f | animal
apple | apples | pomme | pommes | f | food
orange | oranges | orange | oranges | f | food
cake | cakes | gâteau | gâteaux | m | food
egg | eggs | œuf | œufs | m | food
pear | pears | poire | poires | f | food
book | books | livre | livres | m | text
letter | letters | lettre | lettres | f | text
newspaper | newspapers | journal | journaux | m | text
story | stories | histoire | histoires | f | text
house | houses | maison | maisons | f | thing
car | cars | voiture | voitures | f | thing
tree | trees | arbre | arbres | m | thing
hat | hats | chapeau | chapeaux | m | thing
dress | dresses | robe | robes | f | thing
church | churches | église | églises | f | thing
""")
]

PLACES = [
    Place(*row)
    for row in _rows("""
garden | jardin | m | in
park | parc | m | in
kitchen | cuisine | f | in
street | rue | f | in
school | école | f | at
market | marché | m | at
hotel | hôtel | m | at
station | gare | f | at
""")
]

PROFESSIONS = [
    Profession((one, many), (masculine, feminine))
    for one, many, masculine, feminine in _rows("""
student | students | étudiant | étudiante
baker | bakers | boulanger | boulangère
singer | singers | chanteur | chanteuse
lawyer | lawyers | avocat | avocate
nurse | nurses | infirmier | infirmière
musician | musicians | musicien | musicienne
journalist | journalists | journaliste | journaliste
doctor | doctors | médecin | médecin
""")
]

ADJECTIVES = [
    Adjective(english, place == "before", forms.split(), kinds.split())
    for english, place, forms, kinds in _rows("""
small | before | petit petite petits petites | person animal food text thing
big | before | grand grande grands grandes | person animal thing
beautiful | before | beau belle beaux belles | person animal food text thing
old | before | vieux vieille vieux vieilles | person animal text thing
new | before | nouveau nouvelle nouveaux nouvelles | person text thing
young | before | jeune jeune jeunes jeunes | person animal
good | before | bon bonne bons bonnes | person animal food text
red | after | rouge rouge rouges rouges | food thing
black | after | noir noire noirs noires | animal thing
white | after | blanc blanche blancs blanches | animal food thing
green | after | vert verte verts vertes | food thing
expensive | after | cher chère chers chères | food thing
heavy | after | lourd lourde lourds lourdes | animal food text thing
happy | after | heureux heureuse heureux heureuses | person animal
sad | after | triste triste tristes tristes | person animal text
tired | after | fatigué fatiguée fatigués fatiguées | person animal
strong | after | fort forte forts fortes | person animal
intelligent | after |intelligent intelligente intelligents intelligentes| person animal
""")
]

TRANSITIVE = [
    Verb(english, third, _conjugate(forms), kinds.split())
    for english, third, forms, kinds in _rows("""
love | loves | aimer | person animal food text thing
see | sees | vois vois voit voyons voient | person animal food text thing
look at | looks at | regarder | person animal food text thing
look for | looks for | chercher | person animal food text thing
find | finds | trouver | person animal food text thing
forget | forgets | oublier | person animal food text thing
help | helps | aider | person animal
hear | hears | entends entends entend entendons entendent | person animal
invite | invites | inviter | person
have | has | ai as a avons ont | animal food text thing
buy | buys | achète achètes achète achetons achètent | animal food text thing
eat | eats | manger | food
read | reads | lis lis lit lisons lisent | text
""")
]

INTRANSITIVE = [
    Verb(english, third, _conjugate(forms), [])
    for english, third, forms in _rows("""
sing | sings | chanter
sleep | sleeps | dors dors dort dormons dorment
work | works | travailler
dance | dances | danser
laugh | laughs | ris ris rit rions rient
run | runs | cours cours court courons courent
swim | swims | nager
listen | listens | écouter
""")
]

# Of verbs whose perfect is built with être: they agree with the subject.
PARTICIPLES = [
    Participle(*row)
    for row in _rows("""
arrived | arrivé
left | parti
fallen | tombé
come back | revenu
gone out | sorti
""")
]

PRONOUNS = [
    Pronoun(english, as_object, french, french_object, int(person), gender, number == "plural")
    for english, as_object, french, french_object, person, gender, number in _rows("""
I | me | je | me | 0 | m | singular
you | you | tu | te | 1 | m | singular
he | him | il | le | 2 | m | singular
she | her | elle | la | 2 | f | singular
we | us | nous | nous | 3 | m | plural
they | them | ils | les | 4 | m | plural
""")
]

DETERMINERS = [
    Determiner((one, None if many == "-" else many), (masculine, feminine, None if plural == "-" else plural))
    for one, many, masculine, feminine, plural in _rows("""
the | the | le | la | les
a | - | un | une | -
my | my | mon | ma | mes
his | his | son | sa | ses
her | her | son | sa | ses
this | these | ce | cette | ces
""")
]

BE = ["am", "are", "is", "are", "are"]
ÊTRE = ["suis", "es", "est", "sommes", "sont"]
OFTEN = {"often": "souvent", "always": "toujours"}
AT_THE_END = {"today": "aujourd'hui", "here": "ici"}
JOINED_BY = {"and": "et", "but": "mais", "because": "parce que"}

# What begins with a vowel or an h that elides; the h of hibou is not heard either, but it keeps the letter before it.
_OPEN = "(?=[aâàeéèêiîoôuhœ])(?!hibou)"
_ELIDED = re.compile(rf"\b(j|n|m|t|d|l|qu)[ea] {_OPEN}")
_CHANGED = re.compile(rf"\b(ce|ma|sa|beau|vieux|nouveau) {_OPEN}")
_BEFORE_VOWEL = {"ce": "cet", "ma": "mon", "sa": "son", "beau": "bel", "vieux": "vieil", "nouveau": "nouvel"}


def _before_vowel(phrase: str) -> str:
    """Return a singular noun phrase with the forms that stand before a vowel: cet ami, mon orange, bel hôtel."""
    return _CHANGED.sub(lambda match: _BEFORE_VOWEL[match[1]] + " ", phrase)


def _elide(sentence: str) -> str:
    """Return `sentence` as French is written, elided and contracted: j'aime, l'oiseau, au parc."""
    elided = _ELIDED.sub(r"\1'", sentence)
    return re.sub(r"\bà le ", "au ", elided)


def _a_or_an(word: str) -> str:
    return "an" if word[0] in "aeio" else "a"


class Phrase(NamedTuple):
    """A piece of a sentence in both languages, and what the rest of the sentence must know of it."""

    english: str
    french: str
    person: int = 2  # of the verb: je, tu, il, nous, ils
    gender: str = "m"
    plural: bool = False
    kind: str = "person"
    lemma: str = ""  # empty for a pronoun
    combinations: frozenset[tuple[str, str]] = frozenset()  # (adjective, noun) and (verb, object)

    @property
    def form(self) -> int:
        return _form(self.gender, self.plural)


def _form(gender: str, plural: bool) -> int:
    """Return the place of a form in the order m, f, plural m, plural f."""
    return 2 * plural + (gender == "f")


def _noun_phrase(rng: random.Random, kinds: list[str], after_not: bool = False) -> Phrase:
    """Draw a determiner, perhaps an adjective, and a noun of one of `kinds`.

    `after_not`: the phrase is the object of a negated verb, where un becomes de.
    """
    noun = rng.choice([noun for noun in NOUNS if noun.kind in kinds])
    plural = rng.random() < 0.35
    determiner = rng.choice([word for word in DETERMINERS if not plural or word.english[1]])
    article = determiner.french[2 if plural else noun.gender == "f"]
    if after_not and determiner.english[0] == "a":
        article = "de"
    english, french, used = noun.english[plural], noun.french[plural], frozenset()
    if rng.random() < 0.45:
        adjective = rng.choice([word for word in ADJECTIVES if noun.kind in word.kinds])
        agreed = adjective.french[_form(noun.gender, plural)]
        french = f"{agreed} {french}" if adjective.before else f"{french} {agreed}"
        english, used = f"{adjective.english} {english}", frozenset({(adjective.english, noun.lemma)})
    before = determiner.english[plural]
    if before == "a":
        before = _a_or_an(english)
    french = f"{article} {french}"
    return Phrase(
        f"{before} {english}",
        french if plural else _before_vowel(french),
        person=4 if plural else 2,
        gender=noun.gender,
        plural=plural,
        kind=noun.kind,
        lemma=noun.lemma,
        combinations=used,
    )


def _subject(rng: random.Random, kinds: list[str]) -> Phrase:
    """Draw a pronoun or a noun phrase that can do something."""
    if rng.random() < 0.45:
        return _noun_phrase(rng, kinds)
    pronoun = rng.choice(PRONOUNS)
    return Phrase(pronoun.english, pronoun.french, pronoun.person, pronoun.gender, pronoun.plural)


def _negate(negated: bool, verb: str, pronoun: str = "", adverb: str = "") -> str:
    """Return the French verb with its pronoun before it and, if `negated`, ne … pas around both."""
    words = ["ne"] * negated + [pronoun, verb] + ["pas"] * negated + [adverb]
    return " ".join(word for word in words if word)


def _copula(subject: Phrase, negated: bool) -> tuple[str, str]:
    """Return the subject with its form of be and of être."""
    english = f"{subject.english} {BE[subject.person]}" + " not" * negated
    return english, f"{subject.french} {_negate(negated, ÊTRE[subject.person])}"


def _verb_phrase(subject: Phrase, verb: Verb, negated: bool, adverb: str) -> tuple[str, Callable[[str], str]]:
    """Return the English of subject and verb, and a function that makes the French from the object pronoun, or ""."""
    third = subject.person == 2  # he, she, or a noun in the singular
    form = verb.english if negated or not third else verb.third
    auxiliary = ("does not" if third else "do not") if negated else ""
    english = " ".join(filter(None, [subject.english, auxiliary, adverb, form]))
    french_verb = verb.french[subject.person]
    after = OFTEN.get(adverb, "")
    return english, lambda pronoun: f"{subject.french} {_negate(negated, french_verb, pronoun, after)}"


def _being(rng: random.Random, negated: bool) -> Phrase:
    """Draw a sentence with an adjective: she is happy, elle est heureuse."""
    subject = _subject(rng, ["person", "animal", "food", "text", "thing"])
    adjective = rng.choice([word for word in ADJECTIVES if subject.kind in word.kinds])
    english, french = _copula(subject, negated)
    used = {(adjective.english, subject.lemma)} if subject.lemma else set()
    agreed = adjective.french[subject.form]
    return Phrase(f"{english} {adjective.english}", f"{french} {agreed}", combinations=subject.combinations | used)


def _profession(rng: random.Random, negated: bool) -> Phrase:
    """Draw a sentence with a profession, which has no article in French: I am a student, je suis étudiant."""
    subject = _subject(rng, ["person"])
    profession = rng.choice(PROFESSIONS)
    english, french = _copula(subject, negated)
    one, many = profession.english
    noun = many if subject.plural else f"{_a_or_an(one)} {one}"
    agreed = profession.french[subject.gender == "f"] + "s" * subject.plural
    return Phrase(f"{english} {noun}", f"{french} {agreed}", combinations=subject.combinations)


def _having_done(rng: random.Random, negated: bool) -> Phrase:
    """Draw a sentence in the perfect with être: she has left, elle est partie."""
    subject = _subject(rng, ["person", "animal"])
    participle = rng.choice(PARTICIPLES)
    _, french = _copula(subject, negated)
    ending = ["", "e", "s", "es"][subject.form]
    have = ("has" if subject.person == 2 else "have") + " not" * negated
    return Phrase(
        f"{subject.english} {have} {participle.english}",
        f"{french} {participle.french}{ending}",
        combinations=subject.combinations,
    )


def _doing(rng: random.Random, negated: bool) -> Phrase:
    """Draw a sentence with a verb without object, or with a pronoun or noun as one."""
    subject = _subject(rng, ["person", "animal"])
    adverb = rng.choice(list(OFTEN)) if rng.random() < 0.15 else ""
    kind_of_object = rng.random()
    if kind_of_object < 0.35:
        english, french = _verb_phrase(subject, rng.choice(INTRANSITIVE), negated, adverb)
        return Phrase(english, french(""), combinations=subject.combinations)
    if kind_of_object < 0.55:
        verb = rng.choice([verb for verb in TRANSITIVE if "person" in verb.kinds])
        english, french = _verb_phrase(subject, verb, negated, adverb)
        pronoun = rng.choice([word for word in PRONOUNS if _can_be_object(subject, word)])
        return Phrase(f"{english} {pronoun.as_object}", french(pronoun.french_as_object), combinations=subject.combinations)
    verb = rng.choice(TRANSITIVE)
    english, french = _verb_phrase(subject, verb, negated, adverb)
    thing = _noun_phrase(rng, verb.kinds, after_not=negated)
    used = subject.combinations | thing.combinations | {(verb.english, thing.lemma)}
    return Phrase(f"{english} {thing.english}", f"{french('')} {thing.french}", combinations=used)


def _can_be_object(subject: Phrase, pronoun: Pronoun) -> bool:
    """Return whether `pronoun` can be the object: nobody of us sees me or us."""
    both_first = pronoun.english in ("I", "we") and subject.english in ("I", "we")
    return not both_first and pronoun.english != subject.english


def _clause(rng: random.Random) -> Phrase:
    """Draw a clause of any kind, perhaps with a place or a time at its end."""
    rule = rng.choices([_being, _profession, _having_done, _doing], weights=[20, 10, 10, 60])[0]
    clause = rule(rng, rng.random() < 0.3)
    english, french = clause.english, clause.french
    if rule is _doing and rng.random() < 0.25:
        place = rng.choice(PLACES)
        english += f" {place.preposition} the {place.english}"
        article = "la" if place.gender == "f" else "le"
        french += f" {'dans' if place.preposition == 'in' else 'à'} {article} {place.french}"
    elif rule is not _profession and rng.random() < 0.15:
        # Nobody is young here, or has left here.
        time = rng.choice(list(AT_THE_END)) if rule is _doing else "today"
        english, french = f"{english} {time}", f"{french} {AT_THE_END[time]}"
    return clause._replace(english=english, french=french)


def _sentence(rng: random.Random) -> Phrase:
    """Draw a sentence of one clause, or of two joined by and, but or because."""
    first = _clause(rng)
    if rng.random() < 0.75:
        return first._replace(french=_elide(first.french))
    second, joined = _clause(rng), rng.choice(list(JOINED_BY))
    return Phrase(
        f"{first.english} {joined} {second.english}",
        _elide(f"{first.french} {JOINED_BY[joined]} {second.french}"),
        combinations=first.combinations | second.combinations,
    )


def _held_out_combinations(rng: random.Random) -> set[tuple[str, str]]:
    """Draw one in ten of all pairs of adjective and noun, and of verb and object."""
    pairs = [
        (word.english, noun.lemma)
        for words in (ADJECTIVES, TRANSITIVE)
        for word in words
        for noun in NOUNS
        if noun.kind in word.kinds
    ]
    return set(rng.sample(pairs, len(pairs) // 10))


def _words(pair: tuple[str, str]) -> set[str]:
    """Return the words of both sides; "en:" and "fr:" keep the languages apart."""
    english, french = pair
    return {f"en:{word}" for word in english.split()} | {f"fr:{word}" for word in french.replace("'", "' ").split()}


def _set_of(sentence: Phrase, held_out: set[tuple[str, str]]) -> str | None:
    """Return the set that a sentence belongs to: train, longer, unseen or none."""
    lengths = [len(text.split()) for text in (sentence.english, sentence.french)]
    if sentence.combinations & held_out:
        return "unseen" if max(lengths) <= LONGEST else None
    if max(lengths) <= LONGEST:
        return "train"
    return "longer" if min(lengths) > LONGEST else None


def _sentences(rng: random.Random) -> Iterator[tuple[str, tuple[str, str]]]:
    """Draw sentences for ever, none twice, each with the set that it belongs to."""
    held_out, drawn = _held_out_combinations(rng), {"I am a student"}
    yield "train", ("I am a student", "je suis étudiant")
    while True:
        sentence = _sentence(rng)
        name = _set_of(sentence, held_out)
        if name and sentence.english not in drawn:
            drawn.add(sentence.english)
            yield name, (sentence.english, sentence.french)


def grammar_corpus(count: int, seed: int, test_count: int = 500) -> ParallelCorpus:
    """Return `count` training pairs of English and French, and three test sets of `test_count` pairs each.

    The same `seed` gives the same corpus. `held_out` has other sentences of the same kind; `longer` has sentences of more
    than `LONGEST` words in both languages; `unseen` has pairs of adjective and noun, or of verb and object, that training
    never has. All words of the test sets occur in training.
    Raises `ValueError` if `count` is not in 500 … 50,000 (fewer do not hold all the words), or `test_count` is not in
    1 … 5,000.
    """
    check_range(500, 50_000, count=count)
    check_range(1, 5000, test_count=test_count)
    sets: dict[str, list] = {name: [] for name in SETS}
    known: set[str] = set()
    for name, pair in _sentences(random.Random(seed)):
        if name == "train" and len(sets["train"]) < count:
            sets["train"].append(pair)
            known |= _words(pair)
            continue
        name = "held_out" if name == "train" else name
        trained = len(sets["train"]) == count
        if trained and len(sets[name]) < test_count and _words(pair) <= known:
            sets[name].append(pair)
        if trained and all(len(sets[name]) == test_count for name in SETS[1:]):
            return ParallelCorpus(*(tuple(sets[name]) for name in SETS))
    raise AssertionError("the sentences never end")
