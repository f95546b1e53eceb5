"""The files of a training run: sentence pairs in, and out come tokenizers, checkpoints and a record."""

import hashlib
import json
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout

from transformer_lib import _checks as check
from transformer_lib._checkpoints import read_checkpoint
from transformer_lib._lines import find_file, read_line_pairs
from transformer_lib._store import check_buildable, check_like, read_json, stored, write_json
from transformer_lib.decoding import CachedTransformer
from transformer_lib.encoder import TransformerConfig
from transformer_lib.translation import BytePairTokenizer, TextPairs, Translator

# Lines that are sorted by their length before they are translated: more are faster, and appear later.
AT_A_TIME = 1000

# What the fields of a run's record must be like. The last two come when the run is finished; records of before lack some.
_COUNTS = {"train": 0, "val": 0}
_CURVE = {"losses": [float, ...], "learning_rates": [0.0, ...], "validation_losses": {str: float}, "tokens": 0, "seconds": 0.0}
RECORD = {
    "settings": dict,
    "processes": 0,
    "device": str,
    "model": dict,
    "parameters": 0,
    "pairs": _COUNTS,
    "empty_lines_left_out": _COUNTS,
    "padding": 0.0,
    "steps": 0,
    "seconds": 0.0,
    "target_tokens_per_second": 0.0,
    "curve": _CURVE,
    "versions": {str: str},
    "scores": {str: dict},
    "chosen": str,
}


@dataclass(frozen=True)
class SentencePairs:
    """The pairs of two line-aligned files, and how many lines were left out because a side was empty."""

    pairs: TextPairs
    empty: int

    @property
    def sha256(self) -> str:
        """The checksum by which a run that goes on knows its data."""
        return hashlib.sha256(json.dumps(self.pairs).encode()).hexdigest()


def read_pairs(folder: Path, name: str, source: str, target: str) -> SentencePairs:
    """Return the pairs of `folder/name.source` and `folder/name.target`, each plain or with `.gz` behind it.

    Raises `ValueError` that names the file: missing, not UTF-8, empty, or not equally long.
    """
    lines = read_line_pairs(*(find_file(folder, f"{name}.{language}") for language in (source, target)))
    pairs = tuple(pair for pair in lines if all(pair))
    return SentencePairs(pairs, len(lines) - len(pairs))


def has_files(folder: Path, name: str) -> bool:
    """Say whether `folder` has any file `name.*`."""
    return any(folder.glob(f"{name}.*"))


class TextTranslator(Translator):
    """A `Translator` for text as people write it: a letter that training never had is read as the unknown token.

    It translates short sentences together and long ones together, and an empty line stays empty.
    """

    def read(self, text: str) -> list[int]:
        """Return the ids of `text`."""
        ids = self.tokenizer.encode(" ".join(text.split()))
        if len(ids) > self.model.max_len:
            raise ValueError(f"text must have at most {self.model.max_len} tokens, but {text[:30]!r}… has {len(ids)}")
        return ids

    def translate_lines(self, lines: Sequence[str], beam_size: int = 4, alpha: float = 0.6) -> Iterator[str]:
        """Yield the translation of each line, in the order of the lines, `AT_A_TIME` after `AT_A_TIME`.

        Raises `ValueError` that names the line, before the first is translated.
        """
        for number, line in enumerate(lines, start=1):
            try:
                if line.strip():
                    self.read(line)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}" if len(lines) > 1 else str(error)) from None
        for start in range(0, len(lines), AT_A_TIME):
            window = lines[start : start + AT_A_TIME]
            translated = [""] * len(window)
            full = sorted((place for place, line in enumerate(window) if line.strip()), key=lambda place: len(window[place]))
            texts = self.translate([window[place] for place in full], beam_size, alpha)
            for place, text in zip(full, texts, strict=True):
                translated[place] = text
            yield from translated


