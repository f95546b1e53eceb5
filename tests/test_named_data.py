"""Data that `--data` knows by name: fetched once, checked, nothing lost when a fetch fails. The server is this test's own."""

import hashlib
import shutil
import tarfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from transformer_lib import _named_data as data
from transformer_lib.text import read_reviews

ARCHIVE = "aclImdb_v1.tar.gz"
FILES = [f"{part}.{language}.gz" for part in ("train", "val") for language in ("en", "fr")]


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A server with the files of a set `ours`, the paths that it was asked for, and the folder that they are kept in."""
    there, kept, asked = tmp_path / "there", tmp_path / "kept", []
    there.mkdir()
    for name in FILES:
        (there / name).write_bytes(name.encode())

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            asked.append(self.path.strip("/"))

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=there))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sums = {name: hashlib.sha256(name.encode()).hexdigest() for name in FILES}
    named = data.NamedData(f"http://127.0.0.1:{server.server_port}/", sums)
    monkeypatch.setitem(data.NAMED_DATA, "ours", named)
    monkeypatch.setenv(data.FOLDER_VARIABLE, str(kept))
    archive = there / ARCHIVE
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(reviews(tmp_path / "aclImdb"), "aclImdb")
    found = {ARCHIVE: hashlib.sha256(archive.read_bytes()).hexdigest()}
    monkeypatch.setattr(data, "IMDB", data.NamedData(named.address, found))
    yield SimpleNamespace(there=there, kept=kept / "ours", asked=asked, close=server.shutdown)
    server.shutdown()
    server.server_close()


def reviews(folder):
    """Write two reviews to train on and two for the test as IMDB comes."""
    for part in ("train", "test"):
        for name in ("neg", "pos"):
            (folder / part / name).mkdir(parents=True)
            (folder / part / name / "0_5.txt").write_text(f"{part} {name}")
    return folder


def read(paths):
    return [[tuple(one) for one in read_reviews(path)] for path in paths]


READ = [[(f"{part} neg", 0), (f"{part} pos", 1)] for part in ("train", "test")]


def fetch(languages=("en", "fr")):
    return data.folder_of(data.Path("ours"), languages)


def test_what_was_fetched_is_not_fetched_again(published):
    assert fetch() == published.kept
    assert {path.name: path.read_text() for path in published.kept.iterdir()} == {name: name for name in FILES}
    assert sorted(published.asked) == sorted(FILES)
    published.close()
    assert fetch() == published.kept and len(published.asked) == len(FILES)


def test_only_the_languages_that_are_asked_for_are_fetched(published):
    fetch(["en"])
    assert sorted(published.asked) == ["train.en.gz", "val.en.gz"]


def test_a_fetch_that_failed_goes_on_with_what_is_missing(published):
    (published.there / "val.fr.gz").rename(published.there / "away")
    with pytest.raises(OSError, match=r"val\.fr\.gz of ours could not be fetched from http://127.*--data"):
        fetch()
    assert len(list(published.kept.iterdir())) == 3
    (published.there / "away").rename(published.there / "val.fr.gz")
    published.asked.clear()
    fetch()
    assert published.asked == ["val.fr.gz"]


def test_another_file_is_refused_and_not_kept(published):
    (published.there / "train.en.gz").write_bytes(b"another")
    with pytest.raises(ValueError, match=r"train\.en\.gz of ours could not be fetched .* hash"):
        fetch()
    assert list(published.kept.iterdir()) == []


def test_without_a_network_the_address_and_the_way_out_are_named(published, monkeypatch):
    named = data.NamedData("http://127.0.0.1:9/", data.NAMED_DATA["ours"].files)  # nobody listens there
    monkeypatch.setitem(data.NAMED_DATA, "ours", named)
    with pytest.raises(OSError, match=r"could not be fetched from http://127\.0\.0\.1:9/.*name a folder of your own"):
        fetch()


def test_a_language_that_is_not_in_it_is_named():
    with pytest.raises(ValueError, match="a language of multi30k must be 'de' or 'en' or 'fr', but it is 'ko'"):
        data.folder_of(data.Path("multi30k"), ["en", "ko"])


def test_a_folder_of_that_name_is_taken_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "multi30k").mkdir()
    assert data.folder_of(data.Path("multi30k"), ["ko"]) == data.Path("multi30k")


def test_reviews_are_fetched_once_and_unpacked_again_where_one_is_missing(published):
    paths = data.reviews_of(data.Path("imdb"))
    assert read(paths) == READ and published.asked == [ARCHIVE]
    shutil.rmtree(paths[1] / "pos")
    assert read(data.reviews_of(data.Path("imdb"))) == READ and published.asked == [ARCHIVE]


def test_another_archive_of_reviews_is_refused(published):
    (published.there / ARCHIVE).write_bytes(b"another")
    with pytest.raises(ValueError, match=r"aclImdb_v1\.tar\.gz of imdb could not be fetched .* hash"):
        data.reviews_of(data.Path("imdb"))


def test_reviews_of_a_folder(tmp_path):
    assert read(data.reviews_of(reviews(tmp_path / "as it comes"))) == READ
    for part, rows in zip(("train", "test"), READ, strict=True):
        lines = ["document\tlabel", *(f"{text}\t{label}" for text, label in rows)]
        (tmp_path / f"{part}.tsv").write_text("\n".join(lines))
    assert read(data.reviews_of(tmp_path)) == READ
    (tmp_path / "test.tsv").unlink()
    with pytest.raises(ValueError, match=r"there is no file \S*test\.tsv, and no test\.tsv\.gz"):
        data.reviews_of(tmp_path)
    with pytest.raises(ValueError, match="--data must be a folder or imdb, but nowhere is neither"):
        data.reviews_of(data.Path("nowhere"))
