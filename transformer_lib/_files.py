"""Write a file so that under its name there is always a whole one: the old file, or the new one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_write(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """Open a new file beside `path` to be written; it takes the name `path` when the block is done.

    Until then the old file stays as it was. Where the block or the disk fails, the new file is removed. A process that is
    killed leaves it behind, as `.NAME.new`: the leading dot hides it from tools that collect files by their names.
    """
    path = Path(path)
    new = path.with_name(f".{path.name}.new")
    try:
        with open(new, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # the content is on the disk before it takes the name
        os.replace(new, path)  # one step of the file system
    except BaseException:
        new.unlink(missing_ok=True)
        raise
