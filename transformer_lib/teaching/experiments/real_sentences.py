"""Chapter 16's measurements: what the record of failing runs says, and whether the two losses are what they are said to be."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn

from transformer_lib.teaching.record import record
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
    """Compare both losses with a loop over words; blind the model, and print its loss."""
    batch = Batch.from_pairs(pairs)
    own, other = two_losses(model, [batch])
    for loss, moved in ((own, 0), (other, 1)):
        assert math.isclose(loss, _one_by_one(model, pairs, moved), rel_tol=1e-4)
    with made_blind(model):
        blind_own, blind_other = two_losses(model, [batch])
    assert abs(blind_other - blind_own) < 1e-6 and blind_own > 3
    assert two_losses(model, [batch]) == (own, other), "it reads again"
    print(f"without cross-attention: loss ≈ {blind_own:.2f}, gap 0.00")


def _ends(change: dict[str, Any]) -> tuple[list[float], list[float]]:
    """Return the losses and the gaps, one for each seed, at the end of the runs with this change."""
    causes = record("multi30k_causes")
    name = next(name for name, changed in causes["settings"]["changes"].items() if changed == change)
    ends = [measured[-1] for measured in causes["numbers"][name]]
    return [end["loss"] for end in ends], [end["loss of other sources"] - end["loss"] for end in ends]


def report(**change: Any) -> None:
    """Print what both seeds of the record had at the end, with this change of the first settings."""
    losses, gaps = (" and ".join(f"{number:.2f}" for number in numbers) for numbers in _ends(change))
    print(f"first | {change}\n    loss {losses}, gap {gaps}")


def norm_by_rate() -> None:
    """Print losses and gaps, means of the seeds, for both places of the norm at both rates."""
    print(f"{'':12}{'rate 2.0':20}rate 0.5")
    for name, norm in (("post-norm", {}), ("pre-norm", {"pre_norm": True})):
        means = [[sum(numbers) / len(numbers) for numbers in _ends(norm | rate)] for rate in ({}, {"rate": 0.5})]
        print(f"{name:12}" + "    ".join(f"loss {loss:.2f} gap {gap:.2f}" for loss, gap in means))
