"""The links of every point: the symmetric signed matrix of links, in compressed rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.link_columns import LinkColumns


class SignedCSR(NamedTuple):
    """The links of every point: those of point i stand at ``indptr[i]:indptr[i + 1]``.

    ``signed`` is +weight for a may link and −weight for a may-not link; ``link`` is the position
    of the link in the list of links. Each link stands twice, once at each of its points.
    """

    indptr: NDArray[np.int64]
    neighbour: NDArray[np.integer[Any]]
    signed: NDArray[np.float64]
    link: NDArray[np.integer[Any]]


def signed_csr(columns: LinkColumns) -> SignedCSR:
    """Return the links of every point; all arrays are read-only."""
    size = columns.i.size
    ends = np.concatenate([columns.i, columns.j])
    # A CSR matrix with one entry a row, turned to CSC, is a counting sort of its columns: linear,
    # compiled, and unlike COO → CSR it does not sum several links on one pair.
    entries = sparse.csr_array(
        (np.zeros(2 * size, np.int8), ends, np.arange(2 * size + 1)), shape=(2 * size, columns.n)
    ).tocsc()
    order = entries.indices
    neighbour = np.concatenate([columns.j, columns.i])[order]
    link = np.where(order < size, order, order - size)
    signed = (columns.kind * columns.weight)[link]
    csr = SignedCSR(entries.indptr.astype(np.int64), neighbour, signed, link)
    for column in csr:
        column.setflags(write=False)
    return csr
