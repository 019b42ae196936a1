"""How many questions it takes: maylink's own, random and look-alike pairs, and rivals that ask.

Somebody answers whether two rows belong together, and is right with p = 1, .9 and .8, each time
anew. The first question is put without any link. *maylink* asks what :class:`maylink.Interview`
asks, in batches of one in ten of the answers that there are; *random pairs* and *look-alike
pairs* (seven in ten join a row to one of its 15 nearest) hand their answers to the same interview,
so that these three differ in their questions alone. Explore–consolidate, min-max and NPU (with
PCK-means, told the true number of clusters), COBRAS and noise-robust COBRAS, which is told p, run
in environments of their own (:mod:`maylink.experiments.question_programs`). Noise-robust COBRAS is
in no package index: the variable ``MAYLINK_NCOBRAS`` names a checkout of its repository.

Measurements in units of their own (iris, wine, ecoli) are standardised, once and for all methods.
On more than 500 rows the rivals that begin anew for every number of questions, or take minutes, run
only when they are named. Each rival has a minute for all of its questions; one that does not end by
then is told as late.

F and ARI are over the pairs that nobody asked about; F over all pairs is kept besides, as that is
what *expected F* foretells. *Reach* is the first number of questions on
the list from which on ARI is .8 or more, at every number after it. The floor is the information in
the true partition, divided by what an answer of accuracy p can carry: who knows nothing of the data
needs more.

Paper: not in it. Protocol: ``stated``. Command: ``python -m maylink.experiments questions``.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln
from sklearn.preprocessing import StandardScaler

from maylink.arrays import Index
from maylink.datasets import (
    PATTERNS,
    Dataset,
    load,
    load_questions,
    make_pattern,
    make_records,
    sample_look_alikes,
)
from maylink.errors import DatasetError
from maylink.experiments import peers, question_tables, today
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.peers import MissingError, PatienceError, Peer
from maylink.experiments.question_programs import ASKERS
from maylink.experiments.scoring import RunResult, score
from maylink.links import Links
from maylink.questions import Answer, Interview

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Questions"
OURS = ("maylink", "random pairs", "look-alike pairs")
METHODS = (*OURS, *ASKERS)
OWN_UNITS = ("iris", "wine", "ecoli")  # sets whose columns are standardised
SETS = (*OWN_UNITS, "digits", *today.QUESTIONS, "records", *PATTERNS)
QUICK_SETS = ("iris", "wine", "moons", "rings", "spirals")
ACCURACIES = (1.0, 0.9, 0.8)
LIST = (
    0, 5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 125, 150, 200, 250, 300, 400, 500, 700, 1000,
    1500, 2000, 3000, 5000,
)  # fmt: skip
SHORT_LIST = (0, 10, 20, 50, 100, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000)
TIMES_N = (0.5, 1.0, 2.0, 4.0)  # questions on the list besides, in units of n
LARGE = 500  # rows above which the list is short, and most rivals are left out unless named
ON_LARGE = (*OURS, "COBRAS")
BATCH = 10  # one in so many of the answers so far is the size of the next batch
PATIENCE = 60.0  # seconds that a rival may take for all of its questions


Step = tuple[int, Index, Links, float | None]
"""Questions so far, labels, the pairs asked about, and the expected F where there is one."""


def cells(plan: RunPlan) -> list[Cell]:
    """Return the runs: a quick plan has one trial of five small data sets."""
    quick, plan = plan.quick, plan.once()
    names = []
    for name in QUICK_SETS if quick else SETS:
        if name not in plan.data:
            continue
        try:
            data_of(name, plan.seed, 0)
        except DatasetError as error:
            warnings.warn(f"questions goes without {name}: {error}", stacklevel=2)
        else:
            names.append(name)
    methods = {name: _methods(plan, data_of(name, plan.seed, 0)) for name in names}
    return [
        Cell("questions", "stated", method, name, 0.0, p, trial, plan.seed)
        for trial in range(plan.trials)
        for name in names
        for p in plan.links.accuracies or ACCURACIES
        for method in methods[name]
    ]


def run(cell: Cell) -> RunResult:
    """Let a method ask, and score its clusters after each number of questions on the list."""
    truth = data_of(cell.data, cell.seed, cell.trial)
    points = checkpoints(truth.y.size)
    failure: str | None = None
    found: Iterable[Step]
    if cell.method in OURS:
        found = ask_ourselves(cell, truth, points)
    else:
        try:
            found, failure = ask_rival(cell, truth, points)
        except PatienceError:
            return RunResult(failure=question_tables.LATE, more={"reach": None})
        except MissingError as error:
            return RunResult(failure=f"missing: {error}")
    curves: dict[str, dict[str, float]] = {"F": {}, "F_unlinked": {}, "ARI": {}, "expected": {}}
    result = RunResult(failure=failure or "no clusters")
    for n_asked, labels, links, expected in found:
        result = score(truth, labels, links)
        curves["F"][str(n_asked)] = result.F or 0.0
        curves["F_unlinked"][str(n_asked)] = result.F_unlinked or 0.0
        curves["ARI"][str(n_asked)] = result.ARI_unlinked or 0.0
        if expected is not None:
            curves["expected"][str(n_asked)] = expected
    more: dict[str, Any] = {f"{name}_by_questions": one for name, one in curves.items()}
    more |= {"reach": reach(curves["ARI"]), "floor": floor(truth.y, cell.accuracy)}
    return replace(result, failure=failure, more=more) if curves["ARI"] else result


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the questions to reach ARI .8, the curves, and how expected F compares with F."""
    return question_tables.tables(runs)


