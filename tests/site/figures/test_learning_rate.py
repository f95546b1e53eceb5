"""The rates that the figure shows and draws are the library's."""

import re

import pytest

from transformer_lib.schedule import noam_rate
from transformer_lib.teaching.figures import live

VALUES = {
    "d_model": [32, 64, 128, 256, 512, 1024],
    "warm-up": [100, 500, 1000, 2000, 4000, 8000, 16_000],
    "factor": [0.1, 0.25, 0.5, 1, 2, 4],
    "last step": [400, 2000, 20_000, 100_000],
}
POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@pytest.mark.parametrize(("sizes", "part"), [((512, 4000, 1, 20_000), 8), ((64, 8000, 0.1, 2000), 0), ((256, 500, 2, 400), 39)])
def test_the_rates_are_the_librarys(touch, slide, sizes, part):
    d_model, warmup, factor, last = sizes
    seen = touch(live.learning_rate())
    for (label, values), value in zip(VALUES.items(), sizes, strict=True):
        slide(seen, label, values.index(value))
    slide(seen, "at step", part)
    step, peak = max(1, last * part // 40), factor * noam_rate(warmup, d_model, warmup)
    said = seen.figure.locator(".tl-says").inner_text()
    found = re.match(r"Step ([\d,]+): the rate is ([\d.]+(?: · \S+)?) and .+\. The peak, ([\d.]+) at step ([\d,]+)", said)
    assert [int(found[place].replace(",", "")) for place in (1, 4)] == [step, warmup]
    shown = float(found[2].translate(POWERS).replace(" · 10", "e"))
    assert shown == pytest.approx(factor * noam_rate(step, d_model, warmup), rel=0.006)
    assert float(found[3]) == pytest.approx(peak, rel=0.006)
    # The picture: from its axis back to numbers, for these sizes and for the paper's.
    ticks = seen.figure.locator("svg text[x='60']").evaluate_all(
        "all => all.map(t => [+t.textContent, t.getAttribute('y') - 4])"
    )
    (_, bottom), *_, (top, height) = ticks
    lines = seen.figure.locator("polyline").evaluate_all("all => all.map(line => line.getAttribute('points').split(' '))")
    for points, (width, length, times) in zip(lines, [(d_model, warmup, factor), (512, 4000, 1)], strict=False):
        drawn = [tuple(map(float, point.split(","))) for point in points]
        for x, y in drawn:
            at = max(1, round((x - 68) / (drawn[-1][0] - 68) * last))
            rate = times * noam_rate(at, width, length)
            assert (bottom - y) / (bottom - height) * top == pytest.approx(rate, abs=0.002 * top)
