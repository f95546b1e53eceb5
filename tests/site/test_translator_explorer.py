"""The parts of the explorer show the library's numbers: every head, one without some, one layer, the next word, the beam."""

import re

import pytest
import torch
from test_translator_box import type_and_send

from transformer_lib.decoding import beam_hypotheses, greedy_decode, sampling_probabilities
from transformer_lib.seq2seq import PAD_ID, SOS_ID
from transformer_lib.teaching import capture_attention
from transformer_lib.teaching.experiments.translation import without_head
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
    """The source, the attention weights by name and the logits, of the library."""
    source = torch.tensor([translator.read(SENTENCE)])
    written = greedy_decode(translator.model, source, 40)
    target_in = torch.cat([torch.tensor([[SOS_ID]]), written[:, :-1]], dim=1)
    with capture_attention(translator.model) as kept, torch.no_grad():
        logits = translator.model(source, target_in)[0]
    logits[:, [PAD_ID, SOS_ID]] = -torch.inf
    return source, kept, logits


@pytest.fixture(scope="module", params=["file", "http"])
def seen(request, visit, html, server):
    seen = visit(f"{html.as_uri() if request.param == 'file' else server}/book/explorer.html")
    type_and_send(seen.page, SENTENCE)
    seen.page.wait_for_selector(".steps li li")
    yield seen
    assert seen.complaints == []
    seen.page.close()


def press(page, name):
    button = page.get_by_role("button", name=name)
    if button.is_enabled():
        button.focus()
        page.keyboard.press("Enter")


@pytest.mark.parametrize("kind", KINDS)
def test_maps_hold_the_weights_of_every_layer_and_head(seen, expected, kind):
    page = seen.page
    page.get_by_role("combobox", name="Which attention").select_option(label=kind)
    for layer in range(2):
        for head in range(4):
            press(page, f"layer {layer + 1}, head {head + 1}")
            weights = expected[1][KINDS[kind].format(layer)][0, head]
            rows = page.eval_on_selector_all(
                ".large-map tbody tr", "rows => rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent))"
            )
            shown = torch.tensor([[0 if cell == "–" else int(cell) for cell in row] for row in rows])  # –: the future
            assert (shown - 100 * weights).abs().max() <= 0.51


def test_heads_switched_off_change_the_translation_as_in_python(seen, translator):
    page, kind = seen.page, "Decoder: cross-attention"
    whole = translator.translate(SENTENCE)
    page.get_by_role("checkbox", name=f"{kind}, layer 2, head 3").press("Space")
    with without_head(translator.model.get_submodule(KINDS[kind].format(1)), 2):
        expected = translator.translate(SENTENCE)
    assert expected != whole
    page.wait_for_function("() => document.querySelector('.both').innerText.includes('Without 1 of 24')")
    assert page.locator(".both .translation").all_inner_texts() == [whole, expected]
    press(page, "All heads on")
    assert page.locator(".both .translation").all_inner_texts() == [whole, ""]


def test_a_layer_shows_what_its_parts_have_made(seen, translator, expected):
    page, made = seen.page, []
    hook = translator.model.encoder.layers[1].register_forward_hook(lambda module, given, output: made.append(output))
    with torch.no_grad():
        translator.model.start(expected[0])
    hook.remove()
    page.get_by_role("combobox", name="Which layer").select_option(label="encoder, layer 2")
    page.wait_for_function("() => document.querySelector('.layer-state').textContent.startsWith('encoder, layer 2')")
    largest = re.search(r"±\s*([\d.]+)", page.locator(".stations li").last.inner_text())
    assert float(largest[1]) == pytest.approx(made[0].abs().max().item(), abs=0.006)


def test_bars_are_the_probabilities_of_the_next_word(seen, expected):
    page = seen.page
    page.get_by_label("Written token").select_option(index=2)
    for label, value in [("Temperature", "2"), ("top-k", "5"), ("top-p", "1")]:
        page.get_by_label(label).fill(value)
    page.wait_for_function("() => document.querySelector('.said').textContent.startsWith('5 of 800 tokens')")
    shown = [float(bar.removesuffix(" %").split("\n")[1]) for bar in page.locator(".bars li").all_inner_texts()]
    best = sampling_probabilities(expected[2][2], 2.0, 5, 1.0).topk(5).values
    assert shown == pytest.approx((100 * best).tolist(), abs=0.06)


def test_the_beams_hypotheses_are_the_librarys(seen, translator, expected):
    page = seen.page
    page.get_by_role("combobox", name="Width of the beam").select_option(label="3")
    page.wait_for_function("() => /beam of 3/.test(document.querySelector('.at-step').textContent)")
    press(page, "All steps")
    best = beam_hypotheses(translator.model, expected[0], 2 * expected[0].size(1) + 10, 3)[0]
    for text, one in zip(page.locator(".hypotheses li").all_inner_texts(), best, strict=True):
        sentence, score = text.removesuffix(")").split(" (score ")
        assert sentence == translator.tokenizer.decode(one.tokens)
        assert float(score.replace("−", "-")) == pytest.approx(one.score, abs=6e-4)
