"""The points that a choice looks at: all of them, or of many a sample that is rich in links.

Where neighbours tell that clusters hold a few points each, a sample of single points would tear
them apart: hardly any cluster would have two points in it. So points that seem to belong together
are sampled together (:func:`~maylink.tuning.few_points.groups_of_few`).
"""

from __future__ import annotations

import numpy as np

from maylink.arrays import Index
from maylink.links import Links
from maylink.problem import ChunkedProblem, Problem
from maylink.solvers import merging
from maylink.tuning.few_points import LARGEST, are_small, groups_of_few
from maylink.views.neighbours import graph_rows


def sampled(problem: Problem, size: int, rng: np.random.Generator) -> Problem:
    """Return the points that a choice looks at, in memory: all, or of very many a sample."""
    if problem.n <= size:
        return problem.loaded()
    may_be = can_be_of_few(problem) and size >= LARGEST
    groups = groups_of_few(graph_rows(problem)) if may_be else None
    if groups is None:
        return problem.rows(sample_rows(problem, size, rng))
    return problem.rows(sample_groups(groups, problem.links, size, rng))


def can_be_of_few(problem: Problem) -> bool:
    """Whether points are few enough that a fit can hold thousands of clusters of them."""
    return not isinstance(problem, ChunkedProblem) and problem.n <= merging.MOST


def misses_clusters(sample: Problem, problem: Problem, labels: Index) -> bool:
    """Whether most clusters are not in a sample: those in it hold a few points each.

    Not where points are too many to be looked at all together.

    Parameters
    ----------
    sample, problem : Problem
        The points that were looked at, and all of them.
    labels : array of int
        The clusters of the sample.
    """
    return sample.n < problem.n and are_small(labels) and can_be_of_few(problem)


def sample_rows(problem: Problem, size: int, rng: np.random.Generator) -> Index:
    """Draw rows of which up to half are both ends of a link: links between random rows are rare."""
    links = problem.links
    chosen = rng.permutation(links.n_links)[: size // 4]
    linked = np.unique(np.concatenate([links.i[chosen], links.j[chosen]])).astype(np.int64)
    others = np.setdiff1d(np.arange(problem.n), linked, assume_unique=True)
    rest = rng.choice(others, size - linked.size, replace=False)
    return np.sort(np.concatenate([linked, rest]))


def sample_groups(groups: Index, links: Links, size: int, rng: np.random.Generator) -> Index:
    """Draw whole groups of rows, at most so many rows; half of them for the links between them.

    Parameters
    ----------
    groups : array of int of shape (n,)
        The group of each row, 0 … G − 1.
    links : Links
        Links between rows.
    size : int
        Rows that are drawn at most.
    rng : Generator
        Draws them.

    Examples
    --------
    >>> import numpy as np
    >>> import maylink as ml
    >>> from maylink.tuning.samples import sample_groups
    >>> groups = np.array([0, 0, 1, 1, 2, 2])
    >>> sample_groups(groups, ml.Links.empty(6), 4, np.random.default_rng(0))
    array([0, 1, 4, 5])
    """
    counts = np.bincount(groups)
    at = rng.permutation(links.n_links)
    ends = groups[np.column_stack([links.i[at], links.j[at]]).ravel()]
    first = np.sort(np.unique(ends, return_index=True)[1])
    linked = ends[first]
    linked = linked[np.cumsum(counts[linked]) <= size // 2]
    others = rng.permutation(np.setdiff1d(np.arange(len(counts)), linked))
    order = np.concatenate([linked, others])
    drawn = order[np.cumsum(counts[order]) <= size]
    return np.flatnonzero(np.isin(groups, drawn))
