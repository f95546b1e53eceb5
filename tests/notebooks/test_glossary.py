"""The glossary is true: a term has one name in each language in all chapters, and no chapter uses it before one explains it."""

import re
from functools import cache
from typing import NamedTuple

import nbformat
import pytest
from reading import CHAPTERS, cells_of, prose

from tools import notebooks

GLOSSARY = notebooks.ROOT / "book" / "glossary.md"
# The one page that explains terms and is no chapter; it comes after all of them.
AFTER = notebooks.ROOT / "book" / "after.md"
PATHS = {path.stem: path for path in (*CHAPTERS, AFTER)}

# Terms that may stand before the chapter that explains them, since each is an everyday word as well.
EVERYDAY = {
    "key": "what a dictionary is looked up by",
    "memory": "what every recurrent cell has, and every computer",
    "relative position": "where one thing stands, seen from another",
    "value": "any number",
}

KOREAN = r"(?:[a-z]-)?[가-힣]+(?:[ ·-][가-힣]+)*"
ALSO = rf"{KOREAN}|KV 캐시"  # a second name may have Latin letters
SECTION = re.compile(r"^## (?P<letter>\w)\n\n```\{glossary\}\n(?P<inside>.*?)^```$", re.DOTALL | re.MULTILINE)
ENTRY = re.compile(r"^(?P<english>\S.*)\n(?P<korean>\S.*)\n(?P<also>(?:\S.*\n)*)(?P<text>(?:  .+\n)+)", re.MULTILINE)
LINK = re.compile(r"\]\((?:\.\./(?:notebooks|book)/)?(?P<stem>\d\d_\w+|after)\.(?:ipynb|md)[^)]*\)")


class Term(NamedTuple):
    """An entry: its names, what it says, and the chapters that it links to, first the one that explains the term.

    `also` holds further Korean names; the chapters say the first one.
    """

    english: str
    korean: str
    also: tuple
    text: str
    chapters: tuple


def terms_of(section):
    return [
        Term(
            entry["english"],
            entry["korean"],
            tuple(entry["also"].splitlines()),
            entry["text"],
            tuple(link["stem"] for link in LINK.finditer(entry["text"])),
        )
        for entry in ENTRY.finditer(section["inside"])
    ]


SECTIONS = {section["letter"]: terms_of(section) for section in SECTION.finditer(GLOSSARY.read_text(encoding="utf-8"))}
TERMS = [term for terms in SECTIONS.values() for term in terms]
STEMS = list(PATHS)


def spellings(english):
    """Return a pattern for a term, its plural, and a hyphen in place of a space."""
    word = re.escape(english).replace(r"\ ", "[ -]")
    plurals = {"y": word[:-1] + "ies", "is": word[:-2] + "es"}
    other = [plural for end, plural in plurals.items() if english.endswith(end)]
    return "(?:" + "|".join([*other, f"{word}(?:e?s)?"]) + ")"


# The longest one first: *cell state* is no use of *state*.
LONGEST_FIRST = sorted(TERMS, key=lambda term: len(term.english), reverse=True)
USES = re.compile(
    r"(?<![\w-])(?:" + "|".join(f"({spellings(term.english)})" for term in LONGEST_FIRST) + r")(?![\w-])", re.IGNORECASE
)


def plain(text):
    """Return Markdown in one line, without its stars and with the words of links alone."""
    return " ".join(re.sub(r"[*_]+", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)).split())


def introduces(text, term):
    """Whether plain text has the English term and, right behind it, the Korean one: `a (b)` or `(a, b)`."""
    form = rf"(?<![\w-]){spellings(term.english)}(?: \(|, ){term.korean}(?! ?[가-힣])"
    return re.search(form, text, re.IGNORECASE)


