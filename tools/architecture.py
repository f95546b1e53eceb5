"""Draw the house from its imports: `python -m tools.architecture` writes the picture, and the tables of rooms and records."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tools import notebooks

LIBRARY = notebooks.ROOT / "transformer_lib"
PICTURE = notebooks.ROOT / "book" / "_static" / "architecture.svg"
# A room is a module of the library, or one of these folders as a whole.
FOLDERS = {
    "teaching": (
        LIBRARY / "teaching",
        "Explains and checks the components, and never is one: figures, exercises, data, experiments.",
    ),
    "book/_ext": (notebooks.ROOT / "book" / "_ext", "What Sphinx does for this book's pages."),
    "benchmarks": (notebooks.ROOT / "benchmarks", "Long runs, each with its record."),
    "tools": (notebooks.ROOT / "tools", "What the Makefile calls."),
}


@cache
def imports(path: Path) -> frozenset[str]:
    """Return the names of the modules that the file imports, wherever in it, with full names for relative ones."""
    package = path.relative_to(notebooks.ROOT).with_suffix("").parts
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(package[: -node.level]) if node.level else ""
            name = ".".join(filter(None, [start, node.module]))
            found |= {name, *(f"{name}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def rooms() -> dict[str, list[Path]]:
    """Return the files of each room, by its name."""
    modules = {path.stem: [path] for path in sorted(LIBRARY.glob("*.py")) if path.stem not in ("__init__", "_modidx")}
    return modules | {name: sorted(folder.rglob("*.py")) for name, (folder, _) in FOLDERS.items()}


def room_of(module: str) -> str | None:
    """Return the room in which an imported module stands, or None where it is not of this house."""
    parts = module.split(".")
    if parts[0] == "transformer_lib" and len(parts) > 1:
        return "teaching" if parts[1] == "teaching" else parts[1]
    return parts[0] if parts[0] in ("benchmarks", "tools") else None


def arrows() -> dict[str, set[str]]:
    """Return for each room the other rooms that it imports."""
    there = rooms()
    return {
        name: {room_of(module) for path in paths for module in imports(path)} & (there.keys() - {name})
        for name, paths in there.items()
    }


def floors() -> dict[str, int]:
    """Return each room's floor: one above the highest room that it imports. Raises `ValueError` for a circle."""
    below = arrows()
    found: dict[str, int] = {}

    def floor(name: str, inside: tuple[str, ...] = ()) -> int:
        if name in inside:
            raise ValueError(f"these rooms import each other in a circle: {' → '.join([*inside, name])}")
        if name not in found:
            found[name] = 1 + max((floor(other, (*inside, name)) for other in below[name]), default=0)
        return found[name]

    for name in below:
        floor(name)
    return found


def what_for(name: str) -> str:
    """Return what a room is for: the first line of a module's docstring."""
    if name in FOLDERS:
        return FOLDERS[name][1]
    docstring = ast.get_docstring(ast.parse((LIBRARY / f"{name}.py").read_text(encoding="utf-8")))
    return docstring.splitlines()[0]


def list_of_rooms() -> str:
    """Return the rooms as Markdown, the top floor first."""
    floor_of, below = floors(), arrows()
    lines = ["| floor | room | what it is for | imports |", "|---|---|---|---|"]
    for name in sorted(floor_of, key=lambda name: (-floor_of[name], name)):
        used = ", ".join(f"`{other}`" for other in sorted(below[name]))
        lines.append(f"| {floor_of[name]} | `{name}` | {what_for(name)} | {used} |")
    return "\n".join(lines)


def files_under(path: Path) -> set[Path]:
    """Return the file and all files of this house that it imports, directly or not."""
    found, new = set(), {path}
    while new:
        found |= new
        names = {module for file in new for module in imports(file)}
        new = {notebooks.ROOT / f"{name.replace('.', '/')}.py" for name in names} - found
        new = {file for file in new if file.is_file()}
    return found


