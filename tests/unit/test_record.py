"""Records: written whole, read back, and each made by a script of its own name."""

import json
import sys
from importlib.resources import files
from importlib.util import find_spec

import pytest

from benchmarks import records
from transformer_lib.teaching import record


def test_a_record_is_read_back_and_one_that_fails_leaves_the_old_one_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    monkeypatch.setattr(sys.modules[record.__module__], "files", lambda package: tmp_path)
    records.write_record("made_up", seeds=[0, 1], settings={"steps": 3}, numbers=[1.5, 2.5])
    with pytest.raises(TypeError):
        records.write_record("made_up", seeds=[0], settings={}, numbers={1, 2})
    back = record("made_up")
    assert (back["seeds"], back["settings"], back["numbers"]) == ([0, 1], {"steps": 3}, [1.5, 2.5])


def test_an_unknown_record_names_the_known_ones():
    with pytest.raises(ValueError, match="there is no record 'nowhere'; there are: "):
        record("nowhere")


def test_every_record_has_its_script():
    for path in files("transformer_lib.records").iterdir():
        if path.name.endswith(".json"):
            made, name = json.loads(path.read_text(encoding="utf8")), path.name.removesuffix(".json")
            assert made["command"] == f"python -m benchmarks.{name}" and find_spec(f"benchmarks.{name}")
            assert made["numbers"] and made["versions"]["torch"] and made["machine"]["processor"]
