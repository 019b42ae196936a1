"""What links are worth: contradictions, coverage, doubtful links, and which to collect next.

Everything but the plain counts comes from one fit, and the held-out score from four more. Of a
TVClust these are told what the first has chosen by all links; other methods choose again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from maylink.analysis import methods
from maylink.analysis.comparison import held_out
from maylink.links import MAY, Links
from maylink.tuning import race
from maylink.tuning.folds import LinkFolds

if TYPE_CHECKING:
    import pandas as pd

    from maylink.model.posterior import Posterior

WIDE = 0.2  # width of an interval of p or q above which a source is not known well
FEW = 20  # links of a source
SURE = 0.01  # probability of being in another cluster below which there is nothing to ask
DOUBT = 0.1  # probability of being in another cluster above which a point is between clusters
FAR = 0.25  # closeness to another cluster below which there is nothing to ask
NEAR = 0.4  # closeness to another cluster above which a point is between clusters


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
        See :meth:`Links.conflicts`; ``n_conflicts`` tells how many there are in all.
    n_conflicts : int
        Contradictions.
    sources : DataFrame
        Of each source its links, p and q with 95% intervals, and the votes behind them.
    suspects : DataFrame
        Links more likely wrong than right, worst first.
    held_out, held_out_error : float
        Mean log probability of a held-out link, and its standard error; NaN if there are too few,
        or a fit without them failed.
    guess : float
        The same for who knows nothing but how often each source says may.
    n_between : int
        Points between clusters that have no link.
    pairs : DataFrame
        Pairs to judge next: i, j and ``together``, the probability of one cluster, the most
        uncertain first. A method without probabilities goes by how close the next cluster is, and
        ``together`` is NaN.
    method, chosen_by : str
        Of the fit behind it.
    n_clusters : int
        Clusters that it found.
    findings, advice : tuple of str
        What that means, and what to do, in sentences.
    held_out_failure : str
        Why held-out links could not be predicted; "" where no fit failed.
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

    @property
    def enough(self) -> bool:
        """Whether there are links enough to choose settings by holding some out."""
        return self.n_pairs >= race.FEWEST


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
        Of everything that is random.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> import maylink as ml
    >>> from maylink.analysis.link_quality import diagnose
    >>> draw = ml.datasets.make_two_view(60, rng=3)
    >>> found = diagnose(draw.X, draw.links)
    >>> found.enough, found.n_links, found.held_out > found.guess
    (True, 120, True)
    """
    if model is None:
        chosen = methods.plan(X)
        model = methods.make(chosen.method, chosen.family, random_state=seed)
        methods.fit(model, X, links)
    known = methods.knowledge(model, links)
    conflicts = links.conflicts()
    judged = held_out(model, X, links, seed)
    doubt = _doubt(model, X)
    joined = _components(links)
    found = Diagnosis(
        n_points=links.n,
        n_linked=int(links.touches().sum()),
        n_links=links.n_links,
        n_may=int((links.kind == MAY).sum()),
        n_pairs=int(np.unique(links.pair_keys).size),
        n_components=int(joined.size),
        largest_component=int(joined.max(initial=0)),
        conflicts=conflicts,
        n_conflicts=int(conflicts.attrs["total"]),
        sources=_sources(links, known),
        suspects=methods.suspects(model, links),
        held_out=judged.mean,
        held_out_error=judged.error,
        held_out_failure=judged.failure,
        guess=_guess(links, seed),
        n_between=int(((doubt.of > doubt.between) & ~links.touches()).sum()),
        pairs=_pairs_to_judge(model, links, doubt, n_pairs),
        method=type(model).__name__,
        chosen_by=str(getattr(model, "chosen_by_", "given")),
        n_clusters=int(model.n_clusters_),
    )
    return _with_words(found)


def _components(links: Links) -> NDArray[np.int64]:
    """Return the sizes of the groups of points that may links join."""
    i, j = links.may.T
    graph = sparse.coo_array((np.ones(i.size), (i, j)), shape=links.shape)
    sizes = np.bincount(csgraph.connected_components(graph, directed=False)[1])
    return np.asarray(sizes[sizes > 1], np.int64)


def _sources(links: Links, known: Posterior) -> pd.DataFrame:
    frame = known.reliability()
    count = np.bincount(links.source, minlength=len(links.sources))
    may = np.bincount(links.source[links.kind == MAY], minlength=len(links.sources))
    frame.insert(0, "links", count)
    frame.insert(1, "may", may)
    return frame


def _guess(links: Links, seed: int) -> float:
    """Return the mean log probability of a held-out link, by how often its source says may."""
    if not race.enough(links):
        return float("nan")
    total = votes = 0.0
    for fold in LinkFolds(race.FOLDS, random_state=seed).split(links):
        size = 2 * len(links.sources)
        said = 1.0 + np.bincount(fold.train.classes, fold.train.weight, minlength=size)
        share = said / said.reshape(-1, 2).sum(axis=1).repeat(2)
        total += float(fold.test.weight @ np.log(share[fold.test.classes]))
        votes += float(fold.test.weight.sum())
    return total / votes


