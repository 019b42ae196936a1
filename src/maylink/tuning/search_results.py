"""The results of a search, as scikit-learn lays them out: ``cv_results_``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index
from maylink.tuning.folds import Fold
from maylink.tuning.race import NO_SCORE
from maylink.tuning.scores import Score
from maylink.tuning.search_candidates import SearchContestant


def results_table(contestants: Sequence[SearchContestant], folds: Sequence[Fold]) -> dict[str, Any]:
    """Return the columns of ``cv_results_``, one entry a candidate.

    Parameters
    ----------
    contestants : sequence of SearchContestant
        All candidates, after the race.
    folds : sequence of Fold
        What they were fitted on and scored by.
    """
    votes = [fold.test.weight for fold in folds]
    scores = [one.score(votes) for one in contestants]
    rank = _ranks(contestants, scores)
    best = contestants[int(rank.argmin())]
    behind = [NO_SCORE if one.failure else best.ahead_of(one, votes) for one in contestants]
    return {
        "mean_fit_time": np.array([np.mean(one.seconds) for one in contestants]),
        "params": [one.candidate for one in contestants],
        **_parameter_columns(contestants),
        **_fold_columns(contestants, votes),
        "mean_test_score": np.array([score.mean for score in scores]),
        "std_error_test_score": np.array([score.error for score in scores]),
        "n_links": np.array([score.n_links for score in scores]),
        "n_folds": np.array([len(one.scores) for one in contestants]),
        "rank_test_score": rank,
        "mean_behind_best": np.array([score.mean for score in behind]),
        "std_error_behind_best": np.array([score.error for score in behind]),
        "failure": [one.failure for one in contestants],
    }


def _ranks(contestants: Sequence[SearchContestant], scores: Sequence[Score]) -> Index:
    """Rank by failure, then by how many folds a candidate came through, then by mean score."""
    order = [
        (one.failure is not None, -len(one.scores), -score.mean if np.isfinite(score.mean) else 0.0)
        for one, score in zip(contestants, scores, strict=True)
    ]
    return np.array([1 + sum(other < key for other in order) for key in order])


def _parameter_columns(contestants: Sequence[SearchContestant]) -> dict[str, Any]:
    """Return a column for each parameter, masked where a candidate does not set it."""
    columns: dict[str, Any] = {}
    for at, one in enumerate(contestants):
        for name, value in one.candidate.items():
            empty = np.ma.MaskedArray(np.empty(len(contestants), object), mask=True)
            columns.setdefault(f"param_{name}", empty)[at] = value
    return columns


def _fold_columns(
    contestants: Sequence[SearchContestant], votes: Sequence[Array]
) -> dict[str, NDArray[np.float64]]:
    """Return the mean score of each fold, NaN where a candidate was not in the race any more."""
    return {
        f"split{k}_test_score": np.array(
            [
                np.average(one.scores[k], weights=weight) if k < len(one.scores) else np.nan
                for one in contestants
            ]
        )
        for k, weight in enumerate(votes)
    }
