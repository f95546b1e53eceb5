"""The search: a term by each of its names, the chapter of a subject first, and excerpts that are sentences."""

import pytest

FIRST = {
    "seq2seq": "01_seq2seq",
    "bottleneck": "01_seq2seq",
    "LSTM": "02_recurrent",
    "RNN": "02_recurrent",
    "gate": "02_recurrent",
    "vocabulary": "01_seq2seq",
    "batch": "03_text",
    "어텐션": "04_alignment",
    "attention": "04_alignment",  # named first there; chapter 6 is the second answer
    "positional encoding": "05_positional_encoding",
    "위치 인코딩": "05_positional_encoding",
    "multi-head attention": "06_attention",
    "query": "04_alignment",
    "encoder": "07_encoder",
    "residual connection": "07_encoder",
    "잔차 연결": "07_encoder",
    "masking": "08_masks",
    "마스킹": "08_masks",
    "causal mask": "08_masks",
    "decoder": "09_decoder",
    "cross attention": "09_decoder",
    "크로스 어텐션": "09_decoder",
    "transformer": "10_transformer",
    "embedding": "01_seq2seq",
    "learning rate": "11_schedule",
    "warm-up": "11_schedule",
    "label smoothing": "11_schedule",
    "training loop": "12_training",
    "beam search": "13_decoding",
    "빔 서치": "13_decoding",
    "cache": "13_decoding",
    "BLEU": "14_translation",
    "byte pair encoding": "14_translation",
    "all-reduce": "17_scaling",
    "bug museum": "18_bug_museum",
}


@pytest.mark.parametrize("name", ["attention", "어텐션", "residual connection", "잔차 연결", "스킵 연결"])
def test_a_term_is_found_by_each_name(visit, server, name):
    page = visit(f"{server}/search.html?q={name}").page
    page.locator("#search-results .search-summary", has_text="found").wait_for()
    found = page.locator("#search-results li a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    page.close()
    assert any(link.startswith("book/glossary.html#term-") for link in found)


def test_a_chapter_is_the_first_result_for_its_own_subject(visit, server):
    page = visit(f"{server}/search.html").page
    page.wait_for_function("() => Search.hasIndex()")
    ask = "query => Search._performSearch(...Search._parseQuery(query)).at(-1)[0]"  # the last is shown first
    found = {query: page.evaluate(ask, query).removeprefix("notebooks/") for query in FIRST}
    page.close()
    assert found == FIRST


def test_an_excerpt_is_made_of_sentences(visit, server):
    page = visit(f"{server}/search.html?q=masking").page
    excerpts = page.locator("#search-results li p.context")
    excerpts.nth(7).wait_for()
    texts = excerpts.all_inner_texts()
    page.close()
    for no_text in ("Maskedmulti-head", ".pdf", "import torch", "#| export"):
        assert not [text for text in texts if no_text in text]


def test_opened_as_a_file_it_lists_titles_and_says_nothing_of_fetching(visit, html):
    seen = visit(f"{html.as_uri()}/search.html?q=masking")
    assert seen.page.locator("#search-results li a").first.inner_text().startswith("8 · Masking")
    seen.page.close()
    assert seen.complaints == []
