"""The Korean site beside the English one: whole, with the same places, in its own words, and found by Korean words.

What is asked of every English page in a browser (the rules of axe, the keyboard) is not asked again: code, styles and figures
are the same. A page that is not translated yet stands in `locales/ko/OPEN`; it is there in English, and nothing offers it.
"""

import re

import languages
import pytest
from built_site import PAGES, ROOT, parsed, requests_elsewhere
from py_mini_racer import MiniRacer
from selectolax.lexbor import LexborHTMLParser

from tools.translate.catalogue import open_names

OPEN = set(open_names())
TRANSLATED = [page for page in PAGES if page.rpartition("/")[2] not in OPEN]
# A Korean query, and the page that has to come first.
FIRST = {
    "어텐션": "04_alignment",
    "어텐션을": "04_alignment",
    "어텐션은": "04_alignment",
    "정렬": "04_alignment",
    "병목": "01_seq2seq",
    "병목이": "01_seq2seq",
    "시퀀스": "01_seq2seq",
    "순환 신경망": "02_recurrent",
    "순환 신경망에서": "02_recurrent",
    "게이트": "02_recurrent",
    "삭제 게이트는": "02_recurrent",
    "LSTM": "02_recurrent",
    "토큰": "03_text",
    "패딩": "01_seq2seq",
    "위치 인코딩": "05_positional_encoding",
    "위치 인코딩을": "05_positional_encoding",
    "사인": "05_positional_encoding",
    "헤드": "06_attention",
    "키": "06_attention",
    "값": "06_attention",
    "멀티 헤드 어텐션": "06_attention",
    "인코더": "07_encoder",
    "잔차 연결": "07_encoder",
    "마스킹": "08_masks",
    "인과 마스크가": "08_masks",
    "디코더": "09_decoder",
    "크로스 어텐션": "09_decoder",
    "학습률": "11_schedule",
    "학습 루프": "12_training",
    "빔 검색으로": "13_decoding",
    "번역기": "14_translation",
}
STEMS = {
    "어텐션을": "어텐션",
    "어텐션은": "어텐션",
    "어텐션이": "어텐션",
    "어텐션의": "어텐션",
    "어텐션에서는": "어텐션",
    "어텐션입니다": "어텐션",
    "마스크는": "마스크",
    "마스크를": "마스크",
    "마스크로": "마스크",
    "모델에": "모델",
    "모델로": "모델",
    "단어들을": "단어",
    "softmax를": "softmax",
    "층을": "층",
    "값은": "값",
    "키를": "키",
    "차이": "차이",
    "정의": "정의",
    "정도": "정도",
    "기울기": "기울기",
}


def article(html, page):
    return parsed(html / f"{page}.html").css_first(".bd-article")


