"""Run lines of the two tables, and count how each case ended."""

from collections import Counter
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from tools.fuzz import layers, programs
from tools.fuzz.calls import TABLE, Case, Wrong, try_one
from tools.fuzz.files import READERS, Reader, try_files

__all__ = ["READERS", "TABLE", "Ends", "fuzz_calls", "fuzz_files", "layers", "programs"]


@dataclass
class Ends:
    """How often cases ended in each way, and what went wrong."""

    ends: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def tried(self) -> int:
        """How many cases came to an end."""
        return self.ends.total()


def fuzz_calls(case: Case, count: int, seed: int) -> Ends:
    """Make `count` calls of one line of the table; at the first that is wrong, make it small and stop."""
    found = Ends()

    @seeded(seed)
    @settings(
        max_examples=count,
        phases=[Phase.generate, Phase.shrink],
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(st.data())
    def calls(data: st.DataObject) -> None:
        found.ends[try_one(case, data)] += 1

    try:
        calls()
    except Exception as wrong:  # one that is not `Wrong` is a mistake in the table
        found.failures.append(f"{case.names[0]}: {wrong if isinstance(wrong, Wrong) else repr(wrong)}")
    return found


def fuzz_files(case: Reader, count: int, seed: int) -> Ends:
    """Let one reader read `count` files that are not right."""
    found = Ends()
    for kind, end in try_files(case, count, seed):
        found.ends[f"{kind}, {end}" if end in ("accepted", "refused") else "wrong"] += 1
        if end not in ("accepted", "refused"):
            found.failures.append(f"{case.names[0]}: a {kind} file: {end}")
    return found
