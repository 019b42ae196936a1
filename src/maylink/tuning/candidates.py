"""Candidates: the families that are open to choice, by what the user gave and what the values are.

Families say themselves which kind of data they are for and whether "auto" tries them
(:class:`maylink.families.Family`); here they are asked.
"""

from __future__ import annotations

from collections.abc import Callable

from maylink.families import Family, Gaussian, all_families
from maylink.families.registry import covariances

AUTO = "auto"


def candidates(
    family: Family | str,
    covariance: str,
    kinds: Callable[[], frozenset[str]],
    *,
    is_sparse: bool = False,
) -> list[tuple[str, Family | str]]:
    """Return the families that are open to choice, by name, the plainest first.

    Parameters
    ----------
    family : Family or str
        What the user gave; "auto" leaves it open, "gaussian" leaves the covariance open.
    covariance : str
        What the user gave, or "auto".
    kinds : callable
        Returns the kinds of data that the values could be; called only where they decide.
    is_sparse : bool, default False
        Whether the data are sparse.

    Examples
    --------
    >>> from maylink.tuning.candidates import candidates
    >>> candidates("gaussian", "full", frozenset)
    [('full-gaussian', 'full-gaussian')]
    """
    if isinstance(family, Family):
        return [(family.name, family)]
    if covariance != AUTO:
        names = [covariances()[covariance]]
    elif family == AUTO:
        names = possible(kinds(), is_sparse=is_sparse)
    elif family == Gaussian.name:
        families = all_families()
        names = [name for name in gaussians() if families[name].accepts_sparse or not is_sparse]
    else:
        names = [family]
    return [(name, name) for name in names]


def possible(kinds: frozenset[str], *, is_sparse: bool = False) -> list[str]:
    """Return the families that could describe the data, by the kinds that the values could be.

    All dense data may be real. Whole numbers from 0 up may be counts, too; of ones and zeros a
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


def gaussians() -> list[str]:
    """Return the Gaussian families that may be chosen, the plainest first.

    Examples
    --------
    >>> from maylink.tuning.candidates import gaussians
    >>> gaussians()
    ['gaussian', 'diagonal-gaussian', 'shared-gaussian', 'full-gaussian']
    """
    families = all_families()
    return [name for name in covariances().values() if families[name].auto_rank is not None]
