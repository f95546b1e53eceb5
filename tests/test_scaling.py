"""The commands and the step of chapter 17: one run, however it is cut into parts and processes, and however it is stopped."""

import errno
import gzip
import io
import json
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch.testing import assert_close

from tools import notebooks
from transformer_lib import _files, _runs, _train, translation
from transformer_lib._commands import train_command, train_parser, translate_command
from transformer_lib._lines import read_line_pairs
from transformer_lib._runs import RunFolder, TextTranslator, choose_device
from transformer_lib.scaling import SINGLE, DistributedStep, ProcessGroup, bytes_sent, memory_table, padding_share, wrap_model
from transformer_lib.schedule import label_smoothed_loss, noam_rate, transformer_optimizer
from transformer_lib.training import Batch, Checkpoint, evaluate, token_batches, train, training_step
from transformer_lib.transformer import Transformer, TransformerConfig
from transformer_lib.translation import BleuScore, Translator, encode_pairs, pretrained_translator

NAMES = "the a one my your".split(), "cat dog bird horse".split(), "sees finds likes".split()
WORDS = {
    "the": "le", "a": "un", "one": "seul", "my": "mon", "your": "ton", "cat": "chat", "dog": "chien", "bird": "oiseau",
    "horse": "cheval", "sees": "voit", "finds": "trouve", "likes": "aime",
}  # fmt: skip
SMALL = "--vocab-size 60 --d-model 16 --num-layers 1 --num-heads 2 --d-ff 16 --max-tokens 90 --every 4 --average 2 --steps 10"


def sentences(count, seed):
    generator = torch.Generator().manual_seed(seed)

    def one(words):
        return words[int(torch.randint(len(words), (), generator=generator))]

    kinds = (NAMES[0], NAMES[1], NAMES[2], NAMES[0], NAMES[1])
    english = [[one(words) for words in kinds[: 2 if n % 3 == 0 else 5]] for n in range(count)]
    return [(" ".join(words), " ".join(WORDS[word] for word in words)) for words in english]


def write_pairs(folder, name, pairs, write=lambda path, text: path.write_text(text, encoding="utf-8")):
    folder.mkdir(exist_ok=True)
    for side, language in enumerate(("en", "fr")):
        write(folder / f"{name}.{language}", "".join(f"{pair[side]}\n" for pair in pairs))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_pairs(folder, "train", sentences(60, seed=0))
    write_pairs(folder, "val", sentences(6, seed=1))
    return folder


def arguments(data, out, more=""):
    return ["--data", str(data), "--out", str(out), "--device", "cpu", *SMALL.split(), *more.split()]


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """A run that nothing stopped."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    train_command(arguments(data, out))
    return out


def curve(out):
    return json.loads((out / "run.json").read_text(encoding="utf-8"))["curve"]


def weights(path):
    return torch.load(path, weights_only=True)["model"]


def assert_same_bits(one, other):
    for name in ("last.pt", "best.pt", "averaged.pt"):
        ours, theirs = weights(one / name), weights(other / name)
        assert all(ours[key].equal(theirs[key]) for key in theirs), name
    for name in ("losses", "learning_rates", "validation_losses", "tokens"):
        assert curve(one)[name] == curve(other)[name], name


def fails(capsys, command, given):
    """Return the one line on standard error with which `command` gives up."""
    with pytest.raises(SystemExit) as stop:
        command(given)
    said = capsys.readouterr().err
    assert stop.value.code == 1 and said.count("\n") == 1, said
    return said


# One step


def small_model(seed=0, dropout=0.0):
    torch.manual_seed(seed)
    sizes = {"d_model": 8, "num_layers": 1, "num_heads": 2, "d_ff": 16, "dropout": dropout}
    return Transformer(TransformerConfig(source_vocab_size=11, target_vocab_size=11, **sizes))


def batch(count=7, seed=0):
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 6, (count,), generator=generator).tolist()
    return Batch.from_pairs(
        [(torch.randint(3, 11, (n,), generator=generator).tolist(), [*range(3, 3 + n), 2]) for n in lengths]
    )


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 50])
def test_steps_are_those_of_chapter_12_in_any_number_of_parts(float64_default, parts):
    ours, theirs, seen = small_model(), small_model(), []
    ours.register_forward_pre_hook(lambda _, given: seen.append(len(given[0])))
    settings = {"smoothing": 0.1, "max_grad_norm": 0.5}
    step = DistributedStep(ours, accumulation_steps=parts, **settings)
    optimizers = [transformer_optimizer(model, 0.01) for model in (ours, theirs)]
    for seed in range(2):
        loss = step(ours, batch(seed=seed), optimizers[0])
        assert_close(loss, training_step(theirs, batch(seed=seed), optimizers[1], **settings))
        assert_close(dict(ours.named_parameters()), dict(theirs.named_parameters()))
    assert seen == [len(part.source) for part in batch().split(parts)] * 2


@pytest.mark.parametrize("count", [2, 7], ids=["one without a sentence", "all with sentences"])
def test_the_shares_of_all_processes_are_the_whole_batch(float64_default, monkeypatch, count):
    """The mean of their gradients, which is what `wrap_model` makes of them, and the sum of their losses."""
    whole, shares, losses = small_model(), [small_model() for _ in range(3)], []
    loss = training_step(whole, batch(count), torch.optim.SGD(whole.parameters(), lr=0.0))
    monkeypatch.setattr(ProcessGroup, "sum", lambda self, number, device: losses.append(number) or 100.0)
    for rank, model in enumerate(shares):
        step = DistributedStep(model, ProcessGroup(rank, world_size=3))
        assert step(model, batch(count), torch.optim.SGD(model.parameters(), lr=0.0)) == 100.0
    assert_close(sum(losses), loss)
    for name, parameter in whole.named_parameters():
        assert_close(sum(model.get_parameter(name).grad for model in shares) / 3, parameter.grad)


def test_bfloat16_is_for_the_products_and_not_for_the_loss():
    exact, rounded = small_model(), small_model()
    seen = {}
    rounded.output.register_forward_hook(lambda module, given, result: seen.update(logits=result.dtype))
    losses = [
        DistributedStep(model, precision=precision)(model, batch(), transformer_optimizer(model, 0.01))
        for model, precision in ((exact, "float32"), (rounded, "bfloat16"))
    ]
    assert seen["logits"] == torch.bfloat16
    assert losses[0] != losses[1] and abs(losses[0] - losses[1]) < 0.02
    # bfloat16 has 8 bits: a loss computed in it would be one of its numbers.
    assert torch.tensor(losses[1]).bfloat16().item() != pytest.approx(losses[1], abs=1e-7)
    assert all(parameter.dtype == parameter.grad.dtype == torch.float32 for parameter in rounded.parameters())


def alone_in_a_group(monkeypatch, rank):
    """Return a place in a group of two, whose other process is not there: each sum is this one's."""
    monkeypatch.setattr(ProcessGroup, "sum", lambda self, number, device: number)
    return ProcessGroup(rank, world_size=2)


