"""The checks of chapter 4: right answers pass, and each usual mistake gets its own hint."""

import torch
from answers import two_tests

from transformer_lib.teaching.exercises import alignment as check


def attend(query, memory, turn=lambda scores: scores.softmax(dim=0)):
    weights = turn(memory @ query)
    return weights @ memory, weights


def masked(scores, mask, fill=-torch.inf):
    return scores.masked_fill(~mask, fill).softmax(dim=0)


def right_masked(scores, mask):
    return masked(scores, mask) if mask.any() else torch.zeros_like(scores)


def masked_in_place(scores, mask):
    scores[~mask] = -torch.inf
    return scores.softmax(0).nan_to_num()


RIGHT = [
    ("attend", attend),
    ("attend", lambda query, memory: [part.tolist() for part in attend(query, memory)]),
    ("attend", lambda query, memory: tuple(part.float() for part in attend(query, memory))),
    ("masked_weights", right_masked),
    ("masked_weights", lambda scores, mask: masked(scores, mask).nan_to_num()),
    ("masked_weights", masked_in_place),
    ("steer", lambda: [(2, -8), (-8, 4), (4, 4), None]),
    ("steer", lambda: (torch.tensor([1.0, -6.0]), [-3, 3], [3, 3], None)),
    ("road", lambda source, target, length: length - source + target),
]
WRONG = [
    ("attend", lambda query, memory: attend(query, memory)[0], "return two things: the context and the weights"),
    ("attend", lambda query, memory: attend(query, memory)[::-1], "context first"),
    ("attend", lambda query, memory: attend(query, memory, lambda s: s), "these are the scores"),
    ("attend", lambda query, memory: attend(query, memory, torch.exp), "do not sum to 1"),
    ("attend", lambda query, memory: attend(query / len(query) ** 0.5, memory), "divided by √d"),
    ("attend", lambda query, memory: attend(-query, memory), "dot product with the query"),
    (
        "attend",
        lambda query, memory: attend(query, memory, lambda s: s / s.sum()),
        "divided by their sum; take the exponential",
    ),
    ("attend", lambda q, m: (attend(q, m)[1][:, None] * m, attend(q, m)[1]), "still has one row for each of the 3 words"),
    ("attend", lambda query, memory: (memory.mean(dim=0), attend(query, memory)[1]), "plain mean of the rows"),
    (
        "attend",
        lambda query, memory: attend(query, memory, lambda s: torch.eye(len(s)).double()[s.argmax()]),
        "the best row alone",
    ),
    ("attend", lambda query, memory: (query, attend(query, memory)[1]), "the context should .* each times its weight"),
    ("attend", lambda query, memory: (attend(query, memory)[0], query[:1]), "the weights should be"),
    ("masked_weights", lambda scores, mask: scores.softmax(dim=0), "the mask changes nothing yet"),
    ("masked_weights", lambda scores, mask: scores.softmax(dim=0) * mask, "do not sum to 1"),
    ("masked_weights", lambda scores, mask: (scores * mask).softmax(dim=0), "e⁰ = 1"),
    (
        "masked_weights",
        lambda scores, mask: right_masked(scores, ~mask) if not mask.all() else scores.softmax(0),
        "wrong way round",
    ),
    ("masked_weights", lambda scores, mask: masked(scores, mask, -20.0) * mask.any(), "not a large negative number"),
    ("masked_weights", lambda scores, mask: masked(scores, mask, -100.0) * mask.any(), "not a large negative number"),
    ("masked_weights", masked, "NaN"),
    (
        "masked_weights",
        lambda scores, mask: masked(scores, mask, -1e9),
        "nothing may be looked at, so nothing gets a weight",
    ),
    ("masked_weights", lambda scores, mask: scores, "softmax of the scores"),
    ("steer", lambda: [(2, -8), (-8, 4), (4, 4)], "four entries"),
    ("steer", lambda: 0.9, "four entries"),
    ("steer", lambda: torch.tensor(0.9), "four entries"),
    ("steer", lambda: [(2, -8), (-8, 4), (4, 4, 4), None], r"query for late should have the shape \(2,\)"),
    ("steer", lambda: [(1, 0), (-8, 4), (4, 4), None], "query for I .* turn it away"),
    ("steer", lambda: [(2, -8), (0, 1), (4, 4), None], "query for am .* turn it away"),
    ("steer", lambda: [(2, -8), (-8, 4), (1, 1), None], "for late the direction is right.* longer query"),
    ("steer", lambda: [(2, -8), (-8, 4), None, None], "there is a query for late"),
    ("steer", lambda: [(2, -8), (-8, 4), (4, 4), (5, 5)], "score of too"),
    ("steer", lambda: [(2, -8), (-8, 4), (4, 4), (-5, -5)], "score of too"),
    ("road", lambda source, target, length: length - 1 - source + target, "arrow from the encoder's last cell"),
    ("road", lambda source, target, length: length - source + target + 1, "number of cells"),
    ("road", lambda source, target, length: length + source + target, "subtract its place"),
    ("road", lambda source, target, length: 1, "road with attention"),
    ("road", lambda source, target, length: length + target, "road of the first word"),
    ("road", lambda source, target, length: length - source, "road to the first target word"),
    ("road", lambda source, target, length: length, "Walk from the word's own cell"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)
