"""The table of where the course runs is that of the last run, and a row that cannot be run says why."""

import json
import platform
import subprocess
import sys

import pytest

from tools import matrix
from tools.architecture import with_part

RECORD = json.loads(matrix.RECORD.read_text(encoding="utf-8"))


def test_the_readme_has_the_table_of_the_last_run():
    text = matrix.README.read_text(encoding="utf-8")
    assert text == with_part(text, matrix.PART, matrix.table(RECORD["rows"])), "run `make matrix`"


def test_the_last_run_has_every_row_with_a_result_or_a_reason():
    assert list(RECORD["rows"]) == [row.name for row in matrix.ROWS]
    assert RECORD["share"] == list(matrix.SHARE) and all((matrix.ROOT / name).is_file() for name in matrix.SHARE)
    for row in RECORD["rows"].values():
        assert row.get("left_out") or (row["date"] and row["passed"] > 100 and not row["failed"])


def test_a_row_that_failed_shows_it_and_one_that_was_left_out_says_why():
    ran = dict.fromkeys(matrix.COLUMNS, 7) | {"compared": True, "failed": 3}
    failed, left_out = matrix.table({"a": ran, "b": {"date": "2026-11-23", "left_out": "no Python 3.99 here"}}).splitlines()[2:]
    assert failed.endswith("| compared | 7 | 3 |") and "left out: no Python 3.99 here" in left_out
    assert failed.count("|") == left_out.count("|")


def test_what_is_not_at_hand_is_named(tmp_path, monkeypatch):
    with pytest.raises(matrix.LeftOut, match=r"no Python 3\.99 here"):
        matrix.run(matrix.Row("x", python="3.99", torch="2.6.0"), [], tmp_path)
    monkeypatch.setitem(matrix.INSTRUCTIONS, "default", "AVX-9")
    running = ".".join(platform.python_version_tuple()[:2])
    with pytest.raises(matrix.LeftOut, match="the processor has no AVX-9"):
        matrix.run(matrix.Row("AVX-9", instructions="default", python=running), [], tmp_path)


def test_a_row_asks_for_its_own_versions():
    wanted = matrix.requirements(matrix.Row("x", torch="2.6.0", versions={"numpy": "2.1.*"}))
    assert wanted[0] == "torch==2.6.0" and "numpy==2.1.*" in wanted


def test_tests_are_counted_as_pytest_wrote_them(tmp_path):
    tests = (
        "import pytest\ndef test_a(): pass\ndef test_b(): assert 0\ndef test_c(): pytest.skip()\ndef test_d(missing): pass\n"
    )
    (tmp_path / "test_x.py").write_text(tests, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-c", "/dev/null", "-p", "no:cacheprovider", "--junitxml=x.xml", "test_x.py"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert matrix.counted(tmp_path / "x.xml") == {"passed": 1, "failed": 2, "skipped": 1}
    assert matrix.counted(tmp_path / "none.xml")["failed"] == 1
