"""Checks of input that torch would accept silently, or refuse in words that do not help.

Each raises `ValueError` that names the argument, what came, and what was expected. Shapes that do not fit are torch's own errors.
"""

from collections.abc import Iterable, Sequence, Sized

import torch
from torch import Tensor


def check_at_least(least: int | float, **numbers: int | float) -> None:
    """Check that each of the named numbers is `least` or more; NaN is not."""
    for name, value in numbers.items():
        if not value >= least:
            raise ValueError(f"{name} must be at least {least}, but it is {value}")


def check_range(least: int | float, most: int | float, **numbers: int | float) -> None:
    """Check that each of the named numbers lies in `least … most`."""
    for name, value in numbers.items():
        if not least <= value <= most:
            raise ValueError(f"{name} must be in {least:,} … {most:,}, but it is {value}")


def check_fraction(**fractions: int | float) -> None:
    """Check that each of the named fractions, such as a dropout, is at least 0 and below 1."""
    for name, value in fractions.items():
        if not 0 <= value < 1:
            raise ValueError(f"{name} must be at least 0 and below 1, but it is {value}")


def check_choice(choices: Sequence[str], **words: str) -> None:
    """Check that each of the named words is one of `choices`."""
    for name, word in words.items():
        if word not in choices:
            raise ValueError(f"{name} must be {' or '.join(map(repr, choices))}, but it is {word!r}")


def check_not_empty(name: str, items: Sized) -> None:
    """Check that there is at least one item."""
    if len(items) == 0:
        raise ValueError(f"{name} must hold at least one, but it is empty")


def check_words(name: str, words: Iterable) -> None:
    """Check that `words`, or sentences, are not one text, whose letters would be taken for them."""
    if isinstance(words, str):
        raise ValueError(f"{name} must be a list, not a text: {words!r}")


def check_equal_lengths(**items: Sized) -> None:
    """Check that all of the named hold the same number of items, such as sentences; one text is none."""
    for name, some in items.items():
        check_words(name, some)
    lengths = [len(some) for some in items.values()]
    if len(set(lengths)) > 1:
        raise ValueError(f"{' and '.join(items)} must be equally many, but they are {' and '.join(map(str, lengths))}")


def check_heads(d_model: int, num_heads: int) -> None:
    """Check that `num_heads` heads share `d_model` evenly."""
    if num_heads < 1 or d_model < 1 or d_model % num_heads:
        raise ValueError(f"d_model must be divisible by num_heads, but they are {d_model} and {num_heads}")


def check_positions(name: str, length: int, max_len: int) -> None:
    """Check that a model with `max_len` positions has one for each of `length` tokens."""
    if length > max_len:
        raise ValueError(f"{name} needs {length} positions, but there are {max_len}: make max_len larger")


def check_ids(name: str, ids: Tensor, vocab_size: int) -> None:
    """Check that the ids, if there are any, are in `0 … vocab_size - 1`; on another device the embedding does it."""
    if ids.device.type != "cpu" or ids.numel() == 0 or torch.compiler.is_compiling():
        return
    lowest, highest = (int(bound) for bound in ids.aminmax())
    if lowest < 0 or highest >= vocab_size:
        raise ValueError(f"{name} must hold ids in 0 … {vocab_size - 1}, but its ids lie in {lowest} … {highest}")


def check_tokens(name: str, tokens: Tensor, vocab_size: int | None = None) -> None:
    """Check that `tokens` is `(batch, seq)`, ids and not empty, and that a vocabulary of this size has them."""
    if tokens.ndim != 2 or tokens.numel() == 0 or tokens.dtype not in (torch.int64, torch.int32):
        raise ValueError(
            f"{name} must hold token ids (int64 or int32) of shape (batch, seq), at least one sentence of at least one token, "
            f"but it is {tokens.dtype} of shape {tuple(tokens.shape)}"
        )
    if vocab_size is not None:
        check_ids(name, tokens, vocab_size)


def check_padding(name: str, tokens: Tensor, pad_id: int, may_be_empty: bool = False) -> None:
    """Check that each row of `tokens`, `(batch, seq)`, is words, one or more unless it `may_be_empty`, and then only padding."""
    word = tokens != pad_id  # (batch, seq)
    empty = (~word[:, 0]).nonzero().flatten().tolist()
    if empty and not may_be_empty:
        raise ValueError(f"each row of {name} must start with a word, but row {empty[0]} starts with padding (id {pad_id})")
    gap = (word[:, 1:] & ~word[:, :-1]).any(dim=1).nonzero().flatten().tolist()
    if gap:
        raise ValueError(f"padding (id {pad_id}) must come after the words, but in row {gap[0]} of {name} a word follows it")
