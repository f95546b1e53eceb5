"""The Korean edition: whole, none of it stale, with the English code; and found by a word with its particle."""

from urllib.parse import quote

import pytest

from tools import korean, notebooks

QUERIES = {
    "02_recurrent": ["순환 신경망이", "기울기 소실은", "은닉 상태를"],
    "03_text": ["감성 분석을", "토큰으로"],
    "01_seq2seq": ["병목이"],
    "04_alignment": ["바다나우의"],
    "05_positional_encoding": ["위치 인코딩은", "사인과 코사인을"],
    "06_attention": ["어텐션은", "셀프 어텐션이", "멀티 헤드 어텐션의"],
    "07_encoder": ["인코더는", "층 정규화를", "잔차 연결이"],
    "08_masks": ["마스킹은", "패딩을", "인과 마스크로"],
    "09_decoder": ["디코더가", "크로스 어텐션에서"],
    "10_transformer": ["트랜스포머를"],
    "11_schedule": ["학습률을", "웜업은"],
    "12_training": ["학습 루프에서", "교사 강요를"],
    "13_decoding": ["빔 검색으로"],
    "14_translation": ["번역기를"],
    "17_scaling": ["혼합 정밀도로"],
    "18_bug_museum": ["버그를"],
    "19_language_model": ["언어 모델은"],
}


@pytest.mark.parametrize("path", korean.pages(), ids=lambda path: path.stem)
def test_a_page_is_translated_and_none_of_it_is_stale(path):
    assert list(korean.faults(path)) == []


def test_a_korean_notebook_has_the_english_code():
    for path in notebooks.all_notebooks() + notebooks.deeper_notebooks():
        ours = {cell.id: cell for cell in notebooks.read(korean.BUILT / path.relative_to(notebooks.ROOT)).cells}
        assert sum(korean.LANGUAGE in cell.source for cell in ours.values()) == 1, path
        for cell in notebooks.read(path).cells:
            if cell.cell_type == "code":
                there = ours[cell.id].source.replace(korean.LANGUAGE, "")
                assert korean.TITLE.sub("", there) == korean.TITLE.sub("", cell.source)


@pytest.mark.parametrize(("chapter", "query"), [(chapter, query) for chapter, queries in QUERIES.items() for query in queries])
def test_a_word_is_found_with_its_particle(visit, html, chapter, query):
    seen = visit(f"{html.as_uri()}/ko/search.html?q={quote(query)}")
    seen.page.locator("#search-results li a").first.wait_for()
    found = seen.page.eval_on_selector_all(
        "#search-results li a", "nodes => nodes.slice(0, 5).map(node => node.getAttribute('href'))"
    )
    assert any(chapter in address for address in found)
    assert seen.complaints == []
    seen.page.close()
