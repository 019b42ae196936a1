"""COP-COBWEB: points are placed one by one, by category utility, and every link is kept.

Wagstaff, Cardie, ICML 2000. Contradictory links are an error that names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.baselines.base import Baseline, BaselineRun
from maylink.baselines.category_utility import (
    Attributes,
    ConceptSums,
    attributes_of,
    category_utility,
)
from maylink.baselines.neighbourhoods import Neighbourhoods, contradiction, neighbourhoods
from maylink.errors import InfeasibleLinksError, MaylinkError
from maylink.families import Gaussian
from maylink.links import Links
from maylink.parameters import check_number

SLACK = 1e-12  # of the worth of all points: utilities that differ by less are the same
NOWHERE = -1


class COPCobweb(Baseline):
    r"""COP-COBWEB: conceptual clustering with hard must-link and cannot-link constraints.

    It looks for the partition with the largest category utility

    .. math:: U = \frac{1}{K} \sum_k \frac{n_k}{n} \Big( \sum_a G_a(k) - \sum_a G_a \Big)

    that keeps *every* link. :math:`G_a(k)` says how well attribute a of a point is guessed when its
    cluster is known, and :math:`G_a` when it is not: :math:`\sum_v P(a = v)^2` for a nominal
    attribute, :math:`1 / (2 \sqrt{\pi} \, \sigma)` for a numeric one. The number of clusters comes
    out by itself.

    Points come in a random order. One that a may link joins to a placed point, directly or through
    others, goes where that point is. Any other takes whichever of these gives the largest category
    utility: the best cluster that no may-not link keeps it from; a new cluster; the two best ones
    merged; or the best one split into the two that it was merged from. No merge puts two points
    together that a may-not link keeps apart.

    Parameters
    ----------
    nominal : "all" or sequence of int, optional
        The columns that hold categories, as whole numbers; none by default: all are numbers.
    acuity : float, default 0.28
        The least standard deviation that a numeric attribute can have in a cluster, in standard
        deviations of its column. The smaller, the more a cluster of few points counts. At
        :math:`1/(2\sqrt{\pi}) = 0.28` a column of numbers counts at most as much as one of
        categories.
    n_init : int, default 1
        Runs in different random orders; the one with the largest category utility is kept.
    random_state : int, RandomState or Generator, optional
        Seed of the orders.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The cluster of each point.
    n_clusters_ : int
        Number of clusters.
    category_utility_ : float
        U.
    objective_ : float
        −U.
    objective_path_ : array of shape (1,)
        The same: there is one sweep.
    n_iter_ : int
        1.

    Raises
    ------
    InfeasibleLinksError
        When links contradict each other; the message names some that do. All others can be kept,
        as a point may always have a cluster of its own.

    Notes
    -----
    A point costs O(d K) and as much again for each merge that its cluster came from, so a run is
    about O(n d K); memory is O(n (d + categories)). Wrong links are obeyed like right ones. Links
    have no weights here: one vote or a hundred, a link is kept.

    Every numeric column is divided by its standard deviation first, so its unit does not matter.
    The partition depends on the order of the points: COBWEB never looks at a placed point again,
    but for merges and splits. A point that a may link joins to a placed one has no choice, and
    brings about no merge; so with many may links clusters of one kind can stay apart.

    What the paper leaves open is in the decision pages of the documentation.

    References
    ----------
    Wagstaff, Cardie: Clustering with Instance-level Constraints, ICML 2000.
    Fisher: Knowledge Acquisition via Incremental Conceptual Clustering, Machine Learning 2, 1987.
    Gennari, Langley, Fisher: Models of Incremental Concept Formation, Artificial Intelligence 40,
    1989.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.baselines import COPCobweb
    >>> X = np.array([[0.0, 1.0], [0.2, 1.0], [5.0, 2.0], [5.2, 2.0]])
    >>> COPCobweb(nominal=[1], random_state=0).fit(X).labels_
    array([0, 0, 1, 1])
    >>> COPCobweb(nominal=[1], random_state=0).fit(X, links=([], [(0, 1)])).labels_
    array([0, 1, 2, 2])
    """

    category_utility_: float

    def __init__(
        self,
        *,
        nominal: Any = None,
        acuity: float = 0.28,
        n_init: int = 1,
        random_state: Any = None,
    ) -> None:
        self.nominal = nominal
        self.acuity = acuity
        self.n_init = n_init
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("acuity", self.acuity, 0.0, above=True)

    def _data(self, X: Any) -> Any:
        data = super()._data(X)
        Gaussian().check(data)  # squares must not overflow
        return data

    def _run(self, X: Array, links: Links, rng: np.random.Generator) -> BaselineRun:
        blocks = neighbourhoods(links)
        if blocks.torn.size:
            raise InfeasibleLinksError(contradiction(links))
        attributes = attributes_of(X, _columns(self.nominal, X.shape[1]))
        tree = ConceptTree(attributes, blocks, float(self.acuity))
        for point in rng.permutation(len(X)).tolist():
            tree.place(point)
        labels = tree.labels()
        utility = category_utility(attributes, labels, float(self.acuity))
        return BaselineRun(labels, np.array([-utility]), others={"category_utility_": utility})


class Host(NamedTuple):
    """A cluster that may take a point."""

    row: int
    gain: float
    """What it is worth more with the point."""


class Change(NamedTuple):
    """A change of the clusters that lets a point in."""

    worth: float
    """How much more all clusters are worth after it, the point included."""
    n_more: int
    """How many more clusters there are."""
    make: Callable[[], int]
    """Makes it, and returns the cluster that the point is to be put into."""


class ConceptTree:
    """Clusters of the points placed so far, each with the two that it was merged from.

    A cluster that came from a merge has two parts, and each of its points is in one of them, so
    that a split can undo the merge. A cluster without parts is a leaf. Clusters and parts are rows
    of :class:`ConceptSums`; its first row holds all points.

    Parameters
    ----------
    attributes : Attributes
        Of all points.
    blocks : Neighbourhoods
        The points that may links join.
    acuity : float
        The least standard deviation of a numeric attribute.
    """

    def __init__(self, attributes: Attributes, blocks: Neighbourhoods, acuity: float) -> None:
        n_rows = blocks.of_point.size + 1  # a point makes one new row at most
        self.blocks = blocks
        self.sums = ConceptSums(attributes, n_rows, acuity)
        self.n_rows = 1
        self.top: list[int] = []
        self.parent = [NOWHERE] * n_rows
        self.parts: dict[int, tuple[int, int]] = {}
        self.leaf_of_block = [NOWHERE] * blocks.size.size
        self.strangers: dict[int, set[int]] = {}
        for one, other in blocks.apart.tolist():
            self.strangers.setdefault(one, set()).add(other)
            self.strangers.setdefault(other, set()).add(one)
        self.inside: list[set[int]] = [set() for _ in range(n_rows)]
        self.shut_to: list[set[int]] = [set() for _ in range(n_rows)]

    def place(self, point: int) -> None:
        """Put the next point where its links want it, or else where category utility is largest."""
        block = int(self.blocks.of_point[point])
        self.sums.add(0, point)
        if self.leaf_of_block[block] == NOWHERE:
            self.leaf_of_block[block] = self._leaf_under(self._cluster_for(point, block), point)
        row = self.leaf_of_block[block]
        while row != NOWHERE:
            self.sums.add(row, point)
            if block in self.strangers:
                self.inside[row].add(block)
                self.shut_to[row] |= self.strangers[block]
            row = self.parent[row]

    def labels(self) -> Index:
        """Return the cluster of each point, once all are placed."""
        cluster = {row: k for k, row in enumerate(self.top)}
        of_block = np.empty(len(self.leaf_of_block), np.int64)
        for block, row in enumerate(self.leaf_of_block):
            while row not in cluster:
                row = self.parent[row]
            of_block[block] = cluster[row]
        return np.asarray(of_block[self.blocks.of_point])

    def _cluster_for(self, point: int, block: int) -> int:
        """Make the best change of the clusters that lets the point in; return where it belongs."""
        everything, before = float(self.sums.worth[0]), float(self.sums.worth[self.top].sum())

        def utility(change: Change) -> float:
            return (before + change.worth - everything) / (len(self.top) + change.n_more)

        best, *others = self._changes(point, self._hosts(point, block))
        for change in others:
            if utility(change) > utility(best) + SLACK * everything:
                best = change
        return best.make()

    def _hosts(self, point: int, block: int) -> list[Host]:
        """Return the clusters that no may-not link keeps the point from, the best two at most."""
        rows = [row for row in self.top if block not in self.shut_to[row]]
        gains = self.sums.worth_with(rows, point) - self.sums.worth[rows]
        best = np.argsort(-gains, kind="stable")[:2].tolist()
        return [Host(rows[at], float(gains[at])) for at in best]

    def _changes(self, point: int, hosts: list[Host]) -> Iterator[Change]:
        """Yield the four changes, those of them that links and parts allow."""
        sums = self.sums
        if hosts:
            yield Change(hosts[0].gain, 0, lambda: hosts[0].row)
        yield Change(sums.worth_alone, 1, self._open)
        if len(hosts) == 2:
            one, other = (host.row for host in hosts)
            if self.shut_to[one].isdisjoint(self.inside[other]):
                worth = sums.worth_merged(one, other, point)
                worth -= float(sums.worth[one] + sums.worth[other])
                yield Change(worth, -1, lambda: self._merge(one, other))
        if hosts and hosts[0].row in self.parts:
            whole = hosts[0].row
            part, gain = self._better_part(whole, point)
            worth = gain + float(sums.worth[list(self.parts[whole])].sum() - sums.worth[whole])
            yield Change(worth, 1, lambda: self._split(whole, part))

    def _leaf_under(self, row: int, point: int) -> int:
        while row in self.parts:
            row, _ = self._better_part(row, point)
        return row

    def _better_part(self, row: int, point: int) -> tuple[int, float]:
        """Return the part of a cluster that gains more by a point, and what it gains."""
        parts = list(self.parts[row])
        gains = self.sums.worth_with(parts, point) - self.sums.worth[parts]
        at = int(gains[1] > gains[0] + SLACK * self.sums.worth[0])
        return parts[at], float(gains[at])

    def _open(self) -> int:
        row, self.n_rows = self.n_rows, self.n_rows + 1
        self.top.append(row)
        return row

    def _merge(self, one: int, other: int) -> int:
        row = self._open()
        self.top.remove(one)
        self.top.remove(other)
        self.sums.unite(row, one, other)
        self.parent[one] = self.parent[other] = row
        self.parts[row] = (one, other)
        self.inside[row] = self.inside[one] | self.inside[other]
        self.shut_to[row] = self.shut_to[one] | self.shut_to[other]
        return row

    def _split(self, row: int, part: int) -> int:
        self.top.remove(row)
        for freed in self.parts.pop(row):
            self.top.append(freed)
            self.parent[freed] = NOWHERE
        return part


def _columns(nominal: Any, d: int) -> Index:
    """Return the numbers of the nominal columns, each once."""
    if nominal is None:
        return np.empty(0, np.int64)
    if isinstance(nominal, str) and nominal == "all":
        return np.arange(d)
    columns = list(nominal) if isinstance(nominal, Iterable) else [nominal]
    for column in columns:
        is_whole = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
        if not is_whole or not 0 <= column < d:
            raise MaylinkError(
                f"nominal: {column!r} is not the number of a column; give a list of numbers from 0 "
                f"to {d - 1}, 'all' or None"
            )
    return np.unique(np.array(columns, np.int64))
