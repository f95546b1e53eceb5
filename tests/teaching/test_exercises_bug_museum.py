"""The checks of chapter 18: right answers pass, and each usual mistake gets its own hint."""

import torch
from answers import two_tests
from torch.nn.functional import pad

from transformer_lib.masks import assert_causal
from transformer_lib.teaching.exercises import bug_museum as check


@torch.no_grad()
def sees_future(model, source, target_in, laters=None, compared=None, tolerance=1e-4):
    before = model(source, target_in)
    for later in laters or range(1, target_in.size(1)):
        changed = target_in.clone()
        changed[:, later] = torch.where(changed[:, later] == 3, 4, 3)
        moved = (model(source, changed) - before).abs()[:, : compared or later]
        if moved.max() > tolerance:
            return True
    return False


def by_the_library(model, source, target_in):
    try:
        assert_causal(model, target_in, run=lambda words: model(source, words))
    except AssertionError:
        return True
    return False


def in_place(model, source, target_in):
    answer = sees_future(model, source, target_in)
    target_in[:, -1] = 3
    return answer


def in_training_mode(model, source, target_in):
    model.train()
    return sees_future(model, source, target_in)


@torch.no_grad()
def difference(model, source, target_in, columns, sides=(0, 1)):
    padded = pad(source, tuple(side * columns for side in sides))
    return model(padded, target_in) - model(source, target_in)


def padding_effect(*given):
    return difference(*given).abs().max()


@torch.no_grad()
def which_bug(build, tolerance=1e-4, skip=()):
    model = build()
    source, words = torch.tensor([[3, 4, 5]]), torch.tensor([[1, 3, 4]])
    other = torch.tensor([[1, 3, 9]])
    found = {
        "future": (model(source, other) - model(source, words))[:, :2].abs().max() > tolerance,
        "padding-rows": difference(model, source, words, 2).abs().max() > tolerance,
        "one-layer": model.encoder.layers[0] is model.encoder.layers[1],
        "start": model.output.weight.std() > 0.5,
    }
    return next((name for name, there in found.items() if there and name not in skip), "none")


RIGHT = [
    ("reported_loss", lambda loss, lengths: loss * sum(lengths) / (len(lengths) * max(lengths))),
    ("sees_future", sees_future),
    ("sees_future", lambda *given: torch.tensor(sees_future(*given))),
    ("sees_future", by_the_library),
    ("padding_effect", padding_effect),
    ("padding_effect", lambda *given: padding_effect(*given).item()),
    ("which_bug", which_bug),
]
WRONG = [
    ("reported_loss", lambda loss, lengths: loss, "this is the true loss"),
    ("reported_loss", lambda loss, lengths: loss * len(lengths) * max(lengths) / sum(lengths), "the wrong way round"),
    ("reported_loss", lambda loss, lengths: loss / len(lengths), "sentences times the longest"),
    ("reported_loss", lambda loss, lengths: loss * sum(lengths), "this is the sum"),
    ("sees_future", lambda *given: True, "True for the right model"),
    ("sees_future", lambda *given: False, "with the bug future on, this says False"),
    ("sees_future", lambda *given: sees_future(*given, compared=5), "True for the right model"),
    ("sees_future", lambda *given: sees_future(*given, laters=[4]), "output 0 sees word 1 passes as right"),
    ("sees_future", lambda *given: sees_future(*given, compared=1), "output 3 sees word 4 passes as right"),
    ("sees_future", in_place, "work on a copy"),
    ("sees_future", in_training_mode, "mode was changed"),
    ("padding_effect", lambda *given: difference(*given, sides=(1, 0)).abs().max(), "stands on the left"),
    ("padding_effect", lambda *given: difference(*given).abs().mean(), "this is the mean"),
    ("padding_effect", lambda *given: difference(*given).abs().sum(), "this is the sum"),
    ("padding_effect", lambda *given: difference(*given).max(), "take abs before max"),
    ("padding_effect", lambda *given: -difference(*given).min(), "take abs before max"),
    ("padding_effect", lambda *given: 0.0, "this finds nothing"),
    ("padding_effect", lambda *given: 7.0, "with 2 columns and the right library should be 0, not 7"),
    ("which_bug", lambda build: "none", "the bug future was on, and the answer is none: change the last word"),
    ("which_bug", lambda build: "future", "nothing was switched on"),
    ("which_bug", lambda build: which_bug(build, tolerance=0.0), "Is rounding taken for a difference"),
    ("which_bug", lambda build: which_bug(build, skip=["padding-rows"]), "add padding behind the source's words"),
    ("which_bug", lambda build: which_bug(build, skip=["one-layer"]), "are the encoder's two layers one object"),
    ("which_bug", lambda build: which_bug(build, skip=["start"]), "the shared matrix"),
    ("which_bug", lambda build: 3, "the answer is 3, expected one of none, future"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)
