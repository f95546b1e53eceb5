"""What the course is made of: each pinned file has a sum, each action of a workflow a commit; who publishes does only that."""

import json
import re
from types import SimpleNamespace

import pytest
import yaml

from tools import lock

WORKFLOWS = {path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in lock.ROOT.glob(".github/workflows/*.yml")}
JOBS = [(name, job) for name, workflow in WORKFLOWS.items() for job in workflow["jobs"]]


def test_each_pinned_file_has_a_sum():
    lines = [line for line in lock.SUMS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert [line.partition(" ")[0] for line in lines] == lock.pinned(), "run `make lock`"
    assert all(re.fullmatch(r"\S+==\S+ --hash=sha256:[0-9a-f]{64}", line) for line in lines)


@pytest.mark.parametrize(("workflow", "job"), JOBS)
def test_actions_are_named_by_commit_and_only_a_job_that_runs_nothing_may_write(workflow, job):
    assert WORKFLOWS[workflow]["permissions"] == {"contents": "read"}
    steps = WORKFLOWS[workflow]["jobs"][job]["steps"]
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", step["uses"]) for step in steps if "uses" in step)
    if "permissions" in WORKFLOWS[workflow]["jobs"][job]:
        assert [step["uses"].partition("@")[0] for step in steps] == ["actions/deploy-pages"]


def test_whatever_installs_takes_only_known_files():
    steps = [step for workflow, job in JOBS for step in WORKFLOWS[workflow]["jobs"][job]["steps"]]
    makes = [step for step in steps if step.get("run") in (".ci/run", "make print")]
    assert len(makes) == 2 and all(step["env"] == {"HASHES": "yes"} for step in makes)


@pytest.mark.parametrize(
    ("said", "changed", "expected"),
    [
        ("", "", 0),
        ("", "x", "requirements.sums.txt is not what the index says"),
        ("yanked version: 'a' candidate (version 1 at x", "", "withdrawn this version: 'a' candidate (version 1)"),
    ],
)
def test_a_withdrawn_version_and_another_file_are_named(tmp_path, monkeypatch, said, changed, expected):
    def pip(command, **options):
        found = {"metadata": {"name": "A_b"}, "download_info": {"archive_info": {"hashes": {"sha256": "0" * 64}}}}
        command[command.index("--report") + 1].write_text(json.dumps({"install": [found]}))
        return SimpleNamespace(returncode=0, stderr=said)

    monkeypatch.setattr(lock, "pinned", lambda: ["a-b==1"])
    monkeypatch.setattr(lock, "SUMS", tmp_path / "requirements.sums.txt")
    monkeypatch.setattr(lock.subprocess, "run", pip)
    lock.SUMS.write_text(f"{lock.HEAD}a-b==1 --hash=sha256:{'0' * 64}\n{changed}", encoding="utf-8")
    monkeypatch.setattr(lock.sys, "argv", ["lock", "--check"])
    answer = lock.main()
    assert answer == expected or expected in answer
