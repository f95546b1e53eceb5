"""The long race: translators of equal size on real captions, each trained for as long as it was given.

    python -m benchmarks.multi30k_race [FOLDER]

FOLDER is that of `benchmarks.multi30k`. All RUNS have the sizes, the batches and the dropout of the translator that comes with
the library, whose own run of 64,000 steps is in the record `multi30k`. Each kind tries three rates, the GRUs' two best for
500 steps more. The GRUs take the best of theirs, the Transformers the translator's rate and warm-up. Each run keeps its
checkpoint in `_build` and goes on where it was stopped; one that the record has is not made again.
"""

import statistics
import time
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import torch
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from torch import nn

from benchmarks.multi30k import captions
from benchmarks.records import RESULTS, write_record
from benchmarks.runs import finish
from tools.machine import processor
from transformer_lib.checkpoint import atomic_write, open_json
from transformer_lib.data import TextPairs, read_pairs
from transformer_lib.decoding import CachedTransformer
from transformer_lib.encoder import TransformerConfig
from transformer_lib.schedule import NoamSchedule, transformer_optimizer
from transformer_lib.teaching.experiments.translation import HIDDEN, SETTINGS, parameters, recurrent_model
from transformer_lib.teaching.later_models import with_positions
from transformer_lib.training import evaluate, token_batches, training_step
from transformer_lib.translation import BytePairTokenizer, Translator, encode_pairs, pretrained_translator

NAME = "multi30k_race"
SIZES = {"num_layers": 4, "d_model": 128, "num_heads": 4, "d_ff": 256, "max_len": 64, "shared_vocabulary": True}
MAX_TOKENS, DROPOUT, SMOOTHING, CLIP = 1000, 0.3, 0.1, 1.0
VOCABULARY, MOST = 5000, 60  # tokens, in all and in a sentence
EVERY, BLEU_EVERY = 500, 2000  # steps
KINDS = PLAIN, GRU, TRANSFORMER, ROTARY = "GRU", "GRU with attention", "Transformer", "Transformer, rotary"


class Run(NamedTuple):
    """A model's kind, and how it is trained: in the last `cooldown` steps its rate falls to 0 as well."""

    kind: str
    rate: float  # times that of the paper
    warmup: int
    steps: int
    cooldown: int = 0
    seed: int = 0

    def __str__(self) -> str:
        return f"{self.kind}, {self.steps:,} steps, seed {self.seed}"


TRIES = [Run(kind, rate, 2000, 2000) for kind in KINDS for rate in (0.5, 1.0, 2.0)]
TRIES += [Run(kind, rate, 2000, 2500) for kind in (PLAIN, GRU) for rate in (1.0, 2.0)]  # the GRUs' two best went on
RUNS = [
    Run(PLAIN, 1.0, 2000, 12_000, 4000),
    Run(PLAIN, 1.0, 2000, 12_000, 4000, seed=1),
    Run(GRU, 1.0, 2000, 12_000, 4000),
    Run(GRU, 1.0, 2000, 12_000, 4000, seed=1),
    Run(GRU, 1.0, 2000, 20_000, 6000),
    Run(GRU, 1.0, 2000, 20_000, 6000, seed=1),
    Run(TRANSFORMER, 1.5, 4000, 12_000, 4000),
    Run(TRANSFORMER, 1.5, 4000, 12_000, 4000, seed=1),
    Run(ROTARY, 1.5, 4000, 12_000, 4000),
    Run(ROTARY, 1.5, 4000, 12_000, 4000, seed=1),
    Run(ROTARY, 1.5, 4000, 20_000, 6000),
    Run(ROTARY, 1.5, 4000, 20_000, 6000, seed=1),
]


