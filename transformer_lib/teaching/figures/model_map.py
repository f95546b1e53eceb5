"""The drawing of the whole course: the paper's model, what came before it, and what makes it work."""

import html
import re
from collections.abc import Mapping
from pathlib import Path

from transformer_lib.teaching.figures.theme import stylesheet

_HERE = Path(__file__).parent
_RULES = (_HERE / "model_map.css").read_text("utf-8")
_DRAWING = "".join(map(str.strip, (_HERE / "model_map.svg").read_text("utf-8").splitlines()))
# A box with its link: the box, the link up to its address, the chapter's number and stem, the rest of the link.
_LINKED = re.compile(r'<g class="door">(.*?)(<foreignObject.*?href=")(\d\d)_(\w+)\.ipynb(".*?</foreignObject>)</g>')

# Every chapter of the course: its number and its title.
CHAPTERS: dict[str, tuple[int, str]] = {
    stem: (int(number), html.unescape(title))
    for number, stem, title in sorted(
        re.findall(r'href="(\d\d)_(\w+)\.ipynb" aria-label="[^"]*, chapter \d+: ([^"]*)"', _DRAWING)
    )
}


class ModelMap(str):
    """The drawing as HTML text, which a notebook shows as a picture; see `model_map`."""

    lit: str | None

    def __repr__(self) -> str:
        return f"model_map({'' if self.lit is None else repr(self.lit)})"

    def _repr_html_(self) -> str:
        return str(self)


def model_map(lit: str | None = None, *, links: Mapping[str, str] | None = None) -> ModelMap:
    """Return the drawing of the whole course; with the boxes of chapter `lit` lit, it is folded below a small one.

    `links` maps chapters to addresses; without it, a folded drawing leads to the notebooks beside the one that shows it.
    Raises `ValueError` for a stem that is not a chapter's.
    """
    if links is None:
        links = {stem: f"{number:02}_{stem}.ipynb" for stem, (number, _) in CHAPTERS.items()} if lit else {}
    if unknown := {*links, *([lit] if lit else [])} - CHAPTERS.keys():
        raise ValueError(f"{sorted(unknown)} are no chapters; known are {', '.join(CHAPTERS)}")

    def linked(found: re.Match) -> str:
        box, before, _, stem, after = found.groups()
        return f'<g class="door">{box}{before}{html.escape(links[stem])}{after}</g>' if stem in links else box

    # A picture has one name; a drawing with links is a group, so that each link can be reached and read.
    drawing = _LINKED.sub(linked, _DRAWING if links else _DRAWING.replace('role="group"', 'role="img"'))
    if lit:
        drawing = re.sub(rf'(class="(?:frame|box)[^"]* {lit})"', r'\1 lit"', drawing)
        frames = re.findall(r'<rect class="frame[^>]*>', drawing)
        boxes = re.findall(r'<g class="box[^>]*><rect[^>]*>', drawing)
        lit_box = next(box for box in boxes if " lit" in box)
        left, top, width, height = map(int, re.findall(r' (?:x|y|width|height)="(\d+)"', lit_box))
        x, y = left + width - 12, top + height // 2 + 9  # the point of the pin
        pin = f'<path class="pin" d="M{x} {y}c-2 -5 -6 -7 -6 -12a6 6 0 0 1 12 0c0 5 -4 7 -6 12z"/>'
        pin += f'<circle class="hole" cx="{x}" cy="{y - 12}" r="2.2"/>'
        drawing = drawing.replace("</svg>", f'<g class="lit">{pin}</g></svg>')
        small = re.sub(r"role=.*", 'aria-hidden="true">', drawing[: drawing.index(">") + 1])
        small += "".join([*frames, *(f"{box}</g>" for box in boxes)]) + "</svg>"
        number, title = CHAPTERS[lit]
        here = f"<span>You are here: {number} · {html.escape(title)} <small>Open the map of the course</small></span>"
        drawing = f"<details><summary>{small}{here}</summary>{drawing}</details>"
    picture = ModelMap(f'<div class="tl-map">{stylesheet("tl-map", _RULES)}{drawing}</div>')
    picture.lit = lit
    return picture
