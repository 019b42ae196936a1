"""What questions are about: small pieces of the data, whose members surely belong together.

An answer about two rows tells something about the pieces that the rows are in. Pieces come from
K-means in the directions in which clusters differ (:class:`~maylink.families.PLDA`), so that a few
dozen of them stand for any number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from maylink.arrays import Array, Index, Matrix
from maylink.data_forms import as_coded
from maylink.families import PLDA, as_family
from maylink.families.rows import membership
from maylink.links import MAY, Links
from maylink.problem import DataFacts, Problem, check
from maylink.tuning.candidates import candidates
from maylink.tuning.kmeans_starts import kmeans_partitions
from maylink.tuning.pieces import POINTS_A_PIECE, PieceView
from maylink.views.nearest import Neighbours, nearest
from maylink.views.neighbours import NeighbourGraph

COLUMNS_OF_WORDS = 10  # whole numbers in fewer columns are measurements
SAMPLE = 10_000  # rows that are looked at closely; others go to the piece that is nearest
WIDE, CLOSE = 20, 5  # neighbours of each point: enough for round clusters, and for thin ones
ALONE = 0.5  # share of rows: where more pieces than that are asked for, each row is one,
FEW = 256  # unless there are few


@dataclass(frozen=True)
class Pieces:
    """Pieces of the data, and what is known of them without any answer.

    Parameters
    ----------
    of_row : array of int of shape (n,)
        The piece of each row.
    n_rows : array of shape (M,)
        Rows of each piece.
    size : array of shape (M,)
        Rows of each piece that were looked at closely.
    total : array of shape (M, r)
        Sum of these rows, where clusters have variance 1.
    square : float
        Sum of squares of all these rows.
    precision : array of shape (r,)
        Precision of the centres of clusters there.
    centers : array of shape (M, d)
        Means of these rows, where the distance between rows counts.
    wide, close : CSR array of shape (M, M)
        How often a row of one piece is among the 20, or the 5, nearest of a row of the other; on
        the diagonal twice as often.
    random : CSR array of shape (M, M)
        How many random pairs, as many as there are neighbours in all, lie between two pieces.
    members : list of array of int
        Rows of each piece, the most typical first.
    """

    of_row: Index
    n_rows: Array
    size: Array
    total: Array
    square: float
    precision: Array
    centers: Array
    wide: Matrix
    close: Matrix
    random: Matrix
    members: list[Index]

    @property
    def count(self) -> int:
        """How many pieces there are."""
        return len(self.size)


class Ground:
    """Data, looked at once: directions, neighbours; pieces are cut from it in any number.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), table or data frame
        The data.
    rng : Generator
        Draws the sample of many rows, and seeds K-means.
    """

    def __init__(self, X: Any, rng: np.random.Generator) -> None:
        rows = comparable_rows(X)
        self.n = rows.shape[0]
        self._seed = int(rng.integers(2**31))
        self.looked_at = np.arange(self.n)
        if self.n > SAMPLE:
            self.looked_at = np.sort(rng.choice(self.n, SAMPLE, replace=False))
        some = rows[self.looked_at]
        problem = Problem(some, Links.empty(len(self.looked_at)), as_family(PLDA.name).adapt(some))
        count = min(WIDE, len(self.looked_at) - 1)
        self._view = PieceView.of(problem, NeighbourGraph(problem, count), rng)
        self._links = self._view.neighbours(count)
        family = self._view.problem.family
        prepared = self._view.problem.X
        self._some = np.asarray(family.neighbour_rows(prepared), np.float64)
        self._rows = rows
        self._cuts: dict[int, Pieces] = {}

    @property
    def n_looked_at(self) -> int:
        """Rows that are looked at closely."""
        return len(self._some)

    @property
    def has_tiny_groups(self) -> bool:
        """Whether rows, merged while that pays, stay in groups of a few: records, say.

        Merging stops at groups of ten in any case, and the last round may double them.
        """
        groups = int(self._view.starts[0].max()) + 1
        return groups * POINTS_A_PIECE > 2 * self.n_looked_at

    @property
    def problem(self) -> Problem:
        """The rows that were looked at, prepared for the family."""
        return self._view.problem

    @cached_property
    def _near(self) -> Neighbours:
        return nearest(self._some, CLOSE)

    def pieces(self, count: int) -> Pieces:
        """Return the data in so many pieces, fewer where rows are equal."""
        if count not in self._cuts:
            self._cuts[count] = self._cut(count)
        return self._cuts[count]

    def _cut(self, count: int) -> Pieces:
        found = self._in_pieces(min(count, len(self._some)))
        n_pieces = int(found.max()) + 1
        statistics = self.problem.family.cluster_statistics(self.problem.X, found, n_pieces)
        centers = membership(found, n_pieces) @ self._some / statistics.size[:, None]
        of_row = found if self.n == len(self._some) else self._nearest_piece(found, centers)
        near = np.repeat(found, self._near.shape[1]), found[self._near.ravel()]
        may = self._links.kind == MAY
        return Pieces(
            of_row,
            np.bincount(of_row, minlength=n_pieces).astype(np.float64),
            np.asarray(statistics.size, np.float64),
            np.ascontiguousarray(statistics.total, np.float64),
            float(np.square(self.problem.X, dtype=np.float64).sum()),
            np.asarray(self.problem.prior.precision, np.float64),
            centers=np.asarray(centers),
            wide=_between(found[self._links.i[may]], found[self._links.j[may]], n_pieces),
            close=_between(*near, n_pieces),
            random=_between(found[self._links.i[~may]], found[self._links.j[~may]], n_pieces),
            members=self._members(found, centers),
        )

    def _in_pieces(self, count: int) -> Index:
        """Return the piece of each row that is looked at."""
        if count > max(ALONE * len(self._some), FEW):
            return np.arange(len(self._some))
        return kmeans_partitions(self.problem, [count], self._seed)[0]

    def _nearest_piece(self, found: Index, centers: Array) -> Index:
        from sklearn.metrics import pairwise_distances_argmin

        family = self.problem.family.unprepared()
        parts = np.array_split(np.arange(self.n), max(1, self.n // SAMPLE))
        of_row = np.concatenate(
            [
                pairwise_distances_argmin(
                    np.asarray(family.neighbour_rows(self._rows[part]), np.float64), centers
                )
                for part in parts
            ]
        ).astype(np.int64)
        of_row[self.looked_at] = found
        return of_row

    def _members(self, found: Index, centers: Array) -> list[Index]:
        distance = ((self._some - centers[found]) ** 2).sum(axis=1)
        order = np.lexsort((distance, found))
        ends = np.cumsum(np.bincount(found, minlength=len(centers)))[:-1]
        return [self.looked_at[part] for part in np.split(order, ends)]


def comparable_rows(X: Any) -> Matrix:
    """Return rows between which the Euclidean distance counts, whatever the data are.

    Numbers stay as they are. Counts of words, categories and tables with gaps become the rows in
    which their family looks for neighbours; whole numbers in few columns are no counts of words.
    """
    coded = as_coded(X)

    def one_family(data: DataFacts) -> list[Any]:
        open_families = candidates("auto", "auto", data)
        special = [one for one in open_families if as_family(one).kind != "real"]
        few = data.shape[1] < COLUMNS_OF_WORDS and len(special) < len(open_families)
        return open_families[:1] if few else special[:1] or open_families[:1]

    problem = check(coded.X, None, one_family, None, coded.blocks)[0]
    if problem.family.kind == "real" and not problem.family.knows_gaps:
        return problem.X
    return problem.family.neighbour_rows(problem.X)


def _between(a: Index, b: Index, n_pieces: int) -> Matrix:
    """Return how many pairs lie between pieces, both ways."""
    shape = n_pieces, n_pieces
    counts = sparse.coo_array((np.ones(len(a)), (a, b)), shape=shape).tocsr()
    return (counts + counts.T).tocsr()
