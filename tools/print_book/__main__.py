"""Write the whole book as PDF and EPUB from the built pages, in each language: `python -m tools.print_book [SITE]`.

SITE is the folder of the built pages, _build/html. The files go into the folder `print` beside it, and the sites that are
built next offer them on their first pages, each those of its language. Nothing is fetched.
"""

import argparse
import os
from datetime import date
from html import escape
from pathlib import Path
from urllib.parse import quote

from tools import notebooks, readme_picture
from tools.browser import NO_CHROMIUM, find_chromium, open_chromium
from tools.print_book.chapters import missing_pages, read_chapters, table_of_contents
from tools.print_book.epub import write_epub
from tools.print_book.pdf import cover, write_pdf
from transformer_lib._language import VARIABLE, language, say, say_in_html

# The files of each language.
NAMES = {"en": "building-the-transformer", "ko": "building-the-transformer-ko"}


def front(title):
    """Return the front of the book."""
    picture = quote(say_in_html(readme_picture.picture()))
    return f"""<div class="front" xmlns="http://www.w3.org/1999/xhtml"><p class="title">{escape(title)}</p>
<p class="subtitle">{say("The Transformer (트랜스포머) of 2017, piece by piece, until it translates")}</p>
<img src="data:image/svg+xml,{picture}" alt="{say("The Transformer, each box with the number of its chapter")}"/></div>"""


def about(title, author, day):
    """Return the page after the front: what this book is, and what in it differs from the site."""
    differences = (
        say("Figures that answer to you there show one picture here, and the translator to type into is there only."),
        say("Answers that are folded away there, of exercises and quizzes, stand here at the end of the book."),
        say("Code that is folded away there, because it only draws or prepares, stands here in small type."),
    )
    licence = '<a href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>'
    return f"""<div class="about" xmlns="http://www.w3.org/1999/xhtml"><p class="title">{escape(title)}</p>
<p>{author}</p>
<p>{say(f"Made on {day} from the pages of the course's site, which can do more than a book:")}</p>
<ul>{"".join(f"<li>{difference}</li>" for difference in differences)}</ul>
<p>{say("Every chapter is a notebook: run it, and change something.")}</p>
<p>{say(f"Text and figures are licensed under {licence}, the code under the MIT license.")}</p></div>"""


def print_book(browser, site, contents, folder):
    """Write the pages `contents` of the built `site` as PDF and EPUB into `folder`, and return the two paths.

    What the book says itself is in the language that TRANSFORMER_LIB_LANGUAGE names; it has to be that of the site.
    """
    chapters, styles = read_chapters(browser, site, contents)
    title, author = chapters[0].title, say("The authors of Building the Transformer")
    first, second = front(title), about(title, author, date.today())
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{NAMES[language()]}.{kind}" for kind in ("pdf", "epub")]
    write_epub(chapters, styles, second, cover(browser, site, first, styles), author, paths[1])
    write_pdf(browser, site, chapters, styles, first + second, paths[0])
    return paths


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.print_book", description=__doc__.splitlines()[0])
    built = notebooks.ROOT / "_build" / "html"
    parser.add_argument("site", nargs="?", type=Path, default=built, help="the folder of the built pages (_build/html)")
    english = parser.parse_args(arguments).site.resolve()
    contents = table_of_contents(notebooks.ROOT / "_toc.yml")
    sites = {"en": english, "ko": english / "ko"}
    for site in sites.values():
        if missing := missing_pages(site, contents):
            raise SystemExit(f"{site} lacks the page {missing[0]}: build the pages first, `make book`")
    chromium = find_chromium()
    if not chromium:
        raise SystemExit(NO_CHROMIUM)
    with open_chromium(chromium) as browser:
        for code, site in sites.items():
            os.environ[VARIABLE] = code
            for path in print_book(browser, site, contents, english.parent / "print"):
                print(f"wrote {path.name}, {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
