"""The command: its first word is read, the rest handed on."""

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from maylink import __version__, cli
from maylink.experiments import __main__ as experiments


def test_the_rest_is_handed_on_as_it_stands(monkeypatch):
    seen = []
    monkeypatch.setattr(experiments, "main", seen.append)
    cli.main(["experiments", "table1", "--trials", "1", "--help"])
    cli.main(["experiments", "--quick"])
    cli.main(["experiments"])
    assert seen == [["table1", "--trials", "1", "--help"], ["--quick"], []]


def test_version(capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"maylink {__version__}\n"


@pytest.mark.parametrize(
    ("words", "said"), [(["nobody"], "'nobody'"), ([], "required: command"), (["--no"], "command")]
)
def test_what_is_no_command_is_refused(words, said, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(words)
    assert caught.value.code == 2
    text = capsys.readouterr().err
    assert said in text
    assert "experiments" in text


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_says_how_it_is_used(command, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main([command, "--help"])
    assert caught.value.code == 0
    assert f"usage: maylink {command}" in capsys.readouterr().out


def test_the_installed_script_is_this_one():
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    module, name = project["project"]["scripts"]["maylink"].split(":")
    assert getattr(importlib.import_module(module), name) is cli.main


def test_experiments_load_only_when_asked_for():
    code = "import sys; import maylink.cli; sys.exit('maylink.experiments' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
