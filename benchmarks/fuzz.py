"""Call everything with all kinds of arguments, read all kinds of files: `python -m benchmarks.fuzz [SEED]`, or `make fuzz`.

Without a seed each run makes other cases. What went wrong is printed, and the record counts it.
"""

import multiprocessing
import os
import random
import sys

import torch

from benchmarks.records import write_record
from tools.fuzz.files import SECONDS
from tools.fuzz.run import READERS, TABLE, Ends, fuzz_calls, fuzz_files

CALLS, FILES = 10_400, 5_000  # what is asked for; some lines of the table have fewer calls than their share


def _job(job: tuple[str, int, int, int]) -> tuple[str, Ends]:
    what, line, count, seed = job
    torch.set_num_threads(1)
    return what, fuzz_calls(TABLE[line], count, seed) if what == "calls" else fuzz_files(READERS[line], count, seed)


def main(seed: int) -> bool:
    """Run all, print and record how many ended how, and return whether anything went wrong."""
    os.environ["TRANSFORMER_LIB_QUIET"] = "1"
    lines = [("calls", len(TABLE), CALLS), ("files", len(READERS), FILES)]
    jobs = [(what, line, -(-total // count), seed) for what, count, total in lines for line in range(count)]
    found = {what: Ends() for what, *_ in lines}
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        for what, ends in pool.imap_unordered(_job, jobs):
            total = found[what]
            total.ends += ends.ends
            total.failures += ends.failures
            print(*ends.failures, sep="\n", end="\n" * bool(ends.failures), flush=True)
    numbers = {
        what: {"tried": one.tried, "ends": dict(sorted(one.ends.items())), "failures": len(one.failures)}
        for what, one in found.items()
    }
    write_record(
        "fuzz", seeds=[seed], settings={"calls": CALLS, "files": FILES, "seconds for a file": SECONDS}, numbers=numbers
    )
    for what, one in numbers.items():
        print(f"{one['tried']:,} {what}, {one['failures']} failures: {one['ends']}")
    return any(one["failures"] for one in numbers.values())


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(2**32)))
