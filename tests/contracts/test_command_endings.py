"""Commands that are refused a file, stopped or broken: the right code, and nothing half-written."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import maylink as ml
from hostile_commands import CLUSTER, PLAIN, contents, failure
from maylink import cli
from maylink.analysis import methods
from maylink.runtime.interrupts import CtrlC
from maylink.solvers.fit import Status
from maylink.solvers.gibbs import CollapsedSampler

pytestmark = pytest.mark.usefixtures("command_folder")


# ---------------------------------------------------------------------- what is written


@pytest.mark.parametrize("option", ["--out", "--suspects", "--model", "--report"])
def test_nothing_is_written_over_and_that_is_told_before_the_fit(option, capsys, monkeypatch):
    monkeypatch.setattr("maylink.analysis.methods.fit", lambda *_: pytest.fail("the fit was made"))
    Path("there").write_text("precious")
    code, err = failure(f"cluster data.csv --id who --links links.csv {option} there -q", capsys)
    assert code == 4
    assert "there: is there already; say --force" in err


@pytest.mark.parametrize(
    ("place", "message"), [("no/where.csv", "there is no folder"), ("sub", "sub: is a folder")]
)
def test_places_where_nothing_can_be_written(place, message, capsys):
    Path("sub").mkdir()
    code, err = failure(PLAIN.replace("out.csv", place) + " --drop who", capsys)
    assert code == 4
    assert message in err


def test_folder_that_is_read_only(capsys, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    code, err = failure(PLAIN, capsys)
    assert code == 4
    assert "cannot be written to" in err


@pytest.mark.parametrize("option", ["--out", "--suspects", "--model"])
def test_disk_that_is_full(option, capsys, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    words = "cluster data.csv --id who --links links.csv --method rdpmeans -q"
    code, err = failure(f"{words} {option} new", capsys)
    assert code == 4
    assert "new: cannot be written (No space left on device)" in err


def test_file_that_must_not_be_read(capsys, monkeypatch):
    import builtins

    opened = builtins.open

    def refuse(path, *rest, **named):
        if str(path) == "data.csv":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opened(path, *rest, **named)

    before = contents()
    monkeypatch.setattr("builtins.open", refuse)
    code, err = failure(PLAIN, capsys, before)
    assert code == 3
    assert "data.csv: cannot be read (Permission denied)" in err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all files")
def test_file_that_must_not_be_read_for_real(capsys):
    before = contents()
    Path("data.csv").chmod(0)
    code = cli.main(PLAIN.split())
    Path("data.csv").chmod(0o600)
    assert code == 3
    assert "Permission denied" in capsys.readouterr().err
    assert contents() == before


# ---------------------------------------------------------------------- what happens in the fit


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (KeyboardInterrupt(), 130, "maylink: interrupted\n"),
        (MemoryError(), 1, "not enough memory"),
        (RuntimeError("two\nlines"), 1, "RuntimeError: two lines (say --debug"),
    ],
)
def test_fit_that_ends_early(error, expected, message, capsys, monkeypatch):
    def fit(*_):
        raise error

    monkeypatch.setattr("maylink.analysis.methods.fit", fit)
    code, err = failure(PLAIN, capsys)
    assert code == expected
    assert message in err


def stop_fits(monkeypatch, when=lambda links: True):
    """Let fits end as if Ctrl-C had stopped them, where their links are as ``when`` says."""
    fit = methods.fit

    def stopped(model, X, links):
        model = fit(model, X, links)
        if when(links):
            model.status_ = Status.STOPPED
        return model

    monkeypatch.setattr("maylink.analysis.methods.fit", stopped)


def test_fit_that_was_stopped_keeps_what_there_is_and_says_so(capsys, monkeypatch):
    stop_fits(monkeypatch)
    assert cli.main(PLAIN.split()) == 130
    assert "stopped early" in capsys.readouterr().err
    assert len(Path("out.csv").read_text().splitlines()) == 13


def test_contrast_that_was_stopped_leaves_the_rest(capsys, monkeypatch):
    stop_fits(monkeypatch, when=lambda links: links is None)
    assert cli.main([*CLUSTER.split(), "--report", "r.html"]) == 130
    assert "the fit without links was stopped" in capsys.readouterr().err
    assert Path("out.csv").exists()
    assert Path("r.html").exists()


@pytest.mark.parametrize("command", ["compare", "diagnose"])
def test_ctrl_c_ends_commands_that_need_the_whole_fit(command, capsys, monkeypatch):
    enter = CtrlC.__enter__

    def interrupted(self):
        stop = enter(self)
        os.kill(os.getpid(), signal.SIGINT)
        return stop

    monkeypatch.setattr(CtrlC, "__enter__", interrupted)
    code, err = failure(f"{command} data.csv --id who --links links.csv -q", capsys)
    assert code == 130
    assert err == "maylink: interrupted\n"


DRAWN = CLUSTER.replace("rdpmeans", "tvclust --family gaussian")  # its intervals need draws


def ctrl_c_after_blocks(monkeypatch, count):
    """Let Ctrl-C come after so many blocks of draws; return the blocks that were drawn."""
    step, blocks = CollapsedSampler.step, []

    def interrupted(self, *arguments):
        blocks.append(1)
        if len(blocks) == count:
            os.kill(os.getpid(), signal.SIGINT)
        return step(self, *arguments)

    monkeypatch.setattr(CollapsedSampler, "step", interrupted)
    return blocks


@pytest.mark.parametrize(
    ("count", "told"), [(2, "come from the fit alone"), (30, "come from the 200 draws")]
)
def test_ctrl_c_during_draws_keeps_the_fit(count, told, capsys, monkeypatch):
    blocks = ctrl_c_after_blocks(monkeypatch, count)
    words = [*DRAWN.split(), "--report", "r.html", "--model", "m.npz", "--no-contrast"]
    assert cli.main(words) == 130
    assert len(blocks) == count
    err = capsys.readouterr().err
    assert told in err
    assert "stopping the draws for intervals" in err
    assert all(Path(name).exists() for name in ("out.csv", "r.html", "m.npz"))
    assert len(ml.load("m.npz").reliability_) == 1


def test_after_a_fit_that_was_stopped_no_draws_are_made(capsys, monkeypatch):
    blocks = ctrl_c_after_blocks(monkeypatch, 1)
    stop_fits(monkeypatch)
    assert cli.main(DRAWN.split()) == 130
    assert not blocks
    assert "intervals come from the fit alone" in capsys.readouterr().err
    assert Path("out.csv").exists()


def test_draws_have_a_time_of_their_own(capsys):
    assert cli.main([*DRAWN.split(), "--json"]) == 0
    assert "intervals" in json.loads(capsys.readouterr().out)["seconds"]


def test_interrupted_while_writing(capsys, monkeypatch):
    def write(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("maylink.cli.cluster_file.write_csv", write)
    assert cli.main([*PLAIN.split(), "--model", "m.npz"]) == 130
    assert capsys.readouterr().err == "maylink: interrupted\n"  # m.npz is there
    assert Path("m.npz").exists()


def test_debug_shows_where(capsys, monkeypatch):
    monkeypatch.setattr("maylink.analysis.methods.fit", lambda *_: 1 / 0)
    assert cli.main([*PLAIN.split(), "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


# ---------------------------------------------------------------------- real processes


def process(*words, **named):
    return subprocess.Popen(
        [sys.executable, "-m", "maylink", *words],
        stderr=subprocess.PIPE, text=True, **named,
    )  # fmt: skip


def test_process_ends_with_the_code_of_the_command():
    done = process("cluster", "gone.csv")
    _, err = done.communicate(timeout=60)
    assert done.returncode == 3
    assert err == "maylink: gone.csv: cannot be read (No such file or directory)\n"


def test_process_that_is_interrupted():
    def heed():  # a shell that runs the tests in the background has switched SIGINT off
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    done = process("cluster", "-", "--out", "out.csv", stdin=subprocess.PIPE, preexec_fn=heed)
    assert "from standard input" in done.stderr.readline()
    for _ in range(120):  # a signal that comes while a library loads may be lost
        done.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            done.wait(0.5)
            break
    else:
        done.kill()
    _, err = done.communicate(timeout=60)
    assert err == "maylink: interrupted\n"
    assert done.returncode in (130, -signal.SIGINT)  # a second signal may meet it on its way out
    assert not Path("out.csv").exists()
