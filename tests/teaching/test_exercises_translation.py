"""The checks of chapter 14: right answers pass, and each usual mistake gets its own hint."""

import re
from collections import Counter

from answers import two_tests

from transformer_lib.teaching import exercises as engine
from transformer_lib.teaching.exercises import translation as check

SHORT = "je|ne|le|la|me|te|de|que"


def elide(text, words=rf"\b({SHORT})", before="(?=[aeiou])", space=""):
    return re.sub(rf"{words} {before}", lambda match: match[1][:-1] + "'" + space, text)


def elide_in_a_loop(text):
    words = text.split()
    for index in range(len(words) - 1):
        if words[index] in SHORT.split("|") and words[index + 1][0] in "aeiou":
            words[index] = words[index][:-1] + "'"
    return " ".join(words).replace("' ", "'")


def every_two_letters(text):
    words = text.split()
    result = ""
    for word, after in zip(words, [*words[1:], "."], strict=True):
        result += word[:-1] + "'" if len(word) == 2 and word[1] in "aeiou" and after[0] in "aeiou" else word + " "
    return result.strip()


def precision_in_place(prediction, reference):
    shared = 0
    for word in prediction:
        if word in reference:
            reference.remove(word)
            shared += 1
    return shared / len(prediction)


def precision(prediction, reference):
    return (Counter(prediction) & Counter(reference)).total() / len(prediction)


def encode_word(word, merges):
    pieces = ["▁", *word]
    for left, right in merges:
        index = 0
        while index < len(pieces) - 1:
            if pieces[index : index + 2] == [left, right]:
                pieces[index : index + 2] = [left + right]
            index += 1
    return pieces


def encode_by_replacing(word, merges):
    text = " ".join(["▁", *word])
    for left, right in merges:
        text = text.replace(f"{left} {right}", left + right)
    return text.split()


def encode_at_first_place(word, merges):
    pieces = ["▁", *word]
    for left, right in merges:
        for index in range(len(pieces) - 1):
            if pieces[index : index + 2] == [left, right]:
                pieces[index : index + 2] = [left + right]
                break
    return pieces


def longest_pieces(word, pieces, mark="▁", choose=max, unknown=None):
    rest, found = mark + word, []
    while rest:
        fitting = [piece for piece in pieces if rest.startswith(piece)]
        if not fitting:
            return ["<unknown>"] if unknown is None else [*found, *unknown]
        found.append(choose(fitting, key=len))
        rest = rest.removeprefix(found[-1])
    return found


def longest_for_ever(word, pieces):
    found, rest = [], "▁" + word
    while rest:
        fitting = [piece for piece in pieces if rest.startswith(piece)]
        found.append(max(fitting, key=len, default=""))
        rest = rest.removeprefix(found[-1])
    return found


RIGHT = [
    ("elide", elide),
    ("elide", elide_in_a_loop),
    ("clipped_precision", precision),
    ("clipped_precision", precision_in_place),
    ("clipped_precision", lambda p, r: sum(min(p.count(word), r.count(word)) for word in set(p)) / len(p)),
    ("encode_word", encode_word),
    ("encode_word", lambda word, merges: tuple(encode_word(word, merges))),
    ("longest_pieces", longest_pieces),
]
WRONG = [
    ("elide", lambda text: text, "nothing has changed"),
    ("elide", lambda text: elide(text, space=" "), "no space follows"),
    ("elide", lambda text: re.sub(rf"\b({SHORT}) (?=[aeiou])", r"\1'", text), "has to go"),
    ("elide", lambda text: elide(text, before=""), "only before a vowel"),
    ("elide", lambda text: elide(text, words=f"({SHORT})"), "whole words only: une"),
    ("elide", lambda text: re.sub(r"e (?=[aeiou])", "'", text), "only|la loses"),
    ("elide", lambda text: elide(text, words=r"\b(\w[aeiou])"), "only the eight words of the list"),
    ("elide", every_two_letters, "only the eight words of the list"),
    ("elide", lambda text: elide(text, words=f"( (?:{SHORT}))"), "the first word is missed"),
    ("elide", lambda text: text.upper(), 'should be "j\'aime le chat", not'),
    ("elide", lambda text: 5, "should be a text, not an int: 5"),
    ("clipped_precision", lambda p, r: sum(word in r for word in p) / len(p), "clip"),
    ("clipped_precision", lambda p, r: len(set(p) & set(r)) / len(p), "sets forget"),
    ("clipped_precision", lambda p, r: len(set(p) & set(r)) / len(set(p)), "not every different word"),
    ("clipped_precision", lambda p, r: precision(p, r) * len(p) / len(r), "recall"),
    ("clipped_precision", lambda p, r: precision(p, r) * len(p), "these are the counts"),
    ("clipped_precision", lambda p, r: 0.5, "the smaller of the two counts"),
    ("encode_word", lambda word, merges: ["▁", *word], "no merge is applied"),
    ("encode_word", lambda word, merges: encode_word(word, merges[::-1]), "wrong order"),
    ("encode_word", lambda word, merges: encode_word(word, merges[:1]), "only the first"),
    ("encode_word", lambda word, merges: encode_word(word, merges[:3]), "merge after merge"),
    ("encode_word", lambda word, merges: "low", "should be a list of texts, not a str: 'low'"),
    ("encode_word", encode_at_first_place, "first place only"),
    ("encode_word", encode_by_replacing, "pieces are whole"),
    ("longest_pieces", lambda word, pieces: longest_pieces(word, pieces, mark=""), "put the mark ▁ before"),
    ("longest_pieces", lambda word, pieces: longest_pieces(word, pieces, choose=min), "the shortest piece"),
    ("longest_pieces", lambda word, pieces: longest_pieces(word, pieces, unknown=[]), "the whole word is"),
    ("longest_pieces", lambda word, pieces: longest_pieces(word, pieces, unknown=["<unknown>"]), "not only what is left"),
    ("longest_pieces", lambda word, pieces: longest_pieces(word, pieces)[:1], "go on with the rest"),
    ("longest_pieces", lambda word, pieces: {"▁lower"}, "should be a list of texts, not a set"),
    ("longest_pieces", lambda word, pieces: ["▁lower", "?"], r"for \('lower', .* should be \['▁lower'\], not"),
    (
        "encode_word",
        lambda word, merges: [piece for piece in (one.strip("▁") for one in encode_word(word, merges)) if piece],
        "▁ is missing",
    ),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)


def test_a_loop_without_an_end_is_stopped(says, monkeypatch):
    monkeypatch.setattr(engine, "SECONDS", 0.2)
    assert "is there a loop that never ends" in says(check.longest_pieces, longest_for_ever)
