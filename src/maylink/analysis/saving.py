"""Saved models: a fitted estimator as one file that is safe to load and outlives versions.

The file is a state of the kind "model" (:mod:`maylink.io.states`) with

* ``estimator``, the name of the class,
* ``parameters``, those of the constructor,
* ``fitted``, what the fit found,
* ``pipeline``, the steps before it, where it is the last of a pipeline of scikit-learn
  (:mod:`maylink.analysis.saved_pipelines`).

Fields that a later version of the same schema added are left out with a warning. What earlier
schemas called otherwise is renamed by the table in :mod:`maylink.analysis.renames`.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from maylink import estimators
from maylink.analysis.renames import upgraded
from maylink.analysis.saved_pipelines import as_steps, from_steps
from maylink.baselines import all_baselines
from maylink.engines.totals import Totals
from maylink.errors import FileError, MaylinkError, counted
from maylink.estimators.parameter_objects import Gibbs, Schedule, Variational
from maylink.families.columns import ColumnScales
from maylink.families.product import PartScales
from maylink.families.registry import records
from maylink.io.records import Decoder, classes_by_name, is_lazy_array
from maylink.io.states import OpenState, open_state, write_state
from maylink.model.draws import Draws
from maylink.model.known_neighbours import GraphSpace, KnownNeighbours
from maylink.model.mixture import Mixture
from maylink.model.partition_priors import (
    DirichletProcess,
    Microclustering,
    PitmanYor,
    UniformPartitions,
)
from maylink.model.posterior import (
    LinkedPosterior,
    SampledPosterior,
    StreamPosterior,
    VariationalPosterior,
)
from maylink.model.refined_posterior import RefinedPosterior
from maylink.model.reliability import LinkCounts
from maylink.problem import Problem
from maylink.solvers.fit import Ascent, Clustering, Fit, Parts, Status, Sweep, Trace
from maylink.solvers.means_stream import MeansStream
from maylink.solvers.spectral import SpectralCandidate
from maylink.solvers.variational import VariationalSettings
from maylink.solvers.variational_stream import VariationalStream
from maylink.tables.coding import ColumnCode, TableCode
from maylink.tables.text import TextView
from maylink.tuning.penalty import PenaltyStep
from maylink.tuning.scores import HeldOut
from maylink.tuning.settings import Tuning
from maylink.version import __version__
from maylink.views.embeddings import EmbeddingView

if TYPE_CHECKING:
    from maylink.io.data import Table

KIND = "model"
DATA = "problem_"  # the attribute that holds the data of a fit
CLASSES = (
    Ascent, Clustering, ColumnCode, ColumnScales, DirichletProcess, Draws, EmbeddingView, Fit,
    Gibbs, GraphSpace, HeldOut, KnownNeighbours, LinkCounts, LinkedPosterior, MeansStream,
    Microclustering, Mixture, PartScales, Parts, PenaltyStep, PitmanYor, Problem, RefinedPosterior,
    SampledPosterior, Schedule, SpectralCandidate, Status, StreamPosterior, Sweep, TableCode,
    TextView, Totals, Trace, Tuning, UniformPartitions, Variational, VariationalPosterior,
    VariationalSettings, VariationalStream,
)  # fmt: skip
"""What a saved model may hold besides families and their priors."""


def save(model: Any, path: str | Path, *, keep_data: bool = False, force: bool = False) -> Path:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : estimator
        A fitted estimator or baseline of maylink, or a pipeline of scikit-learn that ends in one.
    path : str or Path
        The file; ``.npz`` is the usual ending.
    keep_data : bool, default False
        Whether to store the data of the fit, too, where the model holds them; only
        :meth:`TVClust.log_joint` asks for them. Labels, links and draws are always stored, and so
        are the rows by which a fit with neighbours tells where new points belong: they are the data
        in another form.
    force : bool, default False
        Whether to write over a file that is there.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    MaylinkError
        If the model is not fitted, or holds what cannot be saved, for example a family of your own.
    FileError
        If the file is there and ``force`` is not set, or it cannot be written. Then nothing is.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import maylink as ml
    >>> data = ml.datasets.make_pattern("moons", rng=0)
    >>> model = ml.RDPMeans(random_state=0).fit(data.X)
    >>> path = ml.save(model, Path(tempfile.mkdtemp()) / "model.npz")
    >>> again = ml.load(path)
    >>> bool((again.predict(data.X) == model.predict(data.X)).all())
    True
    """
    pipeline = None
    if isinstance(model, Pipeline):
        pipeline, model = as_steps(model), model.steps[-1][1]
    cls: type = type(model)
    name = cls.__name__
    if known_estimators().get(name) is not cls:
        raise MaylinkError(
            f"model: a {name} cannot be saved, only maylink's own estimators can, and pipelines "
            "that end in one; of a search save the one inside"
        )
    fitted = {key: value for key, value in vars(model).items() if _is_fitted(key)}
    if "labels_" not in fitted:
        raise MaylinkError(f"model: this {name} is not fitted; call fit first")
    if not keep_data:
        fitted.pop(DATA, None)
    if isinstance(fitted.get("posterior_"), RefinedPosterior):
        fitted["posterior_"] = fitted["posterior_"].with_draws()
    if is_lazy_array(fitted.get("responsibilities_")):
        del fitted["responsibilities_"]  # computed from the data whenever they are asked for
    # An array that stands in several places gets the name of the attribute that users know.
    fitted = dict(sorted(fitted.items(), key=lambda item: not isinstance(item[1], np.ndarray)))
    values = {"estimator": name, "parameters": model.get_params(deep=False), "fitted": fitted}
    if pipeline is not None:
        values["pipeline"] = pipeline
    write_state(path, values, saved_classes(), kind=KIND, force=force)
    return Path(path)


