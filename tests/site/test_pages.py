"""Every page of the table of contents, opened once, as a file: whole, in shape, by keyboard alone, and by the rules of axe.

The tests of a page stand in an order in which none disturbs the next. That the site also works from a server is
`test_translator_box.py`'s and `test_search.py`'s to see.
"""

import gzip
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from built_site import PAGES, load_figures, requests_elsewhere, untypeset_formulas

NARROW, WIDE = 390, 1280
# What a reader's first visit transfers, all figures included, from a server that compresses text.
HEAVIEST = 900_000  # bytes
CHAPTER = 500_000  # half of the chapters stay below
COMPRESSED = {".html", ".css", ".js", ".svg"}
ANSWER_HEAD = 300  # bytes


@cache
def transferred(path):
    content = Path(path).read_bytes()
    return ANSWER_HEAD + len(gzip.compress(content) if Path(path).suffix in COMPRESSED else content)


def weight(seen):
    """How many bytes a server would send for all files that the page asked for."""
    return sum(
        transferred(unquote(urlsplit(url).path))
        for url in {u.partition("?")[0].partition("#")[0] for u in seen.requests if u.startswith("file:")}
    )


class Finding(NamedTuple):
    rule: str
    where: str  # what the element's HTML holds
    why: str


# What the theme and docutils get wrong themselves. Nothing of ours may stand here.
NOT_OURS = [
    Finding("region", 'class="navbar-brand logo"', "the theme puts the sidebar's title outside every landmark"),
    Finding("aria-allowed-role", 'role="doc-biblioentry"', "docutils gives entries of the bibliography this role"),
    Finding("aria-deprecated-role", 'role="doc-biblioentry"', "the same role has since been withdrawn"),
    Finding("aria-required-children", 'class="citation-list"', "docutils puts links between the entries of the list"),
]


# Axe takes its time over each text's colours, and pages have thousands of texts that look alike. Contrast depends on a
# text's size, weight and colour, and on what lies behind it: one text of each kind in the book is looked at.
ONE_TEXT_OF_EACH_NEW_KIND = """seen => {
    const known = new Set(seen)
    const plain = ['rgba(0, 0, 0, 0)', 'none', '1', 'none'].join()
    const grounds = new Map([[null, '']])
    const behind = node => {
        if (!grounds.has(node)) {
            const style = getComputedStyle(node)
            const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.filter].join()
            grounds.set(node, behind(node.parentElement) + (own === plain ? '' : own))
        }
        return grounds.get(node)
    }
    const kinds = new Map()
    for (const node of document.querySelectorAll('body *')) {
        if (![...node.childNodes].some(child => child.nodeType === Node.TEXT_NODE && child.data.trim())) continue
        const style = getComputedStyle(node)
        const kind = [style.color, style.fontSize, style.fontWeight, behind(node)].join()
        if (!kinds.has(kind) && !known.has(kind) && node.checkVisibility()) kinds.set(kind, node)
    }
    if (!kinds.size) return [[], []]
    // Axe asks of every visible element what lies where: blocks without such a text step aside meanwhile.
    const needed = new Set()
    for (let node of kinds.values()) for (; node; node = node.parentElement) needed.add(node)
    const blocks = document.querySelectorAll('.bd-article :is(p, pre, ul, ol, dl, table, figure, svg, mjx-container)')
    const aside = [...blocks].filter(node => !needed.has(node) && node.style.display === '')
    for (const node of aside) node.style.display = 'none'
    return axe.run({include: [...kinds.values()]}, {runOnly: ['color-contrast'], resultTypes: ['violations'], preload: false})
        .then(found => [found.violations, [...kinds.keys()]])
        .finally(() => { for (const node of aside) node.style.display = '' })
}"""

# Most of a page's elements are the coloured words of its code. The first of each kind keeps its element.
ONE_WORD_OF_EACH_COLOUR = """() => {
    const kinds = new Set()
    for (const code of document.querySelectorAll('pre')) {
        let place = ''
        for (let node = code; node; node = node.parentElement) place += ' in ' + node.className
        for (const word of code.querySelectorAll('span')) {
            if (kinds.has(word.className + place)) word.replaceWith(...word.childNodes)
            kinds.add(word.className + place)
        }
    }
}"""

