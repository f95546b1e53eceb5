"""What `transformer-train` does, one thing after the other: read, prepare, train, average, score."""

import argparse
import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from transformer_lib import _checks as check
from transformer_lib._checkpoints import Checkpoint, resumable, save_checkpoint
from transformer_lib._heartbeat import watching
from transformer_lib._named_data import folder_of
from transformer_lib._runs import RunFolder, SentencePairs, choose_device, has_files, read_pairs
from transformer_lib.decoding import CachedTransformer
from transformer_lib.encoder import TransformerConfig
from transformer_lib.scaling import DistributedStep, ProcessGroup, padding_share, wrap_model
from transformer_lib.schedule import NoamSchedule, transformer_optimizer
from transformer_lib.training import History, IdPair, Validation, average_checkpoints, token_batches, train
from transformer_lib.translation import BytePairTokenizer, corpus_bleu, encode_pairs

SIZES = ("num_layers", "d_model", "num_heads", "d_ff", "dropout")
# What may differ when a run goes on: where it runs, how long, and what is done with the weights afterwards.
MAY_CHANGE = {"data", "out", "resume", "device", "compile", "steps", "cooldown", "average", "beam_size"}
MAY_CHANGE |= {"alpha", "accumulation_steps"}


@dataclass(frozen=True)
class RunCheckpoint(Checkpoint):
    """A checkpoint with all else that a run keeps: the last weights for their mean, the best ones, and the record.

    `average` is how many of the last weights stay; `record` is what the record holds besides the history. A process that
    `reads_only` writes nothing: process 0 writes for all.
    """

    folder: RunFolder = field(kw_only=True)
    average: int = field(kw_only=True)
    record: dict[str, Any] = field(kw_only=True)
    reads_only: bool = field(kw_only=True)

    def save(self, run_parts: tuple, history: History, place: tuple[int, int]) -> None:
        """Write everything; those weights with the lowest validation loss so far are the best."""
        if self.reads_only:
            return
        model, step, validation = run_parts[0], len(history.losses), history.validation_losses
        save_checkpoint(self.folder.kept(step), model)
        for old in self.folder.all_kept()[: -self.average]:
            old.unlink()
        if validation and validation[step] == min(validation.values()):
            save_checkpoint(self.folder.path / "best.pt", model)
        self.write_record(history)
        super().save(run_parts, history, place)

    def write_record(self, history: History, **more: Any) -> None:
        """Write the record of the run so far, and `more`."""
        speed = history.tokens / history.seconds if history.seconds else 0.0
        numbers = {"steps": len(history.losses), "seconds": history.seconds, "target_tokens_per_second": speed}
        self.folder.write_record({**self.record, **numbers, "curve": asdict(history), **more})


def train_translator(options: argparse.Namespace) -> None:
    """Do what the options of `transformer-train` say, alone or as one of several processes."""
    check.at_least(1, **{f"--{name}": getattr(options, name) for name in ("steps", "every", "average")})
    check.at_least(1, **{"--beam-size": options.beam_size})
    check.in_range(0, 10, **{"--alpha": options.alpha})
    check.in_range(0, options.steps, **{"--cooldown": options.cooldown})
    check.in_range(0, 2**32 - 1, **{"--seed": options.seed})
    check.above(0, **{"--max-grad-norm": options.max_grad_norm, "--learning-rate": options.learning_rate})
    local_rank = os.environ.get("LOCAL_RANK")
    device = choose_device(options.device, local_rank and int(local_rank))
    data = folder_of(options.data, [options.source, options.target])
    training = read_pairs(data, "train", options.source, options.target)
    check.not_empty(f"train.* in {options.data} (pairs with two sides)", training.pairs)
    validation = SentencePairs((), 0)
    if has_files(data, "val"):
        validation = read_pairs(data, "val", options.source, options.target)
        check.not_empty(f"val.* in {options.data} (pairs with two sides)", validation.pairs)
    settings = _settings(options, training, validation)
    group = ProcessGroup.init(device)
    try:
        with RunFolder(options.out).locked() if group.rank == 0 else nullcontext(), watching(group.rank, group.world_size):
            _train_in_group(options, group, device, training, validation, settings)
    finally:
        group.destroy()


