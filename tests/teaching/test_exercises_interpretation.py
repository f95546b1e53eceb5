"""The checks of chapter 15: right answers pass, and each usual mistake gets its own hint."""

from itertools import combinations

import numpy as np
import torch
from answers import two_tests

from transformer_lib.teaching.exercises import interpretation as check


def mixed(weights, memory, other, place):
    changed = list(memory)
    changed[place] = other[place]
    return sum(weight * number for weight, number in zip(weights, changed, strict=True))


def mixed_in_place(weights, memory, other, place):
    memory[place] = other[place]
    return float(np.dot(weights, memory))


def written_after(read, write, text, other_text, place):
    memory = read(text).clone()
    memory[place] = read(other_text)[place]
    return write(memory)


def written_in_place(read, write, text, other_text, place):
    memory = read(text)
    memory[place] = read(other_text)[place]
    return write(memory)


def smallest_cause(turns, length):
    for size in range(1, length + 1):
        for places in combinations(range(length), size):
            if turns(places):
                return list(places)
    return []


def singles(turns, length):
    return [place for place in range(length) if turns((place,))][:1]


def up_to_two(turns, length):
    for size in (1, 2):
        for places in combinations(range(length), size):
            if turns(places):
                return list(places)
    return []


def without_head(matrix, head, num_heads):
    width = matrix.shape[1] // num_heads
    changed = matrix.clone()
    changed[:, head * width : (head + 1) * width] = 0
    return changed


def in_place(matrix, head, num_heads):
    width = matrix.shape[1] // num_heads
    matrix[:, head * width : (head + 1) * width] = 0
    return matrix


def rows(matrix, head, num_heads):
    height = matrix.shape[0] // num_heads
    changed = matrix.clone()
    changed[head * height : (head + 1) * height] = 0
    return changed


def dropped(matrix, head, num_heads):
    width = matrix.shape[1] // num_heads
    return torch.cat([matrix[:, : head * width], matrix[:, (head + 1) * width :]], dim=1)


def flat(weights, numbers):
    return sum(weight * number for weight, number in zip(weights, numbers, strict=True))


RIGHT = [
    ("mixed", mixed),
    ("mixed", lambda w, m, o, p: flat(w, m) + w[p] * (o[p] - m[p])),
    ("written_after", written_after),
    ("written_after", written_in_place),
    ("smallest_cause", smallest_cause),
    ("smallest_cause", lambda turns, length: tuple(smallest_cause(turns, length))),
    ("without_head", without_head),
    ("without_head", lambda m, h, n: m * (torch.arange(m.shape[1]) // (m.shape[1] // n) != h)),
]
WRONG = [
    ("mixed", mixed_in_place, "has changed too: work on a copy"),
    ("mixed", lambda w, m, o, p: flat(w, m), "nothing is exchanged yet"),
    ("mixed", lambda w, m, o, p: flat(w, o), "exchanges all numbers"),
    ("mixed", lambda w, m, o, p: mixed(w, o, m, p), "wrong way round"),
    ("mixed", lambda w, m, o, p: mixed([1] * len(w), m, o, p), "weights are missing"),
    ("mixed", lambda w, m, o, p: [*m[:p], o[p], *m[p + 1 :]], "numbers after the exchange"),
    ("mixed", lambda w, m, o, p: w[p] * o[p], "exchanged place alone"),
    ("mixed", lambda w, m, o, p: 17.0, "multiply each number by its weight"),
    ("written_after", lambda r, w, t, o, p: w(r(t)), "nothing is exchanged"),
    ("written_after", lambda r, w, t, o, p: w(r(o)), "other text's memory"),
    ("written_after", lambda r, w, t, o, p: written_after(r, w, o, t, p), "wrong way round"),
    ("written_after", lambda r, w, t, o, p: torch.cat([r(t)[:p], r(o)[p : p + 1], r(t)[p + 1 :]]), "hand it to `write`"),
    ("written_after", lambda r, w, t, o, p: "la vache", "Read both texts"),
    ("smallest_cause", singles, "try two at once"),
    ("smallest_cause", up_to_two, "go on up to all places"),
    ("smallest_cause", lambda turns, length: list(range(length)) if turns(range(length)) else [], "the largest set"),
    ("smallest_cause", lambda turns, length: [0], "Try all single places"),
    ("smallest_cause", lambda turns, length: {1}, "should be"),
    ("without_head", in_place, "has changed too: work on a copy"),
    ("without_head", lambda m, h, n: m, "nothing is 0 yet"),
    ("without_head", rows, "these are rows"),
    ("without_head", lambda m, h, n: without_head(m, h, m.shape[1]), "one column only"),
    ("without_head", lambda m, h, n: without_head(m, h - 1, n) if h else m, "counted from 0|nothing is 0"),
    ("without_head", dropped, "the columns are gone"),
    ("without_head", lambda m, h, n: m - without_head(m, h, n), "keeps that head alone"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)