def corpus_and_tokenizer(folder: Path) -> tuple[TextPairs, TextPairs, BytePairTokenizer]:
    """Return the training and the validation sentences, but for very long ones, and a tokenizer trained on the first."""
    train, val = (read_pairs(folder, name, "en", "fr").pairs for name in ("train", "val"))
    tokenizer = BytePairTokenizer.train([text for pair in train for text in pair], VOCABULARY)
    fits = lambda pair: max(len(tokenizer.encode(text)) for text in pair) < MOST
    known = {source for source, _ in train}
    new = tuple(pair for pair in val if fits(pair) and pair[0] not in known)
    return tuple(filter(fits, train)), new, tokenizer


def untrained(kind: str, words: int, seed: int) -> nn.Module:
    """Return an untrained model; a recurrent one is as wide as gives it the Transformer's number of parameters."""
    config = TransformerConfig(source_vocab_size=words, target_vocab_size=words, dropout=DROPOUT, **SIZES)
    if kind.startswith(TRANSFORMER):
        model = CachedTransformer(config)
        return with_positions(model, "rotary") if kind == ROTARY else model
    SETTINGS["d_model"] = SIZES["d_model"]
    wanted = parameters(CachedTransformer(config))

    def recurrent(hidden: int) -> nn.Module:
        HIDDEN[kind, True] = hidden
        return recurrent_model(kind, words, True, DROPOUT)

    torch.manual_seed(seed)
    model = recurrent(min(range(200, 500, 2), key=lambda hidden: abs(parameters(recurrent(hidden)) - wanted)))
    torch.manual_seed(seed)
    return model


def one_run(folder: Path, run: Run) -> dict[str, Any]:
    """Train to the end, or from the checkpoint on; return what was measured, and the translations of the best weights."""
    train, new, tokenizer = corpus_and_tokenizer(folder)
    pairs = encode_pairs(tokenizer, train)
    held_out = token_batches(encode_pairs(tokenizer, new), 4000)
    sources, references = (list(side) for side in zip(*new, strict=True))
    torch.manual_seed(run.seed)
    model = untrained(run.kind, len(tokenizer), run.seed).train()
    optimizer = transformer_optimizer(model, run.rate)
    schedule = NoamSchedule(optimizer, SIZES["d_model"], run.warmup)
    (paper,) = schedule.lr_lambdas
    if run.cooldown:
        schedule.lr_lambdas = [lambda done: paper(done) * min(1.0, (run.steps - done) / run.cooldown)]
    at = {"step": 0, "epoch": 0, "batch": 0, "tokens": 0, "seconds": 0.0, "curve": [], "best": float("inf")}
    best: dict[str, torch.Tensor] = {}
    kept = Path("_build") / NAME / f"{', '.join(map(str, tuple(run)))}.pt"
    parts = {"model": model, "optimizer": optimizer, "schedule": schedule}
    if kept.exists():
        saved = torch.load(kept, weights_only=True)
        for name, part in parts.items():
            part.load_state_dict(saved[name])
        torch.set_rng_state(saved["random"])
        at, best = saved["at"], saved["best"]

    def translations() -> list[str]:
        return Translator(model.eval(), tokenizer).translate(sources)

    while at["step"] < run.steps:
        batches = token_batches(pairs, MAX_TOKENS, seed=1000 * run.seed + at["epoch"])
        for batch in batches[at["batch"] :]:
            start = time.process_time()
            training_step(model, batch, optimizer, smoothing=SMOOTHING, max_grad_norm=CLIP)
            schedule.step()
            at["seconds"] += time.process_time() - start
            at["tokens"] += batch.num_tokens
            at["step"] += 1
            at["batch"] += 1
            if at["step"] % EVERY:
                continue
            point = {name: at[name] for name in ("step", "tokens", "seconds")} | {"loss": evaluate(model, held_out)}
            if at["step"] % BLEU_EVERY == 0:
                point["bleu"] = BLEU().corpus_score(translations(), [references]).score
                model.train()
            at["curve"].append(point)
            if point["loss"] < at["best"]:
                at["best"], best = point["loss"], {name: tensor.clone() for name, tensor in model.state_dict().items()}
            kept.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(kept) as file:
                states = {name: part.state_dict() for name, part in parts.items()}
                torch.save({**states, "random": torch.get_rng_state(), "at": at, "best": best}, file)
            if at["step"] == run.steps:
                break
        else:
            at["epoch"] += 1
            at["batch"] = 0
    model.load_state_dict(best)
    return {"parameters": parameters(model), "processor": processor(), "curve": at["curve"], "translations": translations()}


