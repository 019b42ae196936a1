"""Messages of the library in the words of the command line."""

import pytest

from maylink.cli.messages import in_command_words


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("leave it out with drop=['a b']", "leave it out with --drop 'a b'"),
        ("leave it out with drop=[0]", "leave it out with --drop 0"),
        ("say missing='drop-rows' (leaves 2 of 3)", "say --missing drop-rows (leaves 2 of 3)"),
        ("say header=True if it names", "say --read header=true if it names"),
        ("example encoding='latin-1'", "example --read encoding=latin-1"),
        ("two\n  lines", "two lines"),
    ],
)
def test_messages_name_options(message, expected):
    assert in_command_words(message) == expected
