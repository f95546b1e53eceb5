"""Questions that the reader answers in the page, without a script and without a network."""

import hashlib
import html
import re
from dataclasses import dataclass

from transformer_lib._language import _
from transformer_lib.teaching.figures.theme import stylesheet

_RULES = """
.tl-quiz{background:var(--tl-surface);color:var(--tl-ink);max-width:44rem;margin:.5rem 0;padding:.25rem;
  font-family:system-ui,sans-serif;font-size:1rem;line-height:1.5}
.tl-quiz fieldset{min-width:0;margin:0 0 1rem;padding:1rem;border:1px solid var(--tl-line);border-radius:.5rem;
  background:var(--tl-surface)}
.tl-quiz fieldset:last-child{margin-bottom:0}
.tl-quiz legend{float:left;width:100%;margin:0 0 .6rem;padding:0;border:0;font-size:1rem;font-weight:600;line-height:1.5;
  color:var(--tl-ink)}
.tl-quiz details{clear:both;margin:.4rem 0 0;padding:0;border:1px solid var(--tl-line);border-radius:.4rem;
  background:var(--tl-card);color:var(--tl-ink)}
.tl-quiz summary{display:flex;gap:.6rem;padding:.5rem .75rem;cursor:pointer;list-style:none;border-radius:.4rem}
.tl-quiz summary::-webkit-details-marker{display:none}
.tl-quiz summary::before{content:"\\25CB" / "";flex:none;color:var(--tl-muted)}
.tl-quiz details[open]>summary::before{content:"\\25CF" / "";color:var(--tl-accent)}
.tl-quiz summary:hover{background:var(--tl-surface)}
.tl-quiz summary:focus-visible{outline:3px solid var(--tl-accent);outline-offset:2px}
.tl-quiz p{margin:0;padding:.5rem .75rem .6rem 2.1rem;border-top:1px solid var(--tl-line)}
.tl-quiz .tl-right{color:var(--tl-right)}
.tl-quiz .tl-wrong{color:var(--tl-wrong)}
.tl-quiz code{padding:.05em .3em;border:0;border-radius:.25em;background:var(--tl-surface);color:var(--tl-ink);
  font-size:.9em}
"""


@dataclass(frozen=True)
class Question:
    """One question with its answers, of which exactly one is right.

    `answers` is a list of `(answer, feedback)` pairs: the feedback says why that answer is right or wrong.
    `correct` is the index of the right answer, counted from 0. `code` and *emphasis* work in all texts.
    Raises `ValueError` for an empty text, two equal answers, or an index that does not exist.
    """

    text: str
    answers: list[tuple[str, str]]
    correct: int

    def __post_init__(self) -> None:
        written = [self.text, *(words for pair in self.answers for words in pair)]
        different = {answer.strip() for answer, _ in self.answers}
        if not all(map(str.strip, written)) or not 0 <= self.correct < len(self.answers) == len(different):
            raise ValueError(f"this question cannot be answered: {self}")


class Quiz:
    """Questions that a notebook shows as cards; see `quiz`."""

    def __init__(self, questions: tuple[Question, ...]) -> None:
        self.questions = questions

    def __repr__(self) -> str:
        return f"Quiz of {len(self.questions)} questions"

    def _repr_html_(self) -> str:
        cards = "".join(
            _card(question, f"{number}. " if len(self.questions) > 1 else "")
            for number, question in enumerate(self.questions, start=1)
        )
        return f'<div class="tl-quiz">{stylesheet("tl-quiz", _RULES)}{cards}</div>'


def quiz(*questions: Question) -> Quiz:
    """Return a quiz that a notebook shows as cards; opening an answer shows whether it is right, and why."""
    return Quiz(questions)


def _card(question: Question, number: str) -> str:
    # Answers of one name close each other; a name made from the words is the same on every run.
    words = "\n".join([question.text, *(answer for answer, _ in question.answers)])
    name = "tl-" + hashlib.sha256(words.encode()).hexdigest()[:12]
    verdicts = ("wrong", _("✗ Not quite.")), ("right", _("✓ Right."))
    verdict = ['<strong class="tl-{}">{}</strong>'.format(*how) for how in verdicts]
    answers = "".join(
        f'<details name="{name}"><summary><span>{_inline(answer)}</span></summary>'
        f"<p>{verdict[index == question.correct]} {_inline(feedback)}</p></details>"
        for index, (answer, feedback) in enumerate(question.answers)
    )
    return f"<fieldset><legend>{number}{_inline(question.text)}</legend>{answers}</fieldset>"


def _inline(text: str) -> str:
    """Translate and escape `text`, then turn `code` and *emphasis* into HTML; stars inside code stay stars."""
    parts = [html.escape(part) for part in re.split(r"`([^`]+)`", _(text))]
    parts[::2] = [re.sub(r"\*(\S(?:[^*]*\S)?)\*", r"<em>\1</em>", part) for part in parts[::2]]
    parts[1::2] = [f"<code>{part}</code>" for part in parts[1::2]]
    return "".join(parts)
