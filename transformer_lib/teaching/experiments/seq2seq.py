"""Chapter 1: how many letters get through a state in the record, and trainings that go wrong."""

import torch
from torch import cat, tensor
from torch.nn.functional import cross_entropy, pad
from torch.nn.utils.rnn import pad_sequence

from transformer_lib.alignment import AttentionSeq2Seq
from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID, Seq2Seq
from transformer_lib.teaching.record import record


def right_by_length(task: str) -> dict[str, tuple[list[int], list[list[float]]]]:
    """Return the lengths and the shares of right sentences, a row for each seed, of each network in the records."""
    found, after = record("seq2seq_length"), record("alignment_length")
    lengths, numbers = found["settings"]["lengths"], found["numbers"]
    rows = {f"{size} numbers": (lengths, numbers[task][size]) for size in ("32", "128")}
    if task == "reverse":
        rows["32, 4 × the training"] = lengths, numbers["reverse, longer training"]["32"]
        seeds = after["numbers"]["additive, hidden 32"]["exact_match"]
        rows["32, sees all states"] = lengths, [row[: len(lengths)] for row in seeds]  # it was trained on no longer ones
    return rows


def half_right_up_to(task: str) -> None:
    """Print up to which length half of the sentences are right, how many at 14 letters, and how many weights there are."""
    print(f"{task + ':':20}   half right up to   right at 14   weights")
    for name, (lengths, seeds) in right_by_length(task).items():
        mean = [sum(column) / len(column) for column in zip(*seeds, strict=True)]
        half = f"> {lengths[-1]}"
        if mean[-1] < 0.5:
            n = next(n for n, share in enumerate(mean) if share < 0.5)
            part = (mean[n - 1] - 0.5) / (mean[n - 1] - mean[n])
            half = f"{lengths[n - 1] + part * (lengths[n] - lengths[n - 1]):.1f}"
        make = AttentionSeq2Seq if "all states" in name else Seq2Seq
        weights = sum(p.numel() for p in make(13, 13, 32, 128 if "128" in name else 32).parameters())
        print(f"{name:20}{half:>11} letters{mean[lengths.index(14)]:14.3f}{weights:10,}")


def train_backwards(
    *, shift: bool = True, places: int = 0, ignore_padding: bool = True, steps: int = 600, seed: int = 0
) -> tuple:
    """Train a model to write up to five random letters backwards; return it and the mean loss of the last ten steps.

    Without `shift` it reads the very symbol that it must write. The targets are filled up with padding to `places`, if that is
    more than they need; unless `ignore_padding`, the loss counts it.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Seq2Seq(13, 13, d_model=32, hidden_size=64)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    for _ in range(steps):
        lengths = torch.randint(1, 6, (64,), generator=generator)
        letters = torch.randint(3, 13, (64, 5), generator=generator)
        rows = [row[:length] for row, length in zip(letters, lengths.tolist(), strict=True)]
        source = pad_sequence(rows, batch_first=True)
        target_out = pad_sequence([cat([row.flip(0), tensor([EOS_ID])]) for row in rows], batch_first=True)
        target_out = pad(target_out, (0, max(0, places - target_out.size(1))))
        target_in = pad(target_out, (1, 0), value=SOS_ID)[:, :-1] if shift else target_out
        target_in = target_in.masked_fill(target_in == EOS_ID, PAD_ID) if shift else target_in
        ignored = PAD_ID if ignore_padding else -100  # -100 is no id: nothing is ignored
        loss = cross_entropy(model(source, target_in).flatten(0, 1), target_out.flatten(), ignore_index=ignored)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, sum(losses[-10:]) / 10
