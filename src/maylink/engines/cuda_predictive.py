"""Probabilities of clusters for new points on a GPU, in double precision.

The score of cluster k is ``log weight_k + γ log predictive_k(x)``, as
:class:`maylink.model.mixture.Mixture` has it on the processor; log h(x) is the same for all
clusters and left out. New points pass through the GPU in tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from maylink.engines.cuda_rows import DeviceRows
from maylink.engines.settings import CudaSettings
from maylink.errors import DomainError
from maylink.families.base import Family
from maylink.families.bernoulli import Bernoulli
from maylink.families.diagonal_gaussian import DiagonalGaussian
from maylink.families.dirichlet_multinomial import DirichletMultinomial
from maylink.families.gaussian import Gaussian
from maylink.families.multinomial import Multinomial
from maylink.families.plda import PLDA
from maylink.families.poisson import Poisson
from maylink.families.shared_gaussian import SharedGaussian
from maylink.model.mixture import TOO_FAR, Mixture

Predictive = Callable[[Any], Any]
"""From statistics T(x) on the GPU, shape (m, s), to log predictive_k(x), shape (m, K)."""


def can_predict(family: Family) -> bool:
    """Whether the predictive distribution of a family has a form for the GPU."""
    return type(family) in FORMS and not family.knows_gaps


def responsibilities(X: Any, mixture: Mixture, settings: CudaSettings) -> Any:
    """Return the probability of each cluster for each point, on the GPU, shape (m, K)."""
    import torch

    return torch.cat([torch.softmax(scores, dim=1) for scores in _tiles(X, mixture, settings)])


def most_probable(X: Any, mixture: Mixture, settings: CudaSettings) -> Any:
    """Return the most probable cluster of each point, on the GPU, shape (m,)."""
    import torch

    return torch.cat([scores.argmax(dim=1) for scores in _tiles(X, mixture, settings)])


def _tiles(X: Any, mixture: Mixture, settings: CudaSettings) -> Iterator[Any]:
    """Yield the scores of points, tile by tile."""
    import torch

    family, size = mixture.family, len(mixture.sizes)
    columns = family.n_statistics(int(X.shape[1]))
    chunk = max(1, settings.chunk * columns // (columns + size))
    rows = DeviceRows(X, family, replace(settings, stream=True, chunk=chunk), once=True)
    form = FORMS[type(family)](rows.family, _stacked(mixture.posteriors), rows.place)
    log_weights = torch.as_tensor(mixture.log_weights[:-1], device=rows.place)
    for _, part in rows.parts():
        scores = log_weights + mixture.data_weight * form(part[:, : rows.n_columns])
        if bool(scores.isnan().any()) or not bool(scores.isfinite().any(dim=1).all()):
            raise DomainError(TOO_FAR)
        yield scores


def _stacked(posteriors: list[Any]) -> Any:
    """Return the posteriors of all clusters, each part with a leading axis."""
    parts = (np.stack(part) for part in zip(*posteriors, strict=True))
    return type(posteriors[0])(*parts)


def _sent(place: Any, *columns: Any) -> list[Any]:
    import torch

    return [torch.as_tensor(np.asarray(column, np.float64), device=place) for column in columns]


# ---------------------------------------------------------------------- forms


def _spherical(family: Any, posterior: Any, place: Any) -> Predictive:
    """Return Student's distribution of ‖x − m‖²: b grows by half of κ/(κ + 1) ‖x − m‖²."""
    import torch

    mean, kappa, a, b = _sent(
        place, posterior.mean - family.origin, posterior.strength, posterior.shape, posterior.rate
    )
    d = mean.shape[1]
    start = torch.lgamma(a + 0.5 * d) - torch.lgamma(a) + a * torch.log(b)
    start -= 0.5 * d * torch.log1p(1.0 / kappa)
    share, square = 0.5 * kappa / (kappa + 1.0), (mean * mean).sum(dim=1)
    blurred = b + 0.5 * float(np.sum(family.blur))

    def form(T: Any) -> Any:
        away = torch.addmm(T[:, d:] + square, T[:, :d], mean.T, alpha=-2.0).clamp_(min=0.0)
        return start - (a + 0.5 * d) * torch.log(blurred + share * away)

    return form


