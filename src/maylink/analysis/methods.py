"""Methods by name: makes and fits them, and chooses one where the user leaves that open.

The names are read from the names of files, and estimators and baselines are imported only inside
the functions that need them: ``maylink --help`` lists the names, and must not load NumPy, pandas
and Numba for that.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from maylink.errors import MaylinkError, not_one_of

if TYPE_CHECKING:
    import pandas as pd

    from maylink.arrays import Matrix
    from maylink.links import Links
    from maylink.model.posterior import Posterior

PACKAGE = Path(__file__).parents[1]


def _baseline_names() -> tuple[str, ...]:
    """Return the names of the baselines by reading their files, none of which is loaded.

    The class of a baseline is called as its file: ``cop_kmeans.py`` holds ``COPKMeans``.
    """
    names = []
    for file in sorted((PACKAGE / "baselines").glob("*.py")):
        name = file.stem.replace("_", "")
        pattern = rf"^class {name}\((?!NamedTuple)"
        if re.search(pattern, file.read_text(encoding="utf-8"), re.MULTILINE | re.IGNORECASE):
            names.append(name)
    return tuple(names)


def _family_names() -> tuple[str, ...]:
    """Return the families that a name alone makes by reading their files, none of which is loaded.

    A family is called as its file: ``von_mises_fisher.py`` holds ``"von-mises-fisher"``.
    """
    names = []
    for file in (PACKAGE / "families").glob("*.py"):
        name, text = file.stem.replace("_", "-"), file.read_text(encoding="utf-8")
        named = re.search(rf'^    name\b.* = "{name}"', text, re.MULTILINE)
        if named and not re.search(r"^    by_name\b.* = False", text, re.MULTILINE):
            names.append(name)
    return tuple(sorted(names))


AUTO = "auto"
ESTIMATORS = ("tvclust", "rdpmeans", "dpmeans", "spectralrdpmeans")
METHODS = (*ESTIMATORS, *_baseline_names())
"""The estimators and baselines, by the name of their class in small letters."""

FAMILIES = _family_names()
"""The library's families that can be asked for by name."""

WITH_PENALTY = "rdpmeans"
"""What "auto" stands for where a cluster penalty, or a hint at one, is given."""

CHOOSE_FAMILY = ("tvclust", "rdpmeans")
"""Methods that choose a family by themselves, and know gaps and columns of several kinds."""

ON_DASK = ("rdpmeans", "dpmeans", "tvclust")
"""Methods that run on Dask; the first is the one that "auto" takes there."""

SPREADS = 10.0  # how often the widest column may be as wide as the narrowest, in one unit


@dataclass(frozen=True)
class MethodLimits:
    """Sizes of data at which "auto" stands for another method."""

    many_numbers: int = 3_200_000  # in the data: with more, TVClust takes minutes


USUAL_LIMITS = MethodLimits()


class MethodPlan(NamedTuple):
    """A method and a family, and why these."""

    method: str
    family: str
    why: str


def plan(
    X: Matrix, method: str = AUTO, family: str = AUTO, *, limits: MethodLimits = USUAL_LIMITS
) -> MethodPlan:
    """Choose a method and a family where they are "auto".

    Parameters
    ----------
    X : array, CSR matrix or CodedTable of shape (n, d)
        The data.
    method : str, default "auto"
        One of ``METHODS``, or "auto": TVClust, or RDPMeans where TVClust would take minutes.
    family : str, default "auto"
        One of :func:`family_names`, or "auto": TVClust chooses by itself, and so does RDPMeans
        for tables and where rows are of unit length; otherwise Gaussian, with a variance for each
        column where the columns differ much in their spread, or proportions of counts where the
        data are a sparse matrix of whole numbers.
    limits : MethodLimits, optional
        Sizes of data at which "auto" stands for another method.

    Returns
    -------
    MethodPlan

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.analysis.methods import plan
    >>> plan(np.random.default_rng(0).normal(size=(50, 2))).method
    'tvclust'
    """
    _check_method(method, (AUTO, *METHODS))
    _check_family(family)
    why = "method given"
    if method == AUTO:
        n, d = X.shape
        large = _stored(X) > limits.many_numbers
        method = "rdpmeans" if large else "tvclust"
        why = (
            f"{n} rows × {d} columns: TVClust would take minutes, RDPMeans is much faster"
            if large
            else "it tells how reliable links are and how sure it is"
        )
    if family == AUTO and method != "tvclust":
        X, by_itself = (X.filled(), True) if is_table(X) else (X, _has_directions(X))
        family = AUTO if method in CHOOSE_FAMILY and by_itself else _usual_family(X)
    return MethodPlan(method, family, why)


