"""Checks for the exercises of chapter 17, From this laptop to the paper."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from transformer_lib.teaching.exercises import Hint, _, check, exercise, expect
from transformer_lib.training import Batch, label_smoothed_loss, training_step
from transformer_lib.transformer import Transformer, TransformerConfig


def _scaled(x: float, to_integer: Callable, bits: int = 8) -> float:
    m, e = math.frexp(x)
    return to_integer(m * 2**bits) / 2**bits * 2.0**e


@exercise(
    cases=[(1.0,), (1 / 3,), (257.0,), (259.0,), (-3.14159,), (1000.4,), (0.001,)],
    hint=_("Multiply m by 2 ** 8, round, divide by 2 ** 8, and put the exponent back"),
)
def round_to_bfloat16(x: float) -> Iterator:
    """The reader's `round_to_bfloat16(x)` is the nearest number with 8 significant bits, a tie to the even one."""
    yield _scaled(x, round), _("8 significant bits, with float32's exponents")
    yield _scaled(x, math.trunc), _("this cuts the bits off: take the nearest number, with round")
    yield _scaled(x, round, bits=7), _("these have 7 significant bits: the first 1 is never written, and counts as well")
    says = _("a tie goes to the even number: 257 becomes 256. Python's round does that")
    yield _scaled(x, lambda y: math.floor(y + 0.5)), says
    yield round(x * 256) / 256, _("the exponent is missing: round m, which lies between 0.5 and 1, and not x")


@exercise(
    cases=[([4, 2],), ([4, 2, 0],), ([7],), ([10, 5, 1, 8],)],
    hint=_("The mean over the processes must become the sum of all losses, divided by all tokens"),
)
def loss_factor(tokens: list[int]) -> Iterator:
    """The reader's `loss_factor(tokens)` is what each process multiplies its summed loss by."""
    yield len(tokens) / sum(tokens), _("the mean over the processes is the loss per real token")
    yield 1 / sum(tokens), _("the mean over the processes divides once more, by their number: take that back")
    yield sum(tokens) / len(tokens), _("this is the other way round: divide by the tokens")
    busy = sum(count > 0 for count in tokens)
    yield busy / sum(tokens), _("the mean divides by all processes, also by one whose part is empty")
    yield 1 / tokens[0], _("each process would divide by its own tokens: that is a mean of means")


@exercise(
    cases=[(2.0, 1_000_000, 2, 1e8), (2.0, 63_000_000, 8, 1e9), (0.5, 1_000, 1, 1e6)],
    hint=_("The computing is divided by the processes; 2 (p - 1) / p times the gradients' bytes travel"),
)
def step_seconds(seconds: float, parameters: int, processes: int, bandwidth: float) -> Iterator:
    """The reader's `step_seconds(seconds, parameters, processes, bandwidth)` is the time of one step."""
    sent = 4 * parameters / bandwidth
    ring = (processes - 1) / processes
    yield seconds / processes + 2 * ring * sent, _("less to compute, and something to send")
    yield seconds + 2 * ring * sent, _("the computing is shared: divide it by the processes")
    yield seconds / processes + ring * sent, _("the pieces go round twice: once to add them up, once to hand out the sums")
    yield seconds / processes + 2 * ring * sent / 4, _("each gradient has 4 bytes")


_PAIRS = [([5], [4, 2]), ([3, 4], [4, 3, 2]), ([6, 3], [3, 6, 5, 4, 2]), ([4] * 4, [5, 5, 3, 6, 4, 3, 2]), ([3], [6, 2])]


class _Model(Transformer):
    """A model that the check and the reader's function share: no copy of it is made."""

    def __deepcopy__(self, memo: object) -> "_Model":
        return self


def _model() -> _Model:
    """Return a small model with old gradients."""
    torch.manual_seed(0)
    sizes = {"d_model": 8, "num_layers": 1, "num_heads": 2, "d_ff": 8, "dropout": 0.0}
    model = _Model(TransformerConfig(source_vocab_size=7, target_vocab_size=7, **sizes)).double()
    for weight in model.parameters():
        weight.grad = torch.ones_like(weight)
    return model


def _gradient(model: nn.Module) -> Tensor:
    nothing = lambda weight: torch.zeros_like(weight) if weight.grad is None else weight.grad
    return torch.cat([nothing(weight).flatten().clone() for weight in model.parameters()])


def _mean(batch: Batch, factor: Callable[[Batch], float], parts: int, processes: int, smoothing: float = 0.1) -> Tensor:
    """Return the mean over the processes, where each part's summed loss is multiplied by `factor`."""
    model = _model()
    model.zero_grad()
    for part in batch.split(parts):
        logits = model(part.source, part.target_in)
        loss = label_smoothed_loss(logits, part.target_out, smoothing, reduction="sum")
        (loss * factor(part) / processes).backward()
    return _gradient(model)


@check
def my_share(attempt: Callable) -> str:
    """The reader's `my_share(model, batch, rank, processes, parts)` leaves one process's gradient, and returns its loss."""
    batch = Batch.from_pairs(_PAIRS)
    for processes, parts in ((1, 1), (2, 1), (2, 2), (3, 1)):
        reported, found = [], 0.0
        for rank in range(processes):
            model = _model()
            reported.append(attempt(model, batch, rank, processes, parts))
            found = found + _gradient(model) / processes
        p_over_n = lambda part, p=processes: p / batch.num_tokens
        right = _mean(batch, p_over_n, processes * parts, processes)
        own = _("each part is divided by its own words: divide by those of the whole batch")
        slips = [
            (right + 1, _("the gradients of the step before are still there: model.zero_grad() comes first")),
            (right / processes, _("the mean divides by the processes once more: the factor is p / N, not 1 / N")),
            (_mean(batch, lambda part, p=processes: p / part.num_tokens, processes * parts, processes), own),
            (_mean(batch, lambda part: 1 / part.num_tokens, processes * parts, processes), own),
            (_mean(batch, p_over_n, processes * parts, processes, smoothing=0.0), _("label smoothing of 0.1 is missing")),
            (
                right * processes,
                _("each process has taken the whole batch: take the parts of its rank, parts[rank::processes]"),
            ),
            (right * batch.num_tokens / processes, _("this is a sum: divide by the words of the whole batch")),
        ]
        if not torch.allclose(found, right, rtol=0, atol=1e-9):
            for slip, hint in slips:
                if torch.allclose(found, slip, rtol=0, atol=1e-9):
                    raise Hint(hint)
            run = {"processes": processes, "parts": parts}
            says = _(
                "with {processes} processes and {parts} parts each, the mean is not the gradient of the whole batch", **run
            )
            raise Hint(says)
        loss = training_step(_model(), batch, torch.optim.SGD([torch.zeros(1)], lr=0.0))
        total = sum(float(number) for number in reported)
        hint = _("The gradients are right; but the losses are added over the processes: leave p out")
        expect(total, loss, hint, _("the sum of the losses"))
    return _("one process, two and three, in parts: their mean is the gradient of the whole batch")
