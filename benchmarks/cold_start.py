"""How long a person waits the first time: import, and a first fit of 150 points."""

import os
import subprocess
import sys
import tempfile
import time

FIT = (
    "import time, numpy as np, maylink\n"
    "X = np.random.default_rng(0).normal(size=(150, 4))\n"
    "start = time.perf_counter()\n"
    "maylink.RDPMeans(random_state=0).fit(X, links=([(0, 1)], [(2, 3)]))\n"
    "print(time.perf_counter() - start)\n"
)


def run(code, **environment):
    # Both sides with their bytecode on disk, as after any install.
    environment = {"PYTHONDONTWRITEBYTECODE": "", **environment}
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return time.perf_counter() - start, done.stdout


def table():
    peer, ours = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(8):  # interleaved; the first two write the bytecode
            peer.append(run("import sklearn.cluster", PYTHONPYCACHEPREFIX=folder)[0])
            ours.append(run("import maylink", PYTHONPYCACHEPREFIX=folder)[0])
    with tempfile.TemporaryDirectory() as empty:
        cold = float(run(FIT, NUMBA_CACHE_DIR=empty)[1])
        warm = min(float(run(FIT, NUMBA_CACHE_DIR=empty)[1]) for _ in range(5))
    return (
        "## Cold start\n\n"
        "| what | seconds | at most |\n| --- | --- | --- |\n"
        f"| `import sklearn.cluster` in a fresh process | {min(peer):.2f} | |\n"
        f"| `import maylink` in a fresh process | {min(ours):.2f} | {min(peer) + 0.2:.2f} |\n"
        f"| first fit of 150 points, compile cache warm | {warm:.2f} | 1 |\n"
        f"| first fit of 150 points, compile cache empty | {cold:.2f} | 6 |\n"
    )
