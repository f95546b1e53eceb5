"""Checks for the exercises of chapter 9, Cross-attention and the decoder."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from transformer_lib.teaching.exercises import exercise, normal

__all__ = ["cross_attend", "map_shape", "reads_memory", "word_losses"]


@exercise(cases=[(2, 8, 5, 6), (3, 4, 7, 2)], hint="The shape is (batch, heads, queries, keys)")
def map_shape(batch: int, num_heads: int, source: int, target: int) -> Iterator:
    """The reader's `map_shape(batch, num_heads, source, target)` returns the shape of the cross-attention's weights."""
    yield (batch, num_heads, target, source), "rows are the target's words, columns the source's, whatever their numbers"
    swapped = "the last two axes are swapped: rows are queries, and the queries are the target's words"
    yield (batch, num_heads, source, target), swapped
    own = "that is the self-attention of the decoder; the keys of cross-attention are the source's words"
    yield (batch, num_heads, target, target), own
    other = "that is the self-attention of the encoder; the queries of cross-attention are the target's words"
    yield (batch, num_heads, source, source), other
    yield (batch, target, source), "each head has a map of its own: put an axis for the heads after the batch"
    yield (num_heads, batch, target, source), "in this course the batch comes first, then the heads"


def _attend(query: Tensor, key: Tensor, value: Tensor, scale: float = 2.0, dim: int = -1) -> Tensor:
    return (query @ key.T / scale).softmax(dim) @ value


@exercise(
    # First as many words here as there: then a mix-up of the two gives numbers that can be named, and no torch error.
    cases=[normal((target, 6), (source, 6), (6, 4), (6, 4), (6, 4), seed=9) for target, source in ((3, 3), (2, 5), (4, 3))],
    hint="It is softmax(Q Kᵀ / √d_k) V, with Q from x, K and V from memory",
)
def cross_attend(x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Iterator:
    """The reader's `cross_attend(x, memory, w_query, w_key, w_value)` returns one head's output, (target, d_k)."""
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    yield _attend(query, key, value), "queries from the decoder, keys and values from the encoder, one row for each target word"
    yield _attend(query, key, value, scale=1.0), "the scores are not divided by √d_k"
    yield _attend(query, key, value, scale=math.sqrt(6)), "the scores are divided by √d_model; divide by √d_k"
    yield _attend(query, key, value, scale=4.0), "the scores are divided by d_k; divide by its square root"
    yield _attend(query, key, key), "the keys are averaged; the weights belong to the values, memory @ w_value"
    yield _attend(query, value, key), "w_key and w_value have changed places: keys are compared, values are averaged"
    yield query @ key.T / 2 @ value, "the softmax is missing"
    yield _attend(query, key, value, dim=0), "the softmax runs over the target words; each row must sum to 1"
    if len(x) != len(memory):
        return
    exponentials = (query @ key.T / 2).exp()
    yield (
        exponentials / exponentials.sum(dim=1) @ value,
        "each row is divided by the sums of all rows: keep the axis of the sum (keepdim=True), so that each meets its own",
    )
    yield _attend(query, x @ w_key, x @ w_value), "that is self-attention of x: keys and values come from memory"
    yield _attend(query, key, x @ w_value), "the values come from x; what is fetched comes from memory"
    yield _attend(query, x @ w_key, value), "the keys come from x; what answers comes from memory"
    yield (
        _attend(memory @ w_query, x @ w_key, x @ w_value),
        "x and memory have changed places: the queries come from x, keys and values from memory",
    )
    yield _attend(memory @ w_query, key, value), "the queries come from memory; the decoder asks, so they come from x"


_SIXTEEN = [
    start + noun
    for noun in ("étudiant", "professeur", "médecin", "boulanger")
    for start in ("je suis ", "je ne suis pas ", "tu es ", "tu n' es pas ")
]
_UNEVEN = ["il pleut", "il pleut", "il pleut", "il neige", "elle dort", "elle dort ici", "il dort", "il pleut"]


@exercise(
    cases=[(_SIXTEEN, "tu es boulanger"), (_SIXTEEN, "je ne suis pas étudiant"), (_UNEVEN, "il pleut"), (_UNEVEN, "elle dort")],
    hint="At each place: the logarithm of (sentences with the same start) / (those of them that go on with this word)",
)
def word_losses(corpus: list[str], sentence: str) -> Iterator:
    """The reader's `word_losses(corpus, sentence)` returns what each word costs a perfect decoder that sees no source."""

    def losses(sentences: list[list[str]], words: list[str], known: bool = True) -> list[float]:
        found = []
        for place, word in enumerate(words):
            same = [other for other in sentences if other[:place] == words[:place] or not known]
            right = [other for other in same if other[place : place + 1] == [word]]
            found.append(math.log(len(same) / len(right)))
        return found

    ended = [[*other.split(), "<EOS>"] for other in corpus]
    words = [*sentence.split(), "<EOS>"]
    cost = losses(ended, words)
    yield cost, "0 where what is written leaves no choice, and the sum is minus the logarithm of the sentence's share"
    yield cost[:-1], "one loss is missing: put <EOS> behind each sentence, its end must be named too"
    yield losses(ended, words, known=False), "count only among the sentences that begin with the words written so far"
    kinds = [
        len({tuple(other[: place + 1]) for other in ended if other[:place] == words[:place]}) for place in range(len(words))
    ]
    yield (
        [math.log(kind) for kind in kinds],
        "words that follow more often are more probable: count sentences, not different words",
    )
    yield losses([list(one) for one in dict.fromkeys(map(tuple, ended))], words), "a sentence that stands twice counts twice"
    yield [-loss for loss in cost], "the sign: a loss is minus the logarithm of the chance"
    yield [math.exp(-loss) for loss in cost], "these are the chances; the loss is minus their logarithm"
    yield [loss / math.log(2) for loss in cost], "that is in bits: take the natural logarithm"
    yield sum(cost), "that is the loss of the whole sentence: return one number for each word"


