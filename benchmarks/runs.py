"""Many runs for one record: as many at a time as there are cores, each kept as soon as it is finished."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from transformer_lib.checkpoint import atomic_write
from transformer_lib.progress import progress


def alone() -> None:
    """Prepare a process for its runs: one thread, so that the same numbers come out wherever this runs, and no bars."""
    torch.set_num_threads(1)
    os.environ["TRANSFORMER_LIB_QUIET"] = "1"


def read_finished(path: Path, settings: str) -> dict[str, Any]:
    """Return the runs that `path` holds, if they were made with these settings."""
    if not path.exists():
        return {}
    saved = json.loads(path.read_text(encoding="utf8"))
    return saved["runs"] if saved["settings"] == settings else {}


def write_finished(path: Path, settings: str, runs: dict[str, Any]) -> None:
    """Write the runs as a whole or not at all."""
    with atomic_write(path) as file:
        file.write(json.dumps({"settings": settings, "runs": runs}).encode())


def finish(name: str, jobs: dict[str, Callable[[], Any]], about: str) -> dict[str, Any]:
    """Return what each of `jobs` returns, by its key; run those that are not finished yet.

    What is finished is kept in a temporary file of `name`, so that a command that was stopped goes on where it was.
    `about` says what the runs depend on besides their own arguments: with another `about` all start again.
    """
    # Outside the repository: it is worth something only until the record is whole.
    path = Path(tempfile.gettempdir()) / f"transformer-lib-{name}.json"
    settings = hashlib.sha256(about.encode()).hexdigest()
    runs = read_finished(path, settings)
    left = {key: job for key, job in jobs.items() if key not in runs}
    workers = min(os.cpu_count() or 1, max(len(left), 1))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=alone) as pool:
        keys = {pool.submit(job): key for key, job in left.items()}
        for done in progress(as_completed(keys), description=name, total=len(keys)):
            runs[keys[done]] = done.result()
            write_finished(path, settings, runs)
    return {key: runs[key] for key in jobs}
