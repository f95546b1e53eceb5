"""What input must be: the checks that several parts of the library make, where input enters.

Each raises `ValueError` that names the argument, what came, and what was expected. None waits for a device.
"""

import functools
import itertools
import math
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from numbers import Real
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

P, R = ParamSpec("P"), TypeVar("R")
_thread = threading.local()


def at_the_door(check: Callable[..., None]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let `check` look at the arguments of a method, but only where the call comes from outside the library's components.

    A layer that is used alone checks what it is given. Inside a model, whose own method has checked, it is the formula and
    nothing else. Compiled code checks nothing.
    """

    def decorate(method: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(method)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            if torch.compiler.is_compiling() or getattr(_thread, "inside", False):
                return method(*args, **kwargs)
            check(*args, **kwargs)
            _thread.inside = True
            try:
                return method(*args, **kwargs)
            finally:
                _thread.inside = False

        return checked

    return decorate


def number(whole: bool = False, **numbers: object) -> None:
    """Check that each of the named is a number that fits 64 bits, a `whole` one or any.

    numpy's small integers are none: products of them run over.
    """
    if torch.compiler.is_compiling():  # to look at a size would tie the program to it
        return
    for name, value in numbers.items():
        if isinstance(value, int | np.int64) and not (whole and isinstance(value, bool)):
            fits = -(2**63) <= value < 2**63
        else:
            fits = not whole and isinstance(value, float | np.floating)
        if not fits:
            raise ValueError(f"{name} must be a {'whole ' * whole}number below 2^63, but it is {value!r:.50}")


def at_least(least: int | float, **numbers: int | float) -> None:
    """Check that each of the named numbers is `least` or more (NaN is not), and whole where it is counted from 1."""
    number(whole=least >= 1, **numbers)
    for name, value in numbers.items():
        if not value >= least:
            raise ValueError(f"{name} must be at least {least}, but it is {value}")


def in_range(least: int | float, most: int | float, whole: bool = False, **numbers: int | float) -> None:
    """Check that each of the named numbers lies in `least … most`, and perhaps that it is whole."""
    number(whole, **numbers)
    for name, value in numbers.items():
        if not least <= value <= most:
            raise ValueError(f"{name} must be in {least:,} … {most:,}, but it is {value}")


def above(bound: int | float, **numbers: int | float) -> None:
    """Check that each of the named numbers is larger than `bound` (NaN is not)."""
    number(**numbers)
    for name, value in numbers.items():
        if not value > bound:
            raise ValueError(f"{name} must be above {bound}, but it is {value}")


def below_one(**shares: int | float) -> None:
    """Check that each of the named shares, such as a dropout, is at least 0 and below 1."""
    number(**shares)
    for name, share in shares.items():
        if not 0 <= share < 1:
            raise ValueError(f"{name} must be at least 0 and below 1, but it is {share}")


def even(*, because: str, **numbers: int) -> None:
    """Check that each of the named numbers is even and positive."""
    number(whole=True, **numbers)
    for name, value in numbers.items():
        if value < 2 or value % 2:
            raise ValueError(f"{name} must be even and positive, because {because}, but it is {value}")


def one_of(choices: Sequence[str], **words: str) -> None:
    """Check that each of the named words is one of `choices`."""
    for name, word in words.items():
        if word not in choices:
            expected = " or ".join(map(repr, choices))
            raise ValueError(f"{name} must be {expected}, but it is {word!r}")


def one_size(what: str, **numbers: int) -> None:
    """Check that all named numbers are the same; `what` says what they must be."""
    if len(set(numbers.values())) > 1:
        came = " and ".join(map(str, numbers.values()))
        raise ValueError(f"{what}, but {' and '.join(numbers)} are {came}")


def equally_many(**items: Sized) -> None:
    """Check that all of the named hold the same number of items, such as sentences."""
    counts = [len(some) for some in items.values()]
    if len(set(counts)) > 1:
        raise ValueError(f"{' and '.join(items)} must be equally many, but they are {' and '.join(map(str, counts))}")


def real_numbers(name: str, items: Iterable[object]) -> None:
    """Check that each of the items is a number."""
    for item in items.tolist() if isinstance(items, Tensor) else items:
        if not isinstance(item, Real | np.bool_):
            raise ValueError(f"{name} must hold numbers, but one of them is {item!r:.50}")


def not_empty(name: str, items: Sized) -> None:
    """Check that there is at least one item."""
    if len(items) == 0:
        raise ValueError(f"{name} must hold at least one, but it is empty")


def id_lists(name: str, lists: Sequence[Sequence[int]], lowest: int = -(2**63), below: int = 2**63) -> None:
    """Check that there is at least one list, and that each holds whole numbers."""
    not_empty(name, lists)

    def are_ids(ids: Iterable) -> bool:
        ids = list(ids)
        kinds = set(map(type, ids))  # far fewer than there are ids
        whole = all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds)
        return whole and (not ids or (lowest <= min(ids) and max(ids) < below))

    for ids in lists:
        if isinstance(ids, str) or not isinstance(ids, Iterable) or not are_ids(ids):
            raise ValueError(f"{name} must hold ids, whole numbers in {lowest} … {below - 1}, but one list is {ids!r:.50}")


def pairs(name: str, pairs: Sequence[Sequence]) -> None:
    """Check that all are pairs."""
    for place, pair in enumerate(pairs):
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise ValueError(f"{name} must hold pairs (source, target), but number {place} is {pair!r:.50}")


def id_pairs(name: str, those: Sequence[Sequence[Sequence[int]]]) -> None:
    """Check that there is at least one pair, and that each is one of lists of ids."""
    not_empty(name, those)
    pairs(name, those)
    for pair in those:
        id_lists(name, pair)


def to_encode(tokenizer: Any, texts: Iterable[Sequence[str]], target_tokenizer: Any = None) -> None:
    """Check what `encode_pairs` is given, where it can be looked at twice."""
    if isinstance(texts, Sequence):
        pairs("pairs", texts)


def string(name: str, value: object) -> None:
    """Check that `value` is a string that can be written to a file; it may be empty."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string, but it is {value!r}")
    if not value.isascii() and (broken := re.search("[\ud800-\udfff]", value)):  # what Python makes of bytes that are no text
        raise ValueError(f"{name} must be made of whole characters, but number {broken.start() + 1} is {broken[0]!r}")


