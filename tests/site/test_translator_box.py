"""The box with the translator: typed sentences, strange ones, by keyboard alone, from a server and from a file."""

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from built_site import requests_elsewhere
from test_pages import ours

from transformer_lib.seq2seq import generate
from transformer_lib.translation import pretrained_translator

SENTENCE = "my sister does not look at the old newspaper today"
# What is typed; what is read of it, and what is said to be unknown; or a message.
TYPED = {
    "Hello world": ("hello world", "Hello, world"),
    "I am a teacher.": ("I am a teacher", "teacher"),
    "She doesn't have a red car.": ("she does not have a red car", ""),
    "How are you?": ("how are you", "How"),
    "!!!": "Please write an English sentence.",
    "zebra": ("ebra", "zebra"),
    "😀": "Please write an English sentence.",
    "나는 학생입니다": "Please write an English sentence.",
    "<b>": ("b", "b"),
    "my dog is happy and my cat is sad": ("my dog is happy and my cat is sad", ""),
    "": "Please write an English sentence.",
    " \t ": "Please write an English sentence.",
    "I sing and " * 99
    + "I sing now": "Please write a shorter sentence: the translator takes 64 pieces of words, and this has ",
    "I’m a student 🎓!": ("I am a student", ""),
    "i am NOT a student": ("I am not a student", ""),
    'it\'s "new"': ("it is new", "it"),
    "He's left, and they haven't come back": ("he has left and they have not come back", ""),
    "the 2 dogs sleep": ("the dogs sleep", "2"),
    "a <eos> cow": ("a eos cow", "eos"),
}


@pytest.fixture(scope="module")
def translator():
    return pretrained_translator()


@pytest.fixture
def opened(request, visit, html, server):
    way = getattr(request, "param", "http")
    site = html.as_uri() if way == "file" else server
    seen = visit(f"{site}/book/index.html")
    seen.site, seen.way = site, way
    yield seen
    seen.page.close()


# On a page opened as a file there is no worker: the model writes in the page itself.
both_ways = pytest.mark.parametrize("opened", ["file", "http"], indirect=True)


def wait(page):
    page.wait_for_function("() => !document.querySelector('.tl-translator.busy')")


def written(page):
    """The French sentence that the box shows, put together from its words."""
    words = page.locator("[data-answer] .written li:not(.end)")
    text = " ".join(words.all_inner_texts())
    return text.replace("' ", "'")


def type_and_send(page, text):
    page.locator(".tl-translator input[type=text]").first.fill(text)
    page.keyboard.press("Enter")
    wait(page)


@both_ways
def test_a_typed_sentence_gets_the_librarys_translation(opened, translator):
    page = opened.page
    assert written(page) == translator.translate(page.input_value(".tl-translator input"))  # before anything is loaded
    assert not any("weights.js" in url for url in opened.requests)
    for text in (SENTENCE, "She is a student."):
        type_and_send(page, text)
        assert written(page) == translator.translate(text)
    assert sum("weights.js" in url for url in opened.requests) == 1, "fetched once, at the first use"
    assert requests_elsewhere(opened, opened.site) == []
    assert len(page.workers) == (opened.way == "http")
    assert opened.complaints == []


def test_an_example_is_translated_when_it_is_chosen(opened, translator):
    page = opened.page
    example = page.locator(".tl-translator .examples button").last
    example.click()
    wait(page)
    assert written(page) == translator.translate(example.get_attribute("data-text"))


def test_where_words_need_two_rows_they_stand_in_columns_and_the_lines_between(opened):
    page = opened.page
    page.set_viewport_size({"width": 390, "height": 900})
    type_and_send(page, SENTENCE)
    edges = """() => [...document.querySelectorAll(".tl-translator .words")].flatMap(words => {
        const right = Math.max(...[...words.querySelectorAll(".source li")].map(item => item.getBoundingClientRect().right));
        const left = Math.min(...[...words.querySelectorAll(".written li")].map(item => item.getBoundingClientRect().left));
        const lines = [...words.querySelectorAll("line")].map(line => line.getBoundingClientRect());
        return lines.map(line => [line.left - right, left - line.right]);
    })"""
    gaps = page.evaluate(edges)
    assert gaps and all(gap > -0.5 for line in gaps for gap in line)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_function("() => !document.querySelector('.tl-translator .words.columns')")


