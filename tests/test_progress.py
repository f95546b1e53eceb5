"""The progress bar shows itself to people, and not where notebooks are executed for the book."""

import subprocess
import sys

import pytest

from transformer_lib._progress import progress


def test_it_passes_the_items_on():
    assert list(progress([3, 1, 2], description="counting")) == [3, 1, 2]


def test_a_number_can_stand_beside_the_bar(monkeypatch, capsys):
    monkeypatch.delenv("TRANSFORMER_LIB_QUIET", raising=False)
    bar = progress(range(2), description="training", total=2)
    for _ in bar:
        bar.set_postfix(loss=1.5)
    printed = capsys.readouterr().err
    assert "training" in printed
    assert "loss=1.5" in printed


@pytest.mark.parametrize("items", [range(3), iter(range(3))])
def test_nothing_is_printed_where_it_is_quiet(items, monkeypatch, capsys):
    monkeypatch.setenv("TRANSFORMER_LIB_QUIET", "1")
    bar = progress(items, description="training")
    for _ in bar:
        bar.set_postfix(loss=1.5)
    assert capsys.readouterr() == ("", "")


def test_in_a_kernel_without_widgets_the_bar_is_no_error_and_goes_away(monkeypatch):
    # tqdm looks for a notebook's kernel and then for ipywidgets; this kernel has none.
    program = """
import sys
import ipykernel.zmqshell
sys.modules["ipywidgets"] = None
from transformer_lib._progress import progress
list(progress([1, 2], description="training"))
"""
    monkeypatch.delenv("TRANSFORMER_LIB_QUIET", raising=False)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stderr == ""
    _, first, *_, last = run.stdout.splitlines()  # each drawing begins with a carriage return
    assert first.startswith("training:   0%")
    assert last.isspace()