def shape(name: str, x: Tensor, *axes: str | int) -> None:
    """Check that `x` has these axes: a number is the size, a name stands for any size but 0; "..." is any axes before."""
    if not isinstance(x, Tensor):
        raise ValueError(f"{name} must be a tensor, but it is {x!r:.50}")
    sizes = tuple(x.shape)
    wanted = axes[1:] if axes[0] == "..." else axes
    there = sizes[len(sizes) - len(wanted) :] if axes[0] == "..." else sizes
    fits = len(there) == len(wanted) and all(
        size == axis if isinstance(axis, int) else size > 0 for size, axis in zip(there, wanted, strict=True)
    )
    if not fits:
        raise ValueError(f"{name} must have shape ({', '.join(map(str, axes))}), but its shape is {sizes}")


def vectors(name: str, x: Tensor, *axes: str | int, like: Tensor | Iterator[Tensor] | None = None) -> None:
    """Check that `x` has these axes, and holds floating-point numbers, such as those of `like` or of a layer's parameters."""
    shape(name, x, *axes)
    if not x.is_floating_point():
        raise ValueError(f"{name} must hold floating-point numbers, but its dtype is {x.dtype}")
    if like is None or torch.compiler.is_compiling():
        return
    like = like if isinstance(like, Tensor) else next(like, x)
    if x.device != like.device or not (x.dtype == like.dtype or torch.is_autocast_enabled(x.device.type)):
        raise ValueError(f"{name} must be {like.dtype} on {like.device}, but it is {x.dtype} on {x.device}")