def dropped(group, seed):
    """Return what dropout lets through in the group's share of a step, and the generator's state after it."""
    model, masks = small_model(dropout=0.5), []
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.register_forward_hook(lambda part, given, result: masks.append(result != 0))
    torch.manual_seed(seed)
    same_sentence_twice = Batch.from_pairs([([5, 6, 7, 8], [5, 6, 7, 2])] * 2)
    DistributedStep(model, group)(model, same_sentence_twice, transformer_optimizer(model, 0.01))
    assert len(masks) == 7 and all(len(mask) == 1 for mask in masks), "one sentence of the two, through one layer and one"
    return masks, torch.get_rng_state()


def test_no_two_processes_drop_the_same(monkeypatch):
    """One and the same sentence, one and the same state of the generator; and that state stays the same in both."""
    (first, after_first), (second, after_second) = (dropped(alone_in_a_group(monkeypatch, rank), seed=3) for rank in (0, 1))
    again, _ = dropped(alone_in_a_group(monkeypatch, 1), seed=3)
    later, _ = dropped(alone_in_a_group(monkeypatch, 1), seed=4)
    assert not any(ours.equal(theirs) for ours, theirs in zip(first, second, strict=True))
    assert all(ours.equal(theirs) for ours, theirs in zip(second, again, strict=True))
    assert not any(ours.equal(theirs) for ours, theirs in zip(second, later, strict=True))
    assert after_first.equal(after_second) and not after_first.equal(torch.Generator().manual_seed(3).get_state())


@pytest.mark.parametrize(
    ("rank", "options"),
    [(None, {"accumulation_steps": 3}), (None, {"precision": "bfloat16", "max_grad_norm": 0.5}), (1, {})],
    ids=["in parts", "bfloat16", "process 1 of 2"],
)
def test_a_resumed_run_drops_what_the_whole_one_drops(tmp_path, monkeypatch, rank, options):
    """Stopped three steps after its checkpoint; and what was drawn before the run goes on makes no difference."""
    group = SINGLE if rank is None else alone_in_a_group(monkeypatch, rank)

    def run(stop=None, **more):
        model = small_model(dropout=0.3)
        optimizer, step, count = transformer_optimizer(model, 0.01), DistributedStep(model, group, **options), []

        def counted(*given):
            count.append(given)
            loss = step(*given)
            if len(count) == stop:
                raise KeyboardInterrupt
            return loss

        batches = lambda epoch: [batch(5, seed=2 * epoch), batch(4, seed=2 * epoch + 1)]
        return model, train(model, batches, steps=7, optimizer=optimizer, step=counted, **more)

    whole, history = run()
    with pytest.raises(KeyboardInterrupt):
        run(stop=6, checkpoint=Checkpoint(tmp_path / "run.pt", every=3))
    assert len(torch.load(tmp_path / "run.pt", weights_only=True)["extra"]["history"]["losses"]) == 3
    torch.rand(5)
    resumed, resumed_history = run(checkpoint=Checkpoint(tmp_path / "run.pt", every=3, resume=True))
    assert resumed_history == history and len(set(history.losses)) == 7
    assert all(mine.equal(its) for mine, its in zip(resumed.parameters(), whole.parameters(), strict=True))


def test_a_step_with_no_number_changes_nothing():
    model = small_model()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    model.register_forward_hook(lambda *given: given[-1] * math.nan)
    with pytest.raises(FloatingPointError, match="the loss is nan in step 1"):
        train(model, [batch()], steps=1, optimizer=transformer_optimizer(model, 0.01), step=DistributedStep(model))
    assert all(value.equal(before[name]) for name, value in model.state_dict().items())


