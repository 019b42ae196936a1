"""Pipelines of scikit-learn in saved models: their steps as arrays and plain values, no pickle.

A step is stored as its class, its parameters and its fitted attributes. That is safe and exact for
transformers whose state is arrays and numbers, and these are listed. scikit-learn does not promise
that attributes stay the same from version to version, so a file tells its version.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import sklearn
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

from maylink.errors import FileError, MaylinkError

STEPS = {
    cls.__name__: cls
    for cls in (
        MaxAbsScaler, MinMaxScaler, Normalizer, PCA, RobustScaler, SimpleImputer, StandardScaler,
        TruncatedSVD,
    )
}  # fmt: skip
"""The transformers that can be saved."""

NO_STEP = (None, "passthrough")


def as_steps(pipeline: Pipeline) -> dict[str, Any]:
    """Return all steps of a pipeline but the last, as values that can be stored.

    Raises
    ------
    MaylinkError
        If a step cannot be saved.
    """
    steps = []
    for name, step in pipeline.steps[:-1]:
        if step in NO_STEP:
            continue
        cls = type(step)
        if STEPS.get(cls.__name__) is not cls:
            raise MaylinkError(
                f"model: step {name!r} of the pipeline is a {cls.__name__}, which cannot be saved, "
                f"only {', '.join(sorted(STEPS))} can; save the last step, "
                "ml.save(pipeline[-1], path), and the others by other means"
            )
        parameters = step.get_params(deep=False)
        state = {key: value for key, value in vars(step).items() if key not in parameters}
        types = {key: value.str for key, value in state.items() if isinstance(value, np.dtype)}
        rest = {key: value for key, value in state.items() if key not in types}
        steps.append([name, cls.__name__, parameters, rest, types])
    return {"steps": steps, "last": pipeline.steps[-1][0], "sklearn": sklearn.__version__}


def from_steps(values: Mapping[str, Any], last: Any, path: Any) -> Pipeline:
    """Return a pipeline of stored steps that ends in an estimator."""
    if values["sklearn"] != sklearn.__version__:
        warnings.warn(
            f"{path}: a pipeline of scikit-learn {values['sklearn']}, and this is "
            f"{sklearn.__version__}; check its predictions",
            UserWarning,
            stacklevel=4,
        )
    steps = []
    for name, kind, parameters, state, types in values["steps"]:
        if kind not in STEPS:
            raise FileError(f"{path}: holds a step {kind!r}, which this version does not know")
        step = STEPS[kind](**parameters)
        vars(step).update(state | {key: np.dtype(value) for key, value in types.items()})
        steps.append((name, step))
    return Pipeline([*steps, (values["last"], last)])
