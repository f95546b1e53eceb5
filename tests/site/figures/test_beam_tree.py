"""Each step of the figure's beam, each score and greedy's sentence are the library's, run on a model that knows the book."""

import math
import re

import pytest
import torch

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
