"""Files that are damaged, foreign or forged, for every reader: whole what was written, or an error that names the file.

Each file is read in a process of its own, with a limit on its time and on the memory that it may ask for.
"""

import contextlib
import copy
import faulthandler
import gzip
import io
import json
import os
import random
import resource
import shutil
import signal
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from transformer_lib import decoding, encoder, schedule, text, training, translation
from transformer_lib._runs import RunFolder

SECONDS, MEMORY = 20, 4 * 2**30  # what one reader may take


@dataclass(frozen=True)
class Reader:
    """One line of the table: a file that is right, what reads it, and what it then holds.

    `write(folder)` returns the file's path. `read(path)` returns what it holds, in plain values, and uses it once; `kept()`,
    where there is one, what it must leave as it was when it refuses the file.
    """

    names: tuple[str, ...]
    write: Callable[[Path], Path]
    read: Callable[[Path], Any]
    kept: Callable[[], Any] = lambda: None


READERS: list[Reader] = []

# Other values of one field.
FORGED = [None, True, -1, 0, 2**70, 10**30, 0.5, float("nan"), "", "x", [], {}, [1, 2], {"a": 1}, [[]], "\ud800", 1e300, b"x"]


def _damage(data: bytes, chance: random.Random) -> bytes:
    """Return the bytes with one thing wrong."""
    at = chance.randrange(len(data) or 1)
    return chance.choice(
        [
            lambda: data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :],
            lambda: data[:at],
            lambda: data[at:],
            lambda: data[:at] + chance.randbytes(chance.randrange(1, 50)) + data[at:],
            lambda: data[:at] + data[at + chance.randrange(1, 50) :],
            lambda: data + data[:at],
            lambda: chance.randbytes(chance.randrange(200)),
            lambda: b"",
            lambda: gzip.compress(data)[: at + 20],
            lambda: b"\xff\xfe" + data,
            lambda: data.replace(b"\n", b"\r\n"),
            lambda: data + b"\0" * 3,
        ]
    )()


def _places(value: Any, place: tuple = ()) -> list[tuple]:
    """Return the ways to all values inside `value`."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    return [place] * bool(place) + [found for key, item in inside for found in _places(item, (*place, key))][:400]


def _replaced(value: Any, place: tuple, change: Callable[[Any], Any]) -> Any:
    """Return `value` with something else at one place, or nothing where `change` returns `...`."""
    if not place:
        return change(value)
    items = dict(value) if isinstance(value, dict) else dict(enumerate(value))
    new = _replaced(items[place[0]], place[1:], change)
    if new is ...:
        del items[place[0]]
    else:
        items[place[0]] = new
    return items if isinstance(value, dict) else type(value)(items.values())


def _forge(value: Any, chance: random.Random) -> Any:
    """Return a value of the same make with another field, none, or one more."""

    def change(old: Any) -> Any:
        if isinstance(old, torch.Tensor) and chance.random() < 0.7:
            # Of a complex one the real part: torch warns where it is dropped.
            others = [old.real.double(), old.flatten(), old[None], old[:0] if old.ndim else old, old.to(torch.complex64)]
            others += [old.real.long(), torch.full_like(old, 3), old.to_sparse() if old.ndim else old]
            return chance.choice(others)
        if isinstance(old, dict) and chance.random() < 0.5:
            return {**old, chance.choice(["more", 7, ""]): 1}
        return chance.choice([*FORGED, ...])

    places = _places(value)
    for _ in range(chance.choice([1, 1, 2])):
        place = chance.choice(places)
        with contextlib.suppress(KeyError, TypeError):  # the first change took the place away
            value = _replaced(value, place, change)
    return value


def _forged_file(path: Path, chance: random.Random) -> None:
    """Write a file that is well made, with its checksums right, but holds something else."""
    data = path.read_bytes()
    if data[:2] == b"PK":
        value, file = _forge(torch.load(path, weights_only=True), chance), io.BytesIO()
        torch.save(value, file)
        path.write_bytes(file.getvalue())
    else:
        value = json.loads(data)
        if chance.random() < 0.8:  # as in a file of before
            value.pop("checksum", None)
        path.write_text(json.dumps(_forge(value, chance), default=str), encoding="utf-8", errors="surrogatepass")


def _bomb(path: Path, chance: random.Random) -> None:
    """Write a file whose pickle would run a command, or whose numbers fill the memory."""

    class Run:
        def __reduce__(self) -> tuple:
            return os.system, (f"touch {path}.ran",)

    old = chance.random() < 0.5
    torch.save({"format": "transformer_lib checkpoint 1", "model": Run()}, path, _use_new_zipfile_serialization=not old)


def spoil_file(path: Path, chance: random.Random) -> str:
    """Put something wrong into a file and return what kind of thing."""
    well_made = path.read_bytes()[:2] == b"PK" or path.suffix == ".json"
    kind = chance.choice(["damaged", "forged", "forged", "bomb"] if well_made else ["damaged"])
    if kind == "forged":
        _forged_file(path, chance)
    elif kind == "bomb":
        _bomb(path, chance)
    else:
        path.write_bytes(_damage(path.read_bytes(), chance))
    return kind


# The readers


def reader(*names: str, write: Callable[[Path], Path], kept: Callable[[], Any] | None = None) -> Callable[[Callable], Callable]:
    """Put a function that reads a file into the table."""

    def enter(read: Callable[[Path], Any]) -> Callable[[Path], Any]:
        READERS.append(Reader(names, write, read, *([kept] if kept else [])))
        return read

    return enter


class Run:
    """A small run of Adam with a schedule, in which checkpoints are saved and loaded."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = nn.Linear(2, 3)
        self.optimizer = schedule.transformer_optimizer(self.model)
        self.schedule = schedule.NoamSchedule(self.optimizer, 4, 10)

    def step(self) -> None:
        """Make a step with what was loaded."""
        self.optimizer.zero_grad()
        self.model(torch.ones(1, 2)).sum().backward()
        self.optimizer.step()
        self.schedule.step()

    def parts(self) -> Any:
        """Return all that a refused file must not change."""
        return copy.deepcopy([self.model.state_dict(), self.optimizer.state_dict(), self.schedule.state_dict()])


