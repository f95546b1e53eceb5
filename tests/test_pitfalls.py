"""PITFALLS.md and the tests agree: a marked test holds a row that is there, and a row's test files have such tests."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROW = re.compile(r"^\| *(\d+) *\|.*\|([^|]*)\| *$", re.MULTILINE)
FILE = re.compile(r"`(tests/[\w/]+\.py)`")


def rows():
    """Return the number and the last column of each row of PITFALLS.md, in its order."""
    page = (ROOT / "PITFALLS.md").read_text(encoding="utf-8")
    return [(int(number), held_by) for number, held_by in ROW.findall(page)]


def numbers_marked(source):
    """Return the numbers of all `pytest.mark.pitfall(...)` in the text of a test file."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    marks = [call for call in calls if ast.unparse(call.func) == "pytest.mark.pitfall"]
    return {ast.literal_eval(number) for mark in marks for number in mark.args}


def marked():
    """Return the numbers marked in each test file, by the file's name as PITFALLS.md writes it."""
    return {
        path.relative_to(ROOT).as_posix(): numbers_marked(path.read_text(encoding="utf-8"))
        for path in (ROOT / "tests").rglob("*.py")
    }


def test_marks_are_found_wherever_they_stand():
    decorator = "@pytest.mark.pitfall(3, 16)\ndef test_heads(): ..."
    module = "pytestmark = [pytest.mark.slow, pytest.mark.pitfall(33)]"
    parameter = "CASES = [pytest.param(5, marks=pytest.mark.pitfall(12))]"
    assert numbers_marked("\n".join([decorator, module, parameter])) == {3, 12, 16, 33}
    assert numbers_marked('# pytest.mark.pitfall(1)\ntext = "pytest.mark.pitfall(2)"') == set()


def test_numbers_have_no_gap():
    numbers = [number for number, _ in rows()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_every_row_says_what_holds_it():
    unclear = [number for number, held_by in rows() if not FILE.search(held_by) and "by reading" not in held_by]
    assert not unclear, "the last column names a test file, or says `by reading`"


def test_every_mark_is_in_the_list():
    known = {number for number, _ in rows()}
    strangers = {file: numbers - known for file, numbers in marked().items() if numbers - known}
    assert not strangers, "these numbers are not in PITFALLS.md"


def test_rows_are_held_where_the_list_says():
    by_file = marked()
    claims = [(number, file) for number, held_by in rows() for file in FILE.findall(held_by)]
    missing = [f"{file}: no test is marked pitfall({number})" for number, file in claims if number not in by_file.get(file, ())]
    assert not missing, "\n".join(missing)
