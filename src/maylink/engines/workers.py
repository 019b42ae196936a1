"""What runs on the workers of a Dask cluster, a chunk at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index
from maylink.engines.cuda_piece import CudaPiece
from maylink.engines.piece import Piece
from maylink.engines.rules import Assignment
from maylink.engines.totals import Totals


def asked(piece: Piece | CudaPiece, question: str, *arguments: Any) -> Any:
    """Return what a piece answers, wherever its points are."""
    return getattr(piece, question)(*arguments)


def linked_rows(chunk: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """Return the linked rows of a chunk; the first row of one that has none, to know the kind."""
    return chunk[rows] if rows.size else chunk[:1].copy()


def chunk_labels(
    piece: Piece | CudaPiece,
    assignment: Assignment,
    order: str,
    rank: Any,
    explicit: Any,
    cut: Array,
    linked: Index,
) -> Index:
    """Return the labels of a chunk, those of its linked points included."""
    labels = np.empty(piece.size, np.int64)
    labels[piece.linked] = linked
    others = piece.labels(assignment, order, rank, explicit, cut)
    if others is not None:
        labels[piece.rows] = others[: piece.rows.size]
    return labels


def chunk_totals(
    piece: Piece | CudaPiece,
    assignment: Assignment,
    order: str,
    rank: Any,
    explicit: Any,
    n_clusters: int,
    cut: Array,
) -> Totals | None:
    """Return the sums of the points without links of a chunk."""
    labels = piece.labels(assignment, order, rank, explicit, cut)
    return piece.sums(labels, n_clusters, cut)


def add_totals(parts: list[Totals | None]) -> Any:
    """Add up sums; those of cut points are exact in any order."""
    present = [part for part in parts if part is not None]
    if not present:  # all points are linked
        return None
    return Totals(*(np.sum(column, axis=0) for column in zip(*present, strict=True)))
