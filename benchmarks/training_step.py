"""The time of one training step of our Transformer and of the same model on `nn.Transformer`, side by side.

Both with one optimizer, `torch.optim.Adam` as it comes, and each with its own: ours with `transformer_optimizer`, which asks
torch for Adam's fused form, torch's model with Adam as it comes. Both take the same matrix products, forward and backward.
They are timed alone beside the two: no model with these sizes can take less, so their share of torch's step is the lowest
ratio that anybody could reach. The three take one step each in turn, and a ratio is the median over these turns: a machine
that is slower for some seconds is slower for all three.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from benchmarks.records import write_record
from transformer_lib.positional_encoding import PositionalEncoding
from transformer_lib.progress import progress
from transformer_lib.scaling import use_fused_attention
from transformer_lib.schedule import transformer_optimizer
from transformer_lib.seq2seq import PAD_ID
from transformer_lib.transformer import TokenEmbedding, Transformer, TransformerConfig

NAME = "training_step"
SEED = 0
D_MODEL, NUM_HEADS, NUM_LAYERS, D_FF = 256, 8, 3, 1024
VOCABULARY, BATCH, LENGTH = 8000, 32, 24
WARMUP, STEPS = 3, 40
# The paper's training first: dropout 0.1, and one matrix for both embeddings and the output.
SETTINGS = {
    "dropout 0.1, one shared matrix": {"dropout": 0.1, "shared_vocabulary": True},
    "the same, own optimizers": {"dropout": 0.1, "shared_vocabulary": True, "own_optimizers": True},
    "dropout 0.1, three matrices": {"dropout": 0.1, "shared_vocabulary": False},
    "no dropout, one shared matrix": {"dropout": 0.0, "shared_vocabulary": True},
}
LEARNING_RATE = 1e-4


class OnTorch(nn.Module):
    """The same model with `nn.Transformer` where ours has its two stacks."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.source_embedding = TokenEmbedding(config.source_vocab_size, config.d_model)
        self.target_embedding = TokenEmbedding(config.target_vocab_size, config.d_model)
        self.positions = PositionalEncoding(config.d_model, config.max_len, config.dropout)
        layers = (config.num_layers, config.num_layers)
        self.stacks = nn.Transformer(config.d_model, config.num_heads, *layers, config.d_ff, config.dropout, batch_first=True)
        # torch adds a last norm even where each layer ends in one; the paper has none.
        self.stacks.encoder.norm = self.stacks.decoder.norm = None
        self.output = nn.Linear(config.d_model, config.target_vocab_size, bias=False)
        if config.shared_vocabulary:
            self.target_embedding = self.source_embedding
            self.output.weight = self.source_embedding.weight

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        hidden = torch.ones(target_in.size(1), target_in.size(1), dtype=torch.bool).triu(diagonal=1)
        x = self.stacks(
            self.positions(self.source_embedding(source)),
            self.positions(self.target_embedding(target_in)),
            tgt_mask=hidden,
            src_key_padding_mask=source == PAD_ID,
            tgt_key_padding_mask=target_in == PAD_ID,
            memory_key_padding_mask=source == PAD_ID,
        )
        return self.output(x)


def some_batch() -> tuple[Tensor, Tensor, Tensor]:
    """Return random sentences `(BATCH, LENGTH)`, some of them padded: source, target in, target out."""
    source, target_in, target_out = torch.randint(3, VOCABULARY, (3, BATCH, LENGTH))
    source[::3, LENGTH - 4 :] = 0
    target_in[::4, LENGTH - 5 :] = target_out[::4, LENGTH - 5 :] = 0
    return source, target_in, target_out


def training_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch: tuple[Tensor, Tensor, Tensor]) -> None:
    source, target_in, target_out = batch
    loss = cross_entropy(model(source, target_in).flatten(0, 1), target_out.flatten(), ignore_index=PAD_ID)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def matrix_products(model: Transformer, batch: tuple[Tensor, Tensor, Tensor]) -> None:
    """Send random rows through each linear layer, forward and backward: the products of one training step, and no more."""
    rows = batch[0].numel()
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            x = torch.ones(rows, layer.in_features, requires_grad=True)
            y = x @ layer.weight.T
            torch.autograd.grad(y, (x, layer.weight), torch.ones_like(y))


def seconds(call: Callable[[], None]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def plain_adam(model: nn.Module, learning_rate: float) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=learning_rate)


def measure(dropout: float, shared_vocabulary: bool, own_optimizers: bool = False) -> dict[str, list[float]]:
    """Return the seconds of each step: the products alone, ours and torch's in turn; the warm-up is left out."""
    torch.manual_seed(SEED)
    config = TransformerConfig(
        source_vocab_size=VOCABULARY,
        target_vocab_size=VOCABULARY,
        d_model=D_MODEL,
        num_layers=NUM_LAYERS,
        num_heads=NUM_HEADS,
        d_ff=D_FF,
        dropout=dropout,
        shared_vocabulary=shared_vocabulary,
    )
    batch, steps = some_batch(), {}
    steps["products"] = partial(matrix_products, Transformer(config), batch)
    for name, model in {"ours": use_fused_attention(Transformer(config)), "torch": OnTorch(config)}.items():
        make = transformer_optimizer if own_optimizers and name == "ours" else plain_adam
        steps[name] = partial(training_step, model, make(model, LEARNING_RATE), batch)
    times = {name: [] for name in steps}
    for _ in progress(range(WARMUP + STEPS), description=f"dropout {dropout}"):
        for name, step in steps.items():
            times[name].append(seconds(step))
    return {name: of_steps[WARMUP:] for name, of_steps in times.items()}


def main() -> None:
    print(f"{'setting':32}{'ours (ms)':>10}{'torch (ms)':>11}{'ratio':>7}{'lowest':>7}")
    numbers = {}
    for name, setting in SETTINGS.items():
        times = measure(**setting)
        medians = {who: 1000 * statistics.median(of_steps) for who, of_steps in times.items()}
        ratio, lowest = (
            statistics.median(ours / torchs for ours, torchs in zip(times[who], times["torch"], strict=True))
            for who in ("ours", "products")
        )
        numbers[name] = {**{f"{who}_ms": time for who, time in medians.items()}, "ratio": ratio, "lowest": lowest}
        print(f"{name:32}{medians['ours']:10.1f}{medians['torch']:11.1f}{ratio:7.2f}{lowest:7.2f}", flush=True)
    write_record(
        NAME,
        seeds=[SEED],
        settings={
            "d_model": D_MODEL,
            "num_heads": NUM_HEADS,
            "num_layers": NUM_LAYERS,
            "d_ff": D_FF,
            "vocabulary": VOCABULARY,
            "batch": BATCH,
            "length": LENGTH,
            "steps": STEPS,
            "threads": torch.get_num_threads(),
        },
        numbers=numbers,
    )


if __name__ == "__main__":
    main()
