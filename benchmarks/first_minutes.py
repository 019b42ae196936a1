"""The first minutes of a new user: import, slips of the pen, first fits, small fits.

First fits begin with an empty compile cache.

python benchmarks/first_minutes.py          the table
python benchmarks/first_minutes.py clone    and a fresh clone: install, demo (needs a network)

Wall time depends on who else uses the machine; processor time, of all processes of a fit, hardly
does. Warm fits stand beside methods of scikit-learn, which are told nothing of links; K-means and
the mixture are told a number of clusters, or the most that there may be.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = """
import resource, time, warnings
import numpy as np
warnings.simplefilter("ignore")

def data(n, d, k):
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    return 4.0 * rng.normal(size=(k, d))[y] + rng.normal(size=(n, d)), y

def used():
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(part.ru_utime + part.ru_stime for part in both)

def timed(work, times=1):
    best = (np.inf, np.inf)
    for _ in range(times):
        before, begin = used(), time.perf_counter()
        work()
        best = min(best, (time.perf_counter() - begin, used() - before))
    print(*best)
"""
FIT = (
    DATA
    + """
import maylink as ml
X, y = data({n}, {d}, {k})
links = ml.datasets.sample_links(y, 3.0 / len(y), 0.85, rng=0)
timed(lambda: ml.{model}.fit(X, links=links), {times})
"""
)
PEER = (
    DATA
    + """
from {module} import {name}
X, y = data({n}, {d}, {k})
timed(lambda: {model}.fit(X), {times})
"""
)
MODELS = {
    "TVClust": "TVClust(random_state=0)",
    "RDPMeans": "RDPMeans(random_state=0)",
    "TVClust, Gibbs": "TVClust(inference='gibbs', random_state=0)",
}
AT_MOST = {"TVClust": 3.0, "RDPMeans": 1.5, "TVClust, Gibbs": 15.0}
PEERS = {
    "KMeans": ("sklearn.cluster", "KMeans({k}, n_init=10, random_state=0)"),
    "HDBSCAN": ("sklearn.cluster", "HDBSCAN(min_cluster_size=5, copy=True)"),
    "BayesianGaussianMixture": (
        "sklearn.mixture",
        "BayesianGaussianMixture(n_components=20, max_iter=500, random_state=0)",
    ),
}
COMMANDS = ("--help", "cluster --help", "cluster gone.csv")  # of which none may load much
SIZES = ((150, 4, 3, 0.5), (1000, 16, 8, 2.0))  # points, features, clusters, seconds at most


def run(code, **environment):
    """Run code in a fresh process; return wall and processor seconds that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""} | environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return tuple(float(number) for number in done.stdout.split()[-2:])


def imported(name):
    """Return the least seconds that it takes to import a module in a fresh process."""
    code = f"import time; a = time.perf_counter(), time.process_time(); import {name}; "
    code += "print(time.perf_counter() - a[0], time.process_time() - a[1])"
    return min(run(code) for _ in range(4))


def answered(words):
    """Return the least seconds until a command ends in a fresh process."""
    code = "import time; a = time.perf_counter(), time.process_time(); from maylink import cli; "
    code += f"cli.main({words.split()!r}); "
    code += "print(time.perf_counter() - a[0], time.process_time() - a[1])"
    return min(run(code) for _ in range(4))


def row(what, seconds, at_most=""):
    return f"| {what} | {seconds[0]:.2f} | {seconds[1]:.2f} | {at_most} |\n"


def table():
    parts = [
        "## The first minutes\n\n| what | seconds | processor seconds | at most |\n"
        "| --- | --- | --- | --- |\n",
        row("`import maylink`", imported("maylink")),
        row("`import sklearn.cluster`", imported("sklearn.cluster")),
        *(row(f"`maylink {words}`", answered(words), 1.0) for words in COMMANDS),
    ]
    for name, model in MODELS.items():
        with tempfile.TemporaryDirectory() as empty:
            code = FIT.format(n=150, d=4, k=3, model=model, times=1)
            seconds = run(code, NUMBA_CACHE_DIR=empty)
        parts.append(row(f"first {name} of 150 × 4, empty cache", seconds, AT_MOST[name]))
    for n, d, k, most in SIZES:
        for name in ("TVClust", "RDPMeans"):
            code = FIT.format(n=n, d=d, k=k, model=MODELS[name], times=4)
            at_most = most if name == "TVClust" else ""
            parts.append(row(f"{name} of {n:,} × {d}, warm", run(code), at_most))
        for name, (module, model) in PEERS.items():
            model = model.format(k=k)
            code = PEER.format(module=module, name=name, n=n, d=d, k=k, model=model, times=4)
            parts.append(row(f"{name} of {n:,} × {d}", run(code)))
    return "".join(parts)


def clone():
    """Return the times of a fresh clone: install, the demo's table, the demo's end."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder) / "maylink"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(here)], check=True)
        begin = time.perf_counter()
        subprocess.run(["make", ".venv/.demo"], cwd=here, check=True)
        installed = time.perf_counter()
        command = ["make", "--silent", "demo"]
        environment = os.environ | {"NUMBA_CACHE_DIR": str(Path(folder) / "empty")}
        table_done = None
        with subprocess.Popen(
            command, cwd=here, env=environment, stdout=subprocess.PIPE, text=True
        ) as demo:
            for line in demo.stdout:
                if line.startswith("average"):
                    table_done = time.perf_counter()
        end = time.perf_counter()
    return (
        "| step of a fresh clone | seconds | at most |\n| --- | --- | --- |\n"
        f"| install what the demo needs | {installed - begin:.0f} | |\n"
        f"| the demo's table | {table_done - installed:.0f} | 30 |\n"
        f"| the demo's end | {end - installed:.0f} | 75 |\n"
    )


if __name__ == "__main__":
    print(table(), flush=True)
    if sys.argv[1:] == ["clone"]:
        print(clone())
