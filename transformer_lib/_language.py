"""The language in which the course speaks: English, or the one that TRANSFORMER_LIB_LANGUAGE names, such as `ko`."""

import functools
import json
import os
import re
from pathlib import Path


def language() -> str:
    """Return the language that was asked for, such as `ko`."""
    return os.environ.get("TRANSFORMER_LIB_LANGUAGE") or "en"


@functools.cache
def catalogue(language: str) -> dict[str, str]:
    """Return the translations into `language` by their English, from its PO file; none for English."""
    file = Path(__file__).with_name(f"{language}.po")
    if not file.exists():
        return {}
    from babel.messages.pofile import read_po

    with file.open("rb") as lines:
        return {message.id: message.string for message in read_po(lines) if message.id and message.string and not message.fuzzy}


def _(text: str, /, **values: object) -> str:
    """Return `text` in the reader's language, and only then put `values` in for its `{names}`."""
    words = catalogue(language()).get(text, text)
    return words.format(**values) if values else words


marked = str  # a text for the catalogue that a script looks up
_VALUE = re.compile(r"\$\{.+?\}")


def script_words(script: str) -> dict[str, str]:
    """Return what `_` of words.js looks up: the messages in `script` and in its data, with {} or {0} for a `${value}`."""
    words = {}
    for text, translation in catalogue(language()).items():
        in_data, in_code = json.dumps(text), json.dumps(text, ensure_ascii=False)
        if any(form in script for form in (f'": {in_data}', f"_({in_code})", f"_`{text}`")):
            places = {value: f"{{{place}}}" for place, value in enumerate(_VALUE.findall(text))}
            words[_VALUE.sub("{}", text)] = _VALUE.sub(lambda value, places=places: places[value[0]], translation)
    return words
