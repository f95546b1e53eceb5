"""The parts of the explorer page show the library's numbers: every head's weights, the next word, the beam."""

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from test_accessibility import NOT_OURS
from test_translator_box import type_and_send

from transformer_lib.decoding import beam_hypotheses, greedy_decode, sampling_probabilities
from transformer_lib.seq2seq import PAD_ID, SOS_ID
from transformer_lib.teaching import capture_attention
from transformer_lib.translation import pretrained_translator

SENTENCE = "the white cow does not sleep"
KINDS = {
    "Decoder: cross-attention": "decoder.layers.{}.cross_attention",
    "Decoder: masked self-attention": "decoder.layers.{}.self_attention",
    "Encoder: self-attention": "encoder.layers.{}.attention",
}


@pytest.fixture(scope="module")
def translator():
    translator = pretrained_translator()
    translator.model.eval()
    return translator


@pytest.fixture(scope="module")
def expected(translator):
    """The written ids, the attention weights by name and the logits, of the library."""
    source = torch.tensor([translator.read(SENTENCE)])
    written = greedy_decode(translator.model, source, 40)
    target_in = torch.cat([torch.tensor([[SOS_ID]]), written[:, :-1]], dim=1)
    with capture_attention(translator.model) as kept, torch.no_grad():
        logits = translator.model(source, target_in)[0]
    logits[:, [PAD_ID, SOS_ID]] = -torch.inf
    return source, written[0].tolist(), kept, logits


@pytest.fixture(scope="module", params=["file", "http"])
def seen(request, visit, html, server):
    site = html.as_uri() if request.param == "file" else server
    seen = visit(f"{site}/book/explorer.html")
    type_and_send(seen.page, SENTENCE)
    seen.page.wait_for_selector(".hypotheses li")
    yield seen
    assert seen.complaints == []
    seen.page.close()


def numbers(page):
    """The large map's numbers; a cell of the future is None."""
    rows = page.eval_on_selector_all(
        ".large-map tbody tr", "rows => rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent))"
    )
    return [[None if cell == "–" else int(cell) for cell in row] for row in rows]


def choose(page, label, value):
    page.get_by_role("combobox", name=label).select_option(label=value)


@pytest.mark.parametrize("kind", KINDS)
def test_maps_hold_the_weights_of_every_layer_and_head(seen, expected, kind):
    page = seen.page
    choose(page, "Which attention", kind)
    for layer in range(2):
        for head in range(4):
            button = page.get_by_role("button", name=f"layer {layer + 1}, head {head + 1}")
            button.focus()
            page.keyboard.press("Enter")
            weights = expected[2][KINDS[kind].format(layer)][0, head]
            shown = numbers(page)
            assert len(shown) == len(weights)
            for place, (row, exact) in enumerate(zip(shown, weights.tolist(), strict=True)):
                if "masked" in kind:
                    assert row[place + 1 :] == [None] * (len(row) - place - 1)
                for cell, weight in zip(row, exact, strict=True):
                    assert weight == 0 if cell is None else abs(cell - 100 * weight) <= 0.51
            assert button.get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("temperature, top_k, top_p", [("1", "800", "1"), ("2", "5", "1"), ("4", "800", "0.5")])
def test_bars_are_the_probabilities_of_the_next_word(seen, translator, expected, temperature, top_k, top_p):
    page = seen.page
    page.get_by_label("Written token").select_option(index=2)
    for label, value in [("Temperature", temperature), ("top-k", top_k), ("top-p", top_p)]:
        page.get_by_label(label).fill(value)
    probabilities = sampling_probabilities(expected[3][2], float(temperature), int(top_k), float(top_p))
    possible = int((probabilities > 0).sum())
    page.wait_for_function(f"document.querySelector('.said').textContent.startsWith('{possible} of 800 tokens')")
    bars = page.locator(".bars li").all_inner_texts()
    best = probabilities.topk(min(8, possible))
    assert len(bars) == len(best.values)
    for bar, probability, index in zip(bars, best.values.tolist(), best.indices.tolist(), strict=True):
        token, shown = bar.removesuffix(" %").split("\n")
        assert token == translator.tokenizer.backend.id_to_token(index).replace("▁", "")
        assert abs(float(shown) - 100 * probability) <= 0.06


@pytest.mark.parametrize("top_k", ["", "0", "801", "2.5"])
def test_a_strange_top_k_gets_a_sentence(seen, top_k):
    seen.page.get_by_label("top-k").fill(top_k)
    assert seen.page.locator(".said").inner_text() == "top-k must be a whole number from 1 to 800."
    seen.page.get_by_label("top-k").fill("800")


@pytest.mark.parametrize("beam", [1, 2, 3, 4])
def test_the_beam_is_the_librarys(seen, translator, expected, beam):
    page = seen.page
    choose(page, "Width of the beam", str(beam))
    page.wait_for_function(f"document.querySelectorAll('.hypotheses li').length === {beam}")
    source = expected[0]
    hypotheses = beam_hypotheses(translator.model, source, 2 * source.size(1) + 10, beam)[0]
    shown = page.locator(".hypotheses li").all_inner_texts()
    for text, one in zip(shown, hypotheses, strict=True):
        sentence, score = text.removesuffix(")").split(" (score ")
        assert sentence == translator.tokenizer.decode(one.tokens)
        assert float(score.replace("−", "-")) == pytest.approx(one.score, abs=6e-4)
    steps = page.locator(".steps > li")
    assert steps.count() >= max(len(one.tokens) for one in hypotheses)
    assert all(steps.nth(step).locator("li").count() <= beam for step in range(steps.count()))
    lines = sum(steps.nth(step).locator("li").count() for step in range(1, steps.count()))
    assert page.locator(".tree line").count() == lines


def test_it_does_not_scroll_sideways_on_a_phone(seen):
    seen.page.set_viewport_size({"width": 390, "height": 900})
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
    seen.page.set_viewport_size({"width": 1280, "height": 900})


def test_the_next_sentence_replaces_the_last(seen, translator):
    type_and_send(seen.page, "I sing")
    seen.page.wait_for_function("document.querySelector('.hypotheses li')?.textContent.startsWith('je chante')")
    assert len(numbers(seen.page)) in (2, 3)
    type_and_send(seen.page, SENTENCE)
    seen.page.wait_for_function("document.querySelector('.hypotheses li')?.textContent.startsWith('la vache')")


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_parts(visit, html, colour_scheme):
    page = visit(f"{html.as_uri()}/book/explorer.html", colour_scheme=colour_scheme).page
    type_and_send(page, SENTENCE)
    page.wait_for_selector(".hypotheses li")
    page.evaluate("Promise.all(document.getAnimations().map(animation => animation.finished))")
    violations = Axe().run(page).response["violations"]
    page.close()
    nodes = [(rule["id"], node["html"]) for rule in violations for node in rule["nodes"]]
    assert [(rule, html) for rule, html in nodes if not any(rule == k.rule and k.where in html for k in NOT_OURS)] == []
