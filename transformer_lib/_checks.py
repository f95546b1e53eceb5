"""What input must be: each check stands here once, and the library calls it where input enters, in one line.

Every check returns nothing and raises `ValueError` that names the argument, what came, and what was expected.
"""

import hashlib
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence


def at_least(least: int | float, **numbers: int | float) -> None:
    """Check that each of the named numbers is `least` or more (NaN is not)."""
    for name, number in numbers.items():
        if not number >= least:
            raise ValueError(f"{name} must be at least {least}, but it is {number}")


def in_range(least: int | float, most: int | float, **numbers: int | float) -> None:
    """Check that each of the named numbers lies in `least … most`."""
    for name, number in numbers.items():
        if not least <= number <= most:
            raise ValueError(f"{name} must be in {least:,} … {most:,}, but it is {number}")


def below_one(**shares: int | float) -> None:
    """Check that each of the named shares, such as a dropout, is at least 0 and below 1."""
    for name, share in shares.items():
        if not 0 <= share < 1:
            raise ValueError(f"{name} must be at least 0 and below 1, but it is {share}")


def one_of(choices: Sequence[str], **words: str) -> None:
    """Check that each of the named words is one of `choices`."""
    for name, word in words.items():
        if word not in choices:
            expected = " or ".join(map(repr, choices))
            raise ValueError(f"{name} must be {expected}, but it is {word!r}")


def known_ids(name: str, ids: Tensor, vocab_size: int) -> None:
    """Check that the ids, if there are any, are in `0 … vocab_size - 1`."""
    if ids.numel() == 0:
        return
    lowest, highest = (int(bound) for bound in ids.aminmax())
    if lowest < 0 or highest >= vocab_size:
        raise ValueError(f"{name} must hold ids in 0 … {vocab_size - 1}, but its ids lie in {lowest} … {highest}")


def token_ids(name: str, tokens: Tensor, vocab_size: int | None = None) -> None:
    """Check that `tokens` is `(batch, seq)`, whole numbers, not empty; with `vocab_size`, that the vocabulary has them."""
    if tokens.ndim != 2 or tokens.numel() == 0 or tokens.is_floating_point() or tokens.dtype is torch.bool:
        raise ValueError(
            f"{name} must hold token ids of shape (batch, seq), at least one sentence of at least one token, "
            f"but it is {tokens.dtype} of shape {tuple(tokens.shape)}"
        )
    if vocab_size is not None:
        known_ids(name, tokens, vocab_size)


def sentences(name: str, tokens: Tensor, vocab_size: int, pad_id: int, may_be_empty: bool = False) -> None:
    """Check that `tokens` are ids of shape `(batch, seq)`, each row words first, at least one, and then nothing but padding.

    With `may_be_empty` a row may also be nothing but padding.
    """
    token_ids(name, tokens, vocab_size)
    word = tokens != pad_id  # (batch, seq)
    empty = (~word[:, 0]).nonzero().flatten().tolist()
    if empty and not may_be_empty:
        raise ValueError(f"each row of {name} must start with a word, but row {empty[0]} starts with padding (id {pad_id})")
    gap = (word[:, 1:] & ~word[:, :-1]).any(dim=1).nonzero().flatten().tolist()
    if gap:
        raise ValueError(f"padding (id {pad_id}) must come after the words, but in row {gap[0]} of {name} a word follows it")


def equally_many(**batches: Tensor) -> None:
    """Check that all named batches hold the same number of sentences."""
    counts = [len(batch) for batch in batches.values()]
    if len(set(counts)) > 1:
        raise ValueError(
            f"{' and '.join(batches)} must hold the same number of sentences, but they hold {' and '.join(map(str, counts))}"
        )


def width(name: str, x: Tensor, expected: int) -> None:
    """Check that the last axis of `x` is `expected` wide."""
    if x.shape[-1:] != (expected,):
        raise ValueError(f"{name} must be {expected} wide in its last axis, but its shape is {tuple(x.shape)}")


