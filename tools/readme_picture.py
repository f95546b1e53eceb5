"""Write the README's picture, which is the drawing of the whole model: `make picture`."""

from pathlib import Path

from lxml import etree

from transformer_lib.teaching import model_map

PICTURE = Path(__file__).resolve().parent.parent / "book" / "_static" / "model-map.svg"


def picture():
    """Return the drawing as an SVG file, in its light colours: a README cannot tell which theme its reader has."""
    style, drawing = etree.fromstring(model_map())
    style.tag = etree.QName(drawing, "style")  # in HTML it stands beside the drawing
    drawing.insert(0, style)
    drawing.attrib.update({"class": "tl-map", "style": "margin:0;padding:0", "width": "432"})
    return etree.tostring(drawing, encoding="unicode") + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    print(f"wrote {PICTURE.name}")
