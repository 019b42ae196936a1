"""What a fit found, in a few fields: settings, sizes of clusters, reliability, suspect links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from maylink.analysis import methods
from maylink.analysis.methods import MethodPlan
from maylink.estimators.verdict import Verdict, judge
from maylink.links import Links

SUSPECT_COLUMNS = ("i", "j", "kind", "weight", "source", "wrong")


@dataclass(frozen=True)
class FitSummary:
    """A fit in a few fields, which are also those of ``maylink cluster --json``.

    Parameters
    ----------
    rows : int
        Number of points.
    dtype : str
        Precision of the data.
    columns : list of str
        Names of the columns.
    links : int
        Number of links.
    method, why : str
        The class of the estimator, and why this one.
    family : str or None
        The family of the fit.
    data_weight, cluster_penalty : float or None
        γ and λ of the fit, where the method has them.
    chosen_by : str or None
        How the settings were chosen.
    clusters : int
        Number of clusters.
    sizes : list of int
        Points of each cluster.
    reliability : dict
        By source, p and q with their intervals and votes.
    suspects : int
        Number of links that are more likely wrong than right.
    status : str
        Why the fit ended.
    verdict : dict
        The fields of :class:`maylink.estimators.verdict.Verdict`.
    """

    rows: int
    dtype: str
    columns: list[str]
    links: int
    method: str
    why: str
    family: str | None
    data_weight: float | None
    cluster_penalty: float | None
    chosen_by: str | None
    clusters: int
    sizes: list[int]
    reliability: dict[str, dict[str, float]]
    suspects: int
    status: str
    verdict: dict[str, Any]


class FitDescription(NamedTuple):
    """A summary, and the table of links that are more likely wrong than right."""

    summary: FitSummary
    suspects: pd.DataFrame


class LinkJudgement(NamedTuple):
    """What a fit says about links: p and q by source, and suspect links."""

    reliability: dict[str, dict[str, float]]
    suspects: pd.DataFrame


def describe_fit(
    model: Any,
    X: Any,
    columns: Sequence[str],
    plan: MethodPlan,
    links: Links | None,
    without_links: Any = None,
) -> FitDescription:
    """Describe a fit to data in memory.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array or CSR matrix of shape (n, d)
        The data.
    columns : sequence of str
        Names of the columns.
    plan : MethodPlan
        Why this method was fitted.
    links : Links or None
        The links of the fit.
    without_links : array of shape (n,), optional
        Labels of a fit without links.

    Returns
    -------
    FitDescription
    """
    judgement = _judge(model, links)
    sizes = np.bincount(model.labels_).tolist()
    verdict = judge(model, links=links, without_links=without_links)
    return _described(model, X, columns, plan, links, sizes, judgement, verdict)


def describe_fit_on_dask(
    model: Any, X: Any, columns: Sequence[str], plan: MethodPlan, links: Links | None
) -> FitDescription:
    """Describe a fit to a dask array; labels of points without links stay on the workers.

    Parameters and result are those of :func:`describe_fit`.
    """
    import dask.array

    from maylink.runtime.dask import compute

    linked_rows = np.empty(0, int) if links is None else np.flatnonzero(links.touches())
    lazy_sizes = dask.array.bincount(model.labels_, minlength=model.n_clusters_)
    sizes, labels = compute([lazy_sizes, model.labels_[linked_rows]])[0]
    if links is None or hasattr(model, "posterior_"):
        judgement = _judge(model, links)
    else:
        judgement = _judge(SimpleNamespace(labels_=labels), links[linked_rows])
        rows_of_ends = {end: linked_rows[judgement.suspects[end].to_numpy(int)] for end in "ij"}
        judgement = judgement._replace(suspects=judgement.suspects.assign(**rows_of_ends))
    verdict = judge(model, links=links)
    return _described(model, X, columns, plan, links, sizes.tolist(), judgement, verdict)


def _judge(model: Any, links: Links | None) -> LinkJudgement:
    if links is None or links.n_links == 0:
        return LinkJudgement({}, pd.DataFrame(columns=list(SUSPECT_COLUMNS)))
    table = methods.link_posterior(model, links).reliability()
    by_source = {str(name): dict(row) for name, row in table.iterrows()}
    return LinkJudgement(by_source, methods.suspect_links(model, links))


def _described(
    model: Any,
    X: Any,
    columns: Sequence[str],
    plan: MethodPlan,
    links: Links | None,
    sizes: list[int],
    judgement: LinkJudgement,
    verdict: Verdict,
) -> FitDescription:
    family = getattr(model, "family_", None)
    summary = FitSummary(
        rows=int(X.shape[0]),
        dtype=str(X.dtype),
        columns=list(columns),
        links=0 if links is None else links.n_links,
        method=type(model).__name__,
        why=plan.why,
        family=None if family is None else family.word,
        data_weight=getattr(model, "data_weight_", None),
        cluster_penalty=getattr(model, "cluster_penalty_", None),
        chosen_by=getattr(model, "chosen_by_", None),
        clusters=int(model.n_clusters_),
        sizes=sizes,
        reliability=judgement.reliability,
        suspects=len(judgement.suspects),
        status=str(getattr(model, "status_", "converged")),
        verdict=vars(verdict),
    )
    return FitDescription(summary, judgement.suspects)
