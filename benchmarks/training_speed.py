"""How fast training steps are, beside what counting says: for models of several widths and sentences of several lengths.

Operations are those of the matrix products, three times chapter 10's `flop_table` (forward, and two gradients). A large plain
product takes its turn beside each step, so a machine that is slower for some seconds is slower for both: the share says how
much of the product's speed a step reaches.
"""

import statistics

import torch

from benchmarks.records import write_record
from benchmarks.training_step import seconds
from transformer_lib.progress import progress
from transformer_lib.scaling import DistributedStep
from transformer_lib.schedule import transformer_optimizer
from transformer_lib.training import Batch
from transformer_lib.transformer import Transformer, TransformerConfig, flop_table

NAME = "training_speed"
SEED = 0
PRODUCT = 1024  # rows and columns of the plain product's matrices
WARMUP, STEPS = 2, 7


def small(d_model: int = 128) -> TransformerConfig:
    sizes = {"d_model": d_model, "d_ff": 4 * d_model, "num_layers": 2, "num_heads": 4, "max_len": 1024}
    return TransformerConfig(source_vocab_size=1000, target_vocab_size=1000, shared_vocabulary=True, **sizes)


# Model, sentences, length.
CASES = {
    **{f"width {width}": (small(width), 32, 25) for width in (64, 128, 256, 512)},
    **{f"length {length}": (small(), 2048 // length, length) for length in (16, 1024)},
}


def measure(config: TransformerConfig, sentences: int, length: int) -> dict[str, float]:
    """Return what counting says of one training step, and what was measured."""
    torch.manual_seed(SEED)
    a, b = torch.randn(2, PRODUCT, PRODUCT)
    model = Transformer(config)
    optimizer = transformer_optimizer(model, 1e-4)
    tokens = torch.randint(3, config.source_vocab_size, (sentences, length))
    batch = Batch(tokens, tokens, tokens)
    one_step, products, steps = DistributedStep(model), [], []
    for _ in range(WARMUP + STEPS):
        products.append(seconds(lambda: a @ b))
        steps.append(seconds(lambda: one_step(model, batch, optimizer)))
    operations = 3 * sentences * sum(flop_table(config, length, length).values())
    turns = zip(products[WARMUP:], steps[WARMUP:], strict=True)
    return {
        "sentences": sentences,
        "length": length,
        "operations": operations,
        "seconds": statistics.median(steps[WARMUP:]),
        "share_of_product": statistics.median((operations / step) / (2 * PRODUCT**3 / product) for product, step in turns),
    }


def main() -> None:
    numbers = {name: measure(*case) for name, case in progress(CASES.items(), description=NAME)}
    for name, row in numbers.items():
        print(f"{name:12} {row['operations']:.2e} operations, {row['seconds']:.3f} s, {row['share_of_product']:.0%}")
    settings = {"product": PRODUCT, "steps": STEPS, "threads": torch.get_num_threads()}
    write_record(NAME, seeds=[SEED], settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