def vectors(name: str, x: Tensor, d_model: int) -> None:
    """Check that `x` is `(batch, seq, d_model)` with at least one token."""
    if x.ndim != 3 or x.size(-1) != d_model or x.size(1) == 0:
        raise ValueError(
            f"{name} must have shape (batch, seq, d_model) with d_model {d_model} and at least one token, "
            f"but its shape is {tuple(x.shape)}"
        )


def heads(d_model: int, num_heads: int) -> None:
    """Check that `num_heads` heads share `d_model` evenly."""
    if num_heads < 1 or d_model < 1 or d_model % num_heads:
        raise ValueError(f"d_model must be divisible by num_heads, but they are {d_model} and {num_heads}")


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scores: Sequence[int] | None = None) -> None:
    """Check that the four fit together; `mask` may broadcast to `scores`, by default `(*batch, query, key)`."""
    if query.size(-1) != key.size(-1):
        raise ValueError(
            "query and key must be equally wide, because they are multiplied, "
            f"but their widths are {query.size(-1)} and {key.size(-1)}"
        )
    if key.size(-2) != value.size(-2):
        raise ValueError(f"each key must have its value, but there are {key.size(-2)} keys and {value.size(-2)} values")
    if not (query.shape[:-2] == key.shape[:-2] == value.shape[:-2]):
        raise ValueError(
            "query, key and value must agree in all axes before the last two, but they are "
            f"{tuple(query.shape)}, {tuple(key.shape)} and {tuple(value.shape)}"
        )
    if query.size(-2) == 0 or key.size(-2) == 0:
        raise ValueError(
            f"a sequence must have at least one token, but there are {query.size(-2)} queries and {key.size(-2)} keys"
        )
    if mask is not None:
        attention_mask(mask, scores or (*query.shape[:-1], key.size(-2)))


def attention_mask(mask: Tensor, scores: Sequence[int]) -> None:
    """Check that `mask` is boolean and broadcasts to `scores`."""
    if mask.dtype is not torch.bool:
        raise ValueError(f"mask must be boolean, True where a query may attend to a key, but its dtype is {mask.dtype}")
    fits = 2 <= mask.ndim <= len(scores) and all(
        size in (1, wanted) for size, wanted in zip(mask.shape[::-1], scores[::-1], strict=False)
    )
    # (batch, query, key) would silently meet (heads, query, key).
    if not fits or (mask.ndim == 3 and len(scores) == 4):
        raise ValueError(
            f"mask must have 2 or {len(scores)} axes and broadcast to the scores {tuple(scores)}, "
            f"but its shape is {tuple(mask.shape)}"
        )


def multi_head_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, layer: torch.nn.Module) -> None:
    """Check what `layer`, a `MultiHeadAttention`, is given."""
    for x in (query, key, value):
        if x.ndim != 3 or x.size(-1) != layer.d_model:
            raise ValueError(
                f"query, key and value must have the shape (batch, seq, d_model) with d_model {layer.d_model}, "
                f"but one of them is {tuple(x.shape)}"
            )
    attention(query, key, value, mask, scores=(len(query), layer.num_heads, query.size(1), key.size(1)))


def changeable(name: str, x: Tensor) -> None:
    """Check that `x` is `(batch, seq, …)` with two positions or more and, where it holds ids, two different ones."""
    if x.ndim < 2 or x.size(1) < 2:
        raise ValueError(
            f"{name} must have shape (batch, seq, …) with at least two positions, but its shape is {tuple(x.shape)}"
        )
    if not x.is_floating_point() and len(x.unique()) < 2:
        raise ValueError(
            f"{name} must hold two different ids or more, so that one can replace the other, but it holds {x.unique().tolist()}"
        )


