"""The rates that the figure shows and draws are the library's."""

import re

import pytest

from transformer_lib.schedule import noam_rate
from transformer_lib.teaching.figures import live

WIDTHS = [32, 64, 128, 256, 512, 1024]
WARMUPS = [100, 500, 1000, 2000, 4000, 8000, 16_000]
FACTORS = [0.1, 0.25, 0.5, 1, 2, 4]
LASTS = [400, 2000, 20_000, 100_000]


POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def points_of(seen, place):
    points = seen.figure.locator("polyline").nth(place).get_attribute("points").split()
    return [tuple(map(float, point.split(","))) for point in points]


@pytest.mark.parametrize(
    ("d_model", "warmup", "factor", "last", "part"),
    [
        (512, 4000, 1, 20_000, 8),
        (32, 100, 0.25, 400, 10),
        (1024, 16_000, 4, 100_000, 40),
        (64, 8000, 0.1, 2000, 0),
        (1024, 16_000, 0.1, 2000, 0),
        (256, 500, 2, 400, 39),
        (128, 1000, 0.5, 2000, 20),
    ],
)
def test_the_rates_are_the_librarys(touch, slide, d_model, warmup, factor, last, part):
    seen = touch(live.learning_rate())
    assert points_of(seen, 0) == points_of(seen, 1)  # it opens on the paper's
    for label, values, value in [
        ("d_model", WIDTHS, d_model),
        ("warm-up", WARMUPS, warmup),
        ("factor", FACTORS, factor),
        ("last step", LASTS, last),
    ]:
        slide(seen, label, values.index(value))
    slide(seen, "at step", part)
    step = max(1, last * part // 40)
    peak = factor * noam_rate(warmup, d_model, warmup)

    said = seen.figure.locator(".tl-says").inner_text()
    found = re.fullmatch(
        r"Step ([\d,]+): the rate is ([\d.]+(?: · \S+)?) and (.+)\. The peak, ([\d.]+) at step ([\d,]+), is (.+) the paper's\.",
        said,
    )
    assert [int(found[place].replace(",", "")) for place in (1, 5)] == [step, warmup]
    shown = found[2].translate(POWERS).replace(" · 10", "e")
    assert float(shown) == pytest.approx(factor * noam_rate(step, d_model, warmup), rel=0.006)
    assert float(found[4]) == pytest.approx(peak, rel=0.006)
    assert found[3] == ("still rises" if step < warmup else "is at its peak" if step == warmup else "falls")
    times = 1 if found[6] == "as high as" else float(found[6].removesuffix(" times"))
    assert times == pytest.approx(peak / noam_rate(4000, 512), rel=0.006)

    # The picture: from its axis back to numbers.
    ticks = seen.figure.locator("svg text[x='60']").evaluate_all(
        "all => all.map(t => [+t.textContent, t.getAttribute('y') - 4])"
    )
    (zero, bottom), *_, (top, height) = ticks
    assert zero == 0 and [tick for tick, _ in ticks] == pytest.approx([top * quarter / 4 for quarter in range(5)])
    left, right = 68, points_of(seen, 0)[-1][0]
    for place, (width, length, times) in enumerate([(d_model, warmup, factor), (512, 4000, 1)]):
        drawn = points_of(seen, place)
        assert len(drawn) >= 201
        for x, y in drawn:
            at = max(1, round((x - left) / (right - left) * last))
            rate = times * noam_rate(at, width, length)
            assert (bottom - y) / (bottom - height) * top == pytest.approx(rate, abs=0.002 * top)
    dots = seen.figure.locator("svg circle")
    assert dots.count() == 1 + (warmup <= last)
    if warmup <= last:
        assert seen.figure.get_by_text("peak 0").text_content() == f"peak {found[4]}"
        highest = min(y for _, y in points_of(seen, 0))
        assert float(dots.nth(1).get_attribute("cy")) == pytest.approx(highest, abs=0.006)
