"""The verdict on a fit: can it be trusted, what did links change, and what is there to do next.

Every sentence follows from a figure of the fit. What confirms clusters is that they predict links
that they have not seen: the choice of settings holds some out (:mod:`maylink.tuning.race`), and the
verdict compares how well these were predicted with a guess that knows only how often each source
says may. How sure assignments are confirms nothing, as a fit may be sure of wrong clusters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from maylink.arrays import Index
from maylink.labels import crossed
from maylink.links import MAY, Links
from maylink.metrics import adjusted_rand
from maylink.model.posterior import SUSPECT_LIMIT, Posterior, partition_posterior
from maylink.solvers.fit import Status
from maylink.tuning.folds import n_judgements
from maylink.tuning.scores import HeldOut
from maylink.tuning.settings import as_tuning

if TYPE_CHECKING:
    import pandas as pd

CONFIRMED, WEAK, UNCLEAR, REFUTED, UNTESTED, UNLINKED = (
    "confirmed", "weak", "unclear", "not confirmed", "not tested", "no links",
)  # fmt: skip
CLEAR = 2.0  # standard errors by which a difference is more than chance
# Share of a guess's log loss that clusters must take away to say something. Right clusters take
# away .12 where links are right seven times in ten, .53 where they are nine times in ten.
LEAST_SHARE = 0.1
SURE = 0.9  # probability of a point's cluster from which the point counts as sure
MOST_WRONG = 1 / 3  # of the links: right clusters that links confirm go against fewer
APART = 2.0  # times as many clusters in draws as in the fit, or the other way round
MATCHED = 1000  # clusters up to which old and new ones are matched, to count points that moved
NAMED = 3  # sources that a sentence names, at most
UNLIKE = 0.95  # probability from which a source is said to differ from the others
HEADLINES = {
    CONFIRMED: "Links that the fit had not seen confirm these clusters.",
    WEAK: "Links that the fit had not seen confirm these clusters only weakly.",
    UNCLEAR: "The links cannot tell yet whether these clusters are right.",
    REFUTED: "Do not trust these clusters: they do not predict links that the fit had not seen.",
    UNTESTED: "Nothing has tested these clusters: no links were held out.",
    UNLINKED: "Nothing outside the data confirms these clusters: there are no links.",
}
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
    level = _level(held_out, has_links or (table is not None and len(table) > 0))
    only = _only_kind(links)
    level = UNCLEAR if only else level
    headline = ONE_SIDED.format(only) if only else HEADLINES[level]
    trust, contradictions = [headline], _contradictions(model, posterior)
    if held_out is not None and not only:
        trust.append(_beside_guess(held_out))
    if level == CONFIRMED and contradictions:
        level, trust[0] = WEAK, CONTRADICTED
    trust += contradictions
    trust += _about_clusters(model, level)
    if without_links is None:
        without_links = getattr(model, "labels_without_links_", None)
    changed = [] if without_links is None else _changed(model, np.asarray(without_links))
    advice = _about_missing_kind(only) if only else _advice(level, links, model)
    if posterior is not None and level in (CONFIRMED, WEAK):
        advice += _about_suspects(posterior)
    if table is not None:
        advice += about_sources(table) + unlike_sources(table)
    if level == CONFIRMED:
        advice += _about_unsure(model)
    return Verdict(level, tuple(trust), tuple(changed), tuple(advice))


def _level(held_out: HeldOut | None, has_links: bool) -> str:
    if held_out is None:
        return UNTESTED if has_links else UNLINKED
    ahead, margin = held_out.score - held_out.guess, CLEAR * held_out.error
    enough = -LEAST_SHARE * held_out.guess
    if ahead > margin:
        return CONFIRMED if ahead >= enough else WEAK
    return UNCLEAR if ahead + margin >= enough else REFUTED


def _only_kind(links: Links | None) -> str:
    """Return what all links say; "" where some say one thing and some the other, or there are none.

    A guess is then always right, and whatever the clusters are, they cannot do better.
    """
    if links is None or not links.n_links or np.unique(links.kind).size > 1:
        return ""
    return "may" if links.kind[0] == MAY else "may-not"


def _about_missing_kind(only: str) -> list[str]:
    if only == "may":
        return [
            "May-not links are missing, which hold clusters apart: judge pairs of rows that look "
            "different, and keep the answers that say no; maylink label asks about such pairs."
        ]
    return [
        "May links are missing, which join rows: judge pairs of rows that look alike; maylink "
        "links alike lists some, and maylink label asks about them."
    ]


def _contradictions(model: Any, posterior: Posterior | None) -> list[str]:
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
    wrong = _n_suspects(posterior) / posterior.links.n_links
    if wrong > MOST_WRONG:
        sentences.append(f"{wrong:.0%} of the links look wrong: links or clusters are not right.")
    return sentences


def _n_suspects(posterior: Posterior) -> int:
    return int((posterior.suspects()["wrong"] > SUSPECT_LIMIT).sum())


def _beside_guess(held_out: HeldOut) -> str:
    return (
        f"Of {held_out.n_links:,} links that were held out {held_out.right:.0%} were predicted "
        f"right; a guess from what is usually said gets {held_out.guess_right:.0%} (mean log "
        f"probability {held_out.score:.3f}, guess {held_out.guess:.3f}, difference ± "
        f"{CLEAR * held_out.error:.3f})."
    )


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


def _advice(level: str, links: Links | None, model: Any) -> list[str]:
    """Return what to do next, by the level, the number of links and what was clustered."""
    fewest = as_tuning(None).fewest_pairs
    n_judged = None if links is None else n_judgements(links)
    advice = []
    n_pairs = _n_pairs(model)
    if level in (UNLINKED, UNTESTED) and n_pairs is not None and n_pairs < fewest:
        advice.append(
            f"Give more rows: {_count(n_pairs, 'pair')} of rows can be judged, too few to test "
            "clusters by."
        )
    elif level == UNLINKED:
        advice.append(
            f"Judge {fewest} pairs of rows or more (same cluster or not) and give them as links: "
            "they can confirm the clusters, or correct them."
        )
    elif level == UNTESTED and n_judged is not None and n_judged < fewest:
        advice.append(
            f"Judge at least {_count(fewest - n_judged, 'more pair')}: of {fewest} links some are "
            "held out."
        )
    elif level == UNTESTED:
        advice.append("Run maylink diagnose: it holds links out and says what they are worth.")
    elif level == UNCLEAR:
        advice.append("Judge more pairs; maylink diagnose says which tell most.")
    elif level == REFUTED:
        columns = (
            "leave out columns that do not matter (--drop), say what a column is (--as "
            "income=number), take texts in (--text)"
        )
        view = getattr(model, "view_", None)
        if view is not None:  # texts or embeddings, in which no column can be left out
            columns = "other columns of text, or embeddings of another encoder, may tell more"
        advice.append(f"Look at what was clustered: {columns}, or try another --family.")
        advice.append("Check the links: do ids match the rows, and is may / may-not the right way?")
    elif level == WEAK:
        advice.append(
            "Either many links are wrong or the clusters are: maylink diagnose lists the links "
            "that look wrong."
        )
    return advice


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


def _about_suspects(posterior: Posterior) -> list[str]:
    n_links = posterior.links.n_links
    n_wrong = _n_suspects(posterior)
    if not n_wrong:
        return []
    looks = "link looks" if n_wrong == 1 else "links look"
    return [f"{n_wrong:,} of {n_links:,} {looks} wrong: check these first."]


def about_sources(table: pd.DataFrame) -> list[str]:
    """Return sentences on sources whose links say the opposite, or may tell nothing.

    Parameters
    ----------
    table : DataFrame
        Intervals of p and q by source, as ``reliability_`` has them.
    """
    swapped = table["p_high"] + table["q_high"] < 1.0
    empty = (table["p_low"] + table["q_low"] <= 1.0) & ~swapped
    sentences = []
    if swapped.any():
        sentences.append(
            f"Check {_named(table.index[swapped])}: may and may-not look swapped (the 95% "
            "intervals of p and q end below p + q = 1)."
        )
    if empty.any():
        its = "its" if empty.sum() == 1 else "their"
        sentences.append(
            f"Check {_named(table.index[empty])}: {its} links may say nothing (the 95% intervals "
            "of p and q reach p + q = 1)."
        )
    return sentences


def unlike_sources(table: pd.DataFrame) -> list[str]:
    """Return sentences on sources that are right more or less often than the others.

    Parameters
    ----------
    table : DataFrame
        What is known by source, as ``reliability_`` has it. Of two sources nothing is said: neither
        is the rule.
    """
    if "differs" not in table or table["differs"].notna().sum() < 3:
        return []
    right = table["p"] + table["q"]
    unlike, less = table["differs"] > UNLIKE, right < right[table["differs"].notna()].median()
    return [
        f"Look at {_named(table.index[some])}: right {often} often than other sources (probability "
        f"above {UNLIKE:.0%})."
        for often, some in (("less", unlike & less), ("more", unlike & ~less))
        if some.any()
    ]


def _named(sources: pd.Index) -> str:
    names = list(map(str, sources))
    more = "" if len(names) <= NAMED else f" and {len(names) - NAMED} more"
    return f"source{'s' * (len(names) > 1)} {', '.join(names[:NAMED])}{more}"


def _about_unsure(model: Any) -> list[str]:
    probabilities = getattr(model, "responsibilities_", None)
    if not isinstance(probabilities, np.ndarray):
        return []
    n_unsure = int((probabilities.max(axis=1) < SURE).sum())
    if not n_unsure:
        return []
    lies = "point lies" if n_unsure == 1 else "points lie"
    return [f"{n_unsure:,} {lies} between clusters: maylink diagnose names pairs to judge next."]


def _n_pairs(model: Any) -> int | None:
    """Return how many pairs of points there are; None where labels are not in memory."""
    n = len(model.labels_) if isinstance(model.labels_, np.ndarray) else None
    return None if n is None else n * (n - 1) // 2


def _n_clusters(model: Any) -> int:
    number = getattr(model, "n_clusters_", None)  # a clusterer of another library may have none
    return int(np.unique(model.labels_).size if number is None else number)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
