"""From one annotator to a thousand: what sources share, against pooling and keeping them apart.

Points lie in four overlapping Gaussian clusters. Every annotator answers some pairs, half of them
of one cluster, out of a pool in which about three answers fall on a pair. Annotators are alike,
each right in seven of ten answers, or mixed: of ten, six are right in six to nineteen of twenty
answers, two always say may, one guesses, and one says the opposite in four of five answers. Weak
ones are right in six of ten, and so are those beside an expert, who gives 3,000 answers more, nine
of ten of them right.

TVClust is run with the prior that sources share, its default, with one source for all (pooled),
with Beta(9, 1) for each source by itself (separate), and without links; family and data weight are
given, as the question is what links weigh. PCKMeans is told the number of clusters and obeys the
majority of each pair, or what the model of Dawid and Skene makes of the answers, by crowd-kit where
that is installed.

Paper: not in it. Protocol: ``stated``. Command: ``python -m maylink.experiments annotators``.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from maylink.baselines import PCKMeans
from maylink.datasets import Dataset
from maylink.estimators import TVClust
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.scoring import RunResult, score
from maylink.families import Gaussian
from maylink.links import MAY, Links
from maylink.model.source_prior import PRIOR, SHARED

if TYPE_CHECKING:
    import pandas as pd

TITLE = "From one annotator to a thousand"
N, K, APART = 160, 4, 3.0  # points, clusters, and their distance in standard deviations
ACCURACY = {"alike": 0.7, "mixed": 0.7, "weak": 0.6, "expert": 0.6}  # of mixed ones, about
EXPERT_ANSWERS, EXPERT_ACCURACY = 3000, 0.9
SPECIAL = {"weak": ((100, 4),), "expert": ((500, 4),)}  # crowds of one size
ANNOTATORS = (1, 10, 100, 1000)
ANSWERS = (1, 4, 10, 100, 1000)  # of each annotator
FEWEST, MOST = 100, 10_000  # answers of all
QUICK = ((1, 1000), (10, 10), (10, 100), (100, 4), (100, 10), (1000, 1), (1000, 4))
PER_PAIR = 3
TVCLUST = ("TVClust", "pooled", "separate")
PCK = ("majority, PCKMeans", "Dawid–Skene, PCKMeans")
METHODS = (*TVCLUST, "no links", *PCK, "K-means")


def cells(plan: RunPlan) -> list[Cell]:
    """Return the runs of all methods; a quick plan has one trial of seven sizes."""
    plan = plan.once()
    sizes = [(s, a) for s in ANNOTATORS for a in ANSWERS if FEWEST <= s * a <= MOST]
    methods = [name for name in METHODS if plan.wants(name)]
    if PCK[1] in methods and not _has_crowdkit():
        warnings.warn(f"annotators goes without {PCK[1]}: pip install crowd-kit", stacklevel=2)
        methods.remove(PCK[1])
    return [
        Cell("annotators", "stated", method, crowd, answers / N, accuracy, trial, plan.seed,
             f"{annotators} × {answers}")
        for trial in range(plan.trials)
        for crowd, accuracy in ACCURACY.items()
        if crowd in plan.data
        for annotators, answers in SPECIAL.get(crowd, QUICK if plan.quick else sizes)
        for method in methods
    ]  # fmt: skip


def run(cell: Cell) -> RunResult:
    """Draw points and answers of the trial, fit the method, score it."""
    annotators, answers = (int(part) for part in cell.variant.split(" × "))
    rng = np.random.default_rng([*cell.links_seed, annotators])
    truth = make_points(rng)
    links = make_answers(truth.y, cell.data, annotators, answers, rng)
    seed = int(rng.integers(2**31))
    return score(truth, fit_method(cell.method, truth.X, links, seed), links)


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return mean F, and where TVClust is behind the better of pooled and separate."""
    wide = runs.pivot_table("F", ["data", "variant"], "method", sort=False)
    return {
        "mean F, annotators × answers of each": wide[[name for name in METHODS if name in wide]],
        "TVClust less the better of pooled and separate": lead(runs),
    }


def figure(runs: pd.DataFrame) -> Any:
    """Return nothing: the table says it all."""


def lead(runs: pd.DataFrame) -> pd.DataFrame:
    """Return by how much TVClust is ahead of the better of pooled and separate, with its error."""
    import pandas as pd

    rows = []
    for cell, some in runs.groupby(["data", "variant"], sort=False):
        scores = some.pivot_table("F", "trial", "method")
        if not set(TVCLUST) <= set(scores):
            continue
        better = scores[list(TVCLUST[1:])].mean().idxmax()
        apart = scores["TVClust"] - scores[better]
        error = float(apart.std(ddof=1) / np.sqrt(len(apart))) if len(apart) > 1 else np.nan
        behind = bool(apart.mean() < -error) if len(apart) > 1 else bool(apart.mean() < 0.0)
        rows.append((*cell, better, float(apart.mean()), error, behind))
    names = ["data", "variant", "better", "lead", "± lead", "behind"]
    return pd.DataFrame(rows, columns=names).set_index(names[:2])


