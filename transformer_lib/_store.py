"""What the library stores: one way to write it, and one to read it, whole and checked or not at all. It runs no code."""

import hashlib
import json
import math
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile, ZipFile

import torch
from torch import Tensor

from transformer_lib import _checks as check
from transformer_lib._files import atomic_write
from transformer_lib._lines import read_bytes

R = TypeVar("R")
VERSION = 1  # of every format: one more where a reader of before would misread what is written


def write_tensors(path: str | os.PathLike, kind: str, content: dict[str, Any]) -> None:
    """Write `content`, which may hold tensors, as torch does: a zip file, with a checksum of each of its parts."""
    with atomic_write(path) as file:
        torch.save({"format": _format(kind), **content}, file)


def read_tensors(path: str | os.PathLike, kind: str, build: Callable[[dict[str, Any]], R]) -> R:
    """Return what `build` makes of the content that `write_tensors` wrote to `path`.

    `build` checks each field; whatever it raises, the error names the file.

    Raises: `FileNotFoundError` if there is no file; `ValueError` if it is damaged, foreign, of a later version, or not what
    `build` wants.
    """
    with open(path, "rb") as file, _named(path, kind):
        with ZipFile(file) as parts:
            # torch compresses nothing, so no file asks for more memory than it is large. And it skips the checksums.
            if any(part.compress_type for part in parts.infolist()) or parts.testzip():
                raise BadZipFile
        file.seek(0)
        return build(_content(torch.load(file, map_location="cpu", weights_only=True), kind))


def write_json(path: str | os.PathLike, kind: str, content: dict[str, Any], indent: int | None = None) -> None:
    """Write `content`, plain JSON, with a checksum."""
    content = {"format": _format(kind), **content}
    with atomic_write(path) as file:
        text = json.dumps({**content, "checksum": _checksum(content)}, indent=indent, ensure_ascii=False)
        file.write(f"{text}\n".encode())


def read_json(path: str | os.PathLike, kind: str, build: Callable[[dict[str, Any]], R]) -> R:
    """Return what `build` makes of the content that `write_json` wrote to `path`; see `read_tensors`.

    Raises: `ValueError` if there is no file, and where `read_tensors` does.
    """
    data = read_bytes(path)
    with _named(path, kind):
        saved = json.loads(data.decode("utf-8-sig"))
        if isinstance(saved, dict) and saved.pop("checksum", found := _checksum(saved)) != found:
            raise ValueError("it is damaged: its checksum is another")
        return build(_content(saved, kind))


def stored(kind: type[R], values: dict[str, Any]) -> R:
    """Return the dataclass `kind` with the stored `values`; a field that files of before lack has its usual value."""
    usual = asdict(kind())
    check_like("it", values, dict)
    check_like("it", {**usual, **values}, usual)
    return kind(**values)


def check_like(name: str, value: Any, pattern: Any) -> None:
    """Check that `value`, which a file held, is like `pattern`: of its kind, and its parts like the pattern's.

    A pattern is a value of today, or a kind. Numbers must be finite, and not negative where the pattern's is not; text must be
    of whole characters. A tensor must have the pattern's shape and kind of numbers, a list its length, a dictionary its
    names; `[pattern, ...]` is a list of any length, and `{kind: pattern}` a dictionary with any names of that kind.
    """
    # What torch calls a state is an OrderedDict.
    value, pattern = (dict(one) if isinstance(one, OrderedDict) else one for one in (value, pattern))
    kind = pattern if isinstance(pattern, type) else type(pattern)
    if type(value) is not kind and (type(value), kind) != (int, float):
        came = repr(value) if isinstance(value, bool | int | float | None) else f"of type {type(value).__name__}"
        raise ValueError(f"{name} must be of type {kind.__name__}, but it is {came}")
    if kind in (int, float):
        finite = math.isfinite(value) if isinstance(value, float) else abs(value) < 2**63
        if not finite and value != pattern:
            raise ValueError(f"{name} must be a finite number, but it is {value!r:.60}")
        if pattern is not kind and value < 0 <= pattern:
            raise ValueError(f"{name} must not be negative, but it is {value}")
    elif kind is str:
        check.string(name, value)
    elif pattern is kind:
        return
    elif kind is Tensor:
        came, expected = ((x.dtype, tuple(x.shape), x.layout) for x in (value, pattern))
        if came != expected or value.is_meta:
            raise ValueError(f"{name} must be {expected[0]} of shape {expected[1]}, but it is {came[0]} of shape {came[1]}")
        if value.is_floating_point() and not value.isfinite().all() and pattern.isfinite().all():
            raise ValueError(f"{name} must hold finite numbers, but it holds others")
    elif kind is dict:
        of_kind = {key: part for key, part in pattern.items() if isinstance(key, type)}
        for key, part in value.items():
            if key not in pattern and type(key) not in of_kind:
                raise ValueError(f"{name} must have no {key!r:.60}, but it has")
            check_like(f"{name}[{key!r:.60}]", part, pattern[key] if key in pattern else of_kind[type(key)])
        if missing := [key for key in pattern if key not in value and key not in of_kind]:
            raise ValueError(f"{name} must have {missing[0]!r}, but it has not")
    elif kind in (list, tuple):
        any_length = len(pattern) == 2 and pattern[1] is ...
        if not any_length and len(value) != len(pattern):
            raise ValueError(f"{name} must have {len(pattern)} items, but it has {len(value)}")
        for place, part in enumerate(value):
            check_like(f"{name}[{place}]", part, pattern[0 if any_length else place])


def check_buildable(name: str, config: Any, size: int) -> None:
    """Check, before memory is asked for, that a file of `size` bytes can hold the weights of the model of `config`."""
    width, words = config.d_model, max(config.source_vocab_size, config.target_vocab_size)
    if width * max(width, config.num_layers * config.d_ff, words) > size or width * config.max_len > 2**26:
        raise ValueError(f"{name} must describe a model that its file can hold, but it is larger")


def check_undamaged(path: str | os.PathLike, expected: str) -> None:
    """Check that the file `path` has the SHA-256 checksum `expected`."""
    found = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    if found != expected:
        raise ValueError(f"{path} is damaged: its SHA-256 must be {expected}, but it is {found}")


def _format(kind: str) -> str:
    return f"transformer_lib {kind} {VERSION}"


def _checksum(content: dict[str, Any]) -> str:
    """Return the checksum of all but the checksum itself."""
    covered = {name: value for name, value in content.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(covered, ensure_ascii=False).encode()).hexdigest()


def _content(saved: Any, kind: str) -> dict[str, Any]:
    """Return `saved` without its format, which files of before may lack."""
    check_like("its content", saved, dict)
    written = saved.pop("format", _format(kind))
    if written != _format(kind):
        name, _, version = str(written).rpartition(" ")
        later = name == f"transformer_lib {kind}" and version.isdecimal()
        raise ValueError(
            f"its format is {version}, that of a later version of the library; this one reads {VERSION}"
            if later
            else f"its format is {written!r:.60}"
        )
    return saved


@contextmanager
def _named(path: str | os.PathLike, kind: str) -> Iterator[None]:
    """Let every error name the file that it comes from, in one line."""
    try:
        yield
    except BaseException as error:  # a damaged or forged file can break its reader anywhere
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # how Rust's libraries break
            raise
        known = isinstance(error, ValueError) and str(error)
        reason = " ".join(str(error).split()) if known else "it is cut off, damaged, or something else"
        raise ValueError(f"path must name a {kind}, but {path} cannot be read as one: {reason}") from error
