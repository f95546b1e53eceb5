"""Chapter 6: who plays what, asked of averages and of heads; a head of the translator; and equality with torch."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib.teaching.figures import capture_attention
from transformer_lib.teaching.torch_parity import compare_gradients, copy_to_torch
from transformer_lib.translation import pretrained_translator

PEOPLE = "Ann Ben Cleo Dan Eve Finn Gil Hana Ian Joy Kim Leo Mia Noah Ola Pia".split()
GAMES = "rugby go poker darts golf tennis chess polo bingo cards pool squash judo chequers bridge hockey".split()
KINDS, PRESENT = 16, 8


def _meetings(count: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Return eight people and their games at each of `count` meetings, `(count, 8)` each, and the place of one of them."""
    order = torch.rand(count, 2, KINDS, generator=generator).argsort(dim=-1)
    place = torch.randint(PRESENT, (count, 1), generator=generator)
    return order[:, 0, :PRESENT], order[:, 1, :PRESENT], place


class PlainAverage(nn.Module):
    """All values count equally; the query is added to what is heard."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return query + value.mean(dim=1, keepdim=True)  # (batch, 1, d_model)


class _WhoPlaysWhat(nn.Module):
    """Ask for one person; mix the games with `mix(query, key, value)`; score the sixteen games."""

    def __init__(self, mix: nn.Module) -> None:
        super().__init__()
        self.person, self.game = nn.Embedding(KINDS, 32), nn.Embedding(KINDS, 32)
        self.mix, self.answer = mix, nn.Linear(32, KINDS)

    def forward(self, people: Tensor, games: Tensor, asked: Tensor) -> Tensor:
        heard = self.mix(self.person(asked), self.person(people), self.game(games))  # (batch, 1, d_model)
        return self.answer(heard)  # (batch, 1, games)


def _train(make: Callable[[], nn.Module], seed: int, steps: int, questions: int) -> tuple[nn.Module, float, float]:
    """Train one model on new meetings at each step; return it, its share of right answers and its loss in the last 50 steps."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model, seen = make(), []
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(steps):
        people, games, places = _meetings(128, generator)
        if questions == 2:
            places = torch.rand(people.shape, generator=generator).argsort(dim=-1)[:, :2]
        logits = model(people, games, people.gather(1, places))  # (batch, questions, games)
        answers = games.gather(1, places)  # (batch, questions)
        loss = F.cross_entropy(logits.flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append(((logits.argmax(dim=-1) == answers).float().mean().item(), loss.item()))
    return model, *torch.tensor(seen[-50:]).mean(dim=0).tolist()


def train_one_question(name: str, mix: Callable[[], nn.Module], steps: int) -> None:
    """Train three networks that ask for one person, and print how often they are right, and their losses."""
    _, right, losses = zip(*(_train(lambda: _WhoPlaysWhat(mix()), seed, steps, questions=1) for seed in range(3)))
    guesses = 0.08 < min(right) <= max(right) < 0.18 and min(losses) > math.log(PRESENT)
    assert guesses if "attention" not in name else min(right) > 0.98 and max(losses) < 0.05
    print(f"{name}, {steps} steps")
    print("    right", *(f" ≈ {share:.2f}" for share in right), "  loss", *(f" ≈ {loss:.2f}" for loss in losses))


def train_two_questions(
    model: Callable[[int], nn.Module], heads: int, steps: int, starts: int = 1, half: bool | None = None
) -> list[nn.Module]:
    """Train models that ask for two people at once, print how many single answers are right, and return them.

    `half` says whether only about half of them should be: without it, if there is one head.
    """
    models, shares, _ = zip(*(_train(lambda: model(heads), seed, steps, questions=2) for seed in range(starts)))
    half = heads == 1 if half is None else half
    assert 0.45 < min(shares) <= max(shares) < 0.6 if half else min(shares) > 0.98
    print(f"heads: {heads}, steps: {steps}, right:", *(f" ≈ {share:.2f}" for share in shares))
    return list(models)


@torch.no_grad()
def weights_for_two_people(models: list[nn.Module]) -> dict:
    """Ask each model for two people of one meeting; return what `figures.attention.where_they_look` draws."""
    people, games, _ = (part[:1] for part in _meetings(2, torch.Generator().manual_seed(5)))
    asked, rows = [0, 5], {}
    for run, model in enumerate(models):
        model(people, games, people[:, asked])
        weights = model.attention.weights[0, :, 0]  # (heads, 8)
        assert len({*weights.argmax(dim=-1).tolist()} & {*asked}) == len(weights), "one person a head"
        names = [f"1 head, run {run}"] if len(weights) == 1 else [f"head {n} of {len(weights)}" for n in range(len(weights))]
        rows |= dict(zip(names, weights, strict=True))
    return {"people": [PEOPLE[p] for p in people[0]], "games": [GAMES[g] for g in games[0]], "asked": asked, "rows": rows}


@torch.no_grad()
def right_alone_and_together(models: list[nn.Module]) -> None:
    """Print how often each model is right about the first and the second person, and names one of the two games."""
    people, games, _ = _meetings(2000, torch.Generator().manual_seed(99))
    for run, model in enumerate(models):
        said = model(people, games, people[:, :2]).argmax(dim=-1)  # (2000, 2)
        first, second = (said == games[:, :2]).float().mean(dim=0).tolist()
        either = (said[:, :, None] == games[:, None, :2]).any(dim=-1).float().mean().item()
        same = (said[:, 0] == said[:, 1]).float().mean().item()
        assert either > 0.9 or (max(first, second) > 0.9 and min(first, second) < 0.2 and either < 0.6)
        shares = {"first": first, "second": second, "one of the two games": either, "twice the same": same}
        print(f"run {run}:", "   ".join(f"{name} ≈ {share:.2f}" for name, share in shares.items()))


@torch.no_grad()
def scores_by_share(model: nn.Module) -> None:
    """Print, for either question, the mean score of a game that is not heard, and of those heard at 0.3 and at 0.7."""
    people, games, _ = _meetings(2000, torch.Generator().manual_seed(99))
    scores = model(people, games, people[:, :2])  # (2000, 2, games)
    unheard, second, first = (scores.gather(2, games[:, i, None, None].expand(-1, 2, 1)).mean(dim=(0, 2)) for i in (2, 1, 0))
    for name, *means in zip(("first", "second"), unheard.tolist(), second.tolist(), first.tolist(), strict=True):
        print(f"{name:6} question, mean score at a share of", *(f"{w}: ≈ {m:5.1f} " for w, m in zip((0, 0.3, 0.7), means)))


def translator_weights(sentence: str) -> tuple[list[str], Tensor]:
    """Translate `sentence`, print both, and return its words and the weights of head 2 in the encoder's layer 2."""
    translator = pretrained_translator()
    with capture_attention(translator.model) as kept, torch.no_grad():
        translator.model.start(torch.tensor([translator.read(sentence)]))
    names = sorted(name for name in kept if name.startswith("encoder"))
    words = [token.removeprefix("▁") for token in translator.tokenizer.tokens(sentence)]
    print(sentence, "→", translator.translate(sentence))
    return words, kept[names[1]][0, 1]  # (words, words)


def by_loops(q: list, k: list, v: list, mask: list) -> tuple[list, list]:
    """Return equation 1's outputs and weights, one number at a time."""
    outputs, all_weights = [], []
    for i, query in enumerate(q):
        scores = [sum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(len(query)) for key in k]
        powers = [math.exp(score) if may else 0.0 for score, may in zip(scores, mask[i], strict=True)]
        total = sum(powers) or 1.0  # a query that may look at nothing gets zeros
        weights = [power / total for power in powers]
        outputs.append([sum(w * row[n] for w, row in zip(weights, v, strict=True)) for n in range(len(v[0]))])
        all_weights.append(weights)
    return outputs, all_weights


def _with_gradients(function: Callable, inputs: list[Tensor], upstream: Tensor) -> tuple:
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    output = function(*leaves)
    return output, torch.autograd.grad(output, leaves, upstream)


def compare_with_torch(attention: Callable, layer: Callable[[int, int], nn.Module]) -> None:
    """Compare the function with plain loops and torch's function, the layer with torch's layer; print a line for each."""
    torch.manual_seed(0)
    exact = {"dtype": torch.float64}
    q, k, v = (torch.randn(size, **exact) for size in [(3, 4), (5, 4), (5, 2)])
    mask = torch.tensor([[True, False, True, True, False], [True] * 5, [False] * 5])
    theirs = by_loops(q.tolist(), k.tolist(), v.tolist(), mask.tolist())
    assert_close(attention(q, k, v, mask), tuple(torch.tensor(part, **exact) for part in theirs))
    print("equal to plain loops: outputs and weights")

    inputs = [torch.randn(2, 3, 5, width, **exact) for width in (4, 4, 6)]
    upstream = torch.randn(2, 3, 5, 6, **exact)
    for m in [None, torch.ones(5, 5, dtype=torch.bool).tril(), torch.rand(2, 1, 5, 5) < 0.5]:
        mine = _with_gradients(lambda q, k, v, m=m: attention(q, k, v, m)[0], inputs, upstream)
        its = _with_gradients(lambda q, k, v, m=m: F.scaled_dot_product_attention(q, k, v, m), inputs, upstream)
        assert_close(mine, its)
    print("equal to torch's function: outputs and gradients")

    ours, theirs = layer(12, 3).double(), nn.MultiheadAttention(12, 3, batch_first=True).double()
    copy_to_torch(ours, theirs)
    x, memory, upstream = (torch.randn(2, n, 12, **exact) for n in (4, 6, 4))
    may = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])  # (batch, key)
    output = ours(x, memory, memory, may[:, None, None, :])
    its, its_weights = theirs(x, memory, memory, key_padding_mask=~may, average_attn_weights=False)  # there True forbids
    assert_close((output, ours.weights), (its, its_weights.detach()))
    output.backward(upstream)
    its.backward(upstream)
    for mine, its in compare_gradients(ours, theirs):
        assert_close(mine, its)
    print("equal to torch's layer: outputs, weights and gradients")
