"""One `transformer-train` that can be killed: `[torchrun …] scaling_run.py NOTES STEP ARGUMENT …`; STEP 0 kills nothing.

Each process notes each file that it gave its name in NOTES/RANK, and process 0 is killed in the middle of step number STEP;
where STEP is below 0, the last process is.
"""

import os
import signal
import sys
from pathlib import Path

from transformer_lib import _commands, scaling

notes, step, *arguments = sys.argv[1:]
rank, replace, steps = os.environ.get("RANK", "0"), os.replace, []


def noted(old, new):
    replace(old, new)
    with open(Path(notes, rank), "a") as file:
        print(new, file=file)


def counted(self, *given, real=scaling.DistributedStep.__call__):
    steps.append(1)
    killed = "0" if int(step) > 0 else str(self.group.world_size - 1)
    if rank == killed and len(steps) == abs(int(step)):
        self.wrapped.register_forward_hook(lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    return real(self, *given)


os.replace, scaling.DistributedStep.__call__ = noted, counted
_commands.train_command(arguments)
