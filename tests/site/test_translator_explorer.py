"""The parts of the explorer show the library's numbers: every head, one without some, one layer, the next word, the beam."""

import re
from collections import Counter
from contextlib import ExitStack
from functools import partial

import pytest
import torch
from test_translator_box import found_by_axe, type_and_send
from torch.testing import assert_close

from transformer_lib.decoding import beam_hypotheses, greedy_decode, sampling_probabilities
from transformer_lib.seq2seq import PAD_ID, SOS_ID
from transformer_lib.teaching import capture_attention
from transformer_lib.teaching.experiments.translation import without_head
from transformer_lib.teaching.figures.live.trained_attention import trained_looks
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


@pytest.fixture(scope="module")
def seen(request, visit, html, server):
    site = html.as_uri() if getattr(request, "param", "http") == "file" else server
    seen = visit(f"{site}/book/explorer.html")
    type_and_send(seen.page, SENTENCE)
    seen.page.wait_for_selector(".steps li li")
    yield seen
    assert seen.complaints == []
    seen.page.close()


def numbers(page):
    """The large map's numbers; a cell of the future is None."""
    rows = page.eval_on_selector_all(
        ".large-map tbody tr", "rows => rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent))"
    )
    return [[None if cell == "–" else int(cell) for cell in row] for row in rows]


def plain(token):
    """A token as the page shows it: with dots where it goes on with the token before it."""
    return f"…{token}" if token[0].isalnum() else token.replace("▁", "")


def choose(page, label, value):
    page.get_by_role("combobox", name=label).select_option(label=value)


def press(page, name):
    button = page.get_by_role("button", name=name)
    if button.is_enabled():
        button.focus()
        page.keyboard.press("Enter")


def beam_says(page):
    return page.locator(".at-step").inner_text()


@pytest.mark.parametrize("seen", ["file", "http"], indirect=True)
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


def test_it_opens_with_the_sentence_that_is_drawn(visit, server, translator):
    seen = visit(f"{server}/book/explorer.html")
    assert not any("weights.js" in url for url in seen.requests), "fetched when a part comes into view"
    seen.page.locator("[data-explorer=maps]").scroll_into_view_if_needed()
    seen.page.wait_for_selector(".steps li li")
    drawn = seen.page.locator("[data-answer] .written").inner_text().split()
    assert [row.split("\t")[0] for row in seen.page.locator(".large-map tbody tr").all_inner_texts()] == [*drawn, "<eos>"]
    assert seen.complaints == []
    seen.page.close()


ASK = """request => new Promise(answer => transformer_lib.client.ask(request, answer))"""


def as_tensor(values):
    """A matrix of numbers; None, which is -∞, is a number that no score has."""
    return torch.tensor([[-1e9 if value is None else value for value in row] for row in values])


