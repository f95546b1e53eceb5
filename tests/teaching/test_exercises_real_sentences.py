"""The checks of chapter 16: right answers pass, and each usual mistake gets its own hint."""

import re

from answers import two_tests

from transformer_lib.teaching.exercises import real_sentences as check


def moved(sources, by=1):
    return [sources[(place - by) % len(sources)] for place in range(len(sources))]


def mean(loss, sources, targets):
    each = [loss(*pair) for pair in zip(sources, targets, strict=True)]
    return sum(map(sum, each)) / sum(map(len, each))


def mean_of_means(loss, sources, targets):
    each = [loss(*pair) for pair in zip(sources, targets, strict=True)]
    return sum(sum(losses) / len(losses) for losses in each) / len(each)


def both(loss, sources, targets, by=1, mean=mean):
    return mean(loss, sources, targets), mean(loss, moved(sources, by), targets)


def total(loss, sources, targets):
    return sum(sum(loss(*pair)) for pair in zip(sources, targets, strict=True))


def per_sentence(loss, sources, targets):
    return total(loss, sources, targets) / len(targets)


def peak(factor, d_model, warmup):
    return factor / (d_model * warmup) ** 0.5


def differ(first, given):
    return sum(first[key] != value for key, value in given.items())


def words(text):
    return re.findall(r"\w+", text.lower())


def unseen(sentence, training, find=words):
    seen = {word for text in training for word in find(text)}
    return [word for word in dict.fromkeys(find(sentence)) if word not in seen]


def in_place(loss, sources, targets):
    own = mean(loss, sources, targets)
    sources.insert(0, sources.pop())
    return own, mean(loss, sources, targets)


RIGHT = [
    ("two_means", both),
    ("two_means", in_place),
    ("times_the_paper", lambda *given: peak(*given) / peak(1, 512, 4000)),
    ("one_change", lambda first, runs: [name for name, given in runs.items() if differ(first, given) == 1]),
    (
        "one_change",
        lambda first, runs: [n for n, given in runs.items() if sum((first | given)[k] != first[k] for k in first) == 1],
    ),
    ("unseen_words", unseen),
]
WRONG = [
    ("two_means", lambda *given: both(*given, mean=mean_of_means), "mean of means"),
    ("two_means", lambda *given: both(*given, by=-1), "the other way"),
    ("two_means", lambda *given: both(*given)[::-1], "own sources come first"),
    ("two_means", lambda *given: (both(*given)[0], both(*given)[1] - both(*given)[0]), "not the gap"),
    ("two_means", lambda *given: both(*given, by=0), "move them on by one"),
    ("two_means", lambda *given: both(*given, mean=total), "these are sums"),
    ("two_means", lambda *given: both(*given, mean=per_sentence), "not of sentences"),
    ("two_means", lambda *given: both(*given)[0], "two things"),
    ("two_means", lambda *given: (0.0, 0.0), "Add up the losses"),
    ("times_the_paper", lambda f, d, w: peak(1, d, w) / peak(1, 512, 4000), "the factor is missing"),
    ("times_the_paper", lambda f, d, w: f * 512 * 4000 / (d * w), "the root is missing"),
    ("times_the_paper", lambda *given: peak(1, 512, 4000) / peak(*given), "the other way round"),
    ("times_the_paper", lambda f, d, w: f * (d * w / (512 * 4000)) ** 0.5, "not higher"),
    ("times_the_paper", lambda f, d, w: f * (4000 / w) ** 0.5, "the width counts too"),
    ("times_the_paper", lambda f, d, w: f * (512 / d) ** 0.5, "the warm-up counts too"),
    ("times_the_paper", peak, "divide it by the paper's"),
    ("times_the_paper", lambda f, d, w: 7.0, "Divide factor"),
    ("one_change", lambda first, runs: [name for name, given in runs.items() if len(given) == 1], "do not count the names"),
    ("one_change", lambda first, runs: [name for name, given in runs.items() if differ(first, given) <= 1], "changes nothing"),
    ("one_change", lambda first, runs: [name for name, given in runs.items() if differ(first, given)], "which of them it was"),
    ("one_change", lambda first, runs: [name for name, given in runs.items() if differ(first, given) != 1], "all the others"),
    ("one_change", lambda first, runs: sum(differ(first, given) == 1 for given in runs.values()), "not how many"),
    ("one_change", lambda first, runs: list(runs), "Compare each value"),
    ("unseen_words", lambda s, t: [word for word in words(s) if word in unseen(s, t)], "each word once"),
    ("unseen_words", lambda s, t: sorted(unseen(s, t)), "not of the alphabet"),
    ("unseen_words", lambda s, t: [w for w in dict.fromkeys(words(s)) if w not in " ".join(t).lower()] or [""], "whole words"),
    ("unseen_words", lambda s, t: unseen(s, t, lambda text: re.findall(r"\w+", text)), "make both sides lower case"),
    ("unseen_words", lambda s, t: unseen(s, t, lambda text: text.lower().split()), "a comma or a point"),
    ("unseen_words", lambda s, t: [w for w in dict.fromkeys(words(s)) if w not in unseen(s, t)], "that it has seen"),
    ("unseen_words", lambda s, t: ["cat"], "Collect the words"),
]
test_a_right_answer_passes, test_a_usual_mistake_gets_its_hint = two_tests(check, RIGHT, WRONG)
