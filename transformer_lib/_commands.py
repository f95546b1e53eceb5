"""The commands `transformer-train` and `transformer-translate`: their arguments, and what they do one after the other."""

import argparse
import io
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from torch.distributed import DistError

from transformer_lib import _checks as check
from transformer_lib._files import atomic_write
from transformer_lib._language import language, say
from transformer_lib._lines import lines_of, read_bytes
from transformer_lib._named_data import NAMED_DATA
from transformer_lib._progress import progress
from transformer_lib._runs import AT_A_TIME, RunFolder, TextTranslator, choose_device
from transformer_lib._train import SIZES, train_translator
from transformer_lib.translation import Translator, pretrained_translator

# What --recipe puts in place of the defaults, which are for a small data set. Section 5 of the paper, English-German: 25,000
# tokens of each side in a batch, here in 8 parts; no limit for gradients. Section 6.1: checkpoints every 10 minutes (of 0.4 s
# a step, for the big model 1.0 s), the last 5 averaged, or 20.
RECIPES = {
    "small": {},
    "paper": {
        "config": "base",
        "vocab_size": 37_000,
        "max_tokens": 25_000,
        "accumulation_steps": 8,
        "steps": 100_000,
        "every": 1500,
        "learning_rate": 1.0,
        "warmup": 4000,
        "max_grad_norm": float("inf"),
    },
}
OF_THE_BIG_MODEL = {"steps": 300_000, "every": 600, "average": 20}


