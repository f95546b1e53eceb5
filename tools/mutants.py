"""Switch each bug of the bug museum on, and see its test fail: `python -m tools.mutants`."""

import contextlib
import io
from collections import defaultdict
from collections.abc import Sequence

import hypothesis
import pytest
from _pytest.runner import runtestprotocol

from tools.notebooks import ROOT
from transformer_lib.teaching.bugs import BUGS, Bug, inject_bug

# A wrong answer need not be made small, nor kept for the next time.
PHASES = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
hypothesis.settings.register_profile("mutants", deadline=None, derandomize=True, database=None, phases=PHASES)

# Without jaxtyping's hook, so that what fails is the test; and without the cache, which would remember the failures.
OPTIONS = [f"--rootdir={ROOT}", "--override-ini=addopts=", "--hypothesis-profile=mutants", "-p", "no:cacheprovider"]


class EachTwice:
    """A plugin for pytest: run the tests of `bugs` as they are, then again with each bug that they have to find.

    `passed[name]` and `failed[name]` count the runs of the bug's test with the bug on, `passed[test]` and `failed[test]`
    those without. A run that does not come to the test itself (a fixture breaks) counts as neither.
    """

    def __init__(self, bugs: Sequence[Bug]) -> None:
        self.bugs, self.passed, self.failed = bugs, defaultdict(int), defaultdict(int)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        test = item.nodeid.partition("[")[0]
        self._run(test, item, nextitem)
        for bug in self.bugs:
            if bug.test == test and not self.failed[bug.name]:
                with inject_bug(bug):
                    self._run(bug.name, item, nextitem)
        return True

    def _run(self, name: str, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        (report,) = [r for r in runtestprotocol(item, nextitem=nextitem, log=False) if r.when == "call"] or [None]
        if report:
            self.passed[name] += report.passed
            self.failed[name] += report.failed

    def killed(self, bug: Bug) -> bool:
        """Tell whether the bug's test passes without the bug, and fails with it."""
        return bool(self.passed[bug.test] and not self.failed[bug.test] and self.failed[bug.name])


def main(bugs: Sequence[Bug] = BUGS) -> bool:
    """Print a table of `bugs` and their tests, and return whether any bug survived."""
    runs, said = EachTwice(bugs), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = pytest.main([*OPTIONS, *sorted({f"{ROOT}/{bug.test}" for bug in bugs})], plugins=[runs])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        print(said.getvalue())
        return True
    for bug in bugs:
        print(f"{bug.name:15} {'killed by' if runs.killed(bug) else 'SURVIVES '} {bug.test}")
    survived = [bug.name for bug in bugs if not runs.killed(bug)]
    print(f"{len(bugs) - len(survived)} of {len(bugs)} bugs are killed by their tests")
    return bool(survived)


if __name__ == "__main__":
    raise SystemExit(main())
