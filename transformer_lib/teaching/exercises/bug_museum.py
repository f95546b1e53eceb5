"""Checks for the exercises of chapter 16, The bug museum."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from transformer_lib.teaching.exercises import Hint, exercise, expect_shape, formula

__all__ = ["padding_effect", "reported_loss", "sees_future", "which_bug"]


@formula(
    cases=[(0.6, [3, 3, 6]), (1.0, [4, 4]), (2.5, [1, 9, 2, 4])],
    hint="The sum of the losses is the loss times the real tokens; divide it by sentences times the longest",
)
def reported_loss(loss: float, lengths: list[int]) -> Iterator:
    """The reader's `reported_loss(loss, lengths)` is the number that a loss divided by all places shows."""
    words, places = sum(lengths), len(lengths) * max(lengths)
    yield loss * words / places, "the shorter the sentences beside a long one, the better it looks"
    yield loss, "this is the true loss; the program divides by the padded places too"
    yield loss * places / words, "the wrong way round: more places, so a smaller number"
    yield loss * words / len(lengths) / sum(lengths), "divide by the places of the rectangle: sentences times the longest"
    yield loss * words, "this is the sum over the real tokens; now divide it by all places"


@contextmanager
def _library_with(name: str) -> Iterator[None]:
    from transformer_lib.teaching.bugs import BUGS, switched_on

    bugs = {bug.name: bug for bug in BUGS}
    with switched_on(bugs[name]) if name in bugs else nullcontext():
        yield


def _fresh(seed: int):
    """Return the model of the museum, untrained and without dropout."""
    from dataclasses import replace

    import torch

    from transformer_lib.teaching.experiments.bug_museum import CONFIG
    from transformer_lib.transformer import Transformer

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Transformer(replace(CONFIG, dropout=0.0)).eval()


def _sentences(seed: int):
    """Return two sentences of five words, and what the decoder reads."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    source = torch.randint(3, 13, (2, 5), generator=generator)
    return source, torch.cat([torch.ones(2, 1, dtype=torch.long), source[:, :-1]], dim=1)


class _LooksBack:
    """A stand-in for a model: at each place the sum of the words so far; with `leak`, one place sees one later word."""

    def __init__(self, leak: tuple[int, int] | None = None) -> None:
        self.leak, self.training = leak, False

    def __call__(self, source, target_in):
        import torch

        logits = target_in.cumsum(dim=1).double()[:, :, None] * torch.ones(13, dtype=torch.float64)
        if self.leak:
            place, later = self.leak
            logits[:, place] += 0.01 * target_in[:, later, None]
        return logits


@exercise
def sees_future(attempt: Callable) -> str:
    """The reader's `sees_future(model, source, target_in)` says whether a later word moves an earlier output."""
    source, read = _sentences(1)
    for name, training in (("none", False), ("future", False), ("off-by-one", True), ("training-only", False)):
        model = _fresh(1).train(training)
        with _library_with(name):
            kept = read.clone()
            answer = bool(expect_shape(attempt(model, source, read), (), "the result"))
        if not read.equal(kept):
            raise Hint("target_in was changed: work on a copy, target_in.clone()")
        if model.training is not training:
            raise Hint("the model's mode was changed: one of the bugs is there in one mode only")
        if name == "none" and answer:
            raise Hint(
                "this says True for the right model. Only outputs *before* the changed word count, and rounding does not: "
                "ask for more than 1e-4"
            )
        if name != "none" and not answer:
            raise Hint(f"with the bug {name} on, this says False: change a later word, and compare all outputs before it")
    for place, later in ((0, 1), (0, 4), (3, 4), (1, 2)):
        if not bool(expect_shape(attempt(_LooksBack((place, later)), source, read), (), "the result")):
            raise Hint(f"a model whose output {place} sees word {later} passes as right: change each later word in turn")
    if bool(expect_shape(attempt(_LooksBack(), source, read), (), "the result")):
        raise Hint("a model whose outputs are sums of the words so far is called guilty: later outputs may move")
    return "each later word is changed, and the outputs before it are compared: one leak anywhere is found"


@exercise
def padding_effect(attempt: Callable) -> str:
    """The reader's `padding_effect(model, source, target_in, columns)` is the largest difference that padding makes."""
    import torch
    from torch.nn.functional import pad

    source, read = _sentences(2)
    for name, columns in (("none", 2), ("padding-rows", 1), ("padding-rows", 4)):
        model = _fresh(2)
        with _library_with(name), torch.no_grad():
            given = float(expect_shape(attempt(model, source, read, columns), (), "the result"))
            plain = model(source, read)
            expected = (model(pad(source, (0, columns)), read) - plain).abs()
            left = (model(pad(source, (columns, 0)), read) - plain).abs().max().item()
            largest, signed = expected.max().item(), (model(pad(source, (0, columns)), read) - plain).max().item()
        if abs(given - largest) <= 1e-4 + 1e-3 * largest:
            continue
        where = f"with {columns} columns and {'the right library' if name == 'none' else 'the bug padding-rows on'}"
        for mistake, hint in (
            (left, "the padding stands on the left: that moves all positions. It belongs behind the words"),
            (expected.mean().item(), "this is the mean; one place that moves must be seen, so take the largest"),
            (expected.sum().item(), "this is the sum; take the largest difference"),
            (signed, "a difference may be negative: take abs before max"),
            (0.0, "this finds nothing: is the padded source the one that you hand over?"),
        ):
            if abs(given - mistake) <= 1e-4 + 1e-3 * abs(mistake):
                raise Hint(f"{where}: {hint}")
        raise Hint(f"{where}: the result is {given:.4g}, expected {largest:.4g}")
    return "nothing but rounding in the right library, and a difference that can be seen with the bug"


_BUGS = ("none", "future", "padding-rows", "one-layer", "start")


@exercise
def which_bug(attempt: Callable) -> str:
    """The reader's `which_bug(build)` names the bug that is switched on."""
    for seed, name in enumerate((*_BUGS, "start", "none", "one-layer")):
        with _library_with(name):
            answer = attempt(lambda seed=seed: _fresh(seed))
        if not isinstance(answer, str) or answer not in _BUGS:
            raise Hint(f"the answer is {answer!r}, expected one of {', '.join(_BUGS)}")
        if answer == name:
            continue
        if name == "none":
            raise Hint(f"nothing was switched on, and the answer is {answer}. Is rounding taken for a difference (allow 1e-4)?")
        how = {
            "future": "change the last word that the decoder reads, and look at the outputs before it",
            "padding-rows": "add padding behind the source's words, and compare the logits",
            "one-layer": "are the encoder's two layers one object? `is` says so, and the number of parameters too",
            "start": "the shared matrix, model.output.weight, should start with deviation 1/√48 = 0.14",
        }
        raise Hint(f"the bug {name} was on, and the answer is {answer}: {how[name]}")
    return "each bug is named without a step of training"