@pytest.mark.usefixtures("as_a_user_calls_it")
@pytest.mark.parametrize("wrong", [{"precision": "float8"}, {"accumulation_steps": 0}])
def test_a_wrong_option_of_a_step_is_named(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        DistributedStep(small_model(), **wrong)


def test_compile_is_torchs_own(monkeypatch):
    seen = {}
    monkeypatch.setattr(torch, "compile", lambda model, **options: seen.update(options) or model)
    model = small_model()
    assert wrap_model(model, compiled=True) is model and seen == {"dynamic": True}
    assert wrap_model(model) is model


def test_padding_share_counts_both_sides():
    one = Batch.from_pairs([([5, 6, 7, 8], [5, 2]), ([5], [5, 2])])  # 8 places with 3 empty, 4 with none
    assert padding_share([one]) == 3 / 12
    assert padding_share([one, one]) == 3 / 12
    with pytest.raises(ValueError, match="batches"):
        padding_share([])


def test_alone_there_is_nobody_to_meet(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    group = ProcessGroup.init(torch.device("cpu"))
    group.barrier()
    group.destroy()
    assert (group.rank, group.world_size, group.sum(2.5, torch.device("cpu"))) == (0, 1, 2.5)


def test_memory_is_16_bytes_per_parameter_and_activations_that_grow_with_the_batch():
    config = small_model().config
    count = sum(parameter.numel() for parameter in small_model().parameters())
    small, large, half = memory_table(config, 10, 20), memory_table(config, 30, 60), memory_table(config, 10, 20, half=True)
    assert small["parameters"] + small["gradients"] + small["Adam's moments"] == 16 * count
    assert large["activations"] == 3 * small["activations"] > 3 * half["activations"]
    assert half["rounded weights"] == 2 * count
    with pytest.raises(ValueError, match="target must be at least 1"):
        memory_table(config, 10, 0)


def kept_and_counted(half, **sizes):
    """Return the bytes that torch keeps of a forward pass for the backward pass, and those in the table."""
    sizes = {"d_model": 32, "num_heads": 2, "d_ff": 32, "target_vocab_size": 20, **sizes}
    model = Transformer(TransformerConfig(source_vocab_size=20, dropout=0.1, **sizes))
    own, kept = {parameter.data_ptr() for parameter in model.parameters()}, {}

    def note(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    source, target = torch.randint(3, 20, (4, 7)), torch.randint(3, 20, (4, 10))
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
            logits = model(source, target)
        label_smoothed_loss(logits.float(), target, reduction="sum").backward()
    counted = memory_table(model.config, source.numel(), target.numel(), half)["activations"]
    rounded = sum(part.weight.numel() for part in model.modules() if isinstance(part, torch.nn.Linear))
    return sum(kept.values()), counted + 2 * rounded * half


@pytest.mark.parametrize("half", [False, True], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("wider", [{"d_model": 64}, {"d_ff": 64}, {"target_vocab_size": 40}], ids=str)
def test_memory_grows_with_each_width_to_the_byte(half, wider):
    """What does not grow with a width, one number for a position or a head, is left out of the table."""
    for num_layers in (1, 3):
        (kept, counted), (more, more_counted) = (kept_and_counted(half, num_layers=num_layers, **w) for w in ({}, wider))
        assert more - kept == more_counted - counted


def test_bytes_sent_by_hand():
    assert bytes_sent(1000, 1) == 0
    assert bytes_sent(1000, 2) == 4000
    assert bytes_sent(1000, 8) == 7000


# A whole run


def test_a_run_leaves_all_that_it_promises(whole):
    record = json.loads((whole / "run.json").read_text(encoding="utf-8"))
    assert record["chosen"] in record["scores"] and record["scores"].keys() == {"best.pt", "averaged.pt"}
    for score in record["scores"].values():
        assert 0 <= score["bleu"] <= 100 and re.search(r"tok:13a\|.*version:", score["signature"])
    assert record["settings"]["max_tokens"] == 90 and {"python", "torch", "sacrebleu"} <= record["versions"].keys()
    assert len(record["curve"]["losses"]) == record["steps"] == 10
    assert list(record["curve"]["validation_losses"]) == ["4", "8", "10"]
    assert record["seconds"] > 0 and record["target_tokens_per_second"] > 0 and 0 <= record["padding"] < 1
    assert sorted(path.name for path in whole.glob("step-*")) == ["step-0000008.pt", "step-0000010.pt"]
    assert not list(whole.glob(".*")), "no unfinished file"


def test_each_option_reaches_what_it_is_for(data, tmp_path, monkeypatch):
    asked, steps, batches = [], [], _train.token_batches
    monkeypatch.setattr(_train, "DistributedStep", lambda *given, **more: steps.append(more) or DistributedStep(*given, **more))
    monkeypatch.setattr(_train, "token_batches", lambda *given, **more: asked.append(more) or batches(*given, **more))
    out = tmp_path / "run"
    more = "--smoothing 0.3 --precision bfloat16 --accumulation-steps 2 --max-grad-norm 0.5"
    train_command(arguments(data, out, f"{more} --warmup 3 --learning-rate 2 --seed 5"))
    assert steps == [{"precision": "bfloat16", "smoothing": 0.3, "accumulation_steps": 2, "max_grad_norm": 0.5}]
    assert_close(curve(out)["learning_rates"], [2 * noam_rate(step, 16, warmup=3) for step in range(1, 11)])
    epochs = [given["seed"] - 5 * 100_003 for given in asked[1:] if given]  # the first is asked for the share of padding
    assert epochs == list(range(len(epochs))) and len(epochs) > 1


def test_at_the_end_the_rate_falls_to_zero(data, tmp_path):
    """In a straight line over the last steps, and one that was asked for when the run went on."""
    out = tmp_path / "run"
    train_command(arguments(data, out, "--warmup 3 --learning-rate 2 --steps 6"))
    train_command(arguments(data, out, "--warmup 3 --learning-rate 2 --steps 10 --cooldown 4 --resume"))
    falls = [1, 1, 1, 1, 1, 1, 1, 3 / 4, 2 / 4, 1 / 4]
    paper = [2 * noam_rate(step, 16, warmup=3) for step in range(1, 11)]
    assert_close(curve(out)["learning_rates"], [rate * share for rate, share in zip(paper, falls, strict=True)])


@pytest.mark.parametrize("scores", [[1.0, 2.0], [2.0, 1.0]])
def test_the_weights_with_the_higher_score_are_chosen(data, whole, tmp_path, monkeypatch, scores):
    """And the folder's translator has them."""
    shutil.copytree(whole, tmp_path / "run")
    of_each = iter(scores)
    monkeypatch.setattr(_train, "corpus_bleu", lambda *given: BleuScore(next(of_each), "signature"))
    train_command(arguments(data, tmp_path / "run", "--resume"))
    folder = RunFolder(tmp_path / "run")
    assert folder.read_record()["chosen"] == ("averaged.pt" if scores == [1.0, 2.0] else "best.pt")
    model = folder.load().model
    assert not model.training
    assert_close(model.state_dict(), weights(folder.path / folder.read_record()["chosen"]), rtol=0, atol=0)


def test_the_averaged_weights_are_the_mean_of_the_last(whole):
    kept = [weights(path) for path in sorted(whole.glob("step-*.pt"))]
    for name, mean in weights(whole / "averaged.pt").items():
        if mean.is_floating_point():
            assert_close(mean, (kept[0][name] + kept[1][name]) / 2)


def test_the_best_weights_have_the_lowest_validation_loss(data, whole, tmp_path):
    """Where the loss falls, and where it rises again; with one tokenizer for both languages, and with one for each."""
    train_command(arguments(data, tmp_path / "rises", "--vocabulary separate --vocab-size 45 --learning-rate 50 --warmup 10"))
    pairs = read_line_pairs(data / "val.en", data / "val.fr")
    last_is_best = []
    for out in (whole, tmp_path / "rises"):
        losses, best = curve(out)["validation_losses"], RunFolder(out).load("best.pt")
        batches = token_batches(encode_pairs(best.tokenizer, pairs, best.target_tokenizer), 90)
        assert_close(evaluate(best.model, batches), min(losses.values()))
        last_is_best.append(min(losses, key=losses.get) == "10")
    assert last_is_best == [True, False]


def test_it_learns(data, tmp_path, capsys):
    train_command(
        arguments(data, tmp_path / "run", "--d-model 32 --learning-rate 2 --warmup 20 --steps 120 --every 60 --dropout 0")
    )
    losses = curve(tmp_path / "run")["losses"]
    assert sum(losses[-10:]) < 0.75 * sum(losses[:10])
    assert re.match(r"validation BLEU \d+\.\d\d \((best|averaged)\.pt\), nrefs:1", capsys.readouterr().out)


def test_gz_and_separate_vocabularies_and_pre_norm_and_no_validation(tmp_path):
    write_pairs(tmp_path / "data", "train", sentences(60, 0), lambda path, text: None)
    pack = lambda path, text: Path(f"{path}.gz").write_bytes(gzip.compress(text.encode()))
    write_pairs(tmp_path / "data", "train", sentences(60, 0), pack)
    train_command(
        arguments(tmp_path / "data", tmp_path / "run", "--vocabulary separate --vocab-size 45 --precision bfloat16 --pre-norm")
    )
    record = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert record["scores"] == {} and record["chosen"] == "averaged.pt"
    assert not record["model"]["shared_vocabulary"] and record["model"]["pre_norm"]
    tokenizers = [(tmp_path / "run" / f"tokenizer.{side}.json").read_text(encoding="utf-8") for side in ("source", "target")]
    assert '"horse"' in tokenizers[0] or "hor" in tokenizers[0]
    assert tokenizers[0] != tokenizers[1]
    translate_command(["my cat", "--model", str(tmp_path / "run"), "--output", str(tmp_path / "out.txt"), "--device", "cpu"])
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").count("\n") == 1
    translator = RunFolder(tmp_path / "run").load()
    loaded = [json.loads(one.backend.to_str()) for one in (translator.tokenizer, translator.target_tokenizer)]
    assert loaded == [json.loads(text)["tokenizer"] for text in tokenizers]


def test_a_pair_with_an_empty_side_is_left_out_and_counted(tmp_path):
    pairs = sentences(30, 0)
    write_pairs(tmp_path / "data", "train", [*pairs[:10], ("", "le chat"), ("the cat", " "), *pairs[10:]])
    train_command(arguments(tmp_path / "data", tmp_path / "run", "--steps 2"))
    record = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert record["pairs"]["train"] == 30 and record["empty_lines_left_out"]["train"] == 2


# Translating


def test_a_file_standard_input_and_an_argument_say_the_same(whole, tmp_path, monkeypatch, capsys):
    text = "my cat sees a dog\n\nthe bird\n"
    (tmp_path / "in.txt").write_text(text, encoding="utf-8")
    common = ["--model", str(whole), "--device", "cpu"]
    translate_command([*common, "--input", str(tmp_path / "in.txt")])
    from_file = capsys.readouterr().out
    assert from_file.count("\n") == 3 and from_file.split("\n")[1] == ""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    translate_command(common)
    assert capsys.readouterr().out == from_file
    translate_command([*common, "my cat sees a dog", "", "the bird"])
    assert capsys.readouterr().out == from_file
    translate_command([*common, "--output", str(tmp_path / "out.txt"), "--input", str(tmp_path / "in.txt")])
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == from_file


def test_as_many_lines_come_out_as_went_in(whole, tmp_path, monkeypatch, capsys):
    """Empty ones at the end too, and more of them than are translated at a time, each as it is translated alone."""
    common = ["--model", str(whole), "--device", "cpu", "--beam-size", "1"]
    for text in ("", "\n", "\n\n", "my cat\n\n\n", "\n\nmy cat"):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
        translate_command(common)
        ends = text.count("\n") + (not text.endswith("\n") and text != "")
        assert capsys.readouterr().out.count("\n") == ends, text


def test_each_line_gets_its_own_translation(monkeypatch):
    """Lines of different lengths, more than are sorted at a time, some empty: each as it is translated alone."""
    monkeypatch.setattr(_runs, "AT_A_TIME", 7)
    own = pretrained_translator("captions")
    translator = TextTranslator(own.model, own.tokenizer)
    things = ["a dog", "two men in red shirts", "a woman with a long black coat", "children"]
    places = ["on the beach .", "in front of a house .", "near a river and some trees ."]
    lines = [f"{thing} {place}" for place in places for thing in things]
    lines[3:3] = ["", " "]
    alone = [translator.translate(line) if line.strip() else "" for line in lines]
    assert len(set(alone)) == 13 and list(translator.translate_lines(lines, beam_size=1)) == alone


def in_a_process(given, **options):
    """Run `transformer-translate` in a process of its own."""
    code = "from transformer_lib._commands import translate_command; translate_command()"
    environment = {**os.environ, "PYTHONPATH": str(notebooks.ROOT)}
    return subprocess.Popen([sys.executable, "-c", code, *given], env=environment, text=True, **options)


@pytest.mark.skipif(not sys.prefix.isascii(), reason="torch cannot start in such a folder where Python may not use UTF-8")
def test_lines_are_utf8_in_every_locale():
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code = "import codecs, sys; from transformer_lib._commands import translate_command; translate_command(); "
    code += "sys.exit(codecs.lookup(sys.stdout.encoding).name)"
    options = {"env": {**os.environ, "PYTHONPATH": str(notebooks.ROOT), **locale}, "capture_output": True, "check": False}
    ended = subprocess.run([sys.executable, "-c", code, "--device", "cpu"], input=b"A boy plays .\n", **options)
    assert "garçon" in ended.stdout.decode("utf-8"), ended.stderr
    assert ended.stderr == b"ascii\n"


def test_ten_thousand_lines_need_no_more_memory_and_come_as_they_are_made(whole, tmp_path):
    code = "import resource, sys; from transformer_lib._commands import translate_command; translate_command(); "
    code += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    environment = {**os.environ, "PYTHONPATH": str(notebooks.ROOT)}
    del environment["TRANSFORMER_LIB_QUIET"]
    memory = {}
    for count in (2_000, 10_000):
        (tmp_path / "in.txt").write_text("my cat\n\nthe bird\nwe\n" * (count // 4), encoding="utf-8")
        given = ["--model", str(whole), "--device", "cpu", "--beam-size", "1", "--input", str(tmp_path / "in.txt")]
        with open(tmp_path / "said.txt", "wb") as said:
            options = {"env": environment, "stdout": subprocess.PIPE, "stderr": said, "text": True}
            running = subprocess.Popen([sys.executable, "-c", code, *given], **options)
            first = running.stdout.readline()
            assert first.strip() and running.poll() is None  # the others are still to come
            written = first + running.stdout.read()
        *bar, used = (tmp_path / "said.txt").read_text(encoding="utf-8").split()
        assert written.count("\n") == count and written.split("\n")[1] == "" and running.wait(60) == 0
        assert "translating:" in bar and any(f"{count}/{count}" in part for part in bar)
        memory[count] = int(used) / 1024  # Linux counts in kilobytes
    assert memory[10_000] - memory[2_000] < 30, memory


def test_a_closed_pipe_and_a_closed_standard_input_end_quietly(whole, tmp_path):
    common = ["--model", str(whole), "--device", "cpu"]
    (tmp_path / "in.txt").write_text("my cat sees a dog\n" * 3000, encoding="utf-8")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    reading = in_a_process([*common, "--input", str(tmp_path / "in.txt"), "--beam-size", "1"], **pipes)
    nothing = in_a_process(common, preexec_fn=lambda: os.close(0), **pipes)
    assert "\n" in reading.stdout.readline()
    reading.stdout.close()
    said = reading.stderr.read()
    assert "Error" not in said and reading.wait(60) == 0, said
    assert "standard input is closed" in nothing.communicate(timeout=60)[1] and nothing.returncode == 1


def test_the_search_is_the_one_that_was_asked_for(data, whole, tmp_path, monkeypatch):
    searches, real = [], translation.beam_search
    monkeypatch.setattr(translation, "beam_search", lambda *given: searches.append(given[3:]) or real(*given))
    translate_command(["my cat", "--model", str(whole), "--device", "cpu", "--beam-size", "3", "--alpha", "1.5"])
    assert searches == [(3, 1.5)]
    shutil.copytree(whole, tmp_path / "run")
    train_command(arguments(data, tmp_path / "run", "--resume --beam-size 2 --alpha 2.5"))
    assert searches[1:] == [(2, 2.5)] * 2


def test_ctrl_c_ends_quietly(whole, monkeypatch, capsys):
    def stopped():
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=SimpleNamespace(read=stopped)))
    with pytest.raises(SystemExit) as stop:
        translate_command(["--model", str(whole), "--device", "cpu"])
    assert stop.value.code == 130 and capsys.readouterr().err == "\ntransformer-translate: stopped\n"


def test_without_a_model_the_librarys_own_translates(capsys):
    translate_command(["A dog runs on the beach.", "--device", "cpu"])
    assert (
        capsys.readouterr().out == pretrained_translator("captions").translate("A dog runs on the beach.", beam_size=4) + "\n"
    )


def test_a_checkpoint_and_a_saved_translator_can_be_named(whole, tmp_path, capsys):
    translate_command(["the dog", "--model", str(whole / "best.pt"), "--device", "cpu"])
    assert capsys.readouterr().out.count("\n") == 1
    pretrained_translator().save(tmp_path / "own.pt")
    translate_command(["i am a student", "--model", str(tmp_path / "own.pt"), "--device", "cpu"])
    assert capsys.readouterr().out.count("\n") == 1
    assert Translator.load(tmp_path / "own.pt").tokenizer.encode("a")


def test_letters_and_special_names_never_met_are_unknown(whole):
    translator = RunFolder(whole).load()
    assert isinstance(translator, TextTranslator)
    assert 3 in translator.read("the 猫") and min(translator.read("<eos> <pad> cat")) == 3


@pytest.mark.parametrize("vocabulary", ["joint", "separate"])
def test_the_names_of_special_tokens_are_text(tmp_path, vocabulary):
    """Often enough in the training text to be learnt as one piece, and yet never the token of that name."""
    named = [(one.replace(" ", "<pad>"), f"{other.replace(' ', '<pad>')} <eos>") for one, other in sentences(60, seed=0)]
    write_pairs(tmp_path / "data", "train", named)
    train_command(arguments(tmp_path / "data", tmp_path / "run", f"--steps 1 --vocab-size 200 --vocabulary {vocabulary}"))
    for tokenizer in RunFolder(tmp_path / "run").load_tokenizers():
        for text in ("<pad>", "my<pad>cat", "my <eos> <unknown>"):
            assert min(tokenizer.encode(text)) >= 3
        assert tokenizer.decode(tokenizer.encode("<pad>")) == "<pad>"


# What the user can put right


def broken(kind):
    """Return a function that breaks the data, what more is given to the command, and what the error says."""
    mismatch = lambda folder: write_pairs(folder, "train", [*sentences(30, 0)]) or (folder / "train.fr").write_text("le\n" * 29)
    latin = lambda folder: (folder / "val.fr").write_bytes("chat\nété\n".encode("latin-1"))
    one_sided = lambda folder: write_pairs(folder, "train", [("the", ""), ("", "le"), ("a", " ")] + [(" ", "un")])
    nothing = lambda folder: None
    half = lambda folder: write_pairs(folder, "val", [("a", ""), ("", "b")])
    long = lambda folder: write_pairs(folder, "train", [*sentences(30, 0), ("the " * 5001, "le")])
    word = lambda folder: write_pairs(folder, "train", [*sentences(30, 0), ("a" * 1_000_000, "le")])
    return {
        "lines": (mismatch, "", r"\S*train\.en has 30 lines and \S*train\.fr has 29"),
        "utf-8": (latin, "", r"val\.fr, line 2, byte 1: this is not UTF-8"),
        "missing": (lambda folder: (folder / "train.en").unlink(), "", r"there is no file \S*train\.en, and no train\.en\.gz"),
        "half a validation set": (lambda folder: (folder / "val.fr").unlink(), "", r"there is no file \S*val\.fr"),
        "empty": (lambda folder: (folder / "train.en").write_text(""), "", r"train\.en, line 1: the file is empty"),
        "no pair": (one_sided, "", "pairs with two sides"),
        "language": (nothing, "--target de", r"train\.de"),
        "device": (nothing, "--device cuda:7", r"--device must be .*this machine.*cuda:7"),
        "tokens": (nothing, "--max-tokens 3", r"at most --max-tokens, 3, but this one of train has \d+ tokens: '\w+ "),
        "positions": (long, "--max-tokens 9000", "at most 5000 tokens, the model's positions, but this one of train"),
        "empty val": (half, "", r"val\.\* in \S+ \(pairs with two sides\)"),
        "long word": (word, "", "a word must have at most 10,000 letters, but one has 1,000,000"),
        "penalty": (nothing, "--alpha 1000", "--alpha must be in 0 … 10, but it is 1000.0"),
        "no penalty": (nothing, "--alpha nan", "--alpha must be in 0 … 10, but it is nan"),
        "gradient": (nothing, "--max-grad-norm -1", "--max-grad-norm must be above 0, but it is -1.0"),
        "rate": (nothing, "--learning-rate 0", "--learning-rate must be above 0"),
        "seed": (nothing, "--seed 1000000000000", "--seed must be in"),
        "nan": (nothing, "--steps 1 --learning-rate 1e30 --warmup 1", "the validation loss is nan after step 1"),
        "vocabulary": (nothing, "--vocab-size 5", r"vocab_size must be at least \d+, but it is 5"),
        "steps": (nothing, "--steps 0", "--steps must be at least 1"),
        "cool-down": (nothing, "--steps 9 --cooldown 10", "--cooldown must be in 0 … 9, but it is 10"),
        "heads": (nothing, "--num-heads 3", "num_heads"),
    }[kind]  # fmt: skip


KINDS = ["lines", "utf-8", "missing", "half a validation set", "empty", "no pair"]
KINDS += ["language", "device", "tokens", "vocabulary", "steps", "heads", "positions", "empty val", "long word"]
KINDS += ["cool-down", "penalty", "no penalty", "gradient", "rate", "seed", "nan"]


@pytest.mark.usefixtures("as_a_user_calls_it")
@pytest.mark.parametrize("kind", KINDS)
def test_an_error_names_file_line_or_argument(kind, tmp_path, capsys):
    write_pairs(tmp_path / "data", "train", sentences(30, 0))
    write_pairs(tmp_path / "data", "val", sentences(3, 1))
    damage, more, expected = broken(kind)
    damage(tmp_path / "data")
    assert re.search(expected, fails(capsys, train_command, arguments(tmp_path / "data", tmp_path / "run", more)))


def test_a_folder_that_is_none_is_named(tmp_path, capsys):
    error = fails(capsys, train_command, arguments(tmp_path / "none", tmp_path / "run"))
    assert "--data must be a folder or one of multi30k" in error


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--input", "none.txt"], "there is no file none.txt"),
        (["x", "--model", "none.pt"], "there is no file none.pt"),
        (["x", "--device", "cuda:9"], "--device must be"),
        (["x", "--input", "y"], "--input must be left out"),
        (["x", "--beam-size", "0"], "--beam-size must be at least 1, but it is 0"),
        (["x", "--alpha", "1000"], "--alpha must be in 0 … 10, but it is 1000.0"),
        (["un \udce9"], "text must be made of whole characters, but number 4 is '\\udce9'"),
        (["a" * 1_000_000], "a word must have at most 10,000 letters, but one has 1,000,000"),
        (["a cat", "a " * 6000], "line 2: text must have at most 5000 tokens"),
    ],
)
def test_an_error_of_translating_names_the_argument(given, expected, capsys):
    assert expected in fails(capsys, translate_command, given)


def test_a_text_that_is_not_utf_8_names_standard_input(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"good\n\xe9t\xe9\n")))
    assert "standard input, line 2, byte 1: this is not UTF-8" in fails(capsys, translate_command, [])


