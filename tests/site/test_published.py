"""What only a published site has: its pages' addresses, a map for search engines, and a page for wrong addresses."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from built_site import ROOT, leaves_the_site

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from published import site_address

from tools.address import with_value

ADDRESSES = {
    "https://github.com/OWNER/REPOSITORY": "https://owner.github.io/REPOSITORY/",
    "https://github.com/OWNER/owner.github.io": "https://owner.github.io/",
    "": "",
}


@pytest.mark.parametrize(("repository", "address"), ADDRESSES.items())
def test_where_github_shows_a_repository(repository, address):
    assert site_address(repository) == address


def test_a_published_site_has_a_map_and_canonical_addresses(tmp_path):
    shutil.copytree(ROOT / "book" / "_ext", tmp_path / "book" / "_ext")
    shutil.copytree(ROOT / "book" / "_static", tmp_path / "book" / "_static")
    shutil.copytree(ROOT / "book" / "_templates", tmp_path / "book" / "_templates")
    (tmp_path / "book" / "references.bib").write_text("", encoding="utf-8")
    (tmp_path / "book" / "index.md").write_text("# A course of one page\n", encoding="utf-8")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/index\n", encoding="utf-8")
    text = (ROOT / "_config.yml").read_text(encoding="utf-8")
    text = with_value(text, "repository", "url", "https://github.com/OWNER/REPOSITORY")
    (tmp_path / "_config.yml").write_text(text, encoding="utf-8")
    build = [Path(sys.executable).with_name("jupyter-book"), "build", "--quiet", tmp_path]
    finished = subprocess.run(build, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    site, page = tmp_path / "_build" / "html", "https://owner.github.io/REPOSITORY/book/index.html"
    places = ElementTree.parse(site / "sitemap.xml").iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")
    assert [place.text for place in places] == [page]
    assert f'<link rel="canonical" href="{page}"' in (site / "book" / "index.html").read_text("utf-8")
    missing = (site / "404.html").read_text("utf-8")
    assert set(re.findall(r'href="([^"]*)"', missing)) >= {page}
    assert not re.search(r'href="(?!https://owner\.github\.io/REPOSITORY/)', missing)


def test_the_page_for_wrong_addresses_works_without_an_address(html, visit):
    seen = visit(f"{html.as_uri()}/404.html")
    targets = seen.page.locator("a").evaluate_all("links => links.map(link => link.href)")
    assert targets and not any(leaves_the_site(target, html.as_uri()) for target in targets)
    assert all((html / target.removeprefix(f"{html.as_uri()}/")).is_file() for target in targets)
    assert seen.complaints == []
    seen.page.close()
