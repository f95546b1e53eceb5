"""The drawing of the whole course: the paper's model, what came before it, and what makes it work."""

import html
from collections.abc import Mapping
from dataclasses import dataclass

from transformer_lib._language import say_in_html
from transformer_lib.teaching.figures.theme import stylesheet

# Every chapter of the course: its number and its title.
CHAPTERS: dict[str, tuple[int, str]] = {
    "seq2seq": (1, "The limits of seq2seq"),
    "recurrent": (2, "Inside RNN, LSTM and GRU"),
    "text": (3, "From text to batches"),
    "alignment": (4, "Attention as a repair"),
    "positional_encoding": (5, "Positional encoding"),
    "attention": (6, "Multi-head attention"),
    "encoder": (7, "The encoder"),
    "masks": (8, "Masking"),
    "decoder": (9, "The decoder"),
    "transformer": (10, "The whole Transformer"),
    "schedule": (11, "The learning rate"),
    "training": (12, "The training loop"),
    "decoding": (13, "Decoding"),
    "translation": (14, "A translator"),
    "interpretation": (15, "What it has learned"),
    "real_sentences": (16, "Real sentences"),
    "scaling": (17, "From this laptop to the paper"),
    "bug_museum": (18, "The bug museum"),
}


@dataclass(frozen=True)
class _Box:
    chapter: str
    left: int
    top: int
    width: int
    height: int
    lines: tuple[str, ...]
    kind: str = "box"


