"""The commands: what a run leaves, what each option reaches, as many lines out as in, and errors of one line."""

import gzip
import io
import json
import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from small_run import arguments, assert_same_bits, curve, sentences, weights, write_data, write_pairs
from torch.testing import assert_close

from transformer_lib import cli, translation
from transformer_lib.cli import RunFolder, TextTranslator, choose_device, train_command, train_parser, translate_command
from transformer_lib.data import read_line_pairs
from transformer_lib.scaling import DistributedStep
from transformer_lib.schedule import noam_rate
from transformer_lib.training import evaluate, token_batches
from transformer_lib.translation import BleuScore, encode_pairs, pretrained_translator


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """A run that nothing stopped."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    train_command(arguments(data, out))
    return out


@pytest.fixture
def run(whole, tmp_path):
    """A copy of it, to change."""
    return Path(shutil.copytree(whole, tmp_path / "run"))


def fails(capsys, command, given):
    """Return the one line on standard error with which `command` gives up."""
    with pytest.raises(SystemExit) as stop:
        command(given)
    said = capsys.readouterr().err
    assert stop.value.code in (1, 2) and said.count("\n") == 1, said
    return said


def translated(capsys, given):
    capsys.readouterr()
    translate_command([*given, "--device", "cpu"])
    return capsys.readouterr().out


def reading(monkeypatch, content):
    """Let standard input hold `content`."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))


def test_a_run_leaves_all_that_it_promises(whole):
    record = json.loads((whole / "run.json").read_text(encoding="utf-8"))
    assert record["chosen"] in record["scores"] and record["scores"].keys() == {"best.pt", "averaged.pt"}
    for score in record["scores"].values():
        assert 0 <= score["bleu"] <= 100 and re.search(r"tok:13a\|.*version:", score["signature"])
    assert all(score["chrf"] > 0 for score in record["scores"].values()) and record["long_pairs_left_out"] == 0
    assert record["settings"]["max_tokens"] == 90 and {"python", "torch", "sacrebleu"} <= record["versions"].keys()
    assert len(record["curve"]["losses"]) == record["steps"] == 10 and record["pairs"] == {"train": 60, "val": 6}
    assert list(record["curve"]["validation_losses"]) == ["4", "8", "10"]
    assert record["seconds"] > 0 and record["target_tokens_per_second"] > 0
    kept = sorted(whole.glob("step-*"))
    assert [path.name for path in kept] == ["step-0000008.pt", "step-0000010.pt"] and not list(whole.glob(".*"))
    for name, mean in weights(whole / "averaged.pt").items():
        assert_close(mean, sum(weights(path)[name] for path in kept) / 2)


def test_each_option_reaches_what_it_is_for(data, tmp_path, monkeypatch):
    seeds, steps, real = [], [], cli.token_batches
    monkeypatch.setattr(cli, "DistributedStep", lambda *given, **more: steps.append(more) or DistributedStep(*given, **more))
    monkeypatch.setattr(cli, "token_batches", lambda *given, seed=None: seeds.append(seed) or real(*given, seed=seed))
    more = "--smoothing 0.3 --precision bfloat16 --accumulation-steps 2 --max-grad-norm 0.5 --warmup 3 --learning-rate 2"
    train_command(arguments(data, tmp_path / "run", f"{more} --seed 5 --steps 6"))
    assert steps == [{"precision": "bfloat16", "smoothing": 0.3, "accumulation_steps": 2, "max_grad_norm": 0.5}]
    # It may go on with another end, in a straight line to 0 over the last steps.
    train_command(arguments(data, tmp_path / "run", f"{more} --seed 5 --cooldown 4 --resume"))
    assert [seed for seed in seeds if seed and seed > 5] == [500_015, 500_015, 500_016]  # epoch 0, again, and 1
    falls = [1, 1, 1, 1, 1, 1, 1, 3 / 4, 2 / 4, 1 / 4]
    rates = [2 * noam_rate(step, 16, warmup=3) * share for step, share in enumerate(falls, start=1)]
    assert_close(curve(tmp_path / "run")["learning_rates"], rates)


def test_a_finished_run_can_go_on(data, whole, tmp_path):
    train_command(arguments(data, tmp_path / "run", "--steps 8 --resume"))
    train_command(arguments(data, tmp_path / "run", "--resume"))
    assert_same_bits(tmp_path / "run", whole)


