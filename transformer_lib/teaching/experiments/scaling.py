"""One gradient in parts: with right and wrong factors, in two processes, in fewer bits, with another kernel."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.testing import assert_close

from transformer_lib.scaling import DistributedStep, use_fused_attention
from transformer_lib.schedule import transformer_optimizer
from transformer_lib.teaching.experiments.training import sentences, small_translator
from transformer_lib.training import Batch, label_smoothed_loss, training_step

WAYS = {
    "1 / own words": lambda part, batch: part.num_tokens,
    "1 / all words": lambda part, batch: batch.num_tokens,
    "2 / all words": lambda part, batch: batch.num_tokens / 2,
}
PROGRAM = """
import sys, torch
from transformer_lib.scaling import DistributedStep, ProcessGroup, wrap_model

group = ProcessGroup.init(torch.device("cpu"))
print("I am process", group.rank, "of", group.world_size)
model, batches = torch.load(sys.argv[1], weights_only=False)
step = DistributedStep(wrap_model(model, group), group)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in batches:
    step(model, batch, optimizer)
if group.rank == 0:
    torch.save(model.state_dict(), sys.argv[2])
group.destroy()
"""


@cache
def unequal_batches(count: int = 5) -> list[Batch]:
    """Return batches of sixteen pairs in which the later sentences are the longer ones."""
    groups = [sentences().pairs[start : start + 16] for start in range(0, 16 * count, 16)]
    return [Batch.from_pairs(sorted(group, key=lambda pair: len(pair[1]))) for group in groups]


def small_model() -> nn.Module:
    """Return chapter 12's small translator, without dropout."""
    return small_translator(dropout=0.0)


def gradient(model: nn.Module) -> Tensor:
    """Return all gradients of a model as one vector."""
    return torch.cat([weight.grad.flatten() for weight in model.parameters()])


def weights(model: nn.Module) -> Tensor:
    """Return all weights of a model as one vector."""
    return torch.cat([weight.detach().flatten() for weight in model.parameters()])


def adam(parameters: object, eps: float = 1e-9) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters, lr=0.001, betas=(0.9, 0.98), eps=eps)


def sgd(parameters: object) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.1)


def _share(found: Tensor, expected: Tensor) -> float:
    return ((found - expected).norm() / expected.norm()).item()


def gradients_off(found: dict[str, Tensor], whole: Tensor) -> None:
    """Print how far gradients are off from `whole`, the nearest first."""
    off = [_share(gradient, whole) for gradient in found.values()]
    print(*(f"gradient {name:17} off by ≈ {share:.1%}" for name, share in zip(found, off, strict=True)), sep="\n")
    assert off[0] < 0.05 and 10 * off[0] < off[1]


def _backward_in_two(model: nn.Module, batch: Batch, divisor: Callable) -> float:
    """Leave the mean of two processes' gradients; return the loss per word of the whole batch."""
    model.zero_grad()
    total = 0.0
    for part in batch.split(2):
        loss = label_smoothed_loss(model(part.source, part.target_in), part.target_out, reduction="sum")
        (loss / divisor(part, batch) / 2).backward()
        total += loss.item()
    return total / batch.num_tokens


def train_in_two(way: str, make: Callable, steps: int) -> tuple[nn.Module, list[float]]:
    """Train with one of the `WAYS` to join the gradients of two processes, played one after the other."""
    model, losses, batches = small_model(), [], unequal_batches()
    optimizer = make(model.parameters())
    for step in range(steps):
        losses.append(_backward_in_two(model, batches[step % len(batches)], WAYS[way]))
        optimizer.step()
    return model, losses


def three_factors() -> tuple[dict[str, float], dict[str, list[float]]]:
    """Return how far the gradient of each factor is off, and the losses of a training with it."""
    batch, model = unequal_batches()[0], small_model()
    label_smoothed_loss(model(batch.source, batch.target_in), batch.target_out).backward()
    whole, off, curves = gradient(model), {}, {}
    for way, divisor in WAYS.items():
        _backward_in_two(model, batch, divisor)
        off[way] = _share(gradient(model), whole)
        curves[way] = train_in_two(way, adam, 30)[1]
        print(f"{way:15} gradient off by ≈ {off[way]:4.0%}   last loss ≈ {curves[way][-1]:.2f}")
    assert off["1 / own words"] > 0.1 and off["2 / all words"] < 1e-5 and abs(off["1 / all words"] - 0.5) < 1e-4
    assert all(abs(curve[-1] - curves["2 / all words"][-1]) < 0.1 for curve in curves.values())
    return off, curves


