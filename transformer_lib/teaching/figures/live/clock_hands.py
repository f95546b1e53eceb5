"""The rows of the position table as clock hands: one clock for each pair of columns, and the turn that a shift makes."""

from transformer_lib.positional_encoding import sinusoidal_table
from transformer_lib.teaching.figures.live.figure import LiveFigure


def clock_hands() -> LiveFigure:
    """Return a clock for each pair of columns, with a width, a position and a shift to choose."""
    d_model, pos = 8, 3
    row = sinusoidal_table(pos + 1, d_model)[pos].tolist()
    clocks = []
    for pair, (sine, cosine) in enumerate(zip(row[::2], row[1::2], strict=True)):
        x = 38 + 76 * pair
        clocks.append(
            f'<circle cx="{x}" cy="38" r="33" fill="none" stroke="var(--tl-line)"/>'
            f'<line x1="{x}" y1="38" x2="{x + 33 * sine:.1f}" y2="{38 - 33 * cosine:.1f}" '
            'stroke="var(--tl-position)" stroke-width="4"/><g text-anchor="middle">'
            f'<text x="{x}" y="88">pair {pair}</text><text x="{x}" y="105">sin {sine:.3f}</text>'
            f'<text x="{x}" y="122">cos {cosine:.3f}</text></g>'
        )
    still = f'<svg viewBox="0 0 304 128" style="max-width:28rem" role="img" aria-label="Four clocks">{"".join(clocks)}</svg>'
    return LiveFigure(
        "clock_hands",
        title="The same shift is the same turn, wherever you start",
        still=still,
        says=f"Position {pos} for d_model = {d_model}: one hand for each pair of columns, and where its tip is.",
        data={"d_model": d_model, "pos": pos},
    )