def output_for_each(output: object, x: Tensor) -> None:
    """Check that `output` is a tensor with an entry for each position of `x`."""
    if not isinstance(output, Tensor) or output.shape[:2] != x.shape[:2]:
        came = tuple(output.shape) if isinstance(output, Tensor) else f"a {type(output).__name__}"
        raise ValueError(
            f"the output must be a tensor of shape (batch, seq, …) with (batch, seq) {tuple(x.shape[:2])}, but it is {came}"
        )


def memory_attention(query: Tensor, memory: Tensor, mask: Tensor | None) -> None:
    """Check what an attention of chapter 4 is given: `(batch, d)`, `(batch, seq, d)` and a mask `(batch, seq)`."""
    if query.ndim != 2 or memory.ndim != 3 or len(query) != len(memory):
        raise ValueError(
            "query must have shape (batch, d) and memory (batch, seq, d), with the same batch, "
            f"but their shapes are {tuple(query.shape)} and {tuple(memory.shape)}"
        )
    if mask is not None and (mask.dtype != torch.bool or mask.shape != memory.shape[:2]):
        raise ValueError(
            f"mask must be boolean with shape (batch, seq) {tuple(memory.shape[:2])}, "
            f"but it is {mask.dtype} with shape {tuple(mask.shape)}"
        )


def positions(x: Tensor, offset: int, max_len: int, d_model: int) -> None:
    """Check that `x` is `(batch, seq, d_model)`, perhaps empty, and that the table has positions for it from `offset` on."""
    if x.ndim != 3 or x.size(-1) != d_model:
        raise ValueError(f"x must have shape (batch, seq, d_model) with d_model {d_model}, but its shape is {tuple(x.shape)}")
    if offset < 0:
        raise ValueError(f"offset must not be negative, but it is {offset}")
    if offset + x.size(1) > max_len:
        raise ValueError(
            f"the table has {max_len} positions, but offset {offset} and {x.size(1)} tokens need "
            f"{offset + x.size(1)}: make max_len larger"
        )


def writing(model: torch.nn.Module, max_len: int, **at_least_one: int) -> None:
    """Check that `model` can write `max_len` words, and that the other named numbers are at least 1."""
    if max_len < 1 or max_len > model.max_len:
        limit = "at least 1" if model.max_len == math.inf else f"in 1 … {model.max_len}, the positions that the model has"
        raise ValueError(f"max_len must be {limit}, but it is {max_len}")
    at_least(1, **at_least_one)


def even(*, because: str, **numbers: int) -> None:
    """Check that each of the named numbers is even and positive."""
    for name, number in numbers.items():
        if number < 2 or number % 2:
            raise ValueError(f"{name} must be even and positive, because {because}, but it is {number}")


def one_size(what: str, **numbers: int) -> None:
    """Check that all named numbers are the same; `what` says what they must be."""
    if len(set(numbers.values())) > 1:
        came = " and ".join(map(str, numbers.values()))
        raise ValueError(f"{what}, but {' and '.join(numbers)} are {came}")


def sampling(temperature: int | float, top_k: int | None, top_p: int | float | None) -> None:
    """Check the numbers that shape the probabilities of the next word."""
    if not 0 < temperature < math.inf:
        raise ValueError(f"temperature must be a positive number (the limit 0 is greedy_decode), but it is {temperature}")
    if top_k is not None:
        at_least(1, top_k=top_k)
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, but it is {top_p}")


def sentence_pair(index: int, pair: tuple[Sequence[int], Sequence[int]], pad_id: int, eos_id: int) -> None:
    """Check that both sentences of a pair of ids hold words and no padding, and that the target ends in EOS."""
    for name, sentence in zip(("source", "target"), pair, strict=True):
        if len(sentence) == 0 or pad_id in sentence:
            raise ValueError(
                f"the {name} of pair {index} must hold at least one word and no padding (id {pad_id}), "
                f"but it is {list(sentence)}"
            )
    if pair[1][-1] != eos_id:
        raise ValueError(f"the target of pair {index} must end in EOS (id {eos_id}), but it ends in {pair[1][-1]}")


