"""How long a chapter takes: the line under its title says it, and `make run` and `make tidy` write that line."""

import re

from tools.notebooks import FOLDED

LINE = re.compile(
    r"^\*About (\d+) minutes of reading, (\d+) of exercises\.(?: The workshop below takes (\d+) more\.)?\*$", re.MULTILINE
)


def reading_minutes(words, code, figures):
    """Return the minutes for so many words, lines of code that is open, and figures: fitted to sixteen first readings."""
    return words / 75 + code / 12 + 0.4 * figures


def chapter_minutes(notebook):
    """Return the minutes of a chapter's walk, of its exercises as they say it themselves, and of its workshop."""
    part, exercises = "walk", 0
    amounts = {name: [0, 0, 0] for name in ("walk", "exercises", "workshop")}
    for cell in notebook.cells:
        tags = set(cell.metadata.get("tags", []))
        if cell.cell_type == "markdown":
            if "remove-cell" in tags:
                continue
            for heading in re.findall(r"^## (\w+)", cell.source, re.MULTILINE):
                part = {"Exercises": "exercises", "Quiz": "exercises", "Workshop": "workshop"}.get(heading, "walk")
            exercises += sum(map(int, re.findall(r"^\W*Difficulty: .*?(\d+) minutes", cell.source, re.MULTILINE)))
            amounts[part][0] += len(re.sub(r"<details>.*?</details>", "", cell.source, flags=re.DOTALL).split())
            continue
        if not tags & FOLDED:
            amounts[part][1] += sum(bool(line.strip()) for line in cell.source.splitlines())
        amounts[part][2] += sum(bool({"image/png", "text/html"} & set(output.get("data", {}))) for output in cell.outputs)
    walk, workshop = (round(reading_minutes(*amounts[name])) for name in ("walk", "workshop"))
    return walk, exercises, workshop


def stamp(notebook):
    """Write the minutes of a chapter in two parts, a walk and a workshop, into the line under its title."""
    walk, exercises, workshop = chapter_minutes(notebook)
    if not workshop:
        return
    line = f"*About {walk} minutes of reading, {exercises} of exercises. The workshop below takes {workshop} more.*"
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = LINE.sub(line, cell.source)
