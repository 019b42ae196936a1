"""Runs targets: the corpus first, then cases that Hypothesis draws, until the time is up."""

import faulthandler
import json
import os
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import hypothesis

from fuzz import files, fits
from maylink.errors import MaylinkError

CORPUS = Path(__file__).parent / "corpus"
HANGS = 120  # seconds after which a case is taken to hang
HUNG = Path(tempfile.gettempdir()) / f"maylink-fuzz-{os.getpid()}.json"  # a case that hangs


class Target(NamedTuple):
    """What to draw, and what to do with it: ``check(case, folder)``."""

    cases: hypothesis.strategies.SearchStrategy
    check: object


TARGETS = {
    "fit": Target(fits.fit_cases(), fits.check_fit),
    "stream": Target(fits.stream_cases(), fits.check_stream),
    "report": Target(fits.report_cases(), fits.check_report),
    "links": Target(files.file_cases("links"), files.check_links),
    "data": Target(files.file_cases("data"), files.check_data),
    "model": Target(files.model_cases(), files.check_model),
    "command": Target(files.command_cases(), files.check_command),
}


class Finding(NamedTuple):
    """A case that fails."""

    target: str
    seed: int | str
    case: dict
    error: str
    where: str


def try_case(target, case):
    """Run one case in a folder of its own; return whether the library answered or refused.

    The process ends with a case that hangs, which then lies in the file ``HUNG``.
    """
    HUNG.write_text(json.dumps({"target": target, "case": case}, default=str), "utf-8")
    faulthandler.dump_traceback_later(HANGS, exit=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            try:
                TARGETS[target].check(case, Path(folder))
            except MaylinkError:
                return "refused"
        return "answered"
    finally:
        faulthandler.cancel_dump_traceback_later()
        HUNG.unlink(missing_ok=True)


def corpus():
    """Yield name, target and case of each file of the corpus."""
    for path in sorted(CORPUS.glob("*.json")):
        entry = json.loads(path.read_text("utf-8"))
        yield path.name, entry["target"], entry["case"]


def try_corpus(names=tuple(TARGETS)):
    """Run the corpus and return what fails."""
    found = []
    for name, target, case in corpus():
        if target in names:
            try:
                try_case(target, case)
            except Exception as error:
                found.append(_finding(target, name, case, error))
    return found


def try_drawn(target, seed, n_cases, seen=None, until=float("inf")):
    """Draw cases by a seed and run them; return the smallest that fails, if one does."""
    seen = Counter() if seen is None else seen
    last = {}

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=n_cases,
        deadline=None,
        database=None,
        derandomize=False,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        verbosity=hypothesis.Verbosity.quiet,
    )
    @hypothesis.given(TARGETS[target].cases)
    def run(case):
        if time.monotonic() > until and "failed" not in last:  # a failure is shrunk to the end
            return
        try:
            seen[target, try_case(target, case)] += 1
        except Exception:
            last["failed"] = case
            raise

    try:
        run()
    except Exception as error:
        return _finding(target, seed, last["failed"], error)
    return None


def _finding(target, seed, case, error):
    where = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in where if "maylink" in frame.filename] or where
    at = f"{Path(inside[-1].filename).name}:{inside[-1].lineno}"
    return Finding(target, seed, case, f"{type(error).__name__}: {error}"[:400], at)
