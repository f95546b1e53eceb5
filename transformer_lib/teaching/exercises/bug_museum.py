"""Checks for the exercises of chapter 18, The bug museum."""

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import torch
from torch import Tensor, nn

from transformer_lib.teaching.bugs import inject_bug
from transformer_lib.teaching.exercises import Hint, _, check, exercise, numbers
from transformer_lib.teaching.experiments.bug_museum import BUG, CONFIG
from transformer_lib.transformer import Transformer


@exercise(
    cases=[(0.6, [3, 3, 6]), (1.0, [4, 4]), (2.5, [1, 9, 2, 4])],
    hint=_("The sum of the losses is the loss times the real tokens; divide it by sentences times the longest"),
)
def reported_loss(loss: float, lengths: list[int]) -> Iterator:
    """The reader's `reported_loss(loss, lengths)` is the number that a loss divided by all places shows."""
    words, places = sum(lengths), len(lengths) * max(lengths)
    yield loss * words / places, _("the shorter the sentences beside a long one, the better it looks")
    yield loss, _("this is the true loss; the program divides by the padded places too")
    yield loss * places / words, _("the wrong way round: more places, so a smaller number")
    yield loss * words, _("this is the sum over the real tokens; now divide it by all places")


def _library_with(name: str) -> AbstractContextManager[None]:
    return inject_bug(BUG[name]) if name in BUG else nullcontext()


def _fresh(seed: int) -> Transformer:
    """Return the model of the museum, untrained and without dropout."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Transformer(replace(CONFIG, dropout=0.0)).eval()


# As the right library makes it: each call of the reader's function gets a copy.
_model = functools.cache(_fresh)


def _sentences(seed: int) -> tuple[Tensor, Tensor]:
    """Return two sentences of five words, and what the decoder reads."""
    source = torch.randint(3, 13, (2, 5), generator=torch.Generator().manual_seed(seed))
    return source, torch.cat([torch.ones(2, 1, dtype=torch.long), source[:, :-1]], dim=1)


class _LooksBack(nn.Module):
    """A stand-in for a model: at each place the sum of the words so far; and `place` sees a part of `later`."""

    def __init__(self, place: int, later: int, part: float = 0.01) -> None:
        super().__init__()
        self.place, self.later, self.part = place, later, part

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        logits = target_in.cumsum(dim=1).double()[:, :, None] * torch.ones(13, dtype=torch.float64)
        logits[:, self.place] += self.part * target_in[:, self.later, None]
        return logits


@check
def sees_future(attempt: Callable) -> str:
    """The reader's `sees_future(model, source, target_in)` says whether a later word moves an earlier output."""
    source, read = _sentences(1)
    for name, training in (("none", False), ("future", False), ("off-by-one", True), ("training-only", False)):
        with _library_with(name):
            answer = bool(numbers(attempt(_model(1).train(training), source, read)))
        model, _source, words = attempt.handed
        if not words.equal(read):
            raise Hint(_("target_in was changed: work on a copy, target_in.clone()"))
        if model.training is not training:
            raise Hint(_("the model's mode was changed: one of the bugs is there in one mode only"))
        if name == "none" and answer:
            says = _("this says True for the right model. Only outputs *before* the changed word count, and only above 1e-4")
            raise Hint(says)
        if name != "none" and not answer:
            says = _(
                "with the bug {name} on, this says False: change a later word, and compare all outputs before it", name=name
            )
            raise Hint(says)
    for place, later in ((0, 1), (0, 4), (3, 4), (1, 2)):
        if not numbers(attempt(_LooksBack(place, later).eval(), source, read)):
            leak = {"place": place, "later": later}
            raise Hint(
                _("a model whose output {place} sees word {later} passes as right: change each later word in turn", **leak)
            )
    if numbers(attempt(_LooksBack(0, 1, part=0.0).eval(), source, read)):
        raise Hint(_("a model whose outputs are sums of the words so far is called guilty: later outputs may move"))
    return _("each later word is changed, and the outputs before it are compared: one leak anywhere is found")


_BUGS = {
    "none": _("is rounding taken for a difference? Allow 1e-4"),
    "future": _("change the last word that the decoder reads, and look at the outputs before it"),
    "padding-rows": _("add padding behind the source's words, and compare the logits"),
    "off-by-one": _("look at causal_mask(2) first, because *future* moves earlier outputs too"),
    "start": _("logits of a fresh model have a deviation near 1, and with this bug near 7"),
}


@check
def which_bug(attempt: Callable) -> str:
    """The reader's `which_bug(build)` names the bug that is switched on."""
    for seed, name in enumerate((*_BUGS, "start", "none", "off-by-one")):
        with _library_with(name):
            answer = attempt(lambda seed=seed: _fresh(seed))
        if not isinstance(answer, str) or answer != name:
            raise Hint(_("with {name} on, the answer is {answer!r}: {hint}", name=name, answer=answer, hint=_BUGS[name]))
    return _("each bug is named without a step of training")
