"""The checks of chapter 6: right answers pass, and each usual mistake gets its own hint."""

import math

import torch
from answers import two_tests

from transformer_lib.teaching.exercises import attention as check


def looked_up(scale):
    return lambda q, k, v: (k @ q / scale(q, k)).softmax(0) @ v


def weights(q, k):
    return (k @ q / math.sqrt(len(q))).softmax(0)


def cut(x, heads):
    return x.unflatten(-1, (heads, -1))


def scaled_in_place(query, keys, values):
    query /= math.sqrt(len(query))
    return (keys @ query).softmax(0) @ values


RIGHT = [
    ("look_up", looked_up(lambda q, k: math.sqrt(len(q)))),
    ("look_up", lambda q, k, v: (weights(q, k) @ v).numpy()),
    ("look_up", lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(q[None], k, v)[0]),
    ("look_up", scaled_in_place),
    ("whisper_and_shout", lambda: ([1 / 3] * 3, [0, 1, 0])),
    ("whisper_and_shout", lambda: (torch.zeros(3).softmax(0), torch.tensor([0.0, 175, 75]).softmax(0))),
    ("score_deviation", lambda s, d_k: s**2),
    ("score_deviation", lambda s, d_k: torch.tensor(s * s)),
    ("split", lambda x, heads: cut(x, heads).transpose(1, 2)),
    ("split", lambda x, heads: cut(x, heads).transpose(1, 2).numpy()),
    ("split", lambda x, heads: torch.stack(x.chunk(heads, dim=-1), dim=1)),
    ("cost", lambda n, m, d: 2 * (n + m) * d * d + 2 * n * m * d),
]
WRONG = [
    ("look_up", looked_up(lambda q, k: 1), "scale is missing: divide the scores"),
    ("look_up", looked_up(lambda q, k: len(q)), "divided by d_k; divide by its square root"),
    ("look_up", looked_up(lambda q, k: math.sqrt(len(k))), "root of the number of words"),
    ("look_up", lambda q, k, v: (k @ q).softmax(0) @ v / math.sqrt(len(q)), "divide the scores, not the weights"),
    ("look_up", lambda q, k, v: k @ q @ v / math.sqrt(len(q)), "softmax is missing"),
    ("look_up", lambda q, k, v: k @ q @ v, "the scale and the softmax are missing"),
    ("look_up", lambda q, k, v: weights(q, k), "these are the weights"),
    ("look_up", lambda q, k, v: k @ q, "one number for each of the 3 words"),
    ("look_up", lambda q, k, v: (weights(q, k) @ v)[None], r"should have the shape \(2,\), not \(1, 2\)"),
    ("look_up", lambda q, k, v: v[0], "softmax, then weights @ values"),
    ("whisper_and_shout", lambda: ([0, 0, 0], [0, 1, 0]), "three scores of 0 are no weights of 0"),
    ("whisper_and_shout", lambda: ([0.33] * 3, [0, 1, 0]), "write 1 / 3"),
    ("whisper_and_shout", lambda: ([1, 1, 1], [0, 1, 0]), "divided by the sum of all three"),
    ("whisper_and_shout", lambda: ([0.026, 0.858, 0.116], [0, 1, 0]), "a dot product of 0 with every key"),
    ("whisper_and_shout", lambda: ([0, 1, 0], [1 / 3] * 3), "the other way round"),
    ("whisper_and_shout", lambda: ([1 / 3] * 3, [0.026, 0.858, 0.116]), "are 100 times as far apart"),
    ("whisper_and_shout", lambda: ([1 / 3] * 3, [1, 0, 0]), "the order is They, played, chess"),
    ("whisper_and_shout", lambda: ([1 / 3] * 3, [1 / 3] * 3), "the weights become less alike"),
    ("whisper_and_shout", lambda: [1 / 3] * 3, "return two things"),
    ("score_deviation", lambda s, d_k: 1, "only for s = 1"),
    ("score_deviation", lambda s, d_k: s, "the product is s · s"),
    ("score_deviation", lambda s, d_k: s**4, "that is the variance"),
    ("score_deviation", lambda s, d_k: math.sqrt(d_k) * s**2, "before the scale"),
    ("score_deviation", lambda s, d_k: s**2 / math.sqrt(d_k), "√d_k times that of one product"),
    ("split", lambda x, heads: x.view(len(x), heads, x.size(1), -1), "the content is not: cut each row first"),
    ("split", cut, "the heads must come before the words"),
    (
        "split",
        lambda x, heads: x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2),
        "your head 0 gets the numbers 0, 2, 4, …: cut each row into",
    ),
    ("split", lambda x, heads: x, r"should have the shape \(2, 2, 3, 4\), not \(2, 3, 8\)"),
    (
        "split",
        lambda x, heads: x.transpose(1, 2).reshape(len(x), heads, x.size(1), -1),
        "swapped before the rows are cut",
    ),
    ("split", lambda x, heads: cut(x, heads).transpose(1, 2) + 1, r"0 at \[0, 0, 0, 0\], not 1 .*Cut each row into heads"),
    ("cost", lambda n, m, d: 2 * n * m * d, "four linear layers are missing"),
    ("cost", lambda n, m, d: 2 * (n + m) * d * d, "scores and the weighted sum are missing"),
    ("cost", lambda n, m, d: 2 * (n + m) * d * d + n * m * d, "the weighted sum as many again"),
    ("cost", lambda n, m, d: (n + 2 * m) * d * d + 2 * n * m * d, "the last one"),
    ("cost", lambda n, m, d: 4 * n * d * d + 2 * n * m * d, "two of the linear layers see"),
    ("cost", lambda n, m, d: (n + 3 * m) * d * d + 2 * n * m * d, "the last linear layer sees one row for each query"),
    ("cost", lambda n, m, d: 4 * (n + m) * d * d + 4 * n * m * d, "count multiplications only"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)
