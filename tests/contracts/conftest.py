"""Little tuning, for what holds whatever is chosen; a folder for commands that end in an error."""

import pytest

from hostile_commands import write_files
from maylink.tuning.settings import Tuning, tuning_context


@pytest.fixture
def command_folder(tmp_path, monkeypatch):
    """A new folder with good data and links, to work in."""
    monkeypatch.chdir(tmp_path)
    write_files()
    return tmp_path


@pytest.fixture(autouse=True)
def little_tuning():
    """Few candidates and folds: contracts hold whatever is chosen."""
    with tuning_context(
        Tuning(data_weights=(1.0, 0.1), n_folds=2, n_folds_of_few=2, n_starts_of_small=1)
    ):
        yield
