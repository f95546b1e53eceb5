"""Everything that draws: heat maps and tables in one style, sheets of blocks, the drawing of the model."""

from transformer_lib.teaching.figures.capture_attention import capture_attention
from transformer_lib.teaching.figures.model_map import model_map
from transformer_lib.teaching.figures.plots import (
    COLOURS,
    DIVERGING,
    SEQUENTIAL,
    attention_map,
    heatmap,
    matrix_table,
    show,
    subplots,
)
from transformer_lib.teaching.figures.sheet import arrow, block, card, sheet, text

__all__ = [
    "COLOURS",
    "DIVERGING",
    "SEQUENTIAL",
    "arrow",
    "attention_map",
    "block",
    "capture_attention",
    "card",
    "heatmap",
    "matrix_table",
    "model_map",
    "sheet",
    "show",
    "subplots",
    "text",
]
