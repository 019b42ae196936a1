"""The command on a million rows: seconds of each stage, and the peak of memory beside the file.

It makes a CSV of an id and 16 columns (twelve clusters) and a tenth as many links, one in ten of
them wrong, and runs ``maylink cluster`` on them with labels and a report.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from timing import markdown, verdict

LIMIT = 4.0
N, D, K = 1_000_000, 16, 12
WRONG = 0.1
PART = 50_000


def make_files(folder, n=N):
    """Write data.csv and links.csv."""
    rng = np.random.default_rng(0)
    centers = 2.0 * rng.standard_normal((K, D))
    y = rng.integers(0, K, n)
    names = [f"c{column}" for column in range(D)]
    for low in range(0, n, PART):
        part = y[low : low + PART]
        X = centers[part] + rng.standard_normal((len(part), D))
        frame = pd.DataFrame(X.round(5), columns=names)
        frame.insert(0, "name", [f"r{row}" for row in range(low, low + len(part))])
        frame.to_csv(folder / "data.csv", mode="a", index=False, header=low == 0)
    order = np.argsort(y, kind="stable")
    near = np.sort(rng.choice(n - 1, n // 20, replace=False))
    apart = rng.permutation(n)[: 2 * near.size].reshape(2, -1)
    i, j = np.concatenate([order[near], apart[0]]), np.concatenate([order[near + 1], apart[1]])
    may = (y[i] == y[j]) ^ (rng.random(i.size) < WRONG)
    frame = pd.DataFrame({"i": i, "j": j, "kind": np.where(may, "may", "may-not")})
    for end in ("i", "j"):
        frame[end] = "r" + frame[end].astype(str)
    frame.to_csv(folder / "links.csv", index=False)


def run(folder):
    """Run the command; return the summary that it prints as JSON."""
    command = (
        "-m maylink cluster data.csv --links links.csv --id name --out labels.csv "
        "--report report.html --json --quiet --force"
    )
    process = subprocess.run(
        [sys.executable, *command.split()], cwd=folder, check=True, capture_output=True, text=True
    )
    return json.loads(process.stdout)


def table():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        run(folder)  # fills the cache of compiled loops
        summary = run(folder)
        size = (folder / "data.csv").stat().st_size / 1e6
    peak = summary["peak_memory_mb"]
    rows = [(stage, f"{seconds:.2f}") for stage, seconds in summary["seconds"].items()]
    rows += [
        ("size of the CSV, MB", f"{size:.0f}"),
        ("peak of resident memory, MB", f"{peak:.0f}"),
        (f"the peak in units of the CSV ({LIMIT:g} asked)", verdict(peak / size, LIMIT)),
    ]
    title = f"`maylink cluster` on {N:,} × {D}, {N // 10:,} links, with a report"
    return markdown(title, ("stage, seconds", ""), rows)
