"""What only a published site has: its pages' addresses, a map for search engines, and buttons that open chapters in Colab.

And what every site has: a page for wrong addresses.
"""

import shutil
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
import yaml
from bs4 import BeautifulSoup, SoupStrainer
from built_site import PAGES, ROOT, leaves_the_site
from click.testing import CliRunner
from jupyter_book.cli.main import build
from published import site_address

from tools.address import COLAB, with_address

CHAPTERS = [page for page in PAGES if page.startswith("notebooks/")]
REPOSITORY = "https://github.com/OWNER/REPOSITORY"
ADDRESSES = {
    REPOSITORY: "https://owner.github.io/REPOSITORY/",
    "https://github.com/OWNER/owner.github.io": "https://owner.github.io/",
    "": "",
}
BUTTONS = SoupStrainer(class_="article-header-buttons")


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A course of a first page and one chapter that has an address: its folder, the chapter and the address of its site."""
    folder, chapter = tmp_path_factory.mktemp("course"), CHAPTERS[0]
    shutil.copytree(ROOT / "book", folder / "book", ignore=shutil.ignore_patterns("*.md", "__pycache__"))
    (folder / "book" / "index.md").write_text("# A course of one chapter\n", encoding="utf-8")
    (folder / "notebooks").mkdir()
    shutil.copy(ROOT / f"{chapter}.ipynb", folder / "notebooks")
    contents = {"format": "jb-book", "root": "book/index", "chapters": [{"file": chapter}]}
    (folder / "_toc.yml").write_text(yaml.safe_dump(contents), encoding="utf-8")
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "_config.yml")]
    (folder / "_config.yml").write_text(with_address(*texts, REPOSITORY, "main")[1], encoding="utf-8")
    finished = CliRunner().invoke(build, ["--quiet", str(folder)])
    assert finished.exit_code == 0, finished.output
    return SimpleNamespace(html=folder / "_build" / "html", chapter=chapter, address=ADDRESSES[REPOSITORY])


def launch_links(html, page):
    content = BeautifulSoup((html / f"{page}.html").read_bytes(), "html.parser", parse_only=BUTTONS)
    return content, [link["href"] for link in content.select("a[href]") if COLAB in link["href"]]


@pytest.mark.parametrize(("repository", "address"), ADDRESSES.items())
def test_where_github_shows_a_repository(repository, address):
    assert site_address(repository) == address


def test_a_published_site_has_a_map_and_canonical_addresses(published):
    pages = [f"{published.address}{page}.html" for page in ("book/index", published.chapter)]
    places = ElementTree.parse(published.html / "sitemap.xml").iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")
    assert [place.text for place in places] == pages
    first = BeautifulSoup((published.html / "book" / "index.html").read_bytes(), "html.parser")
    assert [link["href"] for link in first.select("link[rel=canonical]")] == pages[:1]
    missing = BeautifulSoup((published.html / "404.html").read_bytes(), "html.parser")
    links = [tag["href"] for tag in missing.select("[href]")]
    assert pages[0] in links and all(link.startswith(published.address) for link in links)


def test_the_page_for_wrong_addresses_works_without_an_address(html, visit):
    seen = visit(f"{html.as_uri()}/404.html")
    targets = seen.page.locator("a").evaluate_all("links => links.map(link => link.href)")
    assert targets and not any(leaves_the_site(target, html.as_uri()) for target in targets)
    assert all((html / target.removeprefix(f"{html.as_uri()}/")).is_file() for target in targets)
    assert seen.complaints == []
    seen.page.close()


@pytest.mark.parametrize("page", CHAPTERS)
def test_the_site_has_a_button_if_it_has_an_address(html, page):
    address = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
    assert bool(launch_links(html, page)[1]) == bool(address)


def test_the_button_opens_this_chapter(published):
    page, links = launch_links(published.html, published.chapter)
    expected = f"{COLAB}/github/OWNER/REPOSITORY/blob/main/{published.chapter}.ipynb"
    assert links == [expected]
    pictures = page.select(f'a[href="{expected}"] img')
    assert all(picture["alt"] for picture in pictures)
    assert all((published.html / "notebooks" / picture["src"]).is_file() for picture in pictures)
