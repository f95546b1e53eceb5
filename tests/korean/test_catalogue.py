"""PO files brought up to date: what is new, what has changed and what is gone; and forms that are filled in."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tools.translate import __main__ as translate
from tools.translate import catalogue, messages
from tools.translate.messages import Message
from tools.translate.scripts import literals
from transformer_lib.teaching.figures import live


@pytest.fixture
def source(tmp_path):
    """A source of three messages, whose PO file is in step and translated but for the last."""
    now = [Message("title", "A title"), Message("text", "It is as long as it was."), Message("text", "Another one.")]
    made = SimpleNamespace(name="a", catalogue=tmp_path / "a.po", messages=lambda: made.now, now=now)
    catalogue.write(made, catalogue.updated(made, catalogue.read(made)))
    file = catalogue.read(made)
    for entry, korean in zip(file, ("제목", "전과 같이 깁니다.", "")):
        entry.msgstr = korean
    catalogue.write(made, file)
    return made


def update(source):
    return [(entry.msgid, entry.msgstr, entry.fuzzy, entry.previous_msgid) for entry in translate.update(source)]


def test_what_stays_keeps_its_translation_and_its_bytes(source):
    before = source.catalogue.read_bytes()
    assert [entry[1:3] for entry in update(source)] == [("제목", False), ("전과 같이 깁니다.", False), ("", False)]
    assert source.catalogue.read_bytes() == before


def test_what_has_changed_is_marked_and_keeps_the_english_of_before(source):
    source.now = [source.now[0], Message("text", "It is not as long as it was."), source.now[2]]
    changed = ("It is not as long as it was.", "전과 같이 깁니다.", True, "It is as long as it was.")
    for _ in range(2):  # it stays so until somebody has looked at it
        assert update(source)[1] == changed
    assert "text: the English has changed; correct the Korean and take the mark `fuzzy` away" in translate.problems(source)


def test_a_change_is_found_before_the_file_is_brought_up_to_date(source):
    source.now = [Message("title", "Another title"), *source.now[1:]]
    found = translate.problems(source)
    assert any("new or has changed" in one for one in found) and any("no longer in the English" in one for one in found)


def test_what_is_gone_is_kept_as_obsolete(source):
    source.now = source.now[1:]
    update(source)
    assert [entry.msgstr for entry in catalogue.read(source).obsolete_entries()] == ["제목"]
    source.now = [Message("title", "A title"), *source.now]
    assert update(source)[0][1] == "제목" and not catalogue.read(source).obsolete_entries()


def test_a_form_is_taken_whatever_stands_in_its_texts(source):
    source.now = [*source.now[:2], Message("text", 'A "quote", $\\sqrt{2}$.\n\n| a |\n\n> more')]
    form = translate.as_form([entry for entry in translate.update(source) if catalogue.is_open(entry)])
    korean = '"인용", $\\sqrt{2}$.\n\n| 가 |\n\n> 더'
    assert translate.take(source, form.replace(">>>\n", f">>>\n{korean}\n").replace("<<<", "# term: quote\n<<<", 1)) == []
    entry = catalogue.read(source)[-1]
    assert (entry.msgstr, entry.tcomment) == (korean, "term: quote")
    assert translate.take(source, form.replace("quote", "word")) == ["text"]


@pytest.mark.parametrize("figure", messages.SHOWN)
def test_what_a_figure_shows_alone_is_in_the_figure(figure):
    """The list is kept by hand: a word that the figure shows no longer would be translated for nobody."""
    folder = Path(live.__file__).parent
    texts = {text for text, _ in literals((folder / f"{figure}.js").read_text(encoding="utf-8"))}
    drawn = (folder / f"{figure}.py").read_text(encoding="utf-8")
    assert [text for text in messages.SHOWN[figure] if text not in texts and f'"{text}"' not in drawn] == []
