"""The exact score of any partition: log p(x, E, z) of the TVClust model, all else integrated out.

::

    log P(z) + γ Σ_k log marginal(x_k) + Σ_source log P(E_source | z)

with P(z) one of :mod:`maylink.model.partition_priors`.

Conjugate priors leave nothing to approximate, so partitions from any algorithm can be compared, and
the scores of all partitions of a few points give the exact posterior.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maylink.errors import MaylinkError
from maylink.families import Family
from maylink.families.base import Statistics
from maylink.labels import complete_codes
from maylink.link_forms import LinksLike
from maylink.model.partition_priors import DIRICHLET_PROCESS, PartitionPrior, as_partition_prior
from maylink.model.reliability import count_links, log_evidence
from maylink.model.source_prior import (
    SHARED,
    ReliabilityPrior,
    SourcePrior,
    check_reliability_prior,
    source_prior,
)
from maylink.problem import Problem


def log_joint(
    X: Any,
    labels: ArrayLike,
    *,
    links: LinksLike | None = None,
    family: Family | str = "gaussian",
    prior: Any = None,
    alpha: float | None = 1.0,
    data_weight: float = 1.0,
    reliability_prior: ReliabilityPrior = SHARED,
    partition_prior: PartitionPrior | str = "dirichlet-process",
) -> float:
    """Return the exact log joint probability of data, links and a partition.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        The data.
    labels : array-like of shape (n,)
        A partition; what the labels are called does not matter.
    links : Links, pair of lists, matrix, DataFrame or None
        Links between the points.
    family : Family or str, default "gaussian"
        What the data are.
    prior : optional
        Prior of the clusters' parameters; the family's default for these data if not given.
    alpha : float or None, default 1
        Concentration of the Dirichlet or Pitman–Yor process. None averages it out, all orders of
        magnitude from 0.1 to n alike, for partitions of which nobody knows how fine they are.
    data_weight : float, default 1
        γ, the power on the data's likelihood.
    reliability_prior : "shared" or (float, float), default "shared"
        Prior of p and q: what several sources share is learned, with the mean and the say of
        Beta(9, 1) for each; or the Beta prior of each source by itself.
    partition_prior : str or PartitionPrior, default "dirichlet-process"
        Prior of the partition: "dirichlet-process", "pitman-yor" or "microclustering", or an object
        of :class:`maylink.DirichletProcess`, :class:`maylink.PitmanYor` or
        :class:`maylink.Microclustering`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from maylink import log_joint
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> log_joint(X, [0, 0, 1, 1]) > log_joint(X, [0, 1, 0, 1])
    True
    """
    alphas = () if alpha is None else (alpha,)
    if not all(np.isfinite(number) and number > 0 for number in alphas):
        raise MaylinkError(f"alpha: {alphas}; give finite numbers above 0")
    check_reliability_prior(reliability_prior)
    if not (np.isfinite(data_weight) and data_weight >= 0):
        raise MaylinkError(f"data_weight: {data_weight!r} is not a finite number of at least 0")
    partitions = as_partition_prior(partition_prior)
    problem = Problem.build(X, links, family)
    codes = complete_codes(labels)
    if codes.size != problem.n:
        raise MaylinkError(f"labels: {codes.size} labels, but X has {problem.n} rows")
    if prior is None:
        prior = problem.family.default_prior(problem.X)
    return joint_of(
        problem, codes, prior, alpha, data_weight, reliability_prior, partition_prior=partitions
    )


def joint_of(
    problem: Problem,
    labels: NDArray[np.int64],
    prior: Any,
    alpha: float | None = 1.0,
    data_weight: float = 1.0,
    reliability_prior: ReliabilityPrior | SourcePrior = SHARED,
    reliability: tuple[float, float] | None = None,
    partition_prior: PartitionPrior = DIRICHLET_PROCESS,
) -> float:
    """Return :func:`log_joint` of a checked problem and labels 0 … K − 1 of which none is empty."""
    family = problem.family
    statistics = problem.cluster_statistics(labels, int(labels.max()) + 1)
    counts = count_links(problem.links, labels)
    data = log_data(family, statistics, prior)
    of_sources = source_prior(reliability_prior, problem.links.sources)
    evidence = log_evidence(counts, of_sources, reliability)
    partition = partition_prior.log_probability(statistics.size, alpha)
    return partition + data_weight * data + evidence


def log_data(family: Family, statistics: Statistics, prior: Any) -> float:
    """Return the log probability of the data of all clusters."""
    return finite(float(family.log_marginal(statistics, prior).sum()))


def finite(data: float) -> float:
    """Return the log probability of the data, or raise where it is none."""
    if not np.isfinite(data):
        raise MaylinkError(
            "the log probability of the data is not finite: values of X are too large, too small "
            "or too close for double precision; shift or scale X"
        )
    return data
