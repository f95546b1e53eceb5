"""Cut a font down to the characters that the book shows."""

from io import BytesIO

from fontTools import subset
from fontTools.ttLib import TTFont


def cut_font(source, characters):
    """Return `source` as a WOFF font with no other characters than these; None where it has none of them."""
    options = subset.Options(name_IDs=["*"], notdef_outline=True)  # the names hold the license
    options.drop_tables += ["FFTM"]  # when a font editor saved the file
    font = TTFont(source)
    kept = set(map(ord, characters)) & set(font.getBestCmap())
    if not kept:
        return None
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=kept)
    subsetter.subset(font)
    font.flavor = "woff"
    file = BytesIO()
    font.save(file)
    return file.getvalue()
