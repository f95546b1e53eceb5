"""Checks for the exercises of chapter 13, Decoding."""

from collections.abc import Callable

import numpy as np

from transformer_lib.teaching.exercises import Hint, exercise, expect_close, expect_formula, expect_shape, softmax

__all__ = ["after_the_end", "beam_step", "score", "top_k_probabilities", "words_read"]


@exercise
def score(attempt: Callable) -> str:
    """The reader's `score(log_probability, length, alpha)` divides by ((5 + length) / 6)^α."""

    def divided(penalty: Callable) -> Callable:
        return lambda log_probability, length, alpha: log_probability / penalty(length, alpha)

    expect_formula(
        attempt,
        cases=[(-0.916, 7, 0.6), (-3.0, 13, 0.0), (-2.0, 1, 1.0), (-6.0, 19, 2.0)],
        right=divided(lambda length, alpha: ((5 + length) / 6) ** alpha),
        mistakes=[
            (
                lambda log_probability, length, alpha: log_probability * ((5 + length) / 6) ** alpha,
                "divide by the penalty: multiplied, it punishes the long sentence",
            ),
            (divided(lambda length, alpha: (5 + length) ** alpha / 6), "the 6 belongs under the power as well"),
            (divided(lambda length, alpha: 5 + length / 6**alpha), "add 5 and the length first, then divide by 6"),
            (divided(lambda length, alpha: length**alpha), "that divides by the length alone: add 5, and divide by 6"),
            (divided(lambda length, alpha: (5 + length) / 6), "the power α is missing"),
            (divided(lambda length, alpha: alpha * (5 + length) / 6 or 1), "α is a power, not a factor"),
        ],
        hint="Divide the log-probability by ((5 + length) / 6) to the power α",
    )
    return "it takes back the advantage of being short"


@exercise
def words_read(attempt: Callable) -> str:
    """The reader's `words_read(length, use_cache)` is the length, or the sum 1 + 2 + … + length."""
    expect_formula(
        attempt,
        cases=[(128, True), (128, False), (1, True), (1, False), (6, False), (7, True)],
        right=lambda length, use_cache: length if use_cache else length * (length + 1) / 2,
        mistakes=[
            (lambda length, use_cache: length if use_cache else length**2, "step t reads t words, not all of them"),
            (
                lambda length, use_cache: length if use_cache else length * (length - 1) / 2,
                "the first step reads one word, SOS; count it",
            ),
            (lambda length, use_cache: length * (length + 1) / 2, "with the cache each step reads one word only"),
            (lambda length, use_cache: length, "that is with the cache: without it, step t reads t words"),
            (
                lambda length, use_cache: length * (length + 1) / 2 if use_cache else length,
                "that is the wrong way round: the cache saves the work",
            ),
            (
                lambda length, use_cache: 1 if use_cache else length * (length + 1) / 2,
                "one word in each step; count all steps together",
            ),
        ],
        hint="With the cache each step reads one word; without it, step t reads t words",
    )
    return "128 words in place of 8,256 for a sentence of 128 tokens"


@exercise
def top_k_probabilities(attempt: Callable) -> str:
    """The reader's `top_k_probabilities(logits, k)` is a softmax over the k largest logits, at their places."""
    import torch

    generator = np.random.default_rng(13)
    for vocab, k in ((6, 2), (5, 5), (7, 1), (4, 9)):
        logits = generator.permutation(vocab) * 0.7 - 1.0
        handed = torch.from_numpy(logits.copy())
        given = expect_shape(attempt(handed, k), (vocab,), "the probabilities")
        stays = np.argsort(np.argsort(-logits)) < k
        expected = softmax(np.where(stays, logits, -np.inf))
        for mistake, hint in (
            (softmax(logits), "nothing is taken out yet: only the k largest logits may stay"),
            (softmax(logits) * stays, "what stays must sum to 1 again: divide by its sum"),
            (softmax(np.where(stays, logits, 0.0)), "a logit of 0 is not a probability of 0, because e⁰ = 1: use −∞"),
            (softmax(np.where(~stays, logits, -np.inf)) if k < vocab else expected, "these are the worst words; keep the best"),
            (np.sort(expected)[::-1], "they are in order of size: put each back at its word's place"),
            (np.where(stays, logits, -np.inf), "these are logits: the softmax is missing"),
        ):
            if not _same(mistake, expected) and _same(given, mistake):
                raise Hint(hint)
        hint = "Softmax over the k largest logits, 0 everywhere else; k may be larger than the vocabulary"
        expect_close(given, expected, hint, what=f"the result for k = {k}")
        if not np.array_equal(handed.numpy(), logits):
            raise Hint("the result is right, but the logits that were handed in have changed too: work on a copy")
    return "the best k words share the whole probability"