def token_ids(name: str, tokens: Tensor, vocab_size: int | None = None, model: nn.Module | None = None, **special: int) -> None:
    """Check that `tokens` is `(batch, seq)`, whole numbers, not empty; with `vocab_size`, that the vocabulary has them.

    With `model`, that they are where it is. `special` are ids by their names, such as the padding's.
    """
    if not isinstance(tokens, Tensor):
        raise ValueError(f"{name} must be a tensor of token ids, but it is {tokens!r:.50}")
    if tokens.ndim != 2 or tokens.numel() == 0 or tokens.dtype not in (torch.int64, torch.int32):
        raise ValueError(
            f"{name} must hold token ids (int64 or int32) of shape (batch, seq), at least one sentence of at least one token, "
            f"but it is {tokens.dtype} of shape {tuple(tokens.shape)}"
        )
    if model is not None and tokens.device != (device := next(model.parameters()).device):
        raise ValueError(f"{name} must be on {device}, where the model is, but it is on {tokens.device}")
    for called, i in special.items():
        if not isinstance(i, int) or isinstance(i, bool) or abs(i) >= 2**31:
            raise ValueError(f"{called} must be a token id, a whole number below 2^31, but it is {i!r:.50}")
    if vocab_size is not None:
        known_ids(name, tokens, vocab_size)


def known_ids(name: str, ids: Tensor, vocab_size: int) -> None:
    """Check that the ids, if there are any, are in `0 … vocab_size - 1`.

    Ids on another device are not read, because reading waits for it. There the embedding itself stops at a wrong one.
    """
    if ids.device.type != "cpu" or ids.numel() == 0 or torch.compiler.is_compiling():
        return
    lowest, highest = (int(bound) for bound in ids.aminmax())
    if lowest < 0 or highest >= vocab_size:
        raise ValueError(f"{name} must hold ids in 0 … {vocab_size - 1}, but its ids lie in {lowest} … {highest}")


def readable(name: str, ids: Tensor, beside: Tensor) -> None:
    """Check that ids can be read, and are where `beside` is."""
    if ids.is_meta or ids.device != beside.device:
        raise ValueError(f"{name} must be on {beside.device} and hold ids that can be read, but it is on {ids.device}")


def sentences(
    name: str, tokens: Tensor, vocab_size: int, pad_id: int, may_be_empty: bool = False, model: nn.Module | None = None
) -> None:
    """Check that `tokens` are ids of shape `(batch, seq)`, each row words first, at least one, and then nothing but padding.

    With `may_be_empty` a row may also be nothing but padding.
    """
    token_ids(name, tokens, vocab_size, model)
    if tokens.is_meta:
        raise ValueError(f"{name} must hold ids that can be read, but it is on the meta device")
    word = tokens != pad_id  # (batch, seq)
    empty = (~word[:, 0]).nonzero().flatten().tolist()
    if empty and not may_be_empty:
        raise ValueError(f"each row of {name} must start with a word, but row {empty[0]} starts with padding (id {pad_id})")
    gap = (word[:, 1:] & ~word[:, :-1]).any(dim=1).nonzero().flatten().tolist()
    if gap:
        raise ValueError(f"padding (id {pad_id}) must come after the words, but in row {gap[0]} of {name} a word follows it")


def heads(d_model: int, num_heads: int, dropout: float = 0.0) -> None:
    """Check that `num_heads` heads share `d_model` evenly, and the dropout of their weights."""
    below_one(dropout=dropout)
    number(whole=True, d_model=d_model, num_heads=num_heads)
    if num_heads < 1 or d_model < 1 or d_model % num_heads:
        raise ValueError(f"d_model must be divisible by num_heads, but they are {d_model} and {num_heads}")


def boolean(name: str, mask: Tensor, like: Tensor | None = None) -> None:
    """Check that a mask is boolean, and where `like` is."""
    if not isinstance(mask, Tensor) or mask.dtype is not torch.bool:
        came = f"its dtype is {mask.dtype}" if isinstance(mask, Tensor) else f"it is {mask!r:.50}"
        raise ValueError(f"{name} must be boolean, True where a query may attend to a key, but {came}")
    if like is not None and mask.device != like.device:
        raise ValueError(f"{name} must be on {like.device}, but it is on {mask.device}")


