"""The command as a whole: help, version, names, and commands that pass their words on."""

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import maylink as ml
from command_line import run
from maylink import cli
from maylink.cli.errors import EXIT_CODES
from maylink.cli.options import completion
from maylink.experiments import __main__ as experiments

ROOT = Path(__file__).parent.parent.parent


def test_words_of_demo_and_experiments_are_passed_on_as_they_stand(monkeypatch):
    words = []
    monkeypatch.setattr(experiments, "main", words.append)
    monkeypatch.setattr("maylink.experiments.demo.main", words.append)
    assert run("experiments", "table1", "--trials", "1", "--help") == 0
    assert run("experiments") == 0
    assert run("demo", "--out", "a.png", "-x") == 0
    assert words == [["table1", "--trials", "1", "--help"], [], ["--out", "a.png", "-x"]]


def test_experiments_have_their_own_help(capsys):
    assert run("experiments", "--help") == 0
    assert "usage: maylink experiments" in capsys.readouterr().out


def test_version(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out == f"maylink {ml.__version__}\n"


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["cluster"],
        ["diagnose"],
        ["predict"],
        ["compare"],
        ["datasets"],
        ["label"],
        ["links", "show"],
    ],
)
def test_help_lists_the_exit_codes(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert run(*command, "--help") == 0
    out = capsys.readouterr().out
    assert "Usage: maylink" in out
    if len(command) < 2:
        assert all(f"{code} {what}" in out for code, what in EXIT_CODES.items())


def test_help_loads_nothing_that_takes_long():
    code = (
        "import sys; from maylink.cli import main; main(['--help']); "
        "sys.exit(any(m in sys.modules for m in ('numpy', 'sklearn', 'numba', 'pandas', 'scipy')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_names_that_are_listed_before_anything_loads_are_the_right_ones():
    from maylink.analysis.methods import FAMILIES, METHODS, family_names
    from maylink.analysis.saving import known_estimators

    assert family_names() == FAMILIES
    assert "product" not in FAMILIES
    assert sorted(METHODS) == sorted(name.lower() for name in known_estimators())


def test_the_installed_script_is_this_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    module, name = project["project"]["scripts"]["maylink"].split(":")
    assert getattr(importlib.import_module(module), name) is cli.main


def test_without_typer_one_sentence_says_how_to_get_it(capsys, monkeypatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "typer" else find_spec(name)
    )
    assert run("--help") == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert "pip install 'maylink[cli]'" in cli.NEEDS


def test_words_complete_in_the_shell():
    assert completion("rdpmeans", "tvclust")("r") == ["rdpmeans"]