def test_the_list_of_open_pages_is_the_sites(html):
    assert (ROOT / "locales" / "ko" / "OPEN").exists() or not OPEN
    assert all((html / "ko" / f"{page}.html").exists() for page in PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_its_language(html, page):
    assert parsed(html / "ko" / f"{page}.html").root.attributes["lang"] == "ko"


@pytest.mark.parametrize("page", PAGES)
def test_a_korean_page_has_the_places_of_the_english_one(html, page):
    """Headings, cells and figures have the same ids, in the same order, and so have levels of headings and tables."""

    def shape(text):
        sections = [tag.id for tag in text.css("section[id]")]
        cells = [tag.id for tag in text.css("[id^='cell-']")]
        tags = [tag.tag for tag in text.css("h1, h2, h3, h4, table, tr, pre, figure, img, fieldset, details")]
        return sections, cells, tags

    assert shape(article(html, f"ko/{page}")) == shape(article(html, page))


@pytest.mark.parametrize("page", PAGES)
def test_each_page_leads_to_the_other_language(html, page):
    for here, there, code in ((page, f"ko/{page}", "ko"), (f"ko/{page}", page, "en")):
        links = [tag.attributes for tag in parsed(html / f"{here}.html").css("a.language-switch")]
        if page not in TRANSLATED and code == "ko":
            assert links == []
            continue
        (link,) = links
        assert link["hreflang"] == link["lang"] == code
        assert ((html / here).parent / link["href"]).resolve() == html / f"{there}.html"
        named = {tag.attributes["hreflang"] for tag in parsed(html / f"{here}.html").css("link[rel=alternate][hreflang]")}
        assert named == ({"en", "ko"} if page in TRANSLATED else set())


@pytest.mark.parametrize("page", [page for page in PAGES if page not in TRANSLATED])
def test_an_open_page_says_that_it_is_english(html, page):
    text = parsed(html / "ko" / f"{page}.html")
    assert text.css_first('.bd-article [lang="en"] h1')
    assert text.css_first('meta[name="robots"]').attributes["content"] == "noindex"


@pytest.mark.parametrize("page", TRANSLATED)
def test_a_translated_page_is_korean(html, page):
    """Hardly a paragraph is left in English. What has no letters but in code, formulas and names is not counted."""
    text = LexborHTMLParser(article(html, f"ko/{page}").html)
    # Titles of folds, quizzes and drawings are the library's, which has files of its own.
    text.strip_tags(["code", "em", "mjx-container", "pre", "summary", "fieldset"], recursive=True)
    while tag := text.css_first('[lang="en"], .cell_output, .citation, .citation-list'):
        tag.decompose()
    texts = [re.sub(r"[^A-Za-z가-힣]", "", tag.text()) for tag in text.css("p, li")]
    english = [text for text in texts if len(text) > 60 and not re.search("[가-힣]", text)]
    assert english == []


def test_the_theme_says_its_words_in_korean(html):
    page = parsed(html / "ko" / f"{PAGES[0]}.html")
    parts = ("title", "nav", ".bd-header-article", ".bd-sidebar-secondary")
    labels = [tag.attributes["aria-label"] for tag in page.css(".bd-header [aria-label], .bd-sidebar-primary [aria-label]")]
    around = " ".join([*(page.css_first(part).text() for part in parts), *labels])
    for english in ("Search", "Contents", "Part I", "Orientation", "Site Navigation", "Skip to"):
        assert english not in around


def test_every_label_is_said_in_korean(html):
    """What only a voice says, or what shows under the pointer: but for names, such as seq2seq."""
    page = parsed(html / "ko" / "notebooks" / "06_attention.html")
    outside = page.css(".bd-header, .bd-sidebar, .bd-header-article, nav, .tl-map")
    labels = {tag.attributes[name] for part in outside for name in ("title", "aria-label") for tag in part.css(f"[{name}]")}
    assert len(labels) > 20 and [label for label in labels if not re.search("[가-힣]", label) and label != "English"] == []
    assert "클립보드에 복사" in (html / "ko" / "_static" / "site.js").read_text(encoding="utf-8")


def test_particles_are_taken_off_by_python_and_by_the_browser_alike(html):
    engine = MiniRacer()
    code = (html / "ko" / "_static" / "language_data.js").read_text(encoding="utf-8")
    engine.eval(f"{code}\nfunction stem(word) {{ return new Stemmer().stemWord(word) }}")
    search = languages.SearchKorean({})
    words = [*STEMS, *STEMS.values(), "attention", "masks", "softmax", "d_model", "그래서", "계산합니다", "이", "으로"]
    assert {word: engine.call("stem", word) for word in words} == {word: search.stem(word) for word in words}
    assert {word: languages.without_particles(word) for word in STEMS} == STEMS


def test_a_chapter_is_the_first_result_for_its_own_subject(visit, server):
    page = visit(f"{server}/ko/search.html").page
    page.wait_for_function("Search.hasIndex()")
    ask = "query => Search._performSearch(...Search._parseQuery(query)).at(-1)?.[0] ?? ''"  # the last is shown first
    asked = {query: chapter for query, chapter in FIRST.items() if not {chapter, "glossary"} & OPEN}
    found = {query: page.evaluate(ask, query).removeprefix("notebooks/") for query in asked}
    page.close()
    assert found == asked


@pytest.mark.parametrize(
    "page", [page for page in ("book/index", "notebooks/06_attention", "book/explorer") if page in TRANSLATED]
)
def test_a_page_fits_both_widths(visit, html, page):
    seen = visit(f"{html.as_uri()}/ko/{page}.html", width=1280)
    for width in (1280, 390):
        seen.page.set_viewport_size({"width": width, "height": 900})
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen.complaints == [] and requests_elsewhere(seen, html.as_uri()) == []
    seen.page.close()


@pytest.mark.parametrize("page", sorted({"notebooks/06_attention"} & set(TRANSLATED)))
def test_the_switch_keeps_the_place(visit, server, page):
    window = visit(f"{server}/{page}.html#cell-proof").page
    window.wait_for_function("() => Math.abs(document.getElementById('cell-proof').getBoundingClientRect().top) < 250")
    window.locator("a.language-switch").click()
    window.wait_for_url(f"**/ko/{page}.html#*")
    window.wait_for_function("() => Math.abs(document.getElementById('cell-proof').getBoundingClientRect().top) < 400")
    assert window.url.endswith("#cell-proof")
    window.close()


@pytest.mark.parametrize(
    ("page", "figure"), [("notebooks/06_attention", "attention_steps"), ("notebooks/02_recurrent", "forget_gate")]
)
def test_a_figure_answers_in_korean_by_keyboard(visit, html, page, figure):
    if page not in TRANSLATED or "teaching/figures" in OPEN:
        pytest.skip("the figures are not translated yet: locales/ko/OPEN")
    window = visit(f"{html.as_uri()}/ko/{page}.html").page
    shown = window.locator(f'[data-figure="{figure}"]').first
    control = shown.locator("button:not([aria-pressed=true]):enabled, input, select").first  # what is chosen changes nothing
    control.focus()
    before = shown.inner_text()
    window.keyboard.press("Enter" if control.evaluate("node => node.tagName") == "BUTTON" else "ArrowRight")
    window.wait_for_timeout(200)
    said = shown.inner_text()
    window.close()
    assert said != before
    assert not re.findall(r"(?:[A-Za-z]{2,}[ ,]+){4}", said)


def test_the_explorer_answers_in_korean_by_keyboard(visit, html):
    if {"explorer", "teaching/explorer"} & OPEN:
        pytest.skip("the explorer is not translated yet: locales/ko/OPEN")
    window = visit(f"{html.as_uri()}/ko/book/explorer.html").page
    window.locator(".tl-translator input").first.focus()
    window.keyboard.press("Enter")
    window.locator('[data-explorer="maps"] table').first.wait_for(timeout=60_000)
    said = window.locator(".tl-explorer").all_inner_texts()
    window.close()
    assert not [text for text in said if re.search(r"(?:[A-Za-z]{2,}[ ,]+){5}", text)]
