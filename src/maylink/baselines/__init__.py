"""Baselines: the algorithms that the paper compares with, with one interface.

Each file holds one algorithm, or two that differ in a line; :func:`all_baselines` lists them by
itself. Files with several users inside this folder: ``base``, ``centers``, ``neighbourhoods``,
``correlation``, ``graph`` and ``eigenvectors``. Compiled loops are in ``kernels``.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil

from maylink.baselines.base import Baseline
from maylink.baselines.constrained_one_spectral import ConstrainedOneSpectral
from maylink.baselines.constrained_seeded_kmeans import ConstrainedSeededKMeans
from maylink.baselines.constrained_spectral import ConstrainedSpectral
from maylink.baselines.cop_cobweb import COPCobweb
from maylink.baselines.cop_kmeans import COPKMeans
from maylink.baselines.cvqe import CVQE
from maylink.baselines.lcvqe import LCVQE
from maylink.baselines.link_only import LinkOnly
from maylink.baselines.mpck_means import MPCKMeans
from maylink.baselines.mrf_dp_mixture import MRFDPMixture
from maylink.baselines.pck_means import PCKMeans
from maylink.baselines.plain_kmeans import PlainKMeans
from maylink.baselines.plain_spectral import PlainSpectral
from maylink.baselines.seeded_kmeans import SeededKMeans
from maylink.baselines.supervised_clustering import SupervisedClustering

__all__ = [
    "CVQE",
    "LCVQE",
    "Baseline",
    "COPCobweb",
    "COPKMeans",
    "ConstrainedOneSpectral",
    "ConstrainedSeededKMeans",
    "ConstrainedSpectral",
    "LinkOnly",
    "MPCKMeans",
    "MRFDPMixture",
    "PCKMeans",
    "PlainKMeans",
    "PlainSpectral",
    "SeededKMeans",
    "SupervisedClustering",
    "all_baselines",
]


def all_baselines() -> dict[str, type[Baseline]]:
    """Return every baseline of this folder by its name.

    Examples
    --------
    >>> from maylink.baselines import all_baselines
    >>> all_baselines()["LCVQE"](3)
    LCVQE(n_clusters=3)
    """
    baselines = {}
    for module in pkgutil.iter_modules(__path__):
        for member in vars(importlib.import_module(f"{__name__}.{module.name}")).values():
            if (
                inspect.isclass(member)
                and issubclass(member, Baseline)
                and not inspect.isabstract(member)
            ):
                baselines[member.__name__] = member
    return dict(sorted(baselines.items()))
