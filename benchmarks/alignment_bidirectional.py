"""Chapter 4's maps with Bahdanau's order of looking: an encoder that reads in one direction, and one that reads in both."""

import torch
from torch import Tensor, nn

from benchmarks.alignment_length import D_MODEL, LENGTHS, MAP_LENGTH, SEEDS, STEPS, largest_weights, maps_of
from benchmarks.records import write_record
from transformer_lib.alignment import AttentionSeq2Seq
from transformer_lib.seq2seq import RecurrentEncoder
from transformer_lib.teaching.experiments.alignment import looking_first
from transformer_lib.teaching.experiments.sequence_tasks import VOCABULARY, exact_match, train_on_task

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


def measure(directions: str, seed: int) -> dict[str, object]:
    """Train one model on the reverse task and measure it on sentences drawn from another seed."""
    torch.manual_seed(seed)
    model = looking_first(AttentionSeq2Seq(VOCABULARY, VOCABULARY, d_model=D_MODEL, hidden_size=HIDDEN))
    if directions == "both directions":
        model.encoder = RecurrentEncoder(VOCABULARY, D_MODEL, HIDDEN, layer=BothWays)
    train_on_task(model, task="reverse", seed=seed, steps=STEPS)
    matches = [exact_match(model, task="reverse", length=length, seed=1000 + seed) for length in LENGTHS]
    maps = maps_of(model, "reverse", 1000 + seed)  # (200, 12, 12)
    mean_map = [[round(weight, 4) for weight in row] for row in maps.mean(dim=0).tolist()]
    return {"exact_match": matches, "largest_weight": largest_weights(maps, "reverse"), "mean_map": mean_map}


def main() -> None:
    torch.set_num_threads(1)  # models this small gain nothing from a second one
    print(f"{'encoder':16}{'seed':>5}  " + " ".join(f"{length:5}" for length in LENGTHS) + "   early  here  late")
    numbers = {directions: {"exact_match": [], "largest_weight": [], "mean_map": []} for directions in RUNS}
    for directions, seeds in RUNS.items():
        for seed in seeds:
            measured = measure(directions, seed)
            for what, value in measured.items():
                numbers[directions][what].append(value)
            shown = " ".join(f"{value:5.2f}" for value in measured["exact_match"])
            places = " ".join(f"{value:5.2f}" for value in measured["largest_weight"].values())
            print(f"{directions:16}{seed:5}  {shown}   {places}", flush=True)
    settings = {"task": "reverse", "style": "bahdanau", "hidden": HIDDEN, "lengths": LENGTHS, "map_length": MAP_LENGTH}
    settings |= {"seeds": RUNS, "d_model": D_MODEL, "steps": STEPS, "longest": 16, "batch": 64, "learning_rate": 5e-3}
    write_record(NAME, seeds=SEEDS, settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
