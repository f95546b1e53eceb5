"""The texts in the code that are translated, and how Babel finds those that no `_` marks; see ko/babel.cfg."""

import ast
import re
from html import unescape
from pathlib import Path

from babel.messages import extract, frontend

from tools import notebooks
from transformer_lib._language import catalogue


def questions(file, keywords, comment_tags, options):
    """Yield the texts of each `Question` in a quiz's file, as Babel wants them."""
    for call in ast.walk(ast.parse(file.read())):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "Question":
            parts = [part for part in ast.walk(call) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            yield from ((part.lineno, "_", part.value, []) for part in parts)


def markup(file, keywords, comment_tags, options):
    """Yield the texts that a drawing or a piece of a page shows, as Babel wants them."""
    from transformer_lib.teaching.figures.live.figure import SHOWN  # torch takes seconds

    shown = [unescape(found[3].strip()) for found in SHOWN.finditer(file.read().decode()) if found[3]]
    yield from ((1, "_", text, []) for text in shown if re.search("[A-Za-z]{2}", text))


def missing():
    """Say which texts of the code have no Korean in ko.po."""
    with open(notebooks.ROOT / "ko" / "babel.cfg", encoding="utf-8") as settings:
        methods, options = frontend.parse_mapping_cfg(settings)
    ours = lambda folder: not Path(folder).name.startswith((".", "_build"))
    found = extract.extract_from_dir(notebooks.ROOT, methods, options, {"_": None, "marked": None}, directory_filter=ours)
    return [f"{file}: no Korean: {text}" for file, _, text, *_ in found if text not in catalogue("ko")]
