"""Which of torch's parameters is which of ours: to start two modules alike, and to compare their gradients."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.testing import assert_close

__all__ = ["assert_equals_torch", "compare_gradients", "copy_to_torch", "matching_parameters"]

# The parts that torch calls by other names, ours first. All others have the same name on both sides.
_NAMES: dict[type[nn.Module], dict[str, str]] = {
    nn.MultiheadAttention: {"W_o": "out_proj"},
    nn.TransformerEncoderLayer: {
        "attention": "self_attn",
        "attention_add_norm.norm": "norm1",
        "feed_forward.inner": "linear1",
        "feed_forward.outer": "linear2",
        "feed_forward_add_norm.norm": "norm2",
    },
    nn.TransformerDecoderLayer: {
        "self_attention": "self_attn",
        "self_attention_add_norm.norm": "norm1",
        "cross_attention": "multihead_attn",
        "cross_attention_add_norm.norm": "norm2",
        "feed_forward.inner": "linear1",
        "feed_forward.outer": "linear2",
        "feed_forward_add_norm.norm": "norm3",
    },
}


def matching_parameters(ours: nn.Module, theirs: nn.Module) -> list[tuple[list[Tensor], Tensor]]:
    """Return, for each parameter of torch's module, the list of our parameters that it holds, one below the other.

    `theirs` is an `nn.MultiheadAttention`, a layer or a stack of torch's encoder or decoder, or a whole `nn.Transformer`;
    `ours` is the course's module of the same kind and size. Only the query, key and value projections are several of ours
    in one of torch's. Raises `AttributeError` where `theirs` has a part that `ours` lacks.
    """
    if isinstance(theirs, nn.MultiheadAttention):
        three = [ours.W_q, ours.W_k, ours.W_v]
        pairs = [([getattr(part, kind) for part in three], getattr(theirs, f"in_proj_{kind}")) for kind in ("weight", "bias")]
    else:
        pairs = [([getattr(ours, name)], parameter) for name, parameter in theirs.named_parameters(recurse=False)]
    names = _NAMES.get(type(theirs), {name: name for name, _ in theirs.named_children()})
    for our_name, their_name in names.items():
        pairs += matching_parameters(ours.get_submodule(our_name), theirs.get_submodule(their_name))
    return pairs


@torch.no_grad()
def copy_to_torch(ours: nn.Module, theirs: nn.Module) -> None:
    """Give torch's module the numbers of ours."""
    for mine, its in matching_parameters(ours, theirs):
        its.copy_(torch.cat(mine))


def compare_gradients(ours: nn.Module, theirs: nn.Module) -> list[tuple[Tensor, Tensor]]:
    """Return our gradient and torch's for each parameter of torch's module, after both have gone backward."""
    return [(torch.cat([parameter.grad for parameter in mine]), its.grad) for mine, its in matching_parameters(ours, theirs)]


def assert_equals_torch(
    ours: nn.Module, theirs: nn.Module, inputs: Sequence[Tensor], our_masks: dict, their_masks: dict
) -> None:
    """Give torch's module our numbers; assert equal outputs, and equal gradients of all inputs and parameters."""
    copy_to_torch(ours, theirs)
    found = []
    for module, masks in ((ours, our_masks), (theirs, their_masks)):
        leaves = [x.detach().clone().requires_grad_() for x in inputs]
        output = module(*leaves, **masks)
        output.backward(torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view_as(output))
        found.append([output, *(leaf.grad for leaf in leaves)])
    assert_close(*found)
    gradients = compare_gradients(ours, theirs)
    for mine, its in gradients:
        assert_close(mine, its)
    assert sum(mine.numel() for mine, _ in gradients) == sum(parameter.numel() for parameter in ours.parameters())
