"""Write a file so that under its name there is always a whole one: the old file, or the new one."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_write(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """Open a new file beside `path` to be written; it takes the name `path` when the block is done.

    Until then the old file stays as it was. Where the block or the disk fails, the new file is removed. A process that is
    killed leaves it behind, as `.NAME.new`: the leading dot hides it from tools that collect files by their names.

    A symbolic link stays one: the file that it leads to is replaced. What is no file, such as a device or a pipe, is written
    to, and so is the file that standard output goes to.
    """
    path = Path(path)
    if path.exists() and (not path.is_file() or _is_standard_output(path)):
        with open(path, "ab") as stream:
            yield stream
        return
    path = Path(os.path.realpath(path))
    new = path.with_name(f".{path.name}.new")
    try:
        with open(new, "wb") as file:
            if path.exists():
                shutil.copymode(path, new)  # who may read it stays the same
            yield file
            file.flush()
            os.fsync(file.fileno())  # the content is on the disk before it takes the name
        os.replace(new, path)  # one step of the file system
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _is_standard_output(path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(1), path.stat())
    except OSError:  # it is closed
        return False
