"""The box with the translator: typed sentences, strange ones, by keyboard alone, from a server and from a file."""

import pytest
import torch

from transformer_lib.seq2seq import generate
from transformer_lib.translation import pretrained_translator

SENTENCE = "my sister does not look at the old newspaper today"
# What is typed; what is read of it, and what is said to be unknown; or a message.
TYPED = {
    "I am a teacher.": ("I am a teacher", "teacher"),
    "She doesn't have a red car.": ("she does not have a red car", ""),
    "zebra": ("ebra", "zebra"),
    "I’m a student 🎓!": ("I am a student", ""),
    "a <eos> cow": ("a eos cow", "eos"),
    "나는 학생입니다": "Please write an English sentence.",
    " \t ": "Please write an English sentence.",
    "I sing and " * 99 + "I sing now": "Please write a shorter sentence: the translator takes 64 pieces of words",
}


@pytest.fixture(scope="module")
def translator():
    return pretrained_translator()


@pytest.fixture(params=["file", "http"])
def opened(request, visit, html, server):
    seen = visit(f"{html.as_uri() if request.param == 'file' else server}/book/explorer.html")
    seen.way = request.param
    yield seen
    assert seen.complaints == []
    seen.page.close()


def written(page):
    """The French sentence that the box shows, put together from its words."""
    return " ".join(page.locator("[data-answer] .written li:not(.end)").all_inner_texts()).replace("' ", "'")


def type_and_send(page, text):
    page.locator(".tl-translator input[type=text]").first.fill(text)
    page.keyboard.press("Enter")
    page.wait_for_function("() => !document.querySelector('.tl-translator.busy')")


def test_whatever_is_typed_is_read_as_far_as_it_goes(opened, translator):
    page = opened.page
    assert written(page) == translator.translate(page.input_value("input[name=text]"))  # before anything is loaded
    assert not any("weights.js" in url for url in opened.requests)
    for text, expected in TYPED.items():
        type_and_send(page, text)
        says = page.locator(".tl-translator .state").inner_text()
        if isinstance(expected, str):
            assert says.startswith(expected) and not written(page), text
            continue
        read, unknown = expected
        never = f"The translator has never seen: {unknown}. So it guesses. " if unknown else ""
        assert says == f"{never}In French: {translator.translate(read)}", text
        assert written(page) == translator.translate(read)
    assert sum("weights.js" in url for url in opened.requests) == 1, "fetched once, at the first use"
    assert len(page.workers) == (opened.way == "http")


def test_it_works_by_keyboard_alone(opened):
    page = opened.page
    page.locator("input[name=text]").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("the white cow is tired")
    page.keyboard.press("Enter")
    page.locator(".tl-translator .looked", has_text="When it wrote “fatiguée”").first.wait_for()
    looked = {}
    for _ in range(40):
        page.keyboard.press("Tab")
        word = page.evaluate("document.activeElement.closest('[data-answer] .written') && document.activeElement.textContent")
        if word:
            looked[word] = page.locator(".tl-translator .looked").first.inner_text()
    assert list(looked)[:6] == ["la", "vache", "blanche", "est", "fatiguée", "<eos>"]
    assert looked["vache"].startswith("When it wrote “vache”, it looked at: cow ")
    assert looked["blanche"].startswith("When it wrote “blanche”, it looked at: white ")


def test_the_translator_of_captions_is_loaded_when_it_is_used(opened):
    page, captions = opened.page, pretrained_translator("captions")
    page.get_by_role("radio", name="made-up").focus()
    page.keyboard.press("ArrowDown")
    assert not any("captions.js" in url for url in opened.requests)
    for text in ("Two dogs run on the beach.", "A pangolin plays the guitar."):
        type_and_send(page, text)
        assert written(page) == captions.translate(text)
    assert sum("captions.js" in url for url in opened.requests) == 1


@pytest.mark.parametrize("place", ["book/explorer", "notebooks/15_interpretation"])
def test_words_in_the_decoders_mouth(visit, server, translator, place):
    page = visit(f"{server}/{place}.html").page
    text, first_words = "the white cow is tired", "le cheval"
    page.locator("input[name=first_words]").fill(first_words)
    type_and_send(page, text)
    given = iter(translator.tokenizer.encode(first_words))
    source = torch.tensor([translator.read(text)])
    choose = lambda logits: torch.tensor([next(given, int(logits.argmax()))])
    expected = generate(translator.model, source, 2 * source.size(1) + 10, choose)[0]
    assert written(page) == translator.tokenizer.decode(expected.tolist())
    page.close()


def test_a_translator_that_cannot_be_loaded_says_so(visit, server):
    page = visit(f"{server}/book/index.html").page
    page.context.route("**/weights.js", lambda route: route.abort())
    type_and_send(page, SENTENCE)
    assert page.locator(".tl-translator .state").inner_text() == "Not translated: the translator could not be loaded."
    page.context.unroute("**/weights.js")
    type_and_send(page, "I sing")
    assert written(page) == "je chante"
    page.close()
