"""The neighbour graph of the data as links: one more source whose reliability is learned.

Near points mostly are of one cluster and random pairs mostly are not, so that the graph says
something about the partition that a family of round clusters does not. How far it is right is not
assumed: p and q of this source are learned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Index, Matrix
from maylink.families import Gaussian
from maylink.families.columns import column_means
from maylink.families.principal import principal_directions
from maylink.links import MAY, Links
from maylink.model.known_neighbours import GraphSpace, KnownNeighbours
from maylink.model.source_prior import NEIGHBOURS
from maylink.pairs import distinct, pair_keys
from maylink.problem import ChunkedProblem, Problem
from maylink.views.nearest import Neighbours, nearest

__all__ = [
    "SOURCE", "NeighbourGraph", "graph_rows", "known_neighbours", "nearest", "neighbour_links",
]  # fmt: skip

SOURCE = NEIGHBOURS
"""The source of these links."""

VALUES_AT_ONCE = 10_000_000  # of rows that are compared
PRINCIPAL = 64  # directions in which the neighbours of many features are looked for
MOST_KNOWN = 50_000  # points of a fit among which those next to new ones are looked for


@dataclass(frozen=True)
class NeighbourGraph:
    """The neighbours of each point, looked for when they are first asked for.

    Parameters
    ----------
    problem : Problem
        Data and family.
    most : int
        Neighbours of each point that may be asked for.
    device : str, default "cpu"
        Where they are looked for: "cpu", or a GPU in the words of PyTorch.
    """

    problem: Problem
    most: int
    device: str = "cpu"

    @cached_property
    def near(self) -> Neighbours:
        """The neighbours of each point, the nearest first."""
        return nearest(graph_rows(self.problem), self.most, device=self.device)

    def links(self, count: int, rng: np.random.Generator) -> Links:
        """Return what the graph of so many neighbours says; see :func:`neighbour_links`.

        Of points that are equal, which ones are neighbours is arbitrary where there are more of
        them than neighbours. A random pair of them says nothing, and is left out.
        """
        found = neighbour_links(self.near, count, rng)
        equal = are_equal(self.problem.X, found.i, found.j)
        return found.chosen(~equal | (found.kind == MAY), found.n) if equal.any() else found


def graph_rows(problem: Problem) -> Matrix:
    """Return the rows whose neighbours are the graph."""
    return graph_space(problem).rows(problem.X)


def graph_space(problem: Problem) -> GraphSpace:
    """Return where neighbours are looked for.

    A family that learns weighs directions by what it has learned. Its graph would say what the
    family says already, so that its graph is that of plain distances, in the first principal
    directions: these keep the distances.
    """
    family = Gaussian().adapt(problem.X) if problem.family.learns else problem.family
    space = GraphSpace(family, family.neighbour_scales(problem.X))
    if not problem.family.learns:
        return space
    rows = space.rows(problem.X)
    center = column_means(rows)
    directions = principal_directions(rows, center, PRINCIPAL)
    if not len(directions):  # all points are equal
        directions = np.zeros((1, rows.shape[1]))
    elif len(directions) < PRINCIPAL and not sparse.issparse(rows):
        return space
    return replace(space, directions=directions, shift=center @ directions.T)


def known_neighbours(
    problem: Problem, labels: Index, count: int, reliability: tuple[float, float] | None
) -> KnownNeighbours | None:
    """Return the points of a fit as neighbours of new ones.

    None where the fit had no neighbours, and where there are too many points to look at each of
    them for each new one: then the clusters' families alone tell of new points.

    Parameters
    ----------
    problem : Problem
        The data of the fit.
    labels : array of shape (n,)
        Their clusters.
    count : int
        Neighbours of each point in the fit.
    reliability : (float, float), optional
        p and q of the graph.
    """
    if not count or reliability is None or isinstance(problem, ChunkedProblem):
        return None
    if problem.n > MOST_KNOWN:
        return None
    space = graph_space(problem)
    return KnownNeighbours(space, space.rows(problem.X), labels, count, *reliability)


def are_equal(X: Matrix, i: NDArray[Any], j: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for pairs of rows whether the two are equal.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]])
    >>> are_equal(X, np.array([0, 0]), np.array([1, 2]))
    array([False,  True])
    """
    weights = np.random.default_rng(0).normal(size=X.shape[1])
    step = max(1, VALUES_AT_ONCE // max(1, 100 * X.shape[1]))
    parts = [X[low : low + step] @ weights for low in range(0, X.shape[0], step)]
    sums = np.concatenate(parts)  # far apart, but for rounding, unless rows are equal
    near = np.flatnonzero(np.isclose(sums[i], sums[j], rtol=1e-6, atol=0.0))
    equal = np.zeros(len(i), bool)
    for some in np.array_split(near, 1 + near.size * X.shape[1] // VALUES_AT_ONCE):
        differ = X[i[some]] != X[j[some]]
        equal[some] = np.asarray(differ.sum(axis=1)).ravel() == 0
    return equal


def neighbour_links(near: Neighbours, count: int, rng: np.random.Generator) -> Links:
    """Return links that say what the neighbour graph says.

    Each point and its neighbours "may", a pair once though both name each other; as many random
    pairs "may-not". Random pairs that happen to be neighbours stay: leaving them out would tell the
    model that no neighbours are ever drawn.

    Parameters
    ----------
    near : array of int of shape (n, m)
        The neighbours of each point, the nearest first; see :func:`maylink.views.nearest.nearest`.
    count : int
        How many of them to take, m at most.
    rng : numpy.random.Generator
        Draws the random pairs.

    Returns
    -------
    Links
        All of the source :data:`SOURCE`.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.views.neighbours import neighbour_links
    >>> near = np.array([[1, 2], [0, 2], [1, 0], [2, 1]])
    >>> neighbour_links(near, 1, np.random.default_rng(0)).may.tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    n = len(near)
    near = near[:, :count]
    keys = distinct(pair_keys(np.repeat(np.arange(n), near.shape[1]), near.ravel(), n))
    if keys.size == 0:
        return Links.from_pairs(n=n, source=SOURCE)
    first = rng.integers(n, size=keys.size)
    second = (first + rng.integers(1, n, size=keys.size)) % n  # another point, each as likely
    return Links.from_pairs(
        may=np.column_stack([keys // n, keys % n]),
        may_not=np.column_stack([first, second]),
        n=n,
        source=SOURCE,
    )
