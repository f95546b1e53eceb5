"""Train chapter 16's command on Multi30k several times; the best is kept: the record, and the library's translator of captions.

    python -m benchmarks.multi30k [FOLDER] [--out RUNS]

FOLDER holds `train.en`, `train.fr`, `train.de` and `val.*`, plain or `.gz`; without one they are fetched. Each of TRIES is a
run in a folder of its own in RUNS. A command that was stopped goes on where it was; a try that the record has is not made
again.
"""

import argparse
import hashlib
import re
from datetime import date
from pathlib import Path
from typing import Any

from sacrebleu.metrics import BLEU

from benchmarks.records import RESULTS, write_made_with, write_record
from benchmarks.translation import PRETRAINED
from tools.machine import processor
from transformer_lib.checkpoint import open_json
from transformer_lib.cli import RunFolder, TextTranslator, train_command
from transformer_lib.data import read_pairs, translation_folder
from transformer_lib.training import average_checkpoints
from transformer_lib.translation import TextPairs, Translator

NAME = "multi30k"
ALL = (
    "--source en --target fr --config tiny --num-layers 4 --d-model 128 --num-heads 4 --d-ff 256 --vocabulary joint "
    "--average 10 --seed 0"
)
LARGE = "--dropout 0.3 --max-tokens 2000 --every 500 --learning-rate 2.5 --warmup 2000"
SMALL = "--max-tokens 1000 --learning-rate 1.5 --warmup 4000"
TRIES = {
    "rate 2.5, vocabulary 3,000": f"--vocab-size 3000 {LARGE} --steps 3000",
    "rate 2.5": f"--vocab-size 5000 {LARGE} --steps 3500",
    "vocabulary 10,000, dropout 0.2": f"--vocab-size 10000 --dropout 0.2 {SMALL} --every 500 --steps 5000",
    "dropout 0.2": f"--vocab-size 5000 --dropout 0.2 {SMALL} --every 1000 --steps 11000",
    "dropout 0.2, pre-norm": f"--vocab-size 5000 --dropout 0.2 --pre-norm {SMALL} --every 1000 --steps 11000",
    "dropout 0.3": f"--vocab-size 5000 --dropout 0.3 {SMALL} --every 1000 --steps 31000",
    "dropout 0.3, cool-down": f"--vocab-size 5000 --dropout 0.3 {SMALL} --every 1000 --steps 64000 --cooldown 22000",
    "to German": f"--target de --vocab-size 5000 --dropout 0.2 {SMALL} --every 1000 --steps 14000 --cooldown 5000",
}
# Chapter 16 asks how often the training sentences had what it translates.
WORDS = ("man", "not", "I", "theory", "vend", "vendent")
COUNTS = (1, 5, 10)  # of the last checkpoints, that are averaged


def thinned(losses: list[float], count: int = 200) -> list[float]:
    """Return the means of about `count` equal parts of `losses`."""
    size = max(1, len(losses) // count)
    parts = (losses[start : start + size] for start in range(0, len(losses), size))
    return [round(sum(part) / len(part), 4) for part in parts]


def pairs_with(pairs: TextPairs) -> dict[str, int]:
    """Return in how many pairs each of WORDS stands, on either side."""
    split = [set(re.findall(r"\w+", f"{source} {target}")) for source, target in pairs]
    return {word: sum(word in words for words in split) for word in WORDS}


def numbers_of(run: dict[str, Any]) -> dict[str, Any]:
    """Return what the record keeps of a run's own `run.json`."""
    kept = ("settings", "parameters", "pairs", "padding", "steps", "seconds", "target_tokens_per_second", "scores", "chosen")
    numbers = {name: run[name] for name in (*kept, "device", "processes")}
    validation = {step: round(loss, 4) for step, loss in run["curve"]["validation_losses"].items()}
    return {**numbers, "losses": thinned(run["curve"]["losses"]), "validation_losses": validation}


def cased_and_lower(translations: list[str], references: list[str]) -> dict[str, dict[str, Any]]:
    """Return BLEU with capitals and without, each with its signature."""
    found = {}
    for name, metric in (("bleu", BLEU()), ("lower", BLEU(lowercase=True))):
        found[name] = {"score": metric.corpus_score(translations, [references]).score, "signature": str(metric.get_signature())}
    return found


def scores(translator: Translator, pairs: TextPairs) -> dict[str, Any]:
    """Return the scores of a beam of 4, as the command searches."""
    sources, references = (list(side) for side in zip(*pairs, strict=True))
    own = TextTranslator(translator.model, translator.tokenizer, translator.target_tokenizer)
    return cased_and_lower([*own.translate_lines(sources)], references)


def one_try(data: Path, out: Path, options: str) -> dict[str, Any]:
    """Train with these options, unless it is done; return the run's numbers."""
    folder = RunFolder(out)
    if not (folder.record.exists() and "scores" in folder.read_record()):
        train_command(["--data", str(data), "--out", str(out), "--resume", *ALL.split(), *options.split()])
    return {"options": options, "date": date.today().isoformat(), "processor": processor(), **numbers_of(folder.read_record())}


def keep(folder: RunFolder, data: Path) -> dict[str, Any]:
    """Write the chosen weights, in half precision, as the library's `captions`, and beside them how well these translate.

    Return that, and the scores of the mean of the last checkpoints, for each of COUNTS.
    """
    path = PRETRAINED / "captions.pt"
    own = folder.load()
    train, val = (read_pairs(data, part, "en", "fr").pairs for part in ("train", "val"))
    # With the words of training.
    Translator(own.model, own.tokenizer, own.target_tokenizer, [english for english, _ in train]).save(path)
    found = scores(Translator.load(path), val)
    run = folder.read_record()
    about = {name: run[name] for name in ("settings", "steps", "parameters")}
    write_made_with(path, NAME, **about, bleu=found["bleu"]["score"], signature=found["bleu"]["signature"])
    found["means"] = {}
    for count in COUNTS:
        average_checkpoints(folder.kept()[-count:], own.model)
        found["means"][str(count)] = scores(own, val)["bleu"]["score"]
    return found


def captions(description: str) -> tuple[Path, str]:
    """Return the folder that a command names, or of captions that are fetched, and a sum of what is in it."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=Path(NAME), metavar="FOLDER")
    folder = translation_folder(parser.parse_args().data, ["en", "fr"])
    texts = b"".join(path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file())
    return folder, hashlib.sha256(texts).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=Path(NAME), metavar="FOLDER")
    parser.add_argument("--out", type=Path, default=Path("_build") / NAME, metavar="RUNS", help="folder of the runs")
    given = parser.parse_args()
    data = translation_folder(given.data, ["en", "fr", "de"])
    with open_json(RESULTS / f"{NAME}.json", "record") as before:
        numbers = before["numbers"]
    done = {name: one for name, one in numbers["tries"].items() if one["options"] == TRIES.get(name)}
    tries = {name: done.get(name) or one_try(data, given.out / name, options) for name, options in TRIES.items()}
    score = lambda name: tries[name]["scores"][tries[name]["chosen"]]["bleu"]
    best = max((name for name, one in tries.items() if one["settings"]["target"] == "fr"), key=score)
    if best not in done:
        numbers["kept"] = keep(RunFolder(given.out / best), data)
    for name in tries:
        print(f"{score(name):6.1f}  {name}")
    words = pairs_with(read_pairs(data, "train", "en", "fr").pairs)
    numbers = {"tries": tries, "best": best, "kept": numbers["kept"], "pairs_with": words}
    write_record(NAME, seeds=[0], settings={"all": ALL, "tries": TRIES}, numbers=numbers)


if __name__ == "__main__":
    main()
