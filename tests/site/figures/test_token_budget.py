"""The rectangles are those of `token_batches`, the lengths those of the chapter's picture, and the words never change."""

import pytest

from transformer_lib.teaching.figures import live
from transformer_lib.teaching.figures.live.token_budget import LENGTHS
from transformer_lib.training import token_batches

PAIRS = [([3], [3] * (length - 1) + [2]) for length in LENGTHS]


def said(batches):
    sizes = [len(batch.source) for batch in batches]
    words, places = sum(batch.num_tokens for batch in batches), sum(batch.target_out.numel() for batch in batches)
    size = f"{min(sizes)}–{max(sizes)}" if min(sizes) < max(sizes) else max(sizes)
    many = f"{len(batches)} {'batches' if len(batches) > 1 else 'batch'} of {size} sentences"
    return f"{many}. {words} words in {places} places, {100 - 100 * words / places:.0f} % padding."


@pytest.mark.parametrize(("place", "budget"), [(0, 16), (2, 64), (4, 128), (9, 768)])
def test_the_rectangles_are_those_of_token_batches(touch, slide, place, budget):
    seen = touch(live.token_budget())
    slide(seen, "budget, in places", place)
    batches = token_batches(PAIRS, budget)
    assert said(batches) in seen.figure.locator(".tl-says").inner_text()
    assert seen.figure.locator("rect[data-batch]").count() == len(batches)