def batch(source: Tensor, target_in: Tensor, target_out: Tensor, pad_id: int) -> None:
    """Check that the three tensors of a `Batch` fit together."""
    sides = (source, target_in, target_out)
    if any(ids.ndim != 2 or ids.dtype != torch.int64 for ids in sides):
        came = ", ".join(f"{ids.dtype} of shape {tuple(ids.shape)}" for ids in sides)
        raise ValueError(f"source, target_in and target_out must be int64 of shape (batch, seq), but they are {came}")
    if target_in.shape != target_out.shape or len(source) != len(target_in):
        raise ValueError(
            "source, target_in and target_out must hold the same sentences, and the last two must have one shape, "
            f"but their shapes are {', '.join(str(tuple(ids.shape)) for ids in sides)}"
        )
    if not (target_out != pad_id).any():
        raise ValueError("target_out must hold a word to say, but all is padding")


def fits_budget(index: int, width: int, max_tokens: int) -> None:
    """Check that a batch of `max_tokens` tokens has room for pair `index`, whose longer sentence has `width`."""
    if width > max_tokens:
        raise ValueError(
            f"max_tokens must be at least as large as the longest sentence, "
            f"but it is {max_tokens}, and pair {index} has a sentence of {width} tokens"
        )


def checkpoint_format(path: str | os.PathLike, state: object, expected: str) -> None:
    """Check that the `state` read from `path` was written by `save_checkpoint`."""
    if not isinstance(state, dict) or state.get("format") != expected:
        raise ValueError(f"path must name a file that save_checkpoint wrote, but {path} is not one")


def checkpoint_parts(path: str | os.PathLike, state: dict, model: torch.nn.Module, **others: object) -> None:
    """Check that `state` has the names, shapes and types of the model's weights, and each of the `others` that is asked for."""
    kept, needed = (
        {name: (tuple(value.shape), value.dtype) for name, value in weights.items()}
        for weights in (state["model"], model.state_dict())
    )
    for name in [*needed, *kept]:
        if kept.get(name) != needed.get(name):
            raise ValueError(
                f"path must name a checkpoint of this model, but {path} has {kept.get(name, 'nothing')} for {name!r}, "
                f"and the model has {needed.get(name, 'nothing')}"
            )
    for name, part in others.items():
        if part is not None and state[name] is None:
            raise ValueError(f"path must hold the state of the {name}, but {path} does not")


def resumable(path: str | os.PathLike, resume: bool) -> None:
    """Check that a run may go on from the file `path`, which exists."""
    if not resume:
        raise FileExistsError(f"{path} exists: go on from it with resume=True, or remove it")


def run_of_train(path: str | os.PathLike, extra: dict, steps: int) -> None:
    """Check that a checkpoint's `extra` is that of a run of `train` with at most `steps` steps."""
    if "place" not in extra:
        raise ValueError(f"checkpoint must be one that train wrote, but {path} is not")
    done = len(extra["history"]["losses"])
    if done > steps:
        raise ValueError(f"steps must not be below what {path} has done already, {done}, but it is {steps}")


def loss(logits: Tensor, target: Tensor, smoothing: int | float, pad_id: int, reduction: str) -> None:
    """Check that the arguments of `label_smoothed_loss` fit together."""
    below_one(smoothing=smoothing)
    one_of(["mean", "sum"], reduction=reduction)
    if logits.ndim < 1 or logits.shape[:-1] != target.shape:
        raise ValueError(
            "logits must have the shape of target and one more axis, (..., vocab), "
            f"but their shapes are {tuple(logits.shape)} and {tuple(target.shape)}"
        )
    if not logits.is_floating_point() or target.dtype != torch.int64:
        raise ValueError(
            "logits must be floating-point numbers and target ids of type int64, "
            f"but they are {logits.dtype} and {target.dtype}"
        )
    real = target[target != pad_id]
    if reduction == "mean" and real.numel() == 0:
        raise ValueError("target must hold a real token, but all is padding")
    known_ids("target", real, logits.size(-1))


