"""The check of a translation: what it lets through, and one complaint for each thing that may not differ."""

import pytest

from tools.translate.compare import complaints, glossary

RIGHT = [
    ("A **mask** (마스크) hides `x` and $d_k$.", "**마스크**(mask)는 `x`와 $d_k$를 가립니다."),
    ("In [chapter 7](07_encoder.ipynb#a-b) it is ≈ 0.98.", "[7장](07_encoder.ipynb#a-b)에서는 ≈ 0.98입니다."),
    ("Two heads, and *John loves Susan*.", "헤드가 2개이고, *John loves Susan*입니다."),
    ("## What to remember\n\n* one\n* two", "## 기억할 것\n\n* 하나\n* 둘"),
    ("Choose an answer.", "답을 고르세요."),
    ("S1 writes “매우 큰 음수”: a large number.", "S1은 “매우 큰 음수”라고 씁니다. 큰 수입니다."),
]
WRONG = [
    ("A number is large.", "", "not translated"),
    ("Call `f`.", "`g`를 부르세요.", "code missing: f"),
    ("It is $d_k$ here.", "여기서는 $d_v$입니다.", "formulas missing: d_k"),
    ("There are 64 of them.", "46개가 있습니다.", "numbers missing: 64"),
    ("It is ≈ 0.5 there.", "거기서는 약 0.5입니다.", "≈ missing"),
    ("See [this page](a.md).", "[이 쪽](b.md)을 보세요.", "links missing: a.md"),
    ("The **word** is long.", "단어는 깁니다.", "bold: 1 times"),
    ("The **word (단어)** is long.", "**단어(word)**는 깁니다.", "bold: 1 times"),
    ("The *word* is long.", "단어는 깁니다.", "italics: 1 times"),
    ("<details><summary>Solution</summary>", "<summary>풀이</summary>", "tags missing: <details>"),
    ("## A title", "### 제목", "headings missing"),
    ("## A title", "## 제목입니다.", "full stop"),
    ("* one thing\n* another thing", "* 하나", "items of a list missing"),
    ("| a word | 2 |\n|---|---|\n| long | 3 |", "| 단어 | 2 |\n|---|---|", "cells of the table missing"),
    ("One text.\n\nAnother text.", "글 하나. 다른 글.", "not in the order"),
    ("```python\nx = 1\n```\n\nSo it is.", "```python\nx = 2\n```\n\n그렇습니다.", "code missing"),
    ("The encoder reads it.", "부호기가 읽습니다.", "term: for 'encoder' write 인코더"),
    ("A mask (마스크) hides.", "mask는 가립니다.", "has the Korean word '마스크'"),
    ("S1 writes “매우 큰 음수” here.", "S1은 여기에 “아주 큰 음수”라고 씁니다.", "has the Korean word '매우'"),
    ("The text is long, and nobody reads it.", "The text is long, and nobody reads it.", "no Korean"),
    ("It is long. The text goes on and on.", "깁니다. The text goes on and on.", "English left over"),
    ("You know this.", "당신은 이것을 압니다.", "당신"),
    ("It works.", "작동해요.", "해요체"),
    ("It works.", "작동한다.", "plain style"),
    ("It can be counted.", "세는 것, 곧 계산하는 것이 가능합니다.", "translationese"),
]


@pytest.mark.parametrize(("english", "korean"), RIGHT)
def test_a_right_translation_passes(english, korean):
    assert complaints(english, korean) == []


@pytest.mark.parametrize(("english", "korean", "why"), WRONG)
def test_a_wrong_translation_is_named(english, korean, why):
    found = complaints(english, korean)
    assert any(why in one for one in found), found


def test_a_note_lets_go_what_is_right_for_once():
    english, korean = "They turn their heads, 3 of them.", "그들은 고개를 돌립니다. 3명, 모두 5번입니다."
    assert len(complaints(english, korean)) == 2
    assert complaints(english, korean, notes="term: head\nnumber: 5") == []


def test_hints_and_quizzes_keep_what_is_put_in():
    english, korean = "this is {seq} numbers, and `x` is missing", "숫자가 {n}개이고 `x`가 없습니다"
    assert [one.partition(":")[0] for one in complaints(english, korean, "exercise look_up")] == [
        "what is put in missing",
        "what is put in not in the English",
    ]
    assert complaints(english, korean.replace("{n}", "{seq}"), "exercise look_up") == []


def test_names_of_the_glossary_stay():
    english = "head\n헤드\n  One of several attentions."
    assert complaints(english, "헤드\nhead\n  여러 어텐션 중 하나입니다.", "head") != []
    assert complaints(english, "head\n헤드\n  여러 어텐션 중 하나입니다.", "head") == []


def test_every_name_of_the_glossary_is_known():
    assert glossary()["attention"][0] == "어텐션" and glossary()["key"][0] == "키" and len(glossary()) > 150
