"""The extensions in book/_ext, each in a book of a page or two."""

from io import BytesIO

import bundle_assets
import cut_fonts
import numpy as np
import pytest
import tinycss2
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont
from PIL import Image
from selectolax.lexbor import LexborHTMLParser


def characters(site, name):
    return set(map(chr, TTFont(site / "_static" / "formulas" / f"MathJax_{name}.woff").getBestCmap()))


def test_a_wrong_formula_fails_the_build(build):
    text = "Right is $1 + 1$, wrong is $\\sqt{2}$.\n\n$$\n\\frac{1}{2\n$$"
    for _ in range(2):  # an unchanged page must not be forgiven by the second build
        built = build(index=text)
        assert not built.succeeded
        unknown, unclosed = built.said.splitlines()[:2]
        assert "index.md:6: " in unknown and r"`\sqt{2}`: Undefined control sequence \sqt" in unknown
        assert "index.md:8: " in unclosed and r"`\frac{1}{2`: Missing close brace" in unclosed


def test_a_formula_is_for_eyes_and_ears(build):
    built = build(index="Inline $a^2$.\n\n$$\\sum_i b_i\n\n x = 1 \\\\ y = 2$$")
    assert built.succeeded, built.said
    page = BeautifulSoup((built.site / "index.html").read_bytes(), "html.parser")
    inline, display = page.select(".math")
    assert inline.name == "span" and display.name == "div"
    assert inline.select_one("mjx-assistive-mml > math > msup").get_text() == "a2"
    assert len(display.select("mjx-assistive-mml mtr")) == 4  # two equations, the second of two lines
    assert not [script for script in page.select("script[src]") if "mathjax" in script["src"].lower()]
    assert 'url("formulas/MathJax_Main-Regular.woff?v=' in (built.site / "_static" / "formulas.css").read_text(encoding="utf-8")
    assert characters(built.site, "Math-Italic") == set("abixy")


def test_lines_break_before_signs_and_between_the_words_of_a_name(build):
    table = "| a |\n|---|\n| `some.long_name(TokenEmbedding)` `short_one` |"
    built = build(index=f"So $a = b(1 - c) + d$. `a_long_path/outside_of_tables`\n\n{table}")
    assert built.succeeded, built.said
    page = BeautifulSoup((built.site / "index.html").read_bytes(), "html.parser")
    (glued,) = page.select(".glued")
    assert glued.select(".math") and glued.get_text().endswith(".")
    signs = [place.find_next("mjx-c")["class"][0] for place in glued.select("mjx-math wbr")]
    assert signs == ["mjx-c3D", "mjx-c2B"], "before = and +, and not inside the brackets"
    outside, long, short = page.select(".pre")
    assert not outside.select("wbr") and not short.select("wbr")
    assert list(long.stripped_strings) == ["some.", "long_", "name(", "Token", "Embedding)"]


def test_equations_of_one_display_stay_whole(build):
    built = build(index="$$a = b\\;c,\\qquad d = e$$\n\n$$f\\;= g$$")
    assert built.succeeded, built.said
    page = BeautifulSoup((built.site / "index.html").read_bytes(), "html.parser")
    two, one = page.select("mjx-container[display] > mjx-math")
    assert [part.name for part in two.find_all(recursive=False)] == ["mjx-mrow", "wbr", "mjx-mstyle", "wbr", "mjx-mrow"]
    assert "mjx-mrow" not in [part.name for part in one.find_all(recursive=False)]


def test_words_of_another_language_say_so(build):
    text = "# Masking (마스킹)\n\nThe 위치 인코딩, *je suis étudiant*, *they are tired* and `마스킹`; *Ma sœur ne danse pas*."
    built = build(index=text)
    assert built.succeeded, built.said
    page = BeautifulSoup((built.site / "index.html").read_bytes(), "html.parser")
    spoken = [(word["lang"], word.get_text()) for word in page.select("body [lang]")]
    assert ("ko", "마스킹") in spoken and ("ko", "위치 인코딩") in spoken
    assert [words for language, words in spoken if language == "fr"] == ["je suis étudiant", "Ma sœur ne danse pas"]
    assert not page.select("code [lang]")


def test_a_second_build_keeps_the_characters_of_pages_that_did_not_change(build):
    build(index="$a$", other="$b$")
    built = build(other="$c$")
    assert built.succeeded, built.said
    assert characters(built.site, "Math-Italic") == set("ac")


def test_a_figure_keeps_its_pixels_and_its_place(build, tmp_path):
    pixels = np.random.default_rng(0).integers(256, size=(20, 30, 4), dtype=np.uint8)
    (tmp_path / "source" / "figure.png").write_bytes(png(pixels))
    built = build(index="![noise](figure.png)")
    assert built.succeeded, built.said
    (image,) = BeautifulSoup((built.site / "index.html").read_bytes(), "html.parser").select("img[alt=noise]")
    assert (image["width"], image["height"], image["loading"], image["decoding"]) == ("30", "20", "lazy", "async")
    assert [path.suffix for path in (built.site / "_images").iterdir()] == [".webp"]
    np.testing.assert_array_equal(np.asarray(Image.open(built.site / image["src"])), pixels)


