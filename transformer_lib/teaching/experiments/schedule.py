"""A deep encoder that has to copy its input, and the loop that trains it: the easiest task that a bad start can spoil."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim.lr_scheduler import LambdaLR, LRScheduler

from transformer_lib.encoder import Encoder, TransformerConfig
from transformer_lib.positional_encoding import PositionalEncoding
from transformer_lib.progress import progress
from transformer_lib.schedule import noam_rate, transformer_optimizer
from transformer_lib.transformer import TokenEmbedding

VOCABULARY = 12
D_MODEL = 32
LENGTH = 8
WARMUP = 100


class DeepStack(nn.Module):
    """Embedding, positions, `layers` encoder layers and one linear layer: logits for each place of a sentence.

    Shapes: `tokens` is `(batch, seq)`; the states are `(batch, seq, d_model)`, the logits `(batch, seq, vocab)`.
    """

    def __init__(self, layers: int, *, seed: int, pre_norm: bool = False) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.embedding = TokenEmbedding(VOCABULARY, D_MODEL)
        self.positions = PositionalEncoding(D_MODEL)
        sizes = {"d_model": D_MODEL, "num_heads": 4, "d_ff": 2 * D_MODEL}
        self.encoder = Encoder(TransformerConfig(num_layers=layers, **sizes, dropout=0.0, pre_norm=pre_norm))
        for parameter in self.encoder.parameters():
            if parameter.ndim == 2:
                nn.init.xavier_uniform_(parameter)
        self.output = nn.Linear(D_MODEL, VOCABULARY)

    def states(self, tokens: Tensor) -> Tensor:
        return self.encoder(self.positions(self.embedding(tokens)))

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output(self.states(tokens))


def without_warmup(optimizer: torch.optim.Optimizer) -> LambdaLR:
    """Return the schedule of width D_MODEL and warm-up WARMUP with its rise cut off.

    The first WARMUP steps all run with the highest rate; from there on the rate falls as always.
    """
    return LambdaLR(optimizer, lambda done: noam_rate(max(done + 1, WARMUP), D_MODEL, WARMUP))


def train_to_copy(
    model: nn.Module,
    *,
    seed: int,
    learning_rate: float,
    schedule: Callable[[torch.optim.Optimizer], LRScheduler] | None = None,
    steps: int,
    batch: int = 64,
    after_step: Callable[[], None] | None = None,
) -> list[float]:
    """Train `model` to give back each sentence of random tokens, and return the loss of each step.

    Adam with the paper's numbers and `learning_rate`; `schedule(optimizer)` makes the schedule, without one the rate stays.
    `seed` fixes the sentences. `after_step` is called after each step, to measure.
    """
    generator = torch.Generator().manual_seed(seed)
    optimizer = transformer_optimizer(model, learning_rate)
    rates = schedule(optimizer) if schedule else None
    losses = []
    for _ in progress(range(steps), description=f"copying, seed {seed}"):
        tokens = torch.randint(VOCABULARY, (batch, LENGTH), generator=generator)
        loss = cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rates:
            rates.step()
        losses.append(loss.item())
        if after_step:
            after_step()
    return losses
