"""The checks of chapter 7: right answers pass, and each usual mistake gets its own hint."""

import torch
from answers import two_tests

from transformer_lib.teaching.exercises import encoder as check


def centred(x, dim=-1):
    return x - x.mean(dim=dim, keepdim=True)


def feed_forward(x, w_1, b_1, w_2, b_2):
    return (x @ w_1 + b_1).relu() @ w_2 + b_2


def normalised_in_place(x, eps):
    x -= x.mean(-1, keepdim=True)
    x /= (x.var(-1, keepdim=True, correction=0) + eps).sqrt()
    return x


def added_in_place(x, norm, sublayer):
    x += sublayer(norm(x))
    return x


RIGHT = [
    ("head_shapes", lambda s, d, h: ((d, d // h), (s, d // h), (s, s))),
    ("head_shapes", lambda s, d, h: [torch.zeros(d, d // h).shape, [s, d // h], (s, s)]),
    ("normalise_rows", lambda x, eps: centred(x) / (x.var(-1, correction=0, keepdim=True) + eps).sqrt()),
    ("normalise_rows", lambda x, eps: torch.nn.functional.layer_norm(x, (4,), eps=eps)),
    ("normalise_rows", lambda x, eps: torch.nn.functional.layer_norm(x.float(), (4,), eps=eps).numpy()),
    ("pre_norm_step", lambda x, norm, sublayer: x + sublayer(norm(x))),
    ("normalise_rows", normalised_in_place),
    ("pre_norm_step", added_in_place),
    ("feed_forward", feed_forward),
    ("feed_forward", lambda *given: feed_forward(*given).tolist()),
    ("feed_forward", lambda x, w, b, v, c: torch.nn.functional.linear(torch.relu(x @ w + b), v.T, c).float()),
]
WRONG = [
    ("head_shapes", lambda s, d, h: ((d, d), (s, d), (s, s)), "all heads side by side"),
    ("head_shapes", lambda s, d, h: ((d // h, d), (s, d // h), (s, s)), "W_Q is transposed"),
    ("head_shapes", lambda s, d, h: ((d, d // h), (s, d // h), (d // h, d // h)), "tokens with tokens"),
    ("head_shapes", lambda s, d, h: ((d, h), (s, h), (s, s)), "not the number of heads"),
    ("head_shapes", lambda s, d, h: ((s, d // h), (s, d // h), (s, s)), "cannot depend on the length"),
    ("head_shapes", lambda s, d, h: ((d, d // h), (s, d // h), (s, d // h)), "one row per query"),
    ("head_shapes", lambda s, d, h: (d, d // h), "return three things: the shape of W_Q, the shape of Q and the shape of"),
    ("head_shapes", lambda s, d, h: ((d, d // h), (s, d // h), (h, s, s)), "for all heads at once"),
    ("head_shapes", lambda s, d, h: ((h, d, d // h), (h, s, d // h), (h, s, s)), "for all heads at once"),
    ("head_shapes", lambda s, d, h: ((d, d // h), (s, d // h), (1, s, s)), r"of the weights .* \[3, 3\], not \[1, 3, 3\]"),
    (
        "head_shapes",
        lambda s, d, h: ((8, 2), (3, 2), (3, 3)),
        r"the shape of W_Q for \(50, 512, 8\) should be \[512, 64\], not \[8, 2\]",
    ),
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
    ("pre_norm_step", lambda x, norm, sublayer: norm(x + sublayer(x)), "this is post-norm"),
    ("pre_norm_step", lambda x, norm, sublayer: x + norm(sublayer(x)), "before the sublayer"),
    ("pre_norm_step", lambda x, norm, sublayer: norm(x) + sublayer(norm(x)), "was not normalised"),
    ("pre_norm_step", lambda x, norm, sublayer: sublayer(norm(x)), "residual is missing"),
    ("pre_norm_step", lambda x, norm, sublayer: x + sublayer(x), "nothing is normalised"),
    ("pre_norm_step", lambda x, norm, sublayer: x, "add the untouched x"),
    ("feed_forward", lambda x, w, b, v, c: (x @ w + b) @ v + c, "the ReLU is missing"),
    ("feed_forward", lambda *given: feed_forward(*given).relu(), "keeps its negative numbers"),
    ("feed_forward", lambda x, w, b, v, c: ((x @ w + b) @ v + c).relu(), "not at the end"),
    ("feed_forward", lambda x, w, b, v, c: (x @ w).relu() @ v + c, "b_1 is missing"),
    ("feed_forward", lambda x, w, b, v, c: (x @ w + b).relu() @ v, "b_2 is missing"),
    ("feed_forward", lambda x, w, b, v, c: ((x @ w).relu() + b) @ v + c, "before, so that it moves the bend"),
    ("feed_forward", lambda x, *rest: x + feed_forward(x, *rest), "this adds x"),
    ("feed_forward", lambda x, w, b, v, c: (x @ w + b).relu(), r"the shape \(3, 4\), not \(3, 6\)"),
    ("feed_forward", lambda x, w, b, v, c: (x @ w + b).tanh() @ v + c, "then the ReLU"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)
