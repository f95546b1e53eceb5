"""Checks for the exercises of chapter 16, Real sentences."""

import re
from collections.abc import Callable, Iterator

from transformer_lib.teaching.exercises import exercise

__all__ = ["one_change", "times_the_paper", "two_means", "unseen_words"]


def loss(source: str, target: str) -> list[float]:
    """Return a loss for each word of the target, small where the source begins with the same letter."""
    return [
        0.1 * (place + 1) if word[0] in source else 1.0 + abs(len(source) - len(word))
        for place, word in enumerate(target.split())
    ]


def _mean(sources: list[str], targets: list[str]) -> float:
    each = [loss(source, target) for source, target in zip(sources, targets, strict=True)]
    return sum(map(sum, each)) / sum(map(len, each))


def _mean_of_means(sources: list[str], targets: list[str]) -> float:
    each = [loss(source, target) for source, target in zip(sources, targets, strict=True)]
    return sum(sum(losses) / len(losses) for losses in each) / len(each)


@exercise(
    cases=[
        (loss, ["dog", "cat", "woman"], ["dogue", "chat court vite", "wagon wallon"]),
        (loss, ["a bird", "two men", "ski", "boat"], ["aigle bleu", "trois", "sportif seul ici", "bateau"]),
        (loss, ["dog"] * 5, ["dogue", "chien dort", "grand dogue", "il dort", "un dogue ici"]),
    ],
    hint="Add up the losses of all tokens of all sentences, and divide by how many tokens there are",
    parts=("the loss with their own sources", "the loss with others'"),
)
def two_means(loss: Callable, sources: list[str], targets: list[str]) -> Iterator:
    """The reader's `two_means(loss, sources, targets)` is the mean loss per token, with own sources and with others'."""
    moved, back = [sources[-1], *sources[:-1]], [*sources[1:], sources[0]]
    own, other = _mean(sources, targets), _mean(moved, targets)
    count = sum(len(target.split()) for target in targets)
    yield (own, other), "a gap where the sources differ, and a gap of 0 for the five with the same source"
    means = _mean_of_means(sources, targets), _mean_of_means(moved, targets)
    yield means, "this is a mean of means: a short sentence counts as much as a long one. Divide once, by all tokens"
    yield (
        (own, _mean(back, targets)),
        "the sources have moved the other way: each goes to the next sentence, the last one to the first",
    )
    yield (other, own), "the own sources come first, then the others'"
    yield (own, other - own), "return the two losses, not the gap between them"
    yield (own, own), "with other sources too each sentence has its own: move them on by one"
    yield (own * count, other * count), "these are sums: divide by the number of tokens"
    yield (own * count / len(targets), other * count / len(targets)), "divide by the number of tokens, not of sentences"


@exercise(
    cases=[(2.0, 128, 400), (2.0, 128, 4000), (1.0, 512, 4000), (0.5, 32, 100)],
    hint="Divide factor / √(d_model · warmup) by 1 / √(512 · 4000)",
)
def times_the_paper(factor: float, d_model: int, warmup: int) -> Iterator:
    """The reader's `times_the_paper(factor, d_model, warmup)` is the peak rate over that of the paper's base model."""
    ratio = 512 * 4000 / (d_model * warmup)
    yield factor * ratio**0.5, "and with the paper's warm-up the first run's peak is still 4 times the paper's"
    yield ratio**0.5, "the factor is missing"
    yield factor * ratio, "the root is missing: √(d_model · warmup)"
    yield (d_model * warmup / (512 * 4000)) ** 0.5 / factor, "this is the paper's peak over this one: the other way round"
    yield factor / ratio**0.5, "a longer warm-up makes the peak lower, not higher"
    yield factor * (4000 / warmup) ** 0.5, "the width counts too: a narrower model has a higher peak"
    yield factor * (512 / d_model) ** 0.5, "the warm-up counts too: a shorter one has a higher peak"
    yield factor / (d_model * warmup) ** 0.5, "this is the peak itself: divide it by the paper's"


FIRST = {"rate": 2.0, "warmup": 400, "pre_norm": False, "dropout": 0.1}


@exercise(
    cases=[
        (
            FIRST,
            {
                "again": {},
                "low": {"rate": 0.5},
                "low and slow": {"rate": 0.5, "warmup": 4000},
                "the same rate, slow": {"rate": 2.0, "warmup": 4000},
                "pre-norm": {"pre_norm": True},
                "the same norm": {"pre_norm": False},
            },
        ),
        (
            {"order": "length", "batch": 1500},
            {"random": {"order": "random", "batch": 1500}, "small": {"batch": 500}, "both": {"order": "random", "batch": 500}},
        ),
    ],
    hint="Compare each value that is set with the value in first, and count those that differ",
)
def one_change(first: dict, runs: dict[str, dict]) -> Iterator:
    """The reader's `one_change(first, runs)` names the runs that differ from the first in exactly one setting."""
    differ = {name: sum(first[key] != value for key, value in given.items()) for name, given in runs.items()}
    yield [name for name in runs if differ[name] == 1], "two runs that differ in one setting alone"
    yield (
        [name for name, given in runs.items() if len(given) == 1],
        "a setting may be set to the value that it has anyhow: compare the values, do not count the names",
    )
    yield [name for name in runs if differ[name] <= 1], "a run that changes nothing is no experiment, but the first run again"
    yield [name for name in runs if differ[name] >= 1], "where two settings differ you cannot tell which of them it was"
    yield [name for name in runs if differ[name] != 1], "these are all the others"
    yield sum(differ[name] == 1 for name in runs), "return their names, not how many they are"


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@exercise(
    cases=[
        ("The theory of the cat: a sketchy theory.", ["A theoryless man sits on the sofa.", "A cat!", "Fond of tea"]),
        ("A dog and another cart sing", ["Another dog and a CARTOON", "singers"]),
    ],
    hint="Collect the words of all training sentences, and ask of each word of the sentence whether it is among them",
)
def unseen_words(sentence: str, training: list[str]) -> Iterator:
    """The reader's `unseen_words(sentence, training)` lists the words of the sentence that no training sentence has."""
    seen = {word for text in training for word in _words(text)}
    unseen = [word for word in _words(sentence) if word not in seen]
    once = list(dict.fromkeys(unseen))
    yield once, "a suspicion, where to look first: it is no cause yet"
    yield unseen, "each word once"
    yield sorted(once), "in the order of the sentence, not of the alphabet"
    together = " ".join(training).lower()
    yield (
        [word for word in dict.fromkeys(_words(sentence)) if word not in together] or [""],
        "whole words: theory is not in theoryless",
    )
    exact = {word for text in training for word in re.findall(r"\w+", text)}
    as_written = [word for word in re.findall(r"\w+", sentence) if word not in exact]
    yield list(dict.fromkeys(as_written)), "The and the are one word: make both sides lower case"
    split = {word for text in training for word in text.lower().split()}
    parts = [word for word in sentence.lower().split() if word not in split]
    yield list(dict.fromkeys(parts)), "a comma or a point is no part of a word: find the words as said above"
    yield [word for word in dict.fromkeys(_words(sentence)) if word in seen], "these are the words that it has seen"
