"""What the estimators share: prediction from fitted centres, and small conversions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin
from sklearn.base import TransformerMixin as _TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from maylink.engines.cpu import CpuEngine
from maylink.errors import MaylinkError
from maylink.families import Family, as_family

if TYPE_CHECKING:
    import pandas as pd

    from maylink.result import Result


class CenterClusterer(
    ClassNamePrefixFeaturesOutMixin, _TransformerMixin, ClusterMixin, BaseEstimator
):
    """An estimator whose clusters have centres: assigns, transforms and scores new points."""

    family: Family | str
    n_jobs: int | None
    family_: Family
    result_: Result
    labels_: NDArray[np.int64]
    n_clusters_: int

    def _engine(self, X: Any) -> CpuEngine:
        """Check new data against the fitted ones and give them an engine."""
        check_is_fitted(self)
        data = validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        self.family_.check(data)
        return CpuEngine(data, self.family_, self.n_jobs)

    def _nearest(self, X: Any) -> NDArray[np.int64]:
        engine = self._engine(X)
        return engine.assign(np.arange(engine.n), self.result_.centers)[0]

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the divergence of each point from each centre.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Points.

        Returns
        -------
        array of shape (n, K)
        """
        return self._engine(X).scores(self.result_.centers)

    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the sum of the divergences from the nearest centres; larger is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Points.
        y : ignored
            For scikit-learn.

        Returns
        -------
        float
        """
        engine = self._engine(X)
        return -float(engine.assign(np.arange(engine.n), self.result_.centers)[1].sum())

    @property
    def trace_(self) -> pd.DataFrame:
        """What each sweep did: objective, clusters, changes and link weights, as a table."""
        check_is_fitted(self)
        return self.result_.trace.to_frame()

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        family = as_family(self.family)
        tags.input_tags.sparse = family.accepts_sparse
        tags.input_tags.positive_only = not bool(np.all(family.allows(np.array([-1.0]))))
        return tags

    def _keep(self, X: Any, **attributes: Any) -> Self:
        """Set all fitted attributes at once, so that a failed fit leaves none behind."""
        validate_data(self, X, skip_check_array=True)
        for name, value in attributes.items():
            setattr(self, name, value)
        return self


def as_generator(random_state: Any) -> np.random.Generator:
    """Turn what scikit-learn calls ``random_state`` into a generator."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)


def check_number(name: str, value: Any, least: float, *, above: bool = False) -> None:
    """Raise unless value is a number of at least ``least``, or above it."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(
        value, bool
    )
    if not is_number or not (value > least if above else value >= least):
        relation = "above" if above else "of at least"
        raise MaylinkError(f"{name}: {value!r} is not a number {relation} {least:g}")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise unless value is one of the choices."""
    if value not in choices:
        raise MaylinkError(f"{name}: {value!r} is not one of {', '.join(map(repr, choices))}")
