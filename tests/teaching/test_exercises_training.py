"""The checks of chapter 12: right answers pass, and each usual mistake gets its own hint."""

import math
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
import torch
from answers import two_tests

from transformer_lib.checkpoint import atomic_write
from transformer_lib.teaching.exercises import training as check


def clip_together(gradients, max_norm):
    length = math.sqrt(sum(float((g**2).sum()) for g in gradients))
    return [g * min(1, max_norm / length) for g in gradients]


def by_torch(gradients, max_norm):
    leaves = [torch.zeros(g.shape, dtype=torch.float64, requires_grad=True) for g in gradients]
    for leaf, g in zip(leaves, gradients, strict=True):
        leaf.grad = torch.from_numpy(g)
    torch.nn.utils.clip_grad_norm_(leaves, max_norm)
    return [leaf.grad for leaf in leaves]


def norm(g):
    return math.sqrt((g**2).sum())


def joined_loss(means, tokens):
    return sum(m * n for m, n in zip(means, tokens, strict=True)) / sum(tokens)


def sentences_that_fit(lengths, max_tokens, fits=lambda n, longest, budget: n * longest <= budget):
    count = 0
    while count < len(lengths) and fits(count + 1, lengths[count], max_tokens):
        count += 1
    return count


def write_safely(path, pieces):
    new = path.with_name("new")
    with open(new, "wb") as file:
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
    return path


def written_beside(mode="wb", flush=True, sync=True, late=False, folder=None):
    def answer(path, pieces):
        new = (folder or path.parent) / "new"
        with open(new, mode) as file:
            file.writelines(pieces)
            if flush:
                file.flush()
            if sync:
                os.fsync(file.fileno())
        os.replace(new, path)
        if late:
            with open(path, "rb") as file:
                os.fsync(file.fileno())
        return path

    return answer


def without_a_buffer(path, pieces):
    with open(path.with_name("new"), "wb", buffering=0) as file:
        file.writelines(pieces)
        os.fsync(file.fileno())
    return path.with_name("new").replace(path)


def under_a_new_name(path, pieces):
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.writelines(pieces)
        file.flush()
        os.fdatasync(file.fileno())
    return shutil.move(file.name, path)


def write_in_place(path, pieces):
    with open(path, "wb") as file:
        for piece in pieces:
            file.write(piece)
            file.flush()
    return path


def collect_first(path, pieces):
    path.write_bytes(b"".join(pieces))
    return path


def remove_first(path, pieces):
    path.unlink()
    return collect_first(path, pieces)


def write_elsewhere(path, pieces):
    collect_first(path.with_name("new"), pieces)
    return path


def unlink_and_rename(path, pieces):
    new = path.with_name("new")
    new.write_bytes(b"".join(pieces))
    path.unlink()
    new.rename(path)
    return path


def rename_too_early(path, pieces):
    new = path.with_name("new")
    with open(new, "wb") as file:
        for piece in pieces:
            file.write(piece)
        os.replace(new, path)
    return path


def rename_first(path, pieces):
    os.replace(path, path.with_name("old"))
    return collect_first(path, pieces)


def through_a_library(path, pieces):
    with atomic_write(path) as file:
        file.writelines(pieces)
    return path


