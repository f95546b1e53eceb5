"""Files that appear whole or not at all, and a training run that goes on from one as if it had never stopped."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from transformer_lib.data import StrPath

VERSION = 1  # part of every file's format: raise it when older code would misread a new file


@contextmanager
def atomic_write(path: StrPath) -> Iterator[BinaryIO]:
    """Open a new file to write, `.NAME.new`; it takes the name `path` when all is written, in one step of the file system."""
    path = Path(path)
    if path.exists() and not path.is_file():  # a device or a pipe, such as /dev/null: a file must not take its place
        with open(path, "wb") as file:
            yield file
        return
    path = path.resolve()  # a link stays a link
    new = path.with_name(f".{path.name}.new")
    try:
        with open(new, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # the content is on the disk before it gets the name
        os.replace(new, path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def write_tensors(path: StrPath, kind: str, content: dict[str, Any]) -> None:
    """Write `content`, which may hold tensors, in torch's format; `kind` says what it is."""
    with atomic_write(path) as file:
        torch.save({"format": f"transformer_lib {kind} {VERSION}", **content}, file)


def write_json(path: StrPath, kind: str, content: dict[str, Any], indent: int | None = None) -> None:
    """Write `content` as JSON; `kind` says what it is."""
    text = json.dumps({"format": f"transformer_lib {kind} {VERSION}", **content}, indent=indent, ensure_ascii=False)
    with atomic_write(path) as file:
        file.write(f"{text}\n".encode())


@contextmanager
def open_tensors(path: StrPath, kind: str) -> Iterator[dict[str, Any]]:
    """Give the block what `write_tensors` wrote, and cannot run code; a file that is damaged, or does not fit, is named."""
    with open(path, "rb") as file, _errors_name(path, kind):
        if ZipFile(file).testzip():  # torch does not look at the checksums
            raise ValueError("a checksum is wrong")
        file.seek(0)
        yield _content(torch.load(file, map_location="cpu", weights_only=True), kind)


@contextmanager
def open_json(path: StrPath, kind: str) -> Iterator[dict[str, Any]]:
    """Give the block what `write_json` wrote; a file that is damaged, or does not fit the block, is named."""
    data = Path(path).read_bytes()
    with _errors_name(path, kind):
        yield _content(json.loads(data), kind)


@contextmanager
def _errors_name(path: StrPath, kind: str) -> Iterator[None]:
    """Let every error name the file, in one line."""
    try:
        yield
    except Exception as error:  # what reads a damaged file can fail in any way
        reason = f": {' '.join(str(error).split())}" if isinstance(error, ValueError) else ""
        raise ValueError(f"{path} is damaged, or no {kind} that fits here{reason}") from error


# What parts of a model are called in older files.
_RENAMED = {f"{role}_projection": f"W_{role[0]}" for role in ("query", "key", "value", "output")} | {
    f"{part}_residual": f"{part}_add_norm" for part in ("attention", "self_attention", "cross_attention", "feed_forward")
}


def renamed(weights: dict[str, Any]) -> dict[str, Any]:
    """Return the weights of a model, or what is kept of each, with today's names."""
    return {".".join(_RENAMED.get(part, part) for part in name.split(".")): weight for name, weight in weights.items()}


def sizes_of(saved: dict[str, Any]) -> dict[str, Any]:
    """Return a model's stored sizes without one that is gone and that no file of ours ever used."""
    return {name: size for name, size in saved.items() if (name, size) != ("attention_dropout", 0.0)}