def test_the_best_weights_have_the_lowest_validation_loss(data, whole, tmp_path):
    """Where the loss falls, and where it rises again; with one tokenizer for both languages, and with one for each."""
    train_command(arguments(data, tmp_path / "rises", "--vocabulary separate --vocab-size 45 --learning-rate 50 --warmup 10"))
    pairs, last_is_best = read_line_pairs(data / "val.en", data / "val.fr"), []
    for out in (whole, tmp_path / "rises"):
        losses, best = curve(out)["validation_losses"], RunFolder(out).load("best.pt")
        batches = token_batches(encode_pairs(best.tokenizer, pairs, best.target_tokenizer), 90)
        assert_close(evaluate(best.model, batches), min(losses.values()))
        last_is_best.append(min(losses, key=losses.get) == "10")
    assert last_is_best == [True, False]


@pytest.mark.parametrize("chosen", ["averaged.pt", "best.pt"])
def test_the_weights_with_the_higher_score_are_chosen(data, run, monkeypatch, chosen):
    """And the search is the one that was asked for."""
    scores, searches, real = iter([1.0, 2.0] if chosen == "averaged.pt" else [2.0, 1.0]), [], translation.beam_search
    monkeypatch.setattr(cli, "corpus_bleu", lambda *given: BleuScore(next(scores), "signature"))
    monkeypatch.setattr(translation, "beam_search", lambda *given: searches.append(given[3:]) or real(*given))
    train_command(arguments(data, run, "--resume --beam-size 2 --alpha 2.5"))
    assert searches == [(2, 2.5)] * 2 and RunFolder(run).read_record()["chosen"] == chosen
    model = RunFolder(run).load().model
    assert not model.training
    assert_close(model.state_dict(), weights(run / chosen), rtol=0, atol=0)


def test_packed_files_two_vocabularies_and_no_validation(tmp_path, capsys):
    pairs, pack = [*sentences(60, seed=0), ("", "le chat"), ("the cat", " ")], lambda text: gzip.compress(text.encode())
    write_pairs(tmp_path, "train", pairs, ".gz", pack)
    train_command(arguments(tmp_path, tmp_path / "run", "--vocabulary separate --vocab-size 45 --pre-norm --steps 2"))
    said = capsys.readouterr().out
    assert "no validation set" in said and f'transformer-translate --model "{tmp_path / "run"}"' in said
    record = RunFolder(tmp_path / "run").read_record()
    assert record["scores"] == {} and record["chosen"] == "averaged.pt"
    assert record["model"]["pre_norm"] and not record["model"]["shared_vocabulary"]
    assert record["pairs"]["train"] == 60 and record["empty_lines_left_out"]["train"] == 2
    source, target = RunFolder(tmp_path / "run").tokenizers()
    assert "w" not in target.backend.get_vocab() and "y" in source.backend.get_vocab()
    assert translated(capsys, ["my cat", "--model", str(tmp_path / "run")]).count("\n") == 1


def test_a_gpu_is_taken_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    for count, name, rank, expected in [(0, "auto", 0, "cpu"), (2, "auto", 1, "cuda:1"), (2, "cuda", 0, "cuda:0")]:
        monkeypatch.setattr(torch.cuda, "device_count", lambda count=count: count)
        monkeypatch.setenv("LOCAL_RANK", str(rank))
        assert str(choose_device(name)) == expected


def test_a_file_standard_input_and_an_argument_say_the_same(whole, tmp_path, monkeypatch, capsys):
    text = "my cat sees a dog\n\nthe bird\n"
    (tmp_path / "in.txt").write_text(text, encoding="utf-8")
    model = ["--model", str(whole)]
    said = translated(capsys, [*model, "--input", str(tmp_path / "in.txt")])
    assert said.count("\n") == 3 and said.split("\n")[1] == ""
    reading(monkeypatch, text.encode())
    assert translated(capsys, model) == said
    assert translated(capsys, [*model, "my cat sees a dog", "", "the bird"]) == said
    assert translated(capsys, [*model, "--input", str(tmp_path / "in.txt"), "--output", str(tmp_path / "out.txt")]) == ""
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == said


@pytest.mark.parametrize("text", ["", "\n", "\n\n", "my cat\n\n\n", "\n\nmy cat"])
def test_as_many_lines_come_out_as_went_in(whole, monkeypatch, capsys, text):
    reading(monkeypatch, text.encode())
    assert translated(capsys, ["--model", str(whole)]).count("\n") == len(text.splitlines())


