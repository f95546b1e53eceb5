"""The rows of the position table as clock hands: one clock for each pair of columns, and the turn that a shift makes."""

from transformer_lib.positional_encoding import sinusoidal_table
from transformer_lib.teaching.figures.live.figure import LiveFigure


def clock_hands() -> LiveFigure:
    """Return a clock for each pair of columns, with a width, a position and a shift to choose."""
    d_model, pos, k = 8, 3, 5
    table = sinusoidal_table(pos + k + 1, d_model)
    row, shifted = table[pos].tolist(), table[pos + k].tolist()
    clocks = ['<text x="0" y="12">↑ cos</text><text x="52" y="12">→ sin</text>']
    for pair, (sine, cosine) in enumerate(zip(row[::2], row[1::2], strict=True)):
        x, y = 38 + 76 * pair, 60
        turn = k / 10_000 ** (2 * pair / d_model)
        clocks.append(
            f'<circle cx="{x}" cy="{y}" r="33" fill="none" stroke="var(--tl-line)"/>'
            f'<line x1="{x}" y1="{y}" x2="{x + 33 * sine:.1f}" y2="{y - 33 * cosine:.1f}" '
            'stroke="var(--tl-position)" stroke-width="4"/>'
            f'<line x1="{x}" y1="{y}" x2="{x + 33 * shifted[2 * pair]:.1f}" y2="{y - 33 * shifted[2 * pair + 1]:.1f}" '
            'stroke="var(--tl-ink)" stroke-width="1.5" stroke-dasharray="4 3"/><g text-anchor="middle">'
            f'<text x="{x}" y="110">pair {pair}</text><text x="{x}" y="127">sin {sine:.3f}</text>'
            f'<text x="{x}" y="144">cos {cosine:.3f}</text><text x="{x}" y="161">turn {turn:.3f}</text></g>'
        )
    still = f'<svg viewBox="0 0 304 167" style="max-width:28rem" role="img" aria-label="Four clocks">{"".join(clocks)}</svg>'
    return LiveFigure(
        "clock_hands",
        title="The same shift is the same turn, wherever you start",
        still=still,
        says=f"From position {pos} to {pos + k}, the dashed hands, each hand turns by ω · k, the same at every position.",
        data={"d_model": d_model, "pos": pos, "k": k},
    )
