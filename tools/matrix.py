"""Run notebooks and tests with other versions and processors, and say in the README where the course runs.

Each row of the README's table is a place: versions, threads, the processor's instructions. In the pinned environment the stored
outputs have to come out again, whatever the threads and the instructions, because `≈` hides the digits that these move.
Elsewhere notebooks have to run, and unit tests to pass. What a machine does not have is left out by name, never in silence.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from shutil import which
from typing import Any
from xml.etree import ElementTree

from tools.architecture import with_part
from tools.machine import processor
from tools.notebooks import ROOT, write_text

RECORD = ROOT / "tests" / "matrix.json"
README = ROOT / "README.md"
PART = "where it runs"
ENVIRONMENTS = ROOT / "_build" / "matrix"

# One chapter, and the tests that hold the layers to torch's own and to loops.
SHARE = (
    "notebooks/08_masks.ipynb",
    "tests/test_positional_encoding.py",
    "tests/test_attention.py",
    "tests/test_masks.py",
    "tests/test_encoder.py",
    "tests/test_decoder.py",
    "tests/teaching/test_torch_parity.py",
)
# Of the whole, what a row with other versions leaves out: what looks at the pinned tools and the site that they build.
UNIT_TESTS = ("notebooks", *(f"tests/{path.name}" for path in sorted((ROOT / "tests").glob("test_*.py"))), "tests/teaching")

# What running them takes beside the library and what it depends on.
TOOLS = (
    "beartype",
    "hypothesis",
    "ipykernel",
    "myst-parser",
    "nbclient",
    "nbval",
    "playwright",
    "pytest",
    "pytest-xdist",
    "setuptools",
)
TOOLS += ("axe-playwright-python", "beautifulsoup4", "fonttools", "mini-racer", "pybtex", "selectolax", "tinycss2", "tinyhtml5")

INSTRUCTIONS = {"avx512": "AVX512", "avx2": "AVX2", "default": "DEFAULT"}  # ATEN_CPU_CAPABILITY, and what torch then calls it
PINNED, OLDEST, NEWEST = "2.13.0", "2.6.0", "2.15.0"
# Of 2026-08, beside Python 3.13 and torch 2.11, which takes no newer setuptools.
COLAB = {"ipython": "7.34.*", "numpy": "2.1.*", "matplotlib": "3.10.*", "setuptools": "80.*"}

# The README's table: what of a row stands under which title.
COLUMNS = {"date": "day", "python": "Python", "torch": "torch", "numpy": "NumPy", "ipython": "IPython", "threads": "threads"}
COLUMNS |= {"instructions": "instructions", "tests": "tests", "compared": "outputs", "passed": "passed", "failed": "failed"}

# What a row's Python tells about itself.
ASK = """
import json, platform
from importlib.metadata import version
import torch
print(json.dumps({
    "python": platform.python_version(), **{name: version(name) for name in ("torch", "numpy", "matplotlib", "ipython")},
    "threads": torch.get_num_threads(), "instructions": torch.backends.cpu.get_cpu_capability(),
}))
"""


class LeftOut(Exception):
    """Says what a row needs and this machine has not."""


@dataclass(frozen=True)
class Row:
    """A place: `torch` and `versions` None and empty are the pinned environment, in which outputs are compared."""

    name: str
    threads: int = 1
    instructions: str = ""  # of ATEN_CPU_CAPABILITY; empty: the best that the processor has
    python: str = "3.11"
    torch: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def strict(self) -> bool:
        """Whether the stored outputs have to come out again."""
        return self.torch is None

    @property
    def environment(self) -> dict[str, str]:
        """What the row's processes find in their environment."""
        chosen = {"ATEN_CPU_CAPABILITY": self.instructions} if self.instructions else {}
        return {**os.environ, "OMP_NUM_THREADS": str(self.threads), "PYTHONPATH": str(ROOT), **chosen}


ROWS = (
    Row("pinned"),
    Row("two threads", threads=2),
    Row("AVX-512", instructions="avx512"),
    Row("AVX2", instructions="avx2"),
    Row("no AVX", instructions="default"),
    Row("Python 3.12", python="3.12", torch=PINNED),
    Row("Python 3.13", python="3.13", torch=PINNED),
    Row("oldest torch", torch=OLDEST),
    Row("newest torch", python="3.13", torch=NEWEST),
    Row("Colab", python="3.13", torch="2.11.0", versions=COLAB),
    Row("Colab's IPython, NumPy, matplotlib", torch=PINNED, versions=COLAB),
)


def find_python(wanted: str) -> str:
    """Return a Python of the version `wanted`; raise `LeftOut` where there is none."""
    for candidate in (sys.executable, which(f"python{wanted}"), which("python3")):
        said = candidate and subprocess.run([candidate, "--version"], capture_output=True, text=True, check=False).stdout
        if said and said.startswith(f"Python {wanted}."):
            return candidate
    raise LeftOut(f"no Python {wanted} here")


def requirements(row: Row) -> list[str]:
    """Return what pip has to install beside the library: the tools with their pinned versions, and the row's own."""
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE))
    # Where pip knows PyTorch's index for processors (README), it takes that build. On Linux the usual one is gigabytes.
    wanted = {"torch": row.torch, **{name: pins[name] for name in TOOLS}, **row.versions}
    return [f"{name}=={version}" for name, version in wanted.items()]


