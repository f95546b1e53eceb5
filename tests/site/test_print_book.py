"""The whole book as PDF and EPUB, tried on its first page and one chapter; and the links to it, where it is there."""

import zipfile
from types import SimpleNamespace
from urllib.parse import urldefrag

import pikepdf
import pytest
from bs4 import BeautifulSoup
from built_site import PAGES, ROOT, requests_elsewhere
from lxml import etree
from PIL import Image

from tools.print_book import __main__ as command
from tools.print_book.chapters import read_chapters, table_of_contents
from tools.print_book.epub import set_links
from tools.print_book.pdf import contents_page, page_numbers, window_in

FIRST, CHAPTER = "book/index", "notebooks/06_attention"
CONTENTS = {FIRST: "", CHAPTER: "Part II"}


@pytest.fixture(scope="module")
def printed(browser, html, tmp_path_factory):
    """The book of two pages: where it lies, its chapters, and what Chromium was asked for and shown."""
    requests, shown = [], []

    def new_page(**options):
        window = browser.new_page(**options)
        window.on("request", lambda request: requests.append(request.url))
        show = window.set_content
        window.set_content = lambda text, **options: (shown.append(text), show(text, **options))
        return window

    watched = SimpleNamespace(new_page=new_page)
    pdf, epub = command.print_book(watched, html, CONTENTS, tmp_path_factory.mktemp("print") / "new")
    chapters, _ = read_chapters(browser, html, CONTENTS)
    with pikepdf.open(pdf) as pdf, zipfile.ZipFile(epub) as epub:
        yield SimpleNamespace(pdf=pdf, epub=epub, chapters=chapters, requests=requests, shown=shown)


@pytest.fixture(scope="module")
def trees(printed):
    """The pages of the EPUB, parsed."""
    names = [name for name in printed.epub.namelist() if name.endswith(".xhtml")]
    return {name.removeprefix("EPUB/"): etree.fromstring(printed.epub.read(name)) for name in names}


@pytest.fixture(scope="module")
def articles(html):
    return [BeautifulSoup((html / f"{page}.html").read_bytes(), "html.parser").article for page in CONTENTS]


def with_class(tree, name):
    return tree.xpath(f"//*[contains(concat(' ', @class, ' '), ' {name} ')]")


def heading(article, name):
    return [tag.get_text().removesuffix("#") for tag in article.find_all(name)]


def test_nothing_is_fetched(printed, html):
    assert any(url.endswith(".webp") for url in printed.requests)
    assert requests_elsewhere(printed, html.as_uri()) == []


def test_the_book_has_the_pages_of_the_site_in_their_order():
    assert list(table_of_contents(ROOT / "_toc.yml")) == PAGES


def test_the_pdf_has_chapters_and_sections_as_bookmarks(printed, articles):
    with printed.pdf.open_outline() as outline:
        found = [(item.title, [section.title for section in item.children]) for item in outline.root]
    assert found[:-1] == [(heading(article, "h1")[0], heading(article, "h2")) for article in articles]
    assert found[-1] == ("Solutions and answers", [title for title, _ in found[:-1]])


def test_links_of_the_pdf_lead_into_it(printed):
    links = [link.Dest for page in printed.pdf.pages for link in page.get("/Annots", []) if "/Dest" in link]
    links = [str(target).removeprefix("/") for target in links]
    numbers = page_numbers(printed.pdf)
    assert len(links) > 10
    assert set(links) <= set(numbers)
    first, chapter, answers = (numbers[chapter.id] for chapter in printed.chapters)
    assert 3 < first < chapter < answers <= len(printed.pdf.pages)


def test_the_contents_and_the_exercises_name_the_right_pages(printed):
    numbers = page_numbers(printed.pdf)
    document = printed.shown[-1]  # what was laid out the second time
    assert contents_page(printed.chapters, numbers) in document
    answer = next(name for name in numbers if ".answer-1" in name and "attention" in name)
    assert f'href="#{answer}">→ the answer, page {numbers[answer]}<' in document


def test_nothing_is_wider_than_the_paper(printed, browser, html):
    width = 657  # pixels: 210 mm less two margins of 18
    with window_in(html, browser, viewport={"width": width, "height": 900}) as window:
        window.emulate_media(media="print")
        window.set_content(printed.shown[-1])
        ends = """nodes => nodes.filter(node => node.matches(':not(svg *)'))
            .map(node => [node.getBoundingClientRect().right, node.outerHTML.slice(0, 200)])"""
        found = window.eval_on_selector_all("article *", ends)
    assert len(found) > 1000
    assert [html for end, html in found if end > width + 1] == []


def test_the_pdf_is_tagged_and_names_its_language(printed):
    assert printed.pdf.Root.MarkInfo.Marked and printed.pdf.Root.Lang == "en"


def test_the_epub_begins_as_the_format_asks(printed):
    first = printed.epub.infolist()[0]
    assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
    assert printed.epub.read(first) == b"application/epub+zip"
    container = etree.fromstring(printed.epub.read("META-INF/container.xml"))
    assert container.find(".//{*}rootfile").get("full-path") in printed.epub.namelist()


