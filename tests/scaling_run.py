"""One `transformer-train` that can be killed: `[torchrun …] scaling_run.py NOTES STEP ARGUMENT …`; STEP 0 kills nothing.

Each process notes each file that it gave its name in NOTES/RANK, and process 0 is killed in the middle of step number STEP;
where STEP is below 0, the last process is. With FREEZE=1 it is frozen instead, and noted in NOTES/frozen. BEAT is the seconds
from one sign of life to the next, SLOW those of each validation, BUSY those of process 0's forward pass in that step.
"""

import os
import signal
import sys
import time
from pathlib import Path

from transformer_lib import _commands, _heartbeat, scaling, training

notes, step, *arguments = sys.argv[1:]
rank, replace, steps = os.environ.get("RANK", "0"), os.replace, []


def noted(old, new):
    replace(old, new)
    with open(Path(notes, rank), "a") as file:
        print(new, file=file)


def end():
    if os.environ.get("FREEZE"):
        Path(notes, "frozen").write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGKILL)


def spend(name):
    begun = time.monotonic()
    while time.monotonic() - begun < float(os.environ.get(name, 0)):
        sum(range(10_000))


def slowly(*given, real=training.evaluate):
    spend("SLOW")
    return real(*given)


def counted(self, *given, real=scaling.DistributedStep.__call__):
    steps.append(1)
    killed = "0" if int(step) > 0 else str(self.group.world_size - 1)
    if rank == killed and len(steps) == abs(int(step)):
        self.wrapped.register_forward_hook(lambda *_: end())
    elif rank == "0" and len(steps) == abs(int(step)):
        self.wrapped.register_forward_hook(lambda *_: spend("BUSY"))
    return real(self, *given)


os.replace, scaling.DistributedStep.__call__, training.evaluate = noted, counted, slowly
_heartbeat.BEAT = float(os.environ.get("BEAT", _heartbeat.BEAT))
_commands.train_command(arguments)