def looks_are_alike(found, expected):
    assert len(found) == len(expected) > 0
    for ours, look in zip(found, expected, strict=True):
        assert ours.keys() == look.keys() and ours.pop("name") == look.pop("name")
        for role, matrix in look.pop("w").items():
            assert_close(torch.tensor(ours["w"][role]), torch.tensor(matrix))
        assert_close(torch.tensor(ours["sums"]), torch.tensor(look.pop("sums")), rtol=1e-3, atol=1e-5)
        for name, values in look.items():
            assert_close(as_tensor(ours[name]), as_tensor(values), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_the_numbers_of_the_figure_are_the_librarys(seen, translator, expected, kind):
    stack, _, _, part = KINDS[kind].split(".")
    data = trained_looks(translator, SENTENCE, stack, part)
    request = {"kind": "looks", "text": SENTENCE, "written": expected[1], "stack": stack, "part": part}
    answer = seen.page.evaluate(ASK, request)
    assert answer["d_k"] == data["d_k"] == 24 and answer["d_model"] == data["d_model"] == 96
    looks_are_alike(answer["looks"], data["looks"])


def figure_shows(page, name):
    """The texts of a matrix of the figure."""
    return page.locator(f"figure g[data-matrix={name}] text").all_text_contents()


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_and_a_head_are_chosen_in_one_place_and_shown_in_all(seen, expected, kind):
    page, kept = seen.page, expected[2]
    choose(page, "Which attention", kind)
    page.get_by_role("button", name="layer 2, head 3").click()
    title = f"{kind}, layer 2, head 3"
    page.wait_for_function("title => document.querySelector('figcaption').textContent === title", arg=title)
    figure, lines = page.locator("figure.tl-live"), page.locator("[data-explorer=maps] .written button")
    figure.get_by_role("combobox").select_option(index=figure.get_by_role("combobox").locator("option").count() - 1)
    weights = kept[KINDS[kind].format(1)][0]  # (heads, query, key)
    ways = [
        lambda place: page.locator(".large-map tbody tr").nth(place).click(),
        lambda place: lines.nth(place).focus(),
        lambda place: lines.nth(place).hover(),
        lambda place: figure.get_by_role("group").get_by_role("button").nth(place).press("Enter"),
    ]
    for way, place in zip(ways, (0, 2, 1, weights.size(1) - 1), strict=True):
        way(place)
        places = ["tbody tr", ".written li"]
        for marked in (page.locator(f"[data-explorer=maps] {one}") for one in places):
            assert marked.evaluate_all("nodes => nodes.map(node => node.className === 'chosen')").index(True) == place
        pressed = figure.get_by_role("group").get_by_role("button").evaluate_all("nodes => nodes.map(node => node.ariaPressed)")
        assert pressed.index("true") == place and pressed.count("true") == 1
        row = weights[:, place]  # (heads, key)
        assert [float(text) for text in figure_shows(page, "weights")] == pytest.approx(row[2].tolist(), abs=0.0051)
        assert ("mask" in " ".join(page.locator("figure option").all_inner_texts())) == ("masked" in kind)
        drawn = page.locator("[data-explorer=maps] .words line")
        thick = drawn.evaluate_all("lines => lines.map(line => [line.style.stroke, parseFloat(line.style.strokeWidth)])")
        heads = [head for head in row for share in head.tolist() if share > 0.02]
        assert len(thick) == len(heads) and len({stroke for stroke, _ in thick}) == 4, "a colour for each head"
        exact = [8 * share for head in row.tolist() for share in head if share > 0.02]
        assert [width for _, width in thick] == pytest.approx(exact, abs=0.01)
        says = page.locator(".of-heads li").all_inner_texts()
        for head, (text, shares) in enumerate(zip(says, row.tolist(), strict=True)):
            assert text.startswith(f"head {head + 1}: ") and text.count("%") == min(4, sum(share >= 0.02 for share in shares))
            assert f" {round(100 * max(shares))} %" in text


@pytest.mark.parametrize(
    ("off", "changes"),
    [
        ([("Decoder: cross-attention", 1, 2)], True),  # the negation is lost
        ([("Encoder: self-attention", 1, head) for head in range(4)], True),  # the gender
        ([("Decoder: masked self-attention", 0, 0), ("Decoder: cross-attention", 0, 3)], False),
    ],
)
def test_a_head_switched_off_changes_the_translation_as_in_python(seen, translator, off, changes):
    page = seen.page
    whole, model = translator.translate(SENTENCE), translator.model
    with ExitStack() as stack:
        for kind, layer, head in off:
            stack.enter_context(without_head(model.get_submodule(KINDS[kind].format(layer)), head))
            page.get_by_role("checkbox", name=f"{kind}, layer {layer + 1}, head {head + 1}").press("Space")
        expected = translator.translate(SENTENCE)
    assert (expected != whole) == changes
    count = len(off)
    page.wait_for_function("count => document.querySelector('.both').innerText.includes(`Without ${count} of 24`)", arg=count)
    assert page.locator(".both .translation").all_inner_texts() == [whole, expected]
    both = [Counter(text.replace("'", "' ").split()) for text in (whole, expected)]
    for mark, lost in [("del", both[0] - both[1]), ("ins", both[1] - both[0])]:
        assert Counter(page.locator(f".both {mark}").all_inner_texts()) == lost
    assert page.locator(".both del").count() > 0 or not changes
    said = page.locator(".both [role=status]")
    assert said.inner_text() == f"Without {count} of 24 heads{'' if changes else ', the same'}:"
    press(page, "All heads on")
    assert page.locator("[data-explorer=heads] :checked").count() == 24
    assert page.locator(".both .translation").all_inner_texts() == [whole, ""]
    assert page.locator(".both :is(ins, del)").count() == 0


def test_a_sentence_that_is_refused_leaves_nothing_of_the_one_before(seen):
    page = seen.page
    choose(page, "Which attention", "Encoder: self-attention")
    type_and_send(page, "나는 학생이다")
    parts = page.locator("[data-explorer]")
    assert set(parts.all_inner_texts()) == {"The sentence above is not translated: there is nothing to show."}
    assert not page.locator("figure.tl-live").is_visible()
    type_and_send(page, SENTENCE)
    page.wait_for_selector(".steps li li")
    page.locator("figure.tl-live").wait_for()
    assert page.get_by_label("Which attention").input_value() == "2", "what was chosen stays"


def test_the_other_translator_is_not_shown_what_the_first_one_wrote(visit, server):
    seen = visit(f"{server}/book/explorer.html")
    page = seen.page
    type_and_send(page, SENTENCE)
    page.wait_for_selector(".steps li li")
    page.get_by_role("radio", name="captions").check()
    assert page.locator("[data-answer] .words").inner_text().strip() == ""
    assert page.locator("[data-answer] .looked").inner_text() == ""
    assert page.locator("[data-answer] line").count() == 0
    parts = page.locator("[data-explorer]")
    assert set(parts.all_inner_texts()) == {"The sentence above is not translated: there is nothing to show."}
    assert not page.locator("figure.tl-live").is_visible()
    assert page.locator(".tl-translator .state").inner_text() == "Press Translate, or choose a sentence."
    page.get_by_role("radio", name="made-up").check()
    page.get_by_role("button", name="Translate", exact=True).click()
    page.wait_for_selector(".steps li li")
    assert seen.complaints == []
    page.close()


def stations(stack, layer):
    """The parts of a layer whose vectors the page shows, in its order, and whether their input is shown."""
    if layer == 0:
        yield from [("embedding", False), ("position", False)]
    names = {"encoder": ["attention"], "decoder": ["self_attention", "cross_attention"]}[stack]
    yield f"{names[0]}.query_projection", True
    for name in names:
        yield from [(f"{name}.{which}_projection", False) for which in ("query", "key", "value")]
        yield from [(f"{name}.output_projection", True), (f"{name}.output_projection", False)]
        yield from [(f"{name}_residual.norm", True), (f"{name}_residual.norm", False)]
    yield from [("feed_forward.outer", True), ("feed_forward.outer", False)]
    yield from [("feed_forward_residual.norm", True), ("feed_forward_residual.norm", False)]


@pytest.mark.parametrize("stack, layer", [("encoder", 0), ("encoder", 1), ("decoder", 0), ("decoder", 1)])
def test_each_part_of_a_layer_shows_what_it_was_given_and_made(seen, translator, expected, stack, layer):
    page, (source, written, _, _), passed = seen.page, expected, {}
    module = getattr(translator.model, stack).layers[layer]

    def note(name, part, given, made):
        passed[name, True], passed[name, False] = given[0][0], made[0]  # each (seq, width)

    hooks = [part.register_forward_hook(partial(note, name)) for name, part in module.named_modules()]
    target_in = torch.tensor([[SOS_ID, *written[:-1]]])
    with torch.no_grad():
        translator.model(source, target_in)
        tokens = source if stack == "encoder" else target_in
        passed["embedding", False] = translator.model.source_embedding(tokens)[0]
        passed["position", False] = translator.model.positional_encoding.table[0, : tokens.size(1)]
    for hook in hooks:
        hook.remove()

    choose(page, "Which layer", f"{stack}, layer {layer + 1}")
    last = page.get_by_label("Which row").locator("option").last.inner_text()
    state = f"{stack}, layer {layer + 1}, the row of “{last}”"
    page.wait_for_function("state => document.querySelector('.layer-state').textContent === state", arg=state)
    for place in (-1, 0):
        row = page.get_by_label("Which row")
        row.focus()
        page.keyboard.press("Home" if place == 0 else "End")
        items = page.locator(".stations li").all()
        for item, key in zip(items, stations(stack, layer), strict=True):
            vectors = passed[key]
            title, says = item.locator("p").all_inner_texts()
            assert f" ({len(vectors)}, {vectors.size(1)}): " in title
            assert float(says.split("±")[1]) == pytest.approx(vectors.abs().max().item(), abs=0.006)
            if key[0] in ("cross_attention.key_projection", "cross_attention.value_projection"):
                assert says.startswith("its rows are the source's")
                continue
            numbers = vectors[place]
            mean, deviation = re.search(r"mean (.*), standard deviation ([\d.]+)", says).groups()
            assert float(mean.replace("−", "-")) == pytest.approx(numbers.mean().item(), abs=0.006)
            assert float(deviation) == pytest.approx(numbers.std(unbiased=False).item(), abs=0.006)
            zeros = re.search(rf"(\d+) of {len(numbers)} are 0", says)
            assert int(zeros[1] if zeros else 0) == (numbers == 0).sum()
            # The last shade is what the largest numbers have, on their side of 0.
            above, below = (item.locator(f"path.{side}[fill-opacity='1']") for side in ("above", "below"))
            drawn = sum((path.get_attribute("d") or "").count("M") for path in [*above.all(), *below.all()])
            assert drawn == pytest.approx((vectors.abs() > vectors.abs().max() * 7.5 / 8).sum().item(), abs=1)
        assert float(items[0].locator("rect").get_attribute("y")) == (0 if place == 0 else len(passed[key]) - 1)


def test_a_row_of_vectors_can_be_chosen_by_a_click(seen):
    page, picture = seen.page, seen.page.locator(".stations svg").first
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    page.mouse.click(box["x"] + 40, box["y"] + 12)  # each row is 8 pixels high
    row = page.get_by_label("Which row")
    assert row.input_value() == "1"
    assert page.locator(".layer-state").inner_text().endswith(f"“{row.locator('option').nth(1).inner_text()}”")


@pytest.mark.parametrize("temperature, top_k, top_p", [("1", "800", "1"), ("2", "5", "1"), ("4", "800", "0.5")])
def test_bars_are_the_probabilities_of_the_next_word(seen, translator, expected, temperature, top_k, top_p):
    page = seen.page
    page.get_by_label("Written token").select_option(index=2)
    for label, value in [("Temperature", temperature), ("top-k", top_k), ("top-p", top_p)]:
        page.get_by_label(label).fill(value)
    probabilities = sampling_probabilities(expected[3][2], float(temperature), int(top_k), float(top_p))
    possible = int((probabilities > 0).sum())
    page.wait_for_function(f"() => document.querySelector('.said').textContent.startsWith('{possible} of 800 tokens')")
    bars = page.locator(".bars li").all_inner_texts()
    best = probabilities.topk(min(8, possible))
    assert len(bars) == len(best.values)
    for bar, probability, index in zip(bars, best.values.tolist(), best.indices.tolist(), strict=True):
        token, shown = bar.removesuffix(" %").split("\n")
        assert token == plain(translator.tokenizer.backend.id_to_token(index))
        assert abs(float(shown) - 100 * probability) <= 0.06


@pytest.mark.parametrize("top_k", ["", "0", "801", "2.5"])
def test_a_strange_top_k_gets_a_sentence(seen, top_k):
    seen.page.get_by_label("top-k").fill(top_k)
    assert seen.page.locator(".said").inner_text() == "top-k must be a whole number from 1 to 800."
    seen.page.get_by_label("top-k").fill("800")


@pytest.mark.parametrize("beam", [1, 2, 3, 4])
def test_the_beam_is_the_librarys_step_by_step(seen, translator, expected, beam):
    page, source, model = seen.page, expected[0], translator.model
    press(page, "All steps")
    choose(page, "Width of the beam", str(beam))
    steps = page.locator(".steps > li")
    buttons = [page.get_by_role("button", name=name, exact=True) for name in ("Back", "Next step")]
    page.wait_for_function(f"() => /^Step 1 of .* beam of {beam}/.test(document.querySelector('.at-step').textContent)")
    assert [button.is_disabled() for button in buttons] == [True, False]
    last = int(beam_says(page).split()[3].rstrip(","))
    kept = []
    for step in range(1, last + 1):
        assert steps.count() == step and beam_says(page).startswith(
            f"Step {step} of {last}, with a beam of {beam}. Ended so far: "
        )
        texts = [text.split("\n") for text in steps.nth(step - 1).locator("li").all_inner_texts()]
        kept.append([(token, float(total.replace("−", "-"))) for token, total in texts])
        assert len(kept[-1]) <= beam
        # Cut off after `step` tokens, the library's search gives what it has in its beam.
        for one in beam_hypotheses(model, source, step, beam)[0]:
            if len(one.tokens) == step:
                token = plain(translator.tokenizer.backend.id_to_token(one.tokens[-1])) or "▁"
                assert (token, pytest.approx(one.log_probability, abs=0.006)) in kept[-1]
        ended = sum(token == "<eos>" for column in kept for token, _ in column)
        assert beam_says(page).endswith(f"Ended so far: {ended}.") and page.locator(".tree .ended").count() == ended
        assert page.locator(".tree line").count() == sum(map(len, kept[1:]))
        assert page.locator(".hypotheses").is_visible() == (step == last)
        if step < last:
            press(page, "Next step")

    hypotheses = beam_hypotheses(model, source, 2 * source.size(1) + 10, beam)[0]
    assert max(len(one.tokens) for one in hypotheses) <= last
    shown = page.locator(".hypotheses li").all_inner_texts()
    for text, one in zip(shown, hypotheses, strict=True):
        sentence, score = text.removesuffix(")").split(" (score ")
        assert sentence == translator.tokenizer.decode(one.tokens)
        assert float(score.replace("−", "-")) == pytest.approx(one.score, abs=6e-4)
    # Whoever pressed a button to its end goes on with the other one.
    assert buttons[1].is_disabled() and page.locator(":focus").inner_text() == "Back"
    for step in range(last - 1, 0, -1):
        page.keyboard.press("Enter")
        assert steps.count() == step
    assert page.locator(":focus").inner_text() == "Next step"


def test_what_the_beam_did_not_go_on_with_is_marked_as_dropped(seen):
    press(seen.page, "All steps")
    marks = seen.page.locator(".steps > li").evaluate_all(
        "steps => steps.map(step => [...step.querySelectorAll('li')].map(item => item.className))"
    )
    lines = seen.page.locator(".tree line").evaluate_all(
        "lines => lines.map(line => line.getAttribute('x1') + ' ' + line.getAttribute('y1'))"
    )
    assert any("dropped" in step for step in marks) and "dropped" not in marks[-1]
    for step in marks[:-1]:
        assert set(step) <= {"", "ended", "dropped"}
    # From each one that goes on, lines start; from no other.
    assert len(set(lines)) == sum(step.count("") for step in marks[:-1])


def test_it_does_not_scroll_sideways_on_a_phone(seen):
    seen.page.set_viewport_size({"width": 390, "height": 900})
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
    seen.page.set_viewport_size({"width": 1280, "height": 900})


def test_the_next_sentence_replaces_the_last(seen, translator):
    type_and_send(seen.page, "I sing")
    seen.page.wait_for_function("() => document.querySelector('.hypotheses li')?.textContent.startsWith('je chante')")
    assert len(numbers(seen.page)) in (2, 3)
    type_and_send(seen.page, SENTENCE)
    seen.page.wait_for_function("() => document.querySelector('.hypotheses li')?.textContent.startsWith('la vache')")


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_parts(visit, html, colour_scheme):
    page = visit(f"{html.as_uri()}/book/explorer.html", colour_scheme=colour_scheme).page
    type_and_send(page, SENTENCE)
    page.wait_for_selector(".steps li li")
    press(page, "All steps")
    for head in range(1, 5):
        page.get_by_role("checkbox", name=f"Encoder: self-attention, layer 2, head {head}").press("Space")
    page.wait_for_selector(".both [role=status]:has-text('Without 4')")
    assert all(page.locator(f".both {mark}").count() for mark in ("ins", "del")), "both kinds of marks"
    assert found_by_axe(page) == []
    page.close()
