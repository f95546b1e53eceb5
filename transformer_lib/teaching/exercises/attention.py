"""Checks for the exercises of chapter 6, Attention."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from transformer_lib.attention import MultiHeadAttention, join_heads, scaled_dot_product_attention, split_heads
from transformer_lib.teaching.exercises import Hint, _, check, compare, exercise, normal, numbers

X = torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
K = torch.tensor([[2.0, 0, 0, 0], [0, 2, 0, 1], [0, 1, 2, 0]])
W_Q = torch.tensor([[0.0, 3, 0, 0], [2, 0, 2, 0], [0, 3, 0, 1], [0, 0, 0, 0]])


@exercise(
    cases=[()],
    hint=_("Compute the three dot products of each query, and by how much one of them leads"),
    parts=(_("the weights of the whisper"), _("the weights of the shout")),
)
def whisper_and_shout() -> Iterator:
    """The reader's `whisper_and_shout()` returns the weights of two queries: one of zeros, and one that is very large."""
    average, strict = [1 / 3] * 3, [0.0, 1.0, 0.0]
    yield (average, strict), _("a whisper hears the plain average, a shout gets the strict dictionary")
    says = _("three scores of 0 are no weights of 0: the softmax turns them into positive numbers that sum to 1")
    yield ([0.0] * 3, ...), says
    for digits in (1, 2, 3):
        yield ([round(1 / 3, digits)] * 3, ...), _("nearly: write 1 / 3, so that the three weights sum to 1")
    yield (strict, average), _("the two are the other way round: first the whisper, then the shout")
    says = _("scores 100 times as large are 100 times as far apart: how much does the best one lead?")
    yield (..., [0.026, 0.858, 0.116]), says
    yield (..., average), _("a larger query makes larger differences between the scores, so the weights become less alike")


@check
def chess_asks_who(attempt: Callable) -> str:
    """The reader's `chess_asks_who(W_Q)` returns a W_Q with which *chess* gives more than 0.9 of its weight to *They*."""
    given = torch.from_numpy(numbers(attempt(W_Q), (4, 4), "W_Q")).float()
    changed = (given != W_Q).any(dim=1).nonzero().flatten().tolist()
    who = (X @ given @ K.T / 2).softmax(dim=-1)[2, 0].item()
    if not changed:
        raise Hint(_("W_Q is as it was"))
    if changed != [2]:
        raise Hint(_("rows {changed} have changed; change row 2 alone, which says what an object asks for", changed=changed))
    if who <= 0.9:
        hint = _(
            "chess now gives They {who:.2f} of its weight: ask for a subject, for nothing else, and loudly enough", who=who
        )
        raise Hint(hint)
    return _("chess now gives They {who:.2f} of its weight", who=who)


@exercise(
    cases=[(3.0, 16), (0.5, 64), (2.0, 4)],
    hint=_("How many times as large is one product, how many times as large the sum?"),
)
def score_size(s: float, d_k: int) -> Iterator:
    """The reader's `score_size(s, d_k)` returns the size, the standard deviation, of the divided score."""
    yield s**2, _("s²: after the division the width has no effect, the size of the vectors has")
    yield 1.0, _("that holds only for s = 1: the size of the vectors still counts")
    yield s, _("both numbers of a product are s times as large, so the product is s · s times as large")
    yield s**4, _("that is the variance, the square of the size; take its root")
    yield math.sqrt(d_k) * s**2, _("that is the size before the division; now divide by √d_k")


@check
def multi_head_attention(attempt: Callable) -> str:
    """The reader's class gives the numbers of the library's layer and of torch's: one sentence, two, and with a mask."""
    mine, ours = attempt(12, 3), MultiHeadAttention(12, 3)
    for name in ("W_q", "W_k", "W_v", "W_o"):
        part = getattr(mine, name, None)
        if not isinstance(part, nn.Linear) or part.weight.shape != (12, 12) or part.bias is None:
            raise Hint(_("{name} should be an nn.Linear(d_model, d_model), all heads in one matrix, with a bias", name=name))
        getattr(ours, name).load_state_dict(part.state_dict())
    x, memory = (part.float() for part in normal((2, 4, 12), (2, 6, 12), seed=6))
    mask = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])[:, None, None, :]  # (batch, 1, 1, key)
    for what, query, key, m in [
        (_("one sentence"), x, x, None),
        (_("two sentences"), x, memory, None),
        (_("two sentences and a mask"), x, memory, mask),
    ]:
        try:
            found = mine(query, key, key, m)
        except NotImplementedError:
            raise Hint(_("forward is not written yet")) from None
        except Exception as problem:
            says = _("{case}: forward raises {error}", case=what, error=f"{type(problem).__name__}: {problem}")
            raise Hint(says) from problem
        praise = _("equal to the library's layer, and so to torch's: one sentence, two, and with a mask")
        answers = [(ours(query, key, key, m), praise), *_slips(ours, query, key, m)]
        result = _("the result for {case}", case=what)
        compare([(found, answers, [result])], _("Compare your steps with the picture of the heads"))
    return praise


def _slips(layer: MultiHeadAttention, query: Tensor, key: Tensor, mask: Tensor | None) -> Iterator[tuple[Tensor, str]]:
    """Yield the outputs of likely mistakes, each with its hint."""
    h, d_k = layer.num_heads, query.size(-1) // layer.num_heads
    parts = layer.W_q(query), layer.W_k(key), layer.W_v(key)
    heads, by_view = [split_heads(x, h) for x in parts], [x.reshape(len(x), h, -1, d_k) for x in parts]

    def output(parts: list[Tensor], scale: float = 1.0, mask: Tensor | None = mask) -> Tensor:
        return layer.W_o(join_heads(scaled_dot_product_attention(parts[0] * scale, *parts[1:], mask)[0]))

    yield join_heads(scaled_dot_product_attention(*heads, mask)[0]), _("W_o is missing: the last step combines the heads")
    yield output(heads, d_k**0.5), _("the scores are not divided by √d_k")
    yield output(heads, h**-0.5), _("divide by √d_k, the width inside a head, not by √d_model")
    yield output(heads, d_k**-0.5), _("divide by the root of d_k, not by d_k")
    yield output(by_view), _("view alone gives a head the wrong words: cut each row, then transpose")
    if mask is not None:
        yield output(heads, mask=None), _("the mask is not used")
        yield output(heads, mask=~mask), _("the mask is the other way round: True means “may look”")
