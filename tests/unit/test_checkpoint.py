"""Files appear whole or not at all and run no code; a stopped run goes on as if it had never stopped."""

import copy
import os
from dataclasses import asdict, replace
from pathlib import Path
from zipfile import ZipFile

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer_lib import checkpoint
from transformer_lib.checkpoint import atomic_write, load_checkpoint, open_tensors, save_checkpoint, write_json, write_tensors
from transformer_lib.cli import RunFolder
from transformer_lib.decoding import CachedTransformer
from transformer_lib.schedule import NoamSchedule, transformer_optimizer
from transformer_lib.training import Batch, Checkpoint, Validation, average_checkpoints, token_batches, train, training_step
from transformer_lib.transformer import TransformerConfig
from transformer_lib.translation import BytePairTokenizer, Translator, pretrained_translator

TOKENIZER = BytePairTokenizer.train(["the cat sees a dog", "le chat voit un chien"], 40)
VOCAB = len(TOKENIZER)
SIZES = {"d_model": 8, "num_layers": 1, "num_heads": 2, "d_ff": 16, "dropout": 0.3, "shared_vocabulary": True}
CONFIG = TransformerConfig(source_vocab_size=VOCAB, target_vocab_size=VOCAB, **SIZES)


def model(seed=0, **sizes):
    torch.manual_seed(seed)
    return CachedTransformer(replace(CONFIG, **sizes))


def batches(epoch):
    generator = torch.Generator().manual_seed(epoch)
    words = lambda: torch.randint(4, VOCAB, (int(torch.randint(1, 6, (), generator=generator)),), generator=generator).tolist()
    return token_batches([(words(), [*words(), 2]) for _ in range(20)], 30, seed=epoch)


def parts(seed=0):
    """Return a model, its optimizer and its schedule, after three steps."""
    made = model(seed)
    optimizer = transformer_optimizer(made)
    schedule = NoamSchedule(optimizer, 8, 5)
    train(made, batches, steps=3, optimizer=optimizer, schedule=schedule)
    return made, optimizer, schedule


def states(some):
    return copy.deepcopy([part.state_dict() for part in some])