def _train_in_group(
    options: argparse.Namespace,
    group: ProcessGroup,
    device: torch.device,
    training: SentencePairs,
    validation: SentencePairs,
    settings: dict[str, Any],
) -> None:
    folder, first = RunFolder(options.out), group.rank == 0
    going_on = folder.checkpoint.exists()
    if going_on:
        resumable(folder.path, options.resume)
        _check_same_run(folder, settings)
    elif first:
        with folder.writing():
            folder.train_tokenizers(training.pairs, options.vocab_size, options.vocabulary == "joint")
    group.barrier()
    tokenizers = folder.load_tokenizers(folder.checkpoint if going_on else None)
    config = model_config(options, *map(len, tokenizers))
    pairs = _encode("train", training, tokenizers, options.max_tokens, config.max_len)
    validation_pairs = _encode("val", validation, tokenizers, options.max_tokens, config.max_len)

    torch.manual_seed(options.seed)
    model = CachedTransformer(config).to(device)
    checkpoint = RunCheckpoint(
        folder.checkpoint,
        options.every,
        resume=True,
        folder=folder,
        average=options.average,
        reads_only=not first,
        record={
            "settings": settings,
            "processes": group.world_size,
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
            "model": asdict(config),
            "parameters": sum(parameter.numel() for parameter in model.parameters()),
            "pairs": {"train": len(training.pairs), "val": len(validation.pairs)},
            "empty_lines_left_out": {"train": training.empty, "val": validation.empty},
            "padding": padding_share(token_batches(pairs, options.max_tokens, seed=options.seed)),
        },
    )
    if first and not going_on:
        with folder.writing():  # so that a run that stops early can be recognised
            checkpoint.write_record(History())
    with folder.writing():
        history = _train_model(options, group, model, pairs, validation_pairs, checkpoint)
        group.barrier()
        if first:
            _score(options, folder, model, validation, history, checkpoint)


def _train_model(
    options: argparse.Namespace,
    group: ProcessGroup,
    model: nn.Module,
    pairs: list[IdPair],
    validation_pairs: list[IdPair],
    checkpoint: RunCheckpoint,
) -> History:
    """Train with the options' numbers; process 0 alone measures on the validation set."""
    optimizer = transformer_optimizer(model, options.learning_rate)
    step = DistributedStep(
        wrap_model(model, group, options.compile),
        group,
        precision=options.precision,
        smoothing=options.smoothing,
        accumulation_steps=options.accumulation_steps,
        max_grad_norm=options.max_grad_norm,
    )
    validation = None
    if validation_pairs and group.rank == 0:
        validation = Validation(token_batches(validation_pairs, options.max_tokens), options.every)
    if group.rank > 0:
        os.environ["TRANSFORMER_LIB_QUIET"] = "1"  # one progress bar is enough
    return train(
        model,
        lambda epoch: token_batches(pairs, options.max_tokens, seed=options.seed * 100_003 + epoch),
        steps=options.steps,
        optimizer=optimizer,
        schedule=_schedule(options, optimizer, model.config.d_model),
        step=step,
        validation=validation,
        checkpoint=checkpoint,
    )


def _schedule(options: argparse.Namespace, optimizer: Optimizer, d_model: int) -> NoamSchedule:
    """Return the paper's schedule; over the last `--cooldown` steps its rate falls in a straight line to 0, too."""
    schedule = NoamSchedule(optimizer, d_model, options.warmup)
    if options.cooldown:
        rate, steps, cooldown = schedule.lr_lambdas[0], options.steps, options.cooldown
        schedule.lr_lambdas = [lambda done: rate(done) * min(1.0, (steps - done) / cooldown)]
    return schedule


