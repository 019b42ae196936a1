"""Supervised clustering: a pair similarity learned from links, and correlation clustering by it.

Finley, Joachims, ICML 2005. Contradictory links each ask for their own, and are never an error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.preprocessing import StandardScaler

from maylink.arrays import Array, Index
from maylink.baselines.base import Baseline, BaselineRun
from maylink.baselines.correlation import VotedPairs, by_mean_votes, descend
from maylink.baselines.correlation_relaxed import Relaxation
from maylink.baselines.structural_svm import JudgedPairs, Learned, Partition, judged_pairs, learn
from maylink.errors import MaylinkError
from maylink.families import Gaussian
from maylink.labels import first_appearance
from maylink.link_forms import LinksLike
from maylink.links import Links
from maylink.parameters import as_generator, check_choice, check_number, forbid_links_as_y

INFERENCES = ("greedy", "relaxed")
CHUNK = 100_000  # pairs whose features are held at a time
LARGEST = 1e100  # number that a feature may be: squares must not overflow

PairFeatures = Callable[[Array, Array], Array]
"""Rows of X, shape (m, d), and other rows, shape (m, d), to the features of the m pairs."""


class SupervisedClustering(Baseline):
    r"""Supervised clustering: learns from links how alike two points are, then clusters by that.

    The similarity of two points is :math:`w \cdot \psi(x_i, x_j)`, negative for points that are not
    alike. A partition of any points is scored by the sum of the similarities inside its clusters,
    and the best one is looked for (correlation clustering); the number of clusters comes out by
    itself. The weights w are those that make ::

        ½ ‖w‖² + C · max over partitions y of [ Δ(y) − w·Ψ(links) + w·Ψ(y) ]

    least: the links must score better than any other partition of the linked points, by as much as
    that partition is wrong. Δ(y) is the share of the votes of the links that y goes against, and Ψ
    adds up ψ over the linked pairs that y, or the links, have together. **Only linked pairs count**
    in Δ and Ψ: of the other pairs it is not known what is right.

    Parameters
    ----------
    C : float, default 1000
        What the loss costs, against ½ ‖w‖²; the larger, the more links are believed.
    inference : {"greedy", "relaxed"}, default "greedy"
        How partitions are looked for, while learning and at the end: by joining clusters and moving
        points, or by a linear program whose solution may have pairs half together. The second is
        for a hundred points or so.
    pair_features : callable, optional
        ψ of your own: gets two arrays of shape (m, d), the points of m pairs, and returns an array
        of shape (m, p) that does not depend on which point comes first. By default the absolute
        difference in each column, in standard deviations of the column, and a constant 1, which
        your own ψ should have too.
    tol : float, default 1e-3
        Precision of the learning, as a share of all votes.
    max_sweeps : int, default 300
        Sweeps after which to stop in any case: looks at all links while learning, passes over all
        points at the end.
    random_state : int, RandomState or Generator, optional
        Seed of the order of visits, and of equal votes.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The cluster of each point.
    n_clusters_ : int
        Number of clusters.
    weights_ : array of shape (p,)
        w; by default a weight for each column and, last, the similarity of two equal points.
    column_scale_ : array of shape (d,)
        The standard deviation of each column; 1 where it is constant.
    objective_ : float
        What the learning makes least, at the end.
    objective_path_ : array with one entry a sweep
        The same with the partitions found so far; each sweep adds one, so it does not fall.
    n_iter_ : int
        Number of sweeps while learning.

    Notes
    -----
    Links train the similarity and do nothing else: clusters of the points themselves may go against
    them. With no links there is nothing to learn, w is 0 and each point is alone.

    Several links on a pair each count with their votes; where they contradict each other, the
    similarity goes to where both sides lose as much, on the side of the majority. Wrong links blur
    the similarity, but no single one joins two clusters. Where clusters are many, most links are
    may-not links, and a similarity that leaves all points alone goes against few of them; more
    votes on may links help there.

    Labels of some points (``fit(X, labels=...)``) are an example of a clustering, as in the paper:
    each pair of labelled points is a link of one vote. Several examples are rows of one X, with
    links inside each example.

    A sweep of the learning takes O(links · p) time, and there are tens to hundreds of sweeps.
    Clustering takes about O(n² p) time and O(n²) memory. With ``inference="relaxed"`` each sweep
    solves linear programs that have a variable for each linked pair, and the clustering some that
    have n (n − 1) / 2.

    References
    ----------
    Finley, Joachims: Supervised Clustering with Support Vector Machines, ICML 2005.
    Tsochantaridis, Joachims, Hofmann, Altun: Large Margin Methods for Structured and Interdependent
    Output Variables, Journal of Machine Learning Research 6, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.baselines import SupervisedClustering
    >>> X = np.array([[0.0, 9.0], [0.2, 0.0], [5.0, 8.0], [5.2, 1.0], [0.1, 5.0], [5.1, 4.0]])
    >>> links = ([(0, 1), (2, 3)], [(0, 2), (1, 3), (0, 3)])  # the second column means nothing
    >>> model = SupervisedClustering(random_state=0).fit(X, links=links)
    >>> model.labels_
    array([0, 0, 1, 1, 0, 1])
    >>> model.cluster([[90.0, 1.0], [7.0, 6.0], [90.3, 9.0]])
    array([0, 1, 0])
    """

    weights_: Array
    column_scale_: Array

    def __init__(
        self,
        C: float = 1000.0,
        *,
        inference: str = "greedy",
        pair_features: PairFeatures | None = None,
        tol: float = 1e-3,
        max_sweeps: int = 300,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.inference = inference
        self.pair_features = pair_features
        self.tol = tol
        self.max_sweeps = max_sweeps
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any = None, *, labels: Any = None, links: LinksLike | None = None
    ) -> Self:
        """Learn from links and labels, and cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The data.
        y : ignored
            For scikit-learn, which hands true labels on to whatever it scores.
        labels : array-like of shape (n,), optional
            An example: the label of each point; −1, None or NaN where it is unknown. Each pair of
            labelled points becomes a link of one vote.
        links : Links, pair of lists, n × n matrix, DataFrame or None
            Links between the rows; they count beside the labels.

        Returns
        -------
        self
        """
        forbid_links_as_y(y)
        return self._fit(X, links, partial(self._run, labels=labels))

    def fit_predict(
        self, X: Any, y: Any = None, *, labels: Any = None, links: LinksLike | None = None
    ) -> Index:
        """Cluster the rows of X and return their clusters; parameters as in :meth:`fit`."""
        return self.fit(X, y, labels=labels, links=links).labels_

    def cluster(self, X: Any) -> Index:
        """Cluster new items by the similarity that was learned; those of the fit play no part.

        Parameters
        ----------
        X : array-like of shape (m, d)
            New items.

        Returns
        -------
        array of shape (m,)
            Clusters of these items, numbered by first appearance.
        """
        data = self._new_data(X)
        rng = as_generator(self.random_state)
        found = self._partition(data, self.weights_, self.column_scale_, rng)
        return first_appearance(found.labels)[0]

    def similarity(self, X: Any) -> Array:
        """Return how alike new items are by what was learned.

        Parameters
        ----------
        X : array-like of shape (m, d)
            New items.

        Returns
        -------
        array of shape (m, m)
            Symmetric; below 0 for items that are not alike, and 0 between an item and itself.
        """
        data = self._new_data(X)
        pairs = self._all_pairs(data, self.weights_, self.column_scale_)
        matrix = np.zeros((len(data), len(data)))
        matrix[pairs.first, pairs.second] = matrix[pairs.second, pairs.first] = pairs.votes
        return matrix

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("C", self.C, 0.0, above=True)
        check_number("tol", self.tol, 0.0, above=True)
        check_choice("inference", self.inference, INFERENCES)
        if self.pair_features is not None and not callable(self.pair_features):
            raise MaylinkError(
                f"pair_features: {self.pair_features!r} is not a function; give one that takes two "
                "arrays of points, or None"
            )

    def _data(self, X: Any) -> Any:
        data = super()._data(X)
        Gaussian().check(data)  # squares must not overflow
        return np.ascontiguousarray(data)

    def _run(
        self, X: Array, links: Links, rng: np.random.Generator, labels: Any = None
    ) -> BaselineRun:
        scale = np.asarray(StandardScaler().fit(X).scale_, np.float64)
        judged = _judged(links, labels)
        if judged is None:
            p = self._features(X[:1], X[:1], scale).shape[1]
            learned = Learned(np.zeros(p), np.zeros(1), True)
        else:
            learned = learn(
                judged,
                self._features(X[judged.first], X[judged.second], scale),
                self._inference(len(X), judged, rng),
                C=float(self.C),
                tol=float(self.tol),
                max_sweeps=self.max_sweeps,
            )
        found = self._partition(X, learned.weights, scale, rng)
        return BaselineRun(
            found.labels,
            learned.path,
            learned.converged and found.converged,
            others={"weights_": learned.weights, "column_scale_": scale},
        )

    def _inference(self, n: int, pairs: JudgedPairs, rng: np.random.Generator) -> Partition:
        """Return what finds the partition of most votes on the judged pairs."""
        if self.inference == "relaxed":
            relaxation = Relaxation(n, pairs.first, pairs.second)
            return lambda votes: relaxation.maximise(votes).together

        def greedy(votes: Array) -> Array:
            voted = VotedPairs(n, pairs.first, pairs.second, votes)
            labels = descend(voted, rng, self.max_sweeps).labels
            return voted.inside(labels).astype(np.float64)

        return greedy

    def _partition(
        self, X: Array, weights: Array, scale: Array, rng: np.random.Generator
    ) -> BaselineRun:
        """Return the clusters with the largest sum of similarities that are found."""
        pairs = self._all_pairs(X, weights, scale)
        found = [descend(pairs, rng, self.max_sweeps)]
        if pairs.votes.any():
            found.append(descend(pairs, rng, self.max_sweeps, by_mean_votes(pairs)))
            if self.inference == "relaxed":
                relaxed = Relaxation(pairs.n, pairs.first, pairs.second).maximise(pairs.votes)
                # Pairs that are more than half together are friends: a partition is met exactly.
                friends = pairs._replace(votes=relaxed.together - 0.5)
                start = descend(friends, rng, self.max_sweeps).labels
                found.append(descend(pairs, rng, self.max_sweeps, start))
        return min(found, key=lambda run: float(run.path[-1]))

    def _all_pairs(self, X: Array, weights: Array, scale: Array) -> VotedPairs:
        """Return all pairs of points, with their similarity as votes."""
        first, second = (end.astype(np.int64) for end in np.triu_indices(len(X), 1))
        votes = np.empty(first.size)
        for low in range(0, first.size, CHUNK):
            some = slice(low, low + CHUNK)
            features = self._features(X[first[some]], X[second[some]], scale)
            if features.shape[1] != weights.size:
                raise MaylinkError(
                    f"pair_features: returned {features.shape[1]} features for a pair, and "
                    f"{weights.size} before; return as many for all pairs"
                )
            votes[some] = features @ weights
        return VotedPairs(len(X), first, second, votes)

    def _features(self, one: Array, other: Array, scale: Array) -> Array:
        """Return ψ of pairs of rows, shape (m, p)."""
        if self.pair_features is None:
            return np.column_stack([np.abs(one - other) / scale, np.ones(len(one))])
        features = np.asarray(self.pair_features(one, other), np.float64)
        if features.ndim != 2 or len(features) != len(one):
            raise MaylinkError(
                f"pair_features: returned shape {features.shape} for {len(one)} pairs; return an "
                f"array of shape ({len(one)}, number of features)"
            )
        if not (np.abs(features) < LARGEST).all():
            raise MaylinkError(
                f"pair_features: returned NaN, infinity or a number above {LARGEST:g}; return "
                "finite numbers, in units that make them smaller"
            )
        return features


def _judged(links: Links, labels: Any) -> JudgedPairs | None:
    """Return the pairs that links and labels judge; None where there are none."""
    columns = [(links.i, links.j, links.kind, links.weight)]
    if labels is not None:
        example = Links.from_labels(labels)
        if example.n != links.n:
            raise MaylinkError(
                f"labels: {example.n} of them, but X has {links.n} rows; give one per row"
            )
        columns.append((example.i, example.j, example.kind, np.ones(example.n_links)))
    i, j, kind, weight = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return judged_pairs(links.n, i, j, kind, weight) if i.size else None
