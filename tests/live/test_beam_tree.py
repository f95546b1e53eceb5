"""Each step of the figure's beam, each score and greedy's sentence are the library's, run on a model that knows the book."""

import math
import re

import pytest
import torch

from tools import notebooks
from transformer_lib.decoding import beam_hypotheses, beam_search, greedy_decode, length_penalty
from transformer_lib.seq2seq import EOS_ID
from transformer_lib.teaching.figures import live
from transformer_lib.teaching.figures.live.beam_tree import BOOK, VOCABULARY, BookModel

ALPHAS = [place / 10 for place in range(11)]


def words_of(tokens):
    return " ".join(VOCABULARY[token] for token in tokens)


def press(seen, name):
    seen.figure.get_by_role("button", name=name).focus()
    seen.page.keyboard.press("Enter")


def nodes(seen, kind):
    """The beginnings of this kind in the tree, with the numbers that stand at them."""
    found = seen.figure.locator(f"g[data-kind={kind}]").evaluate_all(
        "all => all.map(node => [node.dataset.words, ...[...node.querySelectorAll('text')].map(text => text.textContent)])"
    )
    return {words: re.findall(r"[−\d.]{4,}", " ".join(texts)) for words, *texts in found}


def minus(text):
    return float(text.replace("−", "-"))


def said(seen):
    return seen.figure.locator(".tl-says").inner_text()


def test_the_book_is_the_chapters():
    cell = next(cell for cell in notebooks.read(notebooks.find("13")).cells if cell.id == "phrase-book")
    space = {}
    exec(cell.source, space)
    assert {english: space["BOOK"][english] for english in BOOK} == BOOK


@pytest.mark.parametrize("number", range(len(BOOK)))
@pytest.mark.parametrize("beam", [1, 2, 3, 4])
def test_every_step_and_score_is_the_librarys(touch, slide, number, beam):
    english, book = list(BOOK.items())[number]
    model, source = BookModel(), torch.tensor([[number]])
    seen = touch(live.beam_tree())
    seen.figure.get_by_label("sentence").focus()
    seen.page.keyboard.type(english)  # the list goes to it
    slide(seen, "beam", beam - 1)

    final = beam_hypotheses(model, source, max_len=12, beam_size=beam)[0]
    last = max(len(one.tokens) for one in final)
    before = {""}
    for step in range(1, last + 1):
        assert f"for {beam} place" in said(seen)
        press(seen, "next step")
        # Cut off after `step` tokens, the library's search shows what its beam holds, and what has ended before.
        held = {words_of(one.tokens): one for one in beam_hypotheses(model, source, max_len=step, beam_size=beam)[0]}
        now = {words: one for words, one in held.items() if len(one.tokens) == step}
        stay = nodes(seen, "kept") | nodes(seen, "ended")
        assert {words for words in stay if len(words.split()) == step} == set(now)
        for words, one in held.items():
            chance, *score = stay[words]
            assert float(chance) == pytest.approx(math.exp(one.log_probability), abs=0.0051)
            assert bool(score) == (one.tokens[-1] == EOS_ID)
            if score:
                assert minus(score[0]) == pytest.approx(one.score, abs=0.00051)
        for words in now:
            assert f"{words} ({stay[words][0]})" in said(seen)
        dropped = {words: chance for words, (chance,) in nodes(seen, "dropped").items() if len(words.split()) == step}
        assert ("dropped: " in said(seen)) == bool(dropped)
        for words, chance in dropped.items():
            assert words.rpartition(" ")[0] in before and f"{words} ({chance})" in said(seen)
            assert float(chance) <= min(float(stay[words][0]) for words in now)
            assert float(chance) == pytest.approx(sum(book[one] for one in book if f"{one} <EOS>".startswith(words)))
        assert len(now) == beam or not dropped
        lengths = sorted({len(words.split()) for words in nodes(seen, "ended")})
        divisors = seen.figure.locator("svg text", has_text="÷").all_text_contents()
        assert divisors == [f"÷ {length_penalty(length, 0.6):.2f}" for length in lengths]
        assert seen.figure.get_by_label("α").is_disabled() == (not lengths)
        before = set(now)
    assert seen.figure.get_by_role("button", name="next step").is_disabled()

    greedy = words_of(greedy_decode(model, source, max_len=12)[0].tolist()).removesuffix(" <EOS>")
    slide(seen, "α", 0)
    for alpha in ALPHAS:
        best = words_of(beam_search(model, source, max_len=12, beam_size=beam, alpha=alpha)[0].tolist()).removesuffix(" <EOS>")
        other = "the same" if best == greedy else greedy
        end = f"All have ended: {best} has the best score, and greedy decoding writes {other}."
        lengths = {len(one.tokens) for one in final}
        if len(final) > 1 and len(lengths) == 1:
            end += f" All have {lengths.pop()} tokens: α cannot change their order."
        assert said(seen).endswith(end)
        rows = [row.split("\t") for row in seen.figure.locator("tr:has(td)").all_inner_texts()]
        expected = beam_hypotheses(model, source, max_len=12, beam_size=beam, alpha=alpha)[0]
        for (words, chance, tokens, score), one in zip(rows, expected, strict=True):
            sentence = words_of(one.tokens).removesuffix(" <EOS>")
            assert words == sentence + (" (greedy)" if sentence == greedy else "")
            assert (int(tokens), float(chance)) == (len(one.tokens), book[sentence])
            assert minus(score) == pytest.approx(one.score, abs=0.00051)
        seen.page.keyboard.press("ArrowRight")


