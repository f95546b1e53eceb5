"""The chapters of the book: the articles of the built pages, in the order of the table of contents."""

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

import tinycss2
from sphinx_external_toc.parsing import parse_toc_yaml
from tqdm import tqdm

from transformer_lib._language import say

ADAPT = Path(__file__).with_name("adapt.js").read_text(encoding="utf-8")
STYLES = Path(__file__).with_name("book.css").read_text(encoding="utf-8")
LIGHT, DARK = 'html[data-theme="light"] ', 'html[data-theme="dark"]'
ANSWERS = "answers"


@dataclass(frozen=True)
class Chapter:
    """One page as a chapter. Its id and those inside it are unique in the book, and links inside the book name them."""

    id: str
    part: str
    title: str
    sections: list  # of {"id": …, "title": …}
    paper: str  # XHTML, formulas as MathJax has drawn them
    screen: str  # XHTML, formulas as MathML


def table_of_contents(path):
    """Return the pages in their order, each with the caption of the part that it belongs to."""
    root = parse_toc_yaml(path).root
    return {root.docname: ""} | {page: tree.caption or "" for tree in root.subtrees for page in tree.files()}


def missing_pages(site, contents):
    """Return the pages of the table of contents that are not built."""
    return [page for page in contents if not (site / f"{page}.html").is_file()]


def words():
    """Return what the book says itself in a chapter; `{place}` becomes a link."""
    return {
        "answer": say("→ the answer"),
        "quiz": say("Quiz"),
        "place": say("on the site"),
        "promise": say("The translator that you will build, to type into, stands {place}."),
        "translator": say("The translator, to type into, stands {place}."),
        "explorer": say("What the box has translated is drawn {place}."),
        "figure": say("You can turn this figure and see what changes {place}."),
    }


def read_chapters(browser, site, contents):
    """Return the chapters, the answers to exercises and quizzes as the last of them, and their styles."""
    window = browser.new_page(java_script_enabled=False)
    read = []
    for page in tqdm(contents, desc="pages"):
        window.goto(f"{site.as_uri()}/{page}.html")
        given = {"page": page, "pages": list(contents), "site": f"{site.as_posix()}/", "words": words()}
        read.append({"id": page.replace("/", "."), "part": say(contents[page])} | window.evaluate(ADAPT, given))
    window.close()
    code = (site / "_static" / "pygments.css").read_text(encoding="utf-8")
    drawings = dict.fromkeys(style for page in read for style in page["styles"])
    rules = tinycss2.parse_stylesheet("\n".join([code.replace(LIGHT, ""), *drawings, STYLES]))
    styles = "".join(rule.serialize() for rule in rules if DARK not in tinycss2.serialize(getattr(rule, "prelude", [])))
    colours = dict(re.findall(r"(--tl-[\w-]+):(#\w+)", styles))

    def in_light_colours(text):
        """Write colours out: not every e-reader knows variables."""
        return re.sub(r"var\((--tl-[\w-]+)\)", lambda match: colours[match[1]], text)

    chapters = [
        Chapter(
            **{name: page[name] for name in ("id", "part", "title", "sections")},
            **{kind: in_light_colours(page[kind]["body"]) for kind in ("paper", "screen")},
        )
        for page in read
    ]
    if answered := [page for page in read if page["paper"]["answers"]]:
        chapters.append(answers_chapter(answered))
    return chapters, in_light_colours(styles)


def answers_chapter(pages):
    """Return the last chapter: the answers of all pages, under the titles of their pages."""

    title = say("Solutions and answers")

    def body(kind):
        sections = (
            f'<section id="{ANSWERS}.{page["id"]}"><h2><a href="#{page["id"]}">{escape(page["title"])}</a></h2>'
            f"{page[kind]['answers']}</section>"
            for page in pages
        )
        return f'<article xmlns="http://www.w3.org/1999/xhtml" id="{ANSWERS}"><h1>{title}</h1>{"".join(sections)}</article>'

    sections = [{"id": f"{ANSWERS}.{page['id']}", "title": page["title"]} for page in pages]
    return Chapter(ANSWERS, "", title, sections, body("paper"), body("screen"))
