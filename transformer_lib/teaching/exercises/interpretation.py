"""Checks for the exercises of chapter 15, What it has learned."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import torch
from torch import Tensor

from transformer_lib.encoder import TransformerConfig
from transformer_lib.teaching.exercises import _, exercise
from transformer_lib.transformer import Transformer


@exercise(
    cases=[()],
    hint=_("Patch the horse's memory with the cow's, place by place, and compare with *le cheval blanc est fatigué*"),
)
def new_words() -> Iterator:
    """The reader's `new_words()` names the word that changes at each place, when the horse's vectors are patched."""
    says = _("and neither *la* nor *vache* alone makes the last word feminine: run the patches")
    yield ["la", "blanche", "vache", "", ""], says
    says = _("all but one: at *cow* the last word stays masculine. What held for the cow need not hold for the horse: run it")
    yield ["la", "blanche", "vache fatiguée", "", ""], says
    yield ["la", "blanche", "vache", "", "fatiguée"], _("at *tired* nothing changed for the cow, and nothing does here: run it")
    yield ["le", "blanc", "cheval", "", ""], _("these are the words before the patch: name the new ones")
    yield ["la", "blanc", "vache", "", ""], _("at *white* a vector of the cow's is put in: which form does it bring?")
    yield ["", "", "", "", ""], _("three places do change a word")


def _small_model(seed: int) -> Transformer:
    """Return an untrained model of 11 and 13 tokens."""
    sizes = {"d_model": 16, "num_layers": 1, "num_heads": 2, "d_ff": 32}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Transformer(TransformerConfig(source_vocab_size=11, target_vocab_size=13, **sizes))
    model.__name__ = "model"  # so it stands in a hint
    return model.eval().requires_grad_(False)


_SOURCES = torch.tensor([[[4, 5, 6, 7]], [[4, 5, 8, 7]], [[9, 3, 10, 7]]])
_PREFIX = torch.tensor([[1, 5, 9]])


@exercise(
    cases=[
        (_small_model(0), _SOURCES[0], _SOURCES[1], 2, _PREFIX),
        (_small_model(1), _SOURCES[1], _SOURCES[2], 0, _PREFIX[:, :2]),
    ],
    hint=_(
        "Start both sentences, take one vector of the other memory, decode the prefix, and make probabilities of the last row"
    ),
)
def patched_probabilities(model: Transformer, source: Tensor, other: Tensor, place: int, prefix: Tensor) -> Iterator:
    """The reader's function returns the probabilities `(vocab,)` of the next token after one vector was patched."""

    def logits(text: Tensor, put_in: Tensor, places: Sequence[int]) -> Tensor:
        state, theirs = model.start(text), model.start(put_in)
        state.memory[:, places] = theirs.memory[:, places]
        return model.decode(prefix, state)[0]  # (prefix, vocab)

    right, everywhere = logits(source, other, [place]), list(range(source.size(1)))
    unpatched, all_patched, swapped = (
        logits(source, other, []),
        logits(source, other, everywhere),
        logits(other, source, [place]),
    )
    yield right[-1].softmax(dim=-1), _("one vector of another run, and everything else as it was")
    yield unpatched[-1].softmax(dim=-1), _("nothing is patched yet: the vector at `place` comes from `other`")
    yield all_patched[-1].softmax(dim=-1), _("all vectors are patched: only the one at `place` comes from `other`")
    yield swapped[-1].softmax(dim=-1), _("the wrong way round: start from `source`, and take one vector of `other`")
    yield right[-1], _("these are logits: the softmax makes probabilities of them")
    yield right[0].softmax(dim=-1), _("this is the row after <sos>: the last row is for the next token")
    yield right.softmax(dim=-1), _("return the last row alone, for the token that follows the prefix")
    yield right.softmax(dim=-1)[None], _("return the last row of the one sentence alone, (vocab,)")
    yield right[None, -1].softmax(dim=-1), _("return one row of numbers, (vocab,)")
    yield right[-1].argmax(), _("this is the most probable token: return the probabilities of all")


def _turned_by(*causes: tuple[int, ...]) -> Callable[[Sequence[int]], bool]:
    """Return a function that says whether one of `causes` is among the places."""

    def turns(places: Sequence[int]) -> bool:
        return any(set(cause) <= set(places) for cause in causes)

    turns.__name__ = "turns"
    return turns


@exercise(
    cases=[
        (_turned_by((1,), (3,)), 4),
        (_turned_by((1,)), 5),
        (_turned_by((2, 4)), 5),
        (_turned_by((0, 1, 2), (1, 3)), 4),
        (_turned_by((1, 2), (0, 3)), 4),
        (_turned_by(), 3),
        (_turned_by((0, 1, 2)), 3),
        (_turned_by((3,), (0, 1)), 4),
    ],
    hint=_("Try all single places, then all pairs, then all threes: the first that turns the word is the answer"),
)
def smallest_cause(turns: Callable[[Sequence[int]], bool], length: int) -> Iterator:
    """The reader's `smallest_cause(turns, length)` returns the smallest set of places that turns the word."""
    places = range(length)
    every = [[*some] for size in range(1, length + 1) for some in combinations(places, size) if turns(some)]
    smallest = every[0] if every else []
    yield smallest, _("single places first, then pairs: two vectors may have to change at once")
    singles = [place for place in places if turns((place,))]
    yield singles[:1], _("single places are not enough: where none of them turns the word, try two at once")
    yield singles, _("return the smallest set, not each place that turns the word")
    yield every[-1] if every else [], _("this is the largest set that turns it: begin with the single places")
    pairs = [[*pair] for pair in combinations(places, 2) if turns(pair)]
    yield singles[:1] or pairs[0] if singles or pairs else [], _("three at once may be needed: go on up to all places")
    yield sorted(every)[0] if every else [], _("a smaller set comes before a larger one, whatever its places are")
