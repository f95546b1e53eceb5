"""The attention weights that a forward pass really used, kept for a figure."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from transformer_lib.attention import scaled_dot_product_attention, split_heads


@contextmanager
def capture_attention(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Keep the weights of each `MultiHeadAttention` in `model` while the block runs, and yield them by module name.

    Each use of an attention inside the block puts its weights into the dictionary as `{name: weights}`, each
    `(batch, heads, query, key)`, without gradients and before dropout; a second use replaces them. So what is drawn is what
    was used, mask included. When `model` is itself a `MultiHeadAttention`, its name is the empty string. The model is left
    as it was.
    Raises `ValueError` when there is no `MultiHeadAttention` in `model`.
    """
    captured: dict[str, Tensor] = {}
    # By its name: chapter 6 builds the class once more, in the notebook.
    attentions = {
        name: module
        for name, module in model.named_modules()
        if any(base.__name__ == "MultiHeadAttention" for base in type(module).__mro__)
    }
    if not attentions:
        raise ValueError(f"model must contain a MultiHeadAttention, but {type(model).__name__} has none")
    try:
        for name, attention in attentions.items():
            attention.attend = _capturing(captured, name, attention)
        yield captured
    finally:
        for attention in attentions.values():
            vars(attention).pop("attend", None)


def _capturing(captured: dict[str, Tensor], name: str, attention: nn.Module) -> Callable[..., Tensor]:
    """Return `attention.attend`, which first keeps the weights under `name`."""
    attend = attention.attend

    def capture_and_attend(query: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        q = split_heads(attention.query_projection(query), attention.num_heads)
        captured[name] = scaled_dot_product_attention(q, k, v, mask)[1].detach()
        return attend(query, k, v, mask)

    return capture_and_attend
