"""Figures that answer to their reader: each is HTML with a script of its own, the same on the site, in JupyterLab and in Colab.

Where no script runs, a still picture stands in its place.
"""

from transformer_lib.teaching.figures.live.attention_steps import attention_steps
from transformer_lib.teaching.figures.live.beam_tree import beam_tree
from transformer_lib.teaching.figures.live.clock_hands import clock_hands
from transformer_lib.teaching.figures.live.learning_rate import learning_rate
from transformer_lib.teaching.figures.live.lstm_steps import lstm_steps
from transformer_lib.teaching.figures.live.masked_sentence import masked_sentence
from transformer_lib.teaching.figures.live.matrix_explorer import matrix_explorer
from transformer_lib.teaching.figures.live.review_reader import review_reader
from transformer_lib.teaching.figures.live.softmax_temperature import softmax_temperature
from transformer_lib.teaching.figures.live.training_replay import training_replay
from transformer_lib.teaching.figures.live.which_run import which_run

__all__ = [
    "attention_steps",
    "beam_tree",
    "clock_hands",
    "learning_rate",
    "lstm_steps",
    "masked_sentence",
    "matrix_explorer",
    "review_reader",
    "softmax_temperature",
    "training_replay",
    "which_run",
]
