"""The bars are the record's logits, the verdicts are counted from them, and the mask makes the slider powerless."""

import pytest

from transformer_lib.teaching import record
from transformer_lib.teaching.figures import live

RUNS = record("text_masking")["numbers"]
EXAMPLES = record("text_masking")["settings"]["examples"]


def shown(seen):
    """Return the logits that stand beside the bars, and which of them are marked as right."""
    texts = [text.split() for text in seen.figure.locator("svg text[data-logit]").all_text_contents()]
    return [float(number.replace("−", "-")) for number, _ in texts], [mark == "✓" for _, mark in texts]


@pytest.mark.parametrize(("review", "columns"), [(0, 0), (0, 40), (3, 7)])
def test_the_bars_are_the_records_logits(touch, slide, choose, review, columns):
    seen = touch(live.padding_slider())
    choose(seen, "review", review)
    slide(seen, "columns of padding", columns)
    logits = [run["logits without mask"][review][columns] for run in RUNS]
    label = EXAMPLES[review][1]
    numbers, right = shown(seen)
    assert numbers == pytest.approx(logits, abs=0.051)
    assert right == [(logit > 0) == bool(label) for logit in logits]
    says = seen.figure.locator(".tl-says").inner_text()
    assert f"{sum(right)} of {len(RUNS)} readers say so" in says
    assert f"{columns} × padding" in says
    assert ("Wrong: reader" in says) == (not all(right))
