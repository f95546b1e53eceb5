"""The checks of chapter 9: right answers pass, and each usual mistake gets its own hint."""

import math

import torch
from answers import two_tests

from transformer_lib.teaching.exercises import decoder as check


def attend(query, key, value, scale=2.0, dim=-1):
    return (query @ key.T / scale).softmax(dim=dim) @ value


def right_attend(x, memory, w_query, w_key, w_value):
    return attend(x @ w_query, memory @ w_key, memory @ w_value)


def without_keepdim(x, memory, w_query, w_key, w_value):
    exponentials = (x @ w_query @ (memory @ w_key).T / 2).exp()
    return exponentials / exponentials.sum(1) @ (memory @ w_value)


def word_losses(corpus, sentence, *, end=True, known=True, kinds=False, of=math.log):
    """Count what follows; each setting away from its default is a mistake."""
    corpus = [s.split() + ["<EOS>"] * end for s in corpus]
    words = sentence.split() + ["<EOS>"] * end
    losses = []
    for place, word in enumerate(words):
        same = [s for s in corpus if s[:place] == words[:place] or not known]
        right = [s for s in same if s[place : place + 1] == [word]]
        losses.append(of(len({tuple(s[: place + 1]) for s in same}) if kinds else len(same) / len(right)))
    return losses


def reads(change):
    """Return an answer that compares the memory with `change(memory)`."""
    return lambda decode, x, memory: not torch.allclose(decode(x, change(memory)), decode(x, memory))


def one_row(row):
    def change(memory):
        other = memory.clone()
        other[row] += torch.tensor([1.0, -2.0, 0.5, 3.0])
        return other

    return change


RIGHT = [
    ("map_shape", lambda batch, heads, source, target: (batch, heads, target, source)),
    ("map_shape", lambda batch, heads, source, target: torch.zeros(batch, heads, target, source).shape),
    ("cross_attend", right_attend),
    ("cross_attend", lambda *given: right_attend(*(array.float() for array in given))),
    ("word_losses", word_losses),
    ("word_losses", lambda corpus, sentence: torch.tensor(word_losses(corpus, sentence))),
    ("reads_memory", reads(torch.randn_like)),
    ("reads_memory", reads(torch.zeros_like)),
    ("reads_memory", reads(lambda memory: -memory)),
]
WRONG = [
    ("map_shape", lambda b, h, s, t: (b, h, s, t), "last two axes are swapped"),
    ("map_shape", lambda b, h, s, t: (b, h, t, t), "self-attention of the decoder"),
    ("map_shape", lambda b, h, s, t: (b, h, s, s), "self-attention of the encoder"),
    ("map_shape", lambda b, h, s, t: (b, t, s), "each head has a map"),
    ("map_shape", lambda b, h, s, t: (h, b, t, s), "batch comes first"),
    ("map_shape", lambda b, h, s, t: (1, h, t, s), r"\(batch, heads, queries, keys\)"),
    ("cross_attend", lambda x, m, q, k, v: attend(m @ q, x @ k, x @ v), "x and memory have changed places"),
    ("cross_attend", lambda x, m, q, k, v: attend(m @ q, m @ k, m @ v), "queries come from memory"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, x @ v), "values come from x"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, x @ k, m @ v), "keys come from x"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ v, m @ k), "w_key and w_value have changed places"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, m @ v, scale=1), "not divided by √d_k"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, m @ v, scale=4), "divided by d_k"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, m @ v, scale=math.sqrt(6)), "divided by √d_model"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, x @ k, x @ v), "self-attention of x"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, m @ v, dim=0), "runs over the target words"),
    ("cross_attend", lambda x, m, q, k, v: attend(x @ q, m @ k, m @ k), "keys are averaged"),
    ("cross_attend", lambda x, m, q, k, v: x @ q @ (m @ k).T / 2 @ (m @ v), "softmax is missing"),
    ("cross_attend", lambda x, m, q, k, v: x @ q, "It is softmax"),
    ("cross_attend", lambda x, m, q, k, v: x, r"the shape \(3, 4\), not \(3, 6\)"),
    ("cross_attend", without_keepdim, "keep the axis of the sum"),
    ("word_losses", lambda c, s: word_losses(c, s, end=False), "put <EOS> behind"),
    ("word_losses", lambda c, s: word_losses(c, s)[:-1], "one loss is missing"),
    ("word_losses", lambda c, s: word_losses(c, s, known=False), "begin with the words written so far"),
    ("word_losses", lambda c, s: word_losses(c, s, kinds=True), "count sentences, not different words"),
    ("word_losses", lambda c, s: word_losses(list(dict.fromkeys(c)), s), "counts twice"),
    ("word_losses", lambda c, s: word_losses(c, s, of=math.log2), "in bits"),
    ("word_losses", lambda c, s: word_losses(c, s, of=lambda ratio: -math.log(ratio)), "the sign"),
    ("word_losses", lambda c, s: word_losses(c, s, of=lambda ratio: 1 / ratio), "these are the chances"),
    ("word_losses", lambda c, s: sum(word_losses(c, s)), "one number for each word"),
    ("word_losses", lambda c, s: [1.0] * (len(s.split()) + 1), "the same start"),
    ("reads_memory", reads(lambda memory: memory.flip(0)), "a shuffle changes no sum"),
    ("reads_memory", reads(lambda memory: memory[torch.tensor([3, 0, 4, 2, 1])]), "a shuffle changes no sum"),
    ("reads_memory", reads(one_row(0)), "only the first row"),
    ("reads_memory", reads(one_row(-1)), "only the last row"),
    ("reads_memory", reads(lambda memory: memory + 1), "undo that change"),
    ("reads_memory", reads(lambda memory: 2 * memory), "undo that change"),
    ("reads_memory", lambda *given: not reads(torch.randn_like)(*given), "turned around"),
    ("reads_memory", lambda decode, x, memory: not torch.allclose(decode(x, memory), x), "compare two outputs"),
    ("reads_memory", lambda *given: True, "is blind"),
    ("reads_memory", lambda *given: False, "read the memory"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)
