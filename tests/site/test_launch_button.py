"""Once the course has an address, each chapter's page opens that chapter in Colab; before, there is no such button."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup, SoupStrainer
from built_site import PAGES, ROOT

from tools.address import COLAB, with_value

CHAPTER = next(page for page in PAGES if page.startswith("notebooks/"))


REPOSITORY = "https://github.com/OWNER/REPOSITORY"


BUTTONS = SoupStrainer(class_="article-header-buttons")


def launch_links(html, page):
    content = BeautifulSoup((html / f"{page}.html").read_bytes(), "html.parser", parse_only=BUTTONS)
    return content, [link["href"] for link in content.select("a[href]") if COLAB in link["href"]]


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("notebooks/")])
def test_the_site_has_a_button_if_it_has_an_address(html, page):
    address = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
    assert bool(launch_links(html, page)[1]) == bool(address)


def test_the_button_opens_this_chapter(tmp_path):
    shutil.copytree(ROOT / "book", tmp_path / "book", ignore=shutil.ignore_patterns("*.md", "__pycache__"))
    (tmp_path / "book" / "index.md").write_text("# A course of one chapter\n", encoding="utf-8")
    (tmp_path / "notebooks").mkdir()
    shutil.copy(ROOT / f"{CHAPTER}.ipynb", tmp_path / "notebooks")
    contents = {"format": "jb-book", "root": "book/index", "chapters": [{"file": CHAPTER}]}
    (tmp_path / "_toc.yml").write_text(yaml.safe_dump(contents), encoding="utf-8")
    text = (ROOT / "_config.yml").read_text(encoding="utf-8")
    text = with_value(text, "repository", "url", REPOSITORY)
    text = with_value(text, "launch_buttons", "colab_url", COLAB)
    (tmp_path / "_config.yml").write_text(text, encoding="utf-8")

    build = [Path(sys.executable).with_name("jupyter-book"), "build", "--quiet", tmp_path]
    finished = subprocess.run(build, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stdout + finished.stderr

    html = tmp_path / "_build" / "html"
    page, links = launch_links(html, CHAPTER)
    expected = f"{COLAB}/github/OWNER/REPOSITORY/blob/main/{CHAPTER}.ipynb"
    assert links == [expected]
    pictures = page.select(f'a[href="{expected}"] img')
    assert all(picture["alt"] for picture in pictures)
    assert all((html / "notebooks" / picture["src"]).is_file() for picture in pictures)