def test_a_vocabulary_that_does_not_fit_the_checkpoint_is_named(data, whole, tmp_path, capsys):
    out = tmp_path / "run"
    train_command(arguments(data, out, "--steps 4"))
    train_command(arguments(data, tmp_path / "other", "--steps 1 --vocab-size 50"))
    (out / "tokenizer.source.json").write_bytes((tmp_path / "other" / "tokenizer.source.json").read_bytes())
    capsys.readouterr()
    expected = r"tokenizer\.source\.json does not fit the checkpoint \S+\.pt: the vocabulary has 50 tokens, .* with 60"
    assert re.search(expected, fails(capsys, translate_command, ["cat", "--model", str(out)]))
    assert re.search(expected, fails(capsys, train_command, arguments(data, out, "--resume")))


def test_a_run_is_not_written_over(data, whole, capsys):
    assert "resume" in fails(capsys, train_command, arguments(data, whole))


def test_a_run_goes_on_with_its_own_arguments(data, whole, capsys):
    said = fails(capsys, train_command, arguments(data, whole, "--resume --max-tokens 100"))
    assert re.search(r"--max-tokens must be 90 as in \S+run\.json, but it is 100", said)


MAY_CHANGE = "--steps 12 --cooldown 2 --average 1 --beam-size 1 --alpha 0.1 --accumulation-steps 2 --device auto"
MUST_STAY = {
    "source": "fr", "target": "en", "config": "base", "num_layers": 2, "d_model": 8, "num_heads": 1, "d_ff": 8, "dropout": 0.2,
    "pre_norm": "", "vocabulary": "separate", "vocab_size": 50, "max_tokens": 100, "every": 5, "learning_rate": 0.4,
    "warmup": 300, "smoothing": 0.2, "max_grad_norm": 0.5, "seed": 1, "precision": "bfloat16",
}  # fmt: skip


