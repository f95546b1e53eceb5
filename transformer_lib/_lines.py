"""Find a text file, read it line by line, and say where it is broken."""

import gzip
import os
import zlib
from pathlib import Path


def find_file(folder: Path, name: str) -> Path:
    """Return the file `name` of `folder`, or `name.gz`; raise `ValueError` where there is neither."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise ValueError(f"there is no file {folder / name}, and no {name}.gz")


def read_lines(path: str | os.PathLike) -> list[str]:
    """Return the lines of a UTF-8 file, plain or gzipped, without their ends.

    Raises `ValueError` that names the file, and the line where there is one, if the file is missing, empty, a broken gzip
    file, or not UTF-8.
    """
    lines = lines_of(read_bytes(path), path)
    if not any(map(str.strip, lines)):
        raise ValueError(f"{path}, line 1: the file is empty")
    return lines


def read_bytes(path: str | os.PathLike) -> bytes:
    """Return what a file holds, or a pipe such as /dev/fd/63; raise `ValueError` where there is none."""
    path = Path(path)
    if path.is_dir() or not path.exists():
        raise ValueError(f"there is no file {path}")
    return path.read_bytes()


def read_line_pairs(source: str | os.PathLike, target: str | os.PathLike) -> list[tuple[str, str]]:
    """Return line n of both files, for each n, without spaces at its ends; a side may be empty.

    Raises `ValueError` as `read_lines` does, and if the files are not equally long.
    """
    sources, targets = read_lines(source), read_lines(target)
    if len(sources) != len(targets):
        raise ValueError(
            "line n of source and target must say the same, "
            f"but {source} has {len(sources)} lines and {target} has {len(targets)}"
        )
    return [(one.strip(), other.strip()) for one, other in zip(sources, targets, strict=True)]


def lines_of(data: bytes, path: str | os.PathLike) -> list[str]:
    """Return the lines of `data` as `read_lines` does, but perhaps none; `path` is what an error calls it."""
    if data.startswith(b"\x1f\x8b"):  # how every gzip file begins
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(f"{path}: the gzip file is broken: {error}") from None
    lines = []
    # Not splitlines(): it would also break at other signs than a line's end.
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n") if data else [], start=1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            where = f"{path}, line {number}, byte {error.start + 1}"
            raise ValueError(
                f"{where}: this is not UTF-8 ({error.reason}); older Korean files are often CP949: convert the file to UTF-8"
            ) from None
        lines.append(text.removesuffix("\r"))
    return lines
