"""The files of a training run: sentence pairs in, and out come tokenizers, checkpoints, a record and a plot."""

import json
import platform
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from transformer_lib._checkpoints import read_checkpoint
from transformer_lib._files import whole_file
from transformer_lib._lines import read_lines
from transformer_lib.decoding import CachedTransformer
from transformer_lib.seq2seq import EOS_ID
from transformer_lib.transformer import TransformerConfig
from transformer_lib.translation import UNKNOWN_ID, BytePairTokenizer, ParallelCorpus, TextPairs, Translator


@dataclass(frozen=True)
class SentencePairs:
    """The pairs of two line-aligned files, and how many lines were left out because a side was empty."""

    pairs: TextPairs
    empty: int


def read_pairs(folder: Path, name: str, source: str, target: str) -> SentencePairs:
    """Return the pairs of `folder/name.source` and `folder/name.target`, each plain or with `.gz` behind it.

    Raises `ValueError` that names the file: missing, not UTF-8, empty, or not equally long.
    """
    paths = [find_file(folder, f"{name}.{language}") for language in (source, target)]
    corpus = ParallelCorpus.from_files(*paths)
    return SentencePairs(corpus.train, len(read_lines(paths[0])) - len(corpus.train))


def find_file(folder: Path, name: str) -> Path:
    """Return the file `name` of `folder`, or `name.gz`; raise `ValueError` where there is neither."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise ValueError(f"there is no file {folder / name}, and no {name}.gz")


def has_files(folder: Path, name: str) -> bool:
    """Say whether `folder` has any file `name.*`."""
    return any(folder.glob(f"{name}.*"))


class TwoTokenizers(BytePairTokenizer):
    """A tokenizer for each language, in place of one for both: it reads with the first and writes with the second."""

    def __init__(self, source: BytePairTokenizer, target: BytePairTokenizer) -> None:
        super().__init__(source.backend)
        self.source, self.target = source, target

    def decode(self, ids: Iterable[int]) -> str:
        return self.target.decode(ids)


def train_tokenizers(pairs: TextPairs, vocab_size: int, joint: bool) -> TwoTokenizers:
    """Return the tokenizers of both languages; where they are joint, they are one and the same."""
    sides = [[pair[side] for pair in pairs] for side in (0, 1)]
    if joint:
        one = BytePairTokenizer.train(sides[0] + sides[1], vocab_size)
        return TwoTokenizers(one, one)
    return TwoTokenizers(*(BytePairTokenizer.train(texts, vocab_size) for texts in sides))


def encode(tokenizers: TwoTokenizers, pairs: TextPairs) -> list[tuple[list[int], list[int]]]:
    """Return the ids of each pair, each side by its own tokenizer; the target's end in EOS."""
    return [(tokenizers.source.encode(one), [*tokenizers.target.encode(other), EOS_ID]) for one, other in pairs]


class TextTranslator(Translator):
    """A `Translator` for text as people write it: a letter that training never had is read as the unknown token.

    It translates short sentences together and long ones together, and an empty line stays empty.
    """

    def read(self, text: str) -> list[int]:
        ids = [max(index, UNKNOWN_ID) for index in self.tokenizer.encode(" ".join(text.split()))]
        if len(ids) > self.model.max_len:
            raise ValueError(f"text must have at most {self.model.max_len} tokens, but {text[:30]!r}… has {len(ids)}")
        return ids

    def translate_lines(self, lines: Sequence[str], beam: int = 4, alpha: float = 0.6) -> list[str]:
        """Return the translation of each line, in the order of the lines."""
        translated = [""] * len(lines)
        full = sorted((place for place, line in enumerate(lines) if line.strip()), key=lambda place: len(lines[place]))
        for place, text in zip(full, self.translate([lines[place] for place in full], beam, alpha), strict=True):
            translated[place] = text
        return translated


