"""Families: what the data are (real, counts, binary, positive, directions) and what *near* means.

Each file holds one family, found here by itself: a new file is a new family, known to every
estimator by its name.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil

from maylink.errors import MaylinkError
from maylink.families.base import Family, Statistics
from maylink.families.bernoulli import Bernoulli
from maylink.families.diagonal_gaussian import DiagonalGaussian
from maylink.families.dirichlet_multinomial import DirichletMultinomial
from maylink.families.full_gaussian import FullGaussian
from maylink.families.gamma import Gamma
from maylink.families.gaussian import Gaussian
from maylink.families.multinomial import Multinomial
from maylink.families.poisson import Poisson
from maylink.families.product import Product
from maylink.families.shared_gaussian import SharedGaussian
from maylink.families.von_mises_fisher import VonMisesFisher

__all__ = [
    "Bernoulli",
    "DiagonalGaussian",
    "DirichletMultinomial",
    "Family",
    "FullGaussian",
    "Gamma",
    "Gaussian",
    "Multinomial",
    "Poisson",
    "Product",
    "SharedGaussian",
    "Statistics",
    "VonMisesFisher",
    "all_families",
    "as_family",
]


def all_families() -> dict[str, type[Family]]:
    """Return every family of this folder by its name.

    Examples
    --------
    >>> from maylink.families import all_families
    >>> sorted(all_families())  # doctest: +NORMALIZE_WHITESPACE
    ['bernoulli', 'diagonal-gaussian', 'dirichlet-multinomial', 'full-gaussian', 'gamma',
     'gaussian', 'multinomial', 'poisson', 'product', 'shared-gaussian',
     'von-mises-fisher']
    """
    found = {}
    for module in pkgutil.iter_modules(__path__):
        members = vars(importlib.import_module(f"{__name__}.{module.name}")).values()
        for member in members:
            if inspect.isclass(member) and issubclass(member, Family) and "name" in vars(member):
                found[member.name] = member
    return found


def as_family(family: Family | str) -> Family:
    """Return the family itself, or the one of this name with its default settings.

    Examples
    --------
    >>> from maylink.families import as_family
    >>> as_family("poisson").name
    'poisson'
    """
    if isinstance(family, Family):
        return family
    known = all_families()
    if not isinstance(family, str) or family not in known:
        meant = _ALSO_CALLED.get(str(family).lower())
        guess = f" (you may mean {meant!r})" if meant else ""
        raise MaylinkError(
            f"family: {family!r} is not known{guess}; give one of {', '.join(sorted(known))}, "
            "or a Family object"
        )
    return known[family]()


_ALSO_CALLED = {
    "binary": "bernoulli",
    "bursty": "dirichlet-multinomial",
    "categorical": "multinomial",
    "cosine": "von-mises-fisher",
    "counts": "multinomial",
    "diagonal": "diagonal-gaussian",
    "euclidean": "gaussian",
    "exponential": "gamma",
    "full": "full-gaussian",
    "kl": "multinomial",
    "mahalanobis": "full-gaussian",
    "normal": "gaussian",
    "shared": "shared-gaussian",
    "spherical": "gaussian",
    "tied": "shared-gaussian",
}