RUN = Run()


def _write_checkpoint(folder: Path) -> Path:
    run = Run()
    run.step()
    training.save_checkpoint(folder / "a.pt", run.model, run.optimizer, run.schedule, {"more": [1, 2.5, "x", torch.ones(2)]})
    return folder / "a.pt"


@reader("load_checkpoint", write=_write_checkpoint, kept=RUN.parts)
def _(path):
    extra = training.load_checkpoint(path, RUN.model, RUN.optimizer, RUN.schedule)
    loaded = RUN.parts()
    RUN.step()
    return extra, loaded


@reader("average_checkpoints", write=_write_checkpoint, kept=RUN.parts)
def _(path):
    training.average_checkpoints([path, path], RUN.model)
    loaded = RUN.parts()
    RUN.step()
    return loaded


_BATCH = training.Batch.from_pairs([([1, 2], [1, 2]), ([2], [1, 1, 2])])


class Words(nn.Module):
    """Logits from the last token alone."""

    def __init__(self) -> None:
        super().__init__()
        self.scores = nn.Parameter(torch.zeros(3, 3))

    def forward(self, source: torch.Tensor, target_in: torch.Tensor) -> torch.Tensor:
        return self.scores[target_in]


def _run(path: Path, steps: int) -> training.History:
    model = Words()
    optimizer = schedule.transformer_optimizer(model)
    parts = {"optimizer": optimizer, "schedule": schedule.NoamSchedule(optimizer, 4, 10)}
    checkpoint = training.Checkpoint(path, 1, resume=True)
    return training.train(
        model, [_BATCH], steps=steps, validation=training.Validation([_BATCH], 1), checkpoint=checkpoint, **parts
    )


def _write_run(folder: Path) -> Path:
    _run(folder / "last.pt", 2)
    return folder / "last.pt"


@reader("train", "Checkpoint", write=_write_run)
def _(path):
    return _run(path, 3).losses


def _write_vocabulary(folder: Path) -> Path:
    text.Vocabulary(["a", "b", "été", "한국"], 4, 2).save(folder / "words.json")
    return folder / "words.json"


@reader("Vocabulary.load", write=_write_vocabulary)
def _(path):
    loaded = text.Vocabulary.load(path)
    return loaded.decode(range(len(loaded))), loaded.encode(["a", "another"])


_PHRASES = ["I am here.", "you are there.", "we don't go", "le chat est là"]


def _write_tokenizer(folder: Path) -> Path:
    translation.BytePairTokenizer.train(_PHRASES, 50).save(folder / "pieces.json")
    return folder / "pieces.json"


@reader("BytePairTokenizer.load", write=_write_tokenizer)
def _(path):
    loaded = translation.BytePairTokenizer.load(path)
    return loaded.encode("you am there"), loaded.decode(range(4, len(loaded)))


def _small_translator() -> translation.Translator:
    torch.manual_seed(0)
    pieces = translation.BytePairTokenizer.train(_PHRASES, 50)
    sizes = {"d_model": 4, "num_layers": 1, "num_heads": 2, "d_ff": 4, "max_len": 30}
    config = encoder.TransformerConfig(**sizes, source_vocab_size=len(pieces), target_vocab_size=len(pieces))
    return translation.Translator(decoding.CachedTransformer(config).eval(), pieces, sentences=_PHRASES)


def _write_translator(folder: Path) -> Path:
    _small_translator().save(folder / "translator.pt")
    return folder / "translator.pt"


@reader("Translator.load", write=_write_translator)
def _(path):
    loaded = translation.Translator.load(path)
    return loaded.model.state_dict(), loaded.translate("you are here"), loaded.words and loaded.unknown_words("you are")


def _write_folder(folder: Path) -> None:
    from dataclasses import asdict

    translator, run = _small_translator(), RunFolder(folder)
    run.write_record({"settings": {"steps": 3}, "model": asdict(translator.model.config), "chosen": "best.pt"})
    for side in ("source", "target"):
        translator.tokenizer.save(run.tokenizer(side))
    training.save_checkpoint(folder / "best.pt", translator.model)