def test_a_map_leads_to_the_pages_where_a_notebook_leads_to_notebooks(build):
    built = build(index='```{raw} html\n<div class="tl-map"><a href="06_attention.ipynb"></a></div>\n```')
    assert built.succeeded, built.said
    page = BeautifulSoup((built.site / "index.html").read_bytes(), "html.parser")
    assert [link["href"] for link in page.select(".tl-map a")] == ["06_attention.html"]


def png(pixels):
    file = BytesIO()
    Image.fromarray(pixels).save(file, "png")
    return file.getvalue()


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        (".here p{a: b}", ".here p{a: b}"),
        (".here .away{a: b}", ""),
        (".away, .here{a: b}", ".here{a: b}"),
        (".here:not(.away), p:is(.away, .here){a: b}", ".here:not(.away),p:is(.away, .here){a: b}"),
        ('a[href$=".pdf"]{a: b}', 'a[href$=".pdf"]{a: b}'),
        (".of-a-script{a: b}", ".of-a-script{a: b}"),
        ("@media print{.away{a: b}}", ""),
        ("@media print{.away{a: b}.here{a: b}}", "@media print{.here{a: b}}"),
        ("@font-face{font-family: away}", "@font-face{font-family: away}"),
    ],
)
def test_the_one_stylesheet_has_the_rules_that_can_apply(rule, kept):
    page = LexborHTMLParser("<p class='and here'><script src=a.js></script> away <script>show('of-a-script')</script>")
    names = bundle_assets.names_in([page], [])
    assert "".join(bundle_assets.used(tinycss2.parse_stylesheet(rule), names)) == kept


def test_sheets_keep_their_order_and_addresses(tmp_path):
    link = '<link rel="stylesheet" href="../_static/{}?v=1" />'.format
    sheets = (["a.css", "c.css"], ["a.css", "b.css", "c.css"], ["site.css"])
    pages = [LexborHTMLParser("".join(map(link, names))) for names in sheets]
    assert bundle_assets.sheets_in_order(pages, []) == ["a.css", "b.css", "c.css"]
    (tmp_path / "deep").mkdir()
    given = "p{background: url('data:x'), url('y.png'), url(#z), url(../x.png)}"
    (tmp_path / "deep" / "a.css").write_text(f'@import "../b.css";\n@media print{{{given}}}', encoding="utf-8")
    (tmp_path / "b.css").write_text("p{background: url(x.png)}", encoding="utf-8")
    rules = "".join(bundle_assets.used(bundle_assets.rules_of(tmp_path, "deep/a.css"), set()))
    seen = """p{background: url("data:x"), url("deep/y.png"), url(#z), url("x.png")}"""
    assert rules == f"""p{{background: url("x.png")}}@media print{{{seen}}}"""


def test_scripts_that_all_pages_have_become_one(tmp_path):
    tag = '<script src="../_static/{}?v=1"></script>'.format
    pages = [
        LexborHTMLParser("".join(map(tag, names)))
        for names in (["a.js", "own.js", "b.js"], ["a.js", "b.js", "only.js"], ["a.js", "own.js", "b.js"])
    ]
    (tmp_path / "a.js").write_text("const a = 1\n//# sourceMappingURL=a.js.map", encoding="utf-8")
    (tmp_path / "b.js").write_text("(() => a)()", encoding="utf-8")
    assert bundle_assets.scripts_in_common(pages, tmp_path) == ["a.js", "b.js"]
    (tmp_path / "b.js").write_text("document.currentScript.dataset", encoding="utf-8")
    assert bundle_assets.scripts_in_common(pages, tmp_path) == ["a.js"]
    assert bundle_assets.without_map((tmp_path / "a.js").read_text(encoding="utf-8")) == "const a = 1\n"

    one = '<script src="../_static/site.js?v=2" defer="defer"></script>'
    own = '<script src="../_static/own.js?v=1" defer="defer"></script>'
    for _ in range(2):  # the second time it is a page of an earlier build
        bundle_assets.load_one_script(pages[0], ["a.js", "b.js"], "../_static/site.js?v=2")
        assert pages[0].head.inner_html == one + own


def test_what_one_file_is_made_of_stands_in_its_first_line(tmp_path):
    assert bundle_assets.names_before(tmp_path / "site.js") == []
    address = bundle_assets.write_together(tmp_path / "site.js", ["a.js", "deep/b.js"], ["one", "two"])
    assert bundle_assets.names_before(tmp_path / "site.js") == ["a.js", "deep/b.js"]
    assert address.startswith("site.js?v=")
    assert address != bundle_assets.write_together(tmp_path / "site.js", ["a.js", "deep/b.js"], ["one", "three"])


def test_icons_are_found_by_their_names_and_in_other_rules():
    styles = r""".fa-plus:before{content:"\2b"} @media print{.fa-a:before, .fa-b::before{content: "\f00c"}}
        .x{--y: "\e001"; z: "w"}"""
    assert cut_fonts.icons_of(styles) == ({"plus": 0x2B, "a": 0xF00C, "b": 0xF00C}, {0xE001})
