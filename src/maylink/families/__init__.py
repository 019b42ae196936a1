"""Families: what the data are (real, counts, binary, positive, directions) and what *near* means.

Each file holds one family, which says itself what it can do: a new file is a new family, known to
every estimator by its name. :func:`register` makes one from outside the library known as well.
"""

from __future__ import annotations

from maylink.families.base import Family, Statistics
from maylink.families.bernoulli import Bernoulli
from maylink.families.categorical import Categorical
from maylink.families.diagonal_gaussian import DiagonalGaussian
from maylink.families.dirichlet_multinomial import DirichletMultinomial
from maylink.families.full_gaussian import FullGaussian
from maylink.families.gamma import Gamma
from maylink.families.gaussian import Gaussian
from maylink.families.multinomial import Multinomial
from maylink.families.plda import PLDA
from maylink.families.poisson import Poisson
from maylink.families.product import Product
from maylink.families.product_with_gaps import ProductWithGaps
from maylink.families.registry import all_families, as_family, register, unregister
from maylink.families.shared_gaussian import SharedGaussian
from maylink.families.von_mises_fisher import VonMisesFisher

__all__ = [
    "PLDA",
    "Bernoulli",
    "Categorical",
    "DiagonalGaussian",
    "DirichletMultinomial",
    "Family",
    "FullGaussian",
    "Gamma",
    "Gaussian",
    "Multinomial",
    "Poisson",
    "Product",
    "ProductWithGaps",
    "SharedGaussian",
    "Statistics",
    "VonMisesFisher",
    "all_families",
    "as_family",
    "register",
    "unregister",
]
