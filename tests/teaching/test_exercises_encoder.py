"""The checks of chapter 7: right answers pass, and each usual mistake gets its own hint."""

import torch
from answers import two_tests

from transformer_lib.teaching.exercises import encoder as check


def centred(x, dim=-1):
    return x - x.mean(dim=dim, keepdim=True)


def poured(x, rounds, add, dim=0):
    for _ in range(rounds):
        average = x.mean(dim, keepdim=True).expand_as(x)
        x = x + average if add else average
    return x


def poured_in_place(x, rounds, add):
    for _ in range(rounds):
        average = x.mean(0)
        x *= add
        x += average
    return x


def summed(x, rounds, add):
    for _ in range(rounds):
        x = x + x.sum(0) if add else x.sum(0).expand_as(x)
    return x


def layer_of(x, attention, feed_forward, norm):
    z = norm(x + attention(x))
    return norm(z + feed_forward(z))


def layer_in_place(x, attention, feed_forward, norm):
    x += attention(x)
    x = norm(x)
    x += feed_forward(x)
    return norm(x)


def bends(w_1, b_1, w_2, b_2=0):
    return lambda: ([w_1], b_1, [[number] for number in w_2], [b_2])


def normalised_in_place(x, eps):
    x -= x.mean(-1, keepdim=True)
    x /= (x.var(-1, keepdim=True, correction=0) + eps).sqrt()
    return x


RIGHT = [
    ("pour", poured),
    ("pour", poured_in_place),
    ("pour", lambda x, rounds, add: poured(x, rounds, add).tolist()),
    ("layer_of", layer_of),
    ("layer_of", layer_in_place),
    ("layer_of", lambda *given: layer_of(*given).float().numpy()),
    ("two_bends", bends([1, 1], [0, -1], [1, -1])),
    ("two_bends", bends([-1, -1], [1, 0], [-1, 1], 1)),
    ("two_bends", bends([1, 2, 1], [0, -2, -5], [1, -0.5, 0])),
    ("two_bends", lambda: tuple(map(torch.tensor, bends([1, 1], [0, -1], [1, -1])()))),
    ("normalise_rows", lambda x, eps: centred(x) / (x.var(-1, correction=0, keepdim=True) + eps).sqrt()),
    ("normalise_rows", lambda x, eps: torch.nn.functional.layer_norm(x, (4,), eps=eps)),
    ("normalise_rows", lambda x, eps: torch.nn.functional.layer_norm(x.float(), (4,), eps=eps).numpy()),
    ("normalise_rows", normalised_in_place),
]
WRONG = [
    ("pour", lambda x, rounds, add: poured(x, rounds, not add), "wrong way round"),
    ("pour", lambda x, rounds, add: poured(x, 1, add), "this is one round"),
    ("pour", lambda x, rounds, add: poured(x, rounds, add, dim=1), "within a token"),
    ("pour", lambda x, rounds, add: x + rounds * x.mean(0) if add else poured(x, 1, False), "the average of the first round"),
    ("pour", lambda x, rounds, add: x, "Each round: the average"),
    ("pour", lambda x, rounds, add: poured(x, rounds, add)[: 3 if add else 1].squeeze(0), "keeps the shape of x"),
    ("pour", lambda x, rounds, add: poured(x, rounds, add) if add else x.mean(), "keeps the shape of x"),
    ("pour", summed, "divided by how many"),
    ("layer_of", lambda x, a, f, n: n(x + f(n(x + a(x)))), "starts at z"),
    ("layer_of", lambda x, a, f, n: n(n(x + a(x)) + f(x)), "works on z"),
    ("layer_of", lambda x, a, f, n: n(f(n(x + a(x)))), "around the second box is missing"),
    ("layer_of", lambda x, a, f, n: n(n(a(x)) + f(n(a(x)))), "around the first box is missing"),
    ("layer_of", lambda x, a, f, n: n(f(n(a(x)))), "both ways around are missing"),
    ("layer_of", lambda x, a, f, n: n(x + a(x)), "the first box alone"),
    ("layer_of", lambda x, a, f, n: n(x + a(x)) + f(n(x + a(x))), "the second norm is missing"),
    ("layer_of", lambda x, a, f, n: x + a(x) + f(x + a(x)), "both norms are missing"),
    ("layer_of", lambda x, a, f, n: n(x + a(x) + f(x + a(x))), "the first norm is missing"),
    ("layer_of", lambda x, a, f, n: x + a(n(x)) + f(n(x + a(n(x)))), "this is pre-norm"),
    ("layer_of", lambda x, a, f, n: x + n(a(x)) + n(f(x + n(a(x)))), "not what the box gives"),
    ("layer_of", lambda x, a, f, n: layer_of(x, f, a, n), "attention comes first"),
    ("layer_of", lambda x, a, f, n: n(x + a(x) + f(x)), "one after the other"),
    ("layer_of", lambda x, a, f, n: x, "First z = norm"),
    ("two_bends", bends([1], [0], [1]), "it never stops"),
    ("two_bends", bends([1, -1], [0, 0], [1, -1]), "a straight line"),
    ("two_bends", bends([1, -1], [0, 0], [1, 1]), "the V of the text"),
    ("two_bends", bends([1, 1], [0, 0], [1, -1]), "0 everywhere"),
    ("two_bends", bends([1, 1], [0, -1], [1, 1]), "the wrong way"),
    ("two_bends", bends([1, 1], [0, 1], [1, -1]), "stands at -1"),
    ("two_bends", bends([1, 1], [0, -2], [1, -1]), r"for a = 1.5 it gives 1.5, not 1"),
    ("two_bends", lambda: ([[1, 1]], [0, -1], [1, -1], [0]), r"w_2 should have the shape \(2, 1\), not \(2,\)"),
    ("two_bends", lambda: ([[1, 1]], 0, [[1], [-1]], [0]), "b_1 is a vector"),
    ("two_bends", lambda: [[1, 1]], "return four things"),
    ("two_bends", lambda: ([["a", "b"]], [0, -1], [[1], [-1]], [0]), "w_1 should be numbers"),
    ("normalise_rows", lambda x, eps: centred(x) / (x.var(-1, keepdim=True) + eps).sqrt(), "divided by n - 1"),
    (
        "normalise_rows",
        lambda x, eps: centred(x, 0) / (x.var(0, correction=0, keepdim=True) + eps).sqrt(),
        "normalises columns",
    ),
    ("normalise_rows", lambda x, eps: (x - x.mean()) / (x.var(correction=0) + eps).sqrt(), "the whole matrix at once"),
    ("normalise_rows", lambda x, eps: centred(x), "the variance is not 1 yet"),
    ("normalise_rows", lambda x, eps: centred(x) / (x.std(-1, correction=0, keepdim=True) + eps), "outside the root"),
    ("normalise_rows", lambda x, eps: centred(x) / x.std(-1, correction=0, keepdim=True), "eps is not used"),
    ("normalise_rows", lambda x, eps: x, "Subtract each row's mean"),
    ("normalise_rows", lambda x, eps: x[0], r"the shape \(3, 4\), not \(4,\)"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)
