"""The checks of chapter 1: right answers pass, and each usual mistake gets its own hint."""

import numpy as np
import torch
from answers import two_tests

from transformer_lib.teaching import exercises as engine
from transformer_lib.teaching.exercises import seq2seq as check


def written(scores, sos, eos, max_len, stop=True):
    word, words = sos, []
    while len(words) < max_len and not (stop and word == eos):
        word = int(scores[word].argmax())
        words.append(word)
    return words


def card(vectors, k):
    state = vectors[0] * 0
    for x in vectors:
        state = k * state + x
    return state


def mean_loss(losses, targets):
    return losses[targets != 0].mean()


def per_sentence(losses, targets):
    real = targets != 0
    return ((losses * real).sum(1) / real.sum(1)).mean()


RIGHT = [
    ("shifted", lambda answer, sos, eos: ([sos, *answer], [*answer, eos])),
    ("shifted", lambda answer, sos, eos: [np.insert(answer, 0, sos), np.append(answer, eos)]),
    ("shifted", lambda a, s, e: (torch.tensor([s, *a]), torch.tensor([*a, e]))),
    ("mean_loss", mean_loss),
    ("mean_loss", lambda losses, targets: mean_loss(losses.float(), targets).item()),
    ("mean_loss", lambda losses, targets: (losses * (targets > 0)).sum() / (targets > 0).sum()),
    ("write", written),
    ("write", lambda *arguments: torch.tensor(written(*arguments))),
    ("last_card", card),
    ("last_card", lambda vectors, k: card(torch.tensor(vectors), k)),
    ("last_card", lambda vectors, k: sum(x * k**n for n, x in enumerate(vectors[::-1]))),
]
WRONG = [
    ("shifted", lambda a, s, e: ([*a, e], [s, *a]), "wrong order"),
    ("shifted", lambda a, s, e: ([s, *a, e], [s, *a, e]), "given the word that it must write"),
    ("shifted", lambda a, s, e: ([s, *a], [*a]), "lacks EOS at the end"),
    ("shifted", lambda a, s, e: ([*a], [*a, e]), "lacks SOS in front"),
    ("shifted", lambda a, s, e: ([s, *a, e], [*a, e]), "EOS is never read"),
    ("shifted", lambda a, s, e: ([s, *a], [s, *a]), "SOS is read, and never written"),
    ("shifted", lambda a, s, e: ([s, *a[:-1]], [*a]), "EOS is missing"),
    (
        "shifted",
        lambda a, s, e: ([s, s, *a], [*a, e]),
        r"what the decoder reads for .* should be \[1, 7, 5, 9\], not \[1, 1, 7, 5, 9\]",
    ),
    (
        "shifted",
        lambda a, s, e: ([e, *a], [*a, e]),
        r"should be \[1, 7, 5, 9\], not \[2, 7, 5, 9\]. What is read starts with SOS",
    ),
    ("shifted", lambda a, s, e: ([s, *a], [*a, s]), r"should be \[7, 5, 9, 2\], not \[7, 5, 9, 1\]. .*ends with EOS"),
    ("shifted", lambda a, s, e: ([1, *a], [*a, 2]), "their ids are not always 1 and 2"),
    ("shifted", lambda a, s, e: (np.add([s], a), np.add(a, [e])), r"\+ adds to its numbers: .* \[sos, \*answer\]"),
    ("shifted", lambda a, s, e: (s + a, [*a, e]), r"\+ adds to its numbers"),
    ("shifted", lambda a, s, e: [s, *a], "return two things: what the decoder reads and what it must write"),
    ("shifted", lambda a, s, e: 3, "return two things: what the decoder reads and what it must write"),
    ("mean_loss", lambda losses, targets: losses.mean(), "mean over all places"),
    ("mean_loss", lambda losses, targets: losses[targets != 0].sum(), "divide by how many"),
    ("mean_loss", lambda losses, targets: (losses * (targets != 0)).mean(), "still counted"),
    ("mean_loss", per_sentence, "mean of the sentences' means"),
    ("mean_loss", lambda losses, targets: losses[targets > 2].mean(), "EOS .* is left out too"),
    ("mean_loss", lambda losses, targets: losses[targets == 0].mean(), "mean over the padding"),
    ("mean_loss", lambda losses, targets: 1.0, "the result should be 2.281, not 1"),
    ("mean_loss", lambda losses, targets: losses[targets != 0], r"the result should be 2.281, not \[1, 2, 3"),
    ("write", lambda scores, s, e, m: [s, *written(scores, s, e, m)], "start sign is not part"),
    ("write", lambda scores, s, e, m: [w for w in written(scores, s, e, m) if w != e], "end sign is part"),
    ("write", lambda scores, s, e, m: written(scores, s, e, m, stop=False), "after EOS nothing may follow"),
    ("write", lambda scores, s, e, m: written(scores, s, e, m + 1), "one word more than max_len"),
    ("write", lambda scores, s, e, m: written(scores, s, e, m - 1), "one word less than max_len"),
    ("write", lambda scores, s, e, m: written(scores, s, e, 50), "count them in the loop"),
    ("write", lambda scores, s, e, m: written(scores.T, s, e, m), "highest score in the row of the word before"),
    ("write", lambda scores, s, e, m: written(-scores, s, e, m), "highest score in the row of the word before"),
    ("write", lambda scores, s, e, m: [[5, 3, 4, 2]], r"should have the shape \(4,\), not \(1, 4\)"),
    ("write", lambda scores, s, e, m: [5, [3]], r"should be numbers, not a list: \[5, \[3\]\]"),
    ("write", lambda scores, s, e, m: written(scores, 1, 2, m), "start at `sos` and stop at `eos`"),
    ("write", lambda scores, s, e, m: written(scores, s, 2, m), "start at `sos` and stop at `eos`"),
    ("write", lambda scores, s, e, m: written(scores, 1, e, m), "start at `sos` and stop at `eos`"),
    ("write", lambda scores, s, e, m: [], r"should be \[5, 3, 4, 2\], not \[\]"),
    ("last_card", lambda vectors, k: card(vectors, 0.5), "whatever k is"),
    ("last_card", lambda vectors, k: vectors.sum(axis=0), "the sum of all words"),
    ("last_card", lambda vectors, k: vectors[-1], "the last word alone"),
    ("last_card", lambda vectors, k: card(vectors[::-1], k), "from its end"),
    ("last_card", lambda vectors, k: card(vectors[1:], k) if len(vectors) > 1 else 0 * vectors[0], "the first word is missing"),
    ("last_card", lambda vectors, k: k * card(vectors, k), "multiplied by k as well"),
    ("last_card", lambda vectors, k: (1 - k) * card(vectors, k), "the whole new word"),
    ("last_card", lambda vectors, k: np.stack([card(vectors[: n + 1], k) for n in range(len(vectors))]), "return the last one"),
    ("last_card", lambda vectors, k: card(vectors, k) + 1, "multiply the card by k, then add"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)


def test_a_loop_without_max_len_ends_in_a_message(says, monkeypatch):
    monkeypatch.setattr(engine, "SECONDS", 0.2)

    def endless(scores, sos, eos, max_len):
        word, words = sos, []
        while word != eos:
            word = int(scores[word].argmax())
            words.append(word)
        return words

    assert "is there a loop that never ends?" in says(check.write, endless)
