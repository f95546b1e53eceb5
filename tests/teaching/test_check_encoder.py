"""The checks of chapter 7: right answers pass, and each usual mistake gets its own hint."""

import re

import pytest
import torch

from transformer_lib.teaching.check import encoder as check


def centred(x, dim=-1):
    return x - x.mean(dim=dim, keepdim=True)


def count(d, f):
    return 4 * d * d + 2 * d * f + f + d + 4 * d


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("head_shapes", lambda s, d, h: ((d, d // h), (s, d // h), (s, s))),
        ("head_shapes", lambda s, d, h: [torch.zeros(d, d // h).shape, [s, d // h], (s, s)]),
        ("normalise_rows", lambda x, eps: centred(x) / (x.var(-1, correction=0, keepdim=True) + eps).sqrt()),
        ("normalise_rows", lambda x, eps: torch.nn.functional.layer_norm(x, (4,), eps=eps)),
        ("normalise_rows", lambda x, eps: torch.nn.functional.layer_norm(x.float(), (4,), eps=eps).numpy()),
        ("pre_norm_step", lambda x, norm, sublayer: x + sublayer(norm(x))),
        ("layer_parameters", count),
        ("layer_parameters", lambda d, f: torch.tensor(count(d, f))),
    ],
)
def test_a_right_answer_passes(says, name, answer):
    assert says(getattr(check, name), answer).startswith(f"✓ {name}: ")


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("head_shapes", lambda s, d, h: ((d, d), (s, d), (s, s)), "all heads side by side"),
        ("head_shapes", lambda s, d, h: ((d // h, d), (s, d // h), (s, s)), "W_Q is transposed"),
        ("head_shapes", lambda s, d, h: ((d, d // h), (s, d // h), (d // h, d // h)), "tokens with tokens"),
        ("head_shapes", lambda s, d, h: ((d, h), (s, h), (s, s)), "not the number of heads"),
        ("head_shapes", lambda s, d, h: (d, d // h), r"shape \(2,\), expected \(3, 2\)"),
        ("head_shapes", lambda s, d, h: ((8, 2), (3, 2), (3, 3)), r"the result for \(50, 512, 8\)"),
        ("normalise_rows", lambda x, eps: centred(x) / (x.var(-1, keepdim=True) + eps).sqrt(), "divided by n - 1"),
        (
            "normalise_rows",
            lambda x, eps: centred(x, 0) / (x.var(0, correction=0, keepdim=True) + eps).sqrt(),
            "normalises columns",
        ),
        ("normalise_rows", lambda x, eps: centred(x), "the variance is not 1 yet"),
        ("normalise_rows", lambda x, eps: centred(x) / (x.std(-1, correction=0, keepdim=True) + eps), "outside the root"),
        ("normalise_rows", lambda x, eps: centred(x) / x.std(-1, correction=0, keepdim=True), "eps is not used"),
        ("normalise_rows", lambda x, eps: x, "Subtract each row's mean"),
        ("normalise_rows", lambda x, eps: x[0], r"shape \(4,\), expected \(3, 4\)"),
        ("pre_norm_step", lambda x, norm, sublayer: norm(x + sublayer(x)), "this is post-norm"),
        ("pre_norm_step", lambda x, norm, sublayer: x + norm(sublayer(x)), "before the sublayer"),
        ("pre_norm_step", lambda x, norm, sublayer: norm(x) + sublayer(norm(x)), "was not normalised"),
        ("pre_norm_step", lambda x, norm, sublayer: sublayer(norm(x)), "residual is missing"),
        ("pre_norm_step", lambda x, norm, sublayer: x + sublayer(x), "nothing is normalised"),
        ("pre_norm_step", lambda x, norm, sublayer: x, "add the untouched x"),
        ("layer_parameters", lambda d, f: count(d, f) + 4 * d, "no bias in this exercise"),
        ("layer_parameters", lambda d, f: count(d, f) - 4 * d, "have a γ and a β each"),
        ("layer_parameters", lambda d, f: count(d, f) - 2 * d, "two layer normalisations"),
        ("layer_parameters", lambda d, f: count(d, f) - f - d, "has biases"),
        ("layer_parameters", lambda d, f: count(d, f) - d * d, "W_O is missing"),
        ("layer_parameters", lambda d, f: count(d, f) - d * f, "two matrices, one each way"),
        ("layer_parameters", lambda d, f: 500, r"the result for \(512, 2048\)"),
    ],
)
def test_a_usual_mistake_gets_its_hint(says, name, answer, hint):
    line = says(getattr(check, name), answer)
    assert line.startswith(f"✗ {name}: ")
    assert re.search(hint, line), line
