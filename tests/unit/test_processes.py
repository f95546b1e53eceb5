"""A run that is killed and goes on is the run that never stopped; two processes are one; a closed pipe ends quietly."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from small_run import arguments, assert_same_bits, curve, weights, write_data
from torch.testing import assert_close

from transformer_lib.cli import train_command

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL and no broken pipe"),
]


def launch(place, number, given, processes=None):
    """Run `killed_run.py` in a process of its own, or in several, and return how it ended."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"] if processes else []
    command = [sys.executable, *torchrun, Path(__file__).with_name("killed_run.py"), place, number, *given]
    return subprocess.run([*map(str, command)], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)


def steps_done(out):
    return len(torch.load(out / "last.pt", weights_only=True)["extra"]["history"]["losses"])


def test_a_killed_run_ends_with_the_same_bits(tmp_path):
    """Killed in step 7, and then while it writes the second checkpoint: after the weights and the record, before last.pt."""
    data, out = write_data(tmp_path / "data"), tmp_path / "run"
    train_command(arguments(data, tmp_path / "whole"))
    killed = launch("step", 7, arguments(data, out))
    assert killed.returncode == -9 and steps_done(out) == 4, killed.stderr
    before = (out / "last.pt").read_bytes()
    killed = launch("write", 4, arguments(data, out, "--resume"))
    assert killed.returncode == -9 and (out / ".last.pt.new").exists(), killed.stderr
    assert (out / "last.pt").read_bytes() == before and len(curve(out)["losses"]) == 8
    train_command(arguments(data, out, "--resume"))
    assert_same_bits(out, tmp_path / "whole")
    assert not list(out.glob(".*"))


def test_two_processes_are_one_run(tmp_path):
    """The same losses as one process with the batch of both; killed and resumed, the same bits again."""
    data, still = write_data(tmp_path / "data"), "--dropout 0.0 --accumulation-steps"
    train_command(arguments(data, tmp_path / "one", f"{still} 1"))
    two = launch("step", 0, arguments(data, tmp_path / "two", f"{still} 2"), processes=2)
    assert two.returncode == 0, two.stderr
    assert_close(curve(tmp_path / "two")["losses"], curve(tmp_path / "one")["losses"], rtol=1e-5, atol=1e-5)
    ours, theirs = weights(tmp_path / "two" / "last.pt"), weights(tmp_path / "one" / "last.pt")
    # A key's bias has no gradient but rounding, which Adam makes large: softmax does not see it.
    moved = [name for name in theirs if not name.endswith("W_k.bias")]
    assert_close({name: ours[name] for name in moved}, {name: theirs[name] for name in moved}, rtol=1e-3, atol=1e-4)

    dropping = arguments(data, tmp_path / "killed", "--accumulation-steps 2 --resume")
    assert launch("step", 7, dropping, processes=2).returncode != 0
    assert steps_done(tmp_path / "killed") == 4
    again = launch("step", 0, dropping, processes=2)
    assert again.returncode == 0, again.stderr
    whole = launch("step", 0, arguments(data, tmp_path / "whole", "--accumulation-steps 2"), processes=2)
    assert whole.returncode == 0, whole.stderr
    assert_same_bits(tmp_path / "killed", tmp_path / "whole")


def test_a_reader_that_has_enough_ends_the_command_quietly(tmp_path):
    (tmp_path / "in.txt").write_text("a dog\n" * 3000, encoding="utf-8")
    command = "from transformer_lib.cli import translate_command; translate_command()"
    given = ["--device", "cpu", "--beam-size", "1", "--input", str(tmp_path / "in.txt")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = subprocess.Popen([sys.executable, "-c", command, *given], env=environment, text=True, **pipes)
    assert running.stdout.readline() == "Un chien\n"
    running.stdout.close()
    assert "Error" not in running.stderr.read() and running.wait(60) == 0