def _score(
    options: argparse.Namespace,
    folder: RunFolder,
    model: nn.Module,
    validation: SentencePairs,
    history: History,
    checkpoint: RunCheckpoint,
) -> None:
    """Average the last checkpoints, translate the validation set with the best and with the averaged weights, and choose."""
    average_checkpoints(folder.all_kept()[-options.average :], model)
    save_checkpoint(folder.path / "averaged.pt", model)
    if not validation.pairs:
        checkpoint.write_record(history, scores={}, chosen="averaged.pt")
        return
    sources, references = (list(side) for side in zip(*validation.pairs, strict=True))
    scores = {}
    for name in ("best.pt", "averaged.pt"):
        translator = folder.load(name)
        translator.model.to(next(model.parameters()).device)
        bleu = corpus_bleu([*translator.translate_lines(sources, options.beam_size, options.alpha)], references)
        searched = {"beam_size": options.beam_size, "alpha": options.alpha}
        scores[name] = {"bleu": bleu.score, "signature": bleu.signature, **searched}
    chosen = max(scores, key=lambda name: scores[name]["bleu"])
    checkpoint.write_record(history, scores=scores, chosen=chosen)
    print(f"validation BLEU {scores[chosen]['bleu']:.2f} ({chosen}), {scores[chosen]['signature']}")


def model_config(options: argparse.Namespace, source_vocab_size: int, target_vocab_size: int) -> TransformerConfig:
    """Return the configuration that the options name, with their sizes and the vocabularies'."""
    config = {"tiny": TransformerConfig.tiny, "base": TransformerConfig.base, "big": TransformerConfig.big}[options.config]()
    sizes = {name: getattr(options, name) for name in SIZES if getattr(options, name) is not None}
    return replace(
        config,
        source_vocab_size=source_vocab_size,
        target_vocab_size=target_vocab_size,
        shared_vocabulary=options.vocabulary == "joint",
        pre_norm=options.pre_norm,
        **sizes,
    )


def _settings(options: argparse.Namespace, training: SentencePairs, validation: SentencePairs) -> dict[str, Any]:
    """Return the options as plain JSON, without places on this machine; what a recipe said stands in the other options."""
    given = {name: value for name, value in vars(options).items() if name not in ("data", "out", "resume", "recipe")}
    return {**given, "training_data": training.sha256, "validation_data": validation.sha256}


def _check_same_run(folder: RunFolder, settings: dict[str, Any]) -> None:
    """Check that a run which goes on has the data and the arguments that it was started with, as far as its record knows."""
    before = folder.read_record().get("settings", {})
    for name, value in settings.items():
        if name not in MAY_CHANGE and before.get(name, value) != value:
            argument = f"the {name.replace('_', ' ')}" if name.endswith("_data") else f"--{name.replace('_', '-')}"
            raise ValueError(f"{argument} must be {before[name]!r} as in {folder.record}, but it is {value!r}")


def _encode(
    name: str, sentences: SentencePairs, tokenizers: Sequence[BytePairTokenizer], max_tokens: int, max_len: int
) -> list[IdPair]:
    """Return the ids of the pairs in the set `name`; check that each pair fits a batch and the model's positions."""
    ids = encode_pairs(tokenizers[0], sentences.pairs, tokenizers[1])
    for pair, sides in zip(sentences.pairs, ids, strict=True):
        for text, side in zip(pair, sides, strict=True):
            if len(side) > min(max_tokens, max_len):
                limit = f"at most {max_len} tokens, the model's positions"
                if len(side) > max_tokens:
                    limit = f"at most --max-tokens, {max_tokens}"
                raise ValueError(f"a sentence must have {limit}, but this one of {name} has {len(side)} tokens: {text[:60]!r}")
    return ids