def test_each_line_gets_its_own_translation(monkeypatch):
    """Lines of different lengths, more than are sorted at a time, some empty: each as it is translated alone."""
    monkeypatch.setattr(cli, "CHUNK_SIZE", 5)
    own = pretrained_translator("captions")
    translator = TextTranslator(own.model, own.tokenizer)
    places, things = ("on the beach .", "near a river and some trees ."), ("two men in red", "a dog")
    lines = [f"{thing} {place}" for place in places for thing in things]
    lines = ["children .", *lines, "", " ", *lines[::-1]]
    alone = [translator.translate(line) if line.strip() else "" for line in lines]
    assert len(set(alone)) == 6 and list(translator.translate_lines(lines, beam_size=1)) == alone


def test_each_kind_of_model_can_be_named(whole, tmp_path, capsys, monkeypatch):
    """A folder, a checkpoint in it, a saved translator; without one the library's own translates."""
    assert RunFolder(whole).read_record()["chosen"] == "best.pt"
    ways = [translated(capsys, ["the dog", "--model", str(path)]) for path in (whole, whole / "best.pt")]
    assert ways[0] == ways[1]
    pretrained_translator().save(tmp_path / "own.pt")
    assert translated(capsys, ["I am a student", "--model", str(tmp_path / "own.pt")]) == "je suis étudiant\n"
    assert translated(capsys, ["I am a student", "--model", "translator"]) == "je suis étudiant\n"
    monkeypatch.chdir(whole)  # a run's folder has no model of this name
    assert translated(capsys, ["A dog runs on the beach."]) == "Un chien court sur la plage.\n"
    assert translated(capsys, ["I AM A STUDENT", "--model", "translator"]) == "je suis étudiant\n"  # it has no capital S
    for model, text in (("captions", "A quokka – runs, 你好"), (str(whole), "the quokka – 你好")):
        translate_command([text, "--model", model])
        assert capsys.readouterr().err == "no training sentence had: quokka, 你, 好, –\n"


def raising(error):
    def read():
        raise error

    return SimpleNamespace(buffer=SimpleNamespace(read=read))


def test_ctrl_c_and_a_reader_that_has_enough_end_quietly(monkeypatch, capsys):
    closed = []
    monkeypatch.setattr(cli.os, "dup2", lambda *given: closed.append(given[1]))
    monkeypatch.setattr(sys, "stdin", raising(BrokenPipeError()))
    assert translated(capsys, []) == "" and closed == [1]
    monkeypatch.setattr(sys, "stdin", raising(KeyboardInterrupt()))
    with pytest.raises(SystemExit) as stop:
        translate_command([])
    assert stop.value.code == 130 and capsys.readouterr().err == "\ntransformer-translate: stopped\n"


OPTIONS = {
    "--target de": r"there is no file \S*train\.de", "--device cuda:7": "--device must be .*this machine.*cuda:7",
    "--max-tokens 2": "at most 2 tokens .--max-tokens. must hold", "--alpha 1000": "--alpha: must be in 0 … 10, but it is 1000",
    "--alpha nan": "--alpha: must be in", "--max-grad-norm 0": "--max-grad-norm: must be in", "--steps 0": "must be in 1",
    "--seed 1000000000000": "--seed: must be in", "--vocab-size 5": "vocab_size", "--num-heads 3": "num_heads",
    "--steps many": "--steps: invalid int value", "--steps 1 --learning-rate 1e30 --warmup 1": "the validation loss is nan",
    "--recipe large": "--recipe: invalid choice", "--unknown": "unrecognized arguments: --unknown",
}  # fmt: skip
FILES = {
    "train.en": {b"": "the file is empty", b"a\n" * 29: r"train\.en has 29 lines, but \S*train\.fr has 60"},
    "val.fr": {b"chat\n\xe9t\xe9\n": r"val\.fr, line 2: this is not UTF-8", None: r"there is no file \S*val\.fr"},
}


@pytest.mark.usefixtures("as_a_user_calls_it")
@pytest.mark.parametrize("options", OPTIONS)
def test_a_wrong_option_is_one_line_that_names_it(options, data, tmp_path, capsys):
    assert re.search(OPTIONS[options], fails(capsys, train_command, arguments(data, tmp_path / "run", options)))


