"""The clusters of a table, each told by its words and by rows from its middle."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maylink.analysis.cluster_words import examples_of_clusters, words_of_clusters
from maylink.estimators.tables import cluster_names
from maylink.io.data import Table
from maylink.views.tables import texts_of

EXAMPLES = 3


class ClusterTold(NamedTuple):
    """A cluster: its name, its size, the words that set it apart, and texts of its middle."""

    cluster: str
    size: int
    words: list[str]
    examples: list[str]


def told_clusters(model: Any, table: Table) -> list[ClusterTold]:
    """Return what the clusters are about, the largest first.

    Parameters
    ----------
    model : estimator
        Fitted to the rows of the table.
    table : Table
        With columns of text: those that its view is made of, or those of the kind "words".

    Returns
    -------
    list of ClusterTold
        Empty where the table has no text.
    """
    words = tuple(name for name, kind in table.kinds.items() if kind == "words")
    columns = getattr(table.view, "columns", None) or words
    if not columns:
        return []
    texts, labels = texts_of(table, columns), np.asarray(model.labels_)
    told = words_of_clusters(texts, labels)
    with_text = np.where([bool(text) for text in texts], labels, -1)
    rows = examples_of_clusters(table.X, with_text, EXAMPLES)
    names, sizes = cluster_names(model), np.bincount(labels)
    order = sorted(told, key=lambda k: (-sizes[k], k))
    return [
        ClusterTold(str(names[k]), int(sizes[k]), told[k], [texts[row] for row in rows.get(k, [])])
        for k in order
    ]