def _content(saved: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return `saved` without its format, which the oldest files do not have."""
    expected = f"transformer_lib {kind} {VERSION}"
    if (found := saved.pop("format", expected)) != expected:
        raise ValueError(f"its format is {found!r}, not {expected!r}")
    return saved


def save_checkpoint(
    path: StrPath,
    model: nn.Module,
    optimizer: Optimizer | None = None,
    schedule: LRScheduler | None = None,
    extra: dict[str, Any] | None = None,
) -> None:
    """Write the state of a run; `extra` may hold numbers, texts, tensors, and lists and dictionaries of these."""
    parts = {"model": model, "optimizer": optimizer, "schedule": schedule}
    state = {name: None if part is None else part.state_dict() for name, part in parts.items()}
    write_tensors(path, "checkpoint", {"extra": extra or {}, **state})


def read_checkpoint(path: StrPath, model: nn.Module) -> dict[str, Any]:
    """Return what `save_checkpoint` wrote, if its weights have the names and shapes of those of `model`."""
    with open_tensors(path, "checkpoint") as state:
        state["model"] = renamed(state["model"])
        # load_state_dict would find this out too, but with half of the weights loaded.
        shapes = lambda weights: {name: weight.shape for name, weight in weights.items()}
        if shapes(state["model"]) != shapes(model.state_dict()):
            raise ValueError("its weights are those of another model")
        return state


def load_checkpoint(
    path: StrPath, model: nn.Module, optimizer: Optimizer | None = None, schedule: LRScheduler | None = None
) -> dict[str, Any]:
    """Load what `save_checkpoint` wrote, and return its `extra`; a file that does not fit leaves the model unchanged."""
    state = read_checkpoint(path, model)
    with _errors_name(path, "checkpoint"):
        # The schedule sets the optimizer's rate, so the optimizer follows it: its rate may have been set by hand.
        for name, part in (("schedule", schedule), ("optimizer", optimizer), ("model", model)):
            if part is not None:
                part.load_state_dict(state[name])
    return state["extra"]


def average_checkpoints(paths: Sequence[StrPath], model: nn.Module) -> None:
    """Give `model` the mean of the weights in checkpoints of one run. Source: Vaswani et al. (2017), section 6.1."""
    states = [read_checkpoint(path, model)["model"] for path in paths]
    model.load_state_dict({name: torch.stack([state[name] for state in states]).mean(dim=0) for name in states[0]})


@dataclass(frozen=True)
class Checkpoint:
    """The file `path` that `train` writes after each `every` steps and after the last.

    With `resume` a run that was stopped, called again with the same arguments, goes on from this file and ends as if it had
    never stopped; where there is no file yet, it starts.
    """

    path: StrPath
    every: int = 100
    resume: bool = False

    def save(self, run_parts: tuple, history: Any, position: tuple[int, int]) -> None:
        """Write model, optimizer and schedule, the history (a dataclass), and the epoch and the batch that come next."""
        device = next(run_parts[0].parameters()).device
        random = {"cpu": torch.get_rng_state()}
        if device.type != "cpu":  # cuda, or mps of an Apple chip
            random[device.type] = torch.get_device_module(device).get_rng_state(device)
        save_checkpoint(self.path, *run_parts, {"history": asdict(history), "position": position, "random": random})

    def load(self, run_parts: tuple, steps: int) -> dict[str, Any] | None:
        """Load what `save` wrote and return its history and position, or None where there is no file yet."""
        Path(self.path).parent.mkdir(parents=True, exist_ok=True)  # a missing folder would be found out at the first save
        if not Path(self.path).exists():
            return None
        if not self.resume:
            raise FileExistsError(f"{self.path} exists: go on from it with resume=True, or remove it")
        saved = load_checkpoint(self.path, *run_parts)
        saved.setdefault("position", saved.pop("place", None))  # its name in older files
        done = len(saved["history"]["losses"])
        if done > steps:
            raise ValueError(f"steps must be at least {done}, which {self.path} has done already, but it is {steps}")
        torch.set_rng_state(saved["random"]["cpu"])
        device = next(run_parts[0].parameters()).device
        if device.type != "cpu" and device.type in saved["random"]:
            torch.get_device_module(device).set_rng_state(saved["random"][device.type], device)
        return saved
