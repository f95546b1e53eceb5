"""Everything that draws: heat maps in one style, the drawing of the model, matrices to scale, shapes of parts."""

from transformer_lib.teaching.figures.capture_attention import capture_attention
from transformer_lib.teaching.figures.matrix_equation import Matrix, matrix_equation
from transformer_lib.teaching.figures.model_map import model_map
from transformer_lib.teaching.figures.plots import (
    COLOURS,
    DIVERGING,
    SEQUENTIAL,
    heatmap,
    show,
    subplots,
)
from transformer_lib.teaching.figures.shape_summary import shape_summary
from transformer_lib.teaching.figures.sheet import arrow, block, card, sheet, text

__all__ = [
    "COLOURS",
    "DIVERGING",
    "SEQUENTIAL",
    "Matrix",
    "arrow",
    "block",
    "capture_attention",
    "card",
    "heatmap",
    "matrix_equation",
    "model_map",
    "shape_summary",
    "sheet",
    "show",
    "subplots",
    "text",
]
