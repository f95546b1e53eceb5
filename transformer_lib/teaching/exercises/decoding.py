"""Checks for the exercises of chapter 13, Decoding."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from transformer_lib.teaching.exercises import exercise

__all__ = ["after_the_end", "beam_step", "score", "top_k_probabilities", "words_read"]


@exercise(
    cases=[(-0.916, 7, 0.6), (-3.0, 13, 0.0), (-2.0, 1, 1.0), (-6.0, 19, 2.0)],
    hint="Divide the log-probability by ((5 + length) / 6) to the power α",
)
def score(log_probability: float, length: int, alpha: float) -> Iterator:
    """The reader's `score(log_probability, length, alpha)` divides by ((5 + length) / 6)^α."""
    penalty = ((5 + length) / 6) ** alpha
    yield log_probability / penalty, "it takes back the advantage of being short"
    yield log_probability * penalty, "divide by the penalty: multiplied, it punishes the long sentence"
    yield log_probability / ((5 + length) ** alpha / 6), "the 6 belongs under the power as well"
    yield log_probability / (5 + length / 6**alpha), "add 5 and the length first, then divide by 6"
    yield log_probability / length**alpha, "that divides by the length alone: add 5, and divide by 6"
    yield log_probability / ((5 + length) / 6), "the power α is missing"
    yield log_probability / (alpha * (5 + length) / 6 or 1), "α is a power, not a factor"


@exercise(
    cases=[(128, True), (128, False), (1, True), (1, False), (6, False), (7, True)],
    hint="With the cache each step reads one word; without it, step t reads t words",
)
def words_read(length: int, use_cache: bool) -> Iterator:
    """The reader's `words_read(length, use_cache)` is the length, or the sum 1 + 2 + … + length."""
    with_cache, without = length, length * (length + 1) / 2
    yield with_cache if use_cache else without, "128 words in place of 8,256 for a sentence of 128 tokens"
    yield with_cache if use_cache else length**2, "step t reads t words, not all of them"
    yield with_cache if use_cache else without - length, "the first step reads one word, SOS; count it"
    yield without, "with the cache each step reads one word only"
    yield with_cache, "that is with the cache: without it, step t reads t words"
    yield without if use_cache else with_cache, "that is the wrong way round: the cache saves the work"
    yield 1 if use_cache else without, "one word in each step; count all steps together"


def _mixed(*shape: int, step: float, seed: int = 0) -> Tensor:
    """Return the numbers 0, `step`, 2 `step`, … in a random order: no two are alike."""
    count = math.prod(shape)
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed)).double().view(shape) * step


@exercise(
    cases=[(_mixed(vocab, step=0.7) - 1, k) for vocab, k in ((6, 2), (5, 5), (7, 1), (4, 9))],
    hint="Softmax over the k largest logits, 0 everywhere else; k may be larger than the vocabulary",
)
def top_k_probabilities(logits: Tensor, k: int) -> Iterator:
    """The reader's `top_k_probabilities(logits, k)` is a softmax over the k largest logits, at their places."""
    stays = logits.argsort(descending=True).argsort() < k
    kept = logits.masked_fill(~stays, -math.inf)
    right, everything = kept.softmax(dim=0), logits.softmax(dim=0)
    yield right, "the best k words share the whole probability"
    yield everything, "nothing is taken out yet: only the k largest logits may stay"
    yield everything * stays, "what stays must sum to 1 again: divide by its sum"
    yield (logits * stays).softmax(dim=0), "a logit of 0 is not a probability of 0, because e⁰ = 1: use −∞"
    if not stays.all():
        yield logits.masked_fill(stays, -math.inf).softmax(dim=0), "these are the worst words; keep the best"
    yield right.sort(descending=True).values, "they are in order of size: put each back at its word's place"
    yield right[stays], "only the words that stay are here: each word of the vocabulary has its place, the others with 0"
    yield right[right.argsort(descending=True)][:k], "one place for each word of the vocabulary: those taken out have 0"
    yield kept, "these are logits: the softmax is missing"


@exercise(
    cases=[
        (torch.tensor([[5, 2, 6, 7], [5, 6, 7, 8], [2, 5, 2, 6], [5, 6, 7, 2]]), 2, 0),
        (torch.tensor([[3, 9, 4, 9, 3, 5]]), 9, 7),
    ],
    hint="Count the EOS before each place; where there is one, the place becomes padding",
    keep=True,
)
def after_the_end(tokens: Tensor, eos_id: int, pad_id: int) -> Iterator:
    """The reader's `after_the_end(tokens, eos_id, pad_id)` pads all that follows a row's first EOS."""
    is_end = tokens == eos_id
    ended = is_end.cumsum(dim=1) - is_end.long() > 0
    yield tokens.masked_fill(ended, pad_id), "one EOS in each row, and only padding behind it"
    yield tokens, "nothing has changed yet: what comes after EOS must become padding"
    yield tokens.masked_fill(ended | is_end, pad_id), "EOS itself stays: only what comes after it is padding"
    yield tokens.masked_fill(is_end, pad_id), "this removes EOS and leaves what follows it: the other way round"
    yield tokens.masked_fill(ended & ~is_end, pad_id), "a second EOS comes after the first one, so it is padding too"
    yield tokens.masked_fill(ended, 0), "use `pad_id`: it is not always 0"


@exercise(
    cases=[
        (-_mixed(beam, step=0.3, seed=beam) - 0.1, -_mixed(beam, vocab, step=0.11, seed=beam) - 0.05)
        for beam, vocab in ((2, 5), (3, 4), (1, 6))
    ],
    hint="Add each sum to its row of steps, and take the best `beam` of all beam · vocab candidates",
    parts=("the sums", "the parents", "the words"),
)
def beam_step(sums: Tensor, steps: Tensor) -> Iterator:
    """The reader's `beam_step(sums, steps)` returns sums, parents and words of the best candidates."""
    beam, vocab = steps.shape
    candidates = sums[:, None] + steps
    best, places = candidates.flatten().topk(beam)
    parents, words = places // vocab, places % vocab
    yield (best, parents, words), "all hypotheses compete: two children of one parent may both survive"
    yield (
        (steps.flatten().topk(beam).values, ..., ...),
        "these are the best steps alone: add the sum of the hypothesis that each one extends",
    )
    yield (..., words, parents), "parents and words are swapped: first the row of the hypothesis, then the word"
    yield (..., ..., places), "the words are places in the flat list: take the rest of the division by the vocabulary"
    yield (
        (..., places // beam, ...),
        "the place in the flat list is divided by the beam: divide by the vocabulary, the length of a row",
    )
    yield (
        ((sums[:, None] * steps).flatten().topk(beam).values, ..., ...),
        "log-probabilities are added, not multiplied: the sum of logarithms is the logarithm of the product",
    )
    children = candidates.max(dim=1).values
    for only in (children, children.sort(descending=True).values):
        yield (only, ..., ...), "that is the best child of each parent: two children of one parent may both survive"
    yield (best.flip(0), ..., ...), "the best candidate must come first"
