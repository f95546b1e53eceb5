"""The attention weights that a forward pass really used, kept for a figure."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lib.attention import scaled_dot_product_attention


@contextmanager
def capture_attention(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Keep the weights `(batch, heads, query, key)` of each `MultiHeadAttention` in `model` by module name.

    They are made from the queries, keys and mask that the layer hands to torch's fused attention, without dropout or gradient;
    a second use inside the block replaces the first. Raises `ValueError` when `model` has no such attention.
    """
    # By its name: chapter 6 builds the class once more, in the notebook.
    found = {n: m for n, m in model.named_modules() if any(c.__name__ == "MultiHeadAttention" for c in type(m).__mro__)}
    if not found:
        raise ValueError(f"model must contain a MultiHeadAttention, but {type(model).__name__} has none")
    kept: dict[str, Tensor] = {}
    asking: list[str] = []  # whose query has been projected, and not used yet
    fused = F.scaled_dot_product_attention

    def attention(
        query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, *rest: Any, **more: Any
    ) -> Tensor:
        if asking:
            kept[asking.pop()] = scaled_dot_product_attention(query, key, value, attn_mask)[1].detach()
        return fused(query, key, value, attn_mask, *rest, **more)

    hooks = [m.query_projection.register_forward_hook(lambda *_, n=n: asking.append(n)) for n, m in found.items()]
    try:
        with patch.object(F, "scaled_dot_product_attention", attention):
            yield kept
    finally:
        for hook in hooks:
            hook.remove()
