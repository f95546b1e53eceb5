"""Each mistake of `mutant_list.py` in a copy of the library, and its test, which must fail: `make mutants`.

All these tests first run on the copy as it is, where they must pass. Then each mutant is written into the copy, and its test
runs in a process of its own. What was found is kept as long as the library and the file of the test stay as they are: a
command that was stopped goes on.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.mutant_list import MUTANTS, Mutant
from benchmarks.records import write_record
from benchmarks.runs import read_finished, write_finished
from tools.notebooks import ROOT

SECONDS = 300
COPIED = ["transformer_lib", "tests", "tools", "conftest.py", "pyproject.toml"]
# What never changes is imported once; for each request a child runs the tests, with the library as it stands in the copy.
SERVER = """
import gc, json, os, signal, sys
import _hypothesis_pytestplugin, beartype, hypothesis, IPython, jaxtyping, matplotlib.pyplot, nbval.plugin
import playwright.sync_api, pytest, sacrebleu, tokenizers, torch.distributed, xdist.plugin
gc.freeze()
for request in sys.stdin:
    said, seconds, *arguments = json.loads(request)
    if not (child := os.fork()):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(output, 1), os.dup2(output, 2)
        sys.dont_write_bytecode = True
        from tools.mutants import OPTIONS
        status = pytest.main([*OPTIONS, "-p", "no:unraisableexception", "-q", "--tb=no", "-rfE", *arguments])
        sys.stdout.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Copy:
    """A copy of the library and its tests, in which tests can run: see `copied`."""

    def __init__(self, folder: Path, server: subprocess.Popen) -> None:
        self.folder, self.server = folder, server

    def failed(self, *tests: str, seconds: float = SECONDS) -> str:
        """Run the tests up to the first that fails, and return its name, or an empty text where all pass.

        Raises: `ValueError` where they cannot run, or not within so many seconds.
        """
        said = self.folder / "said.txt"
        print(json.dumps([str(said), seconds, "-x", *tests]), file=self.server.stdin, flush=True)
        status, printed = int(self.server.stdout.readline()), said.read_text(encoding="utf-8")
        found = re.search(r"^(?:FAILED|ERROR) (\S+)", printed, flags=re.MULTILINE)
        if status not in (0, 1) or bool(status) != bool(found):
            raise ValueError(f"pytest ends with {status}:\n{printed}")
        return found[1] if found else ""

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """Let the copy's library have `mutant` inside the block; raise `ValueError` if its line does not stand there once."""
        path = self.folder / "transformer_lib" / f"{mutant.module}.py"
        source = path.read_text(encoding="utf-8")
        if (times := source.count(mutant.right)) != 1:
            raise ValueError(f"in {mutant.module}.py this stands {times} times, expected once:\n{mutant.right}")
        path.write_text(source.replace(mutant.right, mutant.wrong), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(source, encoding="utf-8")


@contextmanager
def copied() -> Iterator[Copy]:
    """Make a `Copy`, and remove it after the block."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folder = Path(name)
        for part in COPIED:
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / part, folder)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        options = {"cwd": folder, "env": environment, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen([sys.executable, "-c", SERVER], **options) as server:
            yield Copy(folder, server)


KEPT = Path(tempfile.gettempdir()) / "transformer-lib-mutants.json"


class Results:
    """The test that failed with each mutant; a text stands for the mutant, the library and the file of its test."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.all = folder, read_finished(KEPT, "")
        files = sorted(folder.glob("transformer_lib/**/*.py"))
        self.library = "".join(path.read_text(encoding="utf-8") for path in files)

    def _key(self, mutant: Mutant) -> str:
        tests = (self.folder / mutant.test.partition("::")[0]).read_text(encoding="utf-8")
        return hashlib.sha256("\n".join([*mutant, self.library, tests]).encode()).hexdigest()

    def __contains__(self, mutant: Mutant) -> bool:
        return self._key(mutant) in self.all

    def __getitem__(self, mutant: Mutant) -> str:
        return self.all[self._key(mutant)]

    def __setitem__(self, mutant: Mutant, failed: str) -> None:
        self.all[self._key(mutant)] = failed
        write_finished(KEPT, "", self.all)


def main() -> bool:
    """Print which test kills each mutant, write the record, and return whether any mutant survived."""
    with copied() as copy:
        results = Results(copy.folder)
        unchanged = [Mutant("", "", "", test) for test in sorted({mutant.test for mutant in MUTANTS})]
        if new := [one for one in unchanged if one not in results]:
            if failed := copy.failed(*(one.test for one in new), seconds=10 * SECONDS):
                raise SystemExit(f"without a mutant too {failed} fails")
            for one in new:
                results[one] = ""
        for number, mutant in enumerate(MUTANTS, start=1):
            if mutant not in results:
                with copy.changed(mutant):
                    results[mutant] = copy.failed(mutant.test)
            said = f"killed by {results[mutant]}" if results[mutant] else "SURVIVES"
            print(f"{number:3} {said} · {mutant.module}: {mutant.right!r} → {mutant.wrong!r}", flush=True)
        survived = [mutant for mutant in MUTANTS if not results[mutant]]
    print(f"{len(MUTANTS) - len(survived)} of {len(MUTANTS)} mutants are killed by their tests")
    numbers = {
        "mutants": dict(Counter(mutant.module for mutant in MUTANTS)),
        "killed": dict(Counter(mutant.module for mutant in MUTANTS if mutant not in survived)),
        "survived": [mutant._asdict() for mutant in survived],
    }
    write_record("mutants", seeds=[], settings={"tests": len(unchanged), "seconds at most": SECONDS}, numbers=numbers)
    return bool(survived)


if __name__ == "__main__":
    raise SystemExit(main())
