"""The site's list of licences names each file that others made, and nothing that the site does not serve."""

import re
from types import SimpleNamespace

import licences
import pytest
from built_site import ROOT

WORK = re.compile(r"^(.+) · (.+)\n-+\n\n((?:  .+\n)+)\n", re.MULTILINE)


@pytest.mark.parametrize("site", [".", "ko"])
def test_each_file_is_ours_or_somebodys_whose_licence_stands_there(html, site):
    site = html / site
    text = (site / licences.LIST).read_text(encoding="utf-8")
    found = list(WORK.finditer(text))
    names = [name for work in found for name in work[3].split()]
    assert [name for name in names if not (site / name).is_file()] == []
    made = {"_static/site.css", "_static/site.js", "_static/search_terms.js", "licences.txt", ".buildinfo", "sitemap.xml"}
    made |= {f"_static/translator/{name}.js" for name in ("weights", "captions", "language")}
    ours = {f"_static/{path.relative_to(ROOT / 'book' / '_static').as_posix()}" for path in (ROOT / "book/_static").rglob("*")}
    others = [path.relative_to(site) for path in site.rglob("*") if path.is_file()]
    others = {path.as_posix() for path in others if path.suffix != ".html" or path.parts[0] == "_static"}
    others = {name for name in others if not name.startswith(("_sources/", "_images/", "ko/"))}
    assert others - made - ours - set(names) == set()
    ends = [work.start() for work in found[1:]] + [len(text)]
    for work, end in zip(found, ends, strict=True):
        terms = text[work.end() : end]
        assert len(terms) > 1000 and "copyright" in terms.lower(), work[1]


def test_a_file_that_nobody_made_is_a_warning(tmp_path, monkeypatch):
    folders = SimpleNamespace(outdir=tmp_path / "html", confdir=tmp_path, config=SimpleNamespace(html_static_path=["own"]))
    folders.builder = SimpleNamespace(format="html")
    for name in ("html/_static/basic.css", "html/_static/mine.css", "html/_static/new.js", "own/mine.css"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    warned = []
    monkeypatch.setattr(licences.logger, "warning", lambda text, *values: warned.append(text % values))
    licences.write_list(folders, None)
    assert [text.partition(":")[0] for text in warned] == ["new.js"]
    text = (tmp_path / "html" / licences.LIST).read_text(encoding="utf-8")
    assert "  _static/basic.css\n" in text and "mine.css" not in text and "MathJax" not in text
