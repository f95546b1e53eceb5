"""How much longer chapter 2's layer takes than torch's fused GRU, forward and backward: both in turns, the median ratio."""

import statistics
import time

import torch
from torch import nn

from benchmarks.records import write_record
from transformer_lib.recurrent import GRUCell, Recurrent

SETTINGS = {"batch": 64, "input_size": 32, "hidden_size": 32, "rounds": 15}
LENGTHS = [10, 40, 160]


def seconds(layer: nn.Module, x: torch.Tensor) -> float:
    start = time.perf_counter()
    layer(x)[0].sum().backward()
    return time.perf_counter() - start


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    sizes = SETTINGS["input_size"], SETTINGS["hidden_size"]
    ours, theirs = Recurrent(GRUCell(*sizes)), nn.GRU(*sizes, batch_first=True)
    numbers = []
    for length in LENGTHS:
        x = torch.randn(SETTINGS["batch"], length, sizes[0])
        pairs = [(seconds(ours, x), seconds(theirs, x)) for _ in range(SETTINGS["rounds"])]
        ratio = statistics.median(our / their for our, their in pairs)
        our, their = (statistics.median(times) for times in zip(*pairs, strict=True))
        numbers.append({"length": length, "our_seconds": our, "torch_seconds": their, "ratio": ratio})
        print(f"{length:4} steps: ours {our:.4f} s, torch's {their:.4f} s, ratio {ratio:.2f}", flush=True)
    write_record("recurrent_speed", seeds=[0], settings=SETTINGS, numbers=numbers)


if __name__ == "__main__":
    main()
