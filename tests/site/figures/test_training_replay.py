"""Each stop shows the record's loss, count, words, weights and probabilities."""

import pytest

from transformer_lib.teaching import record
from transformer_lib.teaching.figures import live

NUMBERS = record("translation_progress")["numbers"]
STOPS, TARGET, SOURCE = NUMBERS["stops"], NUMBERS["target"], NUMBERS["source"]


@pytest.mark.parametrize(("stop", "word"), [(0, 0), (12, 5), (40, 2)])
def test_a_stop_shows_the_records_numbers(touch, slide, choose, stop, word):
    seen = touch(live.training_replay())
    slide(seen, "steps", stop)
    choose(seen, "follow the word", word)
    wanted = STOPS[stop]
    said = seen.figure.locator(".tl-says").inner_text()
    token, row = TARGET[word].removeprefix("▁"), wanted["weights"][word]
    assert said == (
        f"After {wanted['step']} steps the loss is {wanted['loss']:.2f}, and {wanted['right']} of 100 new sentences are right. "
        f"With the right words before it given, “{token}” looks most at “{SOURCE[row.index(max(row))][1:]}”, {max(row):.2f}, "
        f"and has the probability {wanted['chances'][word]:.3f}."
    )
    shown = seen.figure.locator("[data-weight]").all_text_contents()
    assert shown == [f"{weight:.2f}" for row in wanted["weights"] for weight in row]
    for (english, french), written in zip(NUMBERS["sentences"].items(), wanted["written"], strict=True):
        text = seen.figure.get_by_role("row", name=english).locator("td").inner_text()
        assert (text == f"{french} ✓") == (written == french)
        assert written.startswith(text.removesuffix(" ✓").removesuffix(" …").strip())