@pytest.mark.parametrize(("name", "content"), [(name, content) for name in FILES for content in FILES[name]])
def test_a_file_that_cannot_be_used_is_one_line_that_names_it(name, content, tmp_path, capsys):
    write_data(tmp_path)
    (tmp_path / name).unlink() if content is None else (tmp_path / name).write_bytes(content)
    assert re.search(FILES[name][content], fails(capsys, train_command, arguments(tmp_path, tmp_path / "run")))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--input", "none.txt"], "No such file"), (["x", "--model", "none.pt"], "there is no file none.pt"),
        (["x", "--device", "cuda:9"], "--device must be"), (["x", "--input", "y"], "--input must be left out"),
        (["x", "--beam-size", "0"], "--beam-size: must be in 1"), (["x", "--alpha", "1000"], "--alpha: must be in 0 … 10"),
        (["a cat", "a " * 6000], "text must have at most 5000 tokens"), ([], "standard input, line 2: this is not UTF-8"),
    ],
)  # fmt: skip
def test_an_error_of_translating_is_one_line(given, expected, monkeypatch, capsys):
    reading(monkeypatch, b"good\n\xe9t\xe9\n")
    assert expected in fails(capsys, translate_command, given)


def test_a_folder_that_is_damaged_is_named(run, tmp_path, capsys):
    given, record = ["the cat", "--model", str(run)], RunFolder(run).read_record()
    assert "there is no file" in fails(capsys, translate_command, [*given[:2], str(tmp_path)])
    pretrained_translator().tokenizer.save(run / "tokenizer.source.json")
    assert f"the tokenizers of {run} have other vocabularies" in fails(capsys, translate_command, given)
    record["model"]["num_heads"] = 3
    (run / "run.json").write_text(json.dumps(record), encoding="utf-8")
    assert "run.json" in fails(capsys, translate_command, given)


MUST_STAY = {
    "source": "fr", "target": "en", "config": "base", "num_layers": 2, "d_model": 8, "num_heads": 1, "d_ff": 8, "dropout": 0.2,
    "pre_norm": "", "vocabulary": "separate", "vocab_size": 50, "max_tokens": 100, "every": 5, "learning_rate": 0.4,
    "warmup": 300, "smoothing": 0.2, "max_grad_norm": 0.5, "seed": 1, "precision": "bfloat16",
}  # fmt: skip


def test_of_each_option_it_is_known_whether_it_may_change():
    known = vars(train_parser().parse_args(["--data", "x", "--out", "y"])).keys()
    assert known - MUST_STAY.keys() == cli.RESUMABLE_OPTIONS | cli.NOT_RECORDED


@pytest.mark.parametrize("name", MUST_STAY)
def test_an_option_that_makes_another_run_must_stay(data, whole, capsys, name):
    said = fails(capsys, train_command, arguments(data, whole, f"--resume --{name.replace('_', '-')} {MUST_STAY[name]}"))
    assert f"{name} must be " in said and f"as in {whole / 'run.json'}" in said


def test_a_new_run_in_an_old_folder_averages_its_own_weights_alone(data, run):
    shutil.copy(run / "step-0000010.pt", run / "step-0000010-mine.pt")
    (run / "last.pt").unlink()
    train_command(arguments(data, run, "--steps 4"))
    assert {path.name for path in run.glob("step-*")} == {"step-0000004.pt", "step-0000010-mine.pt"}


def test_an_option_of_what_comes_after_may_change(data, run):
    may_change = "--steps 12 --cooldown 2 --average 1 --beam-size 1 --alpha 0.1 --accumulation-steps 2 --device auto"
    train_command(arguments(data, run, f"--resume {may_change}"))
    record = RunFolder(run).read_record()
    assert record["steps"] == 12 and {score["alpha"] for score in record["scores"].values()} == {0.1}


@pytest.mark.parametrize("changed", ["train", "val"])
def test_a_run_goes_on_with_its_own_data(whole, tmp_path, capsys, changed):
    """As many pairs, in another order: each sentence with another's translation."""
    write_data(tmp_path)
    english, french = zip(*sentences(*{"train": (60, 0), "val": (6, 1)}[changed]), strict=True)
    write_pairs(tmp_path, changed, list(zip(english, french[::-1], strict=True)))
    name = {"train": "training_data", "val": "validation_data"}[changed]
    assert f"{name} must be" in fails(capsys, train_command, arguments(tmp_path, whole, "--resume"))


def test_a_folder_in_use_or_with_a_run_is_left_alone(data, run, capsys):
    before = {path: path.read_bytes() for path in run.iterdir()}
    assert "holds a run: go on with --resume" in fails(capsys, train_command, arguments(data, run))
    with RunFolder(run).locked():
        assert f"another run writes to {run}" in fails(capsys, train_command, arguments(data, run, "--resume --steps 12"))
    assert {path: path.read_bytes() for path in run.iterdir()} == before
    train_command(arguments(data, run, "--resume --steps 12"))
