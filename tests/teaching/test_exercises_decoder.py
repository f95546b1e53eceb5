"""The checks of chapter 9: right answers pass, and each usual mistake gets its own hint."""

import math

import torch
from answers import two_tests

from transformer_lib.teaching.exercises import decoder as check


def attend(query, key, value, scale=2.0, dim=-1):
    return (query @ key.T / scale).softmax(dim=dim) @ value


def right_attend(x, memory, w_query, w_key, w_value):
    return attend(x @ w_query, memory @ w_key, memory @ w_value)


def without_keepdim(x, memory, w_query, w_key, w_value):
    exponentials = (x @ w_query @ (memory @ w_key).T / 2).exp()
    return exponentials / exponentials.sum(1) @ (memory @ w_value)


def entropy(counts):
    return sum(c / sum(counts) * math.log(sum(counts) / c) for c in counts)


def steps(*order, norm_of=lambda norm, y, f: norm(y + f(y))):
    """Return an answer that runs these sublayers (0 back, 1 across, 2 feed-forward), each inside `norm_of`."""

    def answer(x, memory, back, across, feed, norm):
        for which in order:
            f = (back, lambda y: across(y, memory), feed)[which]
            x = norm_of(norm, x, f)
        return x

    return answer


def without_norm(which):
    def answer(x, memory, back, across, feed, norm):
        for number, f in enumerate((back, lambda y: across(y, memory), feed)):
            x = x + f(x) if number == which else norm(x + f(x))
        return x

    return answer


def second_step(make):
    """Return an answer with its own second sum: `make(y, x, memory, across)` is normalised."""

    def answer(x, memory, back, across, feed, norm):
        y = norm(x + back(x))
        y = norm(make(y, x, memory, across))
        return norm(y + feed(y))

    return answer


RIGHT = [
    ("map_shape", lambda batch, heads, source, target: (batch, heads, target, source)),
    ("map_shape", lambda batch, heads, source, target: torch.zeros(batch, heads, target, source).shape),
    ("cross_attend", right_attend),
    ("cross_attend", lambda *given: right_attend(*(array.float() for array in given))),
    ("blind_floor", entropy),
    (
        "blind_floor",
        lambda counts: -(torch.tensor(counts) / sum(counts)).log().mul(torch.tensor(counts) / sum(counts)).sum(),
    ),
    ("three_steps", steps(0, 1, 2)),
    ("three_steps", lambda *given: steps(0, 1, 2)(*given).tolist()),
]
WRONG = [
    ("map_shape", lambda b, h, s, t: (b, h, s, t), "last two axes are swapped"),
    ("map_shape", lambda b, h, s, t: (b, h, t, t), "self-attention of the decoder"),
    ("map_shape", lambda b, h, s, t: (b, h, s, s), "self-attention of the encoder"),
    ("map_shape", lambda b, h, s, t: (b, t, s), "each head has a map"),
    ("map_shape", lambda b, h, s, t: (h, b, t, s), "batch comes first"),
    ("map_shape", lambda b, h, s, t: (1, h, t, s), r"\(batch, heads, queries, keys\)"),
    ("cross_attend", lambda x, m, q, k, v: attend(m @ q, x @ k, x @ v), "x and memory have changed places"),
    ("cross_attend", lambda x, m, q, k, v: attend(m @ q, m @ k, m @ v), "queries come from memory"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, x @ v), "values come from x"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, x @ k, m @ v), "keys come from x"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ v, m @ k), "w_key and w_value have changed places"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, m @ v, scale=1), "not divided by √d_k"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, m @ v, scale=4), "divided by d_k"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, m @ v, scale=math.sqrt(6)), "divided by √d_model"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, x @ k, x @ v), "self-attention of x"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, m @ v, dim=0), "runs over the target words"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, m @ k), "keys are averaged"),
    ("cross_attend", lambda x, m, q, k, v: x @ q @ (m @ k).T / 2 @ (m @ v), "softmax is missing"),
    ("cross_attend", lambda x, m, q, k, v: x @ q, "It is softmax"),
    ("cross_attend", lambda x, m, q, k, v: x, r"the shape \(3, 4\), not \(3, 6\)"),
    ("cross_attend", without_keepdim, "keep the axis of the sum"),
    ("blind_floor", lambda counts: math.log(len(counts)), "equal counts only"),
    ("blind_floor", lambda counts: math.log(sum(counts)), "number of pairs"),
    ("blind_floor", lambda counts: sum(math.log(sum(counts) / c) for c in counts) / len(counts), "weigh each -log p"),
    ("blind_floor", lambda counts: sum(math.log(sum(counts) / c) for c in counts), "plain sum"),
    ("blind_floor", lambda counts: entropy(counts) / math.log(2), "in bits"),
    ("blind_floor", lambda counts: -entropy(counts), "minus the logarithm"),
    ("blind_floor", lambda counts: math.log(sum(counts) / max(counts)), "most frequent sentence alone"),
    ("blind_floor", lambda counts: sum(counts) * entropy(counts), "take their mean"),
    ("blind_floor", lambda counts: 1.0, "the sentence's share"),
    ("three_steps", steps(0, 1, 2, norm_of=lambda norm, y, f: y + f(norm(y))), "that is pre-norm"),
    (
        "three_steps",
        lambda *given: given[-1](steps(0, 1, 2, norm_of=lambda n, y, f: y + f(n(y)))(*given)),
        "that is pre-norm",
    ),
    ("three_steps", steps(0, 1, 2, norm_of=lambda norm, y, f: y + f(y)), "norms are missing"),
    (
        "three_steps",
        lambda *given: given[-1](steps(0, 1, 2, norm_of=lambda n, y, f: y + f(y))(*given)),
        "one norm at the end",
    ),
    ("three_steps", steps(0, 1, 2, norm_of=lambda norm, y, f: norm(f(y))), "residual connections are missing"),
    ("three_steps", steps(0, 1, 2, norm_of=lambda norm, y, f: y + norm(f(y))), "stands around the sum"),
    ("three_steps", steps(1, 0, 2), "look back first"),
    ("three_steps", steps(0, 1), "feed-forward network is missing"),
    ("three_steps", steps(0, 2), "step to the memory is missing"),
    ("three_steps", steps(1, 2), "step back over the target is missing"),
    ("three_steps", lambda x, m, b, a, f, n: n(x + b(x) + a(x, m) + f(x)), "all three read x"),
    ("three_steps", second_step(lambda y, x, m, across: y + across(m, y)), "x comes first"),
    ("three_steps", second_step(lambda y, x, m, across: m + across(y, m)), "adds the memory"),
    ("three_steps", second_step(lambda y, x, m, across: x + across(y, m)), "adds the old x"),
    ("three_steps", lambda x, *_: x, "Three times norm"),
    ("three_steps", lambda x, *_: x[0], r"the shape \(4, 3\), not \(3,\)"),
    ("three_steps", without_norm(2), "the last norm is missing"),
    ("three_steps", without_norm(1), "the second norm is missing"),
    ("three_steps", without_norm(0), "the first norm is missing"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)