@dataclass(frozen=True)
class RunFolder:
    """The folder that `transformer-train` writes and `transformer-translate` reads."""

    path: Path

    @property
    def record(self) -> Path:
        return self.path / "run.json"

    @property
    def checkpoint(self) -> Path:
        return self.path / "last.pt"

    def tokenizer(self, side: str) -> Path:
        return self.path / f"tokenizer.{side}.json"

    def kept(self, step: int) -> Path:
        """Return where the weights of `step` are kept until they are averaged."""
        return self.path / f"step-{step:07}.pt"

    def all_kept(self) -> list[Path]:
        """Return the kept weights, the earliest step first."""
        return sorted(self.path.glob("step-*.pt"))

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

    def save_tokenizers(self, tokenizers: TwoTokenizers) -> None:
        tokenizers.source.save(self.tokenizer("source"))
        tokenizers.target.save(self.tokenizer("target"))

    def load_tokenizers(self) -> TwoTokenizers:
        return TwoTokenizers(*(BytePairTokenizer.load(self.tokenizer(side)) for side in ("source", "target")))

    def read_record(self) -> dict[str, Any]:
        """Return the record, or raise `ValueError` where the folder holds none."""
        try:
            return json.loads(self.record.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"{self.path} is not the folder of a training run: {self.record.name}: {error}") from None

    def write_record(self, record: dict[str, Any]) -> None:
        versions = {"python": platform.python_version()}
        versions |= {name: version(name) for name in ("torch", "tokenizers", "sacrebleu")}
        text = json.dumps({**record, "versions": versions}, indent=1, ensure_ascii=False) + "\n"
        with whole_file(self.record) as file:
            file.write(text.encode())

    def load(self, name: str | None = None) -> TextTranslator:
        """Return the translator of the weights `name`; by default of those that scored best on the validation set."""
        record = self.read_record()
        config = TransformerConfig(**record["model"])
        weights = self.path / (name or record.get("chosen") or "last.pt")
        tokenizers = self.load_tokenizers()
        fit_vocabulary(self, weights, tokenizers, config)
        model = CachedTransformer(config)
        model.load_state_dict(read_checkpoint(weights, model)["model"])
        return TextTranslator(model.eval(), tokenizers)


def fit_vocabulary(folder: RunFolder, weights: Path, tokenizers: TwoTokenizers, config: TransformerConfig) -> None:
    """Check that each tokenizer has as many tokens as the model that reads and writes them."""
    sizes = {"source": config.source_vocab_size, "target": config.target_vocab_size}
    for side, expected in sizes.items():
        found = len(getattr(tokenizers, side))
        if found != expected:
            raise ValueError(
                f"{folder.tokenizer(side)} does not fit the checkpoint {weights}: "
                f"the vocabulary has {found} tokens, and the model was trained with {expected}"
            )


def model_record(config: TransformerConfig) -> dict[str, Any]:
    """Return `config` as plain JSON, from which `TransformerConfig(**…)` makes it again."""
    return asdict(config)


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


def curve_svg(losses: Sequence[float], validation: dict[int, float], title: str) -> str:
    """Return a drawing of a run: the training loss (means of 1/200 of the run) as a line, the validation loss as points."""
    width, height, left, top = 640, 360, 60, 40
    size = max(1, len(losses) // 200)
    line = [
        (start + size / 2, sum(part) / len(part))
        for start in range(0, len(losses), size)
        if (part := losses[start : start + size])
    ]
    points = sorted(validation.items())
    values = [value for _, value in [*line, *points]] or [0.0]
    low, high = min(values), max(values)
    high = high if high > low else low + 1

    def at(step: int | float, value: int | float) -> str:
        x = left + (width - left - 20) * step / max(1, len(losses))
        y = top + (height - top - 50) * (high - value) / (high - low)
        return f"{x:.1f},{y:.1f}"

    ticks = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        value = low + share * (high - low)
        x, y = at(0, value).split(",")
        ticks.append(f'<text x="{left - 8}" y="{y}" text-anchor="end" dominant-baseline="middle">{value:.2f}</text>')
        ticks.append(f'<line x1="{x}" y1="{y}" x2="{width - 20}" y2="{y}" stroke="#ddd"/>')
        x, y = at(share * len(losses), low).split(",")
        ticks.append(f'<text x="{x}" y="{float(y) + 18}" text-anchor="middle">{round(share * len(losses)):,}</text>')
    dots = [f'<circle cx="{x}" cy="{y}" r="4" fill="#d55e00"/>' for x, y in (at(*point).split(",") for point in points)]
    path = " ".join(at(*place) for place in line)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
            f'<title>{title}</title><rect width="{width}" height="{height}" fill="white"/>',
            f'<text x="{left}" y="22" font-size="14">{title}</text>',
            *ticks,
            f'<polyline points="{path}" fill="none" stroke="#0072b2" stroke-width="1.5"/>',
            *dots,
            f'<text x="{(left + width) / 2}" y="{height - 8}" text-anchor="middle">step</text>',
            f'<text x="{width - 20}" y="22" text-anchor="end">'
            '<tspan fill="#0072b2">— training loss, smoothed labels</tspan>'
            '  <tspan fill="#d55e00">● validation loss</tspan></text>',
            "</svg>",
            "",
        ]
    )