def load(path: str | Path) -> Any:
    """Read a model that :func:`save` has written.

    Parameters
    ----------
    path : str or Path
        The file. It is safe to load a file that someone else wrote: nothing in it is run.

    Returns
    -------
    estimator
        As it was saved: it predicts to the bit what it did, where NumPy and SciPy are the same.

    Raises
    ------
    FileError
        If the file is not there, is not a saved model, is damaged, or is of a later schema.
    """
    with open_state(path, kind=KIND, upgrade=upgraded) as state:
        model = _model(state)
        if "pipeline" not in state.values:
            return model
        steps = state.decoder(saved_classes()).decode(state.values["pipeline"])
    return from_steps(steps, model, path)


def name_columns(model: Any, columns: Sequence[str]) -> None:
    """Note the names of the columns on a model that was fitted to a plain array.

    They are saved with it, and :func:`columns_for` checks new data by them.

    Parameters
    ----------
    model : estimator
        Fitted to dense data.
    columns : sequence of str
        One name a column.
    """
    if len(columns) != model.n_features_in_:
        raise MaylinkError(
            f"columns: {len(columns)} names for the {model.n_features_in_} columns of the fit"
        )
    model.feature_names_in_ = np.array(columns, object)


def columns_for(model: Any, table: Table) -> tuple[Any, str]:
    """Return the columns of a table that a model asks for, in its order, and how they were found.

    Parameters
    ----------
    model : estimator
        Fitted.
    table : Table
        New data.

    Returns
    -------
    X : DataFrame or array or CSR matrix of shape (n, d)
        A frame where the model knows the names of its columns.
    summary : str
        Whether names were checked, or only how many columns there are.

    Raises
    ------
    FileError
        If a column is missing, or the number of columns is another.
    """
    import pandas as pd

    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    generated = names == [f"x{at}" for at in range(len(names))]  # the file had no header
    missing = [name for name in names if name not in table.columns]
    if names and not missing:
        X = table.X
        if list(table.columns) != names:
            X = X[:, [table.columns.index(name) for name in names]]
        extra = len(table.columns) - len(names)
        more = f"; {extra} more left out" * bool(extra)
        summary = f"{counted(len(names), 'column')} found by name{more}"
    elif names and not generated:
        raise FileError(
            f"columns: the model asks for {missing[0]!r}, and the data have "
            f"{', '.join(map(repr, table.columns[:8]))}; give the columns of the fit"
        )
    else:
        n_asked = int(model.n_features_in_)
        if len(table.columns) != n_asked:
            raise FileError(
                f"columns: the model was fitted to {n_asked}, and the data have "
                f"{len(table.columns)}; give the columns of the fit"
            )
        X, summary = table.X, f"{n_asked} columns, as in the fit; the model knows no names to check"
    if not names or sparse.issparse(X):
        return X, summary
    return pd.DataFrame(X, columns=names, copy=False), summary


