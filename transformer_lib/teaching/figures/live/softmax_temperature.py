"""One row of attention, from scores to weights, and what √d_k, the temperature of its softmax, does to it."""

import math

import torch

from transformer_lib._language import _
from transformer_lib.teaching.figures.live.figure import LiveFigure

# Five dot products in units of √d_k, the standard deviation that those of random vectors have.
_SCORES = {"They": 0.6, "played": 0.2, "chess": 1.3, "at": -1.1, "home": -0.5}


def softmax_temperature() -> LiveFigure:
    """Return five scores and their softmax, with the width of the vectors and the division to choose."""
    d_k = 4
    words = list(_SCORES)
    scores = torch.tensor(list(_SCORES.values()), dtype=torch.float64)
    weights = (scores * math.sqrt(d_k)).softmax(dim=-1).tolist()
    bars = "".join(
        f'<text x="0" y="{y + 15}">{word}</text>'
        f'<rect x="70" y="{y}" width="{220 * weight:.1f}" height="20" fill="var(--tl-value)"/>'
        f'<text x="{76 + 220 * weight:.1f}" y="{y + 15}">{weight:.3f}</text>'
        for y, word, weight in zip(range(4, 139, 27), words, weights, strict=True)
    )
    best = max(weights)
    moves = sum(weight * (1 - weight) for weight in weights)
    says = _(
        "For d_k = {d_k}, not divided by √d_k: “{word}” gets {best} of the weight. "
        "How much the weights still move, the sum of a (1 − a), is {moves}.",
        **{"d_k": d_k, "word": words[weights.index(best)], "best": f"{best:.3f}", "moves": f"{moves:.3f}"},
    )
    label = _("Five weights")
    return LiveFigure(
        "softmax_temperature",
        title=_("How the width sharpens the weights, and what √d_k does about it"),
        still=f'<svg viewBox="0 0 340 140" role="img" aria-label="{label}">{bars}</svg>',
        says=says,
        data={"words": words, "scores": scores.tolist(), "d_k": d_k},
        uses=("tensors",),
    )
