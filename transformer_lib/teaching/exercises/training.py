"""Checks for the exercises of chapter 12, The training loop."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer_lib.seq2seq import PAD_ID
from transformer_lib.teaching.exercises import Hint, _, check, exercise
from transformer_lib.training import Batch, training_step
from transformer_lib.transformer import Transformer, TransformerConfig


@exercise(
    cases=[([0.3, 0.9], [4, 2]), ([2.0], [7]), ([1.0, 2.0, 4.0], [10, 5, 1])],
    hint=_("Turn each mean back into a sum (times its tokens), add, and divide by all tokens"),
)
def joined_loss(means: list[float], tokens: list[int]) -> Iterator:
    """The reader's `joined_loss(means, tokens)` is the loss per token of all micro-batches together."""
    total = sum(m * n for m, n in zip(means, tokens, strict=True))
    yield total / sum(tokens), _("the parts join to the loss of one large batch")
    yield sum(means) / len(means), _("this is a mean of means: the parts have different numbers of tokens")
    yield total, _("now divide by the number of all tokens")
    yield sum(means) / sum(tokens), _("these are means already: multiply each by its tokens before you divide")


def _entropy(shares: dict[float, int]) -> float:
    """Return the entropy of a target; `shares` says how many words have which probability."""
    return -sum(count * q * math.log(q) for q, count in shares.items() if q > 0)


@exercise(cases=[(5, 0.1), (37_000, 0.1), (10, 0.3), (10, 0.0)], hint=_("It is the entropy of the target, −Σ q · log q"))
def lowest_loss(vocab: int, smoothing: float) -> Iterator:
    """The reader's `lowest_loss(vocab, smoothing)` returns the entropy of the smoothed target."""
    share = smoothing / vocab
    right = 1 - smoothing + share
    yield _entropy({right: 1, share: vocab - 1}), _("the entropy of the target: 0.3897 for five words, and 1.38 for 37,000")
    if not smoothing:
        yield math.nan, _("with smoothing 0 the other words have q = 0: 0 · log 0 counts as 0, so return 0")
        return
    yield 0.0, _("a perfect model reaches 0 only without smoothing")
    yield -_entropy({right: 1, share: vocab - 1}), _("the sign: an entropy is never negative")
    yield -math.log(right), _("this counts the right word alone, with weight 1: sum −q · log q over all words")
    yield _entropy({right: 1, share: 1}), _("there are vocab − 1 other words, not one")
    yield _entropy({1 - smoothing: 1, smoothing / (vocab - 1): vocab - 1}), _("this is the floor of ε/(V−1), not of ε/V")


class _Model(Transformer):
    """A model that the check and the reader's function share: no copy of it is made."""

    def __deepcopy__(self, memo: Any) -> "_Model":
        return self


class _Optimizer(torch.optim.SGD):
    """Keeps the gradients with which it was asked to step."""

    def __init__(self, weights: Iterator) -> None:
        super().__init__(weights, lr=0.0)
        self.asked: list[Tensor] = []

    def __deepcopy__(self, memo: Any) -> "_Optimizer":
        return self

    def step(self, closure: Any = None) -> None:
        grads = [torch.zeros_like(w) if w.grad is None else w.grad for w in self.param_groups[0]["params"]]
        self.asked.append(torch.cat([grad.flatten() for grad in grads]))


_PAIRS = [([5], [4, 2]), ([3, 4], [4, 3, 2]), ([6, 3], [3, 6, 5, 4, 2]), ([4] * 4, [5, 5, 3, 6, 4, 3, 2])]


def _given() -> tuple[_Model, Batch, _Optimizer]:
    """Return a small model with old gradients, a batch of four pairs, and an optimizer."""
    torch.manual_seed(0)
    sizes = {"d_model": 8, "num_layers": 1, "num_heads": 2, "d_ff": 8, "dropout": 0.0}
    model = _Model(TransformerConfig(source_vocab_size=7, target_vocab_size=7, **sizes)).double()
    for weight in model.parameters():
        weight.grad = torch.ones_like(weight)
    return model, Batch.from_pairs(_PAIRS), _Optimizer(model.parameters())


def _gradient(divide: Callable[..., Tensor], parts: int, smoothing: float = 0.1, first: int = 0) -> Tensor:
    """Return the gradient of the parts' losses, which `divide(losses, real, part, whole)` adds up and divides."""
    model, batch, optimizer = _given()
    optimizer.zero_grad()
    for part in batch.split(parts)[first:]:
        logits = model(part.source, part.target_in).transpose(1, 2)
        losses = F.cross_entropy(logits, part.target_out, reduction="none", label_smoothing=smoothing)
        divide(losses, losses[part.target_out != PAD_ID], part, batch).backward()
    optimizer.step()
    return optimizer.asked[0]


def _right(losses: Tensor, real: Tensor, part: Batch, whole: Batch) -> Tensor:
    return real.sum() / whole.num_tokens


@check
def my_training_step(attempt: Callable) -> str:
    """The reader's `my_training_step(model, batch, optimizer, parts)` makes the step of the library's `training_step`."""
    for parts in (1, 2):
        model, batch, optimizer = _given()
        reported = attempt(model, batch, optimizer, parts)
        if not optimizer.asked:
            raise Hint(_("the weights never move: call optimizer.step() after the gradients are there"))
        if len(optimizer.asked) > 1:
            raise Hint(_("the optimizer steps after each part: let the gradients add up, and step once"))
        (given,) = optimizer.asked
        answers = [
            ("", _gradient(_right, parts)),
            (_("the gradients of the step before are there: zero_grad() comes first"), _gradient(_right, parts) + 1),
            (_("only the last part's gradients are left: zero_grad() comes first"), _gradient(_right, parts, first=parts - 1)),
            (_("padding counts: leave it out"), _gradient(lambda losses, *_: losses.mean(), parts)),
            (_("divide by the tokens of the whole batch"), _gradient(lambda losses, real, *_: real.mean(), parts)),
            (_("label smoothing of 0.1 is missing"), _gradient(_right, parts, smoothing=0.0)),
            (_("this is a sum: divide by the tokens of the batch"), _gradient(lambda losses, real, *_: real.sum(), parts)),
        ]
        unknown = _("with 1 part the gradients are not those of the library's training_step")
        if parts > 1:
            unknown = _("with {parts} parts the gradients are not those of the library's training_step", parts=parts)
        same = [hint for hint, answer in answers if torch.allclose(given, answer, rtol=0, atol=1e-9)]
        if hint := [*same, unknown][0]:
            raise Hint(hint)
        expected = training_step(*_given(), accumulation_steps=parts)
        if abs(float(reported) - expected) > 1e-9:
            loss = {"right": expected, "given": float(reported)}
            raise Hint(_("the step is right, but it should return the loss per token, {right:.4f}, not {given:.4f}", **loss))
    return _("one batch, or the same in parts: the loss and the gradients of the library's step")
