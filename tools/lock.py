"""Write the sum of each file that the pinned environment is made of: `python -m tools.lock`; with `--check`, compare them.

pip itself is asked which file it would take from the public index and what that file's sum is, for CPython 3.11 on Linux, where
the workflows build what is published. torch is not among them: it comes from more than one place. A version that its authors
have withdrawn (yanked) is refused.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUMS = ROOT / "requirements.sums.txt"
HEAD = """# Made by `make lock` from requirements.txt: the sum of the file of each package, for CPython 3.11 on Linux (x86_64).
# `make HASHES=yes ...` takes no others. torch comes from more than one place, and has none here.
"""


def pinned():
    """Return the lines of requirements.txt that name a version, without torch."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if "==" in line and not line.startswith(("#", "torch=="))]


def asked(lines):
    """Return the text of the file of sums for these requirements, and what pip said about withdrawn versions."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    with tempfile.TemporaryDirectory() as folder:
        wanted, report = Path(folder, "wanted.txt"), Path(folder, "report.json")
        wanted.write_text("\n".join(lines), encoding="utf-8")
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-deps"]
        ended = subprocess.run(
            [*command, "--report", report, "--requirement", wanted],
            env={**plain, "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode:
            raise SystemExit(ended.stderr)
        files = json.loads(report.read_text(encoding="utf-8"))["install"]
    sums = {canonical(file["metadata"]["name"]): file["download_info"]["archive_info"]["hashes"]["sha256"] for file in files}
    text = "".join(f"{line} --hash=sha256:{sums[canonical(line.partition('==')[0])]}\n" for line in lines)
    return HEAD + text, re.findall(r"yanked version: (.+? \(version \S+)", ended.stderr)


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def main():
    parser = argparse.ArgumentParser(prog="python -m tools.lock", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing: say whether the sums are those of the index")
    check = parser.parse_args().check
    text, withdrawn = asked(pinned())
    problems = [f"its authors have withdrawn this version: {name})" for name in withdrawn]
    if check and text != SUMS.read_text(encoding="utf-8"):
        problems.append(f"{SUMS.name} is not what the index says: run `make lock`")
    if not check:
        SUMS.write_text(text, encoding="utf-8")
    return "\n".join(problems) or 0


if __name__ == "__main__":
    raise SystemExit(main())
