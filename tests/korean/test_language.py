"""What the library says to its reader: in English as it is, in Korean by its translations, whatever is put in."""

import json
import os
import subprocess
import sys

import pytest

from tools.translate.scripts import literals
from transformer_lib import _language
from transformer_lib.teaching import exercises
from transformer_lib.teaching.figures.live.figure import LiveFigure
from transformer_lib.teaching.quiz import Question, quiz

TEXTS = {
    "the softmax is missing": "소프트맥스가 빠졌습니다",
    "{what} should {_difference(value)}. {hint}": "{what}: {_difference(value)}. {hint}",
    "the result": "결과",
    "be {}, not {}": "{}이어야 하는데 {}입니다",
    "this is {seq} words": "단어 {seq}개입니다",
    "{a} is {a}": "{a}는 {a}입니다",
    "it weighs {share}.{more}": "무게는 {share}입니다.{more}",
    "Right.": "맞았습니다.",
    "A question": "질문",
    "Yes": "네",
    "So it is": "그렇습니다",
    "What <b>": "무엇 <b>",
}


@pytest.fixture
def korean(monkeypatch):
    monkeypatch.setenv(_language.VARIABLE, "ko")
    known = {"texts": TEXTS, "scripts": {"forget_gate": {"time steps": "시점 수"}}}
    monkeypatch.setattr(_language, "_translations", lambda code: known)
    _language._speaker.cache_clear()
    yield
    _language._speaker.cache_clear()


def test_english_stays_as_it_is(monkeypatch):
    monkeypatch.delenv(_language.VARIABLE, raising=False)
    assert _language.say("the softmax is missing") == "the softmax is missing"


@pytest.mark.parametrize(
    ("english", "said"),
    [
        ("the softmax is missing", "소프트맥스가 빠졌습니다"),
        ("this is 7 words", "단어 7개입니다"),
        ("the result should be 3, not 4. the softmax is missing", "결과: 3이어야 하는데 4입니다. 소프트맥스가 빠졌습니다"),
        ("one is two", "one는 two입니다"),
        ("nobody has translated this", "nobody has translated this"),
        ("it weighs 0.447.", "무게는 0.447입니다."),
    ],
)
def test_a_text_is_said_with_what_is_put_in(korean, english, said):
    assert _language.say(english) == said


def test_a_hint_and_a_quiz_are_said(korean, capsys):
    @exercises.judge
    def an_exercise(attempt):
        raise exercises.Hint("this is 3 words")

    an_exercise(lambda: 1)
    assert capsys.readouterr().out == "✗ an_exercise: 단어 3개입니다\n"
    shown = quiz(Question("A question", [("Yes", "So it is"), ("No", "It is not")], correct=0))._repr_html_()
    for text in ("질문", "<span>네</span>", "✓ 맞았습니다.", "그렇습니다", "<span>No</span>"):
        assert text in shown


def test_a_figure_speaks_too(korean):
    figure = LiveFigure("forget_gate", title="What <b>", still="<p>Yes</p>", says="this is 3 words", data={})
    shown = figure._repr_html_()
    for text in ("무엇 &lt;b&gt;", "<p>네</p>", "단어 3개입니다", json.dumps("시점 수")):
        assert text in shown


def test_styles_and_what_nobody_translated_stay_as_they_are(korean):
    picture = '<style>a>b[c="Yes"]{}</style><svg aria-label="Yes"><text> Yes </text><text>No &amp; no</text></svg>'
    said = '<style>a>b[c="Yes"]{}</style><svg aria-label="네"><text> 네 </text><text>No &amp; no</text></svg>'
    assert _language.say_in_html(picture) == said


def test_an_unknown_language_says_which_there_are():
    run = "from transformer_lib._language import say; say('x')"
    environment = os.environ | {_language.VARIABLE: "fr"}
    ended = subprocess.run([sys.executable, "-c", run], env=environment, capture_output=True, text=True)
    assert "TRANSFORMER_LIB_LANGUAGE is 'fr', expected en or one of: ko" in ended.stderr


def test_the_texts_of_a_script_are_read_as_they_are_shown():
    code = r"""
    const a = "one text" + `, ${n} and ${many ? "more \"of\" it" : `none of ${n}`}` // "no text"
    if (/["']/u.test(b) && c / d > e / f) say('a\u00a0sentence here' + more)
    """
    assert [text for text, _ in literals(code)] == [
        'more "of" it',
        "none of {n}",
        "one text, {n} and {…}",
        "a sentence here{more}",
    ]


@pytest.mark.skipif(not sys.prefix.isascii(), reason="torch cannot start in such a folder where Python may not use UTF-8")
@pytest.mark.parametrize("command", ["train", "translate"])
def test_help_is_said_whatever_the_locale(command):
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", _language.VARIABLE: "ko"}
    code = f"from transformer_lib._commands import {command}_command; {command}_command(['--help'])"
    options = {"env": {**os.environ, **locale}, "capture_output": True, "check": False}
    ended = subprocess.run([sys.executable, "-c", code], **options)
    assert ended.returncode == 0 and not ended.stderr, ended.stderr
    assert "파일" in ended.stdout.decode("utf-8")