@dataclass(frozen=True)
class RunFolder:
    """The folder that `transformer-train` writes and `transformer-translate` reads."""

    path: Path

    @property
    def record(self) -> Path:
        """The file with the run's settings and numbers."""
        return self.path / "run.json"

    @property
    def checkpoint(self) -> Path:
        """The file from which the run goes on."""
        return self.path / "last.pt"

    def tokenizer(self, side: str) -> Path:
        """Return the file of the tokenizer of the "source" or the "target"."""
        return self.path / f"tokenizer.{side}.json"

    def kept(self, step: int) -> Path:
        """Return where the weights of `step` are kept until they are averaged."""
        return self.path / f"step-{step:07}.pt"

    def all_kept(self) -> list[Path]:
        """Return the kept weights, the earliest step first."""
        return sorted(self.path.glob("step-*.pt"))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder where there is none, and keep other runs out of it until the block is done, or the process dies.

        Raises `ValueError` where another run is in it.
        """
        with self.writing():
            self.path.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.path / "run.lock")
            try:
                held = lock.acquire(blocking=False)
            except Timeout:
                raise ValueError(f"--out must be a folder for this run alone, but another run writes to {self.path}") from None
        with held:
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Say which folder could not be written, and how to go on, where the disk is full or read-only.

        torch's writer puts an error of its own in front of the system's.
        """
        try:
            yield
        except (OSError, RuntimeError) as error:
            cause = error if isinstance(error, OSError) else error.__context__
            if not isinstance(cause, OSError):
                raise
            raise OSError(
                f"cannot write to {self.path}: {cause.strerror or cause}. "
                "What was there before is whole: make room, and go on with --resume"
            ) from error

    def train_tokenizers(self, pairs: TextPairs, vocab_size: int, joint: bool) -> None:
        """Write the tokenizers of both languages; where they are joint, they are one and the same."""
        sources, targets = ([pair[side] for pair in pairs] for side in (0, 1))
        if joint:
            source = target = BytePairTokenizer.train(sources + targets, vocab_size)
        else:
            source, target = (BytePairTokenizer.train(texts, vocab_size) for texts in (sources, targets))
        source.save(self.tokenizer("source"))
        target.save(self.tokenizer("target"))

    def load_tokenizers(self, weights: Path | None = None) -> tuple[BytePairTokenizer, BytePairTokenizer]:
        """Return the tokenizers of source and target; where `weights` are named, check that they fit the recorded model."""
        tokenizers = {side: BytePairTokenizer.load(self.tokenizer(side)) for side in ("source", "target")}
        if weights is not None:
            for side, tokenizer in tokenizers.items():
                expected = getattr(self.load_config(), f"{side}_vocab_size")
                if len(tokenizer) != expected:
                    raise ValueError(
                        f"{self.tokenizer(side)} does not fit the checkpoint {weights}: "
                        f"the vocabulary has {len(tokenizer)} tokens, and the model was trained with {expected}"
                    )
        return tokenizers["source"], tokenizers["target"]

    def load_config(self) -> TransformerConfig:
        """Return the configuration of the recorded model."""
        return stored(TransformerConfig, self.read_record()["model"])

    def read_record(self) -> dict[str, Any]:
        """Return the record, or raise `ValueError` where the folder holds none."""
        if not self.record.is_file():
            raise ValueError(f"{self.path} is not the folder of a training run: there is no file {self.record}")
        return read_json(self.record, "record of a run", _checked_record)

    def write_record(self, record: dict[str, Any]) -> None:
        """Write the record, with the versions that made it."""
        versions = {"python": platform.python_version()}
        versions |= {name: version(name) for name in ("torch", "tokenizers", "sacrebleu")}
        write_json(self.record, "record of a run", {**record, "versions": versions}, indent=1)

    def load(self, name: str | None = None) -> TextTranslator:
        """Return the translator of the weights `name`; by default of those that scored best on the validation set."""
        weights = self.path / (name or self.read_record().get("chosen") or "last.pt")
        tokenizers, config = self.load_tokenizers(weights), self.load_config()
        check_buildable(str(self.record), config, weights.stat().st_size)
        model = CachedTransformer(config)
        model.load_state_dict(read_checkpoint(weights, model)["model"])
        return TextTranslator(model.eval(), *tokenizers)


def _checked_record(record: dict[str, Any]) -> dict[str, Any]:
    """Return `record` if each of its fields is what it must be."""
    check_like("it", record, {name: like for name, like in RECORD.items() if name in [*record, "settings", "model"]})
    stored(TransformerConfig, record["model"])
    check.one_of(["best.pt", "averaged.pt", "last.pt"], chosen=record.get("chosen", "last.pt"))
    return record


def choose_device(name: str, local_rank: int | None = None) -> torch.device:
    """Return the device called `name`; `auto` is a GPU where there is one. Each process of a machine has its own GPU.

    Raises `ValueError` that names the argument where this machine has no such device.
    """
    here = ["cpu", *(f"cuda:{index}" for index in range(torch.cuda.device_count()))]
    if torch.backends.mps.is_available():
        here.append("mps")
    if name == "auto":
        name = "cuda" if len(here) > 1 and here[1].startswith("cuda") else here[-1]
    if name == "cuda":
        name = f"cuda:{local_rank or 0}"
    if name not in here:
        raise ValueError(f"--device must be auto or a device of this machine ({', '.join(here)}), but it is {name!r}")
    return torch.device(name)