def _diagonal(family: Any, posterior: Any, place: Any) -> Predictive:
    """Return Student's distribution of every feature."""
    import torch

    mean, kappa, a, b = _sent(
        place, posterior.mean - family.origin, posterior.strength, posterior.shape, posterior.rate
    )
    d = mean.shape[1]
    start = d * (torch.lgamma(a + 0.5) - torch.lgamma(a)) + a * torch.log(b).sum(dim=1)
    start -= 0.5 * d * torch.log1p(1.0 / kappa)
    share = 0.5 * kappa / (kappa + 1.0)
    (blurred,) = _sent(place, posterior.rate + 0.5 * family.blur)

    def one(T: Any, k: int) -> Any:
        away = torch.square(T[:, :d] - mean[k])
        return start[k] - (a[k] + 0.5) * torch.log(blurred[k] + share[k] * away).sum(dim=1)

    return _each(len(mean), one)


def _known_variance(family: Any, posterior: Any, place: Any) -> Predictive:
    """Return the normal distribution with unit variance about a mean of some precision."""
    import torch

    mean, precision = _sent(place, posterior.mean, posterior.precision)
    start = -0.5 * torch.log1p(1.0 / precision)
    start = (start - 0.5 * precision / (precision + 1.0) * mean * mean).sum(dim=1)
    slope, bend = precision * mean / (precision + 1.0), 0.5 / (precision + 1.0)

    def form(T: Any) -> Any:
        return torch.addmm(start, T, slope.T).addmm_(T * T, bend.T)

    return form


def _counts(family: Any, posterior: Any, place: Any) -> Predictive:
    """Return the Dirichlet-multinomial distribution."""
    import torch

    (a,) = _sent(place, posterior.concentration)
    total = a.sum(dim=1)
    start = torch.lgamma(total) - torch.lgamma(a).sum(dim=1)

    def one(T: Any, k: int) -> Any:
        grown = torch.lgamma(a[k] + T).sum(dim=1)
        return start[k] + grown - torch.lgamma(total[k] + T.sum(dim=1))

    return _each(len(a), one)


def _rates(family: Any, posterior: Any, place: Any) -> Predictive:
    """Return the negative binomial distribution of every feature."""
    import torch

    a, b = _sent(place, posterior.shape, posterior.rate)
    b = b.expand_as(a)
    start = (a * torch.log(b) - torch.lgamma(a) - a * torch.log1p(b)).sum(dim=1)
    slope = torch.log1p(b)

    def one(T: Any, k: int) -> Any:
        return start[k] + torch.lgamma(a[k] + T).sum(dim=1) - T @ slope[k]

    return _each(len(a), one)


def _ones(family: Any, posterior: Any, place: Any) -> Predictive:
    """Return the Bernoulli distribution of every feature."""
    import torch

    a, b = _sent(place, posterior.a, posterior.b)
    start = -(torch.lgamma(a) + torch.lgamma(b) + torch.log(a + b)).sum(dim=1)

    def one(T: Any, k: int) -> Any:
        return start[k] + (torch.lgamma(a[k] + T) + torch.lgamma(b[k] + 1.0 - T)).sum(dim=1)

    return _each(len(a), one)


def _each(size: int, one: Callable[[Any, int], Any]) -> Predictive:
    """Return the form that is made cluster by cluster."""
    import torch

    return lambda T: torch.stack([one(T, k) for k in range(size)], dim=1)


FORMS: dict[type[Family], Callable[[Any, Any, Any], Predictive]] = {
    Gaussian: _spherical,
    SharedGaussian: _spherical,
    DiagonalGaussian: _diagonal,
    PLDA: _known_variance,
    Multinomial: _counts,
    DirichletMultinomial: _counts,
    Poisson: _rates,
    Bernoulli: _ones,
}
