"""The PDF: all chapters in one document, which Chromium lays out, links and tags. And the picture of its front."""

import json
import tempfile
from contextlib import contextmanager
from html import escape
from itertools import groupby
from pathlib import Path

import pikepdf
from selectolax.lexbor import LexborHTMLParser
from tqdm import tqdm

from transformer_lib._language import language, say

STYLES = Path(__file__).with_name("paper.css").read_text(encoding="utf-8")
COVER = {"width": 1200, "height": 1600}


@contextmanager
def window_in(site, browser, **options):
    """Open a window whose page is a file of the site: from there Chromium may read the site's other files."""
    window = browser.new_page(java_script_enabled=False, **options)
    window.goto((site / "_static" / "formulas.css").as_uri())
    yield window
    window.close()


def contents_page(chapters, numbers):
    """Return the table of contents, with the numbers of those pages that are known."""
    lines = []
    for part, members in groupby(chapters, key=lambda chapter: chapter.part):
        lines.append(f'<p class="part">{escape(part)}</p>')
        for chapter in members:
            number = numbers.get(chapter.id, "")
            lines.append(f'<p><a href="#{chapter.id}"><span>{escape(chapter.title)}</span><span>{number}</span></a></p>')
    return f'<nav class="contents"><p class="title">{say("Contents")}</p>{"".join(lines)}</nav>'


def document(site, chapters, styles, front, numbers):
    """Return the whole book as one page of HTML."""
    # Each chapter has its title at the head of its pages.
    heads = (
        f"@page chapter-{index} {{ @top-right {{ content: {json.dumps(chapter.title, ensure_ascii=False)} }} }}\n"
        for index, chapter in enumerate(chapters)
    )
    pages = (f'<div style="page: chapter-{index}">{chapter.paper}</div>' for index, chapter in enumerate(chapters))
    articles = LexborHTMLParser("".join(pages))
    for link in articles.css(".to-the-answer a"):
        number = numbers.get(link.attributes["href"].removeprefix("#"), 0)
        link.insert_child(say(f", page {number}"))
    return f"""<!doctype html>
<html lang="{language()}"><head><meta charset="utf-8"><title>{escape(chapters[0].title)}</title>
<link rel="stylesheet" href="{site.as_uri()}/_static/formulas.css">
<style>{styles}{STYLES}{"".join(heads)}</style></head>
<body>{front}{contents_page(chapters, numbers)}{articles.body.inner_html}</body></html>"""


def page_numbers(pdf):
    """Return on which page each place stands that a link leads to."""
    numbers = {page.objgen: number for number, page in enumerate(pdf.pages, start=1)}
    return {name.removeprefix("/"): numbers[place[0].objgen] for name, place in pdf.Root.Dests.items()}


def title_once(bookmark):
    """Mend the titles of a bookmark, of those below and those behind it.

    Chromium writes a heading's title twice where it has moved the heading to another page.
    """
    while bookmark is not None:
        title = str(bookmark.Title)
        if title == 2 * (half := title[: len(title) // 2]):
            bookmark.Title = half
        title_once(bookmark.get("/First"))
        bookmark = bookmark.get("/Next")


def write_pdf(browser, site, chapters, styles, front, path):
    """Write the book to `path`; `front` is what stands before the table of contents."""
    numbers = {}
    with window_in(site, browser) as window, tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "book.pdf")
        # Only a laid-out book tells on which page a chapter begins: the first time is for the numbers in the contents.
        for last in tqdm([False, True], desc="PDF, laid out twice"):
            window.set_content(document(site, chapters, styles, front, numbers), wait_until="load")
            window.pdf(path=file, prefer_css_page_size=True, print_background=True, tagged=last, outline=last)
            with pikepdf.open(file) as pdf:
                numbers = page_numbers(pdf)
                if last:
                    title_once(pdf.Root.Outlines.get("/First"))
                    # The tags, which a screen reader needs, are half of the file as Chromium writes it; packed, a tenth.
                    pdf.save(path, object_stream_mode=pikepdf.ObjectStreamMode.generate)


def cover(browser, site, front, styles):
    """Return the front of the book as PNG."""
    with window_in(site, browser, viewport=COVER) as window:
        window.set_content(
            f'<html lang="{language()}"><style>{styles} body {{ font-size: 32px }}</style>{front}', wait_until="load"
        )
        return window.screenshot()
