"""A quiz is the same bytes on every run, needs no script, and refuses a question that cannot be answered."""

import re
from importlib import import_module
from pkgutil import iter_modules

import pytest

from transformer_lib.teaching import Question, quiz, quizzes

ANSWERS = [("a stone", "Stones do not swim."), ("a fish", "It has fins.")]
SWIMS = Question("What swims?", answers=ANSWERS, correct=1)
FLIES = Question("What flies?", answers=ANSWERS, correct=0)

CHAPTERS = [module.name for module in iter_modules(quizzes.__path__)]


def names(text):
    return re.findall(r'<details name="([^"]+)">', text)


def test_each_answer_opens_its_verdict_and_its_feedback():
    text = quiz(SWIMS)._repr_html_()
    wrong, right = re.findall(r"<details.*?</details>", text)
    assert "<summary><span>a stone</span></summary>" in wrong
    assert "✗ Not quite.</strong> Stones do not swim." in wrong
    assert "✓ Right.</strong> It has fins." in right


def test_it_needs_no_script_and_no_network():
    text = quiz(SWIMS, FLIES)._repr_html_()
    assert not re.search(r"<script|https?:|url\(|\son\w+=|@import|<link|<img", text)


def test_answers_of_one_question_close_each_other_and_no_others():
    first, second, third, fourth = names(quiz(SWIMS, FLIES)._repr_html_())
    assert first == second != third == fourth


def test_two_quizzes_on_a_page_do_not_collide():
    assert set(names(quiz(SWIMS)._repr_html_())).isdisjoint(names(quiz(FLIES)._repr_html_()))


def test_several_questions_are_numbered_and_one_is_not():
    assert re.findall(r"<legend>(.*?)</legend>", quiz(SWIMS, FLIES)._repr_html_()) == ["1. What swims?", "2. What flies?"]
    assert "<legend>What swims?</legend>" in quiz(SWIMS)._repr_html_()


def test_text_is_escaped():
    text = quiz(Question("Is 1 < 2 & `a<b>`?", answers=[("<b>", '"yes"'), ("no", "&amp;")], correct=0))._repr_html_()
    assert "1 &lt; 2 &amp; <code>a&lt;b&gt;</code>" in text
    assert "<span>&lt;b&gt;</span>" in text
    assert "&quot;yes&quot;" in text
    assert "&amp;amp;" in text


def test_code_and_emphasis():
    text = quiz(Question("*Not* `a * b * c`, but 2 * 3 * 4", answers=ANSWERS, correct=0))._repr_html_()
    assert "<em>Not</em> <code>a * b * c</code>, but 2 * 3 * 4" in text


def test_plain_text_is_short():
    assert repr(quiz(SWIMS)) == "Quiz of 1 question"
    assert repr(quiz(SWIMS, FLIES)) == "Quiz of 2 questions"


@pytest.mark.parametrize(
    ("text", "answers", "correct", "message"),
    [
        (" ", ANSWERS, 0, "text is empty"),
        ("Why?", ANSWERS[:1], 0, "length 1, expected two or more"),
        ("Why?", ANSWERS, 2, "correct is 2, expected 0 to 1"),
        ("Why?", ANSWERS, -1, "correct is -1, expected 0 to 1"),
        ("Why?", [("a", "x"), ("a ", "y")], 0, "'a' twice"),
        ("Why?", [("a", "x"), ("b", " ")], 0, "no feedback for 'b'"),
        ("Why?", [("a", "x"), ("", "y")], 0, "empty answer"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(text, answers, correct, message):
    with pytest.raises(ValueError, match=message):
        Question(text, answers=answers, correct=correct)


def test_an_empty_quiz_is_refused():
    with pytest.raises(ValueError, match="at least one question"):
        quiz()


def right_without_reading(choose):
    """How many questions of the course are answered right by whoever always takes the answer that `choose` names."""
    right = 0
    for stem in CHAPTERS:
        for question in import_module(f"{quizzes.__name__}.{stem}").QUESTIONS:
            scores = [choose(place, answer) for place, (answer, _) in enumerate(question.answers)]
            best = [place for place, score in enumerate(scores) if score == max(scores)]
            right += (question.correct in best) / len(best)
    return right


@pytest.mark.parametrize(
    "choose",
    [
        pytest.param(lambda place, answer: place == 0, id="the first"),
        pytest.param(lambda place, answer: place == 1, id="the second"),
        pytest.param(lambda place, answer: place == 2, id="the third"),
        pytest.param(lambda place, answer: len(answer), id="the longest"),
        pytest.param(lambda place, answer: -len(answer), id="the shortest"),
        pytest.param(lambda place, answer: answer.count("`"), id="the one with most code"),
        pytest.param(
            lambda place, answer: bool(re.search(r"\b(all|always|never|only|every|none)\b", answer)), id="the absolute one"
        ),
    ],
)
def test_neither_place_nor_length_gives_the_answers_of_the_course_away(choose):
    questions = sum(len(import_module(f"{quizzes.__name__}.{stem}").QUESTIONS) for stem in CHAPTERS)
    # Chance is a third; two standard deviations are a ninth.
    assert 2 / 9 <= right_without_reading(choose) / questions <= 4 / 9
