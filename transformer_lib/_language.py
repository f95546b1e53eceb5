"""The language in which the course speaks to its reader: English, or the one that the environment variable names.

Code says everything in English. Where a text is shown, `say` puts the translation in its place, if there is one. Whatever else
a text holds, such as numbers or the reader's own words, is carried over.
"""

import html
import json
import os
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files

VARIABLE = "TRANSFORMER_LIB_LANGUAGE"
# Where a value is put into a text: `{answer}` in the messages, as in the code.
HOLE = re.compile(r"\{[^{}]*\}")
# What a reader of HTML sees or hears: a text with a letter between two tags, or a label. Styles are found first, and stay.
SHOWN = re.compile(r"(?s:<style>.*?</style>)|(?<=>)[^<>]*[^\W\d_][^<>]*(?=<)|(?<=aria-label=\")[^\"]+(?=\")")


def language() -> str:
    """Return the code of the reader's language, such as "ko": what TRANSFORMER_LIB_LANGUAGE says, or "en"."""
    return os.environ.get(VARIABLE) or "en"


def say(text: str) -> str:
    """Return `text` in the reader's language, or as it is where nobody has translated it."""
    return _speaker(language())(text)


def say_in_html(picture: str) -> str:
    """Return HTML or SVG whose texts and labels are in the reader's language."""
    if language() == "en":
        return picture

    def said(found: re.Match) -> str:
        words = found[0].strip()
        return found[0].replace(words, html.escape(say(html.unescape(words)))) if words[0] != "<" else found[0]

    return SHOWN.sub(said, picture)


def script_texts(*names: str) -> dict[str, str]:
    """Return the texts of the scripts `names` in the reader's language, by the English ones."""
    of_scripts = _translations(language())["scripts"]
    return {english: text for name in names for english, text in of_scripts.get(name, {}).items()}


@cache
def _translations(code: str) -> dict[str, dict]:
    if code == "en":
        return {"texts": {}, "scripts": {}}
    path = files("transformer_lib") / "locales" / f"{code}.json"
    if not path.is_file():
        known = sorted(path.name.removesuffix(".json") for path in (files("transformer_lib") / "locales").iterdir())
        raise ValueError(f"{VARIABLE} is {code!r}, expected en or one of: {', '.join(known)}")
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def _speaker(code: str) -> Callable[[str], str]:
    known = _translations(code)["texts"]
    # What has more words of its own is asked first: it can be nothing else.
    holed = sorted((text for text in known if HOLE.search(text)), key=lambda text: -len(HOLE.sub("", text)))
    # What is put in ends before a full stop, and not before the point of its own number.
    parts = ("(.*?)".join(map(re.escape, HOLE.split(text))).replace(r"(.*?)\.", r"(.*?)\.(?!\d)") for text in holed)
    patterns = [(re.compile(part, re.DOTALL), text) for part, text in zip(parts, holed, strict=True)]

    def speak(text: str) -> str:
        if not known:
            return text
        if text in known:
            return known[text]
        for pattern, english in patterns:
            if found := pattern.fullmatch(text):
                return _filled(english, known[english], [speak(part) for part in found.groups()])
        return text

    return speak


def _filled(english: str, translated: str, values: list[str]) -> str:
    """Return the translation with the values in its holes. Holes of one name are filled in the order of the text."""
    left: dict[str, list[str]] = {}
    for hole, value in zip(HOLE.findall(english), values, strict=True):
        left.setdefault(hole, []).append(value)
    return HOLE.sub(lambda hole: left[hole[0]].pop(0) if len(left[hole[0]]) > 1 else left[hole[0]][0], translated)
