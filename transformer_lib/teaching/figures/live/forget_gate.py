"""What is left of a value that was written once: on a whiteboard behind a forget gate, and on a plain neuron's sheet."""

import math

from transformer_lib.teaching.figures.live.figure import LiveFigure


def forget_gate() -> LiveFigure:
    """Return a cell state and a neuron's echo over time, and their gradients; input, gate, weight and length can be moved."""
    written, f, w_h, last = 0.5, 0.9, 0.8, 20
    cell, neuron = [written], [math.tanh(written)]
    for _ in range(last - 1):
        cell.append(f * cell[-1])
        neuron.append(math.tanh(w_h * neuron[-1]))

    def curve(values: list[float], name: str, legend: int, look: str) -> str:
        points = " ".join(f"{30 + 13 * t},{110 - 180 * value:.1f}" for t, value in enumerate(values))
        return (
            f'<polyline points="{points}" fill="none" stroke-width="2.5" {look}/>'
            f'<line x1="130" y1="{legend}" x2="156" y2="{legend}" stroke-width="2.5" {look}/>'
            f'<text x="162" y="{legend + 4}">{name}</text>'
        )

    still = (
        '<svg viewBox="0 0 290 130" style="max-width:26rem" role="img" aria-label="Two fading curves">'
        '<line x1="30" y1="110" x2="277" y2="110" stroke="var(--tl-line)"/>'
        + curve(cell, f"whiteboard, f = {f}", 12, 'stroke="var(--tl-key)"')
        + curve(neuron, f"sheet, w_h = {w_h}", 30, 'stroke="var(--tl-mask)" stroke-dasharray="6 4"')
        + f'<text x="24" y="24" text-anchor="end">{written}</text><text x="24" y="114" text-anchor="end">0</text>'
        f'<text x="277" y="127" text-anchor="end">time step {last}</text></svg>'
    )
    return LiveFigure(
        "forget_gate",
        title="What is left, step by step, of what came in at step 1?",
        still=still,
        says=(
            f"At time step {last} the whiteboard holds {cell[-1]:.3f} of the {written} written at step 1. "
            f"The sheet holds {neuron[-1]:.3f} of its {neuron[0]:.3f}."
        ),
        data={"written": written, "f": f, "w_h": w_h, "last": last},
        uses=("player",),
    )
