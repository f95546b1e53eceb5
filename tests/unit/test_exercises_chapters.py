"""What no table of an exercise expresses: the judges of five chapters tell right answers from usual mistakes."""

import re

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy, pad

from transformer_lib.alignment import AdditiveAttention, attention_pooling
from transformer_lib.attention import MultiHeadAttention
from transformer_lib.masks import causal_mask
from transformer_lib.teaching.exercises import alignment, bug_museum, encoder, real_sentences, training

NAMED = {
    "additive_attention": alignment,
    "steer": alignment,
    "encoder_layer": encoder,
    "two_bends": encoder,
    "my_training_step": training,
    "my_two_losses": real_sentences,
}


def additive(mask_scores=True, **slips):
    """A class as `additive_attention` asks for, with a slip: another layer, another way from the scores to the answer."""

    class Answer(AdditiveAttention):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            for name, make in slips.get("parts", {}).items():
                setattr(self, name, make(*sizes))

        def forward(self, query, memory, mask=None):
            if "forward" in slips:
                return slips["forward"](self, query, memory, mask)
            return super().forward(query, memory, mask if mask_scores else None)

    return Answer


def without_tanh(layer, query, memory, mask):
    scores = layer.to_score(layer.from_query(query).unsqueeze(1) + layer.from_memory(memory)).squeeze(2)
    return attention_pooling(scores, memory, mask)


def bends(w_1, b_1, w_2, b_2=0):
    return lambda: ([w_1], b_1, [[number] for number in w_2], [b_2])


def a_layer(forward, norms=2):
    """A class for the exercise of chapter 7 with this forward."""

    class Layer(torch.nn.Module):
        def __init__(self, d_model, num_heads, d_ff):
            super().__init__()
            self.attention = MultiHeadAttention(d_model, num_heads)
            self.inner, self.outer = torch.nn.Linear(d_model, d_ff), torch.nn.Linear(d_ff, d_model)
            self.norm_1 = torch.nn.LayerNorm(d_model)
            self.norm_2 = torch.nn.LayerNorm(d_model) if norms == 2 else self.norm_1

        def forward(self, x):
            return forward(self, x)

    return Layer


def the_layer(my, x):
    z = my.norm_1(x + my.attention(x, x, x))
    return my.norm_2(z + my.outer(my.inner(z).relu()))


def from_x(my, x):
    z = my.norm_1(x + my.attention(x, x, x))
    return my.norm_2(x + my.outer(my.inner(z).relu()))


def norm_before(my, x):
    y = my.norm_1(x)
    z = x + my.attention(y, y, y)
    return z + my.outer(my.inner(my.norm_2(z)).relu())


def without_relu(my, x):
    z = my.norm_1(x + my.attention(x, x, x))
    return my.norm_2(z + my.outer(my.inner(z)))


def step(zero=True, moves=1, divide=lambda losses, real, part, whole: losses[real].sum() / whole.num_tokens, report=1.0):
    """An answer to my_training_step, with what it forgets or divides by."""

    def answer(model, batch, optimizer, parts):
        if zero:
            optimizer.zero_grad()
        total = 0.0
        for part in batch.split(parts):
            logits = model(part.source, part.target_in).transpose(1, 2)
            losses = cross_entropy(logits, part.target_out, reduction="none", label_smoothing=0.1)
            loss = divide(losses, part.target_out != 0, part, batch)
            loss.backward()
            total += loss.item()
        for _ in range(moves):
            optimizer.step()
        return report * total

    return answer


@torch.no_grad()
def two_losses(model, batches, moved=(0, 1), pad_id=0, means=False):
    """An answer to my_two_losses, with what it moves, counts or divides by."""
    found = []
    for by in moved:
        totals, counts = [], []
        for batch in batches:
            logits = model(batch.source.roll(by, dims=0), batch.target_in).transpose(1, 2)
            totals.append(cross_entropy(logits, batch.target_out, ignore_index=pad_id, reduction="sum").item())
            counts.append((batch.target_out != pad_id).sum().item())
        found.append(sum(t / c for t, c in zip(totals, counts)) / len(batches) if means else sum(totals) / sum(counts))
    return found


@torch.no_grad()
def sees_future(model, source, target_in, laters=None, compared=None):
    before = model(source, target_in)
    for later in laters or range(1, target_in.size(1)):
        changed = target_in.clone()
        changed[:, later] = torch.where(changed[:, later] == 3, 4, 3)
        if (model(source, changed) - before).abs()[:, : compared or later].max() > 1e-4:
            return True
    return False


def sees_future_in_place(model, source, target_in):
    answer = sees_future(model, source, target_in)
    target_in[:, -1] = 3
    return answer


