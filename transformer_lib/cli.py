"""The commands: `transformer-train` trains a translator on text files, `transformer-translate` uses it."""

import argparse
import hashlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout
from torch import nn

from transformer_lib._language import _
from transformer_lib.checkpoint import atomic_write, load_checkpoint, open_json, save_checkpoint, sizes_of, write_json
from transformer_lib.data import SentencePairs, read_pairs, split_lines, translation_folder
from transformer_lib.decoding import CachedTransformer
from transformer_lib.encoder import TransformerConfig
from transformer_lib.pieces import known_letters
from transformer_lib.progress import progress
from transformer_lib.scaling import DistributedStep, ProcessGroup, use_fused_attention, wrap_model
from transformer_lib.schedule import NoamSchedule, transformer_optimizer
from transformer_lib.training import Checkpoint, History, IdPair, Validation, average_checkpoints, token_batches, train
from transformer_lib.translation import (
    BytePairTokenizer,
    Translator,
    corpus_bleu,
    encode_pairs,
    normalise_text,
    pretrained_translator,
)
from transformer_lib.validation import check_not_empty

SIZES = ("num_layers", "d_model", "num_heads", "d_ff", "dropout")
# Section 5 of the paper, English-German: 25,000 tokens of each side in a batch, here in 8 parts; no limit for gradients.
# Section 6.1: checkpoints every 10 minutes (of 0.4 s a step, for the big model 1.0 s), the last 5 averaged, or 20.
RECIPES = {
    "small": {},
    "paper": {
        "config": "base", "vocab_size": 37_000, "max_tokens": 25_000, "accumulation_steps": 8, "steps": 100_000, "every": 1500,
        "learning_rate": 1.0, "warmup": 4000, "max_grad_norm": 1e9,
    },
}  # fmt: skip
BIG_MODEL = {"steps": 300_000, "every": 600, "average": 20}

# What may differ when a run goes on: where it runs, how long, and what is done with the weights afterwards.
RESUMABLE_OPTIONS = {"device", "steps", "cooldown", "average", "beam_size", "alpha", "accumulation_steps"}
VALIDATION_NAMES = ("val", "valid", "validation", "dev")
NOT_RECORDED = {"data", "out", "resume", "recipe"}  # paths of this machine; and what a recipe says stands in the other options


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line, without its long list of options."""

    def error(self, message: str) -> None:
        self.exit(2, f"{self.prog}: {message}\n")


def number(kind: type, least: int | float, most: int | float = math.inf) -> Callable[[str], int | float]:
    """Return what turns the text of an option into a number in `least … most`."""

    def convert(text: str) -> int | float:
        value = kind(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(_("must be in {least} … {most}, but it is {text}", least=least, most=most, text=text))
        return value

    convert.__name__ = kind.__name__  # argparse says it about what is no number
    return convert


def train_parser() -> Parser:
    parser = Parser(
        prog="transformer-train",
        description=_("Train a Transformer to translate, on a folder of line-aligned text files."),
        epilog=_("Several processes: torchrun --nproc-per-node 2 -m transformer_lib, with the same arguments."),
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add, count = parser.add_argument, number(int, 1)
    add("--data", type=Path, required=True, help=_("folder with train.* and val.* (or valid.*, dev.*), plain or .gz; or multi30k, fetched once"))
    add("--out", type=Path, required=True, help=_("folder for checkpoints, tokenizers and the record"))
    add("--source", default="en", help=_("ending of the files to read"))
    add("--target", default="fr", help=_("ending of the files to write"))
    add("--recipe", choices=list(RECIPES), default="small", help=_("small: the defaults below; paper: the paper's training"))
    add("--config", choices=["tiny", "base", "big"], default="tiny", help=_("sizes of the model; base and big are the paper's"))
    for name in SIZES:
        kind = number(float, 0, 1) if name == "dropout" else count
        add(f"--{name.replace('_', '-')}", type=kind, help=_("in place of the configuration's"))
    add("--pre-norm", action="store_true", help=_("normalise before each sublayer; the paper does it after the sum"))
    add("--vocabulary", choices=["joint", "separate"], default="joint", help=_("one for both languages, or one for each"))
    add("--vocab-size", type=count, default=8000, help=_("tokens of a vocabulary at most"))
    add("--max-tokens", type=count, default=4000, help=_("places of one step's batch, in the source and in the target, at most"))
    add("--accumulation-steps", type=count, default=1, help=_("parts in which a process computes its share of a batch"))
    add("--steps", type=count, default=1000, help=_("training steps in all"))
    add("--every", type=count, default=100, help=_("steps from one checkpoint, with its validation loss, to the next"))
    add("--average", type=count, default=5, help=_("how many of the last checkpoints are averaged"))
    add("--learning-rate", type=number(float, 0), default=0.5, help=_("what the paper's schedule is multiplied by"))
    add("--warmup", type=count, default=400, help=_("steps until the rate falls"))
    add("--cooldown", type=number(int, 0), default=0, help=_("last steps, in which the rate falls to 0 as well"))
    add("--smoothing", type=number(float, 0, 0.99), default=0.1, help=_("label smoothing"))
    add("--max-grad-norm", type=number(float, 1e-9, 1e9), default=1.0, help=_("longest gradient"))
    add("--seed", type=number(int, 0, 2**32 - 1), default=0)
    add("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps")
    add("--precision", choices=["float32", "bfloat16"], default="float32", help=_("of the matrix products"))
    add("--beam-size", type=count, default=4, help=_("hypotheses of the search that the BLEU score is measured with"))
    add("--alpha", type=number(float, 0, 10), default=0.6, help=_("length penalty of that search"))
    add("--resume", action="store_true", help=_("go on with the run in --out; where there is none yet, start"))
    add("--version", action="version", version=version("transformer-lib"))
    return parser


def train_options(parser: Parser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return what the arguments of `transformer-train` say; what they leave open, their recipe says."""
    options = parser.parse_args(arguments)
    big = BIG_MODEL if (options.recipe, options.config) == ("paper", "big") else {}
    parser.set_defaults(**RECIPES[options.recipe] | big)
    return parser.parse_args(arguments)