# For every other rule the coloured words of code are one text, and so is each formula in a line but the first.
# Whether a link in a text is known without its colour does not depend on the width, and takes axe long.
ALL_BUT_COLOURS = """links => {
    for (const code of document.querySelectorAll('pre')) code.textContent = code.textContent
    for (const formula of [...document.querySelectorAll('mjx-container:not([display])')].slice(1)) formula.textContent = 'x'
    const rules = {'color-contrast': {enabled: false}, 'link-in-text-block': {enabled: links}}
    return axe.run(document, {rules, resultTypes: ['violations'], preload: false}).then(found => found.violations)
}"""


def resize(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    # The theme moves its sidebars in and out over a quarter of a second.
    page.evaluate("Promise.all(document.getAnimations().map(animation => animation.finished))")


@pytest.fixture(scope="module")
def weights():
    """How many bytes each page transferred."""
    return {}


@pytest.fixture(scope="module", params=PAGES)
def seen(request, visit, html, weights):
    seen = visit(f"{html.as_uri()}/{request.param}.html")
    load_figures(seen.page)
    weights[request.param] = weight(seen)
    yield seen
    seen.page.close()


def test_nothing_fails_to_load_and_no_script_complains(seen):
    assert seen.complaints == []


def test_no_request_leaves_the_site(seen, html):
    assert seen.requests and requests_elsewhere(seen, html.as_uri()) == []


def test_one_stylesheet_and_one_script_are_all_it_asks_for(seen, html):
    sheets = [url.partition("?")[0] for url in seen.requests if ".css" in url]
    assert sheets == [f"{html.as_uri()}/_static/site.css"]
    # What the theme and its extensions bring; the translator has scripts of its own besides.
    scripts = [url.partition("?")[0].removeprefix(f"{html.as_uri()}/_static/") for url in seen.requests if ".js" in url]
    brought = [name for name in scripts if not name.startswith("translator/")]
    assert brought == ["site.js", "design-tabs.js"]


def test_formulas_are_typeset(seen):
    assert untypeset_formulas(seen.page) == []


def test_icons_come_from_the_font_of_the_icons_that_pages_show(seen):
    nameless = """nodes => nodes.filter(node => getComputedStyle(node, '::before').content === 'none')
        .map(node => node.className)"""
    assert seen.page.eval_on_selector_all("[class*='fa-']", nameless) == []
    assert [url for url in seen.requests if "fontawesome" in url] == []


def test_images_are_loaded_and_described(seen):
    images = seen.page.eval_on_selector_all(
        "img", "nodes => nodes.map(node => [node.src.slice(0, 200), node.complete && node.naturalWidth > 0, node.alt.trim()])"
    )
    assert [source for source, loaded, alt in images if not (loaded and alt)] == []


# A page opens wide, and becomes narrow once: large pages take their time over a new width.
def test_code_does_not_scroll_sideways(seen):
    resize(seen.page, WIDE)
    too_long = """nodes => nodes.filter(node => node.scrollWidth > node.clientWidth)
        .map(node => node.textContent.split('\\n').reduce((a, b) => a.length < b.length ? b : a))"""
    assert seen.page.eval_on_selector_all("pre:not(.wide-columns pre)", too_long) == []


def test_printed_tables_keep_their_columns(seen):
    """A printed line of columns that breaks would put its last number below its first: such a table scrolls instead."""
    resize(seen.page, WIDE)
    broken = """nodes => nodes.filter(node => getComputedStyle(node).whiteSpace === 'pre-wrap' && node.checkVisibility())
        .map(node => node.textContent.split('\\n').filter(line => line.length > 90))
        .filter(wide => wide.length > 2 && wide.every(line => /\\S {3,}\\S/.test(line)))"""
    assert seen.page.eval_on_selector_all(".cell_output pre", broken) == []


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_page_does_not_scroll_sideways(seen, width):
    resize(seen.page, width)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_formulas_in_the_text_fit_a_phone(seen):
    resize(seen.page, NARROW)
    cut = f"nodes => nodes.filter(node => node.getBoundingClientRect().right > {NARROW}).map(node => node.textContent)"
    assert seen.page.eval_on_selector_all(".bd-article p:not(table p) span.math mjx-container", cut) == []


def test_no_page_is_heavy(seen):
    assert weight(seen) <= HEAVIEST


def test_quizzes_are_answered_by_keyboard(seen):
    page = seen.page
    page.eval_on_selector_all("details:has(.tl-quiz)", "folds => folds.forEach(fold => { fold.open = true })")
    answers = page.locator(".tl-quiz summary")
    if not answers.count():
        return
    # From the last stop before the first answer, Tab alone reaches each answer, and in their order.
    stops = page.evaluate(
        """() => {
            const stops = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
                .filter(node => node.checkVisibility({visibilityProperty: true}) && !node.disabled)
            const answers = [...document.querySelectorAll('.tl-quiz summary')].map(node => stops.indexOf(node))
            window.reached = []
            document.addEventListener('focusin', event => window.reached.push(event.target))
            stops[answers[0] - 1].focus()
            return answers.at(-1) - answers[0] + 1
        }"""
    )
    for _ in range(stops):
        page.keyboard.press("Tab")
    reached = answers.evaluate_all("nodes => nodes.map(node => window.reached.indexOf(node))")
    assert -1 not in reached and reached == sorted(reached)
    # Enter shows an answer's verdict; in the page we note whether it was seen before, and what it says afterwards.
    answers.evaluate_all(
        """nodes => {
            window.said = nodes.map(() => [])
            nodes.forEach((node, n) => {
                const verdict = node.nextElementSibling
                const seen = () => said[n].push(verdict.checkVisibility() ? verdict.innerText.trim() : null)
                node.addEventListener('focus', seen)
                node.addEventListener('keyup', seen)
            })
            window.chooseAnswer = n => nodes[n].focus()
        }"""
    )
    for n in range(len(reached)):
        page.evaluate("n => chooseAnswer(n)", n)
        page.keyboard.press("Enter")
    for before, after in page.evaluate("said"):
        assert before is None and after
    assert seen.complaints == []


def test_a_fold_and_a_chapter_of_the_list_show_that_the_keyboard_is_there(seen):
    """A ring of three pixels, inside: what stands out would be cut off."""
    resize(seen.page, WIDE)
    ring = """selector => {
        const node = [...document.querySelectorAll(selector)].find(node => node.checkVisibility())
        node?.focus({focusVisible: true})
        const style = node && getComputedStyle(node)
        return style ? [style.outlineStyle, style.outlineWidth, style.outlineOffset] : null
    }"""
    for selector in (".bd-article details:not(.tl-quiz *) > summary", ".bd-links a[href]"):
        assert seen.page.evaluate(ring, selector) in (None, ["solid", "3px", "-3px"])


def test_whatever_the_keyboard_reaches_shows_it(seen):
    """One element of each kind: a ring, or a shadow that is there only then."""
    resize(seen.page, WIDE)
    unseen = """() => {
        const stop = new CSSStyleSheet()
        stop.replaceSync('* { transition: none !important }')
        document.adoptedStyleSheets.push(stop)
        const kinds = new Map()
        const stops = document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')
        for (const node of stops) {
            // The map's links show it by the frame of their box: test_in_browser.py sees to that.
            if (node.closest('svg') || !node.checkVisibility({visibilityProperty: true}) || node.disabled) continue
            const classes = [node, node.parentElement].map(one => one.getAttribute('class'))
            kinds.set([node.localName, ...classes, Boolean(node.closest('.bd-article'))].join(), node)
        }
        const look = node => {
            const {outlineStyle, outlineWidth, boxShadow} = getComputedStyle(node)
            return [outlineStyle === 'none' ? 0 : parseFloat(outlineWidth), boxShadow]
        }
        const faults = []
        for (const [kind, node] of kinds) {
            document.activeElement.blur()
            const before = look(node)
            node.focus({focusVisible: true})
            const after = look(node)
            if (after[0] < 2 && (after[1] === 'none' || after[1] === before[1])) faults.push(kind)
        }
        document.activeElement.blur()
        document.adoptedStyleSheets.pop()
        return [kinds.size, faults]
    }"""
    kinds, faults = seen.page.evaluate(unseen)
    assert kinds > 4 and faults == []


def test_a_chapter_begins_with_a_sentence_and_names_its_subjects(seen):
    if "/notebooks/" not in seen.url:
        return
    resize(seen.page, WIDE)
    folds = """() => {
        const texts = [...document.querySelectorAll('.bd-article section section > p')]
        const sentence = texts.find(text => text.textContent.includes('.'))
        const before = node => node.compareDocumentPosition(sentence) & Node.DOCUMENT_POSITION_FOLLOWING
        return [...document.querySelectorAll('.bd-article details')].filter(before).length
    }"""
    assert seen.page.evaluate(folds) <= 1
    subjects = """() => [...document.querySelectorAll('.page-toc a')].filter(link => link.checkVisibility())
        .map(link => link.getAttribute('href').slice(1))"""
    shown = seen.page.evaluate(subjects)
    parts = "nodes => nodes.filter(node => !node.closest('#exercises, #workshop')).map(node => node.closest('section').id)"
    assert set(seen.page.eval_on_selector_all(".bd-article :is(h2, h3)", parts)) <= set(shown)
    assert {"exercises", "workshop"} <= set(shown)


def test_a_section_looks_larger_than_its_parts_and_lines_end_in_time(seen):
    seen.page.set_viewport_size({"width": 1800, "height": 900})
    sizes = """() => ['h1', 'h2', 'h3'].map(name => document.querySelector(`.bd-article ${name}`)).filter(Boolean)
        .map(node => [getComputedStyle(node).fontSize, getComputedStyle(node).fontWeight].map(parseFloat))"""
    found = seen.page.evaluate(sizes)
    for (large, heavy), (small, light) in pairwise(found):
        assert large >= 1.2 * small and heavy >= light
    column = "nodes => Math.max(...nodes.map(node => node.getBoundingClientRect().width))"
    assert seen.page.eval_on_selector_all(".bd-article p", column) <= 46 * 16
    resize(seen.page, WIDE)


def test_no_printed_table_is_longer_than_a_dozen_rows(seen):
    long = """nodes => nodes.filter(node => node.checkVisibility()).map(node => node.textContent.trim().split('\\n'))
        .filter(rows => rows.length > 12 && 2 * rows.filter(row => /\\S {2,}\\S/.test(row)).length > rows.length)
        .map(rows => rows[0])"""
    assert seen.page.eval_on_selector_all(".cell_output pre", long) == []


def test_panels_of_a_page_s_figure_are_stacked_on_a_phone(seen):
    pictures = seen.page.locator(".bd-article picture")
    if not pictures.count():
        return
    shapes = {}
    for width in (NARROW, WIDE):
        resize(seen.page, width)
        load_figures(seen.page)
        shape = "nodes => nodes.map(node => node.naturalHeight > node.naturalWidth)"
        shapes[width] = seen.page.eval_on_selector_all(".bd-article picture img", shape)
    assert shapes == {NARROW: [True] * pictures.count(), WIDE: [False] * pictures.count()}


@pytest.fixture(scope="module")
def known():
    """The kinds of texts whose contrast was looked at on a page before."""
    return set()


def unfold(page):
    # What is folded away must be readable too. Answers of one name would close each other.
    page.eval_on_selector_all("details", "nodes => nodes.forEach(node => { node.removeAttribute('name'); node.open = true })")
    # They fade in, and half faded text is pale.
    page.evaluate("Promise.all(document.getAnimations().map(animation => animation.finished))")
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
        page.evaluate(ONE_WORD_OF_EACH_COLOUR)


def ours(violations):
    return [
        (rule["id"], node["target"], node["failureSummary"])
        for rule in violations
        for node in rule["nodes"]
        if not any(rule["id"] == known.rule and known.where in node["html"] for known in NOT_OURS)
    ]


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])  # once each: large pages take their time over a new width
def test_every_text_stands_out_from_what_is_behind_it(seen, known, colour_scheme, width):
    seen.page.set_viewport_size({"width": width, "height": 900})
    seen.page.emulate_media(color_scheme=colour_scheme)
    seen.page.wait_for_selector(f"html[data-theme={colour_scheme}]")  # the theme's script sets it
    unfold(seen.page)
    violations, kinds = seen.page.evaluate(ONE_TEXT_OF_EACH_NEW_KIND, sorted(known))
    known.update(kinds)
    assert ours(violations) == []


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_a_page_has_its_colours_before_its_script_has_come(visit, server, colour_scheme):
    page = visit("about:blank", colour_scheme=colour_scheme).page
    page.route("**/site.js*", lambda route: route.abort())
    page.goto(f"{server}/notebooks/01_seq2seq.html")
    assert page.get_attribute("html", "data-theme") == colour_scheme
    assert page.locator(".bd-sidebar-primary").evaluate("node => getComputedStyle(node).borderRightWidth") == "1px"
    page.close()


