"""The time of one training step of our Transformer and of the same model on `nn.Transformer`, side by side.

Both with one optimizer, `torch.optim.Adam` as it comes. Both take the same matrix products, forward and backward. They are
timed alone beside the two: no model with these sizes can take less, so their share of torch's step is the lowest ratio that
anybody could reach. The three take one step each in turn, and a ratio is the median over these turns: a machine that is
slower for some seconds is slower for all three.
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
from transformer_lib.seq2seq import PAD_ID
from transformer_lib.transformer import TokenEmbedding, Transformer, TransformerConfig

NAME = "training_step"
SEED = 0
SIZES = {"d_model": 256, "num_heads": 8, "num_layers": 3, "d_ff": 1024}
VOCABULARY, BATCH, LENGTH = 8000, 32, 24
WARMUP, STEPS = 3, 40
SETTING = "dropout 0.1, one shared matrix"  # for both embeddings and the output, as in the paper


class OnTorch(nn.Module):
    """The same model with `nn.Transformer` where ours has its two stacks."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.embedding = TokenEmbedding(config.source_vocab_size, config.d_model)
        self.positions = PositionalEncoding(config.d_model, config.max_len, config.dropout)
        layers = (config.num_layers, config.num_layers)
        self.stacks = nn.Transformer(config.d_model, config.num_heads, *layers, config.d_ff, config.dropout, batch_first=True)
        # torch adds a last norm even where each layer ends in one; the paper has none.
        self.stacks.encoder.norm = self.stacks.decoder.norm = None
        self.output = nn.Linear(config.d_model, config.target_vocab_size, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        hidden = torch.ones(target_in.size(1), target_in.size(1), dtype=torch.bool).triu(diagonal=1)
        x = self.stacks(
            self.positions(self.embedding(source)),
            self.positions(self.embedding(target_in)),
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


def measure() -> dict[str, list[float]]:
    """Return the seconds of each step: the products alone, ours and torch's in turn; the warm-up is left out."""
    torch.manual_seed(SEED)
    vocabularies = {"source_vocab_size": VOCABULARY, "target_vocab_size": VOCABULARY, "shared_vocabulary": True}
    config = TransformerConfig(dropout=0.1, **vocabularies, **SIZES)
    batch = some_batch()
    steps = {"products": partial(matrix_products, Transformer(config), batch)}
    for name, model in {"ours": use_fused_attention(Transformer(config)), "torch": OnTorch(config)}.items():
        steps[name] = partial(training_step, model, torch.optim.Adam(model.parameters(), lr=1e-4), batch)
    times = {name: [] for name in steps}
    for _ in progress(range(WARMUP + STEPS), description=NAME):
        for name, step in steps.items():
            times[name].append(seconds(step))
    return {name: of_steps[WARMUP:] for name, of_steps in times.items()}


def main() -> None:
    times = measure()
    numbers = {f"{who}_ms": 1000 * statistics.median(of_steps) for who, of_steps in times.items()}
    for key, who in (("ratio", "ours"), ("lowest", "products")):
        numbers[key] = statistics.median(ours / torchs for ours, torchs in zip(times[who], times["torch"], strict=True))
    print(*(f"{key} {value:.2f}" for key, value in numbers.items()), sep="  ")
    sizes = {"vocabulary": VOCABULARY, "batch": BATCH, "length": LENGTH}
    settings = SIZES | sizes | {"steps": STEPS, "threads": torch.get_num_threads()}
    write_record(NAME, seeds=[SEED], settings=settings, numbers={SETTING: numbers})


if __name__ == "__main__":
    main()
