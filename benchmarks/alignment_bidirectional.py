"""Chapter 4's maps with Bahdanau's order of looking: an encoder that reads in one direction, and one that reads in both."""

import torch
from torch import Tensor, nn

from benchmarks.alignment_length import D_MODEL, SEEDS, SETTINGS, measure_all
from benchmarks.records import write_record
from transformer_lib.alignment import AttentionSeq2Seq
from transformer_lib.seq2seq import RecurrentEncoder
from transformer_lib.teaching.experiments.alignment import looking_first
from transformer_lib.teaching.experiments.sequence_tasks import VOCABULARY

NAME = "alignment_bidirectional"
HIDDEN = 64
# The record of alignment_length has three seeds of the encoder with one direction; here is the map of the first one.
RUNS = {"both directions": SEEDS, "one direction": SEEDS[:1]}


class BothWays(nn.GRU):
    """Two GRU layers, one for each direction, each half as wide: outputs and state are as wide as those of one."""

    def __init__(self, d_model: int, hidden_size: int, batch_first: bool) -> None:
        super().__init__(d_model, hidden_size // 2, batch_first=batch_first, bidirectional=True)

    def forward(self, x: Tensor, state: None = None) -> tuple[Tensor, Tensor]:
        outputs, hidden = super().forward(x, state)  # (batch, seq, hidden), (2, batch, hidden / 2)
        return outputs, torch.cat([*hidden], dim=-1).unsqueeze(0)  # (1, batch, hidden)


def build(directions: str) -> tuple[AttentionSeq2Seq, str]:
    """Return an untrained model and its task."""
    model = looking_first(AttentionSeq2Seq(VOCABULARY, VOCABULARY, d_model=D_MODEL, hidden_size=HIDDEN))
    if directions == "both directions":
        model.encoder = RecurrentEncoder(VOCABULARY, D_MODEL, HIDDEN, layer=BothWays)
    return model, "reverse"


def main() -> None:
    numbers = measure_all(build, RUNS, ("exact_match", "largest_weight", "mean_map"))
    settings = {"task": "reverse", "style": "bahdanau", "hidden": HIDDEN, "seeds": RUNS, **SETTINGS}
    write_record(NAME, seeds=SEEDS, settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
