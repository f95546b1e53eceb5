"""What is read and what must be said are `Batch`'s; a mistake goes on only where the decoder reads its own words."""

import pytest

from transformer_lib.teaching.figures import live
from transformer_lib.training import Batch

WORDS = ["<pad>", "<sos>", "<eos>", "je", "suis", "étudiant"]
BATCH = Batch.from_pairs([([3], [3, 4, 5, 2])])
READS, ANSWERS = ([WORDS[token] for token in row[0]] for row in (BATCH.target_in, BATCH.target_out))


def row(seen, name):
    """The words of a row as drawn, and how each is drawn."""
    return seen.figure.locator(f'g[data-row="{name}"]').evaluate_all(
        "all => all.map(one => [one.textContent, one.dataset.kind])"
    )


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_with_the_right_words_no_mistake_goes_on(touch, slide, step):
    seen = touch(live.shift())
    slide(seen, "step", step - 1)
    for mistake in ("none", "at step 1", "at step 2", "at step 3"):
        seen.figure.get_by_role("button", name=mistake).press("Enter")
        assert row(seen, "reads") == [[word, "read" if place < step else "later"] for place, word in enumerate(READS)]
        assert [word for word, _ in row(seen, "must say")] == ANSWERS
        wrong = [place for place, (text, kind) in enumerate(row(seen, "says"), start=1) if text.endswith("✗")]
        assert wrong == ([int(mistake[-1])] if mistake != "none" and int(mistake[-1]) <= step else [])
    assert f"it has read “{' '.join(READS[:step])}”" in seen.figure.locator(".tl-says").inner_text()


def test_with_its_own_words_it_does(touch, slide):
    seen = touch(live.shift(), width=390)
    seen.figure.get_by_role("button", name="its own words").press("Enter")
    seen.figure.get_by_role("button", name="at step 2").press("Enter")
    for step, read in [(1, ["<sos>"]), (2, ["<sos>", "je"]), (3, ["<sos>", "je", "es"]), (4, ["<sos>", "je", "es", "?"])]:
        slide(seen, "step", step - 1)
        assert [word for word, kind in row(seen, "reads") if kind == "read"] == read
    assert row(seen, "must say") == []
    assert "after one mistake all that follows is open" in seen.figure.locator(".tl-says").inner_text()