def not_a_method(name: object, choices: Sequence[str] = METHODS) -> str:
    """Say that a word is no method, and which may be meant.

    Examples
    --------
    >>> not_a_method("K-Means", ("rdpmeans", "pckmeans", "plainkmeans"))
    "'K-Means' is not one of rdpmeans, pckmeans, plainkmeans (did you mean 'plainkmeans'?)"
    """
    letters = "".join(filter(str.isalnum, str(name).lower()))
    meant = f"plain{letters}" if f"plain{letters}" in choices else letters
    return not_one_of(name, choices, meant)


def is_table(X: Any) -> bool:
    """Say whether data are a table of :func:`maylink.read_table`."""
    return hasattr(X, "code") and hasattr(X, "filled")


def takes_tables(method: str) -> bool:
    """Say whether a method knows gaps and columns of several kinds."""
    return method in CHOOSE_FAMILY


def plan_on_dask(X: Any, method: str = AUTO, family: str = AUTO) -> MethodPlan:
    """Choose a method and a family for data on Dask, where they are "auto".

    Parameters
    ----------
    X : dask array of shape (n, d)
        The data; where a family is to be chosen they are read once, for the spread of the columns.
    method : str, default "auto"
        One of ``ON_DASK``, or "auto".
    family : str, default "auto"
        As in :func:`plan`.

    Returns
    -------
    MethodPlan
    """
    import numpy as np

    from maylink.runtime.dask import compute

    _check_method(method, (AUTO, *METHODS))
    _check_family(family)
    why = "method given"
    if method == AUTO:
        method, why = ON_DASK[0], "it runs on Dask, where a folder of data can stay"
    if method not in ON_DASK:
        raise MaylinkError(
            f"method: {method} needs all data in memory; of a folder, or a dask array, use one of "
            f"{', '.join(ON_DASK)}"
        )
    if family == AUTO and method != "tvclust":
        family = _family_of_spread(np.asarray(compute([X.std(axis=0)])[0][0]))
    return MethodPlan(method, family, why)


def make(name: str, family: str = AUTO, *, k: int | None = None, **settings: Any) -> Any:
    """Make an estimator by the name of its method.

    Parameters
    ----------
    name : str
        One of ``METHODS``.
    family : str, default "auto"
        Given to methods that have one.
    k : int, optional
        Number of clusters, for methods that must be told.
    **settings
        Given to methods that have a parameter of this name; left out for others.

    Returns
    -------
    estimator
        Not fitted.
    """
    _check_method(name, METHODS)
    cls = _class_of(name)
    parameters = inspect.signature(cls).parameters
    if family == AUTO and name not in CHOOSE_FAMILY:
        from maylink.families.registry import usual_family

        family = usual_family("real")
    wanted = {"family": family, **settings} | ({} if k is None else {"n_clusters": k})
    return cls(**{key: value for key, value in wanted.items() if key in parameters})


def family_names() -> tuple[str, ...]:
    """Return the families that can be asked for by name, with those that were registered.

    Examples
    --------
    >>> from maylink.analysis.methods import family_names
    >>> "gaussian" in family_names(), "product" in family_names()
    (True, False)
    """
    from maylink.families import all_families

    return tuple(sorted(name for name, cls in all_families().items() if cls.by_name))


def needs_k(name: str) -> bool:
    """Say whether a method must be told the number of clusters."""
    return "n_clusters" in inspect.signature(type(make(name))).parameters


def takes(name: str, parameter: str) -> bool:
    """Say whether a method has a parameter.

    Examples
    --------
    >>> from maylink.analysis.methods import takes
    >>> takes("rdpmeans", "cluster_penalty"), takes("tvclust", "cluster_penalty")
    (True, False)
    """
    return parameter in inspect.signature(_class_of(name)).parameters