def not_empty(name: str, items: Sequence) -> None:
    """Check that there is at least one item."""
    if len(items) == 0:
        raise ValueError(f"{name} must hold at least one, but it is empty")


def text(name: str, value: object) -> None:
    """Check that `value` is a string with at least one word."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string, but it is {value!r}")
    if not value.strip():
        raise ValueError(f"{name} must hold at least one word, but it is empty")


def texts(name: str, values: object) -> list[str]:
    """Check that `values` are texts, at least one, each with a word, and return them as a list."""
    if isinstance(values, str):
        raise ValueError(f"{name} must be a list of texts, not one: {values!r}")
    values = list(values)
    not_empty(name, values)
    for value in values:
        text(f"each of {name}", value)
    return values


def text_pairs(sets: dict[str, Sequence]) -> None:
    """Check that each set holds pairs of two texts, and that no source sentence is in two sets."""
    where: dict[str, str] = {}
    for name, pairs in sets.items():
        for pair in pairs:
            if len(pair) != 2 or not all(isinstance(side, str) and side for side in pair):
                raise ValueError(f"{name} must hold pairs of two texts, not {pair!r}")
            if where.setdefault(pair[0], name) != name:
                raise ValueError(f"no sentence may be in two sets, but {pair[0]!r} is in {where[pair[0]]} and in {name}")


def room_for(vocab_size: int, *, special: int, letters: int) -> None:
    """Check that a vocabulary holds the special tokens and each character by itself."""
    if vocab_size < special + letters:
        raise ValueError(
            f"vocab_size must leave room for {special} special tokens and the {letters} characters of the sentences, "
            f"but it is {vocab_size}"
        )


def predictions(predictions: list[str], references: list[str]) -> None:
    """Check that both are equally long lists of texts, not empty; a prediction may be an empty text."""
    for name, values in (("predictions", predictions), ("references", references)):
        if isinstance(values, str) or not all(isinstance(value, str) for value in values):
            raise ValueError(f"{name} must be a list of texts, but it is {values!r}")
    given = sum(map(bool, references))
    if not references or len(predictions) != len(references) or given < len(references):
        raise ValueError(
            "each prediction needs one reference that is not empty, and there must be one at least, "
            f"but there are {len(predictions)} predictions and {given} such references"
        )


def recurrent_state(state: Tensor | tuple, zeros: Tensor | tuple) -> None:
    """Check that `state` has the form and the shapes of `zeros`: one tensor, or an LSTM's pair of them."""

    def shapes(state: Tensor | tuple) -> tuple:
        return tuple(map(shapes, state)) if isinstance(state, tuple) else tuple(state.shape)

    if shapes(state) != shapes(zeros):
        pair = " (an LSTM's state is the pair h, c)" if isinstance(zeros, tuple) else ""
        raise ValueError(f"state must have shape {shapes(zeros)}{pair}, but its shape is {shapes(state)}")


def recurrent_step(cell: torch.nn.Module, x: Tensor, state: Tensor | tuple) -> None:
    """Check what a cell of chapter 2 is given for one step: `x` of shape `(batch, input)`, and its state."""
    if x.ndim != 2 or x.size(1) != cell.input_size:
        raise ValueError(f"x must have shape (batch, input) with input {cell.input_size}, but its shape is {tuple(x.shape)}")
    recurrent_state(state, cell.initial_state(len(x)))


def recurrent_cell(cell: torch.nn.Module) -> None:
    """Check that `cell` is one that chapter 2's layer can run."""
    if not hasattr(cell, "initial_state"):
        raise ValueError(
            "cell must be an RNNCell, an LSTMCell or a GRUCell of this library, "
            f"but it is {type(cell).__module__}.{type(cell).__name__}"
        )


