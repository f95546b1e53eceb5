"""Notice that another process of a run is frozen: its connections stand, so those that wait for it would wait for ever."""

import os
import platform
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from torch.distributed import DistError, PrefixStore, TCPStore

BEAT, PATIENCE = 2.0, 10  # seconds from one sign of life to the next; so many of our own without one of another


@contextmanager
def watching(rank: int, world_size: int) -> Iterator[None]:
    """While the block runs, show the other processes that this one lives, and end it with one line where another is frozen.

    A thread does it: however long a process works, or waits for others, it shows that it lives. The first process that is not
    frozen says the line and ends; the others end because their connections to it break.
    """
    if world_size == 1:
        yield
        return
    store = PrefixStore("heartbeat", TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), is_master=False))
    over = threading.Event()
    store.set(f"process {rank}", f"{os.getpid()} {platform.node()}")
    store.add(str(rank), 1)
    watch = threading.Thread(target=_watch, args=(store, rank, world_size, over), daemon=True)
    watch.start()
    try:
        yield
    finally:
        over.set()
        watch.join()
        with suppress(DistError):
            store.set(str(rank), "0")  # it has not died: it is done


def _watch(store: PrefixStore, rank: int, world_size: int, over: threading.Event) -> None:
    before, silent = [0] * world_size, Counter()
    while not over.wait(BEAT):
        try:
            store.add(str(rank), 1)
            now = [store.add(str(other), 0) for other in range(world_size)]
        except DistError:  # the store's process has ended: torchrun, which ends its processes, or process 0
            return
        for other in range(world_size):
            # Not counted in seconds: while this process itself was frozen, it has not waited. And each has to begin first.
            silent[other] = silent[other] + 1 if now[other] == before[other] > 0 else 0
        before = now
        frozen = [other for other in range(world_size) if silent[other] >= PATIENCE]
        if frozen and rank == min(set(range(world_size)) - set(frozen)):
            where = [store.get(f"process {other}").decode().split(" ", 1) for other in frozen]
            seconds = f"{BEAT * PATIENCE:g} seconds"
            line = f"process {frozen[0]} of the run has not answered for {seconds}; go on with --resume"
            print(f"\ntransformer-train: {line}", file=sys.stderr, flush=True)
            for pid, node in where:
                _end_if_stopped(pid, node)
            os._exit(1)  # the main thread waits inside torch, where no exception reaches it


def _end_if_stopped(pid: str, node: str) -> None:
    """Kill the process if it is on this machine and stopped: else torchrun, whose signal it does not hear, waits for it."""
    with suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        if node == platform.node() and state == "T":
            os.kill(int(pid), signal.SIGKILL)
