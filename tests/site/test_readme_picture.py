"""The README's picture is today's drawing of the model, and a complete picture file."""

from xml.etree import ElementTree

from tools.readme_picture import PICTURE, picture


def test_the_picture_is_current():
    assert PICTURE.read_text(encoding="utf-8") == picture(), "run `make picture`"


def test_the_picture_is_whole_and_describes_itself():
    root = ElementTree.fromstring(picture())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("aria-label")
