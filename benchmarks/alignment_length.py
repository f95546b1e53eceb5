"""Exact match of chapter 4's attention against the length of the sentence, and where its weights are largest."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from benchmarks.records import write_record
from transformer_lib.alignment import AttentionSeq2Seq, DotProductAttention, attention_pooling
from transformer_lib.seq2seq import SOS_ID, greedy_decode
from transformer_lib.teaching.experiments.alignment import looking_first
from transformer_lib.teaching.experiments.sequence_tasks import VOCABULARY, exact_match, task_batch, train_on_task

NAME = "alignment_length"
SEEDS = [0, 1, 2]
LENGTHS = [2, 4, 6, 8, 10, 12, 14, 16, 20, 24]
MAP_LENGTH = 12
D_MODEL = 32
STEPS = 1500
SETTINGS = {"lengths": LENGTHS, "map_length": MAP_LENGTH, "d_model": D_MODEL, "steps": STEPS}
SETTINGS |= {"longest": 16, "batch": 64, "learning_rate": 5e-3}


class OneNeuron(nn.Module):
    """Score with a single linear neuron on memory and query, as S2's words say, without a tanh layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.neuron = nn.Linear(2 * width, 1)

    def forward(self, query: Tensor, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        pairs = torch.cat([memory, query.unsqueeze(1).expand_as(memory)], dim=-1)
        return attention_pooling(self.neuron(pairs).squeeze(-1), memory, mask)


# name: task, hidden size, what makes the attention (None: additive), whether the decoder looks before it reads
MODELS = {
    "additive": ("reverse", 64, None, False),
    "dot product": ("reverse", 64, DotProductAttention, False),
    "one linear neuron": ("reverse", 64, lambda: OneNeuron(64), False),
    "additive, look before": ("reverse", 64, None, True),
    "additive, look before, copy": ("copy", 64, None, True),
    "additive, hidden 32": ("reverse", 32, None, False),
}


def maps_of(model: AttentionSeq2Seq, task: str, seed: int) -> Tensor:
    """Return the weights (200, 12, 12) with which the model writes the answers to 200 new sentences."""
    generator = torch.Generator().manual_seed(seed)
    source, _, _ = task_batch(task, count=200, length=MAP_LENGTH, generator=generator)
    written = greedy_decode(model, source, max_len=MAP_LENGTH)
    state = model.start(source)
    with torch.no_grad():
        model.decode(pad(written[:, :-1], (1, 0), value=SOS_ID), state)
    return state.weights


def largest_weights(maps: Tensor, task: str) -> dict[str, float]:
    """Return how often the largest weight is on the word that is being written, and one place earlier or later."""
    places = torch.arange(MAP_LENGTH)
    wanted = places if task == "copy" else places.flip(0)
    offsets = {"one place early": -1, "on the word": 0, "one place late": 1}
    return {name: (maps.argmax(dim=-1) == wanted + offset).float().mean().item() for name, offset in offsets.items()}


def measure(model: AttentionSeq2Seq, task: str, seed: int) -> dict[str, object]:
    """Train one model and measure it on sentences drawn from another seed."""
    train_on_task(model, task=task, seed=seed, steps=STEPS)
    matches = [exact_match(model, task=task, length=length, seed=1000 + seed) for length in LENGTHS]
    maps = maps_of(model, task, 1000 + seed)  # (200, 12, 12)
    mean_map = [[round(weight, 4) for weight in row] for row in maps.mean(dim=0).tolist()]
    return {"exact_match": matches, "largest_weight": largest_weights(maps, task), "mean_map": mean_map}


def measure_all(build: Callable, models: dict[str, Sequence[int]], kept: Sequence[str]) -> dict[str, dict[str, list]]:
    """Measure what `build(name)` gives, a model and its task, for the seeds of each name; return what is `kept`."""
    torch.set_num_threads(1)  # models this small gain nothing from a second one
    print(f"{'model':30}{'seed':>5}  " + " ".join(f"{length:5}" for length in LENGTHS) + "   early  here  late")
    numbers = {name: {what: [] for what in kept} for name in models}
    for name, seeds in models.items():
        for seed in seeds:
            torch.manual_seed(seed)
            measured = measure(*build(name), seed)
            for what in kept:
                numbers[name][what].append(measured[what])
            shown = " ".join(f"{value:5.2f}" for value in measured["exact_match"])
            places = " ".join(f"{value:5.2f}" for value in measured["largest_weight"].values())
            print(f"{name:30}{seed:5}  {shown}   {places}", flush=True)
    return numbers


def build(name: str) -> tuple[AttentionSeq2Seq, str]:
    """Return an untrained model and its task."""
    task, hidden, make_attention, looks_first = MODELS[name]
    attention = make_attention() if make_attention else None
    model = AttentionSeq2Seq(VOCABULARY, VOCABULARY, d_model=D_MODEL, hidden_size=hidden, attention=attention)
    return looking_first(model) if looks_first else model, task


def main() -> None:
    numbers = measure_all(build, dict.fromkeys(MODELS, SEEDS), ("exact_match", "largest_weight"))
    models = {name: {"task": task, "hidden": hidden} for name, (task, hidden, _, _) in MODELS.items()}
    settings = {"models": models, **SETTINGS, "sentences_per_length": 200}
    write_record(NAME, seeds=SEEDS, settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
