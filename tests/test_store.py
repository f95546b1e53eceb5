"""What the library stores is read whole and checked, or not at all: damaged, foreign, forged, of a later version, of before."""

import json
import shutil
import sys
import zipfile

import pytest
import torch

from transformer_lib import _store
from transformer_lib._runs import RunFolder
from transformer_lib._store import check_like, read_tensors, write_json, write_tensors
from transformer_lib.decoding import CachedTransformer
from transformer_lib.teaching import record
from transformer_lib.text import Vocabulary
from transformer_lib.training import load_checkpoint, save_checkpoint
from transformer_lib.transformer import TransformerConfig
from transformer_lib.translation import BytePairTokenizer, Translator

TOKENIZER = BytePairTokenizer.train(["the cat sees a dog", "le chat voit un chien"], 40)
SIZES = {"d_model": 8, "num_layers": 1, "num_heads": 2, "d_ff": 16, "source_vocab_size": 40, "target_vocab_size": 40}
RECORD = {
    "settings": {"seed": 3, "max_grad_norm": float("inf")},
    "model": SIZES,
    "curve": {"losses": [5.5], "learning_rates": [0.1], "validation_losses": {4: 5.1}, "tokens": 3, "seconds": 1.5},
    "chosen": "best.pt",
}


def model():
    return CachedTransformer(TransformerConfig(**SIZES))


# Of each kind: how it is written to a file, and how it is read.
KINDS = {
    "vocabulary": (Vocabulary(["the", "cat", "été"], oov_buckets=2).save, Vocabulary.load),
    "tokenizer": (TOKENIZER.save, BytePairTokenizer.load),
    "translator": (lambda path: Translator(model(), TOKENIZER).save(path), Translator.load),
    "checkpoint": (lambda path: save_checkpoint(path, model()), lambda path: load_checkpoint(path, model())),
    "run.json": (
        lambda path: RunFolder(path.parent).write_record(RECORD),
        lambda path: RunFolder(path.parent).read_record(),
    ),
    "record.json": (lambda path: write_json(path, "record", {"numbers": [1, 2.5]}, indent=1), lambda path: record(path.stem)),
}
OF_JSON = [name for name in KINDS if name not in ("translator", "checkpoint")]
EACH = pytest.mark.parametrize("kind", KINDS)
EACH_OF_JSON = pytest.mark.parametrize("kind", OF_JSON)


@pytest.fixture
def file(kind, tmp_path, monkeypatch):
    """A file of the kind, and what reads it."""
    monkeypatch.setattr(sys.modules[record.__module__], "files", lambda package: tmp_path)
    write, read = KINDS[kind]
    path = tmp_path / kind
    write(path)
    read(path)
    return path, read


def refused(path, read):
    """Return the one line with which the file is refused."""
    with pytest.raises(ValueError) as error:
        read(path)
    said = str(error.value)
    assert str(path) in said and "\n" not in said, said
    return said


@EACH
def test_a_file_that_is_cut_off_is_named(file):
    path, read = file
    whole = path.read_bytes()
    for share in (0, 0.1, 0.5, 0.99):
        path.write_bytes(whole[: int(share * len(whole)) - 1 if share else 0])
        refused(path, read)


@EACH_OF_JSON
def test_one_changed_letter_is_noticed(file):
    """Of a word or a number: what is left is JSON, and like a file that was never damaged."""
    path, read = file
    text = path.read_text(encoding="utf-8")
    changes = [("cat", "cut"), ("2.5", "2.4"), ("best", "last"), ('"the"', '"she"')]
    found = [(old, new) for old, new in changes if old in text]
    assert found
    for old, new in found:
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        assert "it is damaged: its checksum is another" in refused(path, read)


@EACH
def test_a_later_version_says_so(kind, file, monkeypatch):
    path, read = file
    monkeypatch.setattr(_store, "VERSION", 2)
    KINDS[kind][0](path)
    monkeypatch.undo()
    monkeypatch.setattr(sys.modules[record.__module__], "files", lambda package: path.parent)
    assert "its format is 2, that of a later version of the library; this one reads 1" in refused(path, read)


@EACH
def test_a_file_of_another_kind_is_no_such_file(kind, file, tmp_path):
    """Neither one of this library's, nor one of somebody else's."""
    path, read = file
    (tmp_path / "others").mkdir()
    for other in KINDS:
        if other != kind and (other in OF_JSON) == (kind in OF_JSON):
            KINDS[other][0](tmp_path / "others" / other)
            shutil.copy(tmp_path / "others" / other, path)
            assert "its format is" in refused(path, read)
    for text in ("", "null", "[]", "3", "[" * 100_000, "9" * 5000, '{"format": []}', "\ud800"):
        path.write_bytes(text.encode(errors="surrogatepass"))
        refused(path, read)