def _strip(top: int, chapters: list[tuple[str, str]]) -> list[_Box]:
    """Return boxes in two columns, for the chapters that are not part of the model itself."""
    return [
        _Box(chapter, 2 + 181 * (index % 2), top + 32 * (index // 2), 175, 26, (words,))
        for index, (chapter, words) in enumerate(chapters)
    ]


# The drawing is 360 units wide. The encoder's column is centred at 94, the decoder's at 266, and data flows down.
# The first box of a chapter is the one that carries the mark "you are here".
_BOXES: list[_Box] = [
    *_strip(
        20,
        [
            ("seq2seq", "Limits of seq2seq"),
            ("recurrent", "RNN, LSTM, GRU"),
            ("text", "Text to batches"),
            ("alignment", "First attention"),
        ],
    ),
    _Box("transformer", 24, 138, 140, 26, ("Embedding",)),
    _Box("transformer", 196, 138, 140, 26, ("Embedding",)),
    _Box("positional_encoding", 122, 174, 116, 38, ("Positional", "encoding"), "box position"),
    _Box("encoder", 24, 346, 140, 34, ("Feed forward",)),
    _Box("attention", 24, 250, 140, 52, ("Multi-head", "attention")),
    _Box("encoder", 7, 221, 82, 20, ("Encoder",), "box head"),
    _Box("encoder", 24, 312, 140, 20, ("Add & norm",)),
    _Box("encoder", 24, 390, 140, 20, ("Add & norm",)),
    _Box("masks", 196, 250, 140, 52, ("Masked", "multi-head", "attention")),
    _Box("encoder", 196, 312, 140, 20, ("Add & norm",)),
    _Box("decoder", 196, 346, 140, 34, ("Cross-", "attention")),
    _Box("decoder", 271, 221, 82, 20, ("Decoder",), "box head"),
    _Box("encoder", 196, 390, 140, 20, ("Add & norm",)),
    _Box("encoder", 196, 428, 140, 28, ("Feed forward",)),
    _Box("encoder", 196, 466, 140, 20, ("Add & norm",)),
    _Box("transformer", 196, 512, 140, 24, ("Linear",)),
    _Box("transformer", 196, 548, 140, 24, ("Softmax",)),
    *_strip(
        640,
        [
            ("schedule", "Learning rate"),
            ("training", "Training loop"),
            ("decoding", "Decoding"),
            ("translation", "A translator"),
            ("interpretation", "What it learned"),
            ("real_sentences", "Real sentences"),
            ("scaling", "Scaling up"),
            ("bug_museum", "The bug museum"),
        ],
    ),
]
_HEIGHT = 764

# A frame around each stack of layers: chapter, left, top, height.
_FRAMES = [("encoder", 2, 216, 204), ("decoder", 192, 216, 280)]

# Each arrow is a list of corners; the head is at the last one.
_ARROWS: list[list[tuple[int, int]]] = [
    *([(x, 127), (x, 138)] for x in (94, 266)),
    *([(x, 164), (x, 183)] for x in (94, 266)),
    [(122, 193), (104, 193)],
    [(238, 193), (256, 193)],
    *([(x, 203), (x, 250)] for x in (94, 266)),
    *([(x, 302), (x, 312)] for x in (94, 266)),
    *([(x, 332), (x, 346)] for x in (94, 266)),
    *([(x, 380), (x, 390)] for x in (94, 266)),
    [(94, 410), (94, 436), (180, 436), (180, 363), (196, 363)],
    [(266, 410), (266, 428)],
    [(266, 456), (266, 466)],
    [(266, 486), (266, 512)],
    [(266, 536), (266, 548)],
    [(266, 572), (266, 588)],
]
_RESIDUALS: list[list[tuple[int, int]]] = [
    [(94, 245), (13, 245), (13, 322), (24, 322)],
    [(94, 338), (13, 338), (13, 400), (24, 400)],
    [(266, 245), (347, 245), (347, 322), (336, 322)],
    [(266, 338), (347, 338), (347, 400), (336, 400)],
    [(266, 419), (347, 419), (347, 476), (336, 476)],
]

_WORDS = [
    ("heading", 2, 12, "Before the Transformer"),
    ("heading", 2, 102, "The Transformer"),
    ("heading", 2, 632, "Making it work"),
    ("token middle", 94, 122, "I am a student"),
    ("token middle", 266, 122, "<SOS> je suis étudiant"),
    ("token middle", 266, 602, "je suis étudiant <EOS>"),
    ("note end", 160, 236, "N ×"),
    ("note", 200, 236, "N ×"),
    ("note middle", 94, 451, "keys and values"),
    ("note", 30, 524, "data"),
    ("note", 30, 545, "residual connection"),
    ("note", 30, 566, "sum"),
    ("note", 30, 587, "repeated N times"),
]

_RULES = """
.tl-map{background:var(--tl-surface);color:var(--tl-ink);max-width:27rem;margin:.5rem auto;padding:.25rem;
  box-sizing:border-box;border-radius:.5rem}
.tl-map svg{display:block;width:100%;height:auto;overflow:visible}
.tl-map text{font:12.5px system-ui,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif;fill:var(--tl-ink)}
.tl-map .number{font-size:11.5px;fill:var(--tl-muted);font-variant-numeric:tabular-nums}
.tl-map .heading,.tl-map .head text:not(.number){font-weight:700}
.tl-map .token{font-style:italic}
.tl-map .note{font-size:12px;fill:var(--tl-muted)}
.tl-map .middle{text-anchor:middle}
.tl-map .end{text-anchor:end}
.tl-map rect{fill:var(--tl-card);stroke:var(--tl-line)}
.tl-map .position rect{stroke:var(--tl-position);stroke-width:2}
.tl-map .head rect{fill:none;stroke:none}
.tl-map .frame{fill:none;stroke-width:1.5}
.tl-map .frame.encoder{stroke:var(--tl-encoder)}
.tl-map .frame.decoder{stroke:var(--tl-decoder)}
.tl-map .encoder text{fill:var(--tl-encoder)}
.tl-map .decoder text{fill:var(--tl-decoder)}
.tl-map .line{fill:none;stroke:var(--tl-ink);stroke-width:1.4}
.tl-map .tip{fill:var(--tl-ink)}
.tl-map .residual .line{stroke:var(--tl-residual)}
.tl-map .residual .tip{fill:var(--tl-residual)}
.tl-map .sum{fill:var(--tl-surface);stroke:var(--tl-ink);stroke-width:1.4}
.tl-map .lit rect{fill:var(--tl-accent);stroke:var(--tl-ink);stroke-width:2.5}
.tl-map .head.lit rect{stroke:none}
.tl-map .lit text,.tl-map .lit .number{fill:var(--tl-on-accent)}
.tl-map .frame.lit{stroke:var(--tl-accent);stroke-width:4}
.tl-map .pin{fill:var(--tl-accent)}
.tl-map .hole{fill:var(--tl-on-accent)}
.tl-map .lit .pin{fill:var(--tl-on-accent)}
.tl-map .lit .hole{fill:var(--tl-accent)}
.tl-map details{margin:0;padding:0;border:0;background:none;box-shadow:none}
.tl-map summary{display:flex;gap:1rem;align-items:center;list-style:none;cursor:pointer;font-weight:700;color:var(--tl-ink)}
.tl-map summary::-webkit-details-marker{display:none}
.tl-map summary::before,.tl-map summary::after{content:none}
.tl-map summary svg{flex:none;width:5rem}
.tl-map summary :is(rect,.frame){stroke-width:4}
.tl-map summary small{display:block;font-weight:400;color:var(--tl-muted)}
.tl-map summary:focus-visible{outline:3px solid var(--tl-accent)}
.tl-map details[open] summary svg,.tl-map details[open] summary small{display:none}
.tl-map a{display:block;height:100%;outline:none}
.tl-map .door:hover rect{stroke:var(--tl-accent);stroke-width:2}
.tl-map .door:hover text{text-decoration:underline}
.tl-map .door:has(:focus-visible) rect{stroke:var(--tl-accent);stroke-width:4;stroke-dasharray:6 2}
.tl-map .door:has(:focus-visible) .lit rect{stroke:var(--tl-ink)}
"""


class ModelMap(str):
    """The drawing as HTML text, which a notebook shows as a picture; see `model_map`."""

    lit: str | None

    def __repr__(self) -> str:
        return f"model_map({'' if self.lit is None else repr(self.lit)})"

    def _repr_html_(self) -> str:
        return say_in_html(str(self))


def model_map(lit: str | None = None, *, links: Mapping[str, str] | None = None) -> ModelMap:
    """Return the drawing of the whole model and of the course around it, with the boxes of chapter `lit` lit.

    `lit` is a chapter's stem, such as "positional_encoding": then a small drawing without words says where in the course
    that is, and unfolds to the whole one. `links` maps stems to addresses; the boxes of those
    chapters become links. Without it the boxes of the unfolded drawing lead to the chapters' notebooks, which lie beside
    the one that shows it. Raises `ValueError` for a stem that is not a chapter's.
    """
    if links is None:
        links = {stem: f"{number:02}_{stem}.ipynb" for stem, (number, _) in CHAPTERS.items()} if lit else {}
    for argument, stem in [("lit", lit)] * (lit is not None) + [("links", stem) for stem in links]:
        if stem not in CHAPTERS:
            raise ValueError(f"{argument} names {stem!r}, which is no chapter; known are {', '.join(CHAPTERS)}")
    frames = "".join(
        f'<rect class="frame {chapter}{" lit" if chapter == lit else ""}" '
        f'x="{left}" y="{top}" width="166" height="{height}" rx="8"/>'
        for chapter, left, top, height in _FRAMES
    )
    drawing = [
        frames,
        *(f'<g class="residual">{_arrow(corners)}</g>' for corners in _RESIDUALS),
        *(_arrow(corners) for corners in _ARROWS),
        *(_sum(x, 193) for x in (94, 266)),
        *_legend(),
        *(f'<text class="{kind}" x="{x}" y="{y}">{html.escape(words)}</text>' for kind, x, y, words in _WORDS),
        *(_box(box, box.chapter == lit, links.get(box.chapter)) for box in _BOXES),
    ]
    description = "The Transformer, with the chapters of the course that build its parts"
    if lit is not None:
        first = next(box for box in _BOXES if box.chapter == lit)
        drawing.append(f'<g class="lit">{_pin(first.left + first.width - 12, first.top + first.height // 2 + 9)}</g>')
    # A picture has one name; a drawing with links is a group, so that each link can be reached and read.
    role = "group" if links else "img"
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 {_HEIGHT}"'
    whole = f'{svg} role="{role}" aria-label="{html.escape(description)}">{"".join(drawing)}</svg>'
    if lit is not None:
        number, title = CHAPTERS[lit]
        small = f'{svg} aria-hidden="true">{frames}{"".join(_box_without_words(box, lit) for box in _BOXES)}</svg>'
        here = f"<span>You are here: {number} · {html.escape(title)} <small>Open the map of the course</small></span>"
        whole = f"<details><summary>{small}{here}</summary>{whole}</details>"
    picture = ModelMap(f'<div class="tl-map">{stylesheet("tl-map", _RULES)}{whole}</div>')
    picture.lit = lit
    return picture


def _box(box: _Box, lit: bool, link: str | None) -> str:
    number, title = CHAPTERS[box.chapter]
    middle = box.top + box.height / 2
    first_line = middle + 4 - 7 * (len(box.lines) - 1)
    indent = 22 if "head" in box.kind else 27
    words = "".join(
        f'<text x="{box.left + indent}" y="{first_line + 14 * index:g}">{html.escape(line)}</text>'
        for index, line in enumerate(box.lines)
    )
    drawn = (
        f'<g class="{box.kind} {box.chapter}{" lit" if lit else ""}">'
        f'<rect x="{box.left}" y="{box.top}" width="{box.width}" height="{box.height}" rx="5"/>'
        f'<text class="number" x="{box.left + indent - 20}" y="{middle + 4:g}">{number:02}</text>{words}</g>'
    )
    if link is None:
        return drawn
    name = " ".join(box.lines).replace("- ", "-")  # what a line divides is one word to a voice
    label = html.escape(f"{name}, chapter {number}: {title}")
    # A link of HTML over the box: JupyterLab sets the address of every link, and one of SVG would refuse it with an error.
    anchor = f'<a xmlns="http://www.w3.org/1999/xhtml" href="{html.escape(link)}" aria-label="{label}"></a>'
    over = f'<foreignObject x="{box.left}" y="{box.top}" width="{box.width}" height="{box.height}">{anchor}</foreignObject>'
    return f'<g class="door">{drawn}{over}</g>'


def _box_without_words(box: _Box, lit: str) -> str:
    rect = f'<rect x="{box.left}" y="{box.top}" width="{box.width}" height="{box.height}" rx="5"/>'
    return f'<g class="{box.kind} {box.chapter}{" lit" if box.chapter == lit else ""}">{rect}</g>'


def _arrow(corners: list[tuple[int, int]]) -> str:
    """Return lines through `corners` with a head at the last one; every line runs along an axis."""
    (x0, y0), (x, y) = corners[-2:]
    along_x = (x > x0) - (x < x0)
    along_y = (y > y0) - (y < y0)
    back_x, back_y = x - 6 * along_x, y - 6 * along_y
    side_x, side_y = 3.5 * along_y, 3.5 * along_x
    line = " ".join(f"{a},{b}" for a, b in [*corners[:-1], (back_x, back_y)])
    tip = f"{x},{y} {back_x + side_x:g},{back_y + side_y:g} {back_x - side_x:g},{back_y - side_y:g}"
    return f'<polyline class="line" points="{line}"/><polygon class="tip" points="{tip}"/>'


def _sum(x: int, y: int, radius: int = 10) -> str:
    arm = radius // 2
    return (
        f'<circle class="sum" cx="{x}" cy="{y}" r="{radius}"/>'
        f'<path class="line" d="M{x - arm} {y}h{2 * arm}M{x} {y - arm}v{2 * arm}"/>'
    )


def _legend() -> list[str]:
    return [
        _arrow([(4, 520), (24, 520)]),
        f'<g class="residual">{_arrow([(4, 541), (24, 541)])}</g>',
        _sum(14, 562, radius=7),
        '<text class="note middle" x="14" y="587">N ×</text>',
    ]


def _pin(x: int, y: int) -> str:
    """Return a map pin whose point is at (x, y)."""
    return (
        f'<path class="pin" d="M{x} {y}c-2 -5 -6 -7 -6 -12a6 6 0 0 1 12 0c0 5 -4 7 -6 12z"/>'
        f'<circle class="hole" cx="{x}" cy="{y - 12}" r="2.2"/>'
    )
