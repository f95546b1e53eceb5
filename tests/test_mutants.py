"""The list of mutants fits the library, and a mutant counts as killed only where its test fails."""

import ast
import json
from collections import Counter

import pytest

from benchmarks.mutant_list import MUTANTS, Mutant
from benchmarks.mutants import copied
from tools.notebooks import ROOT

OFF_BY_ONE = Mutant("masks", ".tril()", ".tril(1)", "tests/test_masks.py::test_s1_four_rows")


def test_each_line_stands_there_once():
    source = lambda module: (ROOT / f"transformer_lib/{module}.py").read_text(encoding="utf-8")
    times = {mutant: source(mutant.module).count(mutant.right) for mutant in MUTANTS}
    assert {mutant: count for mutant, count in times.items() if count != 1} == {}
    assert len(times) == len(MUTANTS) >= 100
    assert all(mutant.right != mutant.wrong for mutant in MUTANTS)


def test_each_test_is_there():
    tests = {}
    for mutant in MUTANTS:
        file, name = mutant.test.partition("[")[0].split("::")
        if file not in tests:
            tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
            tests[file] = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert name in tests[file], mutant


def test_the_record_is_of_this_list_and_nothing_survived():
    record = ROOT / "benchmarks/results/mutants.json"
    if not record.exists():
        pytest.skip("there is no record yet: run `make mutants`")
    numbers = json.loads(record.read_text(encoding="utf-8"))["numbers"]
    counts = Counter(mutant.module for mutant in MUTANTS)
    assert numbers == {"mutants": counts, "killed": counts, "survived": []}, "run `make mutants`"


def test_a_mutant_is_killed_only_where_its_test_fails():
    source = (ROOT / "transformer_lib/masks.py").read_text(encoding="utf-8")
    with copied() as copy:
        assert copy.failed(OFF_BY_ONE.test) == ""
        with copy.changed(OFF_BY_ONE):
            assert copy.failed(OFF_BY_ONE.test) == OFF_BY_ONE.test
            assert (ROOT / "transformer_lib/masks.py").read_text(encoding="utf-8") == source, "the copy alone is changed"
        with copy.changed(OFF_BY_ONE._replace(wrong=".tril(0)")):
            assert copy.failed(OFF_BY_ONE.test) == ""
        with copy.changed(OFF_BY_ONE._replace(wrong=".tril(")), pytest.raises(ValueError, match="pytest ends with 4"):
            copy.failed(OFF_BY_ONE.test)
        with pytest.raises(ValueError, match="pytest ends with -14"):
            copy.failed(OFF_BY_ONE.test, seconds=0.05)
        with pytest.raises(ValueError, match="stands 0 times, expected once"), copy.changed(OFF_BY_ONE._replace(right="never")):
            pass
        assert (copy.folder / "transformer_lib/masks.py").read_text(encoding="utf-8") == source