def translate_parser() -> Parser:
    parser = Parser(
        prog="transformer-translate",
        description=_("Translate: the given texts, else the lines of a file, else standard input. Empty lines stay empty."),
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("text", nargs="*", help=_("texts to translate"))
    add("--input", type=Path, help=_("file with one sentence per line, plain or .gz"))
    add("--output", type=Path, help=_("file to write; default: standard output"))
    add("--model", type=Path, default=Path("captions"), help=_("folder of transformer-train, a checkpoint in it, captions or translator"))
    add("--version", action="version", version=version("transformer-lib"))
    add("--beam-size", type=number(int, 1), default=4, help=_("hypotheses of the search; 1 is greedy"))
    add("--alpha", type=number(float, 0, 10), default=0.6, help=_("length penalty"))
    add("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps")
    return parser


def choose_device(name: str) -> torch.device:
    """Return the device called `name`; `auto` is a GPU where there is one. Each process of a machine has its own GPU."""
    gpus = [f"cuda:{index}" for index in range(torch.cuda.device_count())]
    here = ["cpu", *gpus, *(["mps"] if torch.backends.mps.is_available() else [])]
    if name == "auto":
        name = "cuda" if gpus else here[-1]
    if name == "cuda":
        name = f"cuda:{os.environ.get('LOCAL_RANK', 0)}"
    if name not in here:
        raise ValueError(f"--device must be auto or a device of this machine ({', '.join(here)}), but it is {name!r}")
    return torch.device(name)


CHUNK_SIZE = 1000  # lines that are sorted by their length before they are translated: more are faster, and appear later


class TextTranslator(Translator):
    """A `Translator` for text as people write it: a character that training never had is read as the unknown token."""

    def read(self, text: str) -> list[int]:
        """Return the ids of `text`."""
        ids = self.tokenizer.encode(known_letters(self.tokenizer.backend, normalise_text(text)))
        if len(ids) > self.model.max_len:
            raise ValueError(f"text must have at most {self.model.max_len} tokens, but {text[:30]!r}… has {len(ids)}")
        return ids

    def translate_lines(self, lines: Sequence[str], beam_size: int = 4, alpha: float = 0.6) -> Iterator[str]:
        """Yield the translation of each line, in the order of the lines; an empty line stays empty."""
        for start in range(0, len(lines), CHUNK_SIZE):
            chunk = lines[start : start + CHUNK_SIZE]
            full = sorted((index for index, line in enumerate(chunk) if normalise_text(line)), key=lambda index: len(chunk[index]))
            translated = dict(zip(full, self.translate([chunk[index] for index in full], beam_size, alpha), strict=True))
            yield from (translated.get(index, "") for index in range(len(chunk)))


class RunFolder:
    """The folder that `transformer-train` writes and `transformer-translate` reads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.record = path / "run.json"  # settings and numbers
        self.checkpoint = path / "last.pt"  # where the run goes on

    def kept(self) -> list[Path]:
        """Return the weights that are kept for their mean, the earliest first."""
        return sorted(self.path.glob(f"step-{'[0-9]' * 7}.pt"))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder, and keep other runs out of it until the block is done or the process dies."""
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            lock = FileLock(self.path / "run.lock").acquire(blocking=False)
        except Timeout:
            raise ValueError(f"--out must be a folder for this run alone, but another run writes to {self.path}") from None
        with lock:
            yield

    def train_tokenizers(self, training: SentencePairs, vocab_size: int, joint: bool) -> None:
        """Write the tokenizers of both languages; where they are joint, they are one and the same."""
        sources, targets = map(list, zip(*training.pairs, strict=True))
        source = BytePairTokenizer.train(sources + targets if joint else sources, vocab_size)
        target = source if joint else BytePairTokenizer.train(targets, vocab_size)
        source.save(self.path / "tokenizer.source.json")
        target.save(self.path / "tokenizer.target.json")

    def tokenizers(self) -> list[BytePairTokenizer]:
        """Return the tokenizers of source and target."""
        return [BytePairTokenizer.load(self.path / f"tokenizer.{side}.json") for side in ("source", "target")]

    def read_record(self) -> dict[str, Any]:
        """Return the run's settings and numbers."""
        with open_json(self.record, "record of a run") as record:
            return record

    def load(self, name: str | None = None) -> TextTranslator:
        """Return the translator of the weights `name`; by default of those that scored best on the validation set."""
        with open_json(self.record, "record of a run") as record:
            weights = self.path / (name or record.get("chosen", "last.pt"))
            model = CachedTransformer(config := TransformerConfig(**sizes_of(record["model"])))
        tokenizers = self.tokenizers()
        if (config.source_vocab_size, config.target_vocab_size) != (*map(len, tokenizers),):
            raise ValueError(f"the tokenizers of {self.path} have other vocabularies than its model")
        load_checkpoint(weights, model)
        return TextTranslator(model.eval(), *tokenizers, sentences=[record.get("words", "")])  # older runs have none


class TrainingRun:
    """What `transformer-train` does, alone or as one of several processes: read, prepare, train, average, score."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.folder = RunFolder(options.out)
        self.device = choose_device(options.device)
        languages = options.source, options.target
        data = translation_folder(options.data, languages)
        self.training = read_pairs(data, "train", *languages)
        model_config(options, 8, 8)  # refuse sizes before anything is written
        names = [name for name in VALIDATION_NAMES if any(data.glob(f"{name}.*"))]
        self.validation = read_pairs(data, names[0], *languages) if names else SentencePairs((), 0)
        self.settings = {name: value for name, value in vars(options).items() if name not in NOT_RECORDED}
        checksum = lambda data: hashlib.sha256(json.dumps(data.pairs).encode()).hexdigest()
        self.settings |= {"training_data": checksum(self.training), "validation_data": checksum(self.validation)}
        self.group = ProcessGroup.init(self.device)
        self.writes = self.group.rank == 0  # process 0 writes the files of all
        if self.writes and not names:
            print(_("no validation set: {data} has no val.*, valid.*, validation.*, dev.*, so there will be no score", data=data))

    def __call__(self) -> None:
        try:
            with self.folder.locked() if self.writes else nullcontext():
                model, *pairs = self.prepare()
                history = self.train(model, *pairs)
                self.group.barrier()
                if self.writes:
                    self.score(model, history)
        finally:
            self.group.destroy()

    def prepare(self) -> tuple[nn.Module, list[IdPair], list[IdPair]]:
        """Return the model, and the ids of the training and of the validation pairs."""
        options = self.options
        if self.folder.checkpoint.exists():
            self.check_same_run()
        elif self.writes:
            for old in self.folder.kept():
                old.unlink()
            self.folder.train_tokenizers(self.training, options.vocab_size, options.vocabulary == "joint")
        self.group.barrier()
        source, target = self.folder.tokenizers()
        training, validation = (encode_pairs(source, some.pairs, target) for some in (self.training, self.validation))
        config = model_config(options, len(source), len(target))
        most = min(options.max_tokens, config.max_len)
        fitting = [pair for pair in training if max(map(len, pair)) <= most]
        check_not_empty(f"training pairs of at most {most} tokens (--max-tokens)", fitting)
        if self.writes and len(fitting) < len(training):
            left, total = len(training) - len(fitting), len(training)
            print(_("{left} of {total} training pairs have more than {most} tokens: left out", left=left, total=total, most=most))
        torch.manual_seed(options.seed)
        model = use_fused_attention(CachedTransformer(config)).to(self.device)
        self.record = {
            "settings": self.settings,
            "processes": self.group.world_size,
            "device": torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else self.device.type,
            "model": asdict(config),
            "parameters": sum(parameter.numel() for parameter in model.parameters()),
            "pairs": {"train": len(self.training.pairs), "val": len(self.validation.pairs)},
            "empty_lines_left_out": {"train": self.training.empty, "val": self.validation.empty},
            "long_pairs_left_out": len(training) - len(fitting),
            "words": " ".join(sorted(Translator(model, source, sentences=[one for one, _ in self.training.pairs]).words)),
        }
        return model, fitting, validation

    def check_same_run(self) -> None:
        """Check that the run of the folder is to go on, with the data and the options that it was started with."""
        if not self.options.resume:
            raise ValueError(f"{self.folder.path} holds a run: go on with --resume, or remove it")
        before = self.folder.read_record()["settings"]
        for name, value in self.settings.items():
            if name not in RESUMABLE_OPTIONS and before.get(name, value) != value:
                raise ValueError(f"{name} must be {before[name]!r} as in {self.folder.record}, but it is {value!r}")

    def train(self, model: nn.Module, training: list[IdPair], validation: list[IdPair]) -> History:
        """Train with the options' numbers."""
        options = self.options
        optimizer = transformer_optimizer(model, options.learning_rate)
        schedule = NoamSchedule(optimizer, model.config.d_model, options.warmup)
        if options.cooldown:  # over the last steps the paper's rate falls in a straight line to 0, too
            rate = schedule.lr_lambdas[0]
            schedule.lr_lambdas = [lambda done: rate(done) * min(1.0, (options.steps - done) / options.cooldown)]
        given = {name: getattr(options, name) for name in ("precision", "smoothing", "accumulation_steps", "max_grad_norm")}
        step = DistributedStep(wrap_model(model, self.group), self.group, **given)
        if not self.writes:
            os.environ["TRANSFORMER_LIB_QUIET"] = "1"  # one progress bar is enough
            validation = []  # process 0 alone measures
        most = max(options.max_tokens, *(len(side) for pair in validation for side in pair), 0)
        return train(
            model,
            lambda epoch: token_batches(training, options.max_tokens, seed=options.seed * 100_003 + epoch),
            steps=options.steps,
            optimizer=optimizer,
            schedule=schedule,
            step=step,
            validation=Validation(token_batches(validation, most), options.every) if validation else None,
            checkpoint=RunCheckpoint(self.folder.checkpoint, options.every, resume=True, run=self),
        )

    def write_record(self, history: History, **more: Any) -> None:
        """Write the record of the run so far, and `more`."""
        numbers = {
            "steps": len(history.losses),
            "seconds": history.seconds,
            "target_tokens_per_second": history.tokens / history.seconds,
            "curve": asdict(history),
            "versions": {"python": sys.version.split()[0], **{name: version(name) for name in ("torch", "tokenizers", "sacrebleu")}},
        }
        write_json(self.folder.record, "record of a run", {**self.record, **numbers, **more}, indent=1)

    def score(self, model: nn.Module, history: History) -> None:
        """Average the last checkpoints, score the best and the averaged weights on the validation set, and choose."""
        average_checkpoints(self.folder.kept()[-self.options.average :], model)
        save_checkpoint(self.folder.path / "averaged.pt", model)
        sources, references = map(list, zip(*self.validation.pairs, strict=True)) if self.validation.pairs else ([], [])
        scores, search = {}, {"beam_size": self.options.beam_size, "alpha": self.options.alpha}
        for name in ("best.pt", "averaged.pt") if sources else ():
            translator = self.folder.load(name)
            translator.model.to(self.device)
            bleu = corpus_bleu([*translator.translate_lines(sources, **search)], references, self.options.target)
            scores[name] = {"bleu": bleu.score, "signature": bleu.signature, "chrf": bleu.chrf, **search}
        chosen = max(scores, key=lambda name: (scores[name]["bleu"], scores[name]["chrf"]), default="averaged.pt")
        self.write_record(history, scores=scores, chosen=chosen)
        if best := scores.get(chosen):
            print(_("validation BLEU {bleu:.2f}, chrF {chrf:.2f} ({chosen}), {signature}", chosen=chosen, **best), bleu.doubt)
        print(_('the translator is in {path}: transformer-translate --model "{path}" "a sentence"', path=self.folder.path))


@dataclass(frozen=True)
class RunCheckpoint(Checkpoint):
    """A checkpoint with all else that a run keeps: the last weights for their mean, the best ones, and the record."""

    run: TrainingRun = field(kw_only=True)

    def save(self, run_parts: tuple, history: History, position: tuple[int, int]) -> None:
        """Write all of it; those weights with the lowest validation loss are the best."""
        folder, model, step, losses = self.run.folder, run_parts[0], len(history.losses), history.validation_losses
        if self.run.writes:
            save_checkpoint(folder.path / f"step-{step:07}.pt", model)
            for old in folder.kept()[: -self.run.options.average]:
                old.unlink()
            if losses and losses[step] == min(losses.values()):
                save_checkpoint(folder.path / "best.pt", model)
            self.run.write_record(history)
            super().save(run_parts, history, position)


def model_config(options: argparse.Namespace, source_vocab_size: int, target_vocab_size: int) -> TransformerConfig:
    """Return the configuration that the options name, with their sizes and the vocabularies'."""
    return replace(
        getattr(TransformerConfig, options.config)(),
        source_vocab_size=source_vocab_size,
        target_vocab_size=target_vocab_size,
        shared_vocabulary=options.vocabulary == "joint",
        **{name: getattr(options, name) for name in (*SIZES, "pre_norm") if getattr(options, name) is not None},
    )


def find_translator(path: Path) -> TextTranslator:
    """Return the translator of a run's folder, of a checkpoint in one, of a file of `Translator.save`, or one of the library's."""
    named = str(path) in ("captions", "translator") and not path.is_file()
    for folder, name in ((path, None), (path.parent, path.name)):
        if RunFolder(folder).record.is_file() and not (named and name):
            return RunFolder(folder).load(name)
    own = pretrained_translator(str(path)) if named else Translator.load(path)
    return TextTranslator(own.model, own.tokenizer, own.target_tokenizer, [" ".join(own.words)])


def translate(options: argparse.Namespace) -> None:
    """Do what the options of `transformer-translate` say."""
    translator = find_translator(options.model)
    translator.model.to(choose_device(options.device))
    if options.text and options.input:
        raise ValueError("--input must be left out where texts are given")
    lines = options.text
    if not lines:
        data = options.input.read_bytes() if options.input else sys.stdin.buffer.read()
        lines = split_lines(data, options.input or "standard input")
    new = [word for line in lines for word in translator.unknown_words(line)] if translator.words else []
    known = translator.tokenizer.backend.token_to_id
    new += [c for line in lines for c in normalise_text(line) if not c.isalnum() and c != " " and known(c) is None]
    if new:
        print(_("no training sentence had: {words}", words=", ".join(dict.fromkeys(new))), file=sys.stderr)
    translated = translator.translate_lines(lines, options.beam_size, options.alpha)
    if len(lines) > CHUNK_SIZE:
        translated = progress(translated, description=_("translating"), total=len(lines))
    with atomic_write(options.output) if options.output else nullcontext(sys.stdout.buffer) as file:
        for line in translated:
            file.write(f"{line}\n".encode())  # UTF-8, whatever the locale
            file.flush()


def run_command(parser: Parser, options: argparse.Namespace, work: Callable[[argparse.Namespace], None]) -> None:
    """Do the work; what the user can put right ends in one line on standard error."""
    if hasattr(sys.stdout, "reconfigure"):  # an old terminal may lack letters of a path
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        work(options)
    except BrokenPipeError:  # whoever reads has enough, as with `| head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except (ValueError, OSError, FloatingPointError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    except KeyboardInterrupt:
        parser.exit(130, "\n" + _("{command}: stopped", command=parser.prog) + "\n")


def train_command(arguments: Sequence[str] | None = None) -> None:
    """Run `transformer-train`."""
    run_command(parser := train_parser(), train_options(parser, arguments), lambda options: TrainingRun(options)())


def translate_command(arguments: Sequence[str] | None = None) -> None:
    """Run `transformer-translate`."""
    run_command(parser := translate_parser(), parser.parse_args(arguments), translate)
