"""The checks of chapter 13: right answers pass, and each usual mistake gets its own hint."""

import numpy as np
import torch
from answers import two_tests

from transformer_lib.teaching.exercises import decoding as check


def score(log_probability, length, alpha):
    return log_probability / ((5 + length) / 6) ** alpha


def words_read(length, use_cache):
    return length if use_cache else length * (length + 1) // 2


def top_k_probabilities(logits, k):
    best, places = logits.topk(min(k, len(logits)))
    chances = torch.zeros_like(logits)
    chances[places] = best.softmax(dim=0)
    return chances


def cut(logits, k, fill=-torch.inf):
    lowest = logits.sort(descending=True).values[min(k, len(logits)) - 1]
    return logits.masked_fill(logits < lowest, fill)


def after_the_end(tokens, eos_id, pad_id):
    is_end = (tokens == eos_id).int()
    return tokens.masked_fill(is_end.cumsum(dim=1) - is_end > 0, pad_id)


def padded_in_place(tokens, eos_id, pad_id):
    return tokens.copy_(after_the_end(tokens, eos_id, pad_id))


def beam_step(sums, steps):
    beam, vocab = steps.shape
    best, places = (sums[:, None] + steps).flatten().topk(beam)
    return best, places // vocab, places % vocab


def without_sums(sums, steps):
    return beam_step(torch.zeros_like(sums), steps)


def worst_first(sums, steps):
    return tuple(part.flip(0) for part in beam_step(sums, steps))


def flat_places(sums, steps):
    best, places = (sums[:, None] + steps).flatten().topk(len(sums))
    return best, places // steps.size(1), places


def multiplied(sums, steps):
    best, places = (sums[:, None] * steps).flatten().topk(len(sums))
    return best, places // steps.size(1), places % steps.size(1)


def divided_by_the_beam(sums, steps):
    best, places = (sums[:, None] + steps).flatten().topk(len(sums))
    return best, places // len(sums), places % steps.size(1)


def cut_in_place(logits, k):
    return logits.copy_(cut(logits, k)).softmax(dim=0)


def only_those_that_stay(logits, k):
    chances = top_k_probabilities(logits, k)
    return chances[chances > 0]


def best_child_of_each(sums, steps):
    best, words = (sums[:, None] + steps).max(dim=1)
    order = best.argsort(descending=True)
    return best[order], order, words[order]


