"""A query over three memory rows in the plane: drag it, and weights and context move while the memory stays."""

import torch

from transformer_lib.alignment import DotProductAttention
from transformer_lib.teaching.figures.live.figure import LiveFigure


def memory_plane() -> LiveFigure:
    """Return chapter 4's three memory rows and a query to drag, with the weights as bars and the context as a point."""
    words, memory, query = ["the", "white", "cow"], [[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]], [1.0, 2.0]
    context, weights = DotProductAttention()(torch.tensor([query]), torch.tensor([memory]))

    def place(point: list[float]) -> tuple[float, float]:
        return 90 + 45 * point[0], 135 - 45 * point[1]

    def arrow(point: list[float], role: str, width: float) -> str:
        (x1, y1), (x2, y2) = (90, 135), place(point)
        return (
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="var(--tl-{role})" stroke-width="{width:.1f}"/>'
            f'<circle cx="{x2}" cy="{y2}" r="5" fill="var(--tl-{role})"/>'
        )

    rows = zip(words, memory, weights[0].tolist(), [(6, 16), (-22, -6), (9, 5)], strict=True)
    arrows = "".join(
        arrow(row, "key", 1.5 + 4 * weight)
        + f'<text x="{place(row)[0] + right}" y="{place(row)[1] + down}">{word} {weight:.3f}</text>'
        for word, row, weight, (right, down) in rows
    )
    x, y = place(context[0].tolist())
    still = (
        '<svg viewBox="0 0 290 170" style="max-width:28rem" role="img" aria-label="Three memory rows, a query and the context">'
        f'{arrows}{arrow(query, "query", 3.0)}<text x="144" y="42">q</text>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="var(--tl-value)"/>'
        f'<text x="{x + 9:.1f}" y="{y + 24:.1f}">context</text></svg>'
    )
    shown = ", ".join(f"“{word}” {weight:.3f}" for word, weight in zip(words, weights[0].tolist(), strict=True))
    return LiveFigure(
        "memory_plane",
        title="Drag the query q: the memory stays, the weights and the context move",
        still=still,
        says=f"The decoder asks with q = (1.00, 2.00). The weights: {shown}.",
        data={"words": words, "memory": memory, "query": query},
        uses=("tensors",),
    )
