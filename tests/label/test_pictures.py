import os

import numpy as np
import pytest

from maylink.label import pictures as module
from maylink.label.pictures import Pictures, media_type_of

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "data"
    (inside / "img").mkdir(parents=True)
    (inside / "img" / "a.png").write_bytes(PNG)
    (inside / "data.csv").write_text("id,path\n")
    (inside / "drawn.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (tmp_path / "outside.png").write_bytes(PNG)
    (tmp_path / "data-of-others").mkdir()
    (tmp_path / "data-of-others" / "a.png").write_bytes(PNG)
    os.symlink(tmp_path / "outside.png", inside / "link.png")
    os.symlink(inside / "img" / "a.png", inside / "within.png")
    return inside


def read(folder, cell):
    return Pictures(folder, np.array([cell], object)).read(0)


@pytest.mark.parametrize("cell", ["img/a.png", " img/a.png ", "./img/../img/a.png", "within.png"])
def test_pictures_inside_the_folder_are_read(folder, cell):
    assert read(folder, cell) == (PNG, "image/png")


def test_an_absolute_path_inside_the_folder_is_read(folder):
    assert read(folder, str(folder / "img" / "a.png")).content == PNG


@pytest.mark.parametrize(
    "cell",
    [
        "../outside.png",
        "img/../../outside.png",
        "../data-of-others/a.png",
        "link.png",
        "/etc/passwd",
        "data.csv",
        "drawn.svg",
        "img",
        ".",
        "",
        "gone.png",
        "a\0b.png",
        "http://elsewhere.example/a.png",
        "file:///etc/passwd",
        "img/a.png/..",
        "~/a.png",
    ],
)
def test_all_else_is_refused(folder, cell):
    assert read(folder, cell) is None


def test_absolute_paths_outside_are_refused(folder):
    assert read(folder, str(folder.parent / "outside.png")) is None


def test_rows_that_are_not_there_have_no_picture(folder):
    some = Pictures(folder, np.array(["img/a.png"], object))
    assert some.read(1) is None
    assert some.read(-1) is None


def test_huge_files_are_refused(folder, monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 10)
    assert read(folder, "img/a.png") is None


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVEfmt ", None),
        (b"\0\0\0\x1cftypavif", "image/avif"),
        (b"BM" + b"\0" * 14, "image/bmp"),
        (b"BM", None),
        (b"<html>", None),
        (b"", None),
    ],
)
def test_bytes_tell_what_a_file_is(head, expected):
    assert media_type_of(head) == expected
