"""The hands stand where the library's table says, a shift is one turn everywhere, and the curve peaks at its end."""

import math
import re

import pytest

from transformer_lib.positional_encoding import sinusoidal_table
from transformer_lib.teaching.figures import live

WIDTHS = [4, 8, 16]
FIRST_SHIFT = -10


def choose_width(seen, d_model):
    select = seen.figure.get_by_label("d_model")
    select.focus()
    seen.page.keyboard.press("Home")
    for _ in range(WIDTHS.index(d_model)):
        seen.page.keyboard.press("ArrowDown")
    assert select.input_value() == str(d_model)


def texts(seen, name):
    """Return the numbers that stand behind `name` below the clocks."""
    found = [text.split() for text in seen.figure.locator("svg text").all_text_contents()]
    return [float(words[1]) for words in found if len(words) == 2 and words[0] == name]


def tips(seen):
    """Return where the hands of each clock point: (sine, cosine) of the first hands, and of the dashed ones."""
    hands = seen.figure.locator("svg").evaluate(
        """svg => [...svg.querySelectorAll('.tl-hand')].map(hand => {
            const [x1, y1, x2, y2] = ['x1', 'y1', 'x2', 'y2'].map(name => Number(hand.getAttribute(name)))
            const length = Number(svg.querySelector('circle').getAttribute('r'))
            return [hand.hasAttribute('stroke-dasharray'), (x2 - x1) / length, (y1 - y2) / length]
        })"""
    )
    return [[number for dashed, *tip in hands if dashed is kind for number in tip] for kind in (False, True)]


def fits(seen):
    """Return the curve: the numbers that it stands for, and the heights that it is drawn at."""
    line = seen.figure.locator("svg polyline")
    points = [point.split(",") for point in line.get_attribute("points").split()]
    return [float(fit) for fit in line.get_attribute("data-fits").split()], [-float(y) for _, y in points]


@pytest.mark.parametrize("d_model", WIDTHS)
@pytest.mark.parametrize(("pos", "k"), [(0, 0), (3, 0), (60, 0), (0, 1), (17, 8), (44, 10), (12, -3), (10, -10)])
def test_the_hands_are_the_rows_of_the_table(touch, slide, d_model, pos, k):
    seen = touch(live.clock_hands())
    choose_width(seen, d_model)
    slide(seen, "position", pos)
    slide(seen, "shift k", k - FIRST_SHIFT)
    table = sinusoidal_table(100, d_model)
    here, there = (table[row].tolist() for row in (pos, pos + k))
    assert texts(seen, "sin") == pytest.approx(here[::2], abs=6e-4)
    assert texts(seen, "cos") == pytest.approx(here[1::2], abs=6e-4)
    first, dashed = tips(seen)
    assert first == pytest.approx(here, abs=1e-5)
    assert dashed == (pytest.approx(there, abs=1e-5) if k else [])
    says = seen.figure.locator(".tl-says").inner_text()
    if k:
        assert f"the hands of position {pos + k}, so the curve is highest at {pos + k}." in says
    else:
        turns = re.search(rf"row {pos} of .* made (\d\.\d\d) turns; the slowest needs ([\d,]+)", says)
        assert float(turns[1]) == pytest.approx(pos / (2 * math.pi), abs=6e-3)
        slowest = 2 * math.pi * 10_000 ** ((d_model - 2) / d_model)
        assert int(turns[2].replace(",", "")) == round(slowest)
        assert says.endswith(f"the curve is highest at {pos}.")
    curve, heights = fits(seen)
    assert curve == pytest.approx((table[:61] @ table[pos + k]).tolist(), abs=6e-4)
    assert curve.index(max(curve)) == heights.index(max(heights)) == pos + k
    assert seen.figure.get_by_text(f"highest at {pos + k}", exact=True).count() == 1


def test_beyond_its_ends_the_curve_marks_no_position(touch, slide):
    seen = touch(live.clock_hands())
    for pos, k in [(2, -3), (60, 1)]:
        slide(seen, "position", pos)
        slide(seen, "shift k", k - FIRST_SHIFT)
        assert seen.figure.locator(".tl-says").inner_text().endswith(f"no position {pos + k}.".replace(" -", " −"))
        assert seen.figure.get_by_text("highest at").count() == 0


def test_a_shift_turns_each_hand_by_the_same_angle_at_every_position(touch, slide):
    seen = touch(live.clock_hands())
    slide(seen, "shift k", 3 - FIRST_SHIFT)
    turns, clocks = set(), set()
    for pos in (0, 7, 41):
        slide(seen, "position", pos)
        turns.add(tuple(texts(seen, "turn")))
        clocks.add(tuple(texts(seen, "sin")))
    assert turns == {(3.0, 0.3, 0.03, 0.003)}
    assert len(clocks) == 3


def test_the_turn_is_painted_between_the_two_hands(touch, slide):
    """The last point of each sector lies on the dashed hand, and a turn of more than half the clock is a large sector."""
    seen = touch(live.clock_hands())
    slide(seen, "position", 5)
    # Radians of the fastest hand: 7 is a turn and 0.7.
    for k, large, clockwise in [(3, "0", "1"), (4, "1", "1"), (7, "0", "1"), (10, "1", "1"), (-3, "0", "0"), (-4, "1", "0")]:
        slide(seen, "shift k", k - FIRST_SHIFT)
        path = seen.figure.locator("svg path").first.get_attribute("d")
        x, y, *_, flag, sweep, end_x, end_y = re.findall(r"-?[\d.]+(?:e-?\d+)?", path)
        assert (flag, sweep) == (large, clockwise)
        radius = float(re.search(r"A([\d.]+)", path)[1])
        dashed = tips(seen)[1][:2]
        assert [(float(end_x) - float(x)) / radius, (float(y) - float(end_y)) / radius] == pytest.approx(dashed, abs=1e-5)


def test_before_anything_is_touched_a_shift_shows(touch):
    seen = touch(live.clock_hands())
    assert texts(seen, "turn") == [-3, -0.3, -0.03, -0.003]
    assert tips(seen)[1] == pytest.approx(sinusoidal_table(18, 8)[17].tolist(), abs=1e-5)
    assert seen.figure.get_by_text("highest at 17", exact=True).is_visible()
