"""The attention weights that a forward pass really used, kept for a figure."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from transformer_lib.attention import scaled_dot_product_attention


@contextmanager
def capture_attention(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Keep the weights of each `MultiHeadAttention` in `model` while the block runs, and yield them by module name.

    Each use of an attention inside the block puts its weights into the dictionary as `{name: weights}`, each
    `(batch, heads, query, key)`, without gradients and before dropout; a second use replaces them. They are made from the
    very queries, keys and mask that the layer hands to torch's fused attention, also where a subclass turns them first.
    When `model` is itself a `MultiHeadAttention`, its name is the empty string. The model is left as it was.
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
            attention.attend = _capturing(captured, name, attention.attend)
        yield captured
    finally:
        for attention in attentions.values():
            vars(attention).pop("attend", None)


def _capturing(captured: dict[str, Tensor], name: str, attend: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return `attend`, but the weights that it uses are kept under `name`."""

    def capture_and_attend(*arguments: Any, **named: Any) -> Tensor:
        with _Listener(captured, name):
            return attend(*arguments, **named)

    return capture_and_attend


class _Listener(TorchFunctionMode):
    """Keeps the weights of every fused attention that is computed while it listens."""

    def __init__(self, captured: dict[str, Tensor], name: str) -> None:
        super().__init__()
        self.captured, self.name = captured, name

    def __torch_function__(self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        if function is F.scaled_dot_product_attention:
            query, key, value, *rest = args
            mask = rest[0] if rest else (kwargs or {}).get("attn_mask")
            self.captured[self.name] = scaled_dot_product_attention(query, key, value, mask)[1].detach()
        return function(*args, **(kwargs or {}))