def test_back_and_start_again_undo_and_hand_the_keyboard_on(touch):
    seen = touch(live.beam_tree())
    shown = [seen.figure.locator(".tl-stage").inner_html()]
    for _ in range(4):
        press(seen, "next step")
        shown.append(seen.figure.locator(".tl-stage").inner_html())
    assert len(set(shown)) == 5
    focused = seen.page.locator(":focus")
    assert focused.inner_text() == "back"
    for expected in reversed(shown[:4]):
        seen.page.keyboard.press("Enter")
        assert seen.figure.locator(".tl-stage").inner_html() == expected
    assert focused.inner_text() == "next step"
    seen.page.keyboard.press("Enter")
    seen.page.keyboard.press("Enter")
    press(seen, "start again")
    assert seen.figure.locator(".tl-stage").inner_html() == shown[0]
    assert focused.inner_text() == "next step" and seen.complaints == []


def test_a_reader_says_what_stays_by_click_and_by_key(touch, slide):
    seen = touch(live.beam_tree())
    seen.figure.locator("g[data-words=vous] rect").click(position={"x": 6, "y": 6})
    assert said(seen).startswith("You said vous: no. Step 1: tu (0.60) is the most probable and stays")
    press(seen, "start again")
    seen.figure.get_by_label("tu", exact=True).press("Space")
    assert said(seen).startswith("You said tu: right.")
    # One candidate for one place: nothing to say, and the keyboard goes on.
    assert seen.figure.get_by_role("checkbox").count() == 0
    assert seen.page.locator(":focus").inner_text() == "next step"

    slide(seen, "beam", 1)
    press(seen, "start again")
    for _ in range(2):
        press(seen, "next step")
    first, *others = seen.figure.get_by_role("checkbox").all()
    assert len(others) == 2
    first.press("Space")
    assert first.is_checked() and set(nodes(seen, "said")) == {"tu es étudiant"}
    assert seen.page.locator(":focus").evaluate("node => node.parentElement.textContent") == "tu es étudiant"
    seen.page.keyboard.press("Space")  # and back
    assert not nodes(seen, "said")
    others[0].press("Space")
    seen.figure.locator("g[data-words='vous êtes étudiant'] rect").click(position={"x": 6, "y": 6})
    assert said(seen).startswith("You said tu es étudiante and vous êtes étudiant: 1 right, of 2.")
    assert seen.complaints == []


@pytest.mark.parametrize("width", [390, 1280])
def test_it_asks_only_where_there_is_a_choice_and_the_tree_stays_in_its_place(touch, slide, width):
    seen = touch(live.beam_tree(), width=width)
    slide(seen, "beam", 1)
    for english in BOOK:
        seen.figure.get_by_label("sentence").focus()
        seen.page.keyboard.type(english)
        places, asked = set(), set()
        while True:
            asks = "What stays?" in said(seen)
            candidates = seen.figure.locator("g[data-kind=candidate]")
            assert bool(seen.figure.get_by_role("checkbox").count()) == asks
            assert ("?" in "".join(candidates.all_text_contents())) == asks
            assert (
                candidates.evaluate_all("all => all.every(one => one.style.cursor === 'pointer')") == asks
                or not candidates.count()
            )
            asked.add(asks)
            places.add(tuple(seen.figure.locator(".tl-stage").bounding_box().values()))
            if seen.figure.get_by_role("button", name="next step").is_disabled():
                break
            press(seen, "next step")
        assert len(places) == 1 and asked == {True, False}
    assert seen.complaints == []