def norm(d_model: int, eps: float) -> None:
    """Check what a layer normalisation is made of."""
    at_least(1, d_model=d_model)
    at_least(0, eps=eps)


def attention_mask(name: str, mask: Tensor | None, scores: Sequence[int], like: Tensor | None = None) -> None:
    """Check that a mask, if there is one, is boolean, where `like` is, and broadcasts to the shape `scores`."""
    if mask is None:
        return
    boolean(name, mask, like)
    fits = 2 <= mask.ndim <= len(scores) and all(
        size in (1, wanted) for size, wanted in zip(mask.shape[::-1], scores[::-1], strict=False)
    )
    # (batch, query, key) would silently meet (heads, query, key).
    if not fits or (mask.ndim == 3 and len(scores) == 4):
        raise ValueError(
            f"{name} must have 2 or {len(scores)} axes and broadcast to the scores {tuple(scores)}, "
            f"but its shape is {tuple(mask.shape)}"
        )


def softmax(scores: Tensor, mask: Tensor | None = None) -> None:
    """Check scores, and that a mask, if there is one, broadcasts to them."""
    vectors("scores", scores, "...", "seq")
    if mask is None:
        return
    boolean("mask", mask, scores)
    fits = mask.ndim <= scores.ndim and all(size in (1, there) for size, there in zip(mask.shape[::-1], scores.shape[::-1]))
    if not fits:
        raise ValueError(f"mask must broadcast to the scores {tuple(scores.shape)}, but its shape is {tuple(mask.shape)}")


def pooling(scores: Tensor, memory: Tensor, mask: Tensor | None = None) -> None:
    """Check what `attention_pooling` is given."""
    softmax(scores, mask)
    shape("scores", scores, "batch", "seq")
    vectors("memory", memory, *scores.shape, "d", like=scores)
    if mask is not None:
        shape("mask", mask, *scores.shape)