def test_of_each_option_it_is_known_whether_it_may_change():
    may = {name.replace("-", "_") for name in re.findall("--([a-z-]+)", MAY_CHANGE)}
    may |= {"data", "out", "resume", "compile", "recipe"}
    assert may | MUST_STAY.keys() == vars(train_parser().parse_args(["--data", "x", "--out", "y"])).keys()
    assert not may & MUST_STAY.keys()


@pytest.mark.parametrize("name", MUST_STAY)
def test_an_option_that_makes_another_run_must_stay(data, whole, capsys, name):
    argument = f"--{name.replace('_', '-')}"
    said = fails(capsys, train_command, arguments(data, whole, f"--resume {argument} {MUST_STAY[name]}"))
    assert f"{argument} must be " in said and f"as in {whole / 'run.json'}" in said


def test_an_option_of_what_comes_after_may_change(whole, data, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    train_command(arguments(data, tmp_path / "run", f"--resume {MAY_CHANGE}"))
    record = RunFolder(tmp_path / "run").read_record()
    assert record["steps"] == 12 and {score["alpha"] for score in record["scores"].values()} == {0.1}


@pytest.mark.parametrize("changed", ["train", "val"])
def test_a_run_goes_on_with_its_own_data(whole, tmp_path, capsys, changed):
    """As many pairs, in another order: each sentence with another's translation."""
    count, seed = (60, 0) if changed == "train" else (6, 1)
    write_pairs(tmp_path, "train", sentences(60, seed=0))
    write_pairs(tmp_path, "val", sentences(6, seed=1))
    english, french = zip(*sentences(count, seed), strict=True)
    write_pairs(tmp_path, changed, list(zip(english, french[::-1], strict=True)))
    said = fails(capsys, train_command, arguments(tmp_path, whole, "--resume"))
    name = {"train": "training", "val": "validation"}[changed]
    assert f"the {name} data must be" in said


def test_a_run_of_before_goes_on_as_far_as_its_record_knows(data, whole, tmp_path):
    """Earlier records count the pairs, and have no checksum of them."""
    train_command(arguments(data, tmp_path / "run", "--steps 8"))
    folder = RunFolder(tmp_path / "run")
    record = folder.read_record()
    del record["settings"]["training_data"], record["settings"]["validation_data"]
    record["settings"]["training_pairs"] = 60
    folder.record.write_text(json.dumps(record), encoding="utf-8")
    train_command(arguments(data, folder.path, "--resume"))
    assert_same_bits(folder.path, whole)


def test_a_folder_in_use_is_left_alone(data, tmp_path, capsys):
    out = tmp_path / "run"
    with RunFolder(out).locked():
        before = sorted(out.iterdir())
        assert f"another run writes to {out}" in fails(capsys, train_command, arguments(data, out))
        assert sorted(out.iterdir()) == before
    train_command(arguments(data, out, "--steps 1"))
    train_command(arguments(data, out, "--steps 2 --resume"))


def test_a_run_that_was_killed_keeps_nobody_out(data, tmp_path):
    done = launch(tmp_path / "notes", 2, arguments(data, tmp_path / "run"))
    assert done.returncode == -9, done.stderr
    with RunFolder(tmp_path / "run").locked():
        pass


@pytest.mark.parametrize(
    "record",
    ["{", "{}", "[]", "3", '{"model": []}', {"d_modl": 16}, {"d_model": "16"}, {"d_model": 16.0}, {"pre_norm": 1},
     {"num_layers": 10**12}, {"d_ff": 10**12}, {"num_heads": 3}],
    ids=str,
)  # fmt: skip
def test_a_record_that_describes_no_model_is_named(whole, tmp_path, capsys, record):
    shutil.copytree(whole, tmp_path / "run")
    if isinstance(record, dict):  # the run's own, with this change
        written = RunFolder(whole).read_record()
        record = json.dumps(written | {"model": written["model"] | record})
    (tmp_path / "run" / "run.json").write_text(record, encoding="utf-8")
    assert "run.json" in fails(capsys, translate_command, ["the cat", "--model", str(tmp_path / "run"), "--device", "cpu"])


def test_a_gpu_is_taken_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    for count, name, rank, expected in [(0, "auto", None, "cpu"), (2, "auto", 1, "cuda:1"), (2, "cuda", None, "cuda:0")]:
        monkeypatch.setattr(torch.cuda, "device_count", lambda count=count: count)
        assert str(choose_device(name, rank)) == expected


# Stopped, and going on


def launch(folder, step, given, processes=None, start=subprocess.run, **options):
    """Run `scaling_run.py` in a process of its own, or in several, and return how it ended; some options are variables."""
    folder.mkdir(exist_ok=True)
    torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"] if processes else []
    command = [sys.executable, *torchrun, "tests/scaling_run.py", folder, step, *given]
    variables = {name: str(options.pop(name)) for name in [*options] if name.isupper()}
    environment = {**os.environ, "PYTHONPATH": str(notebooks.ROOT), **variables}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return start([*map(str, command)], cwd=notebooks.ROOT, env=environment, **{**pipes, **options})


def test_killed_and_resumed_ends_with_the_same_bits(data, whole, tmp_path):
    out = tmp_path / "run"
    done = launch(tmp_path / "notes", 7, arguments(data, out))
    assert done.returncode == -9, done.stderr
    assert len(torch.load(out / "last.pt", weights_only=True)["extra"]["history"]["losses"]) == 4
    train_command(arguments(data, out, "--resume"))
    assert_same_bits(out, whole)


def test_a_finished_run_can_go_on(data, whole, tmp_path):
    train_command(arguments(data, tmp_path / "run", "--steps 8"))
    train_command(arguments(data, tmp_path / "run", "--resume"))
    assert_same_bits(tmp_path / "run", whole)


@pytest.mark.parametrize("call", [1, 3, 4, 6, 9])
def test_a_full_disk_loses_no_whole_file(data, whole, tmp_path, monkeypatch, capsys, call):
    """The disk is full at the `call`-th file that is written: a tokenizer, the record, a checkpoint."""
    calls, real = [], os.fsync

    def full(file):
        calls.append(file)
        if len(calls) == call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(file)

    monkeypatch.setattr(_files.os, "fsync", full)
    out = tmp_path / "run"
    said = fails(capsys, train_command, arguments(data, out))
    assert f"cannot write to {out}: No space left on device" in said and "--resume" in said
    assert not list(out.glob(".*"))
    train_command(arguments(data, out, "--resume"))
    assert_same_bits(out, whole)


def test_a_file_that_the_system_cuts_off_is_named(data, tmp_path):
    """torch's own writer meets the error here, in the middle of a checkpoint.

    Python must not store what it compiles in such a process: it would not notice that the file was cut off.
    """
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
    given = arguments(data, tmp_path / "run")
    done = launch(tmp_path / "notes", 0, given, preexec_fn=limit, PYTHONDONTWRITEBYTECODE=1)
    assert done.returncode == 1 and f"cannot write to {tmp_path / 'run'}: File too large" in done.stderr, done.stderr
    assert not (tmp_path / "run" / "last.pt").exists()


def test_two_processes_are_one_run(data, tmp_path):
    """The same losses as one process with the batch of both; process 0 alone writes; killed and resumed, the same again."""
    still = "--dropout 0"
    train_command(arguments(data, tmp_path / "one", still))
    two = launch(tmp_path / "notes", 0, arguments(data, tmp_path / "two", f"{still} --accumulation-steps 2"), processes=2)
    assert two.returncode == 0, two.stderr
    assert sorted(path.name for path in (tmp_path / "notes").iterdir()) == ["0"]
    assert_close(curve(tmp_path / "two")["losses"], curve(tmp_path / "one")["losses"], rtol=1e-5, atol=1e-5)
    ours, theirs = weights(tmp_path / "two" / "last.pt"), weights(tmp_path / "one" / "last.pt")
    # A key's bias has no gradient but rounding, which Adam makes large: softmax does not see it.
    moved = [name for name in theirs if not name.endswith("key_projection.bias")]
    assert_close({name: ours[name] for name in moved}, {name: theirs[name] for name in moved}, rtol=1e-3, atol=1e-4)

    out = tmp_path / "killed"
    killed = launch(tmp_path / "notes", 7, arguments(data, out, f"{still} --accumulation-steps 2"), processes=2)
    assert killed.returncode != 0
    assert len(torch.load(out / "last.pt", weights_only=True)["extra"]["history"]["losses"]) == 4
    again = launch(tmp_path / "notes", 0, arguments(data, out, f"{still} --accumulation-steps 2 --resume"), processes=2)
    assert again.returncode == 0, again.stderr
    assert_close(curve(out)["losses"], curve(tmp_path / "two")["losses"], rtol=1e-6, atol=1e-6)
    assert_close(weights(out / "last.pt"), ours, rtol=1e-5, atol=1e-6)
    assert sorted(path.name for path in (tmp_path / "notes").iterdir()) == ["0"]


@pytest.mark.parametrize("busy", [0, 60])
def test_a_process_that_dies_ends_the_others_with_one_line(data, tmp_path, busy):
    """Whether the other waits for it, or is busy for a minute: then torchrun ends it before it can notice."""
    ended = launch(tmp_path / "notes", -2, arguments(data, tmp_path / "run"), processes=2, timeout=50, BUSY=busy)
    assert ended.returncode != 0
    ours = [line for line in ended.stderr.splitlines() if "transformer" in line and "scaling_run" not in line]
    assert "RuntimeError" not in ended.stderr, ended.stderr
    assert [line.partition(": ")[2] for line in ours] == ["another process of the run has stopped; go on with --resume"]


def wait_for(found, process, seconds):
    """Return what `found` returns as soon as it is something; the process must not end before."""
    until = time.monotonic() + seconds
    while not (it := found()):
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.2)
    return it