def test_whatever_is_typed_is_read_as_far_as_it_goes(opened, translator):
    page = opened.page
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 390, "height": 900})
    state = page.locator(".tl-translator .state")
    assert state.get_attribute("role") == "status"
    for text, expected in TYPED.items():
        type_and_send(page, text)
        says = state.inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        if isinstance(expected, str):
            assert says.startswith(expected) and not written(page), text
            continue
        read, unknown = expected
        never = f"The translator has never seen: {unknown}. So it guesses. " if unknown else ""
        assert says == f"{never}In French: {translator.translate(read)}", text
        assert written(page) == translator.translate(read)
        marked = page.locator(".tl-translator .source .unknown").all_inner_texts()
        assert marked == [word for word in unknown.split(", ") if word not in ("", "2")]  # nothing is read of a 2
        assert len(marked) == len(translator.unknown_words(read))
    assert opened.complaints == []


@both_ways
def test_the_last_of_many_requests_wins(opened, translator):
    page = opened.page
    page.eval_on_selector_all(".tl-translator .examples button", "buttons => buttons.forEach(button => button.click())")
    wait(page)
    page.wait_for_timeout(300)
    last = page.locator(".tl-translator .examples button").last
    assert written(page) == translator.translate(last.get_attribute("data-text"))


def test_it_works_by_keyboard_alone(opened):
    page = opened.page
    page.locator(".tl-translator input").first.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("the white cow is tired")
    page.keyboard.press("Enter")
    wait(page)
    looked = {}
    for _ in range(40):
        page.keyboard.press("Tab")
        word = page.evaluate("document.activeElement.closest('.written') && document.activeElement.textContent")
        if word:
            looked[word] = page.locator(".tl-translator .looked").inner_text()
    assert list(looked) == ["la", "vache", "blanche", "est", "fatiguée", "<eos>"]
    assert looked["vache"].startswith("When it wrote “vache”, it looked at: cow ")
    assert looked["blanche"].startswith("When it wrote “blanche”, it looked at: white ")
    assert len(set(looked.values())) == 6


def test_pointing_at_a_word_draws_lines_to_the_source(opened):
    page = opened.page
    type_and_send(page, "the white cow is tired")
    page.locator(".tl-translator .written button", has_text="vache").hover()
    shares = page.eval_on_selector_all(
        ".tl-translator .source li", "items => items.map(item => Number(item.style.getPropertyValue('--share')))"
    )
    assert sum(shares) == pytest.approx(1, abs=1e-4) and max(shares) == shares[2]
    assert page.locator(".tl-translator svg line").count() == sum(share > 0.02 for share in shares)


def test_a_translator_that_cannot_be_loaded_says_so(visit, server):
    seen = visit(f"{server}/book/index.html")
    page = seen.page
    page.context.route("**/weights.js", lambda route: route.abort())
    type_and_send(page, SENTENCE)
    assert page.locator(".tl-translator .state").inner_text() == "Not translated: the translator could not be loaded."
    page.context.unroute("**/weights.js")
    type_and_send(page, "I sing")
    assert written(page) == "je chante"
    page.close()