@EACH_OF_JSON
def test_a_file_of_before_is_still_read(kind, file):
    """Then there was neither a format nor a checksum, and a tokenizer stood in its file alone."""
    path, read = file
    after = vars(read(path)) if kind == "vocabulary" else read(path)
    saved = json.loads(path.read_text(encoding="utf-8"))
    del saved["format"], saved["checksum"]
    path.write_text(json.dumps(saved.get("tokenizer", saved)), encoding="utf-8")
    before = vars(read(path)) if kind == "vocabulary" else read(path)
    if kind == "tokenizer":
        after, before = after.backend.to_str(), before.backend.to_str()
    assert before == after


def test_a_translator_of_before_is_still_read(tmp_path):
    Translator(model(), TOKENIZER, sentences=["the cat"]).save(tmp_path / "new.pt")
    saved = torch.load(tmp_path / "new.pt", weights_only=True)
    del saved["format"], saved["target_tokenizer"], saved["words"], saved["config"]["positions"]
    torch.save(saved, tmp_path / "old.pt")
    old, new = (Translator.load(tmp_path / name) for name in ("old.pt", "new.pt"))
    assert old.model.config == new.model.config and not old.words
    assert old.translate(["the cat", "a dog"]) == new.translate(["the cat", "a dog"])


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "words.json"
    Vocabulary(["the"]).save(path)
    before = path.read_bytes()
    with pytest.raises(UnicodeEncodeError):
        write_json(path, "vocabulary", {"words": ["\ud800"], "oov_buckets": 1})
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


# Forged: the format and the checksums are right


HUGE = 10**12
PIECES = json.loads(TOKENIZER.backend.to_str())
IDS = PIECES["model"]["vocab"]


def pieces(**model):
    return {"tokenizer": PIECES | {"model": PIECES["model"] | model}}


FORGED = {
    "vocabulary": [
        {"words": ["the"]}, {"words": ["the"], "oov_buckets": 1, "more": 1}, {"words": ["the"], "oov_buckets": -1},
        {"words": ["the"], "oov_buckets": 10**30}, {"words": ["the"], "oov_buckets": True}, {"words": {}, "oov_buckets": 1},
        {"words": ["the", "the"], "oov_buckets": 1}, {"words": ["the", None], "oov_buckets": 1},
    ],
    "tokenizer": [
        {}, {"tokenizer": 3}, {"tokenizer": {}}, {"tokenizer": PIECES, "more": 1}, {"tokenizer": PIECES | {"more": 1}},
        pieces(unk_token="zz"), pieces(unk_token=None), pieces(vocab={}), pieces(vocab=IDS | {"a": 99}),
        pieces(vocab=IDS | {"a": -1}), pieces(vocab=IDS | {"a": HUGE}), pieces(vocab=IDS | {"a": IDS.get("the", 5)}),
        pieces(vocab=IDS | {"<pad>": 1, "<sos>": 0}), pieces(merges=[["x", "y"]]), pieces(merges=[3]), pieces(dropout=0.9),
        {"tokenizer": PIECES | {"normalizer": None}}, {"tokenizer": PIECES | {"decoder": None}},
        {"tokenizer": PIECES | {"added_tokens": []}}, {"tokenizer": PIECES | {"padding": {"strategy": "BatchLongest"}}},
    ],
    "run.json": [
        {}, {"model": SIZES}, {"settings": {}}, {"settings": [], "model": SIZES}, {"settings": {}, "model": {"d_model": "8"}},
        {"settings": {}, "model": {"d_model": -8}}, {"settings": {}, "model": {"dropout": float("nan")}},
        {"settings": {}, "model": SIZES, "chosen": "../../other.pt"}, {"settings": {}, "model": SIZES, "chosen": 3},
        {"settings": {}, "model": SIZES, "parameters": -1}, {"settings": {}, "model": SIZES, "seconds": float("nan")},
        {"settings": {}, "model": SIZES, "curve": {"losses": 3}}, {"settings": {}, "model": SIZES, "more": 1},
        {"settings": {}, "model": SIZES, "pairs": {"train": 3}},
    ],
}  # fmt: skip
CASES = [(kind, content) for kind, contents in FORGED.items() for content in contents]


@pytest.mark.parametrize(("kind", "content"), CASES, ids=[f"{kind} {n}" for n, (kind, _) in enumerate(CASES)])
def test_forged_content_is_refused(kind, content, file):
    path, read = file
    write_json(path, "record of a run" if kind == "run.json" else kind, content)
    refused(path, read)


