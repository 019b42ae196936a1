"""The best of TVClust's candidates by its true F: what nobody could choose without labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.datasets import Dataset
from maylink.links import Links
from maylink.metrics import pair_f
from maylink.problem import check
from maylink.solvers.variational import VariationalSettings
from maylink.tuning.heavy_tails import with_tails
from maylink.tuning.settings import as_tuning
from maylink.tuning.tvclust import TVClustTuner
from maylink.tuning.tvclust_choice import TVClustRequest


class HindsightFit(NamedTuple):
    """The best candidate of a run, and how good all were."""

    labels: NDArray[np.int64]
    chosen: str  # "family, data weight"
    f_by_candidate: Mapping[str, float]


def best_in_hindsight(truth: Dataset, links: Links, rng: np.random.Generator) -> HindsightFit:
    """Fit every candidate that TVClust chooses among to all links and return the best by F."""
    tuning = as_tuning(None)
    request = TVClustRequest(
        "auto", "auto", "auto", None, VariationalSettings(), tuning.data_weights
    )
    problems = check(truth.X, links, request.families)
    tuner = TVClustTuner(with_tails(problems), request, tuning, rng, n_jobs=1)
    fits = tuner.fits(problems[0].links, VariationalSettings())
    tried = {candidate: fits.labels(candidate) for candidate in tuner.candidates}
    scores = {candidate: pair_f(truth.y, labels) for candidate, labels in tried.items()}
    best = max(scores, key=lambda candidate: scores[candidate])
    by_name = {f"{one.family}, {one.data_weight:g}": value for one, value in scores.items()}
    return HindsightFit(tried[best], f"{best.family}, {best.data_weight:g}", by_name)
