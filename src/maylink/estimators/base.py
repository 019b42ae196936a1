"""What all estimators share: the one flow of a fit, checks of new data, and fitted attributes."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from maylink.chunks import as_chunks, in_chunks, map_chunks
from maylink.data_forms import (
    CodedData,
    as_coded,
    as_data,
    chunks_refused,
    coded_as,
    header,
    warn_set_aside,
)
from maylink.errors import LinksError, MaylinkError
from maylink.estimators.asking import WARM, AsksQuestions
from maylink.estimators.display import FitDisplay
from maylink.estimators.tables import ROWS, FitTables, index_of
from maylink.estimators.verdict import Verdict, judge
from maylink.families import Family, as_family
from maylink.link_forms import LinksLike, as_links
from maylink.links import Links
from maylink.parameters import as_generator, as_time_budget, forbid_links_as_y, forbid_sample_weight
from maylink.problem import DataFacts, Problem, check
from maylink.runtime.interrupts import CtrlC
from maylink.runtime.session import Session
from maylink.runtime.threads import one_thread
from maylink.solvers.fit import Fit, Status
from maylink.tables.coding import TableCode

logger = logging.getLogger("maylink")
TUNING_SHARE = 0.6  # of the time budget that choosing may take; the rest is for the fit
Request = TypeVar("Request", bound="FamilyRequest")
Choice = TypeVar("Choice")
State = TypeVar("State")


class FamilyRequest(Protocol):
    """What the user asked for; it says which families are open to choice."""

    def families(self, data: DataFacts) -> Sequence[Family | str]:
        """Return the families."""


class DataChecks:
    """Checks of new data, and scikit-learn's tags, by the family of an estimator."""

    family: Family | str
    family_: Family

    def _new_data(self, X: Any) -> Any:
        """Check new data against those of the fit."""
        check_is_fitted(self)
        X = coded_as(X, getattr(self, "table_code_", None))
        data = as_data(X, self, gaps=self.family_.knows_gaps)
        validate_data(self, X, reset=False, skip_check_array=True)
        self.family_.check(data)
        return data

    def _data_to_score(self, X: Any, sample_weight: Any) -> Any:
        """Check new data that are to be scored."""
        forbid_sample_weight(sample_weight)
        if in_chunks(X):
            raise MaylinkError("X: score needs data in memory; give a sample of the rows")
        return self._new_data(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        if isinstance(self.family, str) and self.family == "auto":
            tags.input_tags.sparse = True
            tags.input_tags.allow_nan = True
            return tags
        try:
            family = as_family(self.family)
        except MaylinkError:  # fit will complain; a repr must not
            return tags
        tags.input_tags.sparse = family.accepts_sparse
        tags.input_tags.allow_nan = family.gaps in ("cells", "mixed")
        tags.input_tags.positive_only = not bool(np.all(family.allows(np.array([-1.0]))))
        return tags


class Estimator(
    FitDisplay,
    FitTables,
    DataChecks,
    AsksQuestions,
    ClusterMixin,
    BaseEstimator,
    Generic[Request, Choice, State],
):
    """An estimator whose fit is check → tune → solve → describe."""

    _parameter_objects: ClassVar[dict[str, Callable[[Any], Any]]] = {}
    """Parameters that hold parameters, and the functions that make objects of them."""

    takes_chunks: ClassVar[bool] = True
    """Whether data may be in chunks."""

    random_state: Any
    n_jobs: int | None = None
    verbose: bool = False
    time_budget: float | str | None = None

    def _fit(self, X: Any, y: Any, links: Any) -> Self:
        """Fit, in memory or in chunks; every estimator's ``fit`` is this."""
        forbid_links_as_y(y)
        request = self._request()
        coded = CodedData(X) if in_chunks(X) else as_coded(X)
        if in_chunks(X):
            self._check_chunks()
        problems = check(coded.X, links, request.families, self, coded.blocks)
        warn_set_aside(X, coded.code)
        with one_thread(), CtrlC(as_time_budget(self.time_budget)) as stop:
            rng = as_generator(self.random_state)
            session = Session(rng, self.n_jobs, bool(self.verbose), stop)
            with stop.sooner(TUNING_SHARE) as sooner:
                choice = self._tune(problems, request, replace(session, stop=sooner))
                was_cut = sooner.asked
            fit = self._solve(choice, request, session)
        if was_cut and not fit.status.is_early:
            fit = replace(fit, status=Status.OUT_OF_TIME)
        if fit.status.is_early:
            logger.info("%s: %s", type(self).__name__, fit.status)
        with one_thread():
            description = self._describe(choice, request, fit)
        return self._keep(problems[0].X if in_chunks(X) else X, description, coded.code)

    def _check_chunks(self) -> None:
        """Raise where parameters, or the estimator, need data in memory."""
        if not self.takes_chunks:
            raise chunks_refused()

    def _request(self) -> Request:
        """Check the parameters and return what is asked for."""
        raise NotImplementedError

    def _tune(self, problems: list[Problem], request: Request, session: Session) -> Choice:
        """Choose what the user left open: what "auto" stands for."""
        raise NotImplementedError

    def _solve(self, choice: Choice, request: Request, session: Session) -> Fit[State]:
        """Run the solver."""
        raise NotImplementedError

    def _describe(self, choice: Choice, request: Request, fit: Fit[State]) -> Any:
        """Return the fitted attributes as a frozen dataclass: ``labels`` becomes ``labels_``."""
        raise NotImplementedError

    def _keep(self, X: Any, description: Any, code: TableCode | None = None) -> Self:
        """Set all fitted attributes at once: none of a failed fit, none of an earlier one."""
        values = {
            f"{field.name}_": getattr(description, field.name) for field in fields(description)
        }
        keep_fitted(self, X, values, code)
        return self

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``inference__n_init=1`` reaches into the object of ``inference``."""
        for name, make in self._parameter_objects.items():
            value = params.get(name, getattr(self, name))
            inside = any(key.startswith(f"{name}__") for key in params)
            if inside and not hasattr(value, "get_params"):
                params[name] = clone(make(value))
        super().set_params(**params)
        return self

    def summary(self, *, links: Links | None = None, without_links: Any = None) -> Verdict:
        """Say in sentences whether the fit can be trusted, and what to do next; print it.

        Parameters
        ----------
        links : Links, optional
            The links of the fit, of estimators that do not keep them: then the summary counts links
            that look wrong.
        without_links : array-like of shape (n,), optional
            Labels of a fit without links; by default those that the choice of settings left.

        Returns
        -------
        Verdict
            See :mod:`maylink.estimators.verdict`.
        """
        check_is_fitted(self)
        return judge(self, links=links, without_links=without_links)

    def fit_predict(self, X: Any, y: Any = None, *, links: LinksLike | None = None) -> Any:
        """Cluster the rows of X and return their clusters; parameters as in :meth:`fit`."""
        return self.fit(X, y, links=links).labels_

    def _on_rows(
        self, X: Any, links: Any, work: Callable[..., Any], clusters: Any, width: int | None = None
    ) -> Any:
        """Return what ``work(rows, family, clusters, n_jobs)`` makes of new rows.

        Of data in chunks the result is a dask array, computed when it is asked for.
        """
        if not in_chunks(X):
            return work(self._new_data(X), self.family_, clusters, self.n_jobs)
        check_is_fitted(self)
        if links is not None:
            raise LinksError("links: predict takes them with data in memory only; leave it out")
        chunked = as_chunks(X)
        validate_data(self, chunked, reset=False, skip_check_array=True)
        return map_chunks(chunked, partial(_check_and_work, work, self.family_, clusters), width)


def _check_and_work(
    work: Callable[..., Any], family: Family, clusters: Any, rows: NDArray[Any]
) -> Any:
    family.check(rows)
    return work(rows, family, clusters, 1)


def keep_fitted(
    model: Any, X: Any, attributes: dict[str, Any], code: TableCode | None = None
) -> None:
    """Set all fitted attributes at once: none of a failed fit, none of an earlier one.

    ``X`` are the data as they came, and ``code`` says how their columns became numbers.
    """
    for name in [name for name in vars(model) if name.endswith("_") and name[0] != "_"]:
        delattr(model, name)
    vars(model).pop(WARM, None)
    validate_data(model, X if code is None else header(code), skip_check_array=True)
    for name, value in attributes.items():
        setattr(model, name, value)
    if code is not None:
        model.table_code_ = code
    setattr(model, ROWS, index_of(X))


def links_of_new_points(links: Any, n_known: int, n_new: int) -> Links | None:
    """Links over known and new points, from links over both or over the new ones alone."""
    if links is None:
        return None
    both = n_known + n_new
    size = links.n if isinstance(links, Links) else getattr(links, "shape", (0, 0))[0]
    if hasattr(links, "columns") or not hasattr(links, "shape") or size not in (n_new, both):
        raise LinksError(
            f"links: give a Links object (or a matrix) made for the {n_new} new points, or for "
            f"{both}: the {n_known} points of the fit first, then the new ones"
        )
    checked = as_links(links, size)
    return checked if size == both else checked.moved(n_known, both)


def warn_overlooked(family: Family, data: Any) -> None:
    """Warn about a column that varies, but did not in the first batch of a stream."""
    column = family.overlooked(data)
    if column is not None:
        warnings.warn(
            f"column {column} of X was constant in the first batch and so is left out for good; "
            "begin with a batch in which it varies",
            UserWarning,
            stacklevel=3,
        )
