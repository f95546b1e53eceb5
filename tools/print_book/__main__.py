"""Write the whole book as PDF and EPUB from the built pages: `python -m tools.print_book [SITE]`.

SITE is the folder of the built pages, _build/html. The two files go into the folder `print` beside it, and the site that
is built next offers them on its first page. Nothing is fetched.
"""

import argparse
from datetime import date
from html import escape
from pathlib import Path

from tools import notebooks
from tools.browser import NO_CHROMIUM, find_chromium, open_chromium
from tools.print_book.chapters import missing_pages, read_chapters, table_of_contents
from tools.print_book.epub import write_epub
from tools.print_book.pdf import cover, write_pdf

PICTURE = Path("_static", "model-map.svg")
AUTHOR = "The authors of Building the Transformer"


def front(title, site):
    """Return the front of the book."""
    picture = (site / PICTURE).as_uri()
    return f"""<div class="front" xmlns="http://www.w3.org/1999/xhtml"><p class="title">{escape(title)}</p>
<p class="subtitle">The Transformer (트랜스포머) of 2017, piece by piece, until it translates</p>
<img src="{picture}" alt="The Transformer, each box with the number of its chapter"/></div>"""


def about(title, day):
    """Return the page after the front: what this book is, and what in it differs from the site."""
    return f"""<div class="about" xmlns="http://www.w3.org/1999/xhtml"><p class="title">{escape(title)}</p>
<p>{AUTHOR}</p>
<p>Made on {day} from the pages of the course's site, which can do more than a book:</p>
<ul>
<li>Figures that answer to you there show one picture here, and the translator to type into is there only.</li>
<li>Answers that are folded away there, of exercises and quizzes, stand here at the end of the book.</li>
<li>Code that is folded away there, because it only draws or prepares, stands here in small type.</li>
</ul>
<p>Every chapter is a notebook: run it, and change something.</p>
<p>Text and figures are licensed under <a href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>, the code under the
MIT license.</p></div>"""


def print_book(browser, site, contents, folder):
    """Write the pages `contents` of the built `site` as PDF and EPUB into `folder`, and return the two paths."""
    chapters, styles = read_chapters(browser, site, contents)
    title = chapters[0].title
    first, second = front(title, site), about(title, date.today())
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{'-'.join(title.lower().split())}.{kind}" for kind in ("pdf", "epub")]
    write_epub(chapters, styles, second, cover(browser, site, first, styles), AUTHOR, paths[1])
    write_pdf(browser, site, chapters, styles, first + second, paths[0])
    return paths


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.print_book", description=__doc__.splitlines()[0])
    built = notebooks.ROOT / "_build" / "html"
    parser.add_argument("site", nargs="?", type=Path, default=built, help="the folder of the built pages (_build/html)")
    site = parser.parse_args(arguments).site.resolve()
    contents = table_of_contents(notebooks.ROOT / "_toc.yml")
    if missing := missing_pages(site, contents):
        raise SystemExit(f"{site} lacks the page {missing[0]}: build the pages first, `make book`")
    chromium = find_chromium()
    if not chromium:
        raise SystemExit(NO_CHROMIUM)
    with open_chromium(chromium) as browser:
        for path in print_book(browser, site, contents, site.parent / "print"):
            print(f"wrote {path.name}, {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
