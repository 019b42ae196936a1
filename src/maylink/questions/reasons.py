"""Why a pair is asked about, in words."""

from __future__ import annotations

import numpy as np

from maylink.arrays import Index
from maylink.questions.belief import Belief
from maylink.questions.outlook import Outlook

WHOLE = 0.5  # share of a cluster that goes with a piece: then the question is about the cluster
GOES_WITH = 0.9  # probability of being together from which on a piece goes with another


def reason_for(outlook: Outlook, a: int, b: int, *, again: bool) -> str:
    """Return what an answer about two pieces would decide.

    Parameters
    ----------
    outlook : Outlook
        What is thought.
    a, b : int
        Two pieces of one part.
    again : bool
        Whether the pair is asked about again.
    """
    if again:
        return "asks again, as an answer about these rows looks wrong or is in doubt"
    (part, a), (_, b) = outlook.place(a), outlook.place(b)
    belief, clusters = outlook.views[part].belief, outlook.clusters[outlook.where.parts[part].at]
    one, other = int(clusters[a]), int(clusters[b])
    if one == other:
        return f"decides whether cluster {one} is one or two"
    share_a, share_b = _share(belief, clusters, a), _share(belief, clusters, b)
    if share_a >= WHOLE and share_b >= WHOLE:
        low, high = sorted((one, other))
        return f"decides whether clusters {low} and {high} are one"
    if share_a >= share_b:
        one, other = other, one
        a = b
    rows = int(belief.n_rows[_with(belief, clusters, a)].sum())
    if rows == 1:
        return f"decides whether a row of cluster {one} belongs to cluster {other}"
    return f"decides whether {rows} rows of cluster {one} belong to cluster {other}"


def _with(belief: Belief, clusters: Index, piece: int) -> Index:
    """Return the pieces of its cluster that a piece goes with."""
    return np.flatnonzero((clusters == clusters[piece]) & (belief.together[piece] >= GOES_WITH))


def _share(belief: Belief, clusters: Index, piece: int) -> float:
    """Return the share of its cluster that a piece goes with."""
    rows = belief.n_rows
    return float(
        rows[_with(belief, clusters, piece)].sum() / rows[clusters == clusters[piece]].sum()
    )
