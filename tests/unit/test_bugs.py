"""The bugs of chapter 18: each is there inside its block alone, everywhere, and is killed by the test that it names."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from transformer_lib import masks, transformer
from transformer_lib.teaching.bugs import BUGS, inject_bug
from transformer_lib.transformer import Transformer, TransformerConfig

ROOT = Path(__file__).resolve().parents[2]
BUG = {bug.name: bug for bug in BUGS}

# A test that fails gives 1; an error of pytest itself would give 2 or more. That each passes without its bug, the suite shows.
RUN = """
import sys, hypothesis, pytest
from transformer_lib.teaching.bugs import BUGS, inject_bug
phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
hypothesis.settings.register_profile("bugs", deadline=None, derandomize=True, database=None, phases=phases)
options = ["-q", "-x", "-p", "no:cacheprovider", "--override-ini=addopts=", "--hypothesis-profile=bugs"]
for bug in BUGS:
    with inject_bug(bug):
        status = pytest.main([*options, bug.test])
    print(f"\\n{bug.name} {status:d}", file=sys.stderr)
"""


@pytest.mark.slow
def test_every_bug_is_killed_by_its_test():
    run = subprocess.run([sys.executable, "-c", RUN], cwd=ROOT, capture_output=True, text=True, env={**os.environ, "CI": ""})
    verdicts = dict(line.split() for line in run.stderr.splitlines() if line.partition(" ")[0] in BUG)
    assert verdicts == dict.fromkeys(BUG, "1"), run.stdout[-4000:] + run.stderr[-2000:]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_is_there_inside_the_block_alone(bug):
    before = bug.function.__code__
    with pytest.raises(RuntimeError), inject_bug(bug):
        assert bug.function.__code__ is not before
        raise RuntimeError
    assert bug.function.__code__ is before


def test_modules_that_imported_the_function_meet_the_bug():
    with inject_bug(BUG["off-by-one"]), inject_bug(BUG["one-layer"]):
        assert transformer.causal_mask(2).all() and masks.causal_mask(2).all()
        first, second = Transformer(TransformerConfig.tiny(10, 10)).encoder.layers  # `super()` still works
        assert first is second


def test_the_right_line_stands_there_once():
    bug = replace(BUG["off-by-one"], right="never there")
    with pytest.raises(ValueError, match="stands 0 times in masks.causal_mask, expected once"), inject_bug(bug):
        pass
