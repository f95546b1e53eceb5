"""The page about the documents: every link names a cell, and the cell that shows a correction has the numbers of its row."""

import re
from math import exp, sin

import pytest

from tools import notebooks
from transformer_lib.positional_encoding import sinusoidal_table

PAGE = (notebooks.ROOT / "book" / "sources.md").read_text(encoding="utf-8")
LINK = re.compile(r"\]\(\.\./notebooks/(?P<stem>(?:deeper/)?\w+)\.ipynb(?:#cell-(?P<cell>[\w-]+))?\)")
CORRECTION = re.compile(r"^\| \*\*(?P<name>S\d-\d+)\*\* \|(?P<text>.*)\|$", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.^-])\d[\d,]*\.\d+|(?<![\w.,^-])\d{2,}(?:,\d{3})*")
# Numbers that a row works out and its cell does not print.
WORKED_OUT = {
    "S0-1": f"3.5 {10_000 ** (2 * 6 / 8):,.0f} {10_000 ** (6 / 8):,.0f}",
    "S2-6": f"{sin(1 / 10_000 ** (2 / 6)):.4f} {sin(1 / 10_000 ** (2 / 5)):.4f}",
    "S2-25": f"{exp(1) / (exp(1) + exp(0.9) + exp(0.8)):.2f}",
    "S4-1": str(sinusoidal_table(1000, 8).shape),
    "S4-8": f"{sinusoidal_table(2, 4)[1, 0]:.2f}",
}
CELLS = {
    path.relative_to(notebooks.FOLDER).with_suffix("").as_posix(): {cell.id: cell for cell in notebooks.read(path).cells}
    for path in notebooks.all_notebooks() + notebooks.deeper_notebooks()
}


def test_every_link_names_a_cell():
    links = [(link["stem"], link["cell"]) for link in LINK.finditer(PAGE)]
    assert len(links) > 100
    assert not [(stem, cell) for stem, cell in links if stem not in CELLS or (cell and cell not in CELLS[stem])]


@pytest.mark.parametrize("row", [*CORRECTION.finditer(PAGE)], ids=lambda row: row["name"])
def test_the_numbers_of_a_correction_are_shown(row):
    linked = [CELLS[link["stem"]][link["cell"]] for link in LINK.finditer(row["text"]) if link["cell"]]
    shown = " ".join(cell.source + str(cell.get("outputs", "")) for cell in linked) + WORKED_OUT.get(row["name"], "")
    assert linked and not [number for number in NUMBER.findall(row["text"].split("|")[1]) if number not in shown]
