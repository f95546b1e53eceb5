"""Lines, sentence pairs, reviews, and data sets with a name: what the readers give, and how they name what is broken."""

import gzip
import hashlib
import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_lib import data
from transformer_lib.data import Review, read_line_pairs, read_lines, read_pairs, read_reviews, split_lines

HEADER = "id\tdocument\tlabel\n"
lines = st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]))


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@given(
    content=st.lists(lines, min_size=1).filter(lambda given: "".join(given).strip() and given[0][:1] != "\ufeff"),
    packed=st.booleans(),
    end=st.sampled_from(["\n", "\r\n"]),
    ends=st.booleans(),
    mark=st.booleans(),
)
def test_every_line_comes_back(tmp_path_factory, content, packed, end, ends, mark):
    text = ("\ufeff" * mark + end.join(content) + end * (ends or not content[-1])).encode()
    path = write(tmp_path_factory.mktemp("lines") / "x.txt", gzip.compress(text) if packed else text)
    assert read_lines(path) == read_lines(str(path)) == content


def test_only_a_line_end_ends_a_line_and_each_one_does():
    for text, rows in (
        ("", []),
        ("\n", [""]),
        ("a\n\n\n", ["a", "", ""]),
        ("a\u2028\x85\rb\r\r\nc", ["a\u2028\x85", "b", "c"]),
    ):
        assert split_lines(text.encode(), "x") == rows


