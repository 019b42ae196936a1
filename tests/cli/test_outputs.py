"""Files and streams that commands write."""

import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from command_line import run
from maylink.cli import stage_times
from maylink.cli.outputs import write_csv


@pytest.mark.parametrize("out", ["labels.csv", "-"])
def test_a_table_in_pieces_is_the_table(tmp_path, monkeypatch, capsys, out):
    monkeypatch.chdir(tmp_path)
    table = {"row": np.arange(20), "cluster": np.arange(20) % 3}
    write_csv(table, "whole.csv", force=False)
    write_csv(table, out, force=False, rows_at_a_time=7)
    printed = capsys.readouterr().out
    text = printed if out == "-" else Path(out).read_text("utf-8")
    assert text == Path("whole.csv").read_text("utf-8")
    assert len(text.splitlines()) == 21


def test_a_reader_that_ends_early_is_no_failure(monkeypatch, capsys):
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert run("datasets") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_behind_standard_output(monkeypatch, capsys):
    with open("/dev/full", "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert run("datasets") == 4
    message = "maylink: standard output: cannot be written (No space left on device)\n"
    assert capsys.readouterr().err == message


def test_standard_output_is_utf_8_whatever_the_system_says(tmp_path, monkeypatch):
    path = tmp_path / "links.csv"
    path.write_text("i,j,kind,source\n0,1,may,名前\n", encoding="utf-8")
    content = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(content, encoding="cp1252"))
    assert run("links", "show", path, "--json") == 0
    assert "名前" in content.getvalue().decode("utf-8")


def test_times_where_the_c_library_cannot_give_memory_back(monkeypatch, capsys):
    monkeypatch.setattr(sys, "platform", "win32")
    times = stage_times.StageTimes()
    with times.stage("read"):
        pass
    times.print()
    assert "time     read 0.00 s" in capsys.readouterr().err
