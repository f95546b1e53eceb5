"""The attention weights that a forward pass really used, kept for a figure."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch import Tensor, nn


@contextmanager
def kept_attention(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Keep the weights of each `MultiHeadAttention` in `model` while the block runs, and yield them by module name.

    A forward pass inside the block fills the dictionary with `{name: weights}`, each `(batch, heads, query, key)`, without
    gradients; a second pass replaces them. So what is drawn is what was used, mask included. When `model` is itself a
    `MultiHeadAttention`, its name is the empty string. The model is left as it was.
    Raises `ValueError` when there is no `MultiHeadAttention` in `model`.
    """
    kept: dict[str, Tensor] = {}
    handles = []
    for name, module in model.named_modules():
        # By its name: chapter 6 builds the class once more, in the notebook.
        if any(base.__name__ == "MultiHeadAttention" for base in type(module).__mro__):
            handles.append(module.register_forward_pre_hook(_ask_for_weights, with_kwargs=True))
            handles.append(module.register_forward_hook(partial(_keep, kept, name)))
    if not handles:
        raise ValueError(f"model must contain a MultiHeadAttention, but {type(model).__name__} has none")
    try:
        yield kept
    finally:
        for handle in handles:
            handle.remove()


def _ask_for_weights(module: nn.Module, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    # query, key, value and mask are the first four; need_weights may also come by position.
    return args[:4], kwargs | {"need_weights": True}


def _keep(kept: dict[str, Tensor], name: str, module: nn.Module, args: tuple, result: tuple[Tensor, Tensor]) -> None:
    kept[name] = result[1].detach().clone()
