"""The commands `transformer-train` and `transformer-translate`: their arguments, and what they do one after the other."""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from transformer_lib import _checks as check
from transformer_lib import _runs as runs
from transformer_lib._checkpoints import Checkpoint, save_checkpoint
from transformer_lib._files import whole_file
from transformer_lib._lines import lines_of, read_lines
from transformer_lib._named_data import NAMED_DATA, folder_of
from transformer_lib.decoding import CachedTransformer
from transformer_lib.schedule import TransformerSchedule, transformer_optimizer
from transformer_lib.training import average_checkpoints, evaluate, token_batches
from transformer_lib.transformer import TransformerConfig
from transformer_lib.translation import Translator, corpus_bleu, pretrained_translator

SIZES = ("num_layers", "d_model", "num_heads", "d_ff", "dropout")
# What may differ when a run goes on: where it runs, how long, and what is done with the weights afterwards.
MAY_CHANGE = {"data", "out", "resume", "device", "compile", "steps", "average", "beam", "alpha", "accumulation_steps"}


def train_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="transformer-train",
        description="Train a Transformer to translate, on a folder of line-aligned text files.",
        epilog="Several processes: torchrun --nproc-per-node 2 -m transformer_lib.scaling, with the same arguments.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    of_files = "folder with train.SOURCE and train.TARGET; val.* too for scores; or .gz"
    add("--data", type=Path, required=True, help=f"{of_files}; or a name: {', '.join(NAMED_DATA)}, fetched once")
    add("--out", type=Path, required=True, help="folder for checkpoints, tokenizers, record and plot")
    add("--source", default="en", help="ending of the files to read")
    add("--target", default="fr", help="ending of the files to write")
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
    add("--smoothing", type=float, default=0.1, help="label smoothing")
    add("--max-grad-norm", type=float, default=1.0, help="longest gradient")
    add("--seed", type=int, default=0)
    add("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps")
    add("--precision", choices=["float32", "bfloat16"], default="float32", help="of the matrix products")
    add("--compile", action="store_true", help="let torch compile the model first")
    add("--beam", type=int, default=4, help="hypotheses of the search that the BLEU score is measured with")
    add("--alpha", type=float, default=0.6, help="length penalty of that search")
    add("--resume", action="store_true", help="go on with the run in --out; where there is none yet, start")
    return parser


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
    add("--beam", type=int, default=4, help="hypotheses of the search; 1 is greedy")
    add("--alpha", type=float, default=0.6, help="length penalty")
    add("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps")
    return parser