def pip(command: Sequence[str | Path]) -> None:
    """Run pip; raise `LeftOut` with its last complaint where it fails."""
    ended = subprocess.run([*command, "--disable-pip-version-check"], capture_output=True, text=True, check=False)
    if ended.returncode:
        problem = [line for line in ended.stderr.splitlines() if line.startswith("ERROR: ")] or ["ERROR: pip failed"]
        raise LeftOut(problem[-1].removeprefix("ERROR: "))


def python_of(row: Row) -> str:
    """Return the Python of the row's environment, which is made and kept where it is not the pinned one."""
    found = find_python(row.python)
    if row.strict:
        if found != sys.executable:
            raise LeftOut(f"the environment .venv is not of Python {row.python}")
        return found
    folder = ENVIRONMENTS / re.sub(r"\W+", "-", row.name.lower())
    inside, wanted = folder / "bin" / "python", "\n".join(requirements(row))
    ready = folder / "ready"
    if not (ready.exists() and ready.read_text(encoding="utf-8") == wanted):
        subprocess.run([found, "-m", "venv", "--clear", str(folder)], check=True)
        pip([inside, "-m", "pip", "install", "--quiet", *requirements(row), "--editable", ROOT])
        ready.write_text(wanted, encoding="utf-8")
    return str(inside)


def run(row: Row, tests: Sequence[str], folder: Path) -> dict[str, Any]:
    """Run `tests` as the row says, and return what it is and how many passed; raise `LeftOut` where this machine cannot.

    The words of pytest go into a file in `folder`.
    """
    python, environment = python_of(row), row.environment
    told = json.loads(subprocess.check_output([python, "-c", ASK], env=environment, text=True))
    if row.instructions and told["instructions"] != INSTRUCTIONS[row.instructions]:
        raise LeftOut(f"the processor has no {row.name}")
    if told["threads"] != row.threads:
        raise LeftOut(f"torch takes {told['threads']} threads, not {row.threads}")
    counts = folder / f"{ROWS.index(row) if row in ROWS else 'row'}.xml"
    command = [python, "-m", "pytest", "-n", "2", "--dist", "loadscope", "-p", "no:cacheprovider", f"--junitxml={counts}"]
    with open(counts.with_suffix(".log"), "w", encoding="utf-8") as log:
        compare = "--nbval" if row.strict else "--nbval-lax"
        subprocess.run([*command, compare, *tests], cwd=ROOT, env=environment, stdout=log, stderr=log, check=False)
    return {**told, "compared": row.strict, **counted(counts)}


def counted(path: Path) -> dict[str, int]:
    """Return how many tests passed, failed and were skipped, as pytest wrote it; no file is a failure."""
    if not path.exists():
        return {"passed": 0, "failed": 1, "skipped": 0}
    suite = next(ElementTree.parse(path).iter("testsuite"))
    tests, failures, errors, skipped = (int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped"))
    return {"passed": tests - failures - errors - skipped, "failed": failures + errors, "skipped": skipped}


def table(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the README's table of the rows of a record."""
    lines = [f"| row | {' | '.join(COLUMNS.values())} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for name, row in rows.items():
        if "left_out" in row:
            said = f"left out: {row['left_out']}" if row["date"] else row["left_out"]
            lines.append(f"| {name} | {row['date']} | {said} {'| ' * (len(COLUMNS) - 2)}|")
        else:
            shown = {**row, "compared": "compared" if row["compared"] else "not compared"}
            cells = [str(shown[column]) for column in COLUMNS]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the rows, print each as it ends, and write record and README; return 1 where a test failed."""
    parser = argparse.ArgumentParser(prog="make matrix", description=__doc__)
    parser.add_argument("rows", nargs="*", help=f"rows to run again, the others stay: {', '.join(row.name for row in ROWS)}")
    parser.add_argument("--whole", action="store_true", help="every notebook and test, not the share that the record names")
    options = parser.parse_args(arguments)
    if unknown := set(options.rows) - {row.name for row in ROWS}:
        parser.error(f"there is no row {', '.join(sorted(unknown))}")
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    rows = json.loads(RECORD.read_text(encoding="utf-8"))["rows"] if RECORD.exists() else {}
    for row in ROWS:
        if options.rows and row.name not in options.rows:
            continue
        whole = ("notebooks", "tests") if row.strict else UNIT_TESTS
        try:
            found = run(row, whole if options.whole else SHARE, ENVIRONMENTS)
            found = {"tests": "whole" if options.whole else "share", **found}
        except LeftOut as reason:
            found = {"left_out": str(reason)}
        rows[row.name] = {"date": date.today().isoformat(), **found}
        write({row.name: rows.get(row.name, {"date": "", "left_out": "not run"}) for row in ROWS})
        print(f"{row.name}: {json.dumps(rows[row.name])}", flush=True)
    return int(any(row.get("failed") for row in rows.values()))


def write(rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the record of `rows`, and its table into the README."""
    record = {"command": "make matrix", "processor": processor(), "share": list(SHARE), "rows": rows}
    write_text(RECORD, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    write_text(README, with_part(README.read_text(encoding="utf-8"), PART, table(rows)))


if __name__ == "__main__":
    raise SystemExit(main())
