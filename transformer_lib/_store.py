"""What the library stores: one way to write it, and one to read it, whole and checked or not at all. It runs no code."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, TypeVar
from zipfile import BadZipFile, ZipFile

import torch

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
    check.like("it", values, dict)
    check.like("it", {**usual, **values}, usual)
    return kind(**values)


def _format(kind: str) -> str:
    return f"transformer_lib {kind} {VERSION}"


def _checksum(content: dict[str, Any]) -> str:
    """Return the checksum of all but the checksum itself."""
    covered = {name: value for name, value in content.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(covered, ensure_ascii=False).encode()).hexdigest()


def _content(saved: Any, kind: str) -> dict[str, Any]:
    """Return `saved` without its format, which files of before may lack."""
    check.like("its content", saved, dict)
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