def in_one_process(batches: Sequence[Batch], parts: int = 1, kind: torch.dtype = torch.float32) -> Tensor:
    """Return the weights after a step for each batch, each cut into `parts`."""
    model = small_model().to(kind)
    step, optimizer = DistributedStep(model, accumulation_steps=parts), sgd(model.parameters())
    for batch in batches:
        step(model, batch, optimizer)
    return weights(model)


def _in_two_processes(batches: Sequence[Batch]) -> Tensor:
    """Start two processes as torchrun does, which cannot on Windows, and return the weights at the end."""
    model = small_model()
    with socket.socket() as here:
        here.bind(("127.0.0.1", 0))
        meet = {
            "OMP_NUM_THREADS": "1",
            "WORLD_SIZE": "2",
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(here.getsockname()[1]),
        }
    with tempfile.TemporaryDirectory() as folder:
        program, given, result = (Path(folder, name) for name in ("run.py", "in", "out"))
        program.write_text(PROGRAM, encoding="utf-8")
        torch.save((model, batches), given)
        run = partial(
            subprocess.Popen,
            [sys.executable, program, given, result],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started = [run(env={**os.environ, **meet, "RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in range(2)]
        for process in started:
            said, error = process.communicate()
            assert not process.returncode, error
            print(said.strip())
        model.load_state_dict(torch.load(result))
    return weights(model)


def two_real_processes() -> None:
    """Print how far runs end from one process's weights, as a share of the way that these have moved."""
    batches = [unequal_batches()[step % 5] for step in range(12)]
    start, end = weights(small_model()), in_one_process(batches)
    runs = {
        "wrong: 1 / all words": weights(train_in_two("1 / all words", sgd, 12)[0]),
        "one process, four parts": in_one_process(batches, parts=4),
        "two real processes": _in_two_processes(batches),
    }
    for name, found in runs.items():
        distance = _share(found - start, end - start)
        assert distance > 0.1 if name.startswith("wrong") else distance < 1e-5
        print(f"{name:24} {f'≈ {distance:.0%}' if distance > 1e-5 else 'less than 0.001%'} of the way")


def fused_step_time() -> None:
    """Print the time of a training step with the fused kernel, as a share of the readable one's, in turn."""
    for length in (24, 128, 512):
        torch.manual_seed(0)
        ids = torch.randint(3, 60, (2048 // length // 2 + 1, length))
        models = {"readable": small_model(), "fused": use_fused_attention(small_model())}
        best, losses = dict.fromkeys(models, float("inf")), {}
        for _ in range(3):
            for name, model in models.items():
                start = time.process_time()
                losses[name] = training_step(model, Batch(ids, ids, ids), sgd(model.parameters()))
                best[name] = min(best[name], time.process_time() - start)
        assert_close(losses["readable"], losses["fused"], rtol=0, atol=1e-4)
        ratio = best["fused"] / best["readable"]
        assert 0.05 < ratio < 1.5
        print(f"sentences of {length:3} words: with the fused kernel ≈ {ratio:.2f} of the time")


def precision_runs() -> dict[str, Tensor]:
    """Return the losses of three runs: float32, bfloat16, and float32 with another draw of dropout."""
    batches = unequal_batches(10)
    curves = {}
    for name, precision, seed in [("float32", "float32", 0), ("bfloat16", "bfloat16", 0), ("dropout", "float32", 1)]:
        model = small_translator(dropout=0.1)
        optimizer, step = transformer_optimizer(model, 0.002), DistributedStep(model, precision=precision)
        torch.manual_seed(seed)
        curves[name] = torch.tensor([step(model, batches[k % 10], optimizer) for k in range(24)])
    return curves