def recurrent_input(x: Tensor | PackedSequence, input_size: int) -> None:
    """Check that `x` holds sequences of vectors, `(batch, seq, input)` or packed, with at least one step."""
    if isinstance(x, PackedSequence):
        if x.data.ndim != 2 or x.data.size(1) != input_size:
            raise ValueError(
                f"x must be packed from (batch, seq, input) with input {input_size}, "
                f"but its data has shape {tuple(x.data.shape)}"
            )
    elif x.ndim != 3 or x.size(2) != input_size or x.size(1) < 1:
        raise ValueError(
            f"x must have shape (batch, seq, input) with input {input_size} and at least one step, "
            f"but its shape is {tuple(x.shape)}"
        )


def string(name: str, value: object) -> None:
    """Check that `value` is a string; it may be empty."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string, but it is {value!r}")


def words(name: str, values: object) -> list[str]:
    """Check that `values` are words, not a text and not lists of words, and return them as a list; it may be empty."""
    if isinstance(values, str):
        raise ValueError(f"{name} must be a list of words, not a text: {values!r}")
    values = list(values)
    for value in values:
        string(f"each of {name}", value)
    return values


def saved_vocabulary(path: object, content: str) -> tuple[list[str], int]:
    """Check that `content`, read from `path`, is a saved vocabulary, and return its words and its number of buckets."""
    try:
        saved = json.loads(content)
        known, oov_buckets = words("words", saved["words"]), saved["oov_buckets"]
        not_empty("words", known)
        if len(set(known)) < len(known):
            raise ValueError("a word occurs twice")
        if type(oov_buckets) is not int:
            raise ValueError(f"oov_buckets is {oov_buckets!r}")
        at_least(1, oov_buckets=oov_buckets)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} does not hold a saved vocabulary: {error!r}") from None
    return known, oov_buckets


def review_folder(path: Path) -> None:
    """Check that `path` holds the folders `neg` and `pos`, each with text files and nothing else."""
    for name in ("neg", "pos"):
        folder = path / name
        if not folder.is_dir():
            raise ValueError(f"{path}: expected folders pos and neg; {name} is missing")
        files = sorted(file for file in folder.iterdir() if not file.name.startswith("."))
        if not files:
            raise ValueError(f"{folder}: expected .txt files, but the folder is empty")
        for file in files:
            if not file.name.endswith((".txt", ".txt.gz")):
                raise ValueError(f"{file}: expected nothing but .txt files here")


def review_table(path: Path, header: list[str], rows: list[list[str]]) -> None:
    """Check that a table read from `path` has a `document` and a `label` in each row, and that a label is 0 or 1."""
    for name in ("document", "label"):
        if header.count(name) != 1:
            came = ", ".join(map(repr, header))
            raise ValueError(f"{path}, line 1: expected one column {name!r}, but got {came}")
    if not rows:
        raise ValueError(f"{path}, line 2: expected reviews, but the file ends")
    label_at = header.index("label")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ValueError(f"{path}, line {number}: {len(row)} fields, but line 1 names {len(header)}")
        if row[label_at] not in ("0", "1"):
            raise ValueError(f"{path}, line {number}: label {row[label_at]!r}, but expected 0 or 1")


def one_each(**lists: Sequence) -> None:
    """Check that all named lists are equally long: one of each for one of the others."""
    lengths = [len(items) for items in lists.values()]
    if len(set(lengths)) > 1:
        came = " and ".join(f"{len(items)} {name}" for name, items in lists.items())
        raise ValueError(f"{' and '.join(lists)} must be equally many, but there are {came}")


def undamaged(path: str | os.PathLike, expected: str) -> None:
    """Check that the file `path` has the SHA-256 checksum `expected`."""
    found = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    if found != expected:
        raise ValueError(f"{path} is damaged: its SHA-256 must be {expected}, but it is {found}")
