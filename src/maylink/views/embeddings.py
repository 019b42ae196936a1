"""Embeddings as rows of unit length: what encoders make of texts, pictures or molecules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maylink.arrays import Matrix


@dataclass(frozen=True)
class EmbeddingView:
    """What turns embeddings into rows of unit length; saved with a model, for new rows.

    Parameters
    ----------
    n_features : int
        Numbers of an embedding.

    Examples
    --------
    >>> import numpy as np
    >>> EmbeddingView(2).rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """

    n_features: int

    def rows(self, embeddings: Any) -> Matrix:
        """Return the rows at length 1; a row of zeros stays one."""
        from sklearn.preprocessing import normalize

        return normalize(embeddings)
