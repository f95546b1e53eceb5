"""Chapter 14: time a training step of its four translators at growing lengths: `python -m benchmarks.translation_time`.

A batch always holds as many tokens, in fewer and longer sentences. All models step in turn, so that they meet the same
disturbances. Processor time of one thread, the fastest of the runs.
"""

import math
import time

import torch
from torch import nn

from benchmarks.records import write_record
from transformer_lib.schedule import transformer_optimizer
from transformer_lib.seq2seq import EOS_ID
from transformer_lib.teaching.experiments.translation import KINDS, SETTINGS, make_model
from transformer_lib.teaching.later_models import with_positions
from transformer_lib.training import Batch, shift_right, training_step

NAME = "translation_time"
LENGTHS = [8, 16, 32, 64, 128, 256, 512]
TOKENS, RUNS, SEED = 2048, 5, 0


def models(length: int) -> dict[str, nn.Module]:
    """Return the chapter's translators, untrained, with positions for sentences of `length` tokens."""
    made = {kind: make_model(kind, SETTINGS["vocabulary"], max_len=length) for kind in KINDS}
    rotary = make_model("Transformer", SETTINGS["vocabulary"], max_len=length)
    return made | {"Transformer, rotary": with_positions(rotary, "rotary")}


def batch(length: int) -> Batch:
    """Return random sentences of `length` tokens, as many as make `TOKENS` of them."""
    ids = torch.randint(EOS_ID + 2, SETTINGS["vocabulary"], (TOKENS // length, length))
    return Batch(ids, shift_right(ids), ids)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    seconds: dict[str, list[float]] = {}
    for length in LENGTHS:
        fresh, sentences = models(length), batch(length)
        optimizers = {name: transformer_optimizer(model, 0.001) for name, model in fresh.items()}
        best = dict.fromkeys(fresh, math.inf)
        for _ in range(RUNS):
            for name, model in fresh.items():
                start = time.process_time()
                training_step(model, sentences, optimizers[name])
                best[name] = min(best[name], time.process_time() - start)
        for name, fastest in best.items():
            seconds.setdefault(name, []).append(fastest)
        print(length, *(f"{name} {1000 * fastest:.0f} ms" for name, fastest in best.items()), flush=True)
    settings = {"lengths": LENGTHS, "tokens": TOKENS, "runs": RUNS, "threads": 1, "time": "processor time of the fastest run"}
    write_record(NAME, seeds=[SEED], settings=settings, numbers={"seconds": seconds})


if __name__ == "__main__":
    main()
