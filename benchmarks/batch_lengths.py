"""How the held-out loss jumps while a model learns to reverse: batches of one length, of neighbouring and of all lengths."""

from functools import partial
from itertools import pairwise

import torch

from benchmarks.records import write_record
from transformer_lib.schedule import NoamSchedule, transformer_optimizer
from transformer_lib.teaching.experiments.sequence_tasks import VOCABULARY, task_batch
from transformer_lib.teaching.experiments.training import padding_share
from transformer_lib.training import Batch, History, IdPair, Validation, token_batches, train, training_step
from transformer_lib.transformer import Transformer, TransformerConfig

NAME = "batch_lengths"
SEEDS = [0, 1, 2, 3, 4]
STEPS, EVERY, FROM = 160, 4, 40
LONGEST, MAX_TOKENS, PEAK_STEP = 6, 300, 100
MIXINGS = {"one length": 0.0, "neighbouring lengths": 2.0, "all lengths": 100.0}
LEARNING_RATES = [0.5, 0.25]  # each multiplies the schedule


def reverse_pairs(count: int, seed: int) -> list[IdPair]:
    """Return `count` pairs: 1 … LONGEST symbols, and the same backwards with EOS behind them."""
    generator = torch.Generator().manual_seed(seed)
    pairs = []
    for _ in range(count):
        length = int(torch.randint(1, LONGEST + 1, (), generator=generator))
        source, _, target = task_batch("reverse", count=1, length=length, generator=generator)
        pairs.append((source[0].tolist(), target[0].tolist()))
    return pairs


def mixed_batches(pairs: list[IdPair], mixing: float, seed: int) -> list[Batch]:
    """Return batches of at most MAX_TOKENS tokens, in random order, for which each length counts as up to `mixing` more.

    With 0 a batch holds one length, as far as there are enough sentences of it. With 2 it holds neighbouring lengths, and
    with more than all the lengths differ, any.
    """
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.tensor([len(target) for _, target in pairs])
    groups = [[]]
    for index in (lengths + mixing * torch.rand(len(pairs), generator=generator)).argsort().tolist():
        widest = max(len(target) for _, target in [*groups[-1], pairs[index]])
        if (len(groups[-1]) + 1) * widest > MAX_TOKENS:
            groups.append([])
        groups[-1].append(pairs[index])
    return [Batch.from_pairs(groups[place]) for place in torch.randperm(len(groups), generator=generator)]


def learn_to_reverse(seed: int, mixing: float, learning_rate: float) -> History:
    """Train `TransformerConfig.tiny` to reverse 1 … 6 symbols, and measure pairs that it does not train on.

    `seed` moves the sentences, the first weights, dropout and the order of the batches. The rate,
    times `learning_rate`, has its peak at PEAK_STEP.
    """
    pairs = reverse_pairs(3000, seed)
    others = [pair for pair in reverse_pairs(300, seed + 100) if pair not in pairs]
    torch.manual_seed(seed)
    model = Transformer(TransformerConfig.tiny(VOCABULARY, VOCABULARY))
    optimizer = transformer_optimizer(model, learning_rate)
    return train(
        model,
        lambda epoch: mixed_batches(pairs, mixing, seed=1000 * seed + epoch),
        steps=STEPS,
        optimizer=optimizer,
        schedule=NoamSchedule(optimizer, d_model=64, warmup=PEAK_STEP),
        step=partial(training_step, max_grad_norm=1.0),
        validation=Validation(token_batches(others, 1000), EVERY),
    )


def largest_rise(losses: dict[int, float]) -> float:
    """Return by how much the loss rises at most between two measurements, from step FROM on."""
    late = [loss for step, loss in losses.items() if step >= FROM]
    return max(after - before for before, after in pairwise(late))


def main() -> None:
    torch.set_num_threads(1)
    numbers = []
    for name, mixing in MIXINGS.items():
        padding = padding_share(mixed_batches(reverse_pairs(3000, seed=0), mixing, seed=0))
        for learning_rate in LEARNING_RATES:
            runs = [learn_to_reverse(seed, mixing, learning_rate).validation_losses for seed in SEEDS]
            rises = [largest_rise(losses) for losses in runs]
            last = [losses[STEPS] for losses in runs]
            numbers.append({"batches": name, "learning_rate": learning_rate, "padding": padding, "rises": rises, "last": last})
            print(f"{name:22}{learning_rate:6} padding {padding:4.0%}  rises", *(f"{rise:.2f}" for rise in rises), flush=True)
    settings = {"steps": STEPS, "measured_every": EVERY, "from_step": FROM, "longest": LONGEST, "max_tokens": MAX_TOKENS}
    settings |= {"peak_step": PEAK_STEP, "threads": torch.get_num_threads()}
    write_record(NAME, seeds=SEEDS, settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