def train_command(arguments: Sequence[str] | None = None) -> None:
    """Run `transformer-train`; what the user can put right ends in one line on standard error."""
    parser = train_parser()
    options = parser.parse_args(arguments)
    first = os.environ.get("RANK", "0") == "0"
    try:
        _train(options)
    except (ValueError, OSError, FloatingPointError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n" if first else "")
    except KeyboardInterrupt:
        parser.exit(130, f"\n{parser.prog}: stopped; go on with --resume\n" if first else "")


def translate_command(arguments: Sequence[str] | None = None) -> None:
    """Run `transformer-translate`; what the user can put right ends in one line on standard error."""
    parser = translate_parser()
    options = parser.parse_args(arguments)
    try:
        _translate(options)
    except (ValueError, OSError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")


def model_config(options: argparse.Namespace, source_vocab: int, target_vocab: int) -> TransformerConfig:
    """Return the configuration that the options name, with their sizes and the vocabularies'."""
    named = {"tiny": lambda: TransformerConfig.tiny(source_vocab, target_vocab)}
    config = named.get(options.config, getattr(TransformerConfig, options.config))()
    sizes = {name: getattr(options, name) for name in SIZES if getattr(options, name) is not None}
    return replace(
        config,
        source_vocab_size=source_vocab,
        target_vocab_size=target_vocab,
        shared_vocabulary=options.vocabulary == "joint",
        pre_norm=options.pre_norm,
        **sizes,
    )


def _settings(options: argparse.Namespace, pairs: int) -> dict[str, Any]:
    """Return the options as plain JSON, without places on this machine."""
    given = {name: value for name, value in vars(options).items() if name not in ("data", "out", "resume")}
    return {**given, "training_pairs": pairs}


def _same_run(folder: runs.RunFolder, settings: dict[str, Any]) -> None:
    """Check that a run which goes on has the arguments that it was started with."""
    before = folder.read_record()["settings"]
    for name, value in settings.items():
        if name not in MAY_CHANGE and before.get(name) != value:
            argument = "the number of pairs in --data" if name == "training_pairs" else f"--{name.replace('_', '-')}"
            raise ValueError(f"{argument} must be {before.get(name)!r} as in {folder.record}, but it is {value!r}")


def _fits(name: str, pairs: Sequence, ids: Sequence, max_tokens: int) -> None:
    """Check that each pair fits a batch; name the set and the sentence of one that does not."""
    for pair, sides in zip(pairs, ids, strict=True):
        for text, side in zip(pair, sides, strict=True):
            if len(side) > max_tokens:
                raise ValueError(
                    f"--max-tokens must be at least as large as the longest sentence, but it is {max_tokens}, "
                    f"and this one of {name} has {len(side)} tokens: {text[:60]!r}"
                )


def _train(options: argparse.Namespace) -> None:
    from transformer_lib import scaling  # it imports this module

    check.at_least(
        1, **{f"--{name}": getattr(options, name.replace("-", "_")) for name in ("steps", "every", "average", "beam")}
    )
    local_rank = os.environ.get("LOCAL_RANK")
    device = runs.choose_device(options.device, local_rank and int(local_rank))
    data = folder_of(options.data, [options.source, options.target])
    train = runs.read_pairs(data, "train", options.source, options.target)
    check.not_empty(f"{options.data} (pairs with two sides)", train.pairs)
    val = None
    if runs.has_files(data, "val"):
        val = runs.read_pairs(data, "val", options.source, options.target)
    folder = runs.RunFolder(options.out)
    settings = _settings(options, len(train.pairs))
    processes = scaling.Processes.join(device)
    try:
        _train_with(options, folder, settings, device, processes, train, val)
    finally:
        processes.leave()


def _train_with(options, folder, settings, device, processes, train, val) -> None:
    from transformer_lib import scaling

    first = processes.rank == 0
    going_on = folder.checkpoint.exists()
    check.resumable(folder.path, options.resume or not going_on)
    if going_on:
        _same_run(folder, settings)
    elif first:
        with folder.writing():
            folder.path.mkdir(parents=True, exist_ok=True)
            joint = options.vocabulary == "joint"
            folder.save_tokenizers(runs.train_tokenizers(train.pairs, options.vocab_size, joint))
    processes.wait()
    tokenizers = folder.load_tokenizers()
    if going_on:
        trained = TransformerConfig(**folder.read_record()["model"])
        runs.fit_vocabulary(folder, folder.checkpoint, tokenizers, trained)

    torch.manual_seed(options.seed)
    config = model_config(options, len(tokenizers.source), len(tokenizers.target))
    model = CachedTransformer(config).to(device)
    optimizer = transformer_optimizer(model, options.learning_rate)
    schedule = TransformerSchedule(optimizer, config.d_model, options.warmup)
    pairs = runs.encode(tokenizers, train.pairs)
    _fits("train", train.pairs, pairs, options.max_tokens)
    val_batches = []
    if val:
        val_ids = runs.encode(tokenizers, val.pairs)
        _fits("val", val.pairs, val_ids, options.max_tokens)
        val_batches = token_batches(val_ids, options.max_tokens)

    record: dict[str, Any] = {
        "settings": settings,
        "processes": processes.count,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "model": runs.model_record(config),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "pairs": {"train": len(train.pairs), "val": len(val.pairs) if val else 0},
        "empty_lines_left_out": {"train": train.empty, "val": val.empty if val else 0},
        "padding": scaling.padding_share(token_batches(pairs, options.max_tokens, seed=options.seed)),
    }

    def write(history: Any, **more: Any) -> None:
        record.update(
            steps=len(history.losses),
            seconds=history.seconds,
            target_tokens_per_second=history.tokens / history.seconds if history.seconds else 0.0,
            curve=asdict(history),
            **more,
        )
        folder.write_record(record)
        svg = runs.curve_svg(history.losses, history.validation_losses, f"{options.source} → {options.target}")
        with whole_file(folder.path / "run.svg") as file:
            file.write(svg.encode())

    def measure(step: int, history: Any) -> None:
        """Keep the weights of this step; those with the lowest validation loss so far are the best."""
        save_checkpoint(folder.kept(step), model)
        for old in folder.all_kept()[: -options.average]:
            old.unlink()
        if val_batches:
            history.validation_losses[step] = evaluate(model, val_batches)
            if min(history.validation_losses.values()) == history.validation_losses[step]:
                save_checkpoint(folder.path / "best.pt", model)
        write(history)

    if first and not going_on:
        with folder.writing():  # so that a run that stops early can be recognised
            write(scaling.ScaledHistory())
    with folder.writing():
        history = scaling.scaled_train(
            model,
            lambda epoch: token_batches(pairs, options.max_tokens, seed=options.seed * 100_003 + epoch),
            steps=options.steps,
            optimizer=optimizer,
            schedule=schedule,
            processes=processes,
            compiled=options.compile,
            seed=options.seed,
            checkpoint=Checkpoint(folder.checkpoint, options.every, resume=True),
            measure=measure,
            description=f"{options.source} → {options.target}",
            precision=options.precision,
            smoothing=options.smoothing,
            accumulation_steps=options.accumulation_steps,
            max_grad_norm=options.max_grad_norm,
        )
    if first:
        with folder.writing():
            _finish(options, folder, model, history, val, write)


def _finish(options, folder, model, history, val, write) -> None:
    """Average the last checkpoints, translate the validation set with the best and with the averaged weights, and choose."""
    average_checkpoints(folder.all_kept()[-options.average :], model)
    save_checkpoint(folder.path / "averaged.pt", model)
    if not val:
        write(history, scores={}, chosen="averaged.pt")
        return
    sources, references = (list(side) for side in zip(*val.pairs, strict=True))
    scores = {}
    for name in ("best.pt", "averaged.pt"):
        translator = folder.load(name)
        translator.model.to(next(model.parameters()).device)
        bleu = corpus_bleu(translator.translate_lines(sources, options.beam, options.alpha), references)
        scores[name] = {"bleu": bleu.score, "signature": bleu.signature, "beam": options.beam, "alpha": options.alpha}
    chosen = max(scores, key=lambda name: scores[name]["bleu"])
    write(history, scores=scores, chosen=chosen)
    print(f"validation BLEU {scores[chosen]['bleu']:.2f} ({chosen}), {scores[chosen]['signature']}")


def _translate(options: argparse.Namespace) -> None:
    check.at_least(1, **{"--beam": options.beam})
    device = runs.choose_device(options.device)
    translator = _translator(options.model)
    translator.model.to(device)
    if options.text:
        if options.input:
            raise ValueError("--input must be left out where texts are given")
        lines = options.text
    elif options.input:
        lines = read_lines(options.input)
    else:
        lines = lines_of(sys.stdin.buffer.read(), "standard input")
    text = "".join(f"{line}\n" for line in translator.translate_lines(lines, options.beam, options.alpha))
    if options.output:
        with whole_file(options.output) as file:
            file.write(text.encode())
    else:
        sys.stdout.write(text)


def _translator(path: Path | None) -> runs.TextTranslator:
    """Return the translator of a run's folder, of a checkpoint in one, of a file of `Translator.save`, or the library's own."""
    if path is None:
        own = pretrained_translator("captions")
    elif path.is_dir():
        return runs.RunFolder(path).load()
    elif runs.RunFolder(path.parent).record.is_file():
        if not path.is_file():
            raise ValueError(f"there is no file {path}")
        return runs.RunFolder(path.parent).load(path.name)
    else:
        own = Translator.load(path)
    return runs.TextTranslator(own.model, own.tokenizer)
