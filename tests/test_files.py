"""A file is written as a whole or not at all; what is no file is written to, and stays what it is."""

import os
import stat
import threading

import pytest

from transformer_lib._files import atomic_write


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    with atomic_write(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_fails_leaves_the_old_file_and_no_other(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    with pytest.raises(error), atomic_write(str(path)) as file:
        file.write(b"half of the n")
        raise error
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def write(path, content):
    with atomic_write(path) as file:
        file.write(content)


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    for name in ("there.txt", "not yet.txt"):
        link, file = tmp_path / f"link to {name}", tmp_path / "folder" / name
        link.symlink_to(file)
        if name == "there.txt":
            file.write_bytes(b"old")
        write(link, b"new")
        assert link.is_symlink() and file.read_bytes() == b"new"


def test_a_device_stays_a_device(tmp_path):
    """A terminal, in whose folder nobody can make files: were this broken, it would do the machine no harm."""
    reads, device = os.openpty()
    link = tmp_path / "terminal"
    link.symlink_to(os.ttyname(device))
    try:
        for path in (os.ttyname(device), link):
            write(path, b"seen")
            assert os.read(reads, 9) == b"seen"
            assert stat.S_ISCHR(os.stat(path).st_mode)
        assert link.is_symlink()
    finally:
        os.close(reads)
        os.close(device)


def test_a_pipe_is_written_to(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write(pipe, b"through")
    reader.join(10)
    assert read == [b"through"] and stat.S_ISFIFO(pipe.stat().st_mode)


def test_what_standard_output_goes_to_is_written_to(tmp_path):
    """As in `transformer-translate … --output /dev/stdout >> log`: what the log held stays."""
    log, kept = tmp_path / "log", os.dup(1)
    log.write_bytes(b"before\n")
    file = os.open(log, os.O_WRONLY | os.O_APPEND)
    try:
        os.dup2(file, 1)
        write("/dev/stdout", b"one\n")
        write(log, b"two\n")
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(file)
    assert log.read_bytes() == b"before\none\ntwo\n"


def test_who_may_read_a_file_stays_the_same(tmp_path):
    path = tmp_path / "private"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
