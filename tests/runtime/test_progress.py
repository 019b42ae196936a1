"""The progress bar."""

import sys

import pytest

from maylink.runtime.progress import SILENT, Progress


def test_a_bar_shows_and_goes(capsys):
    with Progress("work", 2, shown=True, unit="draw") as bar:
        bar.show(clusters=3)
        bar.advance(2)
    shown = capsys.readouterr().err
    assert "work" in shown
    assert "clusters=3" in shown


def test_silence(capsys):
    SILENT.show(clusters=3)
    SILENT.advance()
    assert capsys.readouterr().err == ""
    assert not SILENT.stopped


def test_without_tqdm_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(ImportError, match=r"maylink\[cli\]"):
        Progress("work", 1, shown=True)
