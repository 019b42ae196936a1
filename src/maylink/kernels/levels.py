"""Which linked points may be updated at once, without a change to what a visit in turn leaves."""

from __future__ import annotations

from maylink.kernels.compile import compiled


@compiled(allocates=False)
def levels(indptr, neighbour, out):
    """Write by how many others a point must wait for, one behind the other, in the order of rows.

    A point waits for its neighbours that come earlier. So points of one level are not linked to
    each other, and all that a point waits for is of a lower level.

    Parameters
    ----------
    indptr, neighbour : in, the links of every point
    out : out, (m,)
    """
    for i in range(out.size):
        level = 0
        for e in range(indptr[i], indptr[i + 1]):
            j = neighbour[e]
            if j < i and out[j] >= level:
                level = out[j] + 1
        out[i] = level
