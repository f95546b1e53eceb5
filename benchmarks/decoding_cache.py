"""Chapter 13: how much faster greedy decoding is with the cache, against the length of what is written.

In each run the two stand side by side: two models with the same numbers in them, a `Transformer` and a `CachedTransformer`,
decode the same sentences, one right after the other, and their ratio is kept. The time is processor time on one core, which
other programs disturb less than a clock's. The end sign is forbidden, so that each run writes exactly as many tokens as
asked.
"""

import statistics
import time
from typing import Any

import torch
from torch import Tensor

from benchmarks.records import write_record
from transformer_lib.decoding import CachedTransformer, greedy_decode
from transformer_lib.progress import progress
from transformer_lib.seq2seq import EOS_ID
from transformer_lib.transformer import Transformer, TransformerConfig

NAME = "decoding_cache"
SEEDS = [0, 1, 2]
MODELS = {
    64: {"d_model": 64, "num_layers": 2, "num_heads": 4, "d_ff": 128},
    256: {"d_model": 256, "num_layers": 3, "num_heads": 8, "d_ff": 1024},
}
SENTENCES = [1, 8]
LENGTHS = [8, 16, 32, 64, 128, 256]
VOCABULARY, SOURCE = 1000, 16


def model_without_end(kind: type[Transformer], vocabulary: int, **sizes: Any) -> Transformer:
    """Return a model with random weights that never finds that a sentence should end."""
    model = kind(TransformerConfig(source_vocab_size=vocabulary, target_vocab_size=vocabulary, **sizes))
    end = torch.tensor([EOS_ID])
    model.output.register_forward_hook(lambda layer, given, logits: logits.index_fill_(-1, end, -1e9))
    return model


def seconds(model: Transformer, source: Tensor, length: int) -> float:
    start = time.process_time()
    written = greedy_decode(model, source, length)
    taken = time.process_time() - start
    assert written.size(1) == length
    return taken


def measure(d_model: int, sentences: int, length: int, seed: int) -> float:
    """Return the time without the cache, divided by the time with it."""
    torch.manual_seed(seed)
    kinds = (Transformer, CachedTransformer)
    plain, cached = (model_without_end(kind, VOCABULARY, **MODELS[d_model]) for kind in kinds)
    cached.load_state_dict(plain.state_dict())
    source = torch.randint(3, VOCABULARY, (sentences, SOURCE))
    seconds(cached, source, 8)  # the first run of a process is slower
    with_cache = seconds(cached, source, length)
    return seconds(plain, source, length) / with_cache


def main() -> None:
    torch.set_num_threads(1)
    numbers = []
    print(f"{'d_model':>7}{'sentences':>10}{'tokens':>8}   time without / time with the cache")
    for d_model in MODELS:
        for sentences in SENTENCES:
            for length in progress(LENGTHS, description=f"d_model {d_model}, {sentences} sentences"):
                ratios = [measure(d_model, sentences, length, seed) for seed in SEEDS]
                middle = statistics.median(ratios)
                row = {"d_model": d_model, "sentences": sentences, "length": length, "ratio": middle, "ratios": ratios}
                numbers.append(row)
                print(f"{d_model:7}{sentences:10}{length:8}   {middle:.1f}", flush=True)
    write_record(
        NAME,
        seeds=SEEDS,
        settings={"models": MODELS, "vocabulary": VOCABULARY, "source": SOURCE, "threads": torch.get_num_threads()},
        numbers=numbers,
    )


if __name__ == "__main__":
    main()
