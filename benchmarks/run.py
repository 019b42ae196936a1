"""Run every benchmark, print its table and write them all to RESULTS.md.

python benchmarks/run.py            all of them
python benchmarks/run.py links      only those named
"""

import importlib
import os
import platform
import sys
from pathlib import Path

import numba
import numpy as np
import scipy
import sklearn

import maylink

HERE = Path(__file__).parent
NAMES = (
    "cold_start", "first_minutes", "links", "product", "sweep", "roofline", "fit", "whole_fits",
    "dp_means", "gibbs",
    "variational", "growth", "memory", "cli_scale", "others", "baselines", "choosing", "today",
    "questions",
)  # fmt: skip


def main(names):
    sys.path.insert(0, str(HERE))
    parts = []
    for name in names or NAMES:
        part = importlib.import_module(name).table()
        print(part, flush=True)
        parts.append(part)
    if not names:
        (HERE / "RESULTS.md").write_text("\n".join([header(), *parts]))
        print(f"written to {HERE.name}/RESULTS.md")


def header():
    versions = ", ".join(f"{m.__name__} {m.__version__}" for m in (np, scipy, sklearn, numba))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (
        "# Benchmarks\n\n"
        f"maylink {maylink.__version__}, Python {platform.python_version()}, {versions}; "
        f"{cores} cores, {platform.machine()}. Printed by `make bench`; best of several runs, both "
        "sides of a ratio in the same run. A ratio above 1 is a comparison that we lose.\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
