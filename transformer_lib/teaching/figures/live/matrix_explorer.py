"""The matrices of an encoder layer to scale, and what its parts cost."""

import torch

from transformer_lib._language import _
from transformer_lib.encoder import EncoderLayer, TransformerConfig
from transformer_lib.teaching.figures.live.figure import LiveFigure


def matrix_explorer() -> LiveFigure:
    """Return the matrices of one encoder layer with their sizes to choose; the still table has those of the paper."""
    config, seq_len = TransformerConfig(), 50
    with torch.device("meta"):
        layer = EncoderLayer(config)
    count, inside = (sum(part.numel() for part in module.parameters()) for module in (layer, layer.feed_forward))
    d_model, d_ff, d_k = config.d_model, config.d_ff, config.d_model // config.num_heads
    shapes = {
        "X": (seq_len, d_model),
        _("W_Q, of one head"): (d_model, d_k),
        "Q": (seq_len, d_k),
        _("scores"): (seq_len, seq_len),
        "W_O": (d_model, d_model),
        "W_1": (d_model, d_ff),
        "W_2": (d_ff, d_model),
    }
    rows = "".join(f'<tr><th scope="row">{name}</th><td>{shape}</td></tr>' for name, shape in shapes.items())
    return LiveFigure(
        "matrix_explorer",
        title=_("Every matrix of an encoder layer, to scale"),
        still=f"<table>{rows}</table>",
        says=_(
            "The paper's encoder layer for {seq_len} tokens. "
            "W_1 and W_2 with their biases hold {inside} of its {count} parameters, biases of attention included.",
            **{"seq_len": seq_len, "inside": f"{inside:,}", "count": f"{count:,}"},
        ),
        data={"seq_len": seq_len, "d_model": d_model, "heads": config.num_heads, "d_ff": d_ff},
    )