@pytest.mark.parametrize("fails", [None, "write", "fsync", "replace"])
def test_a_file_appears_whole_or_not_at_all(tmp_path, monkeypatch, fails):
    def fail(*_):
        raise OSError("the disk is full")

    path = tmp_path / "a.pt"
    path.write_bytes(b"old")
    if fails in ("fsync", "replace"):
        monkeypatch.setattr(checkpoint.os, fails, fail)
    try:
        with atomic_write(str(path)) as file:
            file.write(b"new")
            file.flush()
            assert path.read_bytes() == b"old"
            if fails == "write":
                fail()
    except OSError:
        assert fails
    assert path.read_bytes() == (b"old" if fails else b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_saved_is_written_so(tmp_path, monkeypatch):
    def fail(new, path):
        raise OSError("the disk is full")

    monkeypatch.setattr(checkpoint.os, "replace", fail)
    path = tmp_path / "a"
    path.write_bytes(b"old")
    for save in (lambda path: save_checkpoint(path, model()), TOKENIZER.save, Translator(model(), TOKENIZER).save):
        with pytest.raises(OSError, match="disk is full"):
            save(path)
        assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def write_run(path):
    write_json(path, "record of a run", {"settings": {}, "model": asdict(CONFIG), "chosen": "best.pt"})
    for side in ("source", "target"):
        TOKENIZER.save(path.with_name(f"tokenizer.{side}.json"))
    save_checkpoint(path.with_name("best.pt"), model())


# Of each kind: how it is written to a file, and how it is read.
FILES = {
    "tokenizer": (TOKENIZER.save, BytePairTokenizer.load),
    "record": (write_run, lambda path: RunFolder(path.parent).load()),
    "translator": (Translator(model(), TOKENIZER).save, Translator.load),
    "checkpoint": (lambda path: save_checkpoint(path, model()), lambda path: load_checkpoint(path, model())),
}
EACH_FILE = pytest.mark.parametrize("kind", FILES)


def refused(read, path):
    """Check that the file is refused with one line that names it."""
    with pytest.raises(ValueError) as error:
        read(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


@EACH_FILE
def test_a_damaged_file_is_named(kind, tmp_path):
    path, (write, read) = tmp_path / "run.json", FILES[kind]
    write(path)
    read(path)
    whole = path.read_bytes()
    for share in (0, 0.1, 0.5, 0.9):
        path.write_bytes(whole[: int(share * len(whole))])
        refused(read, path)
    for content in (b"{}", b"[]", b"null", b'{"format": 3}', b"\xff\xfe", b"je suis\n" * 99, bytes(5000)):
        path.write_bytes(content)
        refused(read, path)
    if whole.startswith(b"PK"):  # a zip file: one bit of its largest part is another
        path.write_bytes(whole)
        with ZipFile(path) as file:
            part = max(map(file.read, file.namelist()), key=len)
        path.write_bytes(whole.replace(part, bytes([part[0] ^ 1]) + part[1:]))
        refused(read, path)


@EACH_FILE
def test_a_file_of_another_kind_or_of_a_later_version_is_named(kind, tmp_path, monkeypatch):
    path, (write, read) = tmp_path / "run.json", FILES[kind]
    monkeypatch.setattr(checkpoint, "VERSION", 2)
    write(path)
    monkeypatch.undo()
    refused(read, path)
    for other in FILES:
        if other != kind:
            FILES[other][0](path)
            refused(read, path)


@pytest.mark.parametrize(
    "read", [lambda path: load_checkpoint(path, model()), Translator.load], ids=["checkpoint", "translator"]
)
def test_a_file_runs_no_code(tmp_path, monkeypatch, read):
    class Attack:
        def __reduce__(self):
            return os.mkdir, ("attacked",)

    monkeypatch.chdir(tmp_path)
    torch.save({"model": Attack(), "config": Attack(), "tokenizer": Attack()}, "attack.pt")
    refused(read, Path("attack.pt"))
    assert not Path("attacked").exists()


def test_older_files_are_read(tmp_path):
    """Without a format, or with a checksum; a tokenizer that stands in its file alone; a translator with one tokenizer."""
    Translator(model(), TOKENIZER, sentences=["the cat"]).save(tmp_path / "new.pt")
    with open_tensors(tmp_path / "new.pt", "translator") as saved:
        del saved["target_tokenizer"], saved["words"], saved["config"]["positions"]
        torch.save(saved, tmp_path / "old.pt")
    old, new = (Translator.load(tmp_path / name) for name in ("old.pt", "new.pt"))
    assert old.model.config == new.model.config and not old.words and new.words == {"the", "cat"}
    assert old.translate(["the cat", "a dog"]) == new.translate(["the cat", "a dog"])
    (tmp_path / "pieces.json").write_text(TOKENIZER.backend.to_str(), encoding="utf-8")
    assert BytePairTokenizer.load(tmp_path / "pieces.json").encode("the cat") == TOKENIZER.encode("the cat")
    assert pretrained_translator().translate("I am a student") == "je suis étudiant"  # its file is of 2026


def test_what_was_saved_comes_back(tmp_path):
    """The state of each part, with a rate that was set by hand; and weights that are tied stay one."""
    saved, loaded = parts(), parts(seed=1)
    saved[1].param_groups[0]["lr"] = 0.125
    extra = {"words": ["je", "suis"], "nested": {"losses": [1.5, 2.5]}}
    save_checkpoint(tmp_path / "a.pt", *saved, extra)
    assert load_checkpoint(str(tmp_path / "a.pt"), *loaded) == extra
    assert_close(states(loaded), states(saved), rtol=0, atol=0)
    assert loaded[1].param_groups[0]["lr"] == 0.125
    assert loaded[0].output.weight is loaded[0].source_embedding.weight
    with pytest.raises(FileNotFoundError, match="none"):
        load_checkpoint(tmp_path / "none.pt", loaded[0])


@pytest.mark.parametrize("other", [lambda: model(d_model=16), lambda: model(num_layers=2), lambda: nn.Linear(8, VOCAB)])
def test_another_models_weights_change_nothing(tmp_path, other):
    paths = [tmp_path / "ours.pt", tmp_path / "theirs.pt"]
    for path, one in zip(paths, (model(), other()), strict=True):
        save_checkpoint(path, one)
    for path, mine in zip(paths, (other(), model()), strict=True):
        before = copy.deepcopy(mine.state_dict())
        with pytest.raises(ValueError, match=rf"{path.name} .*another model"):
            load_checkpoint(path, mine)
        with pytest.raises(ValueError, match="another model"):
            average_checkpoints(paths, mine)
        assert_close(mine.state_dict(), before, rtol=0, atol=0)


def test_an_optimizer_that_is_missing_or_another_changes_no_weight(tmp_path):
    (theirs, _, schedule), mine = parts(), parts(seed=1)
    save_checkpoint(tmp_path / "weights.pt", theirs)
    groups = torch.optim.Adam([{"params": [parameter]} for parameter in theirs.parameters()])
    save_checkpoint(tmp_path / "groups.pt", theirs, groups, schedule)
    before = states(mine[:2])
    for name in ("weights", "groups"):
        with pytest.raises(ValueError, match=name):
            load_checkpoint(tmp_path / f"{name}.pt", *mine)
    assert_close(states(mine[:2]), before, rtol=0, atol=0)


STEPS = 13


def run(path=None, resume=False, steps=STEPS, stop=None):
    """Train with everything that has a state: dropout, Adam, a schedule, shuffled batches, measurements in between."""
    trained = model(12)
    torch.rand(99 if resume else 0)  # whatever was drawn before it goes on
    optimizer, calls = transformer_optimizer(trained), []

    def step(*given):
        calls.append(given)
        loss = training_step(*given, accumulation_steps=2, max_grad_norm=1.0)
        if len(calls) == stop:
            raise KeyboardInterrupt
        return loss

    history = train(
        trained,
        batches,
        steps=steps,
        optimizer=optimizer,
        schedule=NoamSchedule(optimizer, 8, 5),
        step=step,
        validation=Validation([Batch.from_pairs([([4, 5], [6, 2])])], every=2),
        checkpoint=path and Checkpoint(path, every=3, resume=resume),
    )
    return trained.state_dict(), history


@pytest.fixture(scope="module")
def whole():
    """A run that nothing stopped."""
    return run()


@pytest.mark.parametrize("stop", [1, 4, 8, STEPS])
def test_a_stopped_run_ends_with_the_same_bits(tmp_path, whole, stop):
    """Stopped at the end of a step, before the first checkpoint and after it, in the first epoch and in later ones."""
    path = tmp_path / "run.pt"
    with pytest.raises(KeyboardInterrupt):
        run(path, stop=stop)
    if stop == 8:  # an older file, with another name for the position
        with open_tensors(path, "checkpoint") as saved:
            saved["extra"]["place"] = saved["extra"].pop("position")
        write_tensors(path, "checkpoint", saved)
    resumed, history = run(path, resume=path.exists())
    assert path.exists() and history == whole[1]
    assert all(resumed[name].equal(weight) for name, weight in whole[0].items())


def test_a_folder_that_is_missing_is_made_before_the_first_step(tmp_path):
    assert Checkpoint(tmp_path / "new" / "last.pt").load((), steps=1) is None and (tmp_path / "new").is_dir()


def test_a_finished_run_may_become_longer_and_is_not_written_over(tmp_path, whole):
    path = tmp_path / "run.pt"
    run(path, steps=7)
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="resume=True"):
        run(path)
    with pytest.raises(ValueError, match="steps must be at least 7"):
        run(path, resume=True, steps=6)
    assert len(run(path, resume=True, steps=7)[1].losses) == 7 and path.read_bytes() == before
    longer, history = run(path, resume=True)
    assert history.losses == whole[1].losses and history.learning_rates == whole[1].learning_rates
    assert all(longer[name].equal(weight) for name, weight in whole[0].items())
