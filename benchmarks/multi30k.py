"""Train chapter 16's command on Multi30k, English to French, and write what came out: the record, and the library's translator.

    python -m benchmarks.multi30k [FOLDER] [--out RUN] [OPTION OF transformer-train ...]

FOLDER holds `train.en`, `train.fr`, `val.en` and `val.fr`, plain or `.gz`; without one they are fetched. A command that was
stopped goes on where it was; further options replace those below.
"""

import argparse
import hashlib
import re
from pathlib import Path
from typing import Any

from benchmarks.records import write_made_with, write_record
from benchmarks.translation import PRETRAINED
from transformer_lib._commands import train_command
from transformer_lib._named_data import folder_of
from transformer_lib._runs import RunFolder, TextTranslator, read_pairs
from transformer_lib.translation import TextPairs, Translator, corpus_bleu

NAME = "multi30k"
OPTIONS = (
    "--source en --target fr --config tiny --num-layers 4 --d-model 128 --num-heads 4 --d-ff 256 --pre-norm --dropout 0.2 "
    "--vocabulary joint --vocab-size 5000 --max-tokens 800 --steps 20000 --every 1000 --average 5 "
    "--learning-rate 1.0 --warmup 1000 --seed 0"
)
# Chapter 16 asks how often the training sentences had what it translates.
WORDS = ("man", "not", "I", "theory", "vend", "vendent")


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
    kept = ("parameters", "pairs", "padding", "steps", "seconds", "target_tokens_per_second", "scores", "chosen")
    numbers = {name: run[name] for name in (*kept, "device", "processes")}
    validation = {step: round(loss, 4) for step, loss in run["curve"]["validation_losses"].items()}
    return {**numbers, "losses": thinned(run["curve"]["losses"]), "validation_losses": validation}


def keep(folder: RunFolder, run: dict[str, Any], data: Path) -> None:
    """Write the chosen weights, in half precision, as the library's `captions`, and beside them how well these translate."""
    path = PRETRAINED / "captions.pt"
    own = folder.load()
    sentences = [english for english, _ in read_pairs(data, "train", "en", "fr").pairs]
    Translator(own.model, own.tokenizer, own.target_tokenizer, sentences).save(path)  # with the words of training
    halved = Translator.load(path)
    sources, references = (list(side) for side in zip(*read_pairs(data, "val", "en", "fr").pairs, strict=True))
    translator = TextTranslator(halved.model, halved.tokenizer, halved.target_tokenizer)
    bleu = corpus_bleu([*translator.translate_lines(sources)], references)
    about = {name: run[name] for name in ("settings", "steps", "parameters")}
    write_made_with(path, NAME, **about, bleu=bleu.score, signature=bleu.signature)


def captions(description: str) -> tuple[Path, str]:
    """Return the folder that a command names, or of captions that are fetched, and a sum of what is in it."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=Path(NAME), metavar="FOLDER")
    folder = folder_of(parser.parse_args().data, ["en", "fr"])
    texts = b"".join(path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file())
    return folder, hashlib.sha256(texts).hexdigest()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=Path(NAME), metavar="FOLDER")
    parser.add_argument("--out", type=Path, default=Path("_build") / NAME, help="folder of the run")
    given, more = parser.parse_known_args(arguments)
    train_command(["--data", str(given.data), "--out", str(given.out), "--resume", *OPTIONS.split(), *more])
    folder = RunFolder(given.out)
    run = folder.read_record()
    data = folder_of(given.data, ["en", "fr"])
    numbers = numbers_of(run) | {"pairs_with": pairs_with(read_pairs(data, "train", "en", "fr").pairs)}
    write_record(NAME, seeds=[run["settings"]["seed"]], settings=run["settings"], numbers=numbers)
    keep(folder, run, data)


if __name__ == "__main__":
    main()
