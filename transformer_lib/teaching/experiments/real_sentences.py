"""The measurements of chapter 16, Real sentences: whether the two losses of a translator are what they are said to be."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch
from torch import nn

from transformer_lib.training import Batch, IdPair


@contextmanager
def made_blind(model: nn.Module) -> Iterator[nn.Module]:
    """Let cross-attention hand the decoder zeros, so that nothing of the source can arrive."""
    with ExitStack() as stack:
        for layer in model.decoder.layers:
            handle = layer.cross_attention.W_o.register_forward_hook(lambda part, given, result: torch.zeros_like(result))
            stack.callback(handle.remove)
        yield model


def _one_by_one(model: nn.Module, pairs: Sequence[IdPair], moved: int) -> float:
    """Return the loss per token, word by word, where each source has moved on by `moved` sentences."""
    total, count = 0.0, 0
    for place, (_, target) in enumerate(pairs):
        one = Batch.from_pairs([(pairs[place - moved][0], target)])
        with torch.no_grad():
            log_p = model(one.source, one.target_in)[0].log_softmax(dim=-1)
        total -= sum(log_p[at, word].item() for at, word in enumerate(target))
        count += len(target)
    return total / count


def compare_two_losses(two_losses: Callable, model: nn.Module, pairs: Sequence[IdPair]) -> None:
    """Compare both losses with a loop over words, blind the model, and print a line each."""
    batch = Batch.from_pairs(pairs)
    own, other = two_losses(model, [batch])
    for loss, moved in ((own, 0), (other, 1)):
        assert math.isclose(loss, _one_by_one(model, pairs, moved), rel_tol=1e-4)
    print("equal to a loop over sentences and words: both losses")
    with made_blind(model):
        blind_own, blind_other = two_losses(model, [batch])
    assert abs(blind_other - blind_own) < 1e-6 and blind_own > 3
    assert two_losses(model, [batch]) == (own, other), "it reads again"
    print(f"without cross-attention: loss ≈ {blind_own:.2f}, gap 0.00")
