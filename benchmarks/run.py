"""Run every benchmark, print its tables and put them into RESULTS.md.

python benchmarks/run.py            all of them
python benchmarks/run.py links      only those named; RESULTS.md stays as it is

The tables of a benchmark follow a line with its name in RESULTS.md. What people have written
beneath them stays when tables are printed anew; whether it still holds is for people to see.
"""

import importlib
import os
import platform
import re
import sys
from pathlib import Path

import numba
import numpy as np
import scipy
import sklearn

import maylink

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
NAMES = (
    "first_minutes", "links", "product", "sweep", "roofline", "fit", "whole_fits",
    "dp_means", "gibbs",
    "variational", "growth", "memory", "others", "baselines", "choosing", "today",
    "questions",
)  # fmt: skip
"""All but cli_scale, a command that runs for minutes and has no peer: docs/cli.md tells of it."""


def main(names):
    sys.path.insert(0, str(HERE))
    for name in names or NAMES:
        part = importlib.import_module(name).table()
        print(part, flush=True)
        if not names:  # after each, so that a run that breaks off has not been in vain
            RESULTS.write_text(replaced(RESULTS.read_text(), name, part))
    if not names:
        print(f"written to {HERE.name}/{RESULTS.name}: see whether the notes beneath still hold")


def replaced(text, name, part):
    """The text of RESULTS.md with new tables of one benchmark, and its notes as they were."""
    pieces = re.split(r"^<!-- (\w+) -->\n", text, flags=re.MULTILINE)
    parts = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    parts[name] = f"\n{part.strip()}\n\n{notes(parts.get(name, ''))}"
    return f"{header()}\n" + "".join(
        f"<!-- {one} -->\n{parts[one]}" for one in NAMES if one in parts
    )


def notes(part):
    """What people have written beneath tables: paragraphs that are neither tables nor titles."""
    paragraphs = part.strip().split("\n\n")
    written = [text for text in paragraphs if text and not text.startswith(("#", "|"))]
    return "".join(f"{text}\n\n" for text in written)


def header():
    versions = ", ".join(f"{m.__name__} {m.__version__}" for m in (np, scipy, sklearn, numba))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (
        "# Benchmarks\n\n"
        f"maylink {maylink.__version__}, Python {platform.python_version()}, {versions}; "
        f"{cores} cores, {platform.machine()}. Printed by `make bench`; best of several runs, both "
        "sides of a ratio in the same run. A ratio above 1 is a comparison that we lose. What "
        "stands beneath tables is written by hand.\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
