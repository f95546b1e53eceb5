"""Checks for the exercises of chapter 13, Decoding."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from transformer_lib.attention import MultiHeadAttention
from transformer_lib.masks import causal_mask
from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID
from transformer_lib.teaching.exercises import Hint, _, check, exercise, expect, normal, numbers, same


@exercise(
    cases=[(128, True), (128, False), (1, True), (1, False), (6, False), (7, True)],
    hint=_("With the cache each step reads one word; without it, step t reads t words"),
)
def words_read(length: int, use_cache: bool) -> Iterator:
    """The reader's `words_read(length, use_cache)` is the length, or the sum 1 + 2 + … + length."""
    with_cache, without = length, length * (length + 1) / 2
    yield with_cache if use_cache else without, _("128 words in place of 8,256 for a text of 128 words")
    yield with_cache if use_cache else length**2, _("step t reads t words, not all of them")
    yield with_cache if use_cache else without - length, _("the first step reads one word, SOS; count it")
    yield without if use_cache else with_cache, _("that is the wrong way round: the cache saves the work")


@exercise(
    cases=[
        (torch.tensor([0.05, 0.4, 0.3, 0.01, 0.24], dtype=torch.float64), 0.5),
        (torch.tensor([0.9, 0.02, 0.05, 0.03], dtype=torch.float64), 0.1),
        (torch.tensor([0.2, 0.3, 0.1, 0.4], dtype=torch.float64), 0.3),
    ],
    hint=_("Keep a word if it has at least `share` of the best word's probability; then divide by the sum of what is kept"),
)
def min_p(p: Tensor, share: float) -> Iterator:
    """The reader's `min_p(p, share)` keeps the words with at least `share` of the best one's probability, and rescales."""
    kept = p * (p >= share * p.max())
    right = kept / kept.sum()
    yield right, _("the sharper the place, the fewer words stay")
    yield kept, _("what stays must add up to 1 again: divide by its sum")
    absolute = p * (p >= share)
    if absolute.any():
        yield absolute / absolute.sum(), _("compare with `share` times the largest probability, not with `share` itself")
    yield right[right > 0], _("each word of the vocabulary keeps its place; those that go have 0")
    yield right.sort(descending=True).values, _("they are in order of size: leave each word at its place")


@check
def word_by_word(attempt: Callable) -> str:
    """The reader's `word_by_word(attention, x)` gives, one word after the other, what the causal pass gives at once."""
    attention = MultiHeadAttention(12, 3).double().requires_grad_(False)
    (x,) = normal((1, 5, 12), seed=13)
    expected = attention(x, x, x, causal_mask(5))
    read: list[int] = []  # how many words each call of W_k has read
    attention.W_k.register_forward_pre_hook(lambda part, given: read.append(given[0].size(1)))
    found = torch.from_numpy(numbers(attempt(attention, x), (1, 5, 12), _("the output")))
    calls = read.copy()
    if same(found, attention(x, x, x)):
        raise Hint(_("each word has looked at later words, too: let only one word in at a time"))
    expect(found, expected, _("Join all keys, and all values, that were kept, along the axis of the words"), _("the output"))
    if calls != [1] * 5:
        read_by = {"words": sum(calls), "calls": len(calls)}
        raise Hint(
            _("the outputs are right, but W_k has read {words} words in {calls} calls, not 5: keep keys and values", **read_by)
        )
    return _("word by word equal to the causal pass, and each key is computed once")


Found = list[tuple[tuple[int, ...], float]]


def _beam(log_probabilities: Callable, beam_size: int, max_len: int, slip: str = "") -> Found:
    """Return the finished hypotheses of a beam search, with one mistake."""
    live: Found = [((), 0.0)]
    ended: Found = []
    for _step in range(max_len):
        candidates = [
            ((*words, word), step + (0.0 if slip == "last step" else total))
            for words, total in live
            for word, step in enumerate(log_probabilities(words))
            if step > -math.inf
        ]
        best = sorted(candidates, key=lambda pair: pair[1], reverse=True)[:beam_size]
        ended += [pair for pair in best if pair[0][-1] == EOS_ID]
        live = [pair for pair in best if pair[0][-1] != EOS_ID or slip == "goes on"]
        if slip == "first" and ended:
            break
    return sorted(ended, key=lambda pair: pair[1], reverse=True)


@check
def beam(attempt: Callable) -> str:
    """The reader's `beam(log_probabilities, beam_size, max_len)` returns what ended, each with its log-probability."""
    hints = {
        "goes on": _("a hypothesis that has written <EOS> is finished: put it aside, and never extend it"),
        "last step": _("add the sum of the words before to the log-probability of the new word"),
        "first": _("do not stop at the first that ends: go on while any is live and shorter than `max_len`"),
    }
    for seed, beam_size, max_len in [(3, 1, 6), (4, 2, 6), (5, 3, 5), (6, 4, 6)]:
        (logits,) = normal((7, 7), seed=seed)
        logits[:, [PAD_ID, SOS_ID]] = -math.inf
        steps = logits.log_softmax(dim=-1).tolist()  # of the next word, by the last one
        chain = lambda words, steps=steps: steps[int(words[-1]) if len(words) else SOS_ID]
        expected = _beam(chain, beam_size, max_len)
        try:
            pairs = attempt(chain, beam_size, max_len)
            found = sorted(((tuple(map(int, words)), float(total)) for words, total in pairs), key=lambda pair: -pair[1])
        except (TypeError, ValueError):
            raise Hint(_("return a list of pairs: the words, and the sum of their log-probabilities")) from None
        if _rounded(found) != _rounded(expected):
            for slip, hint in hints.items():
                if _rounded(found) == _rounded(_beam(chain, beam_size, max_len, slip)):
                    raise Hint(hint)
            best = {"beam": beam_size, "right": len(expected), "given": len(found), "sum": expected[0][1]}
            raise Hint(_("a beam of {beam} ends {right} sentences here, not {given}; the best sum is {sum:.3f}", **best))
    return _("the same sentences and sums, for four models and beams of 1 to 4")


def _rounded(found: Found) -> Found:
    return [(words, round(total, 6)) for words, total in found]
