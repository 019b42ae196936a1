"""Fill the compile cache, so that the first fit does not wait for the compiler."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from maylink.estimators.parameter_objects import Gibbs, Variational
from maylink.estimators.rdpmeans import RDPMeans
from maylink.estimators.tvclust import TVClust


def warmup() -> None:
    """Compile every kernel for float32 and float64, dense and sparse data; half a minute.

    The compiled code is kept on disk; later processes load it. Call this once after installing, for
    example when building an image.

    Examples
    --------
    >>> import maylink as ml
    >>> ml.warmup()  # doctest: +SKIP
    """
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    for dtype in (np.float32, np.float64):
        for data in (X.astype(dtype), sparse.csr_array(X.astype(dtype))):
            RDPMeans(cluster_penalty=1.0, n_init=1).fit(data, links=([(0, 1)], [(0, 2)]))
        large = np.tile(X.astype(dtype), (300, 200))  # large enough for the rough scores
        RDPMeans(cluster_penalty=1e4, n_init=1).fit(large, links=([(0, 1)], [(0, 2)]))
    short: dict[str, Any] = {"n_draws": 1, "n_warmup": 0, "n_chains": 1}
    for inference in (Variational(), Gibbs(**short), Gibbs(sampler="instantiated", **short)):
        model = TVClust(
            covariance="spherical", data_weight=1, inference=inference, n_jobs=1, random_state=0
        )
        model.fit(X, links=([(0, 1)], [(0, 2)]))
