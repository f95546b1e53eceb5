"""No sentence of the five documents stands in the course.

The documents are not here, only hashes of pieces of them, which `tools/source_hashes.py` has written. A piece of Korean
prose has 32 characters, of anything else 72. The longest run that the course shares with them today is a signature that
chapter 8 corrects (67 characters); the longest in Korean is a title (31).
"""

import re

import pytest

from tools import notebooks
from tools.source_hashes import HASHES, hashed, plain, windows

KNOWN = set(HASHES.read_text(encoding="utf-8").split())

# Not references.bib: a paper's title is the same wherever it is cited.
TEXTS = [
    *notebooks.all_notebooks(),
    *sorted((notebooks.ROOT / "book").glob("*.md")),
    *sorted(notebooks.ROOT.glob("*.md")),
    *sorted((notebooks.ROOT / "transformer_lib").rglob("*.py")),
    notebooks.ROOT / "tests" / "test_sources.py",
]


def text_of(path):
    if path.suffix != ".ipynb":
        return path.read_text(encoding="utf-8")
    return "\n".join(cell.source for cell in notebooks.read(path).cells)


def copies(text, known=KNOWN):
    """Return the windows of a text that a document has as well."""
    return [window for window in windows(plain(text)) if hashed(window) in known]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(notebooks.ROOT).as_posix())
def test_nothing_is_copied(path):
    assert copies(text_of(path)) == []


def test_hashes_are_there():
    assert len(KNOWN) > 1000 and all(re.fullmatch("[0-9a-f]{12}", line) for line in KNOWN)


def test_a_copy_is_found():
    """Wherever it begins, however its lines are broken; a shorter piece is not."""
    prose = "어텐션은 문장에 있는 모든 단어를 한 번에 보고, 어느 단어가 지금 중요한지를 스스로 정하는 방법이라고 할 수 있다. "
    code = (
        "scores = query @ key.transpose(-2, -1) / math.sqrt(width); weights = scores.softmax(dim=-1); output = weights @ value "
    )
    document = plain(prose * 2 + code * 2)
    known = {hashed(window) for window in windows(document, step=8)}
    for start in range(8):
        assert copies("Our own words. " + document[start : start + 39].replace(" ", "\n  ") + " And more.", known)
        begin = len(prose) * 2 + start
        assert copies("ours(1)\n" + document[begin : begin + 79] + "\nours(2)", known)
    assert not copies(document[:31], known) and not copies(document[len(prose) * 2 :][:71], known)
