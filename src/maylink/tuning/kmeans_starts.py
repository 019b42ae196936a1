"""Partitions to start from that K-means makes, whatever the family."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
from scipy import sparse

from maylink.arrays import Index
from maylink.labels import first_appearance
from maylink.problem import Problem


def kmeans_partitions(problem: Problem, counts: Iterable[int], seed: int) -> list[Index]:
    """Return what K-means makes of the data, a partition for each number of clusters.

    Distances are those between the rows in which the family looks for neighbours.

    Parameters
    ----------
    problem : Problem
        Data and family; links are not looked at.
    counts : iterable of int
        Numbers of clusters.
    seed : int
        Of the first centres.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    rows = problem.family.neighbour_rows(problem.X)
    if sparse.issparse(rows) and rows.indices.dtype != np.int32:  # scikit-learn takes no others
        parts = rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        rows = sparse.csr_array(parts, shape=rows.shape)
    means = [KMeans(count, n_init=1, max_iter=30, random_state=seed) for count in counts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer points differ: as well
        return [first_appearance(one.fit_predict(rows))[0] for one in means]
