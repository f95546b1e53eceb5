"""A small share of `make fuzz`, always the same; that nothing public is left out; and that what is wrong is noticed."""

import os
import sys
from importlib import import_module

import pytest
import torch
from hypothesis import strategies as st
from test_docstrings import MODULES, public

from tools.fuzz import files
from tools.fuzz.calls import Case, Wrong, outcome
from tools.fuzz.run import READERS, TABLE, fuzz_calls, fuzz_files
from transformer_lib import attention
from transformer_lib.teaching import record

SHARE = 4  # cases of each line here; `make fuzz` tries more than a hundred

# What is only there to be asked in the code of another class: the formula of a module, its hooks.
LAYER_METHODS = {"forward"}


@pytest.fixture(autouse=True)
def quiet(as_a_user_calls_it):
    """Errors are the library's own; each test starts from the same random numbers."""


def test_nothing_public_is_left_out():
    named = {name for line in [*TABLE, *READERS] for name in line.names}
    there = {
        name
        for module in MODULES
        for name in public(import_module(f"transformer_lib.{module}"))
        if name.rpartition(".")[2] not in LAYER_METHODS
    }
    there |= {"Review", "read_reviews", "Checkpoint", "save_checkpoint", "load_checkpoint"}  # which other files make
    assert sorted(there - named) == []


@pytest.mark.parametrize("line", TABLE, ids=lambda line: line.names[0])
def test_a_call_is_right_or_names_the_argument(line):
    found = fuzz_calls(line, SHARE, seed=0)
    assert found.tried and found.failures == []


@pytest.mark.skipif(sys.platform != "linux", reason="readers are tried in forked processes with limits")
@pytest.mark.parametrize("line", READERS, ids=lambda line: line.names[0])
def test_a_file_is_read_whole_or_refused_by_name(line):
    found = fuzz_files(line, SHARE, seed=0)
    assert found.tried == SHARE and found.failures == []


def test_the_last_long_run_found_nothing():
    numbers = record("fuzz")["numbers"]
    assert numbers["calls"]["tried"] >= 10_000 and numbers["files"]["tried"] >= 5000
    assert [numbers[what]["failures"] for what in ("calls", "files")] == [0, 0]


# The fuzz notices


def wrong(call, **arguments):
    line = Case(("made up",), st.fixed_dictionaries({name: st.just(value) for name, value in arguments.items()}), call)
    return fuzz_calls(line, 40, seed=0).failures


def test_a_wrong_result_an_unnamed_argument_and_another_error_are_noticed():
    def off_by_one(count):
        yield range(count + 1).stop
        yield range(count).stop

    def unnamed(count):
        yield torch.ones(count).sum().item()
        yield float(count)

    def crashes(count):
        yield 1 / (count - 4)
        yield 1 / (count - 4)

    assert "returned 3, and right is 2" in wrong(off_by_one, count=2)[0]
    assert "names no argument" in wrong(unnamed, count=2)[0]
    assert "ZeroDivisionError" in wrong(crashes, count=4)[0]


def test_a_library_that_checks_nothing_is_noticed(monkeypatch):
    """As before it was mended: `split_heads` with a number of heads that does not divide."""
    monkeypatch.setattr(attention, "split_heads", attention.split_heads.__wrapped__)
    (line,) = [line for line in TABLE if line.names[0] == "split_heads"]
    x = torch.zeros(1, 2, 4)
    with pytest.raises(Wrong, match="unflatten"):
        outcome(line.call, {"x": x, "num_heads": 3}, {"x": x, "num_heads": 2})


@pytest.mark.skipif(sys.platform != "linux", reason="readers are tried in forked processes with limits")
@pytest.mark.parametrize(
    ("read", "end"),
    [
        (lambda path: path.read_bytes(), "holds something else"),
        (lambda path: 1 / (path.parent.name == "right"), "ZeroDivisionError"),
        (lambda path: path.parent.name == "right" or (torch.load(path, weights_only=False) and None), "the file ran a command"),
        (lambda path: path.parent.name == "right" or os.abort(), "signal 6"),
    ],
    ids=["other content", "another error", "a command", "a crash"],
)
def test_a_bad_reader_is_noticed(read, end, monkeypatch):
    monkeypatch.setattr(files, "SECONDS", 5)
    (line,) = [line for line in READERS if line.names[0] == "load_checkpoint"]
    found = fuzz_files(files.Reader(("made up",), line.write, read), 8, seed=0)
    assert any(end in failure for failure in found.failures), found
