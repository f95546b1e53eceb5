"""The checks of chapter 12: right answers pass, and each usual mistake gets its own hint."""

import os
from pathlib import Path

import pytest

from transformer_lib.teaching.check import training as check


def loss_per_token(losses, real):
    return (losses * real).sum() / real.sum()


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


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("loss_per_token", loss_per_token),
        ("loss_per_token", lambda losses, real: losses[real].mean().item()),
        ("joined_loss", joined_loss),
        ("sentences_that_fit", sentences_that_fit),
        ("write_safely", write_safely),
        ("write_safely", lambda path, pieces: str(write_safely(Path(path), list(pieces)))),
    ],
)
def test_a_right_answer_passes(says, name, answer):
    assert says(getattr(check, name), answer).startswith(f"✓ {name}: ")


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("loss_per_token", lambda losses, real: losses.mean(), "as if it were words"),
        ("loss_per_token", lambda losses, real: (losses * real).mean(), "divided by all places"),
        ("loss_per_token", lambda losses, real: ((losses * real).sum(1) / real.sum(1)).mean(), "each sentence's mean"),
        ("loss_per_token", lambda losses, real: losses[real].sum(), "this is the sum"),
        ("loss_per_token", lambda losses, real: losses[real].sum() / len(losses), "per sentence"),
        ("loss_per_token", lambda losses, real: losses[~real].sum(), "where `real` is True"),
        ("loss_per_token", lambda losses, real: losses, "has shape"),
        ("joined_loss", lambda means, tokens: sum(means) / len(means), "mean of means"),
        ("joined_loss", lambda means, tokens: sum(means), "k times too large"),
        ("joined_loss", lambda means, tokens: joined_loss(means, tokens) * sum(tokens), "divide by the number of all tokens"),
        ("joined_loss", lambda means, tokens: joined_loss(means, tokens) * sum(tokens) / len(means), "not by the number of parts"),
        ("joined_loss", lambda means, tokens: 0.0, "Turn each mean back"),
        ("sentences_that_fit", lambda lengths, budget: sum(sum(lengths[: n + 1]) <= budget for n in range(len(lengths))), "adds"),
        ("sentences_that_fit", lambda lengths, budget: sentences_that_fit(lengths, budget, lambda n, k, b: n * k < b or n == 1), "<="),
        ("sentences_that_fit", lambda lengths, budget: budget // lengths[0], "longer sentences follow"),
        ("sentences_that_fit", lambda lengths, budget: min(budget // lengths[0], len(lengths)), "as wide as its longest"),
        ("sentences_that_fit", lambda lengths, budget: budget // lengths[-1], "need not be in this batch"),
        ("sentences_that_fit", lambda lengths, budget: 1, "The first n sentences"),
        ("write_safely", write_in_place, "no longer whole"),
        ("write_safely", remove_first, "no longer whole"),
        ("write_safely", collect_first, "written over"),
        ("write_safely", write_elsewhere, "it holds b'old'"),
    ],
)
def test_a_usual_mistake_gets_its_hint(says, name, answer, hint):
    line = says(getattr(check, name), answer)
    assert line.startswith(f"✗ {name}: ")
    assert hint in line


@pytest.mark.parametrize("name", check.__all__)
def test_a_stub_is_not_attempted_yet(says, name):
    def stub(*_):
        raise NotImplementedError

    assert says(getattr(check, name), stub).startswith(f"○ {name}: not attempted yet")