def _asks(x: Tensor, memory: Tensor) -> Tensor:
    return x + (x @ memory.T).softmax(dim=-1) @ memory


def _asks_first_row(x: Tensor, memory: Tensor) -> Tensor:
    return x + memory[0]


def _asks_last_row(x: Tensor, memory: Tensor) -> Tensor:
    return x + memory[-1]


def _asks_normalised(x: Tensor, memory: Tensor) -> Tensor:
    return _asks(x, torch.nn.functional.layer_norm(memory, memory.shape[-1:], eps=1e-12))


def _blind(x: Tensor, memory: Tensor) -> Tensor:
    return (x.cumsum(dim=0) / 2).relu()


def _nothing(x: Tensor, memory: Tensor) -> Tensor:
    return x.clone()


def _blind_to_content(x: Tensor, memory: Tensor) -> Tensor:
    return x + torch.ones_like(memory).sum(dim=0)


@exercise(
    cases=[
        (decode, *normal((3, 4), (5, 4), seed=9))
        for decode in (_asks, _blind, _asks_last_row, _asks_first_row, _asks_normalised, _nothing, _blind_to_content)
    ],
    hint="Run it twice, with the memory and with one whose numbers are all new, and compare the two outputs",
)
def reads_memory(decode: Callable, x: Tensor, memory: Tensor) -> Iterator:
    """The reader's `reads_memory(decode, x, memory)` tells whether another memory gives another output."""

    def moved(other: Tensor) -> bool:
        return not torch.allclose(decode(x, other), decode(x, memory))

    def rows(*which: int) -> Tensor:
        other = memory.clone()
        other[list(which)] = normal((len(which), 4), seed=10)[0]
        return other

    reads = decode not in (_blind, _nothing, _blind_to_content)
    yield reads, "another memory, all of it new, gives another output, or the decoder is blind"
    shuffled = "a shuffle changes no sum over the rows, and cross-attention is such a sum: change the numbers"
    yield moved(memory.flip(0)), shuffled
    yield moved(memory.roll(1, dims=0)), shuffled
    yield moved(memory[[3, 0, 4, 2, 1]]), shuffled
    yield moved(rows(0)), "only the first row was changed: one that reads another row seems blind"
    yield moved(rows(4)), "only the last row was changed: one that reads another row seems blind"
    scaled = "some decoders normalise what they read, and so undo that change: put in new numbers at random"
    yield moved(memory + 1), scaled
    yield moved(memory * 2), scaled
    yield not reads, "turned around: True if the output depends on the memory"
    yield not torch.allclose(decode(x, memory), x), "a blind decoder changes x too: compare two outputs, with two memories"
    yield True, "one of the decoders is blind: run it with another memory"
    yield False, "some of the decoders read the memory: run them with another one"
