"""Experiments that take long are tested with MAYLINK_SLOW=1; they have commands of their own."""

import os
from pathlib import Path

import pytest

LONG = (
    "conventions", "coverage", "demo", "penalty", "reliability", "report", "runner", "sources",
    "table1", "table3", "table4", "wrong_links",
)  # fmt: skip


def pytest_collection_modifyitems(items):
    """Skip the tests of long experiments, but where they are asked for."""
    if "MAYLINK_SLOW" in os.environ:
        return
    skip = pytest.mark.skip(reason="takes long: set MAYLINK_SLOW=1 to run it")
    for item in items:
        here = Path(item.path).parent == Path(__file__).parent
        if here and Path(item.path).stem.removeprefix("test_") in LONG:
            item.add_marker(skip)
