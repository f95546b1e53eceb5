"""A progress bar for people, silent where notebooks are executed for the book."""

import os
import sys
from collections.abc import Iterable

from tqdm import tqdm


def progress(iterable: Iterable, *, description: str, total: int | None = None) -> tqdm:
    """Return `iterable` with a progress bar; `total` is for one without a length. TRANSFORMER_LIB_QUIET=1 makes it silent."""
    quiet = os.environ.get("TRANSFORMER_LIB_QUIET") == "1"
    # In a notebook stderr stands on red, as if something had failed, and a bar that stays would stand inside a printed table.
    notebook = "ipykernel.zmqshell" in sys.modules
    file = sys.stdout if notebook else sys.stderr
    return tqdm(iterable, desc=description, total=total, disable=quiet or file is None, file=file, leave=not notebook)
