"""The bugs of chapter 18: each is switched on for a while, everywhere; each is killed by the test that it names."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from transformer_lib import masks, training, transformer
from transformer_lib.teaching.bugs import BUGS, switched_on
from transformer_lib.transformer import Transformer, TransformerConfig

ROOT = Path(__file__).resolve().parents[2]
BUG = {bug.name: bug for bug in BUGS}

# A test that fails whatever is switched on, and a change that changes nothing, must not pass for killed bugs.
RUN = """
import sys
from dataclasses import replace
from tools import mutants
everything = mutants.main()
off_by_one = next(bug for bug in mutants.BUGS if bug.name == "off-by-one")
harmless = mutants.main([replace(off_by_one, name="harmless", wrong=".tril(diagonal=0)")])
open("test_always_fails.py", "w").write("def test_nothing(): assert False")
mutants.ROOT = __import__("pathlib").Path.cwd()
mutants.OPTIONS[0] = f"--rootdir={mutants.ROOT}"
failing = mutants.main([replace(off_by_one, name="failing", test="test_always_fails.py::test_nothing")])
missing = mutants.main([replace(off_by_one, name="missing", test="test_always_fails.py::test_of_nobody")])
sys.exit(f"{everything} {harmless} {failing} {missing}")
"""


def test_every_bug_is_killed_by_its_test(tmp_path):
    """`make mutants`: each test passes without its bug, and fails with it."""
    path = {"PYTHONPATH": str(ROOT), "PATH": "", "OMP_NUM_THREADS": "1", "HOME": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", RUN], cwd=tmp_path, env=path, capture_output=True, text=True)
    table = run.stdout.splitlines()
    assert [line.split()[:2] for line in table[: len(BUGS)]] == [[bug.name, "killed"] for bug in BUGS], run.stdout + run.stderr
    assert run.stderr.strip().endswith("False True True True"), run.stdout + run.stderr
    assert table[len(BUGS)] == f"{len(BUGS)} of {len(BUGS)} bugs are killed by their tests"
    assert "harmless        SURVIVES" in run.stdout


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_is_there_inside_the_block_alone(bug):
    before = bug.function.__code__
    with switched_on(bug):
        assert bug.function.__code__ is not before
    assert bug.function.__code__ is before


def test_the_switch_goes_off_after_an_error():
    with pytest.raises(RuntimeError), switched_on(BUG["off-by-one"]):
        raise RuntimeError
    assert masks.causal_mask(2).tolist() == [[True, False], [True, True]]


def test_modules_that_imported_the_function_meet_the_bug():
    with switched_on(BUG["off-by-one"]):
        assert transformer.causal_mask(2).all() and masks.causal_mask(2).all()
    assert not transformer.causal_mask(2).all()


def test_super_still_works():
    """A method that calls `super()` needs its class."""
    with switched_on(BUG["one-layer"]):
        model = Transformer(TransformerConfig.tiny(10, 10))
    first, second = model.encoder.layers
    assert first is second


def test_two_bugs_at_once():
    with switched_on(BUG["off-by-one"]), switched_on(BUG["not-shifted"]):
        assert masks.causal_mask(2).all()
        assert training.shift_right(torch.tensor([[5, 2]])).tolist() == [[5, 2]]


@pytest.mark.parametrize("right", ["torch", "never there"])
def test_the_right_line_stands_there_once(right):
    bug = replace(BUG["off-by-one"], right=right)
    times = {"torch": 3, "never there": 0}[right]
    message = rf"off-by-one: its right line stands {times} times in masks.causal_mask, expected once:\n{right}"
    with pytest.raises(ValueError, match=message), switched_on(bug):
        pass


def test_the_change_is_shown_as_a_diff():
    assert str(BUG["off-by-one"]) == "masks.causal_mask:\n- .tril()\n+ .tril(diagonal=1)"


def test_names_differ():
    assert len(BUG) == len(BUGS)


def test_pitfalls_are_held_by_the_same_file():
    """A row of PITFALLS.md that a bug names is held by the file of the bug's test."""
    page = (ROOT / "PITFALLS.md").read_text(encoding="utf-8").splitlines()
    for bug in BUGS:
        (row,) = [line for line in page if line.startswith(f"| {bug.pitfall} |")]
        assert bug.test.partition("::")[0] in row, bug.name