GOOD = gzip.compress(b"good\n" * 99)
BROKEN = {
    "empty": (gzip.compress(b""), "x.txt: the file is empty"),
    "only line ends": (b"\n\n", "x.txt: the file is empty"),
    "gzip cut off": (GOOD[:-9], "x.txt: the gzip file is broken"),
    "gzip damaged": (GOOD[:20] + b"\xff" * 30, "x.txt: the gzip file is broken"),
    "CP949": (b"good\n" + "2\t좋다".encode("cp949"), "x.txt, line 2: this is not UTF-8.*CP949"),
    "UTF-16 without a mark": ("good".encode("utf-16-le"), "x.txt: this is UTF-16, or no text"),
    "UTF-16": ("good".encode("utf-16"), "x.txt: this is UTF-16"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_named(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        read_lines(write(tmp_path / "x.txt", content))


def test_pairs_with_two_sides_are_read_and_the_others_counted(tmp_path):
    write(tmp_path / "train.en", "A man.\n\u200b\nA dog.\u2028It barks.\nA cat.\n")
    write(tmp_path / "train.fr.gz", gzip.compress(b"Un homme.\nVide.\nUn chien.\n\n"))
    found = read_pairs(tmp_path, "train", "en", "fr")
    assert found == ((("A man.", "Un homme."), ("A dog.\u2028It barks.", "Un chien.")), 2)
    assert read_line_pairs(tmp_path / "train.en", tmp_path / "train.fr.gz")[1] == ("\u200b", "Vide.")
    with pytest.raises(ValueError, match=r"there is no file \S*val\.en, and no val\.en\.gz"):
        read_pairs(tmp_path, "val", "en", "fr")
    write(tmp_path / "val.en", "a\n\n")
    one_line, one_sided = (
        r"val\.en has 2 lines, but \S*val\.fr has 1",
        r"val\.\* \(lines with two sides\) must hold at least one",
    )
    for french, message in (("b\n", one_line), (" \nb\n", one_sided)):
        write(tmp_path / "val.fr", french)
        with pytest.raises(ValueError, match=message):
            read_pairs(tmp_path, "val", "en", "fr")


@pytest.mark.parametrize("packed", [False, True])
def test_reviews_of_a_table(tmp_path, packed):
    """With a mark before the first name, two kinds of line ends, and a document that is empty."""
    rows = ["1\t정말 재미있어요!\t1", '2\t"never closed\t0', "3\t\t0", "4\t10/10\u2028\x85'\t1"]
    expected = [("정말 재미있어요!", 1), ('"never closed', 0), ("", 0), ("10/10\u2028\x85'", 1)]
    for mark, end in (("", "\n"), ("\ufeff", "\r\n")):
        text = (mark + HEADER.replace("\n", end) + end.join(rows) + 2 * end).encode()
        found = read_reviews(write(tmp_path / "r.tsv", gzip.compress(text) if packed else text))
        assert found == [Review(*one) for one in expected]
    assert read_reviews(write(tmp_path / "r.tsv", "label\tsource\tdocument\n1\tweb\tgood\n")) == [Review("good", 1)]


def test_reviews_of_a_folder(tmp_path):
    write(tmp_path / "pos" / "10_9.txt", "Wonderful!")
    write(tmp_path / "pos" / "0_8.txt", "two\nlines\n")
    write(tmp_path / "neg" / "0_1.txt.gz", gzip.compress("지루하다".encode()))
    write(tmp_path / "neg" / "2_1.txt", "")
    for other in (".hidden.txt", "Thumbs.db", "desktop.ini"):
        write(tmp_path / "neg" / other, b"\xff\xfe, not a review")
    found = [("", 0), ("지루하다", 0), ("two\nlines", 1), ("Wonderful!", 1)]
    assert read_reviews(str(tmp_path)) == [Review(*one) for one in found]
    write(tmp_path / "pos" / "0_9.txt", b"fine\nthen \xff\xfe")
    with pytest.raises(ValueError, match=r"0_9\.txt, line 2: this is not UTF-8"):
        read_reviews(tmp_path)
    shutil.rmtree(tmp_path / "pos")
    with pytest.raises(ValueError, match="pos has none"):
        read_reviews(tmp_path)


TABLES = {
    "no document": ("id\ttext\tlabel\n1\tx\t1\n", "line 1: expected columns 'document'"),
    "no rows": (HEADER + "\n", r"\(reviews\) must hold at least one"),
    "missing field": (HEADER + "1\tx\t1\n2\ty\n", "line 3: expected a label of 0 or 1 and all fields"),
    "label 2": (HEADER + "1\tx\t1\n2\ty\t2\n", "line 3: expected a label of 0 or 1"),
}


@pytest.mark.parametrize(("content", "message"), TABLES.values(), ids=TABLES)
def test_a_broken_table_says_which_line(tmp_path, content, message):
    with pytest.raises(ValueError, match=rf"r\.tsv.*{message}"):
        read_reviews(write(tmp_path / "r.tsv", content))


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A server of this test's own that has multi30k; the folder that it serves, and the paths that it was asked for."""
    asked = []
    files = {name: f"{name}\n".encode() for name in data.MULTI30K}
    for name, content in files.items():
        write(tmp_path / "there" / name, content)

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            asked.append(self.path.strip("/"))

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=tmp_path / "there"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(data, "MULTI30K", {name: hashlib.sha256(content).hexdigest() for name, content in files.items()})
    monkeypatch.setattr(data, "MULTI30K_ADDRESS", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("TRANSFORMER_LIB_DATA", str(tmp_path / "kept"))
    yield tmp_path / "there", asked
    server.shutdown()
    server.server_close()


def test_a_fetch_goes_on_with_what_is_missing_and_keeps_only_what_was_published(published):
    there, asked = published
    fetch = lambda: data.translation_folder(Path("multi30k"), ("en", "fr"))
    write(there / "val.fr.gz", b"another")
    with pytest.raises(OSError, match=r"val\.fr\.gz could not be fetched from http://127.* hash.*--data"):
        fetch()
    assert sorted(asked) == ["train.en.gz", "train.fr.gz", "val.en.gz", "val.fr.gz"]
    write(there / "val.fr.gz", b"val.fr.gz\n")
    asked.clear()
    assert sorted(path.name for path in fetch().iterdir()) == ["train.en.gz", "train.fr.gz", "val.en.gz", "val.fr.gz"]
    assert fetch() and asked == ["val.fr.gz"]


def test_a_folder_is_taken_first_and_what_is_none_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="language must be 'de' or 'en' or 'fr', but it is 'ko'"):
        data.translation_folder(Path("multi30k"), ["en", "ko"])
    with pytest.raises(ValueError, match="--data must be a folder or multi30k, but nowhere is neither"):
        data.translation_folder(Path("nowhere"), ["en", "fr"])
    Path("multi30k").mkdir()
    assert data.translation_folder(Path("multi30k"), ["ko"]) == Path("multi30k")
