"""Read reviews from the two kinds of files in which such collections are handed out."""

import os
from pathlib import Path
from typing import NamedTuple

from transformer_lib._lines import read_lines


class Review(NamedTuple):
    """The text of a review, and its label: 1 for positive, 0 for negative."""

    text: str
    label: int


def read_reviews(path: str | os.PathLike) -> list[Review]:
    """Return all reviews of a folder in IMDB's layout, or of a table in NSMC's.

    A folder holds `pos` and `neg`, with one `.txt` file for each review. A table has tabs between its columns, a first line
    that names them, `document` and `label` among them, and labels 0 and 1. Files may be gzipped. A row with an empty document
    is kept: it is a review without words.

    Raises: `ValueError` that names the file and the line if something is missing, empty, broken or unknown.
    """
    return (_from_folder if Path(path).is_dir() else _from_table)(Path(path))


def _from_folder(path: Path) -> list[Review]:
    reviews = []
    for label, name in enumerate(("neg", "pos")):
        folder = path / name
        if not folder.is_dir():
            raise ValueError(f"{path}: expected folders pos and neg; {name} is missing")
        files = sorted(file for file in folder.iterdir() if not file.name.startswith("."))
        if not files:
            raise ValueError(f"{folder}: expected .txt files, but the folder is empty")
        for file in files:
            if not file.name.endswith((".txt", ".txt.gz")):
                raise ValueError(f"{file}: expected nothing but .txt files here")
            reviews.append(Review("\n".join(read_lines(file)), label))
    return reviews


def _from_table(path: Path) -> list[Review]:
    lines = read_lines(path)
    while not lines[-1]:  # empty lines at the end are no reviews
        lines.pop()
    header, *rows = [line.split("\t") for line in lines]
    for name in ("document", "label"):
        if header.count(name) != 1:
            came = ", ".join(map(repr, header))
            raise ValueError(f"{path}, line 1: expected one column {name!r}, but got {came}")
    if not rows:
        raise ValueError(f"{path}, line 2: expected reviews, but the file ends")
    text_at, label_at = header.index("document"), header.index("label")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ValueError(f"{path}, line {number}: {len(row)} fields, but line 1 names {len(header)}")
        if row[label_at] not in ("0", "1"):
            raise ValueError(f"{path}, line {number}: label {row[label_at]!r}, but expected 0 or 1")
    return [Review(row[text_at], int(row[label_at])) for row in rows]
