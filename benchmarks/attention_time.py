"""Time our readable attention and torch's fused one, at growing lengths: `python -m benchmarks.attention_time`.

Processor time of one thread, so that other programs on the machine matter little.
"""

import math
import time

import torch
from torch.nn import functional as F

from benchmarks.records import write_record
from transformer_lib.attention import scaled_dot_product_attention

LENGTHS = [256, 512, 1024, 2048]
HEADS, D_K, RUNS = 4, 32, 40


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    functions = {"readable": scaled_dot_product_attention, "fused": F.scaled_dot_product_attention}
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for length in LENGTHS:
        q, k, v = torch.randn(3, 1, HEADS, length, D_K)
        best = dict.fromkeys(functions, math.inf)
        for _ in range(RUNS):  # in turn, so that both meet the same disturbances
            for name, function in functions.items():
                start = time.process_time()
                function(q, k, v)
                best[name] = min(best[name], time.process_time() - start)
        for name, fastest in best.items():
            seconds[name].append(fastest)
    settings = {"lengths": LENGTHS, "heads": HEADS, "d_k": D_K, "runs": RUNS, "threads": 1}
    settings["time"] = "processor time of the fastest run"
    write_record("attention_time", seeds=[0], settings=settings, numbers={"seconds": seconds})
    for name, times in seconds.items():
        print(name, *(f"{1000 * t:.1f} ms" for t in times))


if __name__ == "__main__":
    main()
