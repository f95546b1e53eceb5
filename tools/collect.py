"""Read the notebooks that a class handed in, and print who answered what: `python -m tools.collect FOLDER [--again]`.

Every `.ipynb` below FOLDER counts, whatever its name; who it is from is said by its folder, or by its name where it lies
in FOLDER itself. Without `--again` the lines that the checks printed are taken as they are stored, and nothing runs. With
`--again` each answer is checked anew on this machine, after the chapter's own imports and components, one minute at most
for each: that runs code which others wrote.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat

from tools import notebooks

MARKS = "✓○✗"
SECONDS = 60
# What runs before an answer, and then the answer itself; the check's line is the last that it prints.
PROGRAM = """
import json, sys
from IPython.core.inputtransformer2 import TransformerManager
namespace = {}
for source in json.load(sys.stdin):
    exec(TransformerManager().transform_cell(source), namespace)
"""


def verdict(text):
    """Return the mark of the check's line in `text`, or `?` where there is none."""
    lines = [line for line in text.splitlines() if line[:1] in tuple(MARKS)]
    return lines[-1][0] if lines else "?"


def exercises(notebook):
    """Return the cells with the answers by the exercise's name. Ids would not do: Colab throws them away."""
    last_line = re.compile(r"^(?:exercise|check)\.(\w+)\(\1\)\s*\Z", re.MULTILINE)
    found = ((last_line.search(cell.source), cell) for cell in notebook.cells if cell.cell_type == "code")
    return {match[1]: cell for match, cell in found if match}


def chapter_of(notebook):
    """Return the path of our chapter that was handed in as `notebook`, or None: its set-up cell names the module."""
    for cell in notebook.cells:
        if match := re.search(r"^#\| default_exp (\w+)", cell.source, re.MULTILINE):
            return next((path for path in notebooks.all_notebooks() if notebooks.module_name(path) == match[1]), None)
    return None


def before_the_answers(chapter):
    """Return the sources of the chapter's own imports and components."""
    cells = [cell for cell in notebooks.read(chapter).cells if cell.cell_type == "code"]
    return [cell.source for cell in cells if cell.id.endswith("-imports") or cell.source.startswith("#| export\n")]


def checked_again(chapter, answer):
    with tempfile.TemporaryDirectory() as folder:
        try:
            ran = subprocess.run(
                [sys.executable, "-c", PROGRAM],
                input=json.dumps([*before_the_answers(chapter), answer]),
                capture_output=True,
                text=True,
                timeout=SECONDS,
                cwd=folder,
            )
        except subprocess.TimeoutExpired:
            return "✗"
    return verdict(ran.stdout) if ran.returncode == 0 else "✗"


def marks(path, again):
    """Return our chapter and a mark for each of its exercises in the notebook at `path`.

    Raises `ValueError` where it is no notebook, or none of ours.
    """
    try:
        handed_in = nbformat.read(path, as_version=4)
    except Exception as error:  # a foreign file can fail in any way
        raise ValueError(f"is no notebook ({type(error).__name__})") from None
    chapter = chapter_of(handed_in)
    if chapter is None:
        raise ValueError("is no chapter of this course: its set-up cell is not there")
    answers = exercises(handed_in)
    found = {}
    for name in exercises(notebooks.read(chapter)):
        if name not in answers:
            found[name] = "–"
        elif again:
            found[name] = checked_again(chapter, answers[name].source)
        else:
            found[name] = verdict("".join(output.get("text", "") for output in answers[name].outputs))
    return chapter, found


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.collect", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the handed-in notebooks are")
    parser.add_argument("--again", action="store_true", help="run each answer and check it here, not only read its line")
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"there is no folder {options.folder}")
    paths = sorted(path for path in options.folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
    if not paths:
        parser.error(f"there is no notebook in {options.folder}")
    tables = {}
    for path in paths:
        inside = path.relative_to(options.folder)
        who = inside.parts[0] if len(inside.parts) > 1 else inside.stem
        try:
            chapter, found = marks(path, options.again)
        except ValueError as error:
            print(f"{inside} {error}", file=sys.stderr)
            continue
        tables.setdefault(chapter.stem, []).append((who, found))
    for chapter, rows in sorted(tables.items()):
        names = list(rows[0][1])
        print(f"\n## {chapter}\n\n| who | {' | '.join(names)} | right |\n|---|{'---|' * (len(names) + 1)}")
        for who, found in rows:
            print(f"| {who} | {' | '.join(found.values())} | {list(found.values()).count('✓')} of {len(names)} |")
    print("\n✓ right · ✗ not right, or an error · ○ not attempted · ? not run · – the cell is gone")


if __name__ == "__main__":
    main()