def train_options(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return what the arguments of `transformer-train` say; what they leave open, their recipe says."""
    options = parser.parse_args(arguments)
    parser.set_defaults(**RECIPES[options.recipe])
    if options.recipe == "paper" and options.config == "big":
        parser.set_defaults(**OF_THE_BIG_MODEL)
    return parser.parse_args(arguments)


def in_the_readers_language(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Return the parser with its help in the language that TRANSFORMER_LIB_LANGUAGE names."""
    parser.description, parser.epilog = say(parser.description), parser.epilog and say(parser.epilog)
    for action in parser._actions:
        action.help = action.help and say(action.help)
    return parser


def write_utf8() -> None:
    """Let the command write UTF-8 where it does not speak English, as it writes translations, whatever the locale."""
    for stream in (sys.stdout, sys.stderr):
        if language() != "en" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")


def train_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="transformer-train",
        description="Train a Transformer to translate, on a folder of line-aligned text files.",
        epilog="Several processes: torchrun --nproc-per-node 2 -m transformer_lib, with the same arguments.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    of_files = "folder with train.SOURCE and train.TARGET; val.* too for scores; or .gz"
    add("--data", type=Path, required=True, help=f"{of_files}; or a name: {', '.join(NAMED_DATA)}, fetched once")
    add("--out", type=Path, required=True, help="folder for checkpoints, tokenizers and the record")
    add("--source", default="en", help="ending of the files to read")
    add("--target", default="fr", help="ending of the files to write")
    add(
        "--recipe",
        choices=list(RECIPES),
        default="small",
        help="small: the defaults below; paper: the paper's training instead",
    )
    add("--config", choices=["tiny", "base", "big"], default="tiny", help="sizes of the model; base and big are the paper's")
    for name in SIZES:
        kind = float if name == "dropout" else int
        add(f"--{name.replace('_', '-')}", type=kind, help="in place of the configuration's")
    add("--pre-norm", action="store_true", help="normalise before each sublayer; the paper does it after the sum")
    add("--vocabulary", choices=["joint", "separate"], default="joint", help="one for both languages, or one for each")
    add("--vocab-size", type=int, default=8000, help="tokens of a vocabulary at most")
    add("--max-tokens", type=int, default=4000, help="places of one step's batch, in the source and in the target, at most")
    add("--accumulation-steps", type=int, default=1, help="parts in which a process computes its share of a batch")
    add("--steps", type=int, default=1000, help="training steps in all")
    add("--every", type=int, default=100, help="steps from one checkpoint, with its validation loss, to the next")
    add("--average", type=int, default=5, help="how many of the last checkpoints are averaged")
    add("--learning-rate", type=float, default=0.5, help="what the paper's schedule is multiplied by")
    add("--warmup", type=int, default=400, help="steps until the rate falls")
    add("--cooldown", type=int, default=0, help="last steps, in which the rate falls to 0 as well")
    add("--smoothing", type=float, default=0.1, help="label smoothing")
    add("--max-grad-norm", type=float, default=1.0, help="longest gradient")
    add("--seed", type=int, default=0)
    add("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps")
    add("--precision", choices=["float32", "bfloat16"], default="float32", help="of the matrix products")
    add("--compile", action="store_true", help="let torch compile the model first")
    add("--beam-size", type=int, default=4, help="hypotheses of the search that the BLEU score is measured with")
    add("--alpha", type=float, default=0.6, help="length penalty of that search")
    add("--resume", action="store_true", help="go on with the run in --out; where there is none yet, start")
    return in_the_readers_language(parser)


def translate_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="transformer-translate",
        description="Translate: the given texts, else the lines of a file, else standard input. Empty lines stay empty.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("text", nargs="*", help="texts to translate")
    add("--input", type=Path, help="file with one sentence per line, plain or .gz")
    add("--output", type=Path, help="file to write; default: standard output")
    add("--model", type=Path, help="folder of transformer-train, or a checkpoint in it; default: the library's own translator")
    add("--beam-size", type=int, default=4, help="hypotheses of the search; 1 is greedy")
    add("--alpha", type=float, default=0.6, help="length penalty")
    add("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps")
    return in_the_readers_language(parser)


def train_command(arguments: Sequence[str] | None = None) -> None:
    """Run `transformer-train`; what the user can put right ends in one line on standard error."""
    write_utf8()
    parser = train_parser()
    options = train_options(parser, arguments)
    first = os.environ.get("RANK", "0") == "0"
    several = os.environ.get("WORLD_SIZE", "1") != "1"
    gone = f"\n{parser.prog}: {say('another process of the run has stopped; go on with --resume')}\n"

    def end(*_) -> None:
        os.write(2, gone.encode() if first else b"")
        os._exit(1)

    def leave(code: int, line: str) -> None:
        if several:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # one line is enough
        parser.exit(code, line if first else "")

    if several:  # where a process dies, torchrun ends the others: one that is busy with itself has not noticed yet
        signal.signal(signal.SIGTERM, end)
    try:
        train_translator(options)
    except (ValueError, OSError, FloatingPointError) as error:
        leave(1, f"{parser.prog}: {say(str(error))}\n")
    except KeyboardInterrupt:
        leave(130, f"\n{parser.prog}: {say('stopped; go on with --resume')}\n")
    except RuntimeError as error:
        if not (isinstance(error, DistError) or "gloo" in str(error)):
            raise
        leave(1, gone)


def translate_command(arguments: Sequence[str] | None = None) -> None:
    """Run `transformer-translate`; what the user can put right ends in one line on standard error."""
    write_utf8()
    parser = translate_parser()
    options = parser.parse_args(arguments)
    try:
        _translate(options)
    except BrokenPipeError:  # whoever reads has enough, as with `| head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except (ValueError, OSError) as error:
        parser.exit(1, f"{parser.prog}: {say(str(error))}\n")
    except KeyboardInterrupt:
        parser.exit(130, f"\n{parser.prog}: {say('stopped')}\n")


def _translate(options: argparse.Namespace) -> None:
    check.at_least(1, **{"--beam-size": options.beam_size})
    check.in_range(0, 10, **{"--alpha": options.alpha})
    device = choose_device(options.device)
    translator = _translator(options.model)
    translator.model.to(device)
    if options.text:
        if options.input:
            raise ValueError("--input must be left out where texts are given")
        lines = options.text
    elif options.input:
        lines = lines_of(read_bytes(options.input), options.input)
    elif sys.stdin is None:
        raise ValueError("standard input is closed: name a file with --input")
    else:
        lines = lines_of(sys.stdin.buffer.read(), "standard input")
    translated = translator.translate_lines(lines, options.beam_size, options.alpha)
    if len(lines) > AT_A_TIME:
        translated = progress(translated, description="translating", total=len(lines))
    if options.output:
        with atomic_write(options.output) as file:
            file.writelines(f"{line}\n".encode() for line in translated)
    elif sys.stdout is None:
        raise ValueError("standard output is closed: name a file with --output")
    else:
        for line in translated:
            sys.stdout.buffer.write(f"{line}\n".encode())  # as a file, whatever the locale
            sys.stdout.buffer.flush()  # here, where a closed pipe can still be met


def _translator(path: Path | None) -> TextTranslator:
    """Return the translator of a run's folder, of a checkpoint in one, of a file of `Translator.save`, or the library's own."""
    if path is None:
        own = pretrained_translator("captions")
    elif path.is_dir():
        return RunFolder(path).load()
    elif RunFolder(path.parent).record.is_file():
        if not path.is_file():
            raise ValueError(f"there is no file {path}")
        return RunFolder(path.parent).load(path.name)
    else:
        own = Translator.load(path)
    return TextTranslator(own.model, own.tokenizer, own.target_tokenizer)
