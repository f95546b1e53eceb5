"""The attention weights that a forward pass really used, kept for a figure."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from transformer_lib.attention import MultiHeadAttention


@contextmanager
def capture_attention(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Keep the weights `(batch, heads, query, key)` of each `MultiHeadAttention` in `model` by module name.

    A second use inside the block replaces the first. Raises `ValueError` when `model` has no such attention.
    """
    # By its name: chapter 6 builds the class once more, in the notebook.
    kinds = {MultiHeadAttention.__name__}
    found = {n: m for n, m in model.named_modules() if kinds & {c.__name__ for c in type(m).__mro__}}
    if not found:
        raise ValueError(f"model must contain a MultiHeadAttention, but {type(model).__name__} has none")
    kept: dict[str, Tensor] = {}
    before = {name: layer.__dict__.pop("look_up", None) for name, layer in found.items()}

    def keeping(name: str, layer: nn.Module):
        own = layer.look_up

        def look_up(*arguments: Tensor | None) -> Tensor:
            x = own(*arguments)
            kept[name] = layer.weights
            return x

        return look_up

    for name, layer in found.items():
        layer.look_up = keeping(name, layer)
    try:
        yield kept
    finally:
        for name, layer in found.items():
            del layer.look_up
            if before[name]:  # the fused one
                layer.look_up = before[name]