@pytest.mark.parametrize("frozen", [0, 1])
def test_a_process_that_is_frozen_ends_the_others_with_one_line(data, tmp_path, frozen):
    """In the middle of a step, where the other waits for its gradients; half a second is a beat here, and ten are patience."""
    notes, said = tmp_path / "notes", tmp_path / "said"
    given, step = arguments(data, tmp_path / "run"), -2 if frozen else 2
    with open(said, "w") as file:
        running = launch(notes, step, given, 2, subprocess.Popen, stderr=file, FREEZE=1, BEAT=0.5)
    try:
        wait_for((notes / "frozen").exists, running, 200)
        begun = time.monotonic()
        running.communicate(timeout=60)
        assert time.monotonic() - begun > 3
    finally:
        if running.poll() is None:  # the test has failed, and nothing may stay behind
            if (notes / "frozen").exists():
                os.kill(int((notes / "frozen").read_text()), signal.SIGKILL)
            running.communicate(timeout=60)
    ours = [line for line in said.read_text().splitlines() if line.startswith("transformer-train")]
    expected = f"transformer-train: process {frozen} of the run has not answered for 5 seconds; go on with --resume"
    assert running.returncode != 0 and ours == [expected], said.read_text()


def test_a_long_validation_is_no_sign_of_death(data, tmp_path):
    """Process 0 measures for longer than the others' patience lasts, and they wait for it."""
    ended = launch(tmp_path / "notes", 0, arguments(data, tmp_path / "run", "--steps 5"), 2, BEAT=0.5, SLOW=6, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert len(curve(tmp_path / "run")["validation_losses"]) == 2


def test_the_commands_are_installed():
    scripts = tomllib.loads((notebooks.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert scripts.keys() == {"transformer-train", "transformer-translate"}
    for place in scripts.values():
        module, name = place.split(":")
        assert callable(getattr(import_module(module), name))


def test_every_pair_is_in_some_batch():
    pairs = [(torch.arange(3, 3 + n % 5 + 1).tolist(), [4] * (n % 7) + [2]) for n in range(40)]
    assert sum(len(batch.source) for batch in token_batches(pairs, 40, seed=3)) == 40
