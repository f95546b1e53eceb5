"""The questions of each chapter's quiz: here, not in the notebook, where the answers would stand above the cards."""

from importlib import import_module
from importlib.util import find_spec

from transformer_lib.teaching.quiz import Quiz, quiz


def chapter_quiz(stem: str) -> Quiz:
    """Return the quiz of the chapter `stem`, such as "attention": the cards that its notebook shows.

    Raises `ValueError` where there is none.
    """
    name = f"{__name__}.{stem}"
    if not stem.isidentifier() or find_spec(name) is None:
        raise ValueError(f"stem must be the name of a chapter with a quiz, but it is {stem!r}")
    return quiz(*import_module(name).QUESTIONS)
