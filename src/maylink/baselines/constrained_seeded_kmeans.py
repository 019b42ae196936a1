"""Constrained K-means: seeded K-means that leaves labelled points in their clusters.

Basu, Banerjee, Mooney, ICML 2002. Links that contradict each other are no seeds.
"""

from __future__ import annotations

from typing import ClassVar

from maylink.baselines.seeded_kmeans import SeededKMeans


class ConstrainedSeededKMeans(SeededKMeans):
    r"""Constrained K-means: seeded K-means that leaves labelled points in their clusters.

    It descends

    .. math:: \sum_i \lVert x_i - \mu_{z_i} \rVert^2
              \quad\text{where}\quad z_i = y_i \text{ for the seeds}

    from the means of the seeds.

    Parameters
    ----------
    n_clusters : int, default 8
        K, at least the number of labels; see :class:`SeededKMeans`.
    n_init : int, default 1
        Runs, of which the least objective is kept.
    max_sweeps : int, default 300
        Sweeps after which to stop in any case.
    random_state : int, RandomState or Generator, optional
        Seed of k-means++.

    Attributes
    ----------
    labels_, classes_, n_clusters_, cluster_centers_, objective_, objective_path_, n_iter_
        As those of :class:`SeededKMeans`.

    Notes
    -----
    A sweep costs O(n d K). Seeds come from labels or from links as in :class:`SeededKMeans`; those
    from links stay together, so a wrong may link among them stays wrong. May-not links are not
    kept: :class:`maylink.baselines.cop_kmeans.COPKMeans` keeps all.

    References
    ----------
    Basu, Banerjee, Mooney: Semi-supervised Clustering by Seeding, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.baselines import ConstrainedSeededKMeans
    >>> X = np.array([[0.0], [0.2], [5.0], [5.2], [9.0]])
    >>> model = ConstrainedSeededKMeans(2).fit(X, labels=[0, 1, -1, 1, -1])
    >>> model.labels_
    array([0, 1, 1, 1, 1])
    """

    _seeds_stay: ClassVar[bool] = True
