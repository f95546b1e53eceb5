"""Checks for the exercises of chapter 12, The training loop."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer_lib.seq2seq import PAD_ID
from transformer_lib.teaching.exercises import Hint, check, exercise
from transformer_lib.training import Batch, training_step
from transformer_lib.transformer import Transformer, TransformerConfig


@exercise(
    cases=[([0.3, 0.9], [4, 2]), ([2.0], [7]), ([1.0, 2.0, 4.0], [10, 5, 1])],
    hint="Turn each mean back into a sum (times its tokens), add, and divide by all tokens",
)
def joined_loss(means: list[float], tokens: list[int]) -> Iterator:
    """The reader's `joined_loss(means, tokens)` is the loss per token of all micro-batches together."""
    total = sum(m * n for m, n in zip(means, tokens, strict=True))
    yield total / sum(tokens), "the parts join to the loss of one large batch"
    yield sum(means) / len(means), "this is a mean of means: the parts have different numbers of tokens"
    yield sum(means), "this is the sum: with k parts the step would be k times too large"
    yield total, "now divide by the number of all tokens"
    yield total / len(means), "divide by the number of all tokens, not by the number of parts"
    yield sum(means) / sum(tokens), "these are means already: multiply each by its tokens before you divide"


def _part(share: float) -> float:
    return -share * math.log(share) if share > 0 else 0.0


def _entropy(vocab: int, share: float) -> float:
    """Return the entropy of a target that gives `share` to each word but one, and the rest to that one."""
    return _part(1 - (vocab - 1) * share) + (vocab - 1) * _part(share)


@exercise(
    cases=[(5, 0.1), (37_000, 0.1), (2, 0.5), (10, 0.3), (10, 0.0)],
    hint="It is the entropy of the target, −Σ q · log q",
)
def lowest_loss(vocab: int, smoothing: float) -> Iterator:
    """The reader's `lowest_loss(vocab, smoothing)` returns the entropy of the smoothed target."""
    share = smoothing / vocab
    right = _entropy(vocab, share)
    yield right, "the entropy of the target: 0.3897 for five words, and 1.38 for 37,000"
    if not smoothing:
        for nothing in (ValueError, math.nan):
            yield (
                nothing,
                "with smoothing 0 the other words have q = 0, and log 0 has no value: 0 · log 0 counts as 0, so return 0",
            )
        return
    yield 0.0, "a perfect model reaches 0 only without smoothing"
    yield -right, "the sign: an entropy is never negative"
    yield -math.log(1 - smoothing + share), "this counts the right word alone, with weight 1: sum −q · log q over all words"
    yield _part(1 - smoothing + share) + _part(share), "there are vocab − 1 other words, not one"
    yield _entropy(vocab, smoothing / (vocab - 1)), "this is the floor of ε/(V−1), not of ε/V"
    yield right / math.log(2), "this is in bits: use the natural logarithm"


class _Model(Transformer):
    """A model that the check and the reader's function share: no copy of it is made."""

    def __deepcopy__(self, memo: Any) -> "_Model":
        return self


class _Optimizer(torch.optim.SGD):
    """Keeps the gradients with which it was asked to step."""

    def __deepcopy__(self, memo: Any) -> "_Optimizer":
        return self

    def gradient(self) -> Tensor:
        return torch.cat(
            [weight.grad.flatten().clone() for weight in self.param_groups[0]["params"] if weight.grad is not None]
        )

    def step(self, closure: Any = None) -> None:
        self.asked = [*getattr(self, "asked", []), self.gradient()]


_PAIRS = [([5], [4, 2]), ([3, 4], [4, 3, 2]), ([6, 3], [3, 6, 5, 4, 2]), ([4] * 4, [5, 5, 3, 6, 4, 3, 2])]


def _given() -> tuple[_Model, Batch, _Optimizer]:
    """Return a small model with old gradients, a batch of four pairs, and an optimizer."""
    torch.manual_seed(0)
    sizes = {"d_model": 8, "num_layers": 1, "num_heads": 2, "d_ff": 8, "dropout": 0.0}
    model = _Model(TransformerConfig(source_vocab_size=7, target_vocab_size=7, **sizes)).double()
    for weight in model.parameters():
        weight.grad = torch.ones_like(weight)
    return model, Batch.from_pairs(_PAIRS), _Optimizer(model.parameters(), lr=0.0)


def _gradient(divide: Callable[[Tensor, Batch, Batch], Tensor], parts: int, smoothing: float = 0.1, first: int = 0) -> Tensor:
    """Return the gradient of the parts' losses, each summed over the places that `divide` gets and divides."""
    model, batch, optimizer = _given()
    optimizer.zero_grad()
    for part in batch.split(parts)[first:]:
        logits = model(part.source, part.target_in).transpose(1, 2)
        losses = F.cross_entropy(logits, part.target_out, reduction="none", label_smoothing=smoothing)
        divide(losses, part, batch).backward()
    return optimizer.gradient()


def _real(losses: Tensor, part: Batch) -> Tensor:
    return losses[part.target_out != PAD_ID].sum()


@check
def my_training_step(attempt: Callable) -> str:
    """The reader's `my_training_step(model, batch, optimizer, parts)` makes the step of the library's `training_step`."""
    for parts in (1, 2):
        model, batch, optimizer = _given()
        reported = attempt(model, batch, optimizer, parts)
        asked = getattr(optimizer, "asked", [])
        if not asked:
            raise Hint("the weights never move: call optimizer.step() after the gradients are there")
        if len(asked) > 1:
            raise Hint("the optimizer steps after each part: let the gradients add up, and step once")
        right = _gradient(lambda losses, part, whole: _real(losses, part) / whole.num_tokens, parts)
        slips = [
            (right + 1, "the gradients of the step before are still there: optimizer.zero_grad() comes first"),
            (
                _gradient(lambda losses, part, whole: _real(losses, part) / whole.num_tokens, parts, first=parts - 1),
                "only the last part's gradients are left: zero_grad belongs before the loop over the parts",
            ),
            (
                _gradient(lambda losses, part, whole, k=parts: losses.mean() / k, parts),
                "padding counts: leave out the places where target_out is PAD_ID",
            ),
            (
                _gradient(lambda losses, part, whole, k=parts: _real(losses, part) / part.num_tokens / k, parts),
                "this is the mean of means: divide by the tokens of the whole batch, not of the part",
            ),
            (
                _gradient(lambda losses, part, whole: _real(losses, part) / part.num_tokens, parts),
                "each part is divided by its own tokens: divide by those of the whole batch",
            ),
            (
                _gradient(lambda losses, part, whole: _real(losses, part) / whole.num_tokens, parts, smoothing=0.0),
                "label smoothing of 0.1 is missing",
            ),
            (
                _gradient(lambda losses, part, whole: _real(losses, part), parts),
                "this is a sum: divide by the tokens of the whole batch",
            ),
        ]
        given = asked[0]
        if given.shape != right.shape or not torch.allclose(given, right, rtol=0, atol=1e-9):
            for slip, hint in slips:
                if given.shape == slip.shape and torch.allclose(given, slip, rtol=0, atol=1e-9):
                    raise Hint(hint)
            raise Hint(f"with {parts} part{'s' * (parts > 1)} the gradients are not those of the library's training_step")
        expected = training_step(*_given(), accumulation_steps=parts)
        if abs(float(reported) - expected) > 1e-9:
            raise Hint(f"the step is right, but it should return the loss per token, {expected:.4f}, not {float(reported):.4f}")
    return "one batch, or the same in parts: the loss and the gradients of the library's step"