def test_the_column_beside_a_page_is_as_wide_wherever_the_reader_is(visit, server):
    page = visit(f"{server}/notebooks/01_seq2seq.html").page
    width = "node => { node.style.position = 'fixed'; return node.getBoundingClientRect().width }"
    link = page.locator(".toc-entry a.nav-link:visible").first
    before = link.evaluate(width)
    link.evaluate("node => node.classList.add('active')")  # as the theme does where the reader is
    assert before > 0 and link.evaluate(width) == before
    page.close()


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_axe_finds_nothing_else_of_ours(seen, width):
    unfold(seen.page)
    seen.page.set_viewport_size({"width": width, "height": 900})
    # The theme makes what scrolls a stop for the keyboard, a moment after the window has its new size.
    seen.page.wait_for_function(
        """() => [...document.querySelectorAll('pre, .pst-scrollable-table-container')].every(node =>
            node.scrollWidth <= node.clientWidth || node.tabIndex === 0)"""
    )
    assert ours(seen.page.evaluate(ALL_BUT_COLOURS, width == WIDE)) == []


# The last test of a page: the theme's tips for its buttons may stay, and they lie outside of every landmark.
@pytest.mark.parametrize("seen", ["book/index", "book/explorer", "notebooks/06_attention"], indirect=True)
def test_the_buttons_for_the_theme_and_the_sidebar_work(seen):
    page, before = seen.page, list(seen.complaints)
    page.set_viewport_size({"width": 1280, "height": 900})
    modes = set()
    for _ in range(3):
        page.locator(".theme-switch-button:visible").click()
        modes.add(page.get_attribute("html", "data-mode"))
    assert modes == {"light", "dark", "auto"}
    sidebar, button = page.locator(".bd-sidebar-primary"), page.locator(".primary-toggle:visible")
    assert sidebar.is_visible()
    button.click()
    sidebar.wait_for(state="hidden")
    button.click()
    sidebar.wait_for(state="visible")
    page.set_viewport_size({"width": 390, "height": 900})
    sidebar.wait_for(state="hidden")
    button.click()
    sidebar.wait_for(state="visible")
    page.keyboard.press("Escape")
    sidebar.wait_for(state="hidden")
    assert seen.complaints == before


def test_the_chapter_in_the_middle_is_light(weights):
    chapters = {page: sent for page, sent in weights.items() if page.startswith("notebooks/")}
    if len(chapters) < sum(page.startswith("notebooks/") for page in PAGES):
        pytest.skip("only some of the pages were opened")
    assert median(chapters.values()) <= CHAPTER, chapters
