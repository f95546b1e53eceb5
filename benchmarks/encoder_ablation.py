"""How a stack of six layers learns to name the token that stands at each place, when parts of the layer are missing."""

import statistics
from functools import partial

from torch import get_num_threads, set_num_threads

from benchmarks.records import write_record
from transformer_lib.teaching.experiments.encoder import (
    BATCH,
    D_FF,
    D_MODEL,
    LEARNING_RATE,
    NUM_HEADS,
    PLACES,
    TOKENS,
    VARIANTS,
    AblatedLayer,
    floor_when_alike,
    train_to_say,
)

NAME = "encoder_ablation"
SEEDS = [0, 1, 2]
DEPTH = 6
EACH = 40  # steps that are averaged to one number
# Those with a sum are done long before 400 steps.
STEPS = {variant: 400 if "add" in switches else 2400 for variant, switches in VARIANTS.items()}


def curve(variant: str, seed: int) -> list[float]:
    """Return the mean loss of each `EACH` steps."""
    losses = train_to_say(partial(AblatedLayer, **VARIANTS[variant]), seed, STEPS[variant], DEPTH)
    return [round(statistics.mean(losses[start : start + EACH]), 4) for start in range(0, len(losses), EACH)]


def main() -> None:
    set_num_threads(1)
    print(f"{'layer':26}{'seed':>5}  loss after 200 steps, 400, and at the end (floor {floor_when_alike():.3f})")
    numbers = []
    for variant in VARIANTS:
        for seed in SEEDS:
            losses = curve(variant, seed)
            numbers.append({"layer": variant, "seed": seed, "losses": losses})
            shown = [losses[200 // EACH - 1], losses[400 // EACH - 1], losses[-1]]
            print(f"{variant:26}{seed:5}" + "".join(f"{loss:8.3f}" for loss in shown), flush=True)
    write_record(
        NAME,
        seeds=SEEDS,
        settings={
            "layers": DEPTH,
            "d_model": D_MODEL,
            "heads": NUM_HEADS,
            "d_ff": D_FF,
            "tokens": TOKENS,
            "places": PLACES,
            "batch": BATCH,
            "learning_rate": LEARNING_RATE,
            "steps_in_a_mean": EACH,
            "threads": get_num_threads(),
        },
        numbers=numbers,
    )


if __name__ == "__main__":
    main()
