"""The matrices of an encoder layer to scale, and what its parts cost."""

import torch

from transformer_lib.encoder import EncoderLayer, TransformerConfig
from transformer_lib.teaching.figures.live.figure import LiveFigure

_TOKENS = 50
_SCALE = 0.09
_LEARNED = 'stroke="var(--tl-residual)" stroke-dasharray="4 2"'
_COMPUTED = 'stroke="var(--tl-muted)"'


def matrix_explorer() -> LiveFigure:
    """Return the matrices of one encoder layer with their sizes to choose; the still picture has those of the paper."""
    config = TransformerConfig()
    with torch.device("meta"):
        layer = EncoderLayer(config)
    heads, d_model = config.num_heads, config.d_model
    d_k = d_model // heads
    # Each with its place: left, top, rows, columns, whether it is learned. torch stores a matrix transposed.
    matrices = {
        "X": (0, 36, _TOKENS, d_model, False),
        "W_Q": (68, 36, d_model, d_k, True),
        "Q": (136, 36, _TOKENS, d_k, False),
        "scores": (204, 36, _TOKENS, _TOKENS, False),
        "W_O": (270, 36, *reversed(layer.attention.W_o.weight.shape), True),
        "W_1": (0, 128, *reversed(layer.feed_forward.inner.weight.shape), True),
        "W_2": (270, 128, *reversed(layer.feed_forward.outer.weight.shape), True),
    }
    drawn = "".join(
        f'<text x="{left}" y="{top - 20}">{name}</text>'
        f'<text x="{left}" y="{top - 6}" style="font-size:11px" class="tl-quiet">({rows}, {columns})</text>'
        f'<rect x="{left + 1}" y="{top}" width="{_SCALE * columns:.1f}" height="{_SCALE * rows:.1f}" fill="var(--tl-card)" '
        f"{_LEARNED if learned else _COMPUTED}/>"
        for name, (left, top, rows, columns, learned) in matrices.items()
    )
    count = sum(parameter.numel() for parameter in layer.parameters())
    inside = sum(parameter.numel() for parameter in layer.feed_forward.parameters())
    says = (
        f"The paper's encoder layer for {_TOKENS} tokens, to scale; W_Q, Q and scores are of one head. "
        "Dashed matrices are learned. "
        f"W_1 and W_2 with their biases hold {inside:,} of its {count:,} parameters."
    )
    return LiveFigure(
        "matrix_explorer",
        title="Every matrix of an encoder layer, to scale",
        still=f'<svg viewBox="0 0 340 316" style="max-width:28rem" role="img" aria-label="{says}">{drawn}</svg>',
        says=says,
        data={"seq_len": _TOKENS, "d_model": d_model, "heads": heads, "d_ff": config.d_ff},
    )