def make_points(rng: np.random.Generator) -> Dataset:
    """Draw points of clusters at the corners of a square."""
    y = np.arange(N) % K
    corners = APART * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    X = corners[y] + rng.normal(size=(N, 2))
    return Dataset("annotators", X, y, tuple(f"cluster {k}" for k in range(K)), "simulated")


def make_answers(
    y: NDArray[np.int64], crowd: str, annotators: int, answers: int, rng: np.random.Generator
) -> Links:
    """Draw what each annotator says of some pairs of a pool, each annotator a source."""
    n_answers = np.full(annotators, answers)
    if crowd == "expert":
        n_answers = np.append(n_answers, EXPERT_ANSWERS)
    size = max(n_answers.max(), n_answers.sum() // PER_PAIR)
    first = rng.integers(N, size=size)
    second = (first + rng.integers(1, N, size=size)) % N
    inside = np.flatnonzero(np.arange(size) % 2)  # every other pair is of one cluster
    step = K * rng.integers(1, N // K, size=inside.size)
    second[inside] = (first[inside] + step) % N
    p, q = make_annotators(crowd, annotators, rng)
    pairs = np.concatenate([rng.choice(size, number, replace=False) for number in n_answers])
    source = np.repeat(np.arange(n_answers.size), n_answers)
    i, j = first[pairs], second[pairs]
    may = rng.random(pairs.size) < np.where(y[i] == y[j], p[source], 1.0 - q[source])
    return Links(N, i, j, np.where(may, 1, -1), source=source)


def make_annotators(
    crowd: str, annotators: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw p and q of each annotator; the first of a mixed crowd is a good one, an expert last."""
    if crowd != "mixed":
        right = np.full(annotators, ACCURACY[crowd])
        right = np.append(right, EXPERT_ACCURACY) if crowd == "expert" else right
        return right, right.copy()
    p = rng.uniform(0.6, 0.95, annotators)
    q = p.copy()
    kind = np.arange(annotators) % 10
    p[kind >= 6], q[kind >= 6] = 1.0, 0.0  # always may
    p[kind == 8] = q[kind == 8] = 0.5
    p[kind == 9] = q[kind == 9] = 0.2
    return p, q


def fit_method(method: str, X: NDArray[np.float64], links: Links, seed: int) -> NDArray[np.int64]:
    """Return the labels of a method."""
    if method == "K-means":
        return np.asarray(KMeans(K, n_init=10, random_state=seed).fit(X).labels_, np.int64)
    if method in PCK:
        judged = majority(links) if method == PCK[0] else dawid_skene(links)
        return PCKMeans(K, n_init=10, random_state=seed).fit(X, links=judged).labels_
    prior = PRIOR if method == "separate" else SHARED
    if method == "no links":
        links = Links.empty(links.n)
    elif method == "pooled":
        links = Links(links.n, links.i, links.j, links.kind, links.weight)
    model = TVClust(
        Gaussian(), data_weight=1.0, reliability_prior=prior, n_jobs=1, random_state=seed
    )
    return model.fit(X, links=links).labels_


def majority(links: Links) -> Links:
    """Return one link for each pair: what most say; pairs that are evenly split are left out."""
    pair, at = _pairs(links)
    votes = np.bincount(at, links.kind)
    decided = votes != 0
    first, second = pair[decided].T
    return Links(links.n, first, second, np.sign(votes[decided]))


def dawid_skene(links: Links) -> Links:
    """Return one link for each pair: what the model of Dawid and Skene makes of the answers."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    pair, at = _pairs(links)
    answers = pd.DataFrame({"task": at, "worker": links.source, "label": links.kind == MAY})
    may = DawidSkene(n_iter=100).fit_predict(answers).loc[np.arange(len(pair))].to_numpy(bool)
    return Links(links.n, pair[:, 0], pair[:, 1], np.where(may, 1, -1))


def _pairs(links: Links) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs that carry links, and the place of each link among them."""
    ends = np.column_stack([np.minimum(links.i, links.j), np.maximum(links.i, links.j)])
    pair, at = np.unique(ends.astype(np.int64), axis=0, return_inverse=True)
    return pair, at.ravel()


def _has_crowdkit() -> bool:
    try:
        import crowdkit.aggregation  # noqa: F401
    except ImportError:
        return False
    return True
