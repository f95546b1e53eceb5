"""The rows of the position table as clock hands: one clock for each pair of columns, and the turn that a shift makes."""

from transformer_lib._language import _
from transformer_lib.positional_encoding import sinusoidal_table
from transformer_lib.teaching.figures.live.figure import LiveFigure


def clock_hands() -> LiveFigure:
    """Return a clock for each pair of columns, with a width, a position and a shift to choose.

    Below the clocks stands the dot product of the turned hands with the row of each position.
    """
    d_model, pos, k, last = 8, 20, -3, 60
    table = sinusoidal_table(last + 1, d_model)
    row, turned = table[pos].tolist(), table[pos + k].tolist()
    drawn = ['<text x="0" y="12">↑ cos</text><text x="52" y="12">→ sin</text>']
    for pair, (sine, cosine) in enumerate(zip(row[::2], row[1::2], strict=True)):
        x, y = 38 + 76 * pair, 60
        hand = _("hand {pair}", pair=pair)
        turn = _("turn {turn}", turn=f"{k / 10_000 ** (2 * pair / d_model):.3f}")
        drawn.append(
            f'<circle cx="{x}" cy="{y}" r="33" fill="none" stroke="var(--tl-line)"/>'
            f'<line x1="{x}" y1="{y}" x2="{x + 33 * sine:.1f}" y2="{y - 33 * cosine:.1f}" '
            'stroke="var(--tl-position)" stroke-width="4"/>'
            f'<line x1="{x}" y1="{y}" x2="{x + 33 * turned[2 * pair]:.1f}" y2="{y - 33 * turned[2 * pair + 1]:.1f}" '
            'stroke="var(--tl-ink)" stroke-width="1.5" stroke-dasharray="4 3"/><g text-anchor="middle">'
            f'<text x="{x}" y="110">{hand}</text><text x="{x}" y="127">sin {sine:.3f}</text>'
            f'<text x="{x}" y="144">cos {cosine:.3f}</text><text x="{x}" y="161">{turn}</text></g>'
        )
    fits = (table @ table[pos + k]).tolist()
    points = [(10 + 4.7 * place, 200 + 90 * (1 - fit / (d_model / 2))) for place, fit in enumerate(fits)]
    x, y = points[pos + k]
    fit, highest = _("dot product with the row of each position"), _("highest at {target}", target=pos + k)
    drawn.append(
        f'<text x="0" y="188">{fit}</text>'
        f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="none" stroke="var(--tl-position)" '
        f'stroke-width="2"/><circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="var(--tl-ink)"/>'
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="200" y2="296" stroke="var(--tl-ink)" '
        f'stroke-dasharray="4 3"/><text x="{x + 7:.1f}" y="290">{highest}</text>'
    )
    label = _("Four clocks, and below them a curve that is highest at position {target}", target=pos + k)
    still = f'<svg viewBox="0 0 304 305" style="max-width:28rem" role="img" aria-label="{label}">{"".join(drawn)}</svg>'
    return LiveFigure(
        "clock_hands",
        title=_("Turn all hands back by three, and the row three positions back fits best"),
        still=still,
        says=_(
            "The dashed hands are those of position {pos}, each turned by ω · k with k = −3. "
            "They are the hands of position {target}, so the curve is highest there.",
            pos=pos,
            target=pos + k,
        ),
        data={"d_model": d_model, "pos": pos, "k": k, "last": last},
    )
