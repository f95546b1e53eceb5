"""Chapter 14: what the translator loses on the held-out set without one of its heads, each in turn, three seeds."""

from functools import partial
from typing import Any

from benchmarks.records import write_record
from benchmarks.runs import finish
from benchmarks.translation import SEEDS, about, trained
from transformer_lib.teaching.experiments.translation import (
    RATES,
    SETTINGS,
    corpus_and_tokenizer,
    measure,
    without_head,
)

NAME = "translation_heads"
PLACES = {
    "encoder self": lambda model: [layer.attention for layer in model.encoder.layers],
    "decoder self": lambda model: [layer.self_attention for layer in model.decoder.layers],
    "cross": lambda model: [layer.cross_attention for layer in model.decoder.layers],
}


def one_run(seed: int) -> dict[str, Any]:
    """Train as the chapter does, and return what is measured with all heads and without each of them."""
    translator = trained(seed)

    def scores() -> dict[str, float]:
        measured = measure(translator, corpus_and_tokenizer()[0].held_out)
        return {name: measured[name] for name in ("exact_match", "bleu", "loss")}

    found = {"all heads": scores()}
    for place, attentions in PLACES.items():
        for layer, attention in enumerate(attentions(translator.model), start=1):
            for head in range(attention.num_heads):
                with without_head(attention, head):
                    found[f"{place}, layer {layer}, head {head + 1}"] = scores()
    return found


def main() -> None:
    jobs = {f"seed {seed}": partial(one_run, seed) for seed in SEEDS}
    runs = finish(NAME, jobs, about() + repr((RATES, list(PLACES))))
    numbers = {name: [run[name] for run in runs.values()] for name in runs[f"seed {SEEDS[0]}"]}
    for name, rows in numbers.items():
        print(f"{name:32}" + "".join(f"{row['exact_match']:8.3f}" for row in rows))
    write_record(NAME, seeds=SEEDS, settings={**SETTINGS, "rate": RATES["Transformer"], "threads": 1}, numbers=numbers)


if __name__ == "__main__":
    main()
