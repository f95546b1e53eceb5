"""The checks of chapter 8: right answers pass, and each usual mistake gets its own hint."""

import torch
from answers import two_tests

from transformer_lib.teaching.exercises import masks as check


def past(scores, diagonal=0):
    return torch.ones(scores.shape[-1], scores.shape[-1], dtype=torch.bool).tril(diagonal)


def causal_weights(scores, fill=-torch.inf, diagonal=0):
    return scores.masked_fill(~past(scores, diagonal), fill).softmax(dim=-1)


def target_mask(tokens, pad_id):
    return (tokens != pad_id)[:, None, :] & past(tokens)


def first_leak(before, after, changed):
    for position in range(changed):
        if (before[position] - after[position]).abs().max() > 1e-6:
            return position
    return -1


def leak_if(test):
    """An answer that asks `test` of the difference `before - after` of each output."""

    def answer(before, after, changed):
        return next((place for place in range(changed) if test(before[place] - after[place])), -1)

    return answer


def first_moved(before, after, changed):
    return first_leak(before, after, len(before))


RIGHT = [
    ("hidden_scores", lambda length: length * (length - 1) // 2),
    ("hidden_scores", lambda length: torch.ones(length, length).triu(1).sum()),
    ("causal_weights", causal_weights),
    ("causal_weights", lambda scores: causal_weights(scores.float())),
    ("causal_weights", lambda scores: causal_weights(scores).tolist()),
    ("target_mask", target_mask),
    ("target_mask", lambda tokens, pad_id: target_mask(tokens, pad_id).int()),
    ("first_leak", first_leak),
    ("first_leak", lambda *given: torch.tensor(first_leak(*given))),
]
WRONG = [
    ("hidden_scores", lambda length: length * (length + 1) / 2, "scores that stay"),
    ("hidden_scores", lambda length: length * (length - 1), "counts both triangles"),
    ("hidden_scores", lambda length: length**2 / 2, "the diagonal is not hidden"),
    ("hidden_scores", lambda length: 6, r"the result for \(1\) should be 0, not 6"),
    ("causal_weights", lambda scores: scores.softmax(dim=-1), "the mask changes nothing yet"),
    ("causal_weights", lambda scores: scores.softmax(dim=-1) * past(scores), "the rows do not sum to 1"),
    ("causal_weights", lambda scores: (scores * past(scores)).softmax(dim=-1), "e⁰ = 1"),
    ("causal_weights", lambda scores: scores.masked_fill(past(scores, -1), -torch.inf).softmax(-1), "hides the past"),
    ("causal_weights", lambda scores: scores.masked_fill(~past(scores), -torch.inf), "the softmax is missing"),
    ("causal_weights", lambda scores: causal_weights(scores, diagonal=-1), "keep the diagonal"),
    ("causal_weights", lambda scores: causal_weights(scores, fill=-20.0), "not a large negative number"),
    ("causal_weights", lambda scores: causal_weights(scores, fill=-100.0), "not a large negative number"),
    ("causal_weights", lambda scores: scores.masked_fill(~past(scores), -torch.inf).softmax(0), "the columns sum to 1"),
    ("causal_weights", lambda scores: scores.masked_fill(past(scores), -torch.inf).softmax(-1), "turn the triangle around"),
    ("target_mask", lambda tokens, pad_id: ~target_mask(tokens, pad_id), "the wrong way round"),
    ("target_mask", lambda tokens, pad_id: (tokens != pad_id)[:, :, None] & past(tokens), "hides rows"),
    ("target_mask", lambda tokens, pad_id: (tokens != pad_id)[:, None, :] | past(tokens), "`or` lets through"),
    ("target_mask", lambda tokens, pad_id: past(tokens).expand(len(tokens), -1, -1), "padding is not hidden yet"),
    (
        "target_mask",
        lambda tokens, pad_id: (tokens != pad_id)[:, None, :].expand(-1, tokens.shape[1], -1),
        "future is not hidden yet",
    ),
    ("target_mask", lambda tokens, pad_id: (tokens != pad_id)[:, None, :] & past(tokens).T, "hides the past"),
    ("target_mask", lambda tokens, pad_id: target_mask(tokens, pad_id)[:, None], "leave out the axis of the heads"),
    ("target_mask", lambda tokens, pad_id: target_mask(tokens, 0), "use `pad_id`"),
    (
        "target_mask",
        lambda tokens, pad_id: target_mask(tokens, pad_id) & (tokens != pad_id)[:, :, None],
        r"hides rows \(queries\) too",
    ),
    ("target_mask", lambda tokens, pad_id: past(tokens), r"the shape \(2, 4, 4\), not \(4, 4\)"),
    ("first_leak", first_moved, "output `changed` may move, because it sees itself"),
    ("first_leak", lambda before, after, changed: first_leak(before, after, changed + 1), "Only earlier ones are leaks"),
    (
        "first_leak",
        lambda before, after, changed: -1,
        r"for \(array .*, 3\) should be 1, not -1. Look for the first position",
    ),
    ("first_leak", leak_if(lambda moved: moved.sum().abs() > 1e-6), "a sum cancels"),
    ("first_leak", leak_if(lambda moved: (moved > 1e-6).any()), "move up: take the absolute value"),
    ("first_leak", leak_if(lambda moved: (moved < -1e-6).any()), "move down: take the absolute value"),
    ("first_leak", leak_if(lambda moved: (moved != 0).any()), "that is rounding. Ask for more than 1e-6"),
    (
        "first_leak",
        lambda before, after, end: next((p for p in range(end) if not torch.allclose(before[p], after[p])), -1),
        "allclose allows more where the numbers are large",
    ),
    ("first_leak", leak_if(lambda moved: moved.abs().max() > 0.01), "more than 1e-6, so it is a leak"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)
