"""Made-up film reviews with a label, from a seed: plain ones, and twins that only the order of their words tells apart."""

import random

from transformer_lib.text import Review

__all__ = ["synthetic_reviews"]

NOUNS = ["acting", "story", "music", "ending", "dialogue", "camera", "script", "cast"]
BLAME = ["bad", "awful", "boring", "dull", "stupid", "clumsy", "shallow", "tiresome"]
PRAISE = ["good", "great", "exciting", "moving", "clever", "brilliant", "deep", "charming"]
# By the number of negations: none, one, two.
CLAUSES = (
    ("the {noun} was {word}", "I found the {noun} {word}", "the {noun} is really {word}"),
    ("the {noun} was not {word} at all", "I never found the {noun} {word}", "nobody can call the {noun} {word}"),
    (
        "nobody can say that the {noun} was not {word}",
        "it is not true that the {noun} is not {word}",
        "I cannot say that the {noun} was not {word}",
    ),
)
FRAMES = ("{aside}, but {verdict}", "although {aside}, {verdict}", "{verdict}, although {aside}")
CORRECTIONS = ("the {noun} was {verdict}, not {aside}", "the {noun} was not {aside} at all, it was {verdict}")
REMARKS = ("", "I saw it on a rainy evening.", "My sister came with me.", "It runs for two hours.")


def synthetic_reviews(count: int, seed: int, negation: bool = True) -> list[Review]:
    """Return `count` made-up film reviews, half positive, the same for each seed.

    With `negation` they come in twins: the same words in another order with the opposite label, so that no bag of words
    can tell them apart. Without, each is one plain clause.
    """
    draw = random.Random(seed)
    reviews = [one for _ in range(count // 2) for one in _two_reviews(draw, negation)]
    draw.shuffle(reviews)
    return reviews


def _two_reviews(draw: random.Random, negation: bool) -> list[Review]:
    """Return a negative and a positive review; with negation, of the same words."""
    if not negation:
        parts = [_clause(draw, label, negations=0) for label in (0, 1)]
        frame = "{verdict}"
    elif draw.random() < 0.75:
        parts = [_clause(draw, label, draw.choice((0, 1, 1, 2))) for label in (0, 1)]
        frame = draw.choice(FRAMES)
    else:
        parts = [draw.choice((BLAME, PRAISE)[label]) for label in (0, 1)]
        frame = draw.choice(CORRECTIONS).replace("{noun}", draw.choice(NOUNS))
    remark, remark_first = draw.choice(REMARKS), draw.random() < 0.5
    reviews = []
    for label in (0, 1):
        text = frame.format(verdict=parts[label], aside=parts[1 - label])
        text = text[0].upper() + text[1:] + "."
        both = (remark, text) if remark_first else (text, remark)
        reviews.append(Review("<br /><br />".join(filter(None, both)), label))
    return reviews


def _clause(draw: random.Random, label: int, negations: int) -> str:
    """Return praise (label 1) or blame (0) with so many negations: each turns the word round."""
    word = draw.choice((BLAME, PRAISE)[(label + negations) % 2])
    return draw.choice(CLAUSES[negations]).format(noun=draw.choice(NOUNS), word=word)