class Doubt(NamedTuple):
    """How near each point is to being in another cluster, 0 to ½, and what that means."""

    of: NDArray[np.float64]
    ask: float  # from which there is something to ask
    between: float  # above which a point is between clusters
    probable: bool  # whether these are probabilities


def _doubt(model: Any, X: Any) -> Doubt:
    """Return probabilities of another cluster, or else how close the next cluster is.

    Closeness is d₁ / (d₁ + d₂), of the divergences from the nearest two centres: no probability.
    """
    if hasattr(model, "responsibilities_"):
        other = np.asarray(np.minimum(0.5, 1.0 - model.responsibilities_.max(axis=1)))
        return Doubt(other, SURE, DOUBT, probable=True)
    return Doubt(_closeness(model, X), FAR, NEAR, probable=False)


def _closeness(model: Any, X: Any) -> NDArray[np.float64]:
    if model.n_clusters_ < 2 or not hasattr(model, "transform"):
        return np.zeros(len(model.labels_))
    away = np.partition(np.maximum(model.transform(X), 0.0), 1, axis=1)[:, :2]
    total = away.sum(axis=1)
    return np.asarray(np.divide(away[:, 0], total, out=np.zeros(len(away)), where=total > 0))


def _pairs_to_judge(model: Any, links: Links, doubt: Doubt, count: int) -> pd.DataFrame:
    """Pair points between clusters with the surest point of the cluster that they are put into."""
    import pandas as pd

    labels = np.asarray(model.labels_)
    order = np.lexsort((-links.degree, doubt.of))  # the surest first, of these the most linked
    sure = {int(labels[at]): int(at) for at in order[::-1]}
    judged = set(links.pair_keys.tolist())
    rows: list[tuple[int, int, float]] = []
    for at in np.argsort(-doubt.of, kind="stable").tolist():
        other = sure[int(labels[at])]
        low, high = min(at, other), max(at, other)
        if len(rows) == count or doubt.of[at] < doubt.ask:
            break
        if low != high and low * links.n + high not in judged:
            rows.append((at, other, 1.0 - doubt.of[at] if doubt.probable else np.nan))
    frame = pd.DataFrame(rows, columns=["i", "j", "together"])
    if len(frame) and doubt.probable and hasattr(model, "coclustering"):
        frame["together"] = model.coclustering(frame[["i", "j"]].to_numpy(np.int64))
        frame = frame.sort_values("together", key=lambda c: (c - 0.5).abs(), kind="stable")
    return frame.reset_index(drop=True)


# ---------------------------------------------------------------------- in words


def _with_words(found: Diagnosis) -> Diagnosis:
    wide = [str(name) for name, row in found.sources.iterrows() if _width(row) > WIDE]
    few = [str(name) for name, row in found.sources.iterrows() if row["links"] < FEW]
    return replace(
        found, findings=tuple(_findings(found, wide)), advice=tuple(_advice(found, wide, few))
    )


def _width(row: Any) -> float:
    return float(max(row["p_high"] - row["p_low"], row["q_high"] - row["q_low"]))


def _findings(found: Diagnosis, wide: list[str]) -> list[str]:
    said = []
    if found.enough:
        said.append(f"{found.n_pairs} linked pairs are enough to choose settings by held-out links")
    else:
        said.append(
            f"{found.n_pairs} linked pairs are fewer than {race.FEWEST}: nothing can be held out, "
            "so settings were not chosen by links"
        )
    if found.held_out_failure:
        said.append(f"held-out links could not be predicted: {found.held_out_failure}")
    if np.isfinite(found.held_out):
        ahead = found.held_out - found.guess
        told = f"{found.held_out:.3f} ± {found.held_out_error:.3f} a link, guess {found.guess:.3f}"
        if ahead > 2 * found.held_out_error:
            said.append(f"held-out links are predicted better than by a guess ({told})")
        else:
            said.append(f"held-out links are not predicted clearly better than by a guess ({told})")
    if wide:
        said.append(f"reliability is not known to ±{WIDE / 2:g} for: {', '.join(wide)}")
    if found.n_conflicts:
        said.append(f"{found.n_conflicts} contradictions; they are weighed, not an error")
    if len(found.suspects):
        share = len(found.suspects) / found.n_links
        said.append(f"{len(found.suspects)} links look wrong ({share:.0%})")
    return said


def _advice(found: Diagnosis, wide: list[str], few: list[str]) -> list[str]:
    said = []
    if not found.enough:
        missing = race.FEWEST - found.n_pairs
        said.append(f"judge {missing} more pairs or more, so that links can choose the settings")
    said += [
        f"collect more links of source {name}: how reliable it is cannot be told well yet"
        for name in dict.fromkeys([*few, *wide])
    ]
    if len(found.pairs):
        said.append("judge the pairs below: the model is least sure of them")
    else:
        said.append("no pair is in doubt under the model; judge random pairs to test that")
    if found.n_between:
        said.append(
            f"{found.n_between} points lie between clusters and have no link: begin with these"
        )
    return said
