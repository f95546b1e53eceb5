"""Chapter 8: a phone book learned with and without a mask, and equality with torch and with one position at a time."""

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

# 16 numbers of 8 digits behind <SOS>; the digits have the ids 3 to 12, as <PAD>, <SOS> and <EOS> have 0 to 2.
PHONE_BOOK = F.pad(torch.randint(3, 13, (16, 8), generator=torch.Generator().manual_seed(0)), (1, 0), value=SOS_ID)  # (16, 9)
FLOOR = math.log(16) / 8  # the least mean loss of a digit where 16 numbers are equally likely


def digits_of(numbers: Tensor) -> list[str]:
    """Write numbers, (count, 9) with <SOS> in front, as texts of eight digits."""
    return ["".join(str(i - 3) if i > 2 else "?" for i in row[1:]) for row in numbers.tolist()]


def _loss(logits: Tensor) -> Tensor:
    """Return the mean loss of a digit for scores of all positions, (16, 8, tokens)."""
    return F.cross_entropy(logits.flatten(0, 1), PHONE_BOOK[:, 1:].flatten())


def learn_phone_book(model: nn.Module) -> list[float]:
    """Train `model` to name the next digit, print the last loss, and return the losses."""
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    for _ in range(300):
        loss = _loss(model(PHONE_BOOK[:, :-1]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.01 or FLOOR - 1e-4 < min(losses) < losses[-1] + 1e-9 < FLOOR + 0.02
    print(f"loss after {len(losses)} steps ≈ {losses[-1]:.4f}")
    return losses


def write_numbers(model: nn.Module) -> list[str]:
    """Let `model` write 200 numbers, each digit drawn with its probability; print how many are in the book; return them."""
    generator = torch.Generator().manual_seed(0)
    tokens = torch.full((200, 1), SOS_ID)
    for _ in range(8):
        with torch.no_grad():
            probabilities = model(tokens)[:, -1].softmax(dim=-1)  # (200, tokens)
        following = torch.multinomial(probabilities, num_samples=1, generator=generator)  # (200, 1)
        tokens = torch.cat([tokens, following], dim=1)
    written, book = digits_of(tokens), digits_of(PHONE_BOOK)
    found = sum(number in book for number in written)
    assert found < 10 or found > 180
    print(f"≈ {found} of the 200 numbers that it writes are in the book")
    return written


def one_position_at_a_time(model: nn.Module) -> None:
    """Compare one pass in which all positions answer with eight, each given one beginning alone; print a line."""
    at_once = model(PHONE_BOOK[:, :-1])
    one_by_one = torch.stack([model(PHONE_BOOK[:, : t + 1])[:, -1] for t in range(8)], dim=1)
    losses = [_loss(at_once), _loss(one_by_one)]
    assert_close(*losses)
    assert_close(*(torch.autograd.grad(loss, list(model.parameters())) for loss in losses))
    print("all positions at once, or one at a time: the same loss, the same gradients")


def compare_with_torch(mask: Callable[[int], Tensor]) -> None:
    """Compare attention under the mask with torch's own; print a line."""
    torch.manual_seed(0)
    inputs = [torch.randn(2, 4, 7, 6, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    upstream = torch.randn(2, 4, 7, 6, dtype=torch.float64)
    ours, _ = scaled_dot_product_attention(*inputs, mask(7))
    theirs = F.scaled_dot_product_attention(*inputs, is_causal=True)
    assert_close(ours, theirs)
    assert_close(torch.autograd.grad(ours, inputs, upstream), torch.autograd.grad(theirs, inputs, upstream))
    print("attention under this mask, equal to torch's with is_causal=True: outputs and gradients")


def padding_on_both_sides() -> None:
    """Print how far real outputs of two encoder layers move where padding stands on the right or on the left, mask by mask."""
    torch.manual_seed(0)
    stack = Encoder(TransformerConfig(d_model=8, num_layers=2, num_heads=2, d_ff=16, dropout=0.0)).double()
    sentence, nines = torch.randn(1, 4, 8, dtype=torch.float64), torch.full((1, 3, 8), 9.0, dtype=torch.float64)
    past, found = causal_mask(7), {}
    for parts, ids in (((sentence, nines), [5] * 4 + [PAD_ID] * 3), ((nines, sentence), [PAD_ID] * 3 + [5] * 4)):
        ids = torch.tensor([ids])
        real = padding_mask(ids)
        for name, mask in {
            "no mask": None,
            "columns": real,
            "rows instead": real.transpose(2, 3),
            "causal alone": past,
            "causal and columns": real & past,
        }.items():
            alone = stack(sentence, causal_mask(4) if "causal" in name else None)
            moved = stack(torch.cat(parts, dim=1), mask)[:, ids[0] != PAD_ID] - alone
            found.setdefault(name, []).append(moved.abs().max().item())
    print(f"{'mask':20}{'on the right':>16}{'on the left':>16}")
    for name, (right, left) in found.items():
        assert left < 1e-12 if "columns" in name else left > 0.1
        assert right < 1e-12 if "columns" in name or "causal" in name else right > 0.1
        shown = [f"≈ {number:.1f}" if number > 0.01 else "0" for number in (right, left)]
        print(f"{name:20}{shown[0]:>16}{shown[1]:>16}")
