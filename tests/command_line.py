"""Runs commands inside the process of the tests."""

import contextlib
import io
from typing import NamedTuple

from maylink import cli


class Finished(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def run(*words):
    """Run a command; its output goes where the test captures it."""
    return cli.main([str(word) for word in words])


def run_captured(*words):
    """Run a command and return its output, also outside of a test."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(*words)
    return Finished(code, out.getvalue(), err.getvalue())
