"""How long a question takes: the start with the first ten, ten more, an answer, a call again.

Processor seconds for 10,000 and 100,000 rows of 64 numbers in 30 clusters, and for records of
people, 20 of 9 (:func:`maylink.datasets.make_records`), best of five, on one thread beside those
that look for neighbours at the start. *A fit* is the answer after which data are fitted anew, the
16th. *Smaller pieces* is the answer after which pieces are cut
smaller and all answers are taken in again, once; *both after* is ten questions and an answer with
these pieces. *Called again* is ``model.questions`` after a call
before, and *with an answer more* the same with a link that came since. The peer is the fit of
KMeans with 30 clusters (n_init=1) in the same run.

``python benchmarks/questions.py 10000`` leaves out what has more rows.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from sklearn.cluster import KMeans

import maylink as ml
from maylink.questions.fits import FEWEST_ANSWERS
from timing import markdown

SIZES, D, K = (10_000, 100_000), 64, 30
RECORDS = (2_000, 10_000)
REPEATS = 5
ANSWERS = 100, 300  # after the first pieces are not cut yet; after the second they have been
TITLE = "Questions, processor seconds; 64 columns in 30 clusters, or records of people"
COLUMNS = (
    "data", "rows", "start", "ten questions", "an answer", "both", "a fit", "smaller pieces",
    "both after", "called again", "with an answer more", "KMeans",
)  # fmt: skip


def data(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw clusters that hardly overlap."""
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=n)
    centers = 1.2 * rng.normal(size=(K, D))
    return (centers[y] + rng.normal(size=(n, D))).astype(np.float32), y


def records(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw records of people, most of whom have one, two or three."""
    drawn = ml.datasets.make_records(n, 9 * n // 20, rng=0)
    return drawn.X, drawn.y


def seconds(work: Callable[[], object]) -> float:
    """How long something takes, whatever else runs on the machine."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def row(name: str, X: np.ndarray, y: np.ndarray) -> list[str]:
    """Time everything for some data."""
    peers = [seconds(lambda: KMeans(K, n_init=1, random_state=0).fit(X)) for _ in range(REPEATS)]
    begin = time.process_time()
    interview = ml.Interview(X, random_state=0)
    interview.questions(10)
    start = time.process_time() - begin
    first = start, *turns(interview, y), fitted(interview, y), smaller(interview, y)
    several = *first, turns(interview, y)[-1], *again(X, y), min(peers)
    return [name, f"{len(y):,}", *("–" if one is None else f"{one:.3f}" for one in several)]


def answer(y: np.ndarray, i: int, j: int) -> ml.Answer:
    """Answer rightly."""
    return ml.Answer(int(i), int(j), 1 if y[i] == y[j] else -1)


def turns(interview: ml.Interview, y: np.ndarray) -> tuple[float, float, float]:
    """Time ten questions, an answer, and both."""
    ask, hear = [], []
    for _ in range(REPEATS):
        ask.append(seconds(lambda: interview.questions(10)))
        one = interview.questions(1)[0]
        said = answer(y, one.i, one.j)
        hear.append(seconds(lambda said=said: interview.add([said])))
    return min(ask), min(hear), min(a + b for a, b in zip(ask, hear, strict=True))


def fitted(interview: ml.Interview, y: np.ndarray) -> float:
    """Time the answer after which data are fitted anew."""
    while len(interview.answers) < FEWEST_ANSWERS - 1:
        one = interview.questions(1)[0]
        interview.add([answer(y, one.i, one.j)])
    one = interview.questions(1)[0]
    return seconds(lambda: interview.add([answer(y, one.i, one.j)]))


def smaller(interview: ml.Interview, y: np.ndarray) -> float | None:
    """Time the first answer after which pieces are smaller; None where they stay."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(len(y), size=(ANSWERS[1], 2))
    several = [answer(y, i, j) for i, j in pairs if i != j]
    interview.add(several[: ANSWERS[0]])
    before = interview._mind.pieces.count
    for one in several[ANSWERS[0] :]:
        took = seconds(lambda one=one: interview.add([one]))
        if interview._mind.pieces.count != before:
            return took
    return None


def again(X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Time calls of ``model.questions`` after the first."""
    model = ml.baselines.PlainKMeans(K, random_state=0).fit(X)
    links = ml.Links.empty(len(y))
    model.questions(10, X, links=links)
    same = min(seconds(lambda: model.questions(10, X, links=links)) for _ in range(REPEATS))
    more = []
    for _ in range(REPEATS):
        one = model.questions(1, X, links=links)[0]
        links += ml.Links(len(y), [one.i], [one.j], [answer(y, one.i, one.j).kind])
        more.append(seconds(lambda: model.questions(10, X, links=links)))  # noqa: B023
    return same, min(more)


def table(most: int = max(SIZES)) -> str:
    """Return the table."""
    ml.Interview(data(500)[0], random_state=0).questions(10)  # compiles
    rows = [row("clusters", *data(n)) for n in SIZES if n <= most]
    rows += [row("records", *records(n)) for n in RECORDS if n <= most]
    return markdown(TITLE, COLUMNS, rows)


if __name__ == "__main__":
    print(table(*map(int, sys.argv[1:])))
