"""Read the records of runs that take longer than a reader would wait."""

from importlib.resources import as_file, files
from typing import Any

from transformer_lib.checkpoint import open_json


def record(name: str) -> dict[str, Any]:
    """Return the record `name`: its command, date, versions, machine, seeds, settings and numbers.

    The record stands in `benchmarks/results/`, and `python -m benchmarks.NAME` makes it again.
    Raises `ValueError` naming the records there are, if there is none of this name.
    """
    folder = files("transformer_lib.records")
    known = sorted(path.name.removesuffix(".json") for path in folder.iterdir() if path.name.endswith(".json"))
    if name not in known:
        raise ValueError(f"there is no record {name!r}; there are: {', '.join(known)}")
    with as_file(folder / f"{name}.json") as path, open_json(path, "record") as found:
        return found
