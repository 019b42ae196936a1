"""A file is there as a whole or not at all."""

import os

import pytest

from maylink.errors import FileError
from maylink.io.atomic import atomic_write


def test_the_name_is_taken_at_the_end(tmp_path):
    path = tmp_path / "a"
    with atomic_write(path) as file:
        file.write(b"all")
        assert not path.exists()
    assert path.read_bytes() == b"all"
    assert os.listdir(tmp_path) == ["a"]


def test_an_error_inside_leaves_nothing(tmp_path):
    def fail():
        with atomic_write(tmp_path / "a") as file:
            file.write(b"a part")
            raise KeyError("something else")

    with pytest.raises(KeyError):
        fail()
    assert os.listdir(tmp_path) == []


def test_a_file_that_came_meanwhile_stays(tmp_path):
    path = tmp_path / "a"

    def slow():
        with atomic_write(path) as file:
            file.write(b"mine")
            path.write_bytes(b"theirs")

    with pytest.raises(FileError, match="is there already"):
        slow()
    assert path.read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["a"]


def test_a_link_to_a_file_stays_a_link(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with atomic_write(tmp_path / "link", force=True) as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_the_file_can_be_read_by_whom_the_user_lets(tmp_path):
    old = os.umask(0o022)
    try:
        with atomic_write(tmp_path / "a") as file:
            file.write(b"all")
    finally:
        os.umask(old)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644
