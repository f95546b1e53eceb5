"""The hands stand where the library's table says, and the curve peaks at the position they are turned to."""

import pytest

from transformer_lib.positional_encoding import sinusoidal_table
from transformer_lib.teaching.figures import live

TIPS = """svg => [...svg.querySelectorAll('.tl-hand')].map(hand => {
    const [x1, y1, x2, y2] = ['x1', 'y1', 'x2', 'y2'].map(name => Number(hand.getAttribute(name)))
    const length = Number(svg.querySelector('circle').getAttribute('r'))
    return [hand.hasAttribute('stroke-dasharray'), (x2 - x1) / length, (y1 - y2) / length]
})"""


@pytest.mark.parametrize(("place", "d_model"), [(0, 4), (1, 8), (2, 16)])
@pytest.mark.parametrize(("pos", "k"), [(3, 0), (17, 8), (10, -10)])
def test_the_hands_are_the_rows_of_the_table(touch, slide, choose, place, d_model, pos, k):
    seen = touch(live.clock_hands())
    choose(seen, "d_model", place)
    slide(seen, "position", pos)
    slide(seen, "shift k", k + 10)
    table = sinusoidal_table(100, d_model)
    here, there = (table[row].tolist() for row in (pos, pos + k))
    texts = [text.split() for text in seen.figure.locator("svg text").all_text_contents()]
    for name, wanted in {"sin": here[::2], "cos": here[1::2]}.items():
        assert [float(words[1]) for words in texts if len(words) == 2 and words[0] == name] == pytest.approx(wanted, abs=6e-4)
    hands = seen.figure.locator("svg").evaluate(TIPS)
    for kind, wanted in {False: here, True: there if k else []}.items():
        assert [number for dashed, *tip in hands if dashed is kind for number in tip] == pytest.approx(wanted, abs=1e-5)
    said = seen.figure.locator(".tl-says").inner_text()
    assert f"the curve is highest at {pos + k}." in said
    line = seen.figure.locator("svg polyline")
    curve = [float(fit) for fit in line.get_attribute("data-fits").split()]
    heights = [-float(point.split(",")[1]) for point in line.get_attribute("points").split()]
    assert curve == pytest.approx((table[:61] @ table[pos + k]).tolist(), abs=6e-4)
    assert curve.index(max(curve)) == heights.index(max(heights)) == pos + k
