"""Visit points in order and let each choose its cluster: the inner loop of Algorithm 1.

The scores are given; what must happen in order is only the choice, since a linked point looks at
the labels that its friends and strangers have at that moment.
"""

from __future__ import annotations

import numpy as np

from maylink.kernels.compile import compiled


@compiled()
def visit(
    start,
    order,
    best,
    value,
    slot,
    scores,
    n_clusters,
    indptr,
    neighbour,
    signed,
    xi_may,
    xi_not,
    penalty,
    labels,
    pull,
    changed,
):
    """Give the points ``order[start:]`` their labels, up to the first that wants a new cluster.

    Parameters
    ----------
    start : in, int
    order : in, (m,) points to visit; best, value, slot and scores go with its positions
    best, value : in, (m,) nearest cluster by divergence alone
    slot : in, (m,) row of ``scores`` of a linked point, −1 for a point without links
    scores : in, (…, n_clusters or more) divergences of linked points
    indptr, neighbour, signed : in, the links of every point; see ``SignedCSR``
    xi_may, xi_not : in, link weights
    penalty : in, λ
    labels : in and out, (n,) −1 for a point without a label as yet
    pull : scratch, (n_clusters or more,) zeros, left as zeros
    changed : in and out, (1,) counts the labels that changed

    Returns
    -------
    int
        Position of the first point whose least value is λ or more, not yet moved; m if none.
    """
    for p in range(start, order.size):
        i = order[p]
        if slot[p] < 0:
            least = value[p]
            chosen = best[p]
        else:
            for e in range(indptr[i], indptr[i + 1]):
                k = labels[neighbour[e]]
                if k >= 0:
                    pull[k] += signed[e] * (xi_may if signed[e] > 0 else xi_not)
            least = np.inf
            chosen = 0
            for k in range(n_clusters):
                augmented = scores[slot[p], k] - pull[k]
                if augmented < least:
                    least = augmented
                    chosen = k
            for e in range(indptr[i], indptr[i + 1]):
                k = labels[neighbour[e]]
                if k >= 0:
                    pull[k] = 0.0
        if least >= penalty:
            return p
        if labels[i] != chosen:
            labels[i] = chosen
            changed[0] += 1
    return order.size
