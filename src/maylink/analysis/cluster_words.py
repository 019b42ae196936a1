"""What clusters are about: the words that set each apart, and the rows in its middle.

A word tells a cluster if many of its texts have it and few of the others. With a the share of the
cluster's texts that have the word and b that of all other texts, words are ordered by a − b.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Matrix

LEAST = 0.05  # by how much the shares must differ for a word to tell anything


def words_of_clusters(
    texts: Sequence[str], labels: Sequence[int] | NDArray[Any], n: int = 5
) -> dict[int, list[str]]:
    """Return the words that set each cluster apart, the most telling first.

    Parameters
    ----------
    texts : sequence of str
        A text a row.
    labels : sequence of int
        The cluster of each row; rows below 0 are of none.
    n : int, default 5
        The most words of a cluster.

    Returns
    -------
    dict of int to list of str
        For each cluster; an empty list where no word tells it from the others.

    Examples
    --------
    >>> from maylink.analysis.cluster_words import words_of_clusters
    >>> words_of_clusters(["a red car", "the red bus", "old wine", "the wine"], [0, 0, 1, 1], 1)
    {0: ['red'], 1: ['wine']}
    """
    from sklearn.feature_extraction.text import CountVectorizer

    code = np.asarray(labels, np.int64)
    clusters = np.unique(code[code >= 0])
    try:
        vectorizer = CountVectorizer(binary=True)
        has = sparse.csr_array(vectorizer.fit_transform(texts), dtype=np.float64)
    except ValueError:  # of scikit-learn, where no text has a word
        return {int(k): [] for k in clusters}
    words = vectorizer.get_feature_names_out()
    everywhere = np.asarray(has[np.flatnonzero(code >= 0)].sum(axis=0)).ravel()
    total = int((code >= 0).sum())
    told = {}
    for k in clusters.tolist():
        rows = np.flatnonzero(code == k)
        inside = np.asarray(has[rows].sum(axis=0)).ravel()
        outside = (everywhere - inside) / max(total - rows.size, 1)
        gain = inside / rows.size - outside
        best = np.argsort(-gain, kind="stable")[:n]  # words are sorted: ties by the alphabet
        told[k] = [str(words[at]) for at in best if gain[at] >= LEAST]
    return told


def examples_of_clusters(
    X: Matrix, labels: Sequence[int] | NDArray[Any], n: int = 2
) -> dict[int, list[int]]:
    """Return the rows that are nearest to the mean of their cluster, the nearest first.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The data; a missing cell (NaN) is as far from the mean as a usual one.
    labels : sequence of int
        The cluster of each row; rows below 0 are of none.
    n : int, default 2
        The most rows of a cluster.

    Returns
    -------
    dict of int to list of int

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.analysis.cluster_words import examples_of_clusters
    >>> examples_of_clusters(np.array([[0.0], [4.0], [1.0], [9.0]]), [0, 0, 0, 1], 1)
    {0: [2], 1: [3]}
    """
    code = np.asarray(labels, np.int64)
    nearest = {}
    for k in np.unique(code[code >= 0]).tolist():
        rows = np.flatnonzero(code == k)
        piece = X[rows]
        dense = piece.toarray() if sparse.issparse(piece) else np.asarray(piece, np.float64)
        known = ~np.isnan(dense)
        mean = np.where(known, dense, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        squares = np.where(known, dense - mean, 0.0) ** 2
        usual = squares.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        squares = np.where(known, squares, usual).sum(axis=1)  # a gap is as far as a usual cell
        nearest[k] = [int(row) for row in rows[np.argsort(squares, kind="stable")[:n]]]
    return nearest
