"""Sentences to reverse, of different lengths; batches that mix lengths more or less; and the run that learns from them."""

from dataclasses import replace
from functools import partial

import torch

from transformer_lib.schedule import NoamSchedule, transformer_optimizer
from transformer_lib.teaching.experiments.sequence_tasks import VOCABULARY, task_batch
from transformer_lib.training import Batch, Checkpoint, History, IdPair, Validation, token_batches, train, training_step
from transformer_lib.transformer import Transformer, TransformerConfig

MAX_TOKENS = 300
PEAK_STEP = 100


def reverse_pairs(count: int, longest: int, seed: int) -> list[IdPair]:
    """Return `count` pairs: 1 … `longest` symbols, and the same backwards with EOS behind them."""
    generator = torch.Generator().manual_seed(seed)
    pairs = []
    for _ in range(count):
        length = int(torch.randint(1, longest + 1, (), generator=generator))
        source, _, target = task_batch("reverse", count=1, length=length, generator=generator)
        pairs.append((source[0].tolist(), target[0].tolist()))
    return pairs


def small_model(seed: int, **changes: int | float) -> Transformer:
    """Return a Transformer for the symbols: one layer, width 32, no dropout, with `changes` of its configuration."""
    torch.manual_seed(seed)
    sizes = {"d_model": 32, "num_layers": 1, "d_ff": 64, "dropout": 0.0, **changes}
    return Transformer(replace(TransformerConfig.tiny(VOCABULARY, VOCABULARY), **sizes))


def mixed_batches(pairs: list[IdPair], mixing: float, seed: int) -> list[Batch]:
    """Return batches of at most MAX_TOKENS tokens, in random order, for which each length counts as up to `mixing` more.

    With 0 a batch holds one length, as far as there are enough sentences of it. With 2 it holds neighbouring lengths, and
    with more than all the lengths differ, any.
    """
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.tensor([len(target) for _, target in pairs])
    order = (lengths + mixing * torch.rand(len(pairs), generator=generator)).argsort()
    batches, taken, widest = [], [], 0
    for index in order.tolist():
        wider = max(widest, len(pairs[index][1]))
        if taken and (len(taken) + 1) * wider > MAX_TOKENS:
            batches.append(Batch.from_pairs(taken))
            taken, wider = [], len(pairs[index][1])
        taken.append(pairs[index])
        widest = wider
    batches.append(Batch.from_pairs(taken))
    return [batches[place] for place in torch.randperm(len(batches), generator=generator)]


def target_padding_share(batches: list[Batch]) -> float:
    """Return which share of the places of the targets is padding."""
    places = sum(batch.target_out.numel() for batch in batches)
    return 1 - sum(batch.num_tokens for batch in batches) / places


def held_out(seed: int) -> list[IdPair]:
    """Return the pairs, of 300 drawn, that are not among those to train on."""
    pairs = reverse_pairs(3000, 6, seed)
    return [pair for pair in reverse_pairs(300, 6, seed + 100) if pair not in pairs]


def learn_to_reverse(
    seed: int,
    *,
    count: int = 3000,
    mixing: float = 0.0,
    learning_rate: float = 0.5,
    steps: int = 160,
    every: int = 20,
    checkpoint: Checkpoint | None = None,
) -> tuple[Transformer, History]:
    """Train `TransformerConfig.tiny` to reverse 1 … 6 symbols, and measure pairs that it does not train on.

    `seed` moves the sentences, the first weights, dropout and the order of the batches. The first `count` of 3,000 pairs
    are trained on. The rate, times `learning_rate`, has its peak at PEAK_STEP.
    """
    pairs = reverse_pairs(3000, 6, seed)
    others = held_out(seed)
    torch.manual_seed(seed)
    model = Transformer(TransformerConfig.tiny(VOCABULARY, VOCABULARY))
    optimizer = transformer_optimizer(model, learning_rate)
    history = train(
        model,
        lambda epoch: mixed_batches(pairs[:count], mixing, seed=1000 * seed + epoch),
        steps=steps,
        optimizer=optimizer,
        schedule=NoamSchedule(optimizer, d_model=64, warmup=PEAK_STEP),
        step=partial(training_step, max_grad_norm=1.0),
        validation=Validation(token_batches(others, 1000), every),
        checkpoint=checkpoint,
    )
    return model, history
