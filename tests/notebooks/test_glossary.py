"""The glossary: each term has one name in each language, and the chapter that it links to says both."""

import re

from reading import CHAPTERS, cells_of

from tools import notebooks

ENTRY = re.compile(r"^(?P<english>\S.*)\n(?P<korean>\S.*)\n(?P<also>(?:\S.*\n)*)(?P<text>(?:  .+\n)+)", re.MULTILINE)
LINK = re.compile(r"\]\((?:\.\./(?:notebooks|book)/)?(?P<stem>\d\d_\w+|after)\.(?:ipynb|md)[^)]*\)")
PAGE = (notebooks.ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
TERMS = [term for block in re.findall(r"```\{glossary\}\n(.*?)^```$", PAGE, re.S | re.M) for term in ENTRY.finditer(block)]


def text_of(stem):
    """Return a page's words in one line, without stars and the addresses of links."""
    paths = {path.stem: path for path in CHAPTERS}
    if stem in paths:
        text = "\n\n".join(cell.source for cell in cells_of(notebooks.read(paths[stem]), "markdown"))
    else:
        text = (notebooks.ROOT / "book" / f"{stem}.md").read_text(encoding="utf-8")
    return " ".join(re.sub(r"[*_]+", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)).split())


def test_one_name_in_each_language():
    english = [term["english"].lower() for term in TERMS]
    korean = [name for term in TERMS for name in (term["korean"], *term["also"].splitlines())]
    assert len(english) > 100 and len(set(english)) == len(english) and len(set(korean)) == len(korean)


def test_each_link_leads_to_both_names():
    texts = {stem: text_of(stem) for stem in {link["stem"] for term in TERMS for link in LINK.finditer(term["text"])}}
    missing = []
    for term in TERMS:
        stem = LINK.search(term["text"])["stem"]
        words = re.escape(term["english"]).replace(r"\ ", "[ -]")
        if not re.search(rf"(?<![\w-])\w*{words[:-1]}\w*(?: \(|, ){term['korean']}(?! ?[가-힣])", texts[stem], re.IGNORECASE):
            missing.append(f"{stem} does not say: {term['english']} ({term['korean']})")
    assert not missing