def records() -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each record's name, the modules that its script stands on, directly or not, and the pages that show it."""
    pages = [*notebooks.all_notebooks(), *sorted((notebooks.ROOT / "book").glob("*.md"))]
    named = {page.stem: set(re.findall(r"record\(\W*(\w+)", page.read_text(encoding="utf-8"))) for page in pages}
    for path in sorted((notebooks.ROOT / "benchmarks" / "results").glob("*.json")):
        files = files_under(notebooks.ROOT / "benchmarks" / f"{path.stem}.py")
        names = [file.relative_to(LIBRARY).with_suffix("").as_posix() for file in files if file.is_relative_to(LIBRARY)]
        shown = [page for page, records in named.items() if path.stem in records]
        yield path.stem, sorted(name for name in names if not name.startswith("_")), shown


def list_of_records() -> str:
    """Return the records as Markdown: on what each depends, and where it is shown."""
    lines = ["| record | stands on | shown in |", "|---|---|---|"]
    for name, used, shown in records():
        lines.append(f"| `{name}` | {', '.join(f'`{room}`' for room in used)} | {', '.join(shown) or 'no page'} |")
    return "\n".join(lines)


def draw(path: Path) -> None:
    """Draw the rooms on their floors.

    Arrows to the ground floor, which all may use, are left out, and those where a longer way leads to the same place.
    """
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    floor_of, below = floors(), arrows()

    def reachable(name: str) -> set[str]:
        return below[name].union(*(reachable(other) for other in below[name]))

    shown = {name: below[name] - set().union(*(reachable(other) for other in below[name])) for name in below}
    places: dict[str, tuple[float, int]] = {}
    for floor in range(max(floor_of.values()), 0, -1):
        row = [name for name in below if floor_of[name] == floor]
        above = {name: [places[other][0] for other in places if name in shown[other]] for name in row}
        row.sort(key=lambda name: sum(above[name]) / len(above[name]) if above[name] else 5)
        aside = 0.25 if floor % 2 else -0.25  # so that no arrow runs behind a room between its ends
        places |= {name: ((i + 0.5) / len(row) * 10 + aside, floor) for i, name in enumerate(row)}
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "house", "font.family": "sans-serif"}):
        figure, axes = plt.subplots(figsize=(10, 0.75 * max(floor_of.values())))
        for name, others in shown.items():
            for other in sorted(other for other in others if floor_of[other] > 1):
                (x0, y0), (x1, y1) = places[name], places[other]
                axes.annotate("", (x1, y1 + 0.24), (x0, y0 - 0.24), arrowprops={"arrowstyle": "->", "color": "#8a939e"})
        for name, (x, y) in places.items():
            colour = "#eef1f5" if name.startswith("_") else "#d8ead9" if name in FOLDERS else "#d6e6f5"
            box = {"boxstyle": "round,pad=0.35", "facecolor": colour, "edgecolor": "#5b6470"}
            axes.text(x, y, name, ha="center", va="center", fontsize=9, bbox=box)
        axes.set(xlim=(0, 10), ylim=(0.4, max(floor_of.values()) + 0.6))
        axes.axis("off")
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight", facecolor="white")
        plt.close(figure)


def with_part(text: str, name: str, part: str) -> str:
    """Return `text` with `part` between its marks `<!-- name -->` and `<!-- end -->`."""
    before, rest = text.split(f"<!-- {name} -->\n", 1)
    return f"{before}<!-- {name} -->\n{part}\n<!-- end -->{rest.split('<!-- end -->', 1)[1]}"


# Which file holds which part.
PARTS = {"ARCHITECTURE.md": ("rooms", list_of_rooms), "benchmarks/README.md": ("records", list_of_records)}


def main() -> None:
    for file, (name, part) in PARTS.items():
        path = notebooks.ROOT / file
        notebooks.write_text(path, with_part(path.read_text(encoding="utf-8"), name, part()))
    draw(PICTURE)


if __name__ == "__main__":
    main()