def filled_as_in_fit(model: Any, X: Any) -> tuple[Any, int]:
    """Return new data with missing cells at the medians of the fit, and how many they were.

    Parameters
    ----------
    model : estimator
        With ``medians_``, the median of each column, if missing cells of the fit were filled.
    X : DataFrame or array of shape (n, d)
        The columns of the fit, in its order.
    """
    medians = getattr(model, "medians_", None)
    if medians is None or sparse.issparse(X):
        return X, 0
    values = np.asarray(X, np.float64)
    gaps = np.isnan(values)
    if not gaps.any():
        return X, 0
    filled = np.where(gaps, medians, values)
    if hasattr(X, "columns"):
        filled = type(X)(filled, columns=X.columns, index=X.index)
    return filled, int(gaps.sum())


def known_estimators() -> Mapping[str, type]:
    """Return the classes that can be saved, by name: all estimators and all baselines."""
    main = {name: getattr(estimators, name) for name in estimators.__all__}
    return {**main, **all_baselines()}


def saved_classes() -> Mapping[str, type]:
    """Return the classes that a saved model may hold: families, priors, and what fits leave."""
    return classes_by_name(*records(), *CLASSES)


def _is_fitted(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _model(state: OpenState) -> Any:
    """Return the model of a file, and warn about fields that this version does not have."""
    name = state.values["estimator"]
    cls = known_estimators().get(name)
    if cls is None:
        raise FileError(
            f"{state.path}: holds a {name!r}, written by maylink {state.version}; this is maylink "
            f"{__version__}, which has none"
        )
    decoder = state.decoder(saved_classes())
    model, unknown = _rebuilt(cls, state, decoder)
    unknown = [*state.unknown_keys, *unknown, *decoder.unknown_fields]
    if unknown:
        shown = ", ".join(sorted(set(unknown))[:5])
        warnings.warn(
            f"{state.path}: written by maylink {state.version}, with fields that this version does "
            f"not know and leaves out: {shown}",
            UserWarning,
            stacklevel=3,
        )
    return model


def _rebuilt(cls: type, state: OpenState, decoder: Decoder) -> tuple[Any, list[str]]:
    """Return the model, and the parameters and attributes that this version does not have."""
    parameters, fitted = (state.values[part]["dict"] for part in ("parameters", "fitted"))
    names = inspect.signature(cls).parameters
    unknown = [f"parameters.{key}" for key in parameters if key not in names]
    model = cls(**{key: decoder.decode(tree) for key, tree in parameters.items() if key in names})
    for key, tree in fitted.items():
        if isinstance(getattr(cls, key, None), property):
            continue  # it was stored once, and now is computed from what else is there
        if not _is_fitted(key) or hasattr(cls, key):  # never over a method
            unknown.append(f"fitted.{key}")
            continue
        setattr(model, key, decoder.decode(tree))
    _check_labels(model)
    return model, unknown


def _check_labels(model: Any) -> None:
    """Refuse labels out of range: kernels trust them."""
    draws = getattr(model, "draws_", None)
    draws = getattr(draws, "labels", draws)
    for name, labels, below in (
        ("labels_", model.labels_, model.n_clusters_),
        ("draws_", draws, model.labels_.size),
    ):
        if labels is None or labels.size == 0:
            continue
        if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= below:
            raise MaylinkError(f"{name} is out of range")
