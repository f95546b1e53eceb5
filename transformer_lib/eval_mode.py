"""Run a model in evaluation mode for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def eval_mode(model: nn.Module, *, training: bool = False) -> Iterator[None]:
    """Switch `model` to evaluation mode (or training mode), without gradients, and give each part its own mode back."""
    modes = {part: part.training for part in model.modules()}
    model.train(training)
    try:
        with torch.inference_mode():
            yield
    finally:
        for part, was in modes.items():
            part.training = was
