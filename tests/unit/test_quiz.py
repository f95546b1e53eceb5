"""A quiz is the same on every run, needs no script, and refuses a question that cannot be answered."""

import re
from importlib import import_module
from pkgutil import iter_modules

import pytest

from transformer_lib.teaching import Question, quiz, quizzes

ANSWERS = [("a stone", "Stones do not swim."), ("a fish", "It has fins.")]
SWIMS = Question("What swims?", answers=ANSWERS, correct=1)
FLIES = Question("Is 1 < 2 & `a * b<b>`? *Not* 2 * 3", answers=ANSWERS, correct=0)
CHAPTERS = [import_module(f"{quizzes.__name__}.{module.name}") for module in iter_modules(quizzes.__path__)]


def test_each_answer_opens_its_verdict_and_its_feedback():
    text = quiz(SWIMS, FLIES)._repr_html_()
    wrong, right, *_ = re.findall(r"<details.*?</details>", text)
    assert "<summary><span>a stone</span></summary>" in wrong and "✗ Not quite.</strong> Stones do not swim." in wrong
    assert "✓ Right.</strong> It has fins." in right
    assert "1 &lt; 2 &amp; <code>a * b&lt;b&gt;</code>? <em>Not</em> 2 * 3" in text
    assert not re.search(r"<script|https?:|url\(|\son\w+=|@import|<link|<img", text)
    first, second, third, fourth = re.findall(r'<details name="([^"]+)">', text)
    assert first == second != third == fourth  # answers of one question close each other


@pytest.mark.parametrize(
    ("text", "answers", "correct"),
    [(" ", ANSWERS, 0), ("Why?", ANSWERS, 2), ("Why?", [("a", "x"), ("a ", "y")], 0), ("Why?", [("a", "x"), ("b", " ")], 0)],
)
def test_a_question_that_cannot_be_answered_is_refused(text, answers, correct):
    with pytest.raises(ValueError, match="cannot be answered"):
        Question(text, answers=answers, correct=correct)


@pytest.mark.parametrize(
    "choose", [lambda place, answer: place == 0, lambda place, answer: len(answer)], ids=["first", "longest"]
)
def test_neither_place_nor_length_gives_the_answers_away(choose):
    questions, right = [question for chapter in CHAPTERS for question in chapter.QUESTIONS], 0
    for question in questions:
        scores = [choose(place, answer) for place, (answer, _) in enumerate(question.answers)]
        right += (scores[question.correct] == max(scores)) / scores.count(max(scores))
    assert 2 / 9 <= right / len(questions) <= 4 / 9  # chance is a third; two standard deviations are a ninth
