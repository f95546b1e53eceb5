"""Greedy decoding with a state, side by side with `MarianMTModel.generate` at equal size, in one run.

Marian's model in the library `transformers` is the original encoder–decoder too, and keeps keys and values as chapter 13
does. That library is needed by this script alone and is no dependency of the course: install it first. Both models have
random weights, read the same sentences and may not stop, so that each writes the same number of words. They run in turn, and
the ratio of the medians is kept.
"""

import statistics
import time
from collections.abc import Callable
from importlib.metadata import version

import torch
from torch import Tensor, nn

from benchmarks.decoding_cache import MODELS, model_without_end
from benchmarks.records import write_record
from transformer_lib.decoding import CachedTransformer, greedy_decode
from transformer_lib.progress import progress
from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID

NAME = "greedy_decoding"
SEED = 0
SIZES = MODELS[256]
VOCABULARY, SOURCE, WORDS = 8000, 24, 64
SENTENCES = [1, 8, 32]
WARM_UP, RUNS = 2, 15


def marian_model() -> nn.Module:
    """Return Marian's model of the same size with random weights."""
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(
        vocab_size=VOCABULARY,
        d_model=SIZES["d_model"],
        encoder_layers=SIZES["num_layers"],
        decoder_layers=SIZES["num_layers"],
        encoder_attention_heads=SIZES["num_heads"],
        decoder_attention_heads=SIZES["num_heads"],
        encoder_ffn_dim=SIZES["d_ff"],
        decoder_ffn_dim=SIZES["d_ff"],
        activation_function="relu",
        max_position_embeddings=256,
        scale_embedding=True,
        pad_token_id=PAD_ID,
        bos_token_id=SOS_ID,
        eos_token_id=EOS_ID,
        decoder_start_token_id=SOS_ID,
        forced_eos_token_id=None,
    )
    return MarianMTModel(config).eval()


def seconds(write: Callable[[Tensor], Tensor], source: Tensor) -> float:
    start = time.perf_counter()
    written = write(source)
    taken = time.perf_counter() - start
    assert written.size(1) == WORDS, written.shape
    return taken


def measure(sentences: int) -> dict[str, float]:
    """Return the milliseconds that ours and Marian's take for a batch of so many sentences, medians of runs in turn."""
    torch.manual_seed(SEED)
    ours = model_without_end(CachedTransformer, VOCABULARY, shared_vocabulary=True, max_len=256, **SIZES).eval()
    marian = marian_model()
    source = torch.randint(3, VOCABULARY, (sentences, SOURCE))
    mask = torch.ones_like(source)

    def marian_writes(source: Tensor) -> Tensor:
        options = {"num_beams": 1, "do_sample": False, "min_new_tokens": WORDS, "max_new_tokens": WORDS}
        return marian.generate(source, attention_mask=mask, **options)[:, 1:]

    writers = {"ours": lambda source: greedy_decode(ours, source, WORDS), "marian": marian_writes}
    times: dict[str, list[float]] = {name: [] for name in writers}
    for _ in progress(range(WARM_UP + RUNS), description=f"{sentences} sentences"):
        for name, write in writers.items():
            times[name].append(seconds(write, source))
    return {name: 1000 * statistics.median(of_runs[WARM_UP:]) for name, of_runs in times.items()}


def main() -> None:
    print(f"{'sentences':>9}{'ours (ms)':>12}{'Marian (ms)':>13}{'times as fast':>15}")
    numbers = []
    for sentences in SENTENCES:
        medians = measure(sentences)
        ratio = medians["marian"] / medians["ours"]
        numbers.append({"sentences": sentences, **{f"{who}_ms": ms for who, ms in medians.items()}, "times_as_fast": ratio})
        print(f"{sentences:9}{medians['ours']:12.1f}{medians['marian']:13.1f}{ratio:15.2f}", flush=True)
    write_record(
        NAME,
        seeds=[SEED],
        settings={
            **SIZES,
            "vocabulary": VOCABULARY,
            "source": SOURCE,
            "words": WORDS,
            "runs": RUNS,
            "threads": torch.get_num_threads(),
            "transformers": version("transformers"),
        },
        numbers=numbers,
    )


if __name__ == "__main__":
    main()
