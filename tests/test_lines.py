"""The one reader of text files: what it gives, and how it names what is broken."""

import gzip
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_lib._lines import lines_of, read_lines

lines = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]))


@given(
    content=st.lists(lines, min_size=1).filter(lambda given: "".join(given).strip() and given[0][:1] != "\ufeff"),
    packed=st.booleans(),
    end=st.sampled_from(["\n", "\r\n"]),
    ends=st.booleans(),
    mark=st.booleans(),
)
def test_every_line_comes_back(tmp_path_factory, content, packed, end, ends, mark):
    data = ("\ufeff" * mark + end.join(content) + end * (ends or not content[-1])).encode()
    path = tmp_path_factory.mktemp("lines") / "x.txt"
    path.write_bytes(gzip.compress(data) if packed else data)
    assert read_lines(path) == read_lines(str(path)) == content


def test_only_a_line_end_ends_a_line(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes("a\u2028b\x85c\x0bd\re\nf\n".encode())
    assert read_lines(path) == ["a\u2028b\x85c\x0bd\re", "f"]


BROKEN = {
    "empty": (b"", "x.txt, line 1: the file is empty"),
    "only line ends": (b"\n\n", "x.txt, line 1: the file is empty"),
    "empty gzip": (gzip.compress(b""), "x.txt, line 1: the file is empty"),
    "gzip cut off": (gzip.compress(b"good\n" * 99)[:-9], "x.txt: the gzip file is broken"),
    "gzip damaged": (gzip.compress(b"good\n" * 99)[:20] + b"\xff" * 30, "x.txt: the gzip file is broken"),
    "CP949": (b"good\n" + "2\t좋다".encode("cp949"), "x.txt, line 2, byte 3: this is not UTF-8.*CP949"),
    "UTF-16": ("good".encode("utf-16"), "x.txt, line 1, byte 1: this is not UTF-8"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_says_which_line(tmp_path, content, message):
    path = tmp_path / "x.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_lines(path)


def test_each_line_end_ends_a_line():
    for content, expected in ((b"", []), (b"\n", [""]), (b"a\n\n\n", ["a", "", ""]), (b"a\r\n\r\n", ["a", ""])):
        assert lines_of(content, "x.txt") == expected


def test_a_pipe_is_as_good_as_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(b"a\nb\n"))
    writer.start()
    assert read_lines(tmp_path / "pipe") == ["a", "b"]
    writer.join(10)


def test_a_missing_file_is_named(tmp_path):
    for path in (tmp_path / "missing.txt", tmp_path):
        with pytest.raises(ValueError, match=f"there is no file {path}"):
            read_lines(path)