def test_the_epub_lists_every_file_once_and_as_what_it_is(printed, trees):
    package = etree.fromstring(printed.epub.read("EPUB/content.opf"))
    items = {item.get("href"): item for item in package.iterfind(".//{*}item")}
    files = {name.removeprefix("EPUB/") for name in printed.epub.namelist()}
    assert set(items) == files - {"mimetype", "META-INF/container.xml", "content.opf"}
    read = {item.get("id"): name for name, item in items.items()}
    pages = [read[item.get("idref")] for item in package.iterfind(".//{*}itemref")]
    assert pages == ["cover.xhtml", "about.xhtml", "contents.xhtml", *(f"{chapter.id}.xhtml" for chapter in printed.chapters)]
    assert items["contents.xhtml"].get("properties") == "nav" and items["cover.png"].get("properties") == "cover-image"
    for name, tree in trees.items():
        holds = {kind for kind, tag in (("svg", "svg"), ("mathml", "math")) if tree.find(f".//{{*}}{tag}") is not None}
        assert holds == set((items[name].get("properties") or "").split()) - {"nav"}, name


def test_links_of_the_epub_lead_to_an_id(printed, trees):
    ids = {name: [node.get("id") for node in tree.iter() if node.get("id")] for name, tree in trees.items()}
    assert [name for name, found in ids.items() if len(found) != len(set(found))] == []
    targets = [link.get("href") for tree in trees.values() for link in tree.iter("{*}a")]
    inside = [urldefrag(target) for target in targets if not target.startswith("https://")]
    assert len(inside) > 30
    assert [link for link in inside if link.url not in ids or (link.fragment and link.fragment not in ids[link.url])] == []


def test_the_epub_has_every_formula_as_mathml_and_no_script(trees, articles):
    chapters = [tree for name, tree in trees.items() if name.startswith(("book.", "notebooks.", "answers"))]
    formulas = [formula for tree in chapters for formula in tree.iter("{http://www.w3.org/1998/Math/MathML}math")]
    assert len(formulas) == sum(len(article.select(".math")) for article in articles) > 50
    unwanted = ("script", "style", "details", "form", "input", "button", "noscript", "mjx-container")
    assert [node.tag for tree in chapters for name in unwanted for node in tree.iter(f"{{*}}{name}")] == []


def test_the_epub_has_every_figure(printed, trees, articles):
    images = [image.get("src") for image in trees["notebooks.06_attention.xhtml"].iter("{*}img")]
    assert len(images) == len(articles[1].find_all("img")) > 0
    for name in [*images, "cover.png"]:
        with printed.epub.open(f"EPUB/{name}") as file, Image.open(file) as picture:
            assert picture.format == "PNG" and min(picture.size) > 100


def test_answers_stand_at_the_end(trees, articles):
    solutions = [tag for article in articles for tag in article.find_all("summary") if tag.get_text() == "Solution"]
    quizzes = [tag for article in articles for tag in article.select(".tl-quiz")]
    answers = with_class(trees["answers.xhtml"], "answer")
    assert len(answers) == len(solutions) + len(quizzes) > 3
    assert with_class(trees["notebooks.06_attention.xhtml"], "tl-right") == []
    rights = sum(len(quiz.select(".tl-right")) for quiz in quizzes)
    assert len(with_class(trees["answers.xhtml"], "tl-right")) == rights > 3


def test_what_only_the_site_can_do_is_said(trees):
    first, chapter = trees["book.index.xhtml"], trees["notebooks.06_attention.xhtml"]
    assert with_class(first, "tl-translator") == []
    assert ["".join(node.itertext()) for node in with_class(first, "on-the-site")] == [
        "The translator that you will build, to type into, stands on the site."
    ]
    figures = with_class(chapter, "tl-live")
    assert figures and all(with_class(figure, "on-the-site") for figure in figures)
    assert all(any(figure.find(f".//{{*}}{still}") is not None for still in ("svg", "table")) for figure in figures)


def test_a_link_to_nowhere_is_named():
    trees = {"one": etree.fromstring('<p id="here"><a href="#there">x</a><a href="https://example.org">y</a></p>')}
    with pytest.raises(ValueError, match="one links to there, which is nowhere"):
        set_links(trees)
    trees["two"] = etree.fromstring('<p id="there"/>')
    set_links(trees)
    assert [link.get("href") for link in trees["one"]] == ["two.xhtml#there", "https://example.org"]


def test_what_is_missing_is_said(tmp_path, monkeypatch):
    with pytest.raises(SystemExit, match=r"lacks the page book/index: build the pages first, `make book`"):
        command.main([str(tmp_path)])
    monkeypatch.setattr(command, "missing_pages", lambda *arguments: [])
    monkeypatch.setattr(command, "find_chromium", lambda: None)
    with pytest.raises(SystemExit, match="no Chromium found"):
        command.main([str(tmp_path)])


def test_the_site_links_to_the_files_that_are_there(build, tmp_path):
    made = tmp_path / "print"

    def links(**pages):
        built = build(**pages)
        assert built.succeeded, built.said
        paragraph = BeautifulSoup((built.site / "index.html").read_bytes(), "html.parser").select_one(".printed-book")
        return paragraph and (paragraph.get_text(), [link["href"] for link in paragraph.find_all("a")])

    made.mkdir()
    for name, size in (("book.pdf", 2_600_000), ("book.epub", 1_000_000)):
        (made / name).write_bytes(bytes(size))
    text = "Or the whole book in one file: PDF (3 MB), EPUB (1 MB)."
    assert links(index="```{printed-book}\n```") == (text, ["print/book.pdf", "print/book.epub"])
    copy = tmp_path / "html" / "print" / "book.pdf"
    assert copy.stat().st_size == 2_600_000
    (made / "book.pdf").unlink()
    (made / "book.epub").unlink()
    assert links() is None
    assert not copy.exists()
