"""Checks for the exercises of chapter 16, Real sentences."""

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import nn
from torch.nn import functional as F

from transformer_lib.encoder import TransformerConfig
from transformer_lib.seq2seq import PAD_ID
from transformer_lib.teaching.exercises import Hint, _, check, exercise, expect, numbers, same
from transformer_lib.training import Batch, evaluate
from transformer_lib.transformer import Transformer


@exercise(
    cases=[()],
    hint=_("Which words of the French say that these are women, and not men? Both are two, and both sit on a bench"),
)
def dearer_tokens() -> Iterator:
    """The reader's `dearer_tokens()` lists the tokens of *Deux femmes sont assises …* that *men* in the source makes dearer."""
    yield ["femmes", "assises"], _("the noun, and the participle that agrees with it. Now measure by how much")
    yield ["femmes"], _("one more: which other word has a feminine ending?")
    yield ["assises"], _("one more: and the noun itself?")
    yield ["femmes", "sont", "assises"], _("sont is the plural, and men are as many as women: only gender differs")
    yield ["assises", "femmes"], _("both are right; list them in the order of the sentence")
    yield ["Femmes", "Assises"], _("write the tokens as they stand in the sentence, in lower case")


def _sums(model: nn.Module, batches: Sequence[Batch], moved: int = 0) -> list[tuple[float, float, int, int]]:
    """Return the loss at real places, that at all places, and how many there are of both, for each batch."""
    found = []
    for batch in batches:
        with torch.no_grad():
            logits = model(batch.source.roll(moved, dims=0), batch.target_in)
        losses = F.cross_entropy(logits.transpose(1, 2), batch.target_out, reduction="none")
        real = batch.target_out != PAD_ID
        found.append((losses[real].sum().item(), losses.sum().item(), int(real.sum()), real.numel()))
    return found


@check
def my_two_losses(attempt: Callable) -> str:
    """The reader's `my_two_losses(model, batches)` is the loss per token with own sources, and with the others'."""
    torch.manual_seed(0)
    config = TransformerConfig(
        d_model=16, num_layers=1, num_heads=2, d_ff=16, dropout=0.2, source_vocab_size=12, target_vocab_size=12
    )
    model = Transformer(config).double().eval()
    pairs = [([4, 5, 6], [7, 8, 2]), ([6], [9, 2]), ([5, 4, 8, 9], [10, 4, 6, 7, 2]), ([11, 4], [5, 6, 7, 2]), ([10], [4, 2])]
    batches = [Batch.from_pairs(pairs[:3]), Batch.from_pairs(pairs[3:])]
    given = numbers(attempt(model, batches), (2,), _("the result, the two losses,"))

    def per_token(moved: int) -> float:
        sums = _sums(model, batches, moved)
        return sum(loss for loss, _, _, _ in sums) / sum(count for _, _, count, _ in sums)

    own, other = evaluate(model, batches), per_token(1)
    sums = [_sums(model, batches, moved) for moved in (0, 1)]
    slips = [
        ((own, per_token(-1)), _("the sources move the other way: each goes to the next sentence, the last one to the first")),
        ((other, own), _("the own sources come first, then the others'")),
        ((own, own), _("both losses are those with the own sources: move them on with roll, along the batch, dims=0")),
        ((own, other - own), _("return the two losses, not the gap")),
        (
            [sum(loss / count for loss, _, count, _ in of) / len(of) for of in sums],
            _("this is a mean of the batches' means: add up all losses, and divide once by the number of all tokens"),
        ),
        (
            [sum(loss for _, loss, _, _ in of) / sum(places for *_, places in of) for of in sums],
            _("padding counts: leave out the places where target_out is PAD_ID"),
        ),
        ([sum(loss for loss, *_ in of) for of in sums], _("these are sums: divide by the number of tokens")),
    ]
    for slip, hint in slips:
        if same(given, slip):
            raise Hint(hint)
    if not same(given, (own, other)):
        hint = _("Add up -log p of each token, source after source, and divide by all tokens")
        expect(given, (own, other), hint, _("the losses"))
    return _("both are those of the library's evaluate")


@exercise(
    cases=[(2.0, 128, 400), (2.0, 128, 4000), (1.0, 512, 4000), (0.5, 32, 100)],
    hint=_("Divide factor / √(d_model · warmup) by 1 / √(512 · 4000)"),
)
def times_the_paper(factor: float, d_model: int, warmup: int) -> Iterator:
    """The reader's `times_the_paper(factor, d_model, warmup)` is the peak rate over that of the paper's base model."""
    ratio = 512 * 4000 / (d_model * warmup)
    yield factor * ratio**0.5, _("and with the paper's warm-up the first run's peak is still 4 times the paper's")
    yield ratio**0.5, _("the factor is missing")
    yield factor * ratio, _("the root is missing: √(d_model · warmup)")
    yield (d_model * warmup / (512 * 4000)) ** 0.5 / factor, _("this is the paper's peak over this one: the other way round")
    yield factor / ratio**0.5, _("a longer warm-up makes the peak lower, not higher")
    yield factor * (4000 / warmup) ** 0.5, _("the width counts too: a narrower model has a higher peak")
    yield factor * (512 / d_model) ** 0.5, _("the warm-up counts too: a shorter one has a higher peak")
    yield factor / (d_model * warmup) ** 0.5, _("this is the peak itself: divide it by the paper's")


FIRST = {"rate": 2.0, "warmup": 400, "pre_norm": False, "dropout": 0.1}


@exercise(
    cases=[
        (
            FIRST,
            {
                "again": {},
                "low": {"rate": 0.5},
                "low and slow": {"rate": 0.5, "warmup": 4000},
                "the same rate, slow": {"rate": 2.0, "warmup": 4000},
                "pre-norm": {"pre_norm": True},
                "the same norm": {"pre_norm": False},
            },
        ),
        (
            {"order": "length", "batch": 1500},
            {"random": {"order": "random", "batch": 1500}, "small": {"batch": 500}, "both": {"order": "random", "batch": 500}},
        ),
    ],
    hint=_("Compare each value that is set with the value in first, and count those that differ"),
)
def one_change(first: dict, runs: dict[str, dict]) -> Iterator:
    """The reader's `one_change(first, runs)` names the runs that differ from the first in exactly one setting."""
    differ = {name: sum(first[key] != value for key, value in given.items()) for name, given in runs.items()}
    yield [name for name in runs if differ[name] == 1], _("two runs that differ in one setting alone")
    says = _("a setting may be set to the value that it has anyhow: compare the values, do not count the names")
    yield [name for name, given in runs.items() if len(given) == 1], says
    says = _("a run that changes nothing is no experiment, but the first run again")
    yield [name for name in runs if differ[name] <= 1], says
    yield [name for name in runs if differ[name] >= 1], _("where two settings differ you cannot tell which of them it was")
    yield [name for name in runs if differ[name] != 1], _("these are all the others")
    yield sum(differ[name] == 1 for name in runs), _("return their names, not how many they are")