RIGHT = [
    ("score", score),
    ("score", lambda p, length, alpha: torch.tensor(score(p, length, alpha))),
    ("words_read", words_read),
    ("words_read", lambda n, cache: sum(1 if cache else t for t in range(1, n + 1))),
    ("top_k_probabilities", top_k_probabilities),
    ("top_k_probabilities", lambda logits, k: cut(logits, k).softmax(dim=0).tolist()),
    ("top_k_probabilities", cut_in_place),
    ("after_the_end", after_the_end),
    ("after_the_end", lambda *given: after_the_end(*given).tolist()),
    ("beam_step", beam_step),
    ("beam_step", lambda *given: [part.tolist() for part in beam_step(*given)]),
]
WRONG = [
    ("score", lambda p, n, alpha: p * ((5 + n) / 6) ** alpha, "divide by the penalty"),
    ("score", lambda p, n, alpha: p / ((5 + n) ** alpha / 6), "the 6 belongs under the power"),
    ("score", lambda p, n, alpha: p / (5 + n / 6**alpha), "add 5 and the length first"),
    ("score", lambda p, n, alpha: p / n**alpha, "by the length alone"),
    ("score", lambda p, n, alpha: p / ((5 + n) / 6), "the power α is missing"),
    ("score", lambda p, n, alpha: p / (alpha * (5 + n) / 6 or 1), "α is a power, not a factor"),
    ("score", lambda p, n, alpha: p, "to the power α"),
    ("words_read", lambda n, cache: n if cache else n**2, "step t reads t words, not all"),
    ("words_read", lambda n, cache: n if cache else n * (n - 1) / 2, "the first step reads one word"),
    ("words_read", lambda n, cache: n * (n + 1) / 2, "with the cache each step reads one word only"),
    ("words_read", lambda n, cache: n, "that is with the cache"),
    ("words_read", lambda n, cache: words_read(n, not cache), "the wrong way round"),
    ("words_read", lambda n, cache: 1 if cache else words_read(n, cache), "count all steps together"),
    ("words_read", lambda n, cache: 2 * n, r"the result for \(128, True\) should be 128, not 256"),
    ("top_k_probabilities", lambda logits, k: logits.softmax(dim=0), "nothing is taken out yet"),
    (
        "top_k_probabilities",
        lambda logits, k: logits.softmax(dim=0) * (top_k_probabilities(logits, k) > 0),
        "must sum to 1 again",
    ),
    ("top_k_probabilities", lambda logits, k: cut(logits, k, 0.0).softmax(dim=0), "e⁰ = 1"),
    (
        "top_k_probabilities",
        lambda logits, k: top_k_probabilities(logits, k).sort(descending=True).values,
        "in order of size",
    ),
    ("top_k_probabilities", lambda logits, k: cut(logits, k), "the softmax is missing"),
    ("top_k_probabilities", lambda logits, k: logits.topk(k).values.softmax(dim=0), "those taken out have 0"),
    ("top_k_probabilities", only_those_that_stay, "only the words that stay are here"),
    ("top_k_probabilities", lambda logits, k: logits[:1], r"should be \[0.*\], not"),
    ("top_k_probabilities", lambda logits, k: top_k_probabilities(logits, k + 1), "Softmax over the k largest logits"),
    ("after_the_end", lambda tokens, eos_id, pad_id: tokens, "nothing has changed yet"),
    (
        "after_the_end",
        lambda tokens, eos_id, pad_id: tokens.masked_fill((tokens == eos_id).cumsum(dim=1) > 0, pad_id),
        "EOS itself stays",
    ),
    ("after_the_end", lambda tokens, eos_id, pad_id: tokens.masked_fill(tokens == eos_id, pad_id), "the other way round"),
    (
        "after_the_end",
        lambda tokens, eos_id, pad_id: torch.where(tokens == eos_id, eos_id, after_the_end(tokens, eos_id, pad_id)),
        "a second EOS",
    ),
    ("after_the_end", lambda tokens, eos_id, pad_id: after_the_end(tokens, eos_id, 0), "it is not always 0"),
    ("after_the_end", padded_in_place, "work on a copy"),
    ("after_the_end", lambda tokens, eos_id, pad_id: tokens * 0, "Count the EOS before each place"),
    ("beam_step", without_sums, "the best steps alone"),
    ("beam_step", lambda *given: tuple(beam_step(*given)[i] for i in (0, 2, 1)), "parents and words are swapped"),
    ("beam_step", flat_places, "places in the flat list"),
    ("beam_step", worst_first, "the best candidate must come first"),
    ("beam_step", lambda *given: beam_step(*given)[0], "return three things"),
    ("beam_step", best_child_of_each, "the best child of each parent"),
    (
        "beam_step",
        lambda sums, steps: ((sums[:, None] + steps).max(dim=1).values, sums, sums),
        "the best child of each parent",
    ),
    ("beam_step", multiplied, "added, not multiplied"),
    ("beam_step", divided_by_the_beam, "divide by the vocabulary"),
    ("beam_step", lambda sums, steps: [part * 0 for part in beam_step(sums, steps)], "the best `beam` of all"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)


def test_the_worst_words_are_recognised(says):
    def worst(logits, k):
        stays = np.argsort(np.argsort(-logits.numpy())) >= k
        return logits.masked_fill(torch.from_numpy(~stays), -torch.inf).softmax(dim=0) if stays.any() else logits

    assert "these are the worst words" in says(check.top_k_probabilities, worst)
