"""One `transformer-train` that is killed: `[torchrun …] killed_run.py step|write NUMBER ARGUMENT …`.

Process 0 is killed in the middle of step NUMBER, or when file NUMBER is written and has not its name yet; 0 kills nothing.
"""

import os
import signal
import sys

from transformer_lib import checkpoint, scaling
from transformer_lib.cli import train_command

place, number, *arguments = sys.argv[1:]
calls = []


def count(where):
    calls.append(where) if where == place else None
    return where == place and len(calls) == int(number) and os.environ.get("RANK", "0") == "0"


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def step(self, *given, real=scaling.DistributedStep.__call__):
    if count("step"):
        self.wrapped.register_forward_hook(die)
    return real(self, *given)


def fsync(file, real=os.fsync):
    return die() if count("write") else real(file)


scaling.DistributedStep.__call__, checkpoint.os.fsync = step, fsync
train_command(arguments)
