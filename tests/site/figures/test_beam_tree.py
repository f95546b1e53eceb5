"""Each step of the figure's beam, each score and greedy's sentence are the library's, run on a model that knows the book."""

import math
import re

import pytest
import torch

from transformer_lib.decoding import beam_hypotheses, beam_search, greedy_decode, length_penalty
from transformer_lib.seq2seq import EOS_ID
from transformer_lib.teaching.figures import live
from transformer_lib.teaching.figures.live.beam_tree import BOOK, VOCABULARY, BookModel


def words_of(tokens):
    return " ".join(VOCABULARY[token] for token in tokens)


def nodes(seen, kind):
    """The beginnings of this kind in the tree, with the numbers that stand at them."""
    found = seen.figure.locator(f"g[data-kind={kind}]").evaluate_all(
        "all => all.map(node => [node.dataset.words, ...[...node.querySelectorAll('text')].map(text => text.textContent)])"
    )
    return {words: re.findall(r"[-\d.]{4,}", " ".join(texts).replace("−", "-")) for words, *texts in found}


@pytest.mark.parametrize(("number", "beam"), [(number, 1 + number % 3) for number in range(len(BOOK))])
def test_every_step_and_score_is_the_librarys(touch, slide, number, beam):
    model, source = BookModel(), torch.tensor([[number]])
    seen = touch(live.beam_tree())
    seen.figure.get_by_label("sentence").select_option(list(BOOK)[number])
    slide(seen, "beam", beam - 1)
    onward, said = seen.figure.get_by_role("button", name="next step"), seen.figure.locator(".tl-says")
    final = beam_hypotheses(model, source, max_len=12, beam_size=beam)[0]
    for step in range(1, max(len(one.tokens) for one in final) + 1):
        onward.press("Enter")
        # Cut off after `step` tokens, the library's search shows what its beam holds, and what has ended before.
        held = {words_of(one.tokens): one for one in beam_hypotheses(model, source, max_len=step, beam_size=beam)[0]}
        stay = nodes(seen, "kept") | nodes(seen, "ended")
        now = {words for words, one in held.items() if len(one.tokens) == step}
        assert {words for words in stay if len(words.split()) == step} == now
        for words, one in held.items():
            chance, *score = map(float, stay[words])
            assert chance == pytest.approx(math.exp(one.log_probability), abs=0.0051)
            assert score == (pytest.approx([one.score], abs=0.00051) if one.tokens[-1] == EOS_ID else [])
        dropped = [float(chance) for words, (chance,) in nodes(seen, "dropped").items() if len(words.split()) == step]
        assert all(chance <= min(float(stay[words][0]) for words in now) for chance in dropped)
        lengths = sorted({len(words.split()) for words in nodes(seen, "ended")})
        divisors = seen.figure.locator("svg text", has_text="÷").all_text_contents()
        assert divisors == [f"÷ {length_penalty(length, 0.6):.2f}" for length in lengths]
    assert onward.is_disabled()

    greedy = words_of(greedy_decode(model, source, max_len=12)[0].tolist()).removesuffix(" <EOS>")
    for place in (0, 6, 10):
        slide(seen, "α", place)
        alpha = {"max_len": 12, "beam_size": beam, "alpha": place / 10}
        best = words_of(beam_search(model, source, **alpha)[0].tolist()).removesuffix(" <EOS>")
        other = "the same" if best == greedy else greedy
        assert f"All have ended: {best} has the best score, and greedy decoding writes {other}." in said.inner_text()
        rows = [row.split("\t") for row in seen.figure.locator("tr:has(td)").all_inner_texts()]
        scores = [one.score for one in beam_hypotheses(model, source, **alpha)[0]]
        assert [float(row[3].replace("−", "-")) for row in rows] == pytest.approx(scores, abs=0.00051)