def figure(runs: pd.DataFrame) -> Any:
    """Draw ARI by the number of questions, a panel for each data set and accuracy."""
    return question_tables.figure(runs)


def _methods(plan: RunPlan, truth: Dataset) -> list[str]:
    """Return the methods that ask about a data set; say which are left out, and why."""
    wanted = [method for method in METHODS if plan.wants(method)]
    if plan.methods is not None or truth.y.size <= LARGE:
        return wanted
    left_out = [method for method in wanted if method not in ON_LARGE]
    if left_out:
        warnings.warn(
            f"questions goes without {', '.join(left_out)} on {truth.name}: {truth.y.size} rows "
            f"take them more than {PATIENCE:g} s; --methods names them",
            stacklevel=3,
        )
    return [method for method in wanted if method in ON_LARGE]


@lru_cache(maxsize=4)
def data_of(name: str, seed: int, trial: int) -> Dataset:
    """Return a data set; of simulated ones, the draw of the trial."""
    key = Cell("questions", "stated", "", name, 0.0, 0.0, trial, seed).nested_seed
    if name == "records":
        return make_records(rng=np.random.default_rng(key))
    if name in PATTERNS:
        return make_pattern(name, rng=np.random.default_rng(key))
    if name in today.QUESTIONS:
        return load_questions(today.QUESTIONS[name])
    found = load(name)
    return replace(found, X=StandardScaler().fit_transform(found.X)) if name in OWN_UNITS else found


def checkpoints(n: int) -> list[int]:
    """Return the numbers of questions after which clusters are scored: up to 4n."""
    several = {int(times * n) for times in TIMES_N}
    points = SHORT_LIST if n > LARGE else LIST
    return sorted(point for point in {*points, *several} if point <= max(several))


def reach(curve: Mapping[str, float]) -> int | None:
    """Return the number of questions from which on ARI is good; None where there is none."""
    found = None
    for at in sorted(map(int, curve), reverse=True):
        if curve[str(at)] < question_tables.GOOD:
            break
        found = at
    return found


def floor(y: Index, p: float) -> float:
    """Return the bits of a partition of these sizes, by the bits of an answer."""
    sizes = np.bincount(y)
    sizes = sizes[sizes > 0]
    several = np.bincount(sizes)  # clusters of one size are not told apart
    nats = gammaln(sizes.sum() + 1) - gammaln(sizes + 1).sum() - gammaln(several + 1).sum()
    noise = 0.0 if p == 1.0 else -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
    return float(nats / np.log(2.0) / (1.0 - noise))


def ask_ourselves(cell: Cell, truth: Dataset, points: list[int]) -> Iterator[Step]:
    """Ask with an interview; yield its clusters after each number of questions."""
    rng = np.random.default_rng([*cell.links_seed, OURS.index(cell.method)])
    state = int(rng.integers(2**31))
    interview = Interview(truth.X, random_state=state)
    pairs = other_pairs(cell.method, truth, points[-1], rng)
    asked = 0
    for point in points:
        while asked < point:
            size = min(point - asked, max(1, asked // BATCH))
            if cell.method == "maylink":
                batch = [(one.i, one.j) for one in interview.questions(size)]
            else:
                batch = pairs[asked : asked + size].tolist()
            if not batch:
                break
            interview.add([answer(truth.y, i, j, cell.accuracy, rng) for i, j in batch])
            asked += len(batch)
        yield point, interview.labels, interview.links, interview.standing.expected_f


def answer(y: Index, i: int, j: int, p: float, rng: np.random.Generator) -> Answer:
    """Answer a question, rightly with probability p."""
    return Answer(i, j, 1 if (y[i] == y[j]) == (rng.random() < p) else -1)


def other_pairs(method: str, truth: Dataset, most: int, rng: np.random.Generator) -> Index:
    """Return pairs to ask about that nobody thought about."""
    n = truth.y.size
    if method == "look-alike pairs":
        features = today.features(truth)
        links = sample_look_alikes(features, truth.y, most, 1.0, rng=rng)
        return rng.permutation(np.column_stack([links.i, links.j]))
    first = rng.integers(n, size=most)
    return np.column_stack([first, (first + rng.integers(1, n, size=most)) % n])


def ask_rival(cell: Cell, truth: Dataset, points: list[int]) -> tuple[list[Step], str | None]:
    """Let a rival ask; return its clusters, and why it stopped early."""
    rival = ASKERS[cell.method]
    peers.look_for_checkout(rival.variable)
    python = peers.environment(rival.package, None, rival.needs)
    seed = int(np.random.default_rng(cell.links_seed).integers(2**31))
    with tempfile.TemporaryDirectory() as folder:
        problem = Path(folder) / "problem.npz"
        np.savez(problem, X=np.ascontiguousarray(today.features(truth), np.float64), y=truth.y)
        with Peer(python, rival.program, patience=2.0 * PATIENCE, threads=1) as peer:
            said = peer.run(
                problem=str(problem), k=len(truth.classes), p=cell.accuracy, seed=seed,
                seconds=PATIENCE, checkpoints=points,
            )  # fmt: skip
    steps: list[Step] = []
    for n_asked, labels in said["labels"].items():
        pairs = np.array(said["pairs"][n_asked], np.int64).reshape(-1, 2)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        links = Links(truth.y.size, pairs[:, 0], pairs[:, 1], np.ones(len(pairs), np.int64))
        steps.append((int(n_asked), np.asarray(labels, np.int64), links, None))
    return steps, said["stopped"]
