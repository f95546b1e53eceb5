"""How the held-out loss jumps while a model learns to reverse: batches of one length, of neighbouring and of all lengths."""

from itertools import pairwise

from torch import get_num_threads, set_num_threads

from benchmarks.records import write_record
from transformer_lib.teaching.experiments.training import (
    MAX_TOKENS,
    PEAK_STEP,
    learn_to_reverse,
    mixed_batches,
    reverse_pairs,
    target_padding_share,
)

NAME = "batch_lengths"
SEEDS = [0, 1, 2, 3, 4]
STEPS, EVERY, FROM = 160, 4, 40
LONGEST = 6
MIXINGS = {"one length": 0.0, "neighbouring lengths": 2.0, "all lengths": 100.0}
LEARNING_RATES = [0.5, 0.25]  # each multiplies the schedule


def largest_rise(losses: dict[int, float]) -> float:
    """Return by how much the loss rises at most between two measurements, from step FROM on."""
    late = [loss for step, loss in losses.items() if step >= FROM]
    return max(after - before for before, after in pairwise(late))


def main() -> None:
    set_num_threads(1)
    numbers = []
    for name, mixing in MIXINGS.items():
        padding = target_padding_share(mixed_batches(reverse_pairs(3000, LONGEST, seed=0), mixing, seed=0))
        for learning_rate in LEARNING_RATES:
            histories = [
                learn_to_reverse(seed, mixing=mixing, learning_rate=learning_rate, steps=STEPS, every=EVERY)[1]
                for seed in SEEDS
            ]
            rises = [largest_rise(history.validation_losses) for history in histories]
            last = [history.validation_losses[STEPS] for history in histories]
            numbers.append({"batches": name, "learning_rate": learning_rate, "padding": padding, "rises": rises, "last": last})
            print(f"{name:22}{learning_rate:6} padding {padding:4.0%}  rises", *(f"{rise:.2f}" for rise in rises), flush=True)
    settings = {
        "steps": STEPS,
        "measured_every": EVERY,
        "from_step": FROM,
        "longest": LONGEST,
        "max_tokens": MAX_TOKENS,
        "peak_step": PEAK_STEP,
        "threads": get_num_threads(),
    }
    write_record(NAME, seeds=SEEDS, settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
