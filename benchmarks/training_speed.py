"""How fast training steps are and what they hold, beside what counting says: for sizes, widths and lengths of sentences.

Operations are those of the matrix products, three times chapter 10's `flop_table` (forward, and two gradients). A large plain
product takes its turn beside each step, so a machine that is slower for some seconds is slower for both: the share says how
much of the product's speed a step reaches. Each row has a process of its own, whose largest memory, less what it held before
the model was made, stands beside chapter 17's `memory_table`.
"""

import multiprocessing
import resource
import statistics

import torch

from benchmarks.records import write_record
from benchmarks.training_step import seconds
from transformer_lib.progress import progress
from transformer_lib.scaling import DistributedStep, memory_table
from transformer_lib.schedule import transformer_optimizer
from transformer_lib.training import Batch
from transformer_lib.transformer import Transformer, TransformerConfig, flop_table

NAME = "training_speed"
SEED = 0
PRODUCT = 1024  # rows and columns of the plain product's matrices
WARMUP, STEPS = 2, 7


def small(**changes: int) -> TransformerConfig:
    sizes = {"d_model": 128, "d_ff": 512, "num_layers": 2, "num_heads": 4, "max_len": 1024}
    return TransformerConfig(source_vocab_size=1000, target_vocab_size=1000, shared_vocabulary=True, **{**sizes, **changes})


# Name, model, sentences, length.
CASES = [
    ("tiny", TransformerConfig.tiny(8000, 8000), 64, 25),
    ("base", TransformerConfig.base(), 16, 25),
    *((f"width {width}", small(d_model=width, d_ff=4 * width), 32, 25) for width in (64, 128, 256, 512)),
    *((f"length {length}", small(), 2048 // length, length) for length in (16, 64, 256, 1024)),
]


def memory() -> int:
    """Return the bytes that this process has held at most."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(config: TransformerConfig, sentences: int, length: int) -> dict[str, float]:
    """Return what counting says of one training step, and what was measured."""
    torch.manual_seed(SEED)
    a, b = torch.randn(2, PRODUCT, PRODUCT)
    seconds(lambda: a @ b)
    before = memory()
    model = Transformer(config)
    optimizer = transformer_optimizer(model, 1e-4)
    tokens = torch.randint(3, config.source_vocab_size, (sentences, length))
    batch = Batch(tokens, tokens, tokens)
    one_step, products, steps = DistributedStep(model), [], []
    for _ in range(WARMUP + STEPS):
        products.append(seconds(lambda: a @ b))
        steps.append(seconds(lambda: one_step(model, batch, optimizer)))
    operations = 3 * sentences * sum(flop_table(config, length, length).values())
    shares = [
        (operations / step) / (2 * PRODUCT**3 / product)
        for product, step in zip(products[WARMUP:], steps[WARMUP:], strict=True)
    ]
    counted = memory_table(config, tokens.numel(), tokens.numel())
    return {
        "sentences": sentences,
        "length": length,
        "operations": operations,
        "seconds": statistics.median(steps[WARMUP:]),
        "tokens_per_second": tokens.numel() / statistics.median(steps[WARMUP:]),
        "share_of_product": statistics.median(shares),
        "counted_bytes": sum(counted.values()),
        "measured_bytes": memory() - before,
    }


def main() -> None:
    context = multiprocessing.get_context("spawn")
    numbers = {}
    for name, *case in progress(CASES, description=NAME):
        with context.Pool(1) as pool:
            numbers[name] = pool.apply(measure, case)
    print("| model | operations | seconds | share of a plain product | counted MiB | measured MiB |\n|---|---|---|---|---|---|")
    for name, row in numbers.items():
        print(
            f"| {name} | {row['operations']:.2e} | {row['seconds']:.3f} | {row['share_of_product']:.0%} "
            f"| {row['counted_bytes'] / 2**20:,.0f} | {row['measured_bytes'] / 2**20:,.0f} |"
        )
    settings = {"product": PRODUCT, "steps": STEPS, "threads": torch.get_num_threads()}
    write_record(NAME, seeds=[SEED], settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
