"""A folder with data and links for commands that end in an error."""

import pytest

from hostile_commands import write_files


@pytest.fixture
def command_folder(tmp_path, monkeypatch):
    """A new folder with good data and links, to work in."""
    monkeypatch.chdir(tmp_path)
    write_files()
    return tmp_path
