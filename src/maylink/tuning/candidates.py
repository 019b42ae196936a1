"""Candidates: the families that are open to choice, by what the user gave and what the values are.

Families say themselves which kind of data they are for and whether "auto" tries them
(:class:`maylink.families.Family`); here they are asked.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace

from maylink.families import DiagonalGaussian, Family, Gaussian, all_families, as_family
from maylink.families.gaussian import EuclideanFamily
from maylink.families.registry import covariances
from maylink.links import Links
from maylink.problem import DataFacts
from maylink.tuning.products import products
from maylink.tuning.settings import Tuning

logger = logging.getLogger("maylink")

AUTO = "auto"
FEW_FEATURES = 32
"""Up to so many features a covariance for each cluster can be learned from a few hundred points."""
ENOUGH_POINTS = 60
"""From so many points on, covariances within and between clusters can be learned instead."""


def candidates(family: Family | str, covariance: str, data: DataFacts) -> list[Family | str]:
    """Return the families that are open to choice, the plainest first.

    A family that needs more numbers to describe a cluster than there are points is not tried. Of
    many features a covariance for each cluster asks for more points than there are, and plainer
    ones are cases of the family that learns covariances within and between clusters: it alone of
    the Gaussian families is tried there, if there are points enough to learn them. Of data with
    gaps only families whose columns are independent are tried. Of tables whose columns are of
    several kinds the products of :mod:`maylink.tuning.products` are tried, too; alone where there
    are categories.

    Parameters
    ----------
    family : Family or str
        What the user gave; "auto" leaves it open, "gaussian" leaves the covariance open.
    covariance : str
        What the user gave, or "auto".
    data : DataFacts
        What is known of the data.

    Examples
    --------
    >>> from maylink.problem import DataFacts
    >>> from maylink.tuning.candidates import candidates
    >>> candidates("gaussian", "auto", DataFacts(frozenset, False, (2000, 384)))
    ['plda']
    """
    if isinstance(family, Family):
        return [family]
    families = all_families()
    if covariance != AUTO:
        return [covariances()[covariance]]
    mixed = list[Family | str](products(data.blocks) if family == AUTO and data.blocks else ())
    if mixed and (data.has_gaps or any(block.kind == "category" for block in data.blocks)):
        return mixed
    if family == AUTO:
        names = possible(data.kinds(), is_sparse=data.is_sparse)
    elif family == Gaussian.name:
        names = [
            name for name in gaussians() if families[name].accepts_sparse or not data.is_sparse
        ]
    else:
        return [family]
    if data.has_gaps:
        return [name for name in names if families[name].gaps == "cells"]
    n, d = data.shape
    names = [name for name in names if as_family(name).n_parameters(d) <= max(n, 2 * d)]
    if has_many_features(data.shape) and not data.in_chunks:
        names = [name for name in names if name not in gaussians() or families[name].learns]
    return [*names, *mixed]


def has_many_features(shape: tuple[int, int]) -> bool:
    """Whether the family that learns covariances stands for all Gaussian ones.

    Examples
    --------
    >>> from maylink.tuning.candidates import has_many_features
    >>> has_many_features((300, 64)), has_many_features((50, 64)), has_many_features((300, 16))
    (True, False, False)
    """
    n, d = shape
    return n >= ENOUGH_POINTS and d > FEW_FEATURES


def numbers_of_neighbours(learns: bool, one_learns: bool, tuning: Tuning) -> tuple[int, ...]:
    """Return how many neighbours are tried with a family on data of many features.

    A family beside one that learns is tried with none: with neighbours it hardly ever won. All
    others are tried with all numbers.

    Parameters
    ----------
    learns : bool
        Whether the family learns.
    one_learns : bool
        Whether any of the families that are tried does.
    tuning : Tuning
        Which numbers there are.

    Examples
    --------
    >>> from maylink import Tuning
    >>> from maylink.tuning.candidates import numbers_of_neighbours
    >>> [numbers_of_neighbours(*one, Tuning()) for one in ((True, True), (False, True))]
    [(0, 10, 20), (0,)]
    >>> numbers_of_neighbours(False, False, Tuning())
    (0, 10, 20)
    """
    return tuning.neighbours[:1] if one_learns and not learns else tuning.neighbours


def near_settings(tuning: Tuning, links: Links) -> list[tuple[float, int]]:
    """Return data weights and numbers of neighbours that are tried beside none.

    Links choose them, where there are enough, for families that are not fitted from pieces.
    Clusters that are long or bent are chains of neighbours, whatever the family. The largest data
    weight would leave neighbours no say, so that there must be others.

    Parameters
    ----------
    tuning : Tuning
        Which weights there are, and how many neighbours.
    links : Links
        All judged links.

    Examples
    --------
    >>> import maylink as ml
    >>> from maylink.tuning.candidates import near_settings
    >>> links = ml.Links.from_pairs(may=[(i, i + 1) for i in range(40)], n=50)
    >>> near_settings(ml.Tuning(), links)
    [(0.3, 5), (0.1, 5), (0.03, 5), (0.01, 5)]
    >>> near_settings(ml.Tuning(), links[:30])  # too few links
    []
    """
    count = min(tuning.neighbours_of_few, links.n - 1)
    if count < 1 or not tuning.can_hold_out(links):
        return []
    lower = [weight for weight in tuning.data_weights if weight < max(tuning.data_weights)]
    return [(weight, count) for weight in lower if weight >= tuning.least_weight_of_pieces]


def comparable(
    names: list[Family | str], data: DataFacts, scale: bool | None = None
) -> list[Family | str]:
    """Return families with the standardised distance in place of the plain one, where needed.

    Parameters
    ----------
    names : list of Family or str
        Those that are open to choice.
    data : DataFacts
        What is known of the data.
    scale : bool, optional
        Whether it is needed; None: where the units of columns differ.

    Examples
    --------
    >>> from maylink.problem import DataFacts
    >>> from maylink.tuning.candidates import comparable
    >>> table = DataFacts(frozenset, False, (100, 3), units_differ=lambda: True)
    >>> comparable(["gaussian"], table), comparable(["gaussian", "plda"], table, scale=False)
    (['diagonal-gaussian'], ['gaussian', 'plda'])
    """
    if Gaussian.name not in names:
        return names
    if not (data.has_gaps or (data.units_differ() if scale is None else scale)):
        return names
    logger.info("columns are compared in units of their standard deviations")
    swapped = [DiagonalGaussian.name if name == Gaussian.name else name for name in names]
    return list(dict.fromkeys(swapped))


def knowing_rounded(names: list[Family | str]) -> list[Family | str]:
    """Return families of which the Gaussian ones take values that many rows share for rounded.

    Clusters that hold one value each have too high a density otherwise
    (:mod:`maylink.families.rounding`).

    Examples
    --------
    >>> from maylink.tuning.candidates import knowing_rounded
    >>> [getattr(one, "rounded", one) for one in knowing_rounded(["gaussian", "poisson"])]
    [True, 'poisson']
    """
    open_families = [as_family(name) for name in names]
    return [
        replace(one, rounded=True) if isinstance(one, EuclideanFamily) else name
        for name, one in zip(names, open_families, strict=True)
    ]


def possible(kinds: frozenset[str], *, is_sparse: bool = False) -> list[str]:
    """Return the families that could describe the data, by the kinds that the values could be.

    All dense data may be real. What looks like counts may be counts, too; of ones and zeros a
    family of bits may tell more; neither are directions. Sparse whole numbers are counts, or ones
    and zeros. Sparse directions are nothing else.

    Examples
    --------
    >>> from maylink.tuning.candidates import possible
    >>> possible(frozenset(["real", "counts", "bits"]), is_sparse=True)
    ['bernoulli']
    """
    if "bits" in kinds:
        kinds = kinds - {"counts"}
    if kinds & {"bits", "counts"}:
        kinds = kinds - {"directions"}
    if is_sparse and kinds & {"bits", "counts", "directions"}:
        kinds = kinds - {"real"}
    ranks = {
        name: cls.auto_rank
        for name, cls in all_families().items()
        if cls.auto_rank is not None
        and cls.kind in kinds
        and (not is_sparse or (cls.accepts_sparse and cls.auto_sparse))
    }
    return sorted(ranks, key=ranks.__getitem__)


def compared_by_evidence(names: Iterable[str]) -> list[str]:
    """Return the families among which the evidence chooses where there are no links.

    Densities of Gaussians can be compared with each other. Beside the probability of a bit they say
    nothing: around 0 or 1 a density is as high as one likes, the narrower the cluster the higher.
    So ones and zeros are taken as bits.

    Examples
    --------
    >>> from maylink.tuning.candidates import compared_by_evidence
    >>> compared_by_evidence(["gaussian", "full-gaussian", "poisson"])
    ['gaussian', 'full-gaussian']
    >>> compared_by_evidence(["gaussian", "full-gaussian", "bernoulli"])
    ['bernoulli']
    """
    names, families = list(names), all_families()
    bits = [name for name in names if name in families and families[name].kind == "bits"]
    return bits or [name for name in gaussians() if name in names] or names[:1]


def gaussians() -> list[str]:
    """Return the Gaussian families that may be chosen, the plainest first.

    Examples
    --------
    >>> from maylink.tuning.candidates import gaussians
    >>> gaussians()
    ['gaussian', 'diagonal-gaussian', 'shared-gaussian', 'plda', 'full-gaussian']
    """
    families = all_families()
    return [name for name in covariances().values() if families[name].auto_rank is not None]
