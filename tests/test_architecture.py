"""The house is as ARCHITECTURE.md says: no circle, each room above what it imports, nothing private shared."""

import ast

import pytest

from tools import architecture, notebooks

LIBRARY = sorted(architecture.LIBRARY.glob("*.py"))
CHAPTERS = [notebooks.module_name(path) for path in notebooks.all_notebooks()]


@pytest.mark.parametrize("file", architecture.PARTS)
def test_what_is_made_from_the_imports_is_up_to_date(file):
    name, part = architecture.PARTS[file]
    text = (notebooks.ROOT / file).read_text(encoding="utf-8")
    assert text == architecture.with_part(text, name, part()), "run `make architecture`"


def test_the_picture_has_every_room():
    drawn = architecture.PICTURE.read_text(encoding="utf-8")
    assert [name for name in architecture.rooms() if f">{name}</text>" not in drawn] == [], "run `make architecture`"


def test_no_circle():
    assert min(architecture.floors().values()) == 1


def test_a_circle_is_named(monkeypatch):
    monkeypatch.setattr(architecture, "arrows", lambda: {"a": {"b"}, "b": {"c"}, "c": {"a"}})
    with pytest.raises(ValueError, match="a → b → c → a"):
        architecture.floors()


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)
def test_the_library_stands_on_its_own(path):
    outside = {"matplotlib", "IPython", "tools", "benchmarks", "tests"}
    found = architecture.imports(path)
    assert not {module for module in found if module.split(".")[0] in outside or module.startswith("transformer_lib.teaching")}


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)
def test_a_chapter_imports_earlier_chapters_alone(path):
    if path.stem in CHAPTERS:
        used = {architecture.room_of(module) for module in architecture.imports(path)} & set(CHAPTERS)
        assert max((CHAPTERS.index(name) for name in used), default=-1) < CHAPTERS.index(path.stem)


def test_nothing_private_crosses_files():
    """`from transformer_lib import _checks` imports a room, which is shared as a whole; a name of its own is not."""
    crossing = [
        f"{path.name}: {alias.name}"
        for paths in architecture.rooms().values()
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name.startswith("_") and not (architecture.LIBRARY / f"{alias.name}.py").is_file()
    ]
    assert not crossing
