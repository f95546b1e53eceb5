"""What chapter 1's encoder–decoder writes for the same reversed sentences, a small and a large state beside each other."""

import torch

from benchmarks.records import write_record
from transformer_lib.seq2seq import Seq2Seq, greedy_decode
from transformer_lib.teaching.experiments.sequence_tasks import VOCABULARY, task_batch, train_on_task

NAME = "seq2seq_sentences"
SEED = 0
LENGTHS = [6, 14]
D_MODEL = 32
STEPS = 1500
HIDDEN = [32, 128]
# The first ones of a seed of their own: nobody has chosen them.
COUNT, TEST_SEED = 3, 1000


def main() -> None:
    torch.set_num_threads(1)  # models this small gain nothing from a second one
    numbers = {}
    for hidden in HIDDEN:
        torch.manual_seed(SEED)
        model = Seq2Seq(VOCABULARY, VOCABULARY, d_model=D_MODEL, hidden_size=hidden)
        train_on_task(model, task="reverse", seed=SEED, steps=STEPS)
        numbers[str(hidden)] = {}
        for length in LENGTHS:
            generator = torch.Generator().manual_seed(TEST_SEED)
            source, _, target = task_batch("reverse", count=COUNT, length=length, generator=generator)
            written = greedy_decode(model, source, max_len=length + 1)
            rows = [ids.tolist() for ids in (source, target, written)]
            numbers[str(hidden)][str(length)] = [
                dict(zip(("source", "target", "written"), row, strict=True)) for row in zip(*rows, strict=True)
            ]
            for row in numbers[str(hidden)][str(length)]:
                print(hidden, length, *row.values(), sep="  ", flush=True)
    settings = {
        "task": "reverse",
        "lengths": LENGTHS,
        "d_model": D_MODEL,
        "steps": STEPS,
        "longest": 16,
        "batch": 64,
        "learning_rate": 5e-3,
        "sentences_per_length": COUNT,
        "test_seed": TEST_SEED,
    }
    write_record(NAME, seeds=[SEED], settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
