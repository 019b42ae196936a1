"""What links are worth: contradictions, coverage, doubtful links, and which to collect next.

Everything but the plain counts comes from one fit, and the held-out score from a few more. In
these a TVClust keeps what the first has chosen by all links; other methods choose again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from maylink.analysis import methods
from maylink.analysis.comparison import held_out_score
from maylink.analysis.source_counts import count_by_source
from maylink.errors import counted
from maylink.estimators.verdict_advice import about_sources, unlike_sources
from maylink.links import MAY, Links
from maylink.tuning.folds import LinkFolds, n_judgements
from maylink.tuning.settings import as_tuning

if TYPE_CHECKING:
    import pandas as pd

    from maylink.model.posterior import Posterior

WIDE_INTERVAL = 0.2  # of p or q, above which the reliability of a source is not known well
FEW_LINKS = 20  # of a source, below which more are asked for
# Probability of another cluster: below the first there is nothing to ask, above the second a point
# is between clusters.
ASK_FROM, BETWEEN_FROM = 0.01, 0.1
# The same for closeness to another cluster, of methods without probabilities.
ASK_FROM_CLOSENESS, BETWEEN_FROM_CLOSENESS = 0.25, 0.4


@dataclass(frozen=True)
class Diagnosis:
    """What is known about links.

    Parameters
    ----------
    n_points, n_linked : int
        Points, and those with a link.
    n_links, n_may, n_pairs : int
        Links, may links among them, and pairs that carry a link.
    n_components, largest_component : int
        Groups of two points or more that may links join, and the points of the largest.
    conflicts : DataFrame
        The first of them; see :meth:`Links.conflicts`.
    n_conflicts : int
        How many contradictions there are in all.
    sources : DataFrame
        For each source: links, p and q with 95% intervals, and the votes behind them.
    suspects : DataFrame
        Links more likely wrong than right, worst first.
    held_out, held_out_error : float
        Mean log probability of a held-out link, and its standard error; NaN if there are too few,
        or a fit without them failed.
    guess : float
        Mean log probability of a held-out link by how often each source says may, and nothing else.
    n_between : int
        Points between clusters that have no link.
    pairs : DataFrame
        Pairs to judge next: i, j and ``together``, the probability of one cluster, the most
        uncertain first. A method without probabilities goes by how close the next cluster is, and
        ``together`` is NaN.
    method, chosen_by : str
        The method that was fitted, and how its settings were chosen.
    n_clusters : int
        Clusters of the fit.
    findings, advice : tuple of str
        What the figures mean, and what to do, in sentences.
    held_out_failure : str
        Why held-out links could not be predicted; "" where no fit failed.
    suspect_labels : DataFrame, optional
        Labels that most labels of their cluster speak against, worst first: ``point``, ``source``
        and ``against``. Of sources that are labels.
    n_judgements : int
        Pairs that carry a link, but of sources that are labels the labels.
    """

    n_points: int
    n_linked: int
    n_links: int
    n_may: int
    n_pairs: int
    n_components: int
    largest_component: int
    conflicts: pd.DataFrame
    n_conflicts: int
    sources: pd.DataFrame
    suspects: pd.DataFrame
    held_out: float
    held_out_error: float
    guess: float
    n_between: int
    pairs: pd.DataFrame
    method: str
    chosen_by: str
    n_clusters: int
    findings: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    held_out_failure: str = ""
    suspect_labels: pd.DataFrame | None = None
    n_judgements: int = 0

    @property
    def enough(self) -> bool:
        """Whether there are links enough to choose settings by holding some out."""
        return self.n_judgements >= as_tuning(None).fewest_pairs


def diagnose(
    X: Any, links: Links, model: Any = None, *, n_pairs: int = 10, seed: int = 0
) -> Diagnosis:
    """Say what links are worth for these data, and which to collect next.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The data.
    links : Links
        The links.
    model : estimator, optional
        Fitted to both; what :func:`maylink.analysis.methods.plan` chooses is fitted if not given.
    n_pairs : int, default 10
        How many pairs to suggest.
    seed : int, default 0
        Seed of everything that is random.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> import maylink as ml
    >>> from maylink.analysis.link_quality import diagnose
    >>> draw = ml.datasets.make_two_view(60, rng=3)
    >>> diagnosis = diagnose(draw.X, draw.links)
    >>> diagnosis.enough, diagnosis.n_links, diagnosis.held_out > diagnosis.guess
    (True, 120, True)
    """
    if model is None:
        plan = methods.plan(X)
        model = methods.make(plan.method, plan.family, random_state=seed)
        methods.fit(model, X, links)
    conflicts = links.conflicts()
    score = held_out_score(model, X, links, seed)
    uncertainty = _uncertainty(model, X)
    component_sizes = _component_sizes(links)
    diagnosis = Diagnosis(
        n_points=links.n,
        n_linked=int(links.touches().sum()),
        n_links=links.n_links,
        n_may=int((links.kind == MAY).sum()),
        n_pairs=int(np.unique(links.pair_keys).size),
        n_components=int(component_sizes.size),
        largest_component=int(component_sizes.max(initial=0)),
        conflicts=conflicts,
        n_conflicts=int(conflicts.attrs["total"]),
        sources=_source_table(links, methods.link_posterior(model, links)),
        suspects=methods.suspect_links(model, links),
        held_out=score.mean,
        held_out_error=score.error,
        held_out_failure=score.failure,
        suspect_labels=methods.suspect_labels(model, links),
        n_judgements=n_judgements(links),
        guess=_guess_score(links, seed),
        n_between=int((uncertainty.between & ~links.touches()).sum()),
        pairs=_pairs_to_judge(model, links, uncertainty, n_pairs),
        method=type(model).__name__,
        chosen_by=str(getattr(model, "chosen_by_", "given")),
        n_clusters=int(model.n_clusters_),
    )
    return _with_findings(diagnosis)


def _component_sizes(links: Links) -> NDArray[np.int64]:
    """Return the sizes of the groups of points that may links join."""
    i, j = links.may.T
    graph = sparse.coo_array((np.ones(i.size), (i, j)), shape=links.shape)
    sizes = np.bincount(csgraph.connected_components(graph, directed=False)[1])
    return np.asarray(sizes[sizes > 1], np.int64)


def _source_table(links: Links, posterior: Posterior) -> pd.DataFrame:
    frame = posterior.reliability()
    counts = count_by_source(links)
    frame.insert(0, "links", [count.links for count in counts])
    frame.insert(1, "may", [count.may for count in counts])
    return frame


def _guess_score(links: Links, seed: int) -> float:
    """Return the mean log probability of a held-out link, by how often its source says may."""
    tuning = as_tuning(None)
    if not tuning.can_hold_out(links):
        return float("nan")
    total = votes = 0.0
    for fold in LinkFolds(tuning.n_folds, random_state=seed).split(links):
        size = 2 * len(links.sources)
        counts = 1.0 + np.bincount(fold.train.classes, fold.train.weight, minlength=size)
        probability = counts / counts.reshape(-1, 2).sum(axis=1).repeat(2)
        total += float(fold.test.weight @ np.log(probability[fold.test.classes]))
        votes += float(fold.test.weight.sum())
    return total / votes


class Uncertainty(NamedTuple):
    """How near each point is to being in another cluster."""

    of_point: NDArray[np.float64]  # 0 to ½
    ask_from: float  # from which it is worth asking about a point
    between: NDArray[np.bool_]  # whether a point is between clusters
    is_probability: bool


def _uncertainty(model: Any, X: Any) -> Uncertainty:
    """Return probabilities of another cluster, or else how close the next cluster is.

    Closeness is d₁ / (d₁ + d₂), of the divergences from the nearest two centres: no probability.
    """
    if hasattr(model, "responsibilities_"):
        other = np.asarray(np.minimum(0.5, 1.0 - model.responsibilities_.max(axis=1)))
        return Uncertainty(other, ASK_FROM, other > BETWEEN_FROM, is_probability=True)
    close = _closeness(model, X)
    return Uncertainty(
        close, ASK_FROM_CLOSENESS, close > BETWEEN_FROM_CLOSENESS, is_probability=False
    )


def _closeness(model: Any, X: Any) -> NDArray[np.float64]:
    if model.n_clusters_ < 2 or not hasattr(model, "transform"):
        return np.zeros(len(model.labels_))
    nearest_two = np.partition(np.maximum(model.transform(X), 0.0), 1, axis=1)[:, :2]
    total = nearest_two.sum(axis=1)
    closeness = np.zeros(len(nearest_two))
    return np.asarray(np.divide(nearest_two[:, 0], total, out=closeness, where=total > 0))


def _pairs_to_judge(model: Any, links: Links, uncertainty: Uncertainty, count: int) -> pd.DataFrame:
    """Pair each uncertain point with the most certain point of the same cluster."""
    import pandas as pd

    labels = np.asarray(model.labels_)
    values = uncertainty.of_point
    order = np.lexsort((-links.degree, values))  # the most certain first, then the most linked
    most_certain = {int(labels[at]): int(at) for at in order[::-1]}
    judged_pairs = set(links.pair_keys.tolist())
    rows: list[tuple[int, int, float]] = []
    for at in np.argsort(-values, kind="stable").tolist():
        other = most_certain[int(labels[at])]
        low, high = min(at, other), max(at, other)
        if len(rows) == count or values[at] < uncertainty.ask_from:
            break
        if low != high and low * links.n + high not in judged_pairs:
            rows.append((at, other, 1.0 - values[at] if uncertainty.is_probability else np.nan))
    frame = pd.DataFrame(rows, columns=["i", "j", "together"])
    if len(frame) and uncertainty.is_probability and hasattr(model, "coclustering"):
        frame["together"] = model.coclustering(frame[["i", "j"]].to_numpy(np.int64))
        frame = frame.sort_values("together", key=lambda c: (c - 0.5).abs(), kind="stable")
    return frame.reset_index(drop=True)


# ---------------------------------------------------------------------- in sentences


def _with_findings(diagnosis: Diagnosis) -> Diagnosis:
    sources = [(str(name), row) for name, row in diagnosis.sources.iterrows()]
    wide = [name for name, row in sources if _interval_width(row) > WIDE_INTERVAL]
    few = [name for name, row in sources if row["links"] < FEW_LINKS]
    return replace(
        diagnosis,
        findings=tuple(_findings(diagnosis, wide)),
        advice=tuple(_advice(diagnosis, list(dict.fromkeys([*few, *wide])))),
    )


def _interval_width(row: Any) -> float:
    return float(max(row["p_high"] - row["p_low"], row["q_high"] - row["q_low"]))


def _findings(diagnosis: Diagnosis, wide: list[str]) -> list[str]:
    """Return what the figures mean; ``wide`` are sources whose reliability is not known well."""
    judged = diagnosis.n_judgements
    what = "linked pairs" if judged == diagnosis.n_pairs else "linked pairs and labels"
    pairs = counted(judged, "linked pair is", f"{what} are")
    if diagnosis.enough:
        findings = [f"{pairs} enough to choose settings by held-out links"]
    else:
        fewest = as_tuning(None).fewest_pairs
        findings = [
            f"{pairs} fewer than {fewest}: nothing can be held out, so settings "
            "were not chosen by links"
        ]
    if diagnosis.held_out_failure:
        findings.append(f"held-out links could not be predicted: {diagnosis.held_out_failure}")
    if np.isfinite(diagnosis.held_out):
        findings.append(_held_out_finding(diagnosis))
    if wide:
        findings.append(
            f"reliability is not known to ±{WIDE_INTERVAL / 2:g} for "
            f"source{'s' * (len(wide) > 1)} {', '.join(wide)}"
        )
    if diagnosis.n_conflicts:
        count = counted(diagnosis.n_conflicts, "contradiction")
        are = "it is" if diagnosis.n_conflicts == 1 else "they are"
        findings.append(f"{count}; {are} weighed, not an error")
    if len(diagnosis.suspects):
        fraction = len(diagnosis.suspects) / diagnosis.n_links
        count = counted(len(diagnosis.suspects), "link looks", "links look")
        findings.append(f"{count} wrong ({fraction:.0%})")
    if diagnosis.suspect_labels is not None and len(diagnosis.suspect_labels):
        count = counted(len(diagnosis.suspect_labels), "label looks", "labels look")
        findings.append(f"{count} wrong, with all their links")
    return findings


def _held_out_finding(diagnosis: Diagnosis) -> str:
    figures = (
        f"{diagnosis.held_out:.3f} ± {diagnosis.held_out_error:.3f} a link, "
        f"guess {diagnosis.guess:.3f}"
    )
    if diagnosis.held_out - diagnosis.guess > 2 * diagnosis.held_out_error:
        return f"held-out links are predicted better than by a guess ({figures})"
    return f"held-out links are not predicted clearly better than by a guess ({figures})"


def _advice(diagnosis: Diagnosis, uncertain_sources: list[str]) -> list[str]:
    advice = []
    if not diagnosis.enough:
        missing = as_tuning(None).fewest_pairs - diagnosis.n_judgements
        pairs = counted(missing, "more pair", "more pairs")
        advice.append(f"judge {pairs} or more, so that links can choose the settings")
    many = diagnosis.sources[diagnosis.sources["links"] >= FEW_LINKS]
    advice += [
        f"collect more links of source {name}: how reliable it is cannot be told well yet"
        for name in uncertain_sources
        if not about_sources(many[many.index.astype(str) == name])
    ]
    told = about_sources(many) + unlike_sources(many)
    advice += [_in_small_letters(sentence) for sentence in told]
    if len(diagnosis.pairs):
        advice.append("judge the pairs below: the model is least sure of them")
    else:
        advice.append("no pair is in doubt under the model; judge random pairs to test that")
    if diagnosis.n_between:
        points = counted(diagnosis.n_between, "point lies", "points lie")
        one = diagnosis.n_between == 1
        has = "has no link: begin with it" if one else "have no link: begin with these"
        advice.append(f"{points} between clusters and {has}")
    return advice


def _in_small_letters(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:].removesuffix(".")
