"""How each rival that asks questions is called, in its own environment.

A program defines ``ask(X, k, oracle, most)``, which puts questions by ``oracle.query(i, j)`` and
returns labels by the number of questions. An oracle answers wrongly as often as it is told, raises
``Enough`` after ``most`` questions or when time is up, and remembers what it was asked.
"""

from __future__ import annotations

from typing import NamedTuple

FRAME = """
class Enough(Exception):
    pass
class Oracle:
    def __init__(self, y, p, seed, most, deadline):
        self.y, self.p, self.most, self.deadline = y, p, most, deadline
        self.rng, self.pairs = np.random.default_rng(seed), []
        self.late = False
    def query(self, i, j):
        self.late = self.late or time.perf_counter() > self.deadline
        if len(self.pairs) >= self.most or self.late:
            raise Enough
        self.pairs.append((int(i), int(j)))
        return bool((self.y[i] == self.y[j]) == (self.rng.random() < self.p))
{ask}
def run(X, a):
    import random
    with np.load(a["problem"]) as p:
        X, y = p["X"], p["y"]
    deadline = time.perf_counter() + a["seconds"]
    found, pairs, failure = {}, {}, None
    for most in a["checkpoints"] if AGAIN else [a["checkpoints"][-1]]:
        np.random.seed(a["seed"])
        random.seed(a["seed"])
        oracle = Oracle(y, a["p"], a["seed"], most, deadline)
        try:
            labels = ask(X, a["k"], oracle, a["checkpoints"])
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"[:200]
            break
        if oracle.late and AGAIN:
            failure = "late"
            break
        found.update({str(n): np.asarray(one).astype(int).tolist() for n, one in labels.items()})
        pairs.update({str(n): oracle.pairs[:n] for n in labels})
        if oracle.late:
            failure = "late"
    return dict(labels=found, pairs=pairs, stopped=failure)
"""

# From scratch for every number of questions: its learners end with the clusters of all answers.
LEARNER = """
AGAIN = True
from active_semi_clustering.active.pairwise_constraints import {name}
from active_semi_clustering.active.pairwise_constraints.example_oracle import (
    MaximumQueriesExceeded,
)
from active_semi_clustering.semi_supervised.pairwise_constraints import PCKMeans
class Teacher:
    def __init__(self, oracle):
        self.oracle, self.queries_cnt, self.max_queries_cnt = oracle, 0, oracle.most
    def query(self, i, j):
        try:
            answer = self.oracle.query(i, j)
        except Enough:
            raise MaximumQueriesExceeded
        self.queries_cnt += 1
        return answer
def ask(X, k, oracle, checkpoints):
    if not oracle.most:
        return {{}}
    learner = {made}
    learner.fit(X, oracle=Teacher(oracle))
    may, may_not = learner.pairwise_constraints_
    model = PCKMeans(n_clusters=k)
    model.fit(X, ml=may, cl=may_not)
    return {{oracle.most: model.labels_}}
"""

COBRAS = """
AGAIN = False
np.int = int  # of an older NumPy
from cobras_ts.cobras_kmeans import COBRAS_kmeans
from cobras_ts.querier.querier import Querier
class Asked(Querier):
    def __init__(self, oracle):
        super().__init__()
        self.oracle = oracle
    def query_points(self, i, j):
        return self.oracle.query(i, j)
    def update_clustering(self, clustering):
        pass
    def continue_cluster_process(self):
        return True
def ask(X, k, oracle, checkpoints):
    model = COBRAS_kmeans(X, Asked(oracle), oracle.most)
    try:
        found = model.cluster()[1]
    except Enough:  # time is up: the numbers of questions that it got to count
        found = [labels for labels, *_ in model.intermediate_results]
    done = {n: found[n - 1] for n in checkpoints if 0 < n <= len(found)}
    return done if oracle.late else done | {n: found[-1] for n in checkpoints if n > len(found)}
"""

NOISE_ROBUST = """
AGAIN = False
sys.path.insert(0, os.environ["MAYLINK_NCOBRAS"])
np.int = int  # of an older NumPy
from noise_robust_cobras.cobras import COBRAS
from noise_robust_cobras.cobras_logger import ClusteringLogger
from noise_robust_cobras.querier.querier import MaximumQueriesExceeded, Querier
class Asked(Querier):
    def __init__(self, logger, oracle):
        super().__init__(logger)
        self.oracle = oracle
    def query_limit_reached(self):
        late = time.perf_counter() > self.oracle.deadline
        return late or len(self.oracle.pairs) >= self.oracle.most
    def _query_points(self, i, j):
        try:
            return self.oracle.query(i, j)
        except Enough:
            raise MaximumQueriesExceeded
def ask(X, k, oracle, checkpoints):
    logger = ClusteringLogger()
    noise = max(1.0 - oracle.p, 0.001)
    model = COBRAS(correct_noise=oracle.p < 1.0, noise_probability=noise, cobras_logger=logger)
    found = model.fit(X, None, None, Asked(logger, oracle))[0]
    done = {n: found[n - 1] for n in checkpoints if 0 < n <= len(found)}
    return done if oracle.late else done | {n: found[-1] for n in checkpoints if n > len(found)}
"""


COBRAS_NEEDS = (
    "scikit-learn", "scipy", "dtaidistance", "kshape", "tornado", "bokeh", "panel", "datashader",
    "matplotlib", "ipython",
)  # fmt: skip
"""It imports its page with itself."""


class AskingRival(NamedTuple):
    """A rival that asks questions.

    Parameters
    ----------
    ask : str
        Python code that defines ``ask``.
    package : str
        What pip installs; empty where a checkout is named by ``variable``.
    needs : tuple of str
        What pip installs with it.
    variable : str
        The environment variable that names a checkout of its repository.
    """

    ask: str
    package: str
    needs: tuple[str, ...] = ()
    variable: str = ""

    @property
    def program(self) -> str:
        """What runs in the environment."""
        return FRAME.replace("{ask}", self.ask)


def _learner(name: str, made: str) -> AskingRival:
    ask = LEARNER.replace("{name}", name).replace("{made}", made)
    ask = ask.replace("{{", "{").replace("}}", "}")
    return AskingRival(
        ask, "active-semi-supervised-clustering", ("scipy", "scikit-learn", "setuptools")
    )


ASKERS = {
    "explore-consolidate": _learner("ExploreConsolidate", "ExploreConsolidate(n_clusters=k)"),
    "min-max": _learner("MinMax", "MinMax(n_clusters=k)"),
    "NPU": _learner("NPU", "NPU(clusterer=PCKMeans(n_clusters=k))"),
    "COBRAS": AskingRival(COBRAS, "cobras-ts", COBRAS_NEEDS),
    "noise-robust COBRAS": AskingRival(
        NOISE_ROBUST, "scikit-learn", ("scipy",), variable="MAYLINK_NCOBRAS"
    ),
}
"""Rivals by name; K-means-based ones are told the true number of clusters."""