RIGHT = [
    ("clip_together", clip_together),
    ("clip_together", by_torch),
    ("joined_loss", joined_loss),
    ("sentences_that_fit", sentences_that_fit),
    ("write_safely", write_safely),
    ("write_safely", through_a_library),
    ("write_safely", without_a_buffer),
    ("write_safely", under_a_new_name),
    ("write_safely", lambda path, pieces: str(write_safely(Path(path), list(pieces)))),
]
WRONG = [
    ("clip_together", lambda gs, most: gs, "nothing is shortened"),
    (
        "clip_together",
        lambda gs, most: [g * most / math.sqrt(sum(norm(h) ** 2 for h in gs)) for g in gs],
        "must stay as they are",
    ),
    ("clip_together", lambda gs, most: [g * min(1, most / norm(g)) for g in gs], "shortened alone"),
    ("clip_together", lambda gs, most: [g.clip(-most, most) for g in gs], "cut off alone"),
    ("clip_together", lambda gs, most: [g * min(1, most / sum(map(norm, gs))) for g in gs], "the lengths are added"),
    (
        "clip_together",
        lambda gs, most: [g * min(1, most / sum(norm(h) ** 2 for h in gs)) for g in gs],
        "the root is missing",
    ),
    ("clip_together", lambda gs, most: [0 * g for g in gs], "Take the length"),
    ("clip_together", lambda gs, most: gs[:1], "return two things"),
    ("joined_loss", lambda means, tokens: sum(means) / len(means), "mean of means"),
    ("joined_loss", lambda means, tokens: sum(means), "k times too large"),
    ("joined_loss", lambda means, tokens: joined_loss(means, tokens) * sum(tokens), "divide by the number of all tokens"),
    (
        "joined_loss",
        lambda means, tokens: joined_loss(means, tokens) * sum(tokens) / len(means),
        "not by the number of parts",
    ),
    ("joined_loss", lambda means, tokens: sum(means) / sum(tokens), "means already"),
    ("joined_loss", lambda means, tokens: 0.0, "Turn each mean back"),
    (
        "sentences_that_fit",
        lambda lengths, budget: sum(sum(lengths[: n + 1]) <= budget for n in range(len(lengths))),
        "adds",
    ),
    (
        "sentences_that_fit",
        lambda lengths, budget: sentences_that_fit(lengths, budget, lambda n, k, b: n * k < b or n == 1),
        "<=",
    ),
    ("sentences_that_fit", lambda lengths, budget: budget // lengths[0], "longer sentences follow"),
    ("sentences_that_fit", lambda lengths, budget: min(budget // lengths[0], len(lengths)), "as wide as its longest"),
    ("sentences_that_fit", lambda lengths, budget: budget // lengths[-1], "need not be in this batch"),
    ("sentences_that_fit", lambda *given: sentences_that_fit(*given) - 1, "one less than fit"),
    ("sentences_that_fit", lambda lengths, budget: 1, "The first n sentences"),
    ("write_safely", write_in_place, "written over"),
    ("write_safely", remove_first, "no file of that name"),
    ("write_safely", unlink_and_rename, "no file of that name"),
    ("write_safely", rename_first, "no file of that name"),
    ("write_safely", rename_too_early, "before it is whole"),
    ("write_safely", collect_first, "written over"),
    ("write_safely", write_elsewhere, "it holds b'old'"),
    ("write_safely", written_beside(flush=False), r"Call file.flush\(\) before it"),
    ("write_safely", written_beside(sync=False), r"os.fsync\(file.fileno\(\)\) brings the new one to the disk"),
    ("write_safely", written_beside(sync=False, late=True), "before os.replace gives it the name"),
    ("write_safely", written_beside(mode="ab"), "writes on behind it: open the new file with 'wb'"),
    ("write_safely", written_beside(mode="xb"), "open it with 'wb', not 'xb'"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)


def test_another_folder_is_told(says, tmp_path):
    assert "into the same folder" in says(check.write_safely, written_beside(folder=tmp_path))


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="this system has no second disk that anybody may write to")
def test_another_disk_is_told(says):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        assert "into the same folder" in says(check.write_safely, written_beside(folder=Path(folder)))


@pytest.mark.parametrize(("get", "set_"), [(sys.gettrace, sys.settrace), (sys.getprofile, sys.setprofile)])
def test_the_tracing_of_others_is_put_back(says, get, set_):
    def other(*_):
        return None

    before = get()
    set_(other)
    try:
        says(check.write_safely, write_safely)
        assert get() is other
    finally:
        set_(before)