def _one_of_folder(name: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        _write_folder(folder)
        return folder / name

    return write


def _read_folder(path: Path) -> Any:
    translator = RunFolder(path.parent).load()
    return translator.model.state_dict(), list(translator.translate_lines(["you are here", ""], 1))


for _name in ("run.json", "best.pt", "tokenizer.source.json"):
    reader("RunFolder.load", write=_one_of_folder(_name))(_read_folder)


def _write_text(folder: Path) -> Path:
    (folder / "other.txt").write_text("un chat\nune fille\nété\n", encoding="utf-8")
    path = folder / "lines.txt"
    path.write_text("a cat\na girl\nsummer\n", encoding="utf-8")
    return path


def _lines(data: bytes) -> list[str]:
    """Return the lines of a text file, read in the simplest way."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8").split("\n")
    return [line.removesuffix("\r") for line in lines[: -1 if lines[-1] == "" else None]]


@reader("ParallelCorpus.from_files", write=_write_text)
def _(path):
    pairs = translation.ParallelCorpus.from_files(path, path.parent / "other.txt").train
    right = zip(_lines(path.read_bytes()), ["un chat", "une fille", "été"], strict=True)
    assert pairs == tuple((one.strip(), other) for one, other in right if one.strip()), pairs


def _write_table(folder: Path) -> Path:
    path = folder / "table.txt"
    path.write_text("id\tdocument\tlabel\n1\tgood\t1\n2\tbad\t0\n3\t\t1\n", encoding="utf-8")
    return path


@reader("read_reviews", write=_write_table)
def _(path):
    reviews = text.read_reviews(path)
    lines = _lines(path.read_bytes())
    while not lines[-1]:
        lines.pop()
    rows = [line.split("\t") for line in lines]
    place, label = rows[0].index("document"), rows[0].index("label")
    assert reviews == [(row[place], int(row[label])) for row in rows[1:]], reviews


def _write_reviews(folder: Path) -> Path:
    for name in ("pos", "neg"):
        (folder / name).mkdir()
        (folder / name / "1.txt").write_text("a film\nand more\n", encoding="utf-8")
    return folder / "pos" / "1.txt"


@reader("read_reviews", write=_write_reviews)
def _(path):
    reviews = text.read_reviews(path.parent.parent)
    assert reviews == [("a film\nand more", 0), ("\n".join(_lines(path.read_bytes())), 1)], reviews


# One file


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and one.equal(other)
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other


def _attempt(case: Reader, path: Path, kind: str, whole: Any) -> str:
    """Read a file that is not right; return "accepted" or "refused", or what went wrong.

    A damaged file that is accepted holds what the `whole` one holds.
    """
    before = case.kept()
    try:
        found = case.read(path)
        end = "accepted" if kind != "damaged" or _same(found, whole) else f"holds something else: {found!r}"
    except (ValueError, FileNotFoundError) as error:
        end = "refused" if path.name in str(error) or str(path.parent) in str(error) else f"does not name the file: {error!r}"
        if not _same(before, case.kept()):
            end = f"changed something, then {error!r}"
    except BaseException as error:  # a panic of the tokenizer's library is no Exception
        end = repr(error)
    return "the file ran a command" if Path(f"{path}.ran").exists() else end


def _read_alone(case: Reader, path: Path, kind: str, whole: Any, start: int) -> None:
    """Read a file in this process, which has limits from now on; tell through the pipe `start` how it ended."""
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1), os.dup2(silent, 2)
    faulthandler.disable()  # pytest has given it a standard error of its own
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(SECONDS)
    RUN.__init__()
    os.write(start, _attempt(case, path, kind, whole).replace("\n", " ")[:1500].encode("utf-8", "backslashreplace"))


def try_file(case: Reader, path: Path, kind: str, whole: Any) -> str:
    """Let another process read a file that is not right, and return how it ended."""
    end, start = os.pipe()
    child = os.fork()  # all is imported already
    if child == 0:
        try:
            _read_alone(case, path, kind, whole, start)
        finally:
            os._exit(0)
    os.close(start)
    with os.fdopen(end, "rb") as pipe:
        said = pipe.read().decode("utf-8")
    _, status = os.waitpid(child, 0)
    cause = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "an error of its own"
    return said or f"the process was ended by {cause}"


def try_files(case: Reader, count: int, seed: int) -> list[tuple[str, str]]:
    """Let one reader read so many files that are not right; return what was done to each, and how it ended."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "whole").mkdir()
        written = case.write(folder / "whole").relative_to(folder / "whole")
        shutil.copytree(folder / "whole", folder / "right")
        RUN.__init__()
        whole = case.read(folder / "right" / written)
        for number in range(count):
            path, chance = folder / str(number) / written, random.Random(f"{seed} {case.names} {number}")
            shutil.copytree(folder / "whole", folder / str(number))
            kind = spoil_file(path, chance)
            found.append((kind, try_file(case, path, kind, whole)))
            shutil.rmtree(folder / str(number))
    return found
