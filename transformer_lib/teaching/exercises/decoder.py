"""Checks for the exercises of chapter 9, Cross-attention and the decoder."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from transformer_lib.decoder import DecoderLayer
from transformer_lib.encoder import TransformerConfig
from transformer_lib.masks import causal_mask
from transformer_lib.teaching.exercises import Attempt, Hint, _, check, compare, exercise, normal


@exercise(cases=[(2, 8, 5, 6), (3, 4, 7, 2)], hint=_("The shape is (batch, heads, queries, keys)"))
def map_shape(batch: int, num_heads: int, source: int, target: int) -> Iterator:
    """The reader's `map_shape(batch, num_heads, source, target)` returns the shape of the cross-attention's weights."""
    yield (batch, num_heads, target, source), _("rows are the target's words, columns the source's, whatever their numbers")
    swapped = _("the last two axes are swapped: rows are queries, and the queries are the target's words")
    yield (batch, num_heads, source, target), swapped
    yield (batch, target, source), _("each head has a map of its own: put an axis for the heads after the batch")
    own = _("that is the self-attention of one side; here the queries are the target's words and the keys the source's")
    yield (batch, num_heads, target, target), own
    yield (batch, num_heads, source, source), own


@exercise(cases=[()], hint=_("Count in the 24 sentences that are left, those that begin with the words written so far"))
def goats_are_sold() -> Iterator:
    """The reader's `goats_are_sold()` returns the chance of each word of la vache blanche est fatiguée, and of its end."""
    right = [1 / 3, 1, 1 / 4, 1, 1 / 2, 1]
    yield right, _("one animal of three has la, and then there is no choice: log 3 + log 4 + log 2 = log 24 in all")
    yield [1 / 2, *right[1:]], _("le is written twice as often as la now: cow, horse and dog are left")
    yield [1 / 2, 1 / 2, *right[2:]], _("these are the chances with goats: count again without them")
    yield [1 / 3, 1 / 2, *right[2:]], _("after la only one animal is left")
    yield [1 / 3, 1 / 3, *right[2:]], _("la is written already: which animals can follow it?")
    yield [-math.log(chance) for chance in right], _("these are the losses; return the chances")
    yield right[:-1], _("one is missing: the end of the sentence must be named too")


def _asks(x: Tensor, memory: Tensor) -> Tensor:
    return x + (x @ memory.T).softmax(dim=-1) @ memory


def _asks_last_row(x: Tensor, memory: Tensor) -> Tensor:
    return x + memory[-1]


def _blind(x: Tensor, memory: Tensor) -> Tensor:
    return (x.cumsum(dim=0) / 2).relu()


@exercise(
    cases=[(decode, *normal((3, 4), (5, 4), seed=9)) for decode in (_asks, _asks_last_row, _blind)],
    hint=_("Run it twice, with the memory and with one whose numbers are all new, and compare the two outputs"),
)
def reads_memory(decode: Callable, x: Tensor, memory: Tensor) -> Iterator:
    """The reader's `reads_memory(decode, x, memory)` tells whether another memory gives another output."""

    def moved(other: Tensor) -> bool:
        return not torch.allclose(decode(x, other), decode(x, memory))

    yield decode is not _blind, _("another memory, all of it new, gives another output, or the decoder is blind")
    shuffled = _("a shuffle changes no sum over the rows, and cross-attention is such a sum: change the numbers")
    yield moved(memory.flip(0)), shuffled
    yield moved(memory.roll(1, dims=0)), shuffled
    first = torch.cat([memory[:1] + 1, memory[1:]])
    yield moved(first), _("only the first row was changed: one that reads another row seems blind")
    yield decode is _blind, _("turned around: True if the output depends on the memory")
    yield not torch.allclose(decode(x, memory), x), _("a blind decoder changes x too: compare two outputs, with two memories")
    yield False, _("some of the decoders read the memory: run them with another one")


_PARTS = {
    "self_attention": "MultiHeadAttention",
    "cross_attention": "MultiHeadAttention",
    "feed_forward": "FeedForward",
    "self_attention_add_norm": "AddAndNorm",
    "cross_attention_add_norm": "AddAndNorm",
    "feed_forward_add_norm": "AddAndNorm",
}


def _slips(layer: DecoderLayer, x: Tensor, memory: Tensor, self_mask: Tensor, memory_mask: Tensor) -> Iterator:
    """Yield the outputs of likely mistakes, each with its hint."""

    def run(order: str = "scf", seen: Tensor | None = self_mask, real: Tensor | None = memory_mask, ask: str = "xmm") -> Tensor:
        def cross(x: Tensor) -> Tensor:
            return layer.cross_attention(*({"x": x, "m": memory}[name] for name in ask), real)

        steps = {
            "s": (layer.self_attention_add_norm, lambda x: layer.self_attention(x, x, x, seen)),
            "c": (layer.cross_attention_add_norm, cross),
            "f": (layer.feed_forward_add_norm, layer.feed_forward),
        }
        y = x
        for step in order:
            add_norm, sublayer = steps[step.lower()]
            y = add_norm(y, sublayer) if step.islower() else sublayer(y)
        return y

    yield run(seen=None), _("the self-attention needs self_mask: without it a word sees the words to come")
    yield run(real=None), _("the cross-attention needs memory_mask: without it padding of the source speaks")
    yield run("csf"), _("self-attention comes first, then cross-attention")
    yield run("sf"), _("the cross-attention is missing: this is an encoder layer with a causal mask")
    yield run("sc"), _("the feed-forward network is missing")
    for order in ("Scf", "sCf", "scF", "SCF"):
        yield run(order), _("each sublayer stands inside its add & norm: self.…_add_norm(x, sublayer)")
    if x.size(1) == memory.size(1):
        for real in (memory_mask, self_mask, None):
            yield run(ask="xxx", real=real), _("keys and values of the cross-attention come from memory, not from x")
        yield run(ask="mxx"), _("the queries come from x: the decoder asks")
        yield run(ask="xxm"), _("the keys of the cross-attention come from memory, not from x")
        yield run(ask="xmx"), _("the values of the cross-attention come from memory, not from x")


@check
def decoder_layer(attempt: Callable) -> str:
    """The reader's class gives the numbers of the library's layer, for equal and for unequal lengths."""
    config = TransformerConfig(d_model=8, num_layers=1, num_heads=2, d_ff=12, dropout=0.0)
    mine, ours = attempt(config), DecoderLayer(config)
    for name, kind in _PARTS.items():
        part = getattr(mine, name, None)
        if not isinstance(part, type(getattr(ours, name))):
            raise Hint(_("{part} should be a {kind}", part=f"self.{name}", kind=kind))
        for parameter in part.parameters():  # also those that start at 0 or 1, so that no two parts can be mixed up
            nn.init.normal_(parameter, std=0.4)
        getattr(ours, name).load_state_dict(part.state_dict())
    forward = Attempt(mine.forward)
    for target, source in ((4, 4), (3, 5), (5, 2)):
        x, memory = normal((2, target, 8), (2, source, 8), seed=target)
        memory_mask = torch.ones(2, 1, 1, source, dtype=torch.bool)
        memory_mask[1, ..., -1] = False  # the second sentence is one word shorter
        given = x.float(), memory.float(), causal_mask(target), memory_mask
        right = ours(*given), _("equal to the library's layer, with other lengths and with padding, and so to torch's")
        table = [right, *_slips(ours, *given)]
        praise = compare([(forward(*given), table, [""])], _("Compare your three steps with the drawing of the layer"))
    return praise
