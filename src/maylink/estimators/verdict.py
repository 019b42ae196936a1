"""The verdict on a fit: can it be trusted, what did links change, and what is there to do next.

Every sentence follows from a figure of the fit. What confirms clusters is that they predict links
that they have not seen: the choice of settings holds some out (:mod:`maylink.tuning.race`), and the
verdict compares how well these were predicted with a guess that knows only how often each source
says may. How sure assignments are confirms nothing, as a fit may be sure of wrong clusters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from maylink.arrays import Index
from maylink.estimators.verdict_advice import (
    SURE,
    about_missing_kind,
    about_sources,
    about_suspects,
    about_unsure,
    advice_at,
    unlike_sources,
)
from maylink.estimators.verdict_level import (
    CONFIRMED,
    HEADLINES,
    UNCLEAR,
    UNLINKED,
    WEAK,
    beside_guess,
    level_of,
)
from maylink.labels import crossed
from maylink.links import MAY, Links
from maylink.metrics import adjusted_rand
from maylink.model.posterior import SUSPECT_LIMIT, Posterior, partition_posterior
from maylink.solvers.fit import Status
from maylink.tuning.scores import HeldOut

MOST_WRONG = 1 / 3  # of the links: right clusters that links confirm go against fewer
APART = 2.0  # times as many clusters in draws as in the fit, or the other way round
MATCHED = 1000  # clusters up to which old and new ones are matched, to count points that moved
ONE_SIDED = "All links say {}, so they cannot tell whether these clusters are right."
CONTRADICTED = "Links that the fit had not seen confirm these clusters, but not all figures agree."


@dataclass(frozen=True, repr=False)
class Verdict:
    """What to think of a fit, in sentences.

    Parameters
    ----------
    level : {"confirmed", "weak", "unclear", "not confirmed", "not tested", "no links"}
        The verdict in a word.
    trust : tuple of str
        Can the clusters be trusted, and how held-out links compare with a guess.
    changed : tuple of str
        What links changed against no links, where that is known.
    advice : tuple of str
        What to do next.
    """

    level: str
    trust: tuple[str, ...]
    changed: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()

    def parts(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield headings with their sentences; none is empty."""
        for name, sentences in (
            ("verdict", self.trust),
            ("links changed", self.changed),
            ("what to do", self.advice),
        ):
            if sentences:
                yield name, sentences

    def __repr__(self) -> str:
        return "\n".join(
            f"{name if not at else '':<14} {sentence}"
            for name, sentences in self.parts()
            for at, sentence in enumerate(sentences)
        )


def judge(
    model: Any, *, links: Links | None = None, without_links: Any = None, quick: bool = False
) -> Verdict:
    """Return the verdict on a fitted model.

    Parameters
    ----------
    model : estimator
        Fitted: of this library, or another clusterer with ``labels_``.
    links : Links, optional
        The links of the fit; by default those that the model has kept.
    without_links : array of shape (n,), optional
        Labels of the same method without links; by default those that the choice of settings left.
    quick : bool, default False
        Whether to leave out sentences that wait for draws: on sources and on links that look wrong.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> import maylink as ml
    >>> draw = ml.datasets.make_two_view(100, rng=0)
    >>> model = ml.RDPMeans(random_state=0).fit(draw.X, links=draw.links)
    >>> model.summary().level
    'confirmed'
    """
    if links is None:
        links = getattr(getattr(model, "posterior_", None), "links", None)
    has_links = links is not None and links.n_links > 0
    posterior = _posterior(model, links) if has_links and not quick else None
    table = posterior.reliability() if posterior is not None else None
    if table is None and not has_links:
        table = getattr(model, "reliability_", None)  # of RDPMeans, which does not keep links
    held_out: HeldOut | None = getattr(model, "held_out_", None)
    level = level_of(held_out, has_links or (table is not None and len(table) > 0))
    only = _only_kind(links)
    level = UNCLEAR if only else level
    n_wrong = 0 if posterior is None else _n_suspects(posterior)
    contradictions = _contradictions(model, posterior, n_wrong)
    trust = [ONE_SIDED.format(only) if only else HEADLINES[level]]
    if held_out is not None and not only:
        trust.append(beside_guess(held_out))
    if level == CONFIRMED and contradictions:
        level, trust[0] = WEAK, CONTRADICTED
    trust += contradictions + _about_clusters(model, level)
    if without_links is None:
        without_links = getattr(model, "labels_without_links_", None)
    changed = [] if without_links is None else _changed(model, np.asarray(without_links))
    advice = about_missing_kind(only) if only else advice_at(level, links, model)
    if posterior is not None and level in (CONFIRMED, WEAK):
        advice += about_suspects(n_wrong, posterior.links.n_links)
    if table is not None:
        advice += about_sources(table) + unlike_sources(table)
    if level == CONFIRMED:
        advice += about_unsure(model)
    return Verdict(level, tuple(trust), tuple(changed), tuple(advice))


