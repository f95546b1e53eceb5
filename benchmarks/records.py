"""Write a record: the numbers of a long run, with all that it takes to make them again."""

import hashlib
import os
import platform
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tools.machine import processor
from transformer_lib.checkpoint import write_json

RESULTS = Path(__file__).parent / "results"


def write_record(name: str, *, seeds: Sequence[int], settings: dict[str, Any], numbers: Any) -> Path:
    """Write `benchmarks/results/NAME.json` and return its path.

    `NAME` is also the script's: `python -m benchmarks.NAME` makes the record again. `settings` says what was run,
    `numbers` what came out; both must be plain JSON. The file is replaced as a whole or not at all.
    """
    record = {
        "command": f"python -m benchmarks.{name}",
        "date": date.today().isoformat(),
        "versions": {"python": platform.python_version(), **{package: version(package) for package in ("torch", "numpy")}},
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "seeds": list(seeds),
        "settings": settings,
        "numbers": numbers,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    write_json(path, "record", record, indent=1)
    return path


def write_made_with(weights: Path, script: str, **more: Any) -> None:
    """Write beside the `weights` that come with the library which script made them and with what, and `more` about them."""
    made = {
        "sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
        "command": f"python -m benchmarks.{script}",
        "versions": {"python": platform.python_version(), **{name: version(name) for name in ("torch", "tokenizers")}},
        **more,
    }
    write_json(weights.with_suffix(".json"), "record", made, indent=1)
