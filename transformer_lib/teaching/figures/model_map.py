"""The drawing of the whole course: the paper's model, what came before it, and what makes it work."""

import html
import re
from collections.abc import Mapping
from pathlib import Path

from transformer_lib.teaching.figures.theme import stylesheet

_HERE = Path(__file__).parent


def model_map(links: Mapping[str, str]) -> str:
    """Return the drawing as HTML; `links` maps each chapter, such as "attention", to its address."""
    drawing = "".join(map(str.strip, (_HERE / "model_map.svg").read_text("utf-8").splitlines()))
    drawing = re.sub(r'href="\d\d_(\w+)\.ipynb"', lambda found: f'href="{html.escape(links[found[1]])}"', drawing)
    rules = (_HERE / "model_map.css").read_text("utf-8")
    return f'<div class="tl-map">{stylesheet("tl-map", rules)}{drawing}</div>'
