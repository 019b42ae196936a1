"""Where links contradict each other, as a table that a person can act on.

Two kinds of contradiction: a *pair* that carries both a may and a may-not link, and a *chain*
``i – a – b – j`` of may links whose ends a may-not link keeps apart. Contradictions are never an
error: the models weigh them. This table only explains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from maylink.link_columns import MAY, MAY_NOT, LinkColumns
from maylink.pairs import pair_keys

if TYPE_CHECKING:
    import pandas as pd


def conflict_table(columns: LinkColumns, limit: int | None = 1000) -> pd.DataFrame:
    """List contradictory pairs, then chains of may links closed by a may-not link.

    Parameters
    ----------
    columns : LinkColumns
        The links to explain; users call :meth:`maylink.Links.conflicts`.
    limit : int or None, default 1000
        At most this many rows; None for all of them.

    Returns
    -------
    DataFrame
        Columns ``conflict`` ("pair" or "chain"), ``i``, ``j``, ``chain`` (the points of a shortest
        way from i to j over may links), ``length`` (how many may links it has) and ``link`` (the
        position of the may-not link, the first if there are several). The number of contradictions,
        shown or not, is ``frame.attrs["total"]``.

    Examples
    --------
    >>> from maylink import Links
    >>> links = Links.from_pairs(may=[(0, 1), (1, 2), (3, 4)], may_not=[(0, 2), (3, 4)], n=5)
    >>> links.conflicts()
      conflict  i  j      chain  length  link
    0     pair  3  4     (3, 4)       1     4
    1    chain  0  2  (0, 1, 2)       2     3
    """
    n = columns.n
    if columns.i.size == 0:
        return _frame([], 0)
    graph = _may_graph(columns)
    keys = pair_keys(columns.i, columns.j, n)
    position = np.flatnonzero(columns.kind == MAY_NOT)
    position = position[np.argsort(keys[position], kind="stable")]
    apart = keys[position]
    _, component = csgraph.connected_components(graph, directed=False)
    connected = component[apart // n] == component[apart % n]
    first = connected & (np.diff(apart, prepend=-1) > 0)  # of several on one pair
    apart, position = apart[first], position[first]
    both_kinds = np.isin(apart, keys[columns.kind == MAY])

    rows = []
    for at in np.argsort(~both_kinds, kind="stable")[:limit].tolist():
        i, j = divmod(int(apart[at]), n)
        chain = _shortest_chain(graph.indptr, graph.indices, i, j)
        conflict = "pair" if len(chain) == 2 else "chain"
        rows.append((conflict, i, j, chain, len(chain) - 1, int(position[at])))
    return _frame(rows, len(apart))


def _frame(rows: list[tuple[Any, ...]], total: int) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(rows, columns=["conflict", "i", "j", "chain", "length", "link"])
    frame.attrs["total"] = total
    return frame


def _may_graph(columns: LinkColumns) -> sparse.csr_array:
    is_may = columns.kind == MAY
    i, j = columns.i[is_may], columns.j[is_may]
    one = np.ones(2 * i.size, np.int8)
    ends = (np.concatenate([i, j]), np.concatenate([j, i]))
    return sparse.coo_array((one, ends), shape=(columns.n, columns.n)).tocsr()


def _shortest_chain(
    indptr: NDArray[Any], neighbour: NDArray[Any], start: int, goal: int
) -> tuple[int, ...]:
    """Find a shortest way by breadth-first search from both ends, which must be connected."""
    parents: tuple[dict[int, int], dict[int, int]] = ({start: -1}, {goal: -1})
    fronts = [[start], [goal]]
    while True:
        side = 0 if len(fronts[0]) <= len(fronts[1]) else 1
        here, there = parents[side], parents[1 - side]
        front: list[int] = []
        for point in fronts[side]:
            for other in neighbour[indptr[point] : indptr[point + 1]].tolist():
                if other in here:
                    continue
                here[other] = point
                if other in there:
                    return _walk(parents[0], other)[::-1] + _walk(parents[1], other)[1:]
                front.append(other)
        fronts[side] = front


def _walk(parent: dict[int, int], point: int) -> tuple[int, ...]:
    way = []
    while point != -1:
        way.append(point)
        point = parent[point]
    return tuple(way)