def changed(name, **values):
    return lambda saved: saved | {name: {**saved[name], **values}}


OF_TRANSLATORS = {
    "unknown field": lambda saved: saved | {"more": 1},
    "no weights": lambda saved: {name: value for name, value in saved.items() if name != "weights"},
    "unknown size": changed("config", d_modl=8),
    "text for a size": changed("config", d_model="8"),
    "no number": changed("config", dropout=float("nan")),
    "many layers": changed("config", num_layers=HUGE),
    "wide": changed("config", d_model=HUGE),
    "long": changed("config", max_len=HUGE),
    "many words": changed("config", source_vocab_size=HUGE),
    "few words": changed("config", source_vocab_size=20),
    "unknown weight": changed("weights", more=torch.zeros(1)),
    "wrong shape": changed("weights", **{"output.weight": torch.zeros(40, 9).half()}),
    "wrong kind": changed("weights", **{"output.weight": torch.zeros(40, 8)}),
    "not finite": changed("weights", **{"output.weight": torch.full((40, 8), torch.nan).half()}),
    "text for a weight": changed("weights", **{"output.weight": "weight"}),
    "a weight without numbers": changed("weights", **{"output.weight": torch.zeros(40, 8, device="meta").half()}),
    "another tokenizer": lambda saved: saved | {"tokenizer": json.dumps(PIECES | {"normalizer": None})},
    "no tokenizer": lambda saved: saved | {"target_tokenizer": "{}"},
    "words": lambda saved: saved | {"words": [3]},
    "half a character": lambda saved: saved | {"words": ["\ud800"]},
}


@pytest.mark.parametrize("forge", OF_TRANSLATORS.values(), ids=OF_TRANSLATORS)
def test_a_forged_translator_is_refused(forge, tmp_path):
    path = tmp_path / "translator.pt"
    Translator(model(), TOKENIZER).save(path)
    write_tensors(path, "translator", forge(read_tensors(path, "translator", dict)))
    refused(path, Translator.load)


def test_what_is_compressed_is_not_unpacked(tmp_path):
    """A small file could ask for all of the memory."""
    path = tmp_path / "translator.pt"
    Translator(model(), TOKENIZER).save(path)
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "small.pt", "w", zipfile.ZIP_DEFLATED) as small:
        for part in whole.namelist():
            small.writestr(part, whole.read(part))
    assert torch.load(tmp_path / "small.pt", weights_only=True).keys() == torch.load(path, weights_only=True).keys()
    refused(tmp_path / "small.pt", Translator.load)


# One value like another


@pytest.mark.parametrize(
    ("value", "pattern", "message"),
    [
        (True, 0, "x must be of type int, but it is True"),
        (1, True, "x must be of type bool, but it is 1"),
        (1.0, 0, "x must be of type int, but it is 1.0"),
        ("1", 0.0, "x must be of type float, but it is of type str"),
        (-1, 0, "x must not be negative, but it is -1"),
        (2**63, int, "x must be a finite number, but it is 9223372036854775808"),
        (float("inf"), 1.0, "x must be a finite number, but it is inf"),
        ("\ud800", str, "x must be made of whole characters"),
        ([1, "2"], [int, ...], r"x\[1\] must be of type int"),
        ([1], [0, 0], "x must have 2 items, but it has 1"),
        ((1, 2), [int, ...], "x must be of type list, but it is of type tuple"),
        ({"a": 1, "b": {}}, {"a": 0, "b": {"c": 0}}, r"x\['b'\] must have 'c', but it has not"),
        ({"a": 1, "b": 2}, {"a": 0}, "x must have no 'b', but it has"),
        ({1: 1}, {str: 0}, "x must have no 1, but it has"),
        (torch.zeros(2), torch.zeros(3), r"x must be torch.float32 of shape \(3,\), but it is torch.float32 of shape \(2,\)"),
        (torch.tensor([torch.inf]), torch.zeros(1), "x must hold finite numbers"),
    ],
)  # fmt: skip
def test_what_is_unlike_is_named(value, pattern, message):
    with pytest.raises(ValueError, match=message):
        check_like("x", value, pattern)


@pytest.mark.parametrize(
    ("value", "pattern"),
    [
        (1, 0.0), (-1, int), (-1, -5), (float("inf"), float("inf")), ([], [int, ...]), ([3, 4], [0, ...]), ({}, {str: int}),
        ({"a": [1]}, dict), (None, None), (torch.tensor([-torch.inf]), torch.tensor([-torch.inf])),
    ],
)  # fmt: skip
def test_what_is_like_passes(value, pattern):
    check_like("x", value, pattern)
