"""A short training run, and a way to kill it: `python interrupted_run.py CHECKPOINT a-step|a-checkpoint`."""

import os
import signal
import sys
from functools import partial

import torch

from transformer_lib.schedule import NoamSchedule, transformer_optimizer
from transformer_lib.training import Batch, Checkpoint, Validation, token_batches, train, training_step
from transformer_lib.transformer import Transformer, TransformerConfig

STEPS, CHECKPOINT_EVERY = 13, 3


def pairs(count, seed, longest=6):
    generator = torch.Generator().manual_seed(seed)

    def words():
        return torch.randint(3, 11, (int(torch.randint(1, longest, (), generator=generator)),), generator=generator).tolist()

    return [(words(), [*words(), 2]) for _ in range(count)]


def run(checkpoint=None, resume=False, on_model=None, steps=STEPS):
    """Train with everything that has a state: dropout, Adam, a schedule, shuffled batches, measurements in between."""
    if not resume:
        torch.manual_seed(12)
    sizes = {"d_model": 8, "num_layers": 1, "num_heads": 2, "d_ff": 16, "dropout": 0.3}
    model = Transformer(TransformerConfig(source_vocab_size=11, target_vocab_size=11, **sizes))
    optimizer = transformer_optimizer(model)
    if on_model is not None:
        on_model(model)
    history = train(
        model,
        lambda epoch: token_batches(pairs(20, seed=0), 30, seed=epoch),
        steps=steps,
        optimizer=optimizer,
        schedule=NoamSchedule(optimizer, 8, 5),
        step=partial(training_step, accumulation_steps=2, max_grad_norm=1.0),
        validation=Validation([Batch.from_pairs(pairs(5, seed=1))], every=2),
        checkpoint=None if checkpoint is None else Checkpoint(checkpoint, CHECKPOINT_EVERY, resume),
    )
    return model, history


def _die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def _die_in_a_step(model):
    """Die after the first half of a batch is through, four steps after the start."""
    passes = []

    def count(module, *_):
        if module.training:
            passes.append(module)
            if len(passes) == 10:
                _die()

    model.register_forward_hook(count)


def _die_in_a_checkpoint(model):
    """Die when the second file is written, but has not taken its name yet."""
    calls, real = [], os.fsync

    def fsync(file):
        calls.append(file)
        return _die() if len(calls) == 2 else real(file)

    os.fsync = fsync


if __name__ == "__main__":
    path, place = sys.argv[1:]
    run(path, resume=os.path.exists(path), on_model={"a-step": _die_in_a_step, "a-checkpoint": _die_in_a_checkpoint}[place])