@torch.no_grad()
def which_bug(build, skip=()):
    model = build()
    source, words, other = torch.tensor([[3, 4, 5]]), torch.tensor([[1, 3, 4]]), torch.tensor([[1, 3, 9]])
    found = {
        "off-by-one": causal_mask(2).all(),
        "future": (model(source, other) - model(source, words))[:, :2].abs().max() > 1e-4,
        "padding-rows": (model(pad(source, (0, 2)), words) - model(source, words)).abs().max() > 1e-4,
        "start": model(source, words).std() > 3,
    }
    return next((name for name, there in found.items() if there and name not in skip), "none")


CASES = [
    ("additive_attention", additive(), "✓"),
    ("additive_attention", additive(mask_scores=False), "with a mask: the mask is not used"),
    ("additive_attention", additive(forward=without_tanh), "the tanh is missing"),
    (
        "additive_attention",
        additive(forward=lambda layer, *given: AdditiveAttention.forward(layer, *given)[::-1]),
        "context first",
    ),
    ("additive_attention", additive(parts={"to_score": lambda q, m, h: nn.Linear(h, 1)}), "to_score .* bias=False"),
    ("additive_attention", additive(parts={"from_memory": lambda q, m, h: nn.Linear(h, m, bias=False)}), "should be nn.Linear"),
    ("steer", lambda: [(2, -8), (-8, 4), (4, 4), None], "✓"),
    ("steer", lambda: [(1, 0), (-8, 4), (4, 4), None], "query for the .* turn it away"),
    ("steer", lambda: [(2, -8), (-8, 4), (1, 1), None], "for cow the direction is right.* longer query"),
    ("steer", lambda: [(2, -8), (-8, 4), None, None], "there is a query for cow"),
    ("encoder_layer", a_layer(the_layer), "✓"),
    ("encoder_layer", a_layer(the_layer, norms=1), "one object"),
    ("encoder_layer", a_layer(from_x), "starts at z"),
    ("encoder_layer", a_layer(norm_before), "this is pre-norm"),
    ("encoder_layer", a_layer(without_relu), "the ReLU is missing"),
    ("two_bends", bends([1, 1], [0, -1], [1, -1]), "✓"),
    ("two_bends", bends([1], [0], [1]), "it never stops"),
    ("two_bends", bends([1, 1], [0, -2], [1, -1]), r"for a = 1.5 it gives 1.5, not 1"),
    ("my_training_step", step(), "✓"),
    ("my_training_step", step(zero=False), "zero_grad\\(\\) comes first"),
    ("my_training_step", step(moves=0), "the weights never move"),
    ("my_training_step", step(moves=2), "step once"),
    ("my_training_step", step(divide=lambda losses, real, part, whole: losses.mean()), "padding counts"),
    ("my_training_step", step(divide=lambda losses, real, part, whole: losses[real].mean() / 2), "not those of the library"),
    ("my_training_step", step(divide=lambda losses, real, part, whole: losses[real].mean()), "tokens of the whole batch"),
    ("my_training_step", step(divide=lambda losses, real, part, whole: losses[real].sum()), "this is a sum"),
    ("my_training_step", step(report=2.0), "return the loss per token"),
    ("my_two_losses", two_losses, "✓"),
    ("my_two_losses", lambda *given: two_losses(*given, moved=(0, -1)), "the other way"),
    ("my_two_losses", lambda *given: two_losses(*given, moved=(1, 0)), "own sources come first"),
    ("my_two_losses", lambda *given: two_losses(*given, moved=(0, 0)), "both losses are those with the own sources"),
    ("my_two_losses", lambda *given: two_losses(*given, pad_id=-1), "padding counts"),
    ("my_two_losses", lambda *given: two_losses(*given, means=True), "mean of the batches' means"),
    ("my_two_losses", lambda *given: [2 * loss for loss in two_losses(*given)], "the losses should be"),
    ("sees_future", sees_future, "✓"),
    ("sees_future", lambda *given: True, "True for the right model"),
    ("sees_future", lambda *given: sees_future(*given, laters=[4]), "output 0 sees word 1 passes as right"),
    ("sees_future", lambda *given: sees_future(*given, compared=1), "output 3 sees word 4 passes as right"),
    ("sees_future", sees_future_in_place, "work on a copy"),
    ("which_bug", which_bug, "✓"),
    ("which_bug", lambda build: which_bug(build, skip=["padding-rows"]), "add padding behind the source's words"),
    ("which_bug", lambda build: which_bug(build, skip=["off-by-one"]), "look at causal_mask"),
    ("which_bug", lambda build: which_bug(build, skip=["start"]), "logits of a fresh model"),
]


@pytest.mark.parametrize(("name", "answer", "words"), CASES)
def test_a_judge_says_what_is_wrong(capsys, name, answer, words):
    getattr(NAMED.get(name, bug_museum), name)(answer)
    line = capsys.readouterr().out.strip()
    assert line.startswith(f"✓ {name}: " if words == "✓" else f"✗ {name}: ") and re.search(words, line), line
