"""Exact match of chapter 1's encoder–decoder against the length of the sentence, for several hidden sizes."""

import torch

from benchmarks.records import write_record
from transformer_lib.seq2seq import Seq2Seq
from transformer_lib.teaching.experiments.sequence_tasks import TASKS, VOCABULARY, exact_match, right_words, train_on_task

NAME = "seq2seq_length"
SEEDS = [0, 1, 2]
LENGTHS = [2, 4, 6, 8, 10, 12, 14, 16]
D_MODEL = 32
STEPS = 1500
HIDDEN = [16, 32, 64, 128]
# One size again, with four times the steps: how much of the knee is the size, and how much the time?
LONGER_HIDDEN, LONGER_STEPS = 32, 6000
# Which words are right with teacher forcing, and which when the model reads its own.
WORDS = {"hidden": 32, "length": 8, "sentences": 500}


def trained(task: str, hidden: int, steps: int, seed: int) -> Seq2Seq:
    """Return a new model, trained on `task`."""
    torch.manual_seed(seed)
    model = Seq2Seq(VOCABULARY, VOCABULARY, d_model=D_MODEL, hidden_size=hidden)
    train_on_task(model, task=task, seed=seed, steps=steps)
    return model


def measure_seeds(task: str, hidden: int, steps: int) -> list[list[float]]:
    """Return exact match at each of `LENGTHS`, one row for each seed, and print it; test sentences have another seed."""
    rows = []
    for seed in SEEDS:
        model = trained(task, hidden, steps, seed)
        rows.append([exact_match(model, task=task, length=length, seed=1000 + seed) for length in LENGTHS])
        shown = " ".join(f"{value:6.3f}" for value in rows[-1])
        print(f"{task:8}{hidden:7}{steps:7}{seed:6}  {shown}", flush=True)
    return rows


def measure_words() -> dict[str, list[list[float]]]:
    """Return the share of right words at each place of the reverse task, one row for each seed, in both ways."""
    shares = {"forced": [], "free": []}
    for seed in SEEDS:
        model = trained("reverse", WORDS["hidden"], STEPS, seed)
        both = right_words(model, task="reverse", length=WORDS["length"], count=WORDS["sentences"], seed=1000 + seed)
        for name, right in zip(shares, both, strict=True):
            shares[name].append(right.double().mean(dim=0).tolist())
            print(f"{name:8} seed {seed}  " + " ".join(f"{share:6.3f}" for share in shares[name][-1]), flush=True)
    return shares


def main() -> None:
    torch.set_num_threads(1)  # models this small gain nothing from a second one
    print(f"{'task':8}{'hidden':>7}{'steps':>7}{'seed':>6}  " + " ".join(f"{length:6}" for length in LENGTHS))
    numbers = {task: {str(hidden): measure_seeds(task, hidden, STEPS) for hidden in HIDDEN} for task in TASKS}
    numbers["reverse, longer training"] = {str(LONGER_HIDDEN): measure_seeds("reverse", LONGER_HIDDEN, LONGER_STEPS)}
    numbers["reverse, right words"] = measure_words()
    settings = {"lengths": LENGTHS, "d_model": D_MODEL, "steps": STEPS, "longer_steps": LONGER_STEPS, "longest": 16}
    settings |= {"batch": 64, "learning_rate": 5e-3, "sentences_per_length": 200, "words": WORDS}
    write_record(NAME, seeds=SEEDS, settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
