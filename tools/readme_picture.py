"""Write the README's picture, which is the drawing of the whole model: `make picture`."""

import re
from pathlib import Path

from transformer_lib.teaching import model_map

PICTURE = Path(__file__).resolve().parent.parent / "book" / "_static" / "model-map.svg"


def picture():
    """Return the drawing as an SVG file, in its light colours: a README cannot tell which theme its reader has."""
    parts = re.fullmatch(r'<div class="tl-map">(?P<style><style>.*</style>)<svg (?P<drawing>.*)</div>', model_map(), re.DOTALL)
    opening, closing, rest = parts["drawing"].partition(">")
    return f'<svg class="tl-map" style="margin:0;padding:0" width="432" {opening}{closing}{parts["style"]}{rest}\n'


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    print(f"wrote {PICTURE.name}")
