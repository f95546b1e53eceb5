"""How a stack of six layers learns to name the token that stands at each place, when parts of the layer are missing."""

import statistics
from functools import partial

from torch import get_num_threads, set_num_threads

from benchmarks.records import write_record
from transformer_lib.teaching.experiments import encoder

SEEDS = [0, 1, 2]
DEPTH = 6
EACH = 40  # steps that are averaged to one number


def main() -> None:
    set_num_threads(1)
    numbers = []
    for variant, switches in encoder.VARIANTS.items():
        steps = 400 if "add" in switches else 2400  # those with a sum are done long before 400
        for seed in SEEDS:
            losses = encoder.train_to_say(partial(encoder.AblatedLayer, **switches), seed, steps, DEPTH)
            means = [round(statistics.mean(losses[start : start + EACH]), 4) for start in range(0, steps, EACH)]
            numbers.append({"layer": variant, "seed": seed, "losses": means})
            print(f"{variant:26}{seed:5}", means[200 // EACH - 1], means[-1], flush=True)
    write_record(
        "encoder_ablation",
        seeds=SEEDS,
        settings={
            "layers": DEPTH,
            "d_model": encoder.D_MODEL,
            "heads": encoder.NUM_HEADS,
            "d_ff": encoder.D_FF,
            "tokens": encoder.TOKENS,
            "places": encoder.PLACES,
            "batch": encoder.BATCH,
            "learning_rate": encoder.LEARNING_RATE,
            "steps_in_a_mean": EACH,
            "threads": get_num_threads(),
        },
        numbers=numbers,
    )


if __name__ == "__main__":
    main()