@exercise
def after_the_end(attempt: Callable) -> str:
    """The reader's `after_the_end(tokens, eos_id, pad_id)` pads all that follows a row's first EOS."""
    import torch

    cases = (
        ([[5, 2, 6, 7], [5, 6, 7, 8], [2, 5, 2, 6], [5, 6, 7, 2]], 2, 0),
        ([[3, 9, 4, 9, 3, 5]], 9, 7),
    )
    for rows, eos_id, pad_id in cases:
        tokens = np.array(rows)
        is_end = tokens == eos_id
        ends_before = np.cumsum(is_end, axis=1) - is_end
        expected = np.where(ends_before > 0, pad_id, tokens)
        handed = torch.tensor(rows)
        given = expect_shape(attempt(handed, eos_id, pad_id), tokens.shape, "the tokens")
        for mistake, hint in (
            (tokens, "nothing has changed yet: what comes after EOS must become padding"),
            (np.where(ends_before + is_end > 0, pad_id, tokens), "EOS itself stays: only what comes after it is padding"),
            (np.where(is_end, pad_id, tokens), "this removes EOS and leaves what follows it: the other way round"),
            (
                np.where((ends_before > 0) & ~is_end, pad_id, tokens),
                "a second EOS comes after the first one, so it is padding too",
            ),
            (np.where(ends_before > 0, 0, tokens), "use `pad_id`: it is not always 0"),
        ):
            if not np.array_equal(mistake, expected) and np.array_equal(given, mistake):
                raise Hint(hint)
        hint = "Count the EOS before each place; where there is one, the place becomes padding"
        expect_close(given, expected, hint, what="the tokens")
        if not np.array_equal(handed.numpy(), tokens):
            raise Hint("the result is right, but the tokens that were handed in have changed too: work on a copy")
    return "one EOS in each row, and only padding behind it"


@exercise
def beam_step(attempt: Callable) -> str:
    """The reader's `beam_step(sums, steps)` returns sums, parents and words of the best candidates."""
    import torch

    generator = np.random.default_rng(14)
    for beam, vocab in ((2, 5), (3, 4), (1, 6)):
        sums = -generator.permutation(beam) * 0.3 - 0.1
        steps = -generator.permutation(beam * vocab).reshape(beam, vocab) * 0.11 - 0.05
        result = attempt(torch.from_numpy(sums.copy()), torch.from_numpy(steps.copy()))
        if not isinstance(result, (tuple, list)) or len(result) != 3:
            raise Hint("return three things: the new sums, the parents and the words")
        names = ("the sums", "the parents", "the words")
        given = [expect_shape(part, (beam,), name) for part, name in zip(result, names, strict=True)]
        candidates = (sums[:, None] + steps).ravel()
        best = np.argsort(-candidates)[:beam]
        expected = [candidates[best], best // vocab, best % vocab]
        alone = np.argsort(-steps.ravel())[:beam]
        if not _same(steps.ravel()[alone], expected[0]) and _same(given[0], steps.ravel()[alone]):
            raise Hint("these are the best steps alone: add the sum of the hypothesis that each one extends")
        if _same(given[1], expected[2]) and _same(given[2], expected[1]) and not _same(expected[1], expected[2]):
            raise Hint("parents and words are swapped: first the row of the hypothesis, then the word")
        if not _same(best, expected[2]) and _same(given[2], best):
            raise Hint("the words are places in the flat list: take the rest of the division by the vocabulary")
        if not _same(best // beam, expected[1]) and _same(given[1], best // beam):
            raise Hint("the place in the flat list is divided by the beam: divide by the vocabulary, the length of a row")
        products = np.sort((sums[:, None] * steps).ravel())[::-1][:beam]
        if not _same(products, expected[0]) and _same(given[0], products):
            raise Hint("log-probabilities are added, not multiplied: the sum of logarithms is the logarithm of the product")
        only_children = np.sort((sums[:, None] + steps).max(axis=1))[::-1]
        if not _same(only_children, expected[0]) and _same(given[0], only_children):
            raise Hint("that is the best child of each parent: two children of one parent may both survive")
        if beam > 1 and _same(given[0][::-1], expected[0]):
            raise Hint("the best candidate must come first")
        for part, right, name in zip(given, expected, names, strict=True):
            hint = "Add each sum to its row of steps, and take the best `beam` of all beam · vocab candidates"
            expect_close(part, right, hint, what=name)
    return "all hypotheses compete: two children of one parent may both survive"


def _same(given: np.ndarray, expected: np.ndarray) -> bool:
    return bool(np.allclose(given, expected, rtol=1e-4, atol=1e-6))