def compared(first: list[str], second: list[str], references: list[str]) -> float:
    """Return sacrebleu's paired bootstrap p-value for the lead of one list of translations over another."""
    test = PairedTest([("first", first), ("second", second)], {"BLEU": BLEU()}, [references], test_type="bs", n_samples=1000)
    return test()[1]["BLEU"][1].p_value


def step_costs(folder: Path) -> dict[str, float]:
    """Return the median time of each kind's step, in the Transformer's: all take the same batches, one after the other."""
    torch.set_num_threads(1)
    train, _, tokenizer = corpus_and_tokenizer(folder)
    steps, seconds = {}, {kind: [] for kind in KINDS}
    for kind in KINDS:
        model = untrained(kind, len(tokenizer), 0).train()
        optimizer = transformer_optimizer(model, 1e-4)
        steps[kind] = partial(training_step, model, optimizer=optimizer, smoothing=SMOOTHING, max_grad_norm=CLIP)
    for batch in token_batches(encode_pairs(tokenizer, train), MAX_TOKENS, seed=0)[:60]:
        for kind, step in steps.items():
            start = time.process_time()
            step(batch)
            seconds[kind].append(time.process_time() - start)
    medians = {kind: statistics.median(some[10:]) for kind, some in seconds.items()}  # the first are not warm
    return {kind: median / medians[TRANSFORMER] for kind, median in medians.items()}


def main() -> None:
    folder, texts = captions(__doc__)
    settings = {**SIZES, "max_tokens": MAX_TOKENS, "dropout": DROPOUT, "smoothing": SMOOTHING, "clip": CLIP}
    with open_json(RESULTS / f"{NAME}.json", "record") as before:
        same = settings.items() <= before["settings"].items()
        old = before["numbers"] if same else {"tries": [], "runs": [], "p values": {}}
    had = {repr(Run(*map(one.get, Run._fields))): one for one in (*old["tries"], *old["runs"])}
    new = [run for run in (*TRIES, *RUNS) if repr(run) not in had]
    made = finish(NAME, {repr(run): partial(one_run, folder, run) for run in new}, repr((settings, texts)))
    sources, references = (list(side) for side in zip(*corpus_and_tokenizer(folder)[1], strict=True))
    score = lambda lines: BLEU().corpus_score(lines, [references]).score
    written = {}
    for run in new:
        one = {**run._asdict(), **made[repr(run)]}
        written[str(run)] = one.pop("translations")
        had[repr(run)] = {**run._asdict(), "loss": one["curve"][-1]["loss"]} if run in TRIES else one
        had[repr(run)] |= {"bleu": score(written[str(run)])} if run in RUNS else {}
    kinds = [[str(run) for run in new if run.kind == kind] for kind in (ROTARY, GRU)]
    numbers = {
        "tries": [had[repr(run)] for run in TRIES],
        "runs": [had[repr(run)] for run in RUNS],
        "translator": score(pretrained_translator("captions").translate(sources)),
        "step costs": step_costs(folder),
        "p values": old["p values"]
        | {f"{one} / {two}": compared(written[one], written[two], references) for one, two in product(*kinds)},
    }
    for run in RUNS:
        print(f"{had[repr(run)]['bleu']:6.2f}  {run}")
    print(f"{numbers['translator']:6.2f}  the translator", numbers["step costs"], sep="\n")
    write_record(NAME, seeds=[0, 1], settings={**settings, "sentences": len(sources), "threads": 1}, numbers=numbers)


if __name__ == "__main__":
    main()