def _only_kind(links: Links | None) -> str:
    """Return what all links say; "" where some say one thing and some the other, or there are none.

    A guess is then always right, and whatever the clusters are, they cannot do better.
    """
    if links is None or not links.n_links or np.unique(links.kind).size > 1:
        return ""
    return "may" if links.kind[0] == MAY else "may-not"


def _contradictions(model: Any, posterior: Posterior | None, n_wrong: int) -> list[str]:
    """Return where draws from the posterior, or most links, say another thing than the fit."""
    if posterior is None:
        return []
    sentences = []
    draws, n_clusters = getattr(posterior, "draws", None), _n_clusters(model)
    if draws is not None:
        drawn = float(np.median(draws.n_clusters))
        if max(drawn, n_clusters) > APART * min(drawn, n_clusters):
            sentences.append(
                f"Draws from the posterior have about {drawn:,.0f} clusters, the fit has "
                f"{n_clusters:,}: how fine the clusters are is not known."
            )
    wrong = n_wrong / posterior.links.n_links
    if wrong > MOST_WRONG:
        sentences.append(f"{wrong:.0%} of the links look wrong: links or clusters are not right.")
    return sentences


def _about_clusters(model: Any, level: str) -> list[str]:
    """Return sentences on one cluster, on points that are unsure, and on a fit that was stopped."""
    sentences = []
    if level == UNLINKED:
        sentences += _evidence(model)
    if _n_clusters(model) == 1:
        sentences.append("All points are in one cluster: the fit found no groups.")
    probabilities = getattr(model, "responsibilities_", None)
    if isinstance(probabilities, np.ndarray) and probabilities.shape[1] > 1:
        share = float(np.mean(probabilities.max(axis=1) >= SURE))
        sentence = f"{share:.0%} of points have a probability of {SURE:g} or more in their cluster"
        if level == CONFIRMED:
            sentences.append(f"{sentence}.")
        else:
            sentences.append(f"{sentence}, if the clusters are right, which that does not show.")
    status = getattr(model, "status_", None)
    if status == Status.STOPPED:
        sentences.append("The fit was stopped early: this is what it had by then.")
    elif status == Status.OUT_OF_TIME:
        sentences.append("The time budget ended the fit: this is the best that it had by then.")
    return sentences


def _evidence(model: Any) -> list[str]:
    """Return what the data alone say: the clusters that they chose, and how far ahead."""
    table, family = getattr(model, "selection_", None), getattr(model, "family_", None)
    by = getattr(model, "chosen_by_", None)
    if by not in ("evidence", "neighbours") or family is None:
        return []
    chose = f"The data alone chose {_count(_n_clusters(model), 'cluster')}, as {family.name}"
    if by == "neighbours":
        return [f"{chose}; held-out pairs of neighbours chose the settings."]
    if table is None or "bound" not in table or len(table) < 2:
        return [f"{chose}."]
    first, second = table.sort_values("bound", ascending=False)[["family", "bound"]].values[:2]
    return [f"{chose}, {first[1] - second[1]:.1f} nats ahead of {second[0]}."]


def _changed(model: Any, before: Index) -> list[str]:
    """Return how the partition differs from one without links."""
    after = np.asarray(model.labels_)
    if before.shape != after.shape:
        return []
    n_before, n_after = np.unique(before).size, np.unique(after).size
    clusters = f"{_count(n_before, 'cluster')} without links, {n_after:,} with them"
    moved = _moved(before, after)
    if moved == 0:
        return [
            f"Links changed nothing: the data alone give the same {_count(n_after, 'cluster')}."
        ]
    rand = f"adjusted Rand index {adjusted_rand(before, after):.2f}, 1 is no change"
    if moved is None:
        return [f"Links moved points: {clusters} ({rand})."]
    return [f"Links moved {moved:,} of {after.size:,} points: {clusters} ({rand})."]


def _moved(before: Index, after: Index) -> int | None:
    """Return the points outside the cluster that each old one became; None of many clusters."""
    old, new = (np.unique(labels, return_inverse=True)[1] for labels in (before, after))
    shape = int(old.max()) + 1, int(new.max()) + 1
    if max(shape) > MATCHED:
        return None
    table = np.zeros(shape, np.int64)
    rows, columns, counts = crossed(old, new)
    table[rows, columns] = counts
    return int(after.size - table[linear_sum_assignment(-table)].sum())


def _posterior(model: Any, links: Links | None) -> Posterior | None:
    """Return what is known of links; None where labels are not in memory.

    Of links that a fit has not seen it is what its partition says.
    """
    posterior: Posterior | None = getattr(model, "posterior_", None)
    if posterior is not None and not posterior.links.n_links:
        posterior = None
    if posterior is None and links is not None and isinstance(model.labels_, np.ndarray):
        return partition_posterior(model.labels_, links)
    return posterior


def _n_suspects(posterior: Posterior) -> int:
    return int((posterior.suspects()["wrong"] > SUSPECT_LIMIT).sum())


def _n_clusters(model: Any) -> int:
    number = getattr(model, "n_clusters_", None)  # a clusterer of another library may have none
    return int(np.unique(model.labels_).size if number is None else number)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
