"""Labels that look wrong, of sources whose links were made of labels.

A label has one vote for its own group and one against each other group, shared out among its links
(:func:`maylink.link_conversions.votes_of_labels`). With c the probability that the two points of a
link share a cluster, the votes that the label meets in its own cluster are::

    for = Σ_may w c        against = Σ_may-not w c

A label is suspect where most of these are against it: most labelled points of its cluster have
another label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maylink.links import KIND_NAMES, MAY
from maylink.model.posterior import Posterior

if TYPE_CHECKING:
    import pandas as pd


def suspect_labels(posterior: Posterior) -> pd.DataFrame:
    """Return the labels with the share of votes against each in its cluster, worst first.

    Parameters
    ----------
    posterior : Posterior
        What a fit knows about its links.

    Returns
    -------
    DataFrame
        A row for each label: ``point``, ``source`` and ``against``, 0 to 1; 0 where no other
        labelled point is in the cluster.

    Examples
    --------
    >>> import maylink as ml
    >>> from maylink.model.suspect_labels import suspect_labels
    >>> X = [[0.0], [0.1], [0.2], [0.3], [9.0], [9.1], [9.2], [9.3]]
    >>> links = ml.Links.from_labels(["a", "a", "a", "a", "b", "b", "b", "a"])  # the last is wrong
    >>> model = ml.TVClust("gaussian", data_weight=1, random_state=0).fit(X, links=links)
    >>> int(suspect_labels(model.posterior_)["point"].iloc[0])
    7
    """
    import pandas as pd

    links = posterior.suspects()
    links = links[links["source"].isin(posterior.links.labelled)]
    is_may = (links["kind"] == KIND_NAMES[MAY]).to_numpy()
    inside = links["weight"] * np.where(is_may, 1.0 - links["wrong"], links["wrong"])
    votes = pd.DataFrame(
        {"source": links["source"], "votes": inside, "opposed": np.where(is_may, 0.0, inside)}
    )
    ends = [votes.assign(point=links[end]) for end in ("i", "j")]
    sums = pd.concat(ends).groupby(["source", "point"], sort=False).sum().reset_index()
    share = sums["opposed"] / sums["votes"].where(sums["votes"] > 0.0)
    table = sums[["point", "source"]].assign(against=share.fillna(0.0))
    return table.sort_values(
        ["against", "point"], ascending=[False, True], kind="stable", ignore_index=True
    )
