"""Store a training run and put it back: a file that is always whole, is checked before it is used, and runs no code."""

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from transformer_lib import _checks as check
from transformer_lib._files import atomic_write

FORMAT = "transformer_lib checkpoint 1"


@dataclass(frozen=True)
class Checkpoint:
    """The file `path` that `train` writes after each `every` steps and after the last.

    With `resume` a run that was stopped, called again with the same arguments, goes on from this file and ends as if it had
    never stopped; where there is no file yet, it starts.

    Raises: `ValueError` if `every` is below 1.
    """

    path: str | os.PathLike
    every: int = 100
    resume: bool = False

    def __post_init__(self) -> None:
        check.at_least(1, every=self.every)

    def save(self, run_parts: tuple, history: Any, place: tuple[int, int]) -> None:
        """Write all that a run is made of.

        `run_parts` are model, optimizer and schedule; `history` is a dataclass, and `place` where in the batches it is.
        """
        device = next(run_parts[0].parameters()).device
        random = {"cpu": torch.get_rng_state()}
        if device.type == "cuda":
            random["cuda"] = torch.cuda.get_rng_state(device)
        save_checkpoint(self.path, *run_parts, {"history": asdict(history), "place": place, "random": random})

    def load(self, run_parts: tuple, steps: int) -> dict[str, Any] | None:
        """Put back what `save` wrote and return its history and place, or None where there is no file yet.

        Raises: `FileExistsError` if there is a file and `resume` is not set; `ValueError` if the run has more than `steps`
        steps already, and where `load_checkpoint` does.
        """
        if not Path(self.path).exists():
            return None
        resumable(self.path, self.resume)
        saved = load_checkpoint(self.path, *run_parts)
        if "place" not in saved:
            raise ValueError(f"checkpoint must be one that train wrote, but {self.path} is not")
        done = len(saved["history"]["losses"])
        if done > steps:
            raise ValueError(f"steps must not be below what {self.path} has done already, {done}, but it is {steps}")
        random = saved.pop("random")
        torch.set_rng_state(random["cpu"])
        if "cuda" in random:
            torch.cuda.set_rng_state(random["cuda"], next(run_parts[0].parameters()).device)
        return saved


def resumable(path: str | os.PathLike, resume: bool) -> None:
    """Raise `FileExistsError` unless a run may go on from the file or folder `path`, which exists."""
    if not resume:
        raise FileExistsError(f"{path} exists: go on from it with resume=True, or remove it")


def save_checkpoint(
    path: str | os.PathLike,
    model: nn.Module,
    optimizer: Optimizer | None = None,
    schedule: LRScheduler | None = None,
    extra: dict[str, Any] | None = None,
) -> None:
    """Write everything that a run needs to go on; `path` is never half a file.

    Until all is written the old file stays as it was. `extra` holds what else should be kept: numbers, texts, tensors, and
    lists and dictionaries of these.

    Raises: `FileNotFoundError` if the folder does not exist.
    """
    parts = {"model": model, "optimizer": optimizer, "schedule": schedule}
    state = {name: None if part is None else part.state_dict() for name, part in parts.items()}
    with atomic_write(path) as file:
        torch.save({"format": FORMAT, "extra": extra or {}, **state}, file)


def read_whole(path: str | os.PathLike) -> Any:
    """Return what `torch.save` wrote to a file, if it is whole; nothing in the file can run code.

    Raises: `FileNotFoundError` if there is no file; `ValueError` if it is cut off, damaged, or something else.
    """
    with open(path, "rb") as file:
        try:
            if damaged := ZipFile(file).testzip():  # torch skips the checksums
                raise BadZipFile(damaged)
            file.seek(0)
            return torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # a damaged file can break its reader anywhere
            raise ValueError("it is cut off, damaged, or something else") from error


def read_checkpoint(path: str | os.PathLike, model: nn.Module, **others: object) -> dict[str, Any]:
    """Return the state in the file `path`, if it is whole and fits `model` and those of the `others` that are not None.

    Raises what `load_checkpoint` does.
    """
    try:
        state = read_whole(path)
    except ValueError as error:
        raise ValueError(f"path must name a checkpoint, but {path} cannot be read as one: {error}") from error
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise ValueError(f"path must name a file that save_checkpoint wrote, but {path} is not one")
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
    return state


def load_checkpoint(
    path: str | os.PathLike,
    model: nn.Module,
    optimizer: Optimizer | None = None,
    schedule: LRScheduler | None = None,
) -> dict[str, Any]:
    """Put back what `save_checkpoint` wrote, and return its `extra`.

    A checkpoint cannot run code. If anything does not fit, nothing is changed.

    Raises: `FileNotFoundError` if there is no file; `ValueError` if it is cut off, damaged, not a checkpoint, of another
    model, or lacks a part that is asked for.
    """
    state = read_checkpoint(path, model, optimizer=optimizer, schedule=schedule)
    if optimizer is not None:  # first: it checks, and raises before it changes anything
        optimizer.load_state_dict(state["optimizer"])
    model.load_state_dict(state["model"])
    if schedule is not None:
        schedule.load_state_dict(state["schedule"])
    return state["extra"]