def fit(model: Any, X: Any, links: Links | None) -> Any:
    """Fit a model, with links where it looks at them and there are any.

    Gaps of a table stand at the mean of their column for methods that know none.
    """
    from maylink.tuning.search_candidates import link_name

    if is_table(X) and not takes_tables(type(model).__name__.lower()):
        X = X.filled()
    if links is None or link_name(model) is None:
        return model.fit(X)
    return model.fit(X, links=links)


def unfitted_copy(model: Any) -> Any:
    """Return an unfitted copy with the same parameters.

    The copy of a TVClust has the family and the data weight that the fit chose; other methods
    choose again what was "auto".
    """
    from sklearn.base import clone

    copy = clone(model)
    if type(model).__name__ == "TVClust":
        return copy.set_params(
            family=model.family_, covariance="auto", data_weight=model.data_weight_
        )
    return copy


def link_posterior(model: Any, links: Links) -> Posterior:
    """Return the posterior of links under a fitted model, or one made of its partition.

    Parameters
    ----------
    model : estimator
        Fitted to the points of the links.
    links : Links
        The links.

    Returns
    -------
    Posterior
        ``model.posterior_`` where there is one; otherwise what the partition says.
    """
    from maylink.model.posterior import partition_posterior

    posterior: Posterior | None = getattr(model, "posterior_", None)
    return partition_posterior(model.labels_, links) if posterior is None else posterior


def suspect_links(model: Any, links: Links) -> pd.DataFrame:
    """Return the links that are more likely wrong than right, worst first."""
    from maylink.model.posterior import SUSPECT_LIMIT

    frame = link_posterior(model, links).suspects()
    return frame[frame["wrong"] > SUSPECT_LIMIT]


def suspect_labels(model: Any, links: Links) -> pd.DataFrame:
    """Return the labels that most labels of their cluster speak against, worst first."""
    from maylink.model import suspect_labels as labels
    from maylink.model.posterior import SUSPECT_LIMIT

    frame = labels.suspect_labels(link_posterior(model, links))
    return frame[frame["against"] > SUSPECT_LIMIT]


def _class_of(name: str) -> Any:
    """Return the class of a method; baselines load much, so they load only for a baseline."""
    if name in ESTIMATORS:
        from maylink import estimators

        classes: Mapping[str, type] = {key: getattr(estimators, key) for key in estimators.__all__}
    else:
        from maylink.baselines import all_baselines

        classes = all_baselines()
    return {key.lower(): value for key, value in classes.items()}[name]


def _has_directions(X: Matrix) -> bool:
    """Whether dense rows are of unit length, as those of texts and embeddings are."""
    from scipy import sparse

    from maylink.families.kinds import kinds_of

    return not sparse.issparse(X) and "directions" in kinds_of(X)


def _usual_family(X: Matrix) -> str:
    import numpy as np
    from scipy import sparse

    from maylink.families.kinds import kinds_of
    from maylink.families.registry import usual_family

    if sparse.issparse(X):
        return usual_family("counts" if "counts" in kinds_of(X) else "real")
    return _family_of_spread(np.array([float(X[:, at].std()) for at in range(X.shape[1])]))


def _family_of_spread(spread: Any) -> str:
    from maylink.families.registry import covariances, usual_family

    spread = spread[spread > 0]
    if spread.size and spread.max() > SPREADS * spread.min():
        return covariances()["diagonal"]
    return usual_family("real")


def _stored(X: Matrix) -> int:
    from scipy import sparse

    if is_table(X):
        return int(X.X.size)
    return int(X.nnz if sparse.issparse(X) else X.size)


def _check_method(method: str, choices: tuple[str, ...]) -> None:
    if method not in choices:
        raise MaylinkError(f"method: {not_a_method(method, choices)}")


def _check_family(family: str) -> None:
    if family == AUTO or family in FAMILIES:  # then there is no need to load the families
        return
    if family not in (names := (AUTO, *family_names())):
        raise MaylinkError(f"family: {not_one_of(family, names)}")
