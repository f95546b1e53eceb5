"""Chapter 8: a phone book learned with and without a mask, and equality with loops, with torch, and one position at a time."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib.attention import scaled_dot_product_attention
from transformer_lib.encoder import Encoder, TransformerConfig
from transformer_lib.masks import causal_mask, padding_mask
from transformer_lib.seq2seq import PAD_ID, SOS_ID

__all__ = [
    "FLOOR",
    "PHONE_BOOK",
    "compare_with_torch",
    "digits_of",
    "learn_phone_book",
    "one_position_at_a_time",
    "padding_on_both_sides",
    "write_numbers",
]

# 16 numbers of 8 digits behind <SOS>; the digits have the ids 3 to 12, as <PAD>, <SOS> and <EOS> have 0 to 2.
PHONE_BOOK = F.pad(torch.randint(3, 13, (16, 8), generator=torch.Generator().manual_seed(0)), (1, 0), value=SOS_ID)  # (16, 9)
FLOOR = math.log(16) / 8  # the least mean loss of a digit where 16 numbers are equally likely


def digits_of(numbers: Tensor) -> list[str]:
    """Write numbers, (count, 9) with <SOS> in front, as texts of eight digits."""
    return ["".join(str(i - 3) if i > 2 else "?" for i in row[1:]) for row in numbers.tolist()]


def _all_at_once(model: nn.Module) -> Tensor:
    """Return the loss as in training: one pass, in which every position answers."""
    return F.cross_entropy(model(PHONE_BOOK[:, :-1]).flatten(0, 1), PHONE_BOOK[:, 1:].flatten())


def learn_phone_book(model: nn.Module, steps: int = 300) -> list[float]:
    """Train `model` to name the next digit, print the last loss, and return the losses."""
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    for _ in range(steps):
        loss = _all_at_once(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.01 or FLOOR - 1e-4 < min(losses) < losses[-1] + 1e-9 < FLOOR + 0.02
    print(f"loss after {steps} steps ≈ {losses[-1]:.4f}")
    return losses


def write_numbers(model: nn.Module, count: int = 200) -> list[str]:
    """Let `model` write numbers, each digit drawn with its probabilities; print how many are in the book, and return them."""
    generator = torch.Generator().manual_seed(0)
    tokens = torch.full((count, 1), SOS_ID)
    for _ in range(8):
        with torch.no_grad():
            probabilities = model(tokens)[:, -1].softmax(dim=-1)  # (count, signs)
        following = torch.multinomial(probabilities, num_samples=1, generator=generator)  # (count, 1)
        tokens = torch.cat([tokens, following], dim=1)
    written, book = digits_of(tokens), digits_of(PHONE_BOOK)
    found = sum(number in book for number in written)
    assert found < 10 or found > 180
    print(f"≈ {found} of the {count} numbers that it writes are in the book")
    return written


def one_position_at_a_time(model: nn.Module) -> None:
    """Compare one pass in which all positions answer with eight, each given one beginning alone; print a line."""

    def one_by_one() -> Tensor:
        last = [model(PHONE_BOOK[:, : t + 1])[:, -1] for t in range(8)]
        return F.cross_entropy(torch.stack(last, dim=1).flatten(0, 1), PHONE_BOOK[:, 1:].flatten())

    both = []
    for loss in (_all_at_once(model), one_by_one()):
        both.append([loss, *torch.autograd.grad(loss, list(model.parameters()))])
    assert_close(*both)
    print("all positions at once, or one at a time: the same loss, the same gradients")


def _by_loops(scores: Tensor) -> Tensor:
    """Return causal weights, one number at a time."""
    weights = torch.zeros_like(scores)
    for query in range(len(scores)):
        visible = range(query + 1)  # itself and what came before
        total = sum(math.exp(scores[query, key]) for key in visible)
        for key in visible:
            weights[query, key] = math.exp(scores[query, key]) / total
    return weights


def compare_with_torch(mask: Callable[[int], Tensor]) -> None:
    """Compare attention under the mask with plain loops and with torch's own; print a line for each."""
    torch.manual_seed(0)
    many = torch.randn(30, 30, dtype=torch.float64)
    assert_close(many.masked_fill(~mask(30), -math.inf).softmax(dim=-1), _by_loops(many))
    print("equal to plain loops: 30 × 30 weights")

    inputs = [torch.randn(2, 4, 7, 6, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    upstream = torch.randn(2, 4, 7, 6, dtype=torch.float64)
    ours, _ = scaled_dot_product_attention(*inputs, mask(7))
    theirs = F.scaled_dot_product_attention(*inputs, is_causal=True)
    assert_close(ours, theirs)
    assert_close(torch.autograd.grad(ours, inputs, upstream), torch.autograd.grad(theirs, inputs, upstream))
    print("equal to torch's is_causal=True: outputs and gradients")


def padding_on_both_sides() -> None:
    """Print how far real outputs of two encoder layers move where padding stands on the right or on the left, mask by mask."""
    torch.manual_seed(0)
    config = TransformerConfig(d_model=8, num_layers=2, num_heads=2, d_ff=16, dropout=0.0)
    stack = Encoder(config).double()
    sentence, nines = torch.randn(1, 4, 8, dtype=torch.float64), torch.full((1, 3, 8), 9.0, dtype=torch.float64)
    print(f"{'mask':20}{'on the right':>16}{'on the left':>16}")
    for name in ("no mask", "columns", "rows instead", "causal alone", "causal and columns"):
        moved = []
        for side in (1, -1):
            ids = torch.tensor([[5] * 4 + [PAD_ID] * 3])
            ids, parts = (ids, [sentence, nines]) if side == 1 else (ids.flip(1), [nines, sentence])
            real, past = padding_mask(ids), causal_mask(7)
            masks = {
                "columns": real,
                "rows instead": real.transpose(2, 3),
                "causal alone": past,
                "causal and columns": real & past,
            }
            alone = stack(sentence, causal_mask(4) if "causal" in name else None)
            output = stack(torch.cat(parts, dim=1), masks.get(name))
            output = output[:, :4] if side == 1 else output[:, 3:]
            moved.append((output - alone).abs().max().item())
        right, left = moved
        assert left < 1e-12 if "columns" in name else left > 0.1
        assert right < 1e-12 if "columns" in name or "causal" in name else right > 0.1
        shown = [f"≈ {number:.1f}" if number > 0.01 else "0" for number in moved]
        print(f"{name:20}{shown[0]:>16}{shown[1]:>16}")