def dot_products(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> None:
    """Check what `scaled_dot_product_attention` is given."""
    vectors("query", query, "...", "query", "d_k")
    vectors("key", key, *query.shape[:-2], "key", query.size(-1), like=query)
    vectors("value", value, *key.shape[:-1], "d_v", like=query)
    attention_mask("mask", mask, (*query.shape[:-1], key.size(-2)), query)


def to_split(x: Tensor, num_heads: int) -> None:
    """Check what `split_heads` is given."""
    shape("x", x, "batch", "seq", "d_model")
    heads(x.size(-1), num_heads)


def to_join(x: Tensor) -> None:
    """Check what `join_heads` is given."""
    shape("x", x, "batch", "heads", "seq", "d_k")


def multi_head_attention(layer: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> None:
    """Check what `layer`, a `MultiHeadAttention`, is given."""
    shape("query", query, "batch", "seq", layer.d_model)
    for name, x in (("query", query), ("key", key), ("value", value)):
        vectors(name, x, len(query), "seq", layer.d_model, like=layer.parameters())
    equally_many(keys=key[0], values=value[0])
    attention_mask("mask", mask, (len(query), layer.num_heads, query.size(1), key.size(1)), query)


def keys_and_values(layer: Any, key: Tensor, value: Tensor) -> None:
    """Check what a `MultiHeadAttention` makes keys and values of; there may be none."""
    vectors("key", key, "...", layer.d_model, like=layer.parameters())
    if key.ndim != 3 or len(key) == 0:
        raise ValueError(f"key must have shape (batch, key, {layer.d_model}), but its shape is {tuple(key.shape)}")
    if not isinstance(value, Tensor) or value.shape != key.shape:
        raise ValueError(f"value must have the shape of key, {tuple(key.shape)}, but it is {value!r:.50}")
    vectors("value", value, "...", layer.d_model, like=layer.parameters())


def attend(layer: Any, query: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> None:
    """Check what a `MultiHeadAttention` attends with: keys and values of its own."""
    vectors("query", query, len(k), "query", layer.d_model, like=layer.parameters())
    for name, x in (("k", k), ("v", v)):
        vectors(name, x, len(query), layer.num_heads, k.size(2), layer.d_model // layer.num_heads, like=query)
    attention_mask("mask", mask, (len(query), layer.num_heads, query.size(1), k.size(2)), query)


def encoder_input(stack: Any, x: Tensor, mask: Tensor | None = None) -> None:
    """Check what an encoder, or a layer of it, is given."""
    vectors("x", x, "batch", "seq", stack.config.d_model, like=stack.parameters())
    attention_mask("mask", mask, (len(x), stack.config.num_heads, x.size(1), x.size(1)), x)


def decoder_input(
    stack: Any, x: Tensor, memory: Tensor, self_mask: Tensor | None = None, memory_mask: Tensor | None = None
) -> None:
    """Check what a decoder, or a layer of it, is given."""
    vectors("x", x, "batch", "target", stack.config.d_model, like=stack.parameters())
    vectors("memory", memory, len(x), "source", stack.config.d_model, like=x)
    for name, mask, keys in (("self_mask", self_mask, x), ("memory_mask", memory_mask, memory)):
        attention_mask(name, mask, (len(x), stack.config.num_heads, x.size(1), keys.size(1)), x)


def cache_input(cache: Any, layer: Any, memory: Tensor) -> None:
    """Check what a `LayerCache` is made of."""
    vectors("memory", memory, "batch", "source", layer.config.d_model, like=layer.parameters())


def cached_input(layer: Any, x: Tensor, cache: Any, self_mask: Tensor | None, memory_mask: Tensor | None) -> None:
    """Check what a decoder layer with a cache is given."""
    vectors("x", x, len(cache.self_kv[0]), "target", layer.config.d_model, like=cache.self_kv[0])
    written, source = cache.self_kv[0].size(2) + x.size(1), cache.cross_kv[0].size(2)
    for name, mask, keys in (("self_mask", self_mask, written), ("memory_mask", memory_mask, source)):
        attention_mask(name, mask, (len(x), layer.config.num_heads, x.size(1), keys), x)


def kept(rows: Tensor, sentences: int) -> None:
    """Check the row numbers of the sentences that a state keeps, of so many."""
    shape("rows", rows, "kept")
    if rows.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"rows must hold whole numbers (int64 or int32), but its dtype is {rows.dtype}")
    if rows.is_meta:  # torch would take what happens to lie in the memory for row numbers
        raise ValueError("rows must hold numbers that can be read, but it is on the meta device")
    known_ids("rows", rows, sentences)


def last_axis(layer: Any, x: Tensor) -> None:
    """Check that the vectors in `x` are as wide as `layer` wants them."""
    vectors("x", x, "...", layer.d_model, like=layer.parameters())


def positions(layer: Any, x: Tensor, offset: int = 0) -> None:
    """Check that `x` is `(batch, seq, d_model)`, perhaps empty, and that the table has positions for it from `offset` on."""
    vectors("x", x, "...", layer.d_model)
    table = next(itertools.chain(layer.parameters(), layer.buffers()))
    if x.device != table.device:
        raise ValueError(f"x must be on {table.device}, where the table is, but it is on {x.device}")
    if x.ndim != 3:
        raise ValueError(f"x must have shape (batch, seq, {layer.d_model}), but its shape is {tuple(x.shape)}")
    number(whole=True, offset=offset)
    at_least(0, offset=offset)
    room("x", offset + x.size(1), layer.max_len)


def room(name: str, tokens: int, max_len: int) -> None:
    """Check that a model or a table with `max_len` positions has one for each of so many tokens."""
    if tokens > max_len:
        raise ValueError(f"{name} needs {tokens} positions, but there are {max_len}: make max_len larger")


def source_to_read(model: Any, source: Tensor) -> None:
    """Check that a Transformer can read `source`."""
    token_ids("source", source, model.config.source_vocab_size, model)
    room("source", source.size(1), model.max_len)


def source_and_target(model: Any, source: Tensor, target_in: Tensor) -> None:
    """Check what a Transformer is given."""
    source_to_read(model, source)
    token_ids("target_in", target_in, model.config.target_vocab_size, model)
    equally_many(source=source, target_in=target_in)
    room("the target", target_in.size(1), model.max_len)


def tokens_to_add(model: Any, tokens: Tensor, state: Any) -> None:
    """Check that a Transformer can write `tokens` after those that its `state` holds."""
    token_ids("tokens", tokens, model.config.target_vocab_size, model)
    equally_many(tokens=tokens, state=state.tokens)
    room("the target", state.tokens.size(1) + tokens.size(1), model.max_len)


def memory_attention(query: Tensor, memory: Tensor, mask: Tensor | None) -> None:
    """Check what an attention of chapter 4 is given: `(batch, d)`, `(batch, seq, d)` and a mask `(batch, seq)`."""
    vectors("query", query, "batch", "d")
    vectors("memory", memory, len(query), "seq", "d", like=query)
    if mask is not None:
        boolean("mask", mask, query)
    if mask is not None and mask.shape != memory.shape[:2]:
        raise ValueError(
            f"mask must be boolean with shape (batch, seq) {tuple(memory.shape[:2])}, "
            f"but it is {mask.dtype} with shape {tuple(mask.shape)}"
        )


def recurrent_state(state: Tensor | tuple, zeros: Tensor | tuple) -> None:
    """Check that `state` has the form and the shapes of `zeros`: one tensor, or an LSTM's pair of them."""

    def shapes(state: Tensor | tuple) -> tuple:
        if isinstance(state, tuple):
            return tuple(map(shapes, state))
        return tuple(state.shape) if isinstance(state, Tensor) else (repr(state)[:50],)

    if shapes(state) != shapes(zeros):
        pair = " (an LSTM's state is the pair h, c)" if isinstance(zeros, tuple) else ""
        raise ValueError(f"state must have shape {shapes(zeros)}{pair}, but its shape is {shapes(state)}")
    both = [part if isinstance(part, tuple) else (part,) for part in (state, zeros)]
    for one, zero in zip(*both, strict=True):
        vectors("state", one, *one.shape, like=zero)


def recurrent_step(cell: Any, x: Tensor, state: Tensor | tuple) -> None:
    """Check what a cell of chapter 2 is given for one step."""
    vectors("x", x, "batch", cell.input_size, like=cell.parameters())
    recurrent_state(state, cell.initial_state(len(x)))


def writing(model: Any, source: Tensor, max_len: int, **at_least_one: int) -> None:
    """Check that `model` can write `max_len` tokens for `source`, and that the other named numbers are at least 1."""
    token_ids("source", source)
    if source.is_meta:
        raise ValueError("source must hold ids that can be read, but it is on the meta device")
    number(whole=True, max_len=max_len)
    if max_len < 1 or max_len > model.max_len:
        limit = "at least 1" if model.max_len == math.inf else f"in 1 … {model.max_len}, the positions that the model has"
        raise ValueError(f"max_len must be {limit}, but it is {max_len}")
    at_least(1, **at_least_one)


def sampling(temperature: int | float, top_k: int | None, top_p: int | float | None) -> None:
    """Check the numbers that shape the probabilities of the next token."""
    number(temperature=temperature, **({} if top_p is None else {"top_p": top_p}))
    if not 0 < temperature < math.inf:
        raise ValueError(f"temperature must be a positive number (the limit 0 is greedy_decode), but it is {temperature}")
    if top_k is not None:
        at_least(1, top_k=top_k)
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, but it is {top_p}")


def seed(value: int | None) -> None:
    """Check what a generator of random numbers starts from, if it is given."""
    number(whole=True, seed=0 if value is None else value)
