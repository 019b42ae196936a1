"""docs/cli.md and docs/tutorial.md show what the commands print."""

import importlib.util
import os
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"
TIME = re.compile(r"^(time|(tvclust|rdpmeans|plainkmeans|pckmeans) ).*$", re.MULTILINE)
NUMBER = re.compile(r"-?\d+\.\d+")


@pytest.mark.skipif(
    "MAYLINK_SLOW" not in os.environ,
    reason="takes long: set MAYLINK_SLOW=1 to run it, as make docs does",
)
@pytest.mark.parametrize("name", ["cli.md", "tutorial.md"])
def test_commands_print_what_the_page_shows(name):
    spec = importlib.util.spec_from_file_location("regenerate_cli", DOCS / "regenerate_cli.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (DOCS / name).read_text(encoding="utf-8")
    rerun = module.regenerated(page)
    expected, printed = (_words(TIME.sub("", text)) for text in (page, rerun))
    assert printed == expected
    for old, new in zip(_numbers(page), _numbers(rerun), strict=True):
        assert new == pytest.approx(old, abs=0.05)
    rows = [_rows(text, "rdpmeans ") for text in (page, rerun)]
    assert rows[0] == rows[1]  # clusters and who gave k; seconds differ


def _words(text):
    return NUMBER.sub("#", text).split()


def _numbers(text):
    return [float(number) for number in NUMBER.findall(TIME.sub("", text))]


def _rows(text, name):
    return [line.split()[:3] for line in text.splitlines() if line.startswith(name)]
