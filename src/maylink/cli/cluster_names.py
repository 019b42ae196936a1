"""Names of clusters on the command line: numbers by size, and the names that the user gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maylink.cli.errors import USAGE, CommandError


def name_clusters(model: Any, names: Sequence[str], sizes: Any = None) -> None:
    """Number the clusters of a fit by size, and give them the names of ``--name``.

    Parameters
    ----------
    model : estimator
        Fitted.
    names : sequence of str
        CLUSTER=NAME, by numbers of size.
    sizes : sequence of int, optional
        Points of each cluster, where labels are not in memory.
    """
    import numpy as np

    from maylink.estimators.tables import number_by_size

    number_by_size(model, None if sizes is None else np.asarray(sizes))
    if not names:
        return
    shown = [str(number) for number in model.cluster_names_]
    for word in names:
        number, _, name = word.partition("=")
        if not name or number not in map(str, range(len(shown))):
            raise CommandError(
                f"--name: {word!r}; write CLUSTER=NAME, with a cluster from 0 to {len(shown) - 1}",
                USAGE,
            )
        shown[model.cluster_names_.tolist().index(int(number))] = name
    if len(set(shown)) < len(shown):
        raise CommandError("--name: two clusters have one name; give each its own", USAGE)
    model.cluster_names_ = np.array(shown)
