"""The drawing of the model: every chapter has a box, one chapter is lit, and the bytes never change."""

import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from tools import notebooks
from transformer_lib.teaching import model_map
from transformer_lib.teaching.figures.model_map import CHAPTERS

LINKS = {stem: f"{number:02}_{stem}.html" for stem, (number, _) in CHAPTERS.items()}
SVG = "{http://www.w3.org/2000/svg}"
HTML = "{http://www.w3.org/1999/xhtml}"


def parse(picture):
    return ElementTree.fromstring(str(picture))


def drawings(picture):
    """The whole drawing, and the small one without words before it, where there is one."""
    found = list(parse(picture).iter(f"{SVG}svg"))
    return [svg for svg in found if svg.get("aria-label")] + [svg for svg in found if not svg.get("aria-label")]


def lit_chapters(drawing):
    kinds = [group.get("class", "").split() for group in drawing.iter(f"{SVG}g")]
    return {kind[-2] for kind in kinds if "box" in kind and kind[-1] == "lit"}


def test_the_chapters_are_numbered_without_a_gap():
    assert [number for number, _ in CHAPTERS.values()] == list(range(1, len(CHAPTERS) + 1))


@pytest.mark.parametrize("stem", CHAPTERS)
def test_a_chapter_lights_its_own_boxes_and_no_others(stem):
    assert [lit_chapters(drawing) for drawing in drawings(model_map(stem))] == [{stem}, {stem}]
    assert f"You are here: {CHAPTERS[stem][0]} · {CHAPTERS[stem][1]}" in model_map(stem)


def test_every_chapter_of_the_drawing_is_written():
    assert set(CHAPTERS) == {notebooks.module_name(path) for path in notebooks.all_notebooks()}


def test_nothing_is_lit_unless_asked():
    assert [lit_chapters(drawing) for drawing in drawings(model_map())] == [set()]
    assert "You are here" not in model_map()


@pytest.mark.parametrize("stem", ["encoder", "decoder"])
def test_a_stack_lights_its_frame(stem):
    for drawing in drawings(model_map(stem)):
        frames = [frame.get("class") for frame in drawing.iter(f"{SVG}rect") if "frame" in frame.get("class", "")]
        assert [frame for frame in frames if "lit" in frame] == [f"frame {stem} lit"]


def doors(picture):
    """The links of the drawing, each with its box."""
    boxes = [group for group in parse(picture).iter(f"{SVG}g") if group.get("class") == "door"]
    return [(next(box.iter(f"{HTML}a")), box) for box in boxes]


def test_every_chapter_can_be_reached():
    links = doors(model_map(links=LINKS))
    assert {link.get("href") for link, _ in links} == set(LINKS.values())
    for link, box in links:
        stem = next(stem for stem in LINKS if LINKS[stem] == link.get("href"))
        words = " ".join(text.text for text in box.iter(f"{SVG}text") if text.get("class") != "number")
        name = words.replace("- ", "-")
        assert link.get("aria-label") == f"{name}, chapter {CHAPTERS[stem][0]}: {CHAPTERS[stem][1]}"


def test_the_map_in_a_chapter_leads_to_the_notebooks_beside_it():
    """JupyterLab opens them in a tab."""
    assert {link.get("href") for link, _ in doors(model_map("masks"))} == {path.name for path in notebooks.all_notebooks()}
    assert not doors(model_map())


def test_only_chapters_with_an_address_are_links():
    assert [link.get("href") for link, _ in doors(model_map(links={"masks": "a.html?b&c"}))] == ["a.html?b&c"]


def test_it_is_a_picture_with_a_name_unless_it_has_links():
    (linked, small), (still,) = drawings(model_map("text")), drawings(model_map())
    assert still.get("role") == "img"
    assert small.get("aria-hidden") == "true"  # the words beside it say the same
    assert linked.get("role") != "img"


def test_two_maps_on_a_page_share_no_ids():
    assert not re.search(r"\bid=", model_map("text"))


def test_it_needs_no_script_and_no_network():
    address = r"https?:(?!//www\.w3\.org/(2000/svg|1999/xhtml)\")"
    assert not re.search(rf"<script|url\(|\son\w+=|@import|{address}", model_map("text", links=LINKS))


def test_plain_text_is_short():
    assert repr(model_map("text")) == "model_map('text')"
    assert repr(model_map()) == "model_map()"


UNKNOWN = [("text2", None, "lit names 'text2'"), (None, {"x": ""}, "links names 'x'")]


@pytest.mark.parametrize(("lit", "links", "message"), UNKNOWN)
def test_an_unknown_chapter_is_refused_and_the_known_are_named(lit, links, message):
    with pytest.raises(ValueError, match=f"{message}.*seq2seq, .*bug_museum"):
        model_map(lit, links=links)


def test_the_bytes_are_the_same_on_every_run():
    program = """
import hashlib
from transformer_lib.teaching import Question, figures, model_map, quiz
question = Question("Why?", answers=[("a", "b"), ("c", "d")], correct=0)
shown = [model_map("text", links={"text": "a", "masks": "b"}), quiz(question)._repr_html_()]
shown += [figures.matrix_table([[1, 2]], name="P")._repr_html_()]
print(hashlib.sha256("".join(shown).encode()).hexdigest())
"""

    def run(seed):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True).stdout

    assert run("1") == run("2")
