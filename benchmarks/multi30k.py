"""Train chapter 15's command on Multi30k, English to French, and write what came out as the record.

    python -m benchmarks.multi30k FOLDER [--out RUN] [OPTION OF transformer-train ...]

FOLDER holds `train.en`, `train.fr`, `val.en` and `val.fr`, plain or `.gz`. The captions do not come with the course: without a
folder the record stays as it is. A command that was stopped goes on where it was; further options replace those below.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.records import write_record
from transformer_lib.scaling import train_command

NAME = "multi30k"
OPTIONS = (
    "--source en --target fr --config tiny --num-layers 4 --d-model 128 --num-heads 4 --d-ff 256 --dropout 0.3 "
    "--vocabulary joint --vocab-size 10000 --max-tokens 4000 --steps 6000 --every 500 --average 5 "
    "--learning-rate 1.0 --warmup 2000 --seed 0"
)


def thinned(losses: list[float], count: int = 200) -> list[float]:
    """Return the means of about `count` equal parts of `losses`."""
    size = max(1, len(losses) // count)
    parts = (losses[start : start + size] for start in range(0, len(losses), size))
    return [round(sum(part) / len(part), 4) for part in parts]


def numbers_of(run: dict[str, Any]) -> dict[str, Any]:
    """Return what the record keeps of a run's own `run.json`."""
    kept = ("parameters", "pairs", "padding", "steps", "seconds", "target_tokens_per_second", "scores", "chosen")
    numbers = {name: run[name] for name in (*kept, "device", "processes")}
    validation = {step: round(loss, 4) for step, loss in run["curve"]["validation_losses"].items()}
    return {**numbers, "losses": thinned(run["curve"]["losses"]), "validation_losses": validation}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--out", type=Path, default=Path("_build") / NAME, help="folder of the run")
    given, more = parser.parse_known_args(arguments)
    if given.folder is None:
        print("This record needs Multi30k, which does not come with the course: it stays as it is.")
        return
    train_command(["--data", str(given.folder), "--out", str(given.out), "--resume", *OPTIONS.split(), *more])
    run = json.loads((given.out / "run.json").read_text(encoding="utf-8"))
    write_record(NAME, seeds=[run["settings"]["seed"]], settings=run["settings"], numbers=numbers_of(run))


if __name__ == "__main__":
    main()
