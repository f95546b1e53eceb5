"""Chapter 1: the model against plain loops and torch's layers, and how many letters a state holds in the record."""

from collections.abc import Callable

import torch
from torch import cat, nn, tensor
from torch.nn.functional import cross_entropy, pad
from torch.nn.utils.rnn import pad_sequence
from torch.testing import assert_close

from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID, Seq2Seq
from transformer_lib.teaching.record import record


def compare_with_loops_and_torch(seq2seq: Callable) -> None:
    """Assert that scores and gradients equal those of loops over single words, and of torch's layers; print three lines."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = seq2seq(13, 13, d_model=6, hidden_size=5).double()
        source = torch.tensor([[3, 4, 5, 6], [7, 8, PAD_ID, PAD_ID]])
        target_in = torch.tensor([[1, 6, 5, 4, 3], [1, 8, 7, 9, 9]])
        upstream = torch.randn(2, 5, 13, dtype=torch.float64)  # in place of a loss: any gradient will do
    parameters = dict(model.named_parameters())
    ours = model(source, target_in)

    for name, theirs in (
        ("plain loops", _with_loops(model, source, target_in)),
        ("torch's layers", _with_torch(model, source, target_in)),
    ):
        assert_close(ours, theirs)
        gradients = [
            torch.autograd.grad(logits, [*parameters.values()], upstream, retain_graph=True) for logits in (ours, theirs)
        ]
        assert_close(*gradients)
        print(f"equal to {name}: scores, and how each weight changes them")

    state = model.start(source)
    steps = [model.decode(word, state) for word in target_in.split(1, dim=1)]
    assert_close(torch.cat(steps, dim=1), ours)
    print("equal: decode symbol by symbol, and all in one call")


def _gru(x: torch.Tensor, h: torch.Tensor, layer: nn.GRU) -> torch.Tensor:
    """Return one step of a GRU, written out (chapter 2)."""
    reset, update, new = (layer.weight_ih_l0 @ x + layer.bias_ih_l0).chunk(3)
    reset_h, update_h, new_h = (layer.weight_hh_l0 @ h + layer.bias_hh_l0).chunk(3)
    z = torch.sigmoid(update + update_h)
    return (1 - z) * torch.tanh(new + torch.sigmoid(reset + reset_h) * new_h) + z * h


def _with_loops(model: nn.Module, source: torch.Tensor, target_in: torch.Tensor) -> torch.Tensor:
    rows = []
    for english, french in zip(source.tolist(), target_in.tolist(), strict=True):
        h, scores = torch.zeros(5, dtype=torch.float64), []
        for word in english:
            if word != PAD_ID:
                h = _gru(model.encoder.embedding.weight[word], h, model.encoder.layer)
        for word in french:
            h = _gru(model.decoder.embedding.weight[word], h, model.decoder.layer)
            scores.append(model.decoder.output.weight @ h + model.decoder.output.bias)
        rows.append(torch.stack(scores))
    return torch.stack(rows)


def _with_torch(model: nn.Module, source: torch.Tensor, target_in: torch.Tensor) -> torch.Tensor:
    rows = []
    for english, french in zip(source, target_in, strict=True):
        _, state = model.encoder.layer(model.encoder.embedding(english[english != PAD_ID]))
        outputs, _ = model.decoder.layer(model.decoder.embedding(french), state)
        rows.append(model.decoder.output(outputs))
    return torch.stack(rows)


def right_by_length(task: str) -> dict[str, tuple[list[int], list[list[float]]]]:
    """Return the lengths and the shares of right sentences, a row for each seed, of each network in the records."""
    found, after = record("seq2seq_length"), record("alignment_length")
    lengths, numbers = found["settings"]["lengths"], found["numbers"]
    rows = {f"{size} numbers": (lengths, numbers[task][size]) for size in ("32", "128")}
    if task == "reverse":
        rows["32, 4 × the training"] = lengths, numbers["reverse, longer training"]["32"]
        rows["32, sees all states"] = after["settings"]["lengths"], after["numbers"]["additive, hidden 32"]["exact_match"]
    return rows


def half_right_up_to(task: str) -> None:
    """Print up to which length half of the sentences are right, and how many at 14 letters; from the records."""
    print(f"{task + ':':27}half are right up to    right at 14 letters")
    for name, (lengths, seeds) in right_by_length(task).items():
        mean = [sum(column) / len(column) for column in zip(*seeds, strict=True)]
        n = next(n for n, share in enumerate(mean) if share < 0.5)
        part = (mean[n - 1] - 0.5) / (mean[n - 1] - mean[n])
        half = lengths[n - 1] + part * (lengths[n] - lengths[n - 1])
        print(f"{name:27}{half:8.1f} letters{mean[lengths.index(14)]:20.3f}")


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
