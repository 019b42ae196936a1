"""Correlation clustering: clusters from links alone.

Bansal, Blum, Chawla, 2004. Of contradictory links on a pair the majority of votes decides.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.baselines.base import Baseline, BaselineRun
from maylink.baselines.correlation import descend, net_votes
from maylink.links import Links
from maylink.parameters import check_choice

RESTS = ("alone", "together")


class LinkOnly(Baseline):
    """Correlation clustering: the partition that goes against the fewest votes of the links.

    Of the data only the number of points is used: this shows how far the links get by themselves.
    It minimises ::

        Σ_{may links with ends in different clusters} weight
        + Σ_{may-not links with both ends in one cluster} weight

    over all partitions; how many clusters there are comes out by itself. Clusters are joined in
    the order of the votes between them (greedy additive edge contraction). Then points move to
    other clusters or into one of their own, and clusters join or fall apart, until none of that
    helps.

    Parameters
    ----------
    rest : {"alone", "together"}, default "alone"
        What becomes of points without links, of which nothing is known: each is a cluster of its
        own, or they are one cluster together. It does not change the objective.
    n_init : int, default 1
        Runs in different random orders; the one with the least objective is kept.
    max_sweeps : int, default 300
        Sweeps over the points after which to stop in any case.
    random_state : int, RandomState or Generator, optional
        Seed of the order of visits, and of equal votes.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The cluster of each point.
    n_clusters_ : int
        Number of clusters, those of points without links included.
    objective_ : float
        Votes that the partition goes against.
    objective_path_ : array with one entry a sweep
        The objective after each sweep; it never rises.
    n_iter_ : int
        Number of sweeps.

    Notes
    -----
    The problem is NP-hard; the result is a partition that no move of one point and no merge of
    two clusters betters, and in which may links hold each cluster together. All links on a pair
    count as one with their net votes, so where votes contradict each other on a pair the majority
    decides; contradictions along chains are decided by the objective. Wrong links do not break
    anything, but nothing is there to outvote them except other links: one wrong may link is enough
    to join two groups with no other links between them. Where points have few links, some wrong
    partition goes against fewer votes than the truth does. Where most may links are wrong, as with
    many clusters and a fifth of the links wrong, the search can stop far above the least objective.

    Time is O(m log² n) for the start, with m linked pairs, and O(m) for a sweep; memory is O(n +
    m). It never uses distances and cannot place new points.

    References
    ----------
    Bansal, Blum, Chawla: Correlation Clustering, Machine Learning, 2004.
    Keuper, Levinkov, Bonneel, Lavoué, Brox, Andres: Efficient Decomposition of Image and Mesh
    Graphs by Lifted Multicuts, ICCV 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.baselines import LinkOnly
    >>> links = ([(0, 1), (1, 2), (3, 4)], [(2, 3), (0, 3)])
    >>> model = LinkOnly(random_state=0).fit(np.zeros((6, 1)), links=links)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 2])
    >>> model.objective_
    0.0
    """

    def __init__(
        self,
        *,
        rest: str = "alone",
        n_init: int = 1,
        max_sweeps: int = 300,
        random_state: Any = None,
    ) -> None:
        self.rest = rest
        self.n_init = n_init
        self.max_sweeps = max_sweeps
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("rest", self.rest, RESTS)

    def _run(self, X: Any, links: Links, rng: np.random.Generator) -> BaselineRun:
        linked, ends = np.unique(np.r_[links.i, links.j], return_inverse=True)
        first, second = ends.reshape(2, -1)
        pairs = net_votes(linked.size, first, second, links.kind * links.weight)
        outvoted = max((links.weight.sum() - np.abs(pairs.votes).sum()) / 2.0, 0.0)
        run = descend(pairs, rng, self.max_sweeps)
        # Points without links get a new number each, or one together.
        labels = linked.size + (np.arange(links.n) if self.rest == "alone" else np.zeros(links.n))
        labels = labels.astype(np.int64)
        labels[linked] = run.labels
        return BaselineRun(labels, run.path + outvoted, run.converged)
