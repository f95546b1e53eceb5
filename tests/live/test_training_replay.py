"""Each stop shows the record's loss, count, words, weights and probabilities; playing goes on to the end, and again."""

import re

import pytest

from transformer_lib.teaching import record
from transformer_lib.teaching.figures import live

NUMBERS = record("translation_progress")["numbers"]
STOPS, TARGET, SOURCE = NUMBERS["stops"], NUMBERS["target"], NUMBERS["source"]


def test_the_record_is_whole():
    assert [stop["step"] for stop in STOPS] == list(range(0, 1001, 25))
    assert [stop["loss"] for stop in STOPS][-1] < 1.2 < 6 < STOPS[0]["loss"]
    for stop in STOPS:
        assert len(stop["written"]) == len(NUMBERS["sentences"]) == 4
        assert [len(row) for row in stop["weights"]] == [len(SOURCE)] * len(TARGET)
        assert all(sum(row) == pytest.approx(1, abs=0.03) for row in stop["weights"])
    assert STOPS[-1]["written"][0] == NUMBERS["sentences"]["the white cow is tired"]


def test_when_blanche_finds_white_is_left_to_the_reader(touch, slide):
    figure = live.training_replay()
    seen = touch(figure)
    said = seen.figure.locator(".tl-says")
    assert said.inner_text().startswith("After 0 steps") and "“blanche” looks most at “is”" in said.inner_text()
    slide(seen, "steps", 9)
    assert "“blanche” looks most at “white”" in said.inner_text()


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


def test_it_goes_on_stop_by_stop_and_begins_again(touch, slide):
    seen = touch(live.training_replay(), width=390)
    slide(seen, "steps", 39)
    step = lambda: int(re.match(r"After (\d+) steps", seen.figure.locator(".tl-says").inner_text())[1])
    onward = seen.figure.get_by_role("button", name="next stop")
    found = []
    for _ in range(3):
        onward.press("Enter")
        found.append((step(), seen.figure.get_by_role("slider").input_value()))
    assert found == [(1000, "40"), (0, "0"), (25, "1")]
    assert seen.complaints == []
