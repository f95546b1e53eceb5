"""Store a training run and put it back: a file that is always whole, is checked before it is used, and runs no code."""

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Adam, Optimizer
from torch.optim.lr_scheduler import LRScheduler

from transformer_lib import _checks as check
from transformer_lib._store import check_like, read_tensors, write_tensors

# What a stored run's history must be like; it is that of chapter 12.
HISTORY = {"losses": [float, ...], "learning_rates": [0.0, ...], "validation_losses": {int: float}, "tokens": 0, "seconds": 0.0}
# What torch's schedules note in the optimizer's groups, and a run without a schedule has not.
OF_SCHEDULES = dict.fromkeys(("initial_lr", "min_lr", "max_lr", "base_momentum", "max_momentum", "swa_lr"), 0.0)


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
        device = next(run_parts[0].parameters()).device
        state = read_checkpoint(self.path, *run_parts, check_extra=_check_run)
        saved = state["extra"]
        done = len(saved["history"]["losses"])
        if done > steps:
            raise ValueError(f"steps must not be below what {self.path} has done already, {done}, but it is {steps}")
        _put_back(state, *run_parts)
        torch.set_rng_state(saved["random"]["cpu"])
        if device.type == "cuda" and "cuda" in saved["random"]:
            torch.cuda.set_rng_state(saved["random"]["cuda"], device)
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
    write_tensors(path, "checkpoint", {"extra": extra or {}, **state})


def read_checkpoint(
    path: str | os.PathLike,
    model: nn.Module,
    optimizer: Optimizer | None = None,
    schedule: LRScheduler | None = None,
    check_extra: Callable[[dict[str, Any]], None] = lambda extra: None,
) -> dict[str, Any]:
    """Return the state in the file `path`, if it is whole and fits `model` and those of the others that are not None.

    Raises what `load_checkpoint` does.
    """

    def check_state(state: dict[str, Any]) -> dict[str, Any]:
        check_like("it", dict.fromkeys(state), dict.fromkeys(("extra", "model", "optimizer", "schedule")))
        check_weights(state["model"], model)
        for name, part, check_part in (("optimizer", optimizer, _check_optimizer), ("schedule", schedule, _check_schedule)):
            if part is not None:
                if state[name] is None:
                    raise ValueError(f"it has no state of the {name}")
                check_part(state[name], part)
        check_like("extra", state["extra"], dict)
        check_extra(state["extra"])
        return state

    return read_tensors(path, "checkpoint", check_state)


def check_weights(weights: Any, model: nn.Module) -> None:
    """Check that `weights` are such as `model` has."""
    check_like("its model", weights, model.state_dict())


def _check_optimizer(state: Any, optimizer: Optimizer) -> None:
    """Check that `state` is such as `optimizer` has; of Adam, with its counts and moments."""
    groups = optimizer.state_dict()["param_groups"]
    check_like("its optimizer", state, {"state": dict, "param_groups": [dict] * len(groups)})
    for saved, group in zip(state["param_groups"], groups, strict=True):
        check_like("a group of its optimizer", OF_SCHEDULES | saved, OF_SCHEDULES | group)
        for name, value in group.items():
            if isinstance(value, bool | list) and saved[name] != value:
                raise ValueError(f"{name} of its optimizer must be that of the run")
        check.below_one(**{f"beta {beta}": beta for beta in saved.get("betas", ())})
    parameters = [(parameter.detach(), group) for group in optimizer.param_groups for parameter in group["params"]]
    for index, values in state["state"].items():
        if index not in range(len(parameters)):
            raise ValueError(f"its optimizer must hold no state of a parameter {index!r:.60}")
        if isinstance(optimizer, Adam):
            parameter, group = parameters[index]
            moments = ("exp_avg", "exp_avg_sq", *["max_exp_avg_sq"] * group["amsgrad"])
            name = f"its optimizer's state of parameter {index}"
            check_like(name, values, {"step": Tensor, **dict.fromkeys(moments, parameter)})
            check_like(f"{name}: step", values["step"].item(), 0.0)
            if any((values[moment] < 0).any() for moment in moments[1:]):
                raise ValueError(f"{name} must hold no negative squares")


def _check_schedule(state: Any, schedule: LRScheduler) -> None:
    """Check that `state` is such as `schedule` has."""
    check_like("its schedule", state, schedule.state_dict())
    check.at_least(1, **{name: state[name] for name in ("d_model", "warmup") if name in state})  # chapter 11's


def _check_run(saved: dict[str, Any]) -> None:
    """Check what `Checkpoint.save` wrote besides the states of model, optimizer and schedule."""
    if saved.keys() != {"history", "place", "random"}:
        raise ValueError("it is not one that train wrote")
    check_like("history", saved["history"], HISTORY)
    check_like("place", saved["place"], (0, 0))
    check_like("random", {"cuda": saved["random"]["cpu"]} | saved["random"], dict.fromkeys(("cpu", "cuda"), Tensor))
    history, done = saved["history"], len(saved["history"]["losses"])
    check.equally_many(losses=history["losses"], learning_rates=history["learning_rates"])
    for step in history["validation_losses"]:
        check.in_range(1, done, **{"a step of validation_losses": step})
    check.in_range(0, done, place=sum(saved["place"]))  # each epoch has a batch, and each batch was a step
    for device, state in saved["random"].items():
        if device == "cpu" or torch.cuda.is_available():
            torch.Generator(device).set_state(state)


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
    state = read_checkpoint(path, model, optimizer, schedule)
    _put_back(state, model, optimizer, schedule)
    return state["extra"]


def _put_back(state: dict[str, Any], model: nn.Module, optimizer: Optimizer | None, schedule: LRScheduler | None) -> None:
    """Put back what `read_checkpoint` has checked.

    Chapter 11's schedule sets the rate of its optimizer. The optimizer comes last: its rate may have been set by hand.
    """
    for name, part in (("model", model), ("schedule", schedule), ("optimizer", optimizer)):
        if part is not None:
            part.load_state_dict(state[name])