@pytest.mark.parametrize("way", ["file", "http"])
def test_the_translator_of_captions_is_loaded_when_it_is_used(visit, html, server, translator, way):
    site = html.as_uri() if way == "file" else server
    seen = visit(f"{site}/book/explorer.html")
    page, state = seen.page, seen.page.locator(".tl-translator .state")
    page.emulate_media(reduced_motion="reduce")
    captions = pretrained_translator("captions")
    choice = page.get_by_role("radio", name="captions")
    assert "5 MB" in page.locator("label", has=choice).inner_text()
    page.get_by_role("radio", name="made-up").focus()
    page.keyboard.press("ArrowDown")
    examples = page.locator(".tl-translator .examples button:visible")
    texts = examples.evaluate_all("buttons => buttons.map(button => button.dataset.text)")
    assert choice.is_checked() and page.input_value("input[name=text]") == texts[0]
    assert not page.get_by_text("Words it knows").is_visible()
    assert state.inner_text() == "Press Translate, or choose a sentence."
    assert not any("captions.js" in url for url in seen.requests)
    said = """() => {
        window.said = new Set()
        const state = document.querySelector(".tl-translator .state")
        new MutationObserver(() => said.add(state.textContent)).observe(state, {childList: true})
    }"""
    page.evaluate(said)
    for text in texts[:2]:
        page.locator("input[name=text]").fill(text)
        page.keyboard.press("Enter")
        wait(page)
        assert written(page) == captions.translate(text) and state.inner_text() == f"In French: {captions.translate(text)}"
        assert page.locator(".tl-translator .source").first.inner_text().split() == text.split()
    for text, read, unknown in [
        ("A pangolin plays the guitar.", "A pangolin plays the guitar.", "pangolin"),
        ("TWO dogs run, and it isn't *blorp*", "two dogs run, and it is not blorp", "blorp"),
        ("They don't blorp 😀", "They don't blorp", "blorp"),
    ]:
        type_and_send(page, text)
        wanted = captions.translate(read)
        assert state.inner_text() == f"The translator has never seen: {unknown}. So it guesses. In French: {wanted}"
        assert page.locator(".tl-translator .source .unknown").all_inner_texts() == [unknown]
    notes = page.evaluate("[...said]")
    assert "Loading the translator: 5 MB …" in notes
    assert ("Loading the translator: 4 of 5 MB …" in notes) == (way == "http"), "of a file nobody tells how much is there"
    assert sum("captions.js" in url for url in seen.requests) == 1
    page.get_by_role("radio", name="made-up").check()
    page.get_by_role("button", name="the white horse is tired").click()
    wait(page)
    assert written(page).startswith("la vache ")
    assert len(page.workers) == 2 * (way == "http") and requests_elsewhere(seen, site) == [] and seen.complaints == []
    page.close()


def test_captions_that_cannot_be_loaded_say_so_and_can_be_asked_for_again(visit, server):
    page = visit(f"{server}/book/explorer.html").page
    page.context.route("**/captions.js", lambda route: route.abort())
    page.get_by_role("radio", name="captions").check()
    page.get_by_role("button", name="Translate", exact=True).click()
    wait(page)
    assert page.locator(".tl-translator .state").inner_text() == "Not translated: the translator could not be loaded."
    page.context.unroute("**/captions.js")
    page.get_by_role("button", name="Two dogs").click()
    wait(page)
    assert written(page) == "Deux chiens courent sur la plage."
    page.close()


@pytest.mark.parametrize("place", ["book/explorer", "notebooks/15_interpretation"])
def test_words_in_the_decoders_mouth(visit, server, translator, place):
    page = visit(f"{server}/{place}.html").page
    text_field, first_words_field = page.locator(".tl-translator input[type=text]").all()
    for text, first_words in [
        ("the white cow is tired", "le cheval"),
        ("the white horse is tired", "La vache, 말!"),
        ("I sing", ""),
    ]:
        text_field.fill(text)
        first_words_field.fill(first_words)
        page.keyboard.press("Enter")
        wait(page)
        read = first_words.lower().removesuffix(", 말!")
        given = iter(translator.tokenizer.encode(read) if read else [])
        source = torch.tensor([translator.read(text)])
        choose = lambda logits, given=given: torch.tensor([next(given, int(logits.argmax()))])
        expected = generate(translator.model, source, 2 * source.size(1) + 10, choose)[0]
        assert written(page) == translator.tokenizer.decode(expected.tolist())
        assert " ".join(page.locator(".tl-translator .given").all_inner_texts()) == read
    first_words_field.fill("je chante et " * 30)
    page.keyboard.press("Enter")
    wait(page)
    assert page.locator(".tl-translator .state").inner_text().startswith("Please give fewer first words")
    page.close()


def found_by_axe(page):
    """Return what axe finds on a page, when nothing in it moves any more."""
    page.evaluate("Promise.all(document.getAnimations().map(animation => animation.finished))")
    return ours(Axe().run(page).response["violations"])


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_box_that_was_used(visit, html, colour_scheme):
    page = visit(f"{html.as_uri()}/book/explorer.html", colour_scheme=colour_scheme).page
    for text in (SENTENCE, "나는 학생이다", "the zebra sings"):
        type_and_send(page, text)
        assert found_by_axe(page) == []
    page.close()


def test_without_scripts_the_box_still_shows_a_translation(browser, html):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{html.as_uri()}/book/index.html")
    assert not page.locator(".tl-translator form").is_visible()
    assert page.locator(".tl-translator .written").inner_text().split() == ["la", "vache", "blanche", "est", "grande"]
    assert "allow scripts" in page.locator(".tl-translator").inner_text()
    page.context.close()
