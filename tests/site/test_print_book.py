"""The whole book as PDF and EPUB, tried on its first page and one chapter, in English and in Korean.

And the links to it, where it is there.
"""

import re
import zipfile
from html import unescape
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
from transformer_lib._language import VARIABLE, language, say

FIRST, CHAPTER = "book/index", "notebooks/06_attention"
CONTENTS = {FIRST: "", CHAPTER: "Part II · The Transformer's parts"}


@pytest.fixture(scope="module", params=["en", "ko"])
def site(request, html):
    """The folder of the pages in one language, which is the language of what is said, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, request.param)
        yield html / request.param if request.param == "ko" else html


@pytest.fixture(scope="module")
def printed(browser, site, tmp_path_factory):
    """The book of two pages: where it lies, its chapters, and what Chromium was asked for and shown."""
    requests, shown = [], []

    def new_page(**options):
        window = browser.new_page(**options)
        window.on("request", lambda request: requests.append(request.url))
        show = window.set_content
        window.set_content = lambda text, **options: (shown.append(text), show(text, **options))
        return window

    watched = SimpleNamespace(new_page=new_page)
    pdf, epub = command.print_book(watched, site, CONTENTS, tmp_path_factory.mktemp("print") / "new")
    chapters, _ = read_chapters(browser, site, CONTENTS)
    with pikepdf.open(pdf) as pdf, zipfile.ZipFile(epub) as epub:
        yield SimpleNamespace(pdf=pdf, epub=epub, chapters=chapters, requests=requests, shown=shown)


@pytest.fixture(scope="module")
def trees(printed):
    """The pages of the EPUB, parsed."""
    names = [name for name in printed.epub.namelist() if name.endswith(".xhtml")]
    return {name.removeprefix("EPUB/"): etree.fromstring(printed.epub.read(name)) for name in names}


@pytest.fixture(scope="module")
def articles(site):
    return [BeautifulSoup((site / f"{page}.html").read_bytes(), "html.parser").article for page in CONTENTS]


def with_class(tree, name):
    return tree.xpath(f"//*[contains(concat(' ', @class, ' '), ' {name} ')]")


def heading(article, name):
    return [tag.get_text().removesuffix("#") for tag in article.find_all(name)]


def test_nothing_is_fetched(printed, site):
    assert any(url.endswith(".webp") for url in printed.requests)
    assert requests_elsewhere(printed, site.as_uri()) == []


def test_the_book_has_the_pages_of_the_site_in_their_order():
    assert list(table_of_contents(ROOT / "_toc.yml")) == PAGES


def test_the_pdf_has_chapters_and_sections_as_bookmarks(printed, articles):
    with printed.pdf.open_outline() as outline:
        found = [(item.title, [section.title for section in item.children]) for item in outline.root]
    assert found[:-1] == [(heading(article, "h1")[0], heading(article, "h2")) for article in articles]
    assert found[-1] == (say("Solutions and answers"), [title for title, _ in found[:-1]])


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
    assert f'href="#{answer}">{say("→ the answer")}{say(f", page {numbers[answer]}")}<' in document


def test_nothing_is_wider_than_the_paper(printed, browser, site):
    width = 657  # pixels: 210 mm less two margins of 18
    with window_in(site, browser, viewport={"width": width, "height": 900}) as window:
        window.emulate_media(media="print")
        window.set_content(printed.shown[-1])
        ends = """nodes => nodes.filter(node => node.matches(':not(svg *)'))
            .map(node => [node.getBoundingClientRect().right, node.outerHTML.slice(0, 200)])"""
        found = window.eval_on_selector_all("article *", ends)
    assert len(found) > 1000
    assert [node for end, node in found if end > width + 1] == []


def test_the_pdf_is_tagged(printed):
    assert printed.pdf.Root.MarkInfo.Marked


def test_both_files_name_their_language(printed, trees):
    assert printed.pdf.Root.Lang == language()
    package = etree.fromstring(printed.epub.read("EPUB/content.opf"))
    assert package.findtext(".//{*}language") == language()
    assert {tree.get("lang") for tree in trees.values()} == {language()}


def test_the_book_says_its_own_words_in_its_language(printed, trees):
    before, _, contents = printed.shown[-1].partition("<body>")[2].partition("<nav")
    said = [node for tree in trees.values() for name in ("on-the-site", "to-the-answer") for node in with_class(tree, name)]
    own = "\n".join([before, *("".join(node.itertext()) for node in [trees["about.xhtml"], *said])])
    assert bool(re.search("(?:[A-Za-z]+ ){3}", own)) == (language() == "en")
    for listed in (unescape(contents), "".join(trees["contents.xhtml"].itertext())):
        assert say("Contents") in listed and say(CONTENTS[CHAPTER]) in listed


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
    solutions = [tag for article in articles for tag in article.find_all("summary") if tag.get_text() in ("Solution", "풀이")]
    quizzes = [tag for article in articles for tag in article.select(".tl-quiz")]
    answers = with_class(trees["answers.xhtml"], "answer")
    assert len(answers) == len(solutions) + len(quizzes) > 3
    assert with_class(trees["notebooks.06_attention.xhtml"], "tl-right") == []
    rights = sum(len(quiz.select(".tl-right")) for quiz in quizzes)
    assert len(with_class(trees["answers.xhtml"], "tl-right")) == rights > 3


def test_what_only_the_site_can_do_is_said(trees):
    first, chapter = trees["book.index.xhtml"], trees["notebooks.06_attention.xhtml"]
    assert with_class(first, "tl-translator") == []
    said = say("The translator that you will build, to type into, stands {place}.").format(place=say("on the site"))
    assert ["".join(node.itertext()) for node in with_class(first, "on-the-site")] == [said]
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


def test_each_site_links_to_the_files_that_are_there(build, tmp_path, monkeypatch):
    made = tmp_path / "print"
    monkeypatch.setenv(VARIABLE, "en")

    def links(**pages):
        built = build(**pages)
        assert built.succeeded, built.said
        paragraph = BeautifulSoup((built.site / "index.html").read_bytes(), "html.parser").select_one(".printed-book")
        return paragraph and (paragraph.get_text(), [link["href"] for link in paragraph.find_all("a")])

    made.mkdir()
    for name, size in (("book.pdf", 2_600_000), ("book.epub", 1_000_000), ("book-ko.pdf", 3_600_000)):
        (made / name).write_bytes(bytes(size))
    text = "Or the whole book in one file: PDF (3 MB), EPUB (1 MB)."
    assert links(index="```{printed-book}\n```") == (text, ["print/book.pdf", "print/book.epub"])
    copies = tmp_path / "html" / "print"
    assert {copy.name: copy.stat().st_size for copy in copies.iterdir()} == {
        "book.pdf": 2_600_000,
        "book.epub": 1_000_000,
        "book-ko.pdf": 3_600_000,
    }
    (made / "book.pdf").unlink()
    (made / "book.epub").unlink()
    assert links() is None
    assert [copy.name for copy in copies.iterdir()] == ["book-ko.pdf"]
    # The Korean site lies in the English one, wherever it is built.
    monkeypatch.setenv("ENGLISH_DOCTREES", str(tmp_path / ".doctrees"))
    monkeypatch.setenv(VARIABLE, "ko")
    with (tmp_path / "source" / "conf.py").open("a", encoding="utf-8") as settings:
        settings.write('language = "ko"\n')
    assert links() == ("또는 책 전체를 파일 하나로 받으세요: PDF (4 MB).", ["../print/book-ko.pdf"])