def sentences(cell):
    """Return the sentences, lines of lists and rows of tables of a cell, without headings, code and formulas."""
    text = re.sub(r"^#+ .*$", "", prose(cell), flags=re.MULTILINE)
    for hidden in (r"\$\$.*?\$\$", r"`[^`]*`", r"\$[^$\n]*\$", r"</?\w+>"):
        text = re.sub(hidden, "…", text, flags=re.DOTALL)
    found = []
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[*|>]|\d+\.) ?)", text):
        found += re.split(r"(?<=[.!?])[\"')*]*\s+(?=[A-Z*\[(“\"])", block)
    return found


@cache
def texts(path, *, title=False):
    """Return the Markdown cells of a chapter, with its title or without; another page is one cell."""
    if path == AFTER:
        return [nbformat.v4.new_markdown_cell(path.read_text(encoding="utf-8"), id=path.stem)]
    return [cell for cell in cells_of(notebooks.read(path), "markdown") if title or cell.id not in ("title", "colab-badge")]


@pytest.fixture(params=PATHS.values(), ids=PATHS)
def path(request):
    return request.param


def test_the_file_is_read_completely():
    """A line that the pattern above does not fit would be a term that no test sees."""
    lines = GLOSSARY.read_text(encoding="utf-8").splitlines()
    names = [line for line in lines[lines.index("## A") :] if line and not line.startswith((" ", "#", "```"))]
    assert names == [name for term in TERMS for name in (term.english, term.korean, *term.also)]
    assert all(re.fullmatch(KOREAN, term.korean) for term in TERMS)
    assert all(re.fullmatch(ALSO, name) for term in TERMS for name in term.also)


def test_alphabetical_order():
    names = [re.sub("[–→]", "-", term.english.lower()) for term in TERMS]
    assert names == sorted(names)
    assert {letter for letter, terms in SECTIONS.items() for term in terms if term.english[0].upper() != letter} == set()


def test_one_name_in_each_language():
    english = [term.english.lower() for term in TERMS]
    korean = [name for term in TERMS for name in (term.korean, *term.also)]
    assert len(set(english)) == len(english)
    assert len(set(korean)) == len(korean)


def test_each_link_leads_to_both_names():
    """The first chapter says them in its text; a further one may say them in its title."""
    for term in TERMS:
        assert term.chapters and set(term.chapters) <= set(STEMS), term.english
        assert list(term.chapters) == sorted(term.chapters), term.english
        for stem in term.chapters:
            cells = texts(PATHS[stem], title=stem != term.chapters[0])
            said = plain("\n\n".join(prose(cell) for cell in cells))
            assert introduces(said, term), f"{stem} does not say: {term.english} ({term.korean})"


def test_no_term_before_its_explanation(path):
    """Nor before its explanation within a chapter; a sentence with a link to the chapter that explains it may use it."""
    here = STEMS.index(path.stem)
    known = {term for term in TERMS if STEMS.index(term.chapters[0]) < here or term.english in EVERYDAY}
    early = []
    for cell in texts(path):
        for sentence in sentences(cell):
            linked = {link["stem"] for link in LINK.finditer(sentence)}
            text = plain(sentence)
            for use in USES.finditer(text):
                term = LONGEST_FIRST[use.lastindex - 1]
                if term.chapters[0] == path.stem and introduces(text, term):
                    known.add(term)
                if term not in known and term.chapters[0] not in linked:
                    around = text[max(0, use.start() - 40) : use.end() + 20]
                    early.append(f"{cell.id}: {term.english} ({term.chapters[0]}): …{around}…")
    assert not early, "explain it there, or link to the chapter that explains it"


def test_each_korean_term_is_in_the_glossary(path):
    """Behind its English term, and it is the one that the glossary has."""
    unknown = []
    for cell in texts(path):
        text = plain(prose(cell))
        for found in re.finditer(rf"(?:\(|, )(?P<korean>{KOREAN})", text):
            same = [term for term in TERMS if term.korean == found["korean"]]
            if not any(introduces(text[max(0, found.start() - 50) : found.end() + 2], term) for term in same):
                unknown.append(f"{cell.id}: …{text[max(0, found.start() - 30) : found.end() + 1]}")
    assert not unknown
