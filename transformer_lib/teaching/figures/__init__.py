"""Everything that draws: heat maps in one style, sheets of blocks, the drawing of the model."""

from transformer_lib.teaching.figures.capture_attention import capture_attention
from transformer_lib.teaching.figures.model_map import model_map
from transformer_lib.teaching.figures.plots import (
    COLOURS,
    DIVERGING,
    SEQUENTIAL,
    heatmap,
    show,
    subplots,
)
from transformer_lib.teaching.figures.sheet import arrow, block, card, frame, heading, sheet, text

__all__ = [
    "COLOURS",
    "DIVERGING",
    "SEQUENTIAL",
    "arrow",
    "block",
    "capture_attention",
    "card",
    "frame",
    "heading",
    "heatmap",
    "model_map",
    "sheet",
    "show",
    "subplots",
    "text",
]
