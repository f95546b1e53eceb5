"""Checks for the exercises of chapter 13, Decoding."""

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from transformer_lib.attention import MultiHeadAttention, join_heads, split_heads
from transformer_lib.masks import causal_mask
from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID
from transformer_lib.teaching.exercises import Hint, check, exercise, normal, numbers, same


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


@exercise(
    cases=[
        (torch.tensor([0.05, 0.4, 0.3, 0.01, 0.24], dtype=torch.float64), 0.5),
        (torch.tensor([0.9, 0.02, 0.05, 0.03], dtype=torch.float64), 0.1),
        (torch.tensor([0.2, 0.3, 0.1, 0.4], dtype=torch.float64), 0.3),
    ],
    hint="Keep a word if it has at least `share` of the best word's probability; then divide by the sum of what is kept",
)
def min_p(p: Tensor, share: float) -> Iterator:
    """The reader's `min_p(p, share)` keeps the words with at least `share` of the best one's probability, and rescales."""
    kept = p * (p >= share * p.max())
    right = kept / kept.sum()
    ordered = p.sort(descending=True).values
    yield right, "the sharper the place, the fewer words stay"
    yield kept, "what stays must add up to 1 again: divide by its sum"
    absolute = p * (p >= share)
    if absolute.any():
        yield absolute / absolute.sum(), "compare with `share` times the largest probability, not with `share` itself"
    by_share = p * ((ordered.cumsum(0) - ordered)[p.argsort(descending=True).argsort()] < share)
    yield by_share / by_share.sum(), "that is top-p; here a word is compared with the best word alone"
    lost = p * (p < share * p.max())
    if lost.any():
        yield lost / lost.sum(), "these are the words that should go"
    yield kept.softmax(dim=0), "these are probabilities already: divide by the sum, without a softmax"
    yield right[right > 0], "each word of the vocabulary keeps its place; those that go have 0"
    yield right.sort(descending=True).values, "they are in order of size: leave each word at its place"


def _step_by_step(attention: MultiHeadAttention, x: Tensor, slip: str) -> Tensor:
    """Return what a decoder with this mistake writes for the words of `x`, one after the other."""
    outputs, cache = [], []
    for t in range(x.size(1)):
        q, k, v = (
            split_heads(part(x[:, t : t + 1]), attention.num_heads) for part in (attention.W_q, attention.W_k, attention.W_v)
        )
        if slip == "own" or not cache:
            cache = [(k, v)]
        elif slip == "not itself":
            pass
        else:
            cache.append((k, v))
        every = [torch.cat(parts, dim=2) for parts in zip(*cache, strict=True)]
        mixed = join_heads(attention.mix(q, *every, None))
        outputs.append(mixed if slip == "no W_o" else attention.W_o(mixed))
        if slip == "not itself" and t:
            cache.append((k, v))
    return torch.cat(outputs, dim=1)


@check
def word_by_word(attempt: Callable) -> str:
    """The reader's `word_by_word(attention, x)` gives, one word after the other, what the causal pass gives at once."""
    attention = MultiHeadAttention(12, 3).double().requires_grad_(False)
    (x,) = normal((1, 5, 12), seed=13)
    expected = attention(x, x, x, causal_mask(5))
    read: list[int] = []  # how many words each call of W_k has read
    attention.W_k.register_forward_pre_hook(lambda part, given: read.append(given[0].size(1)))
    found = torch.from_numpy(numbers(attempt(attention, x), (1, 5, 12), "the output"))
    calls = read.copy()
    if not same(found, expected):
        for slip, hint in [
            ("own", "each word looks at itself alone: keep its key and value, and use all that are kept"),
            ("not itself", "a word may look at itself, too: put its key and value into the cache first"),
            ("no W_o", "W_o is missing: it mixes the heads"),
        ]:
            if same(found, _step_by_step(attention, x, slip)):
                raise Hint(hint)
        if same(found, attention(x, x, x)):
            raise Hint("each word has looked at later words, too: let only one word in at a time")
        raise Hint("the outputs differ from those of the causal pass: join keys, and values, along the axis of the words")
    if calls == [5]:
        raise Hint("the outputs are right, but all words went in at once: let one word in at a time")
    if calls != [1] * 5:
        raise Hint(f"the outputs are right, but W_k has read {sum(calls)} words, not 5: keep keys and values")
    return "word by word equal to the causal pass, and each key is computed once"


class _Chain:
    """Log-probabilities of the next word that depend on the last word alone, as a function of the words so far."""

    def __init__(self, seed: int) -> None:
        (logits,) = normal((7, 7), seed=seed)
        logits[:, [PAD_ID, SOS_ID]] = -math.inf
        self.steps = logits.log_softmax(dim=-1).tolist()

    def __call__(self, words: Sequence[int]) -> list[float]:
        return self.steps[int(words[-1]) if len(words) else SOS_ID]


Found = list[tuple[tuple[int, ...], float]]


def _beam(chain: _Chain, beam_size: int, max_len: int, slip: str = "") -> Found:
    """Return the finished hypotheses of a beam search over a chain, with one mistake."""
    live: Found = [((), 0.0)]
    ended: Found = []
    for _ in range(max_len):
        groups = []
        for words, total in live:
            before = 0.0 if slip == "last step" else total
            groups.append([((*words, w), before + step) for w, step in enumerate(chain(words)) if step > -math.inf])
        if slip == "one a parent":
            groups = [[max(group, key=lambda one: one[1])] for group in groups]
        best = sorted((one for group in groups for one in group), key=lambda one: one[1], reverse=True)[:beam_size]
        ended += [one for one in best if one[0][-1] == EOS_ID]
        live = best if slip == "goes on" else [one for one in best if one[0][-1] != EOS_ID]
        if not live or (slip == "first" and ended):
            break
    return sorted(ended, key=lambda one: one[1], reverse=True)


def _same_search(found: Found, expected: Found) -> bool:
    if [tuple(words) for words, _ in found] != [words for words, _ in expected]:
        return False
    return same([total for _, total in found], [total for _, total in expected])


@check
def beam(attempt: Callable) -> str:
    """The reader's `beam(log_probabilities, beam_size, max_len)` returns what ended, each with its log-probability."""
    hints = {
        "goes on": "a hypothesis that has written <EOS> is finished: put it aside, and never extend it",
        "last step": "add the sum of the words before to the log-probability of the new word",
        "one a parent": "all candidates compete in one list: two children of one parent may both stay",
        "first": "do not stop at the first that ends: go on while any is live and shorter than `max_len`",
    }
    for seed, beam_size, max_len in [(3, 1, 6), (4, 2, 6), (5, 3, 5), (6, 4, 6)]:
        chain = _Chain(seed)
        expected = _beam(chain, beam_size, max_len)
        try:
            pairs = attempt(chain, beam_size, max_len)
            found = [(tuple(int(word) for word in words), float(total)) for words, total in pairs]
        except (TypeError, ValueError):
            raise Hint("return a list of pairs: the words, and the sum of their log-probabilities") from None
        found.sort(key=lambda one: one[1], reverse=True)
        if _same_search(found, expected):
            continue
        for slip, hint in hints.items():
            if _same_search(found, _beam(chain, beam_size, max_len, slip)):
                raise Hint(hint)
        if any(words[-1:] != (EOS_ID,) for words, _ in found):
            raise Hint("return only those that have ended: their last word is <EOS>")
        best = f"{expected[0][1]:.3f}" if expected else "none"
        raise Hint(f"a beam of {beam_size} should end {len(expected)} sentences here, not {len(found)}; the best sum is {best}")
    return "the same sentences and sums, for four models and beams of 1 to 4"
