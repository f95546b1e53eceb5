"""Chapter 14's nine runs: a GRU, a GRU with attention and a Transformer, three seeds each, on three test sets.

Each finished run is kept in a temporary file, so that a run that was stopped goes on where it was. The Transformer of
seed 0 becomes the translator that comes with the library.
"""

import hashlib
import json
import platform
import tempfile
from pathlib import Path
from typing import Any

import tokenizers
import torch

import transformer_lib
from benchmarks.records import write_record
from transformer_lib._files import whole_file
from transformer_lib.teaching.experiments import translation
from transformer_lib.teaching.experiments.translation import (
    MODELS,
    RATES,
    SETS,
    SETTINGS,
    corpus_and_tokenizer,
    measure,
    parameters,
    train_translator,
)
from transformer_lib.translation import Translator

NAME = "translation"
SEEDS = [0, 1, 2]
# Outside the repository: it is worth something only until the record is whole.
FINISHED = Path(tempfile.gettempdir()) / f"transformer-lib-{NAME}.json"
PRETRAINED = Path(transformer_lib.__file__).parent / "pretrained"


def fingerprint() -> str:
    """Return a short sum of what the runs depend on: runs of another setting must not be mixed with these."""
    code = Path(translation.__file__).read_bytes()
    corpus, tokenizer = corpus_and_tokenizer()
    return hashlib.sha256(code + repr(corpus).encode() + tokenizer.backend.to_str().encode()).hexdigest()


def read_finished(path: Path, settings: str) -> dict[str, Any]:
    """Return the runs that `path` holds, if they were made with these settings."""
    if not path.exists():
        return {}
    saved = json.loads(path.read_text(encoding="utf8"))
    return saved["runs"] if saved["settings"] == settings else {}


def write_finished(path: Path, settings: str, runs: dict[str, Any]) -> None:
    """Write the runs as a whole or not at all."""
    with whole_file(path) as file:
        file.write(json.dumps({"settings": settings, "runs": runs}).encode())


def keep(translator: Translator, held_out: tuple[tuple[str, str], ...], seed: int) -> None:
    """Write the library's translator, and beside it how it was made and what it can do."""
    PRETRAINED.mkdir(exist_ok=True)
    path = PRETRAINED / "translator.pt"
    translator.save(path)
    scores = measure(Translator.load(path), held_out)
    note = {
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "command": f"python -m benchmarks.{NAME}",
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "tokenizers": tokenizers.__version__,
        },
        "seed": seed,
        "settings": {**SETTINGS, "rate": RATES["Transformer"]},
        "parameters": parameters(translator.model),
        "held_out": {name: scores[name] for name in ("bleu", "signature", "exact_match")},
    }
    text = json.dumps(note, indent=1, ensure_ascii=False) + "\n"
    path.with_suffix(".json").write_text(text, encoding="utf8")


def one_run(name: str, seed: int) -> dict[str, Any]:
    """Train one model from one seed, and measure it on each of the test sets."""
    corpus, tokenizer = corpus_and_tokenizer()
    translator, history = train_translator(name, corpus, tokenizer, seed=seed)
    if (name, seed) == ("Transformer", SEEDS[0]):
        keep(translator, corpus.held_out, seed)
    return {
        "parameters": parameters(translator.model),
        "losses": [round(sum(history.losses[i : i + 25]) / 25, 4) for i in range(0, len(history.losses) - 24, 25)],
        **{which: measure(translator, getattr(corpus, which)) for which in SETS},
    }


def main() -> None:
    torch.set_num_threads(1)  # so that the same numbers come out wherever this runs
    settings = fingerprint()
    runs = read_finished(FINISHED, settings)
    print(f"{'model':20}{'seed':>5}{'parameters':>12}   BLEU, exact match: " + ", ".join(SETS))
    for seed in SEEDS:
        for name in MODELS:
            key = f"{name}, seed {seed}"
            if key not in runs:
                runs[key] = one_run(name, seed)
                write_finished(FINISHED, settings, runs)
            run = runs[key]
            scores = "".join(f"{run[which]['bleu']:8.1f}{run[which]['exact_match']:7.3f}" for which in SETS)
            print(f"{name:20}{seed:5}{run['parameters']:12,}{scores}", flush=True)
    numbers = {name: [runs[f"{name}, seed {seed}"] for seed in SEEDS] for name in MODELS}
    write_record(NAME, seeds=SEEDS, settings={**SETTINGS, "rates": RATES, "threads": 1}, numbers=numbers)
    FINISHED.unlink()


if __name__ == "__main__":
    main()
