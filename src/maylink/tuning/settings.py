"""Tuning: how "auto" chooses; every number that an expert may want to change, with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Any

from sklearn.base import BaseEstimator

from maylink.errors import MaylinkError
from maylink.links import Links
from maylink.parameters import check_integer, check_number
from maylink.tuning.folds import n_judgements


class Tuning(BaseEstimator):
    """How the settings that are left at "auto" are chosen.

    Parameters
    ----------
    data_weights : tuple of float, default (1, 0.3, 0.1, 0.03, 0.01, 0.003)
        Data weights that may be chosen: half a decade apart, down to where data hardly count.
    cluster_hints : tuple of int, default (1, 2, 4, 6, 8, 12, 16, 24, 32, 48)
        Numbers of clusters whose furthest-first penalties RDPMeans tries where links choose.
    n_folds : int, default 4
        Folds of links, where there are many links.
    n_folds_of_few : int, default 8
        Folds of fewer than ``few_links`` links on small data: a fit then misses fewer of them.
    few_links : int, default 2000
        Links below which there are ``n_folds_of_few`` folds.
    fewest_pairs : int, default 40
        Linked pairs, or labels of sources that are labels, below which the choice made without
        links must be overruled by links, if at all
        (:mod:`maylink.tuning.settings_prior`).
    fewest_held_out : int, default 16
        Linked pairs below which nothing is held out: two in each fold.
    neighbours : tuple of int, default (0, 10, 20)
        Numbers of neighbours that may be chosen, of data of many features; beside a family that
        learns others have the first.
    neighbours_of_few : int, default 5
        Neighbours that may be chosen beside none, of data of few features: as few as join the parts
        of a long or bent cluster. 0 leaves them out.
    least_weight_of_pieces : float, default 0.01
        The least data weight that is tried where fits begin at pieces.
    most_racing : tuple of int, default (10, 5)
        Candidates that go on after the first and after all later folds, at most, on data that are
        not small.
    behind : tuple of float, default (4, 3, 2)
        Standard errors by which a candidate may be behind the leader after the first, the second
        and all later folds; one that is further behind drops out. One fold says little about how a
        fit varies.
    n_starts : int, default 2
        Starts of a variational fit in a fold, at most.
    n_starts_of_small : int, default 4
        The same for data of at most ``small_data`` numbers, where starts are cheap.
    small_data : int, default 20000
        Numbers (rows times columns) up to which data are small.
    sample_size : int, default 5000
        Points that a choice looks at: of more points it looks at a sample.
    plain_size : int, default 2500
        Points that are enough to see whether the plainest family is clearly enough
        (:mod:`maylink.tuning.plainly`); 0 lets all families compete in any case.

    Examples
    --------
    >>> import maylink as ml
    >>> quick = ml.Tuning(data_weights=(1.0, 0.1), n_folds_of_few=4)
    >>> ml.TVClust(tuning=quick).get_params()["tuning__n_folds_of_few"]
    4
    """

    def __init__(
        self,
        *,
        data_weights: tuple[float, ...] = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003),
        cluster_hints: tuple[int, ...] = (1, 2, 4, 6, 8, 12, 16, 24, 32, 48),
        n_folds: int = 4,
        n_folds_of_few: int = 8,
        few_links: int = 2000,
        fewest_pairs: int = 40,
        fewest_held_out: int = 16,
        neighbours: tuple[int, ...] = (0, 10, 20),
        neighbours_of_few: int = 5,
        least_weight_of_pieces: float = 0.01,
        most_racing: tuple[int, ...] = (10, 5),
        behind: tuple[float, ...] = (4.0, 3.0, 2.0),
        n_starts: int = 2,
        n_starts_of_small: int = 4,
        small_data: int = 20_000,
        sample_size: int = 5000,
        plain_size: int = 2500,
    ) -> None:
        self.data_weights = data_weights
        self.cluster_hints = cluster_hints
        self.n_folds = n_folds
        self.n_folds_of_few = n_folds_of_few
        self.few_links = few_links
        self.fewest_pairs = fewest_pairs
        self.fewest_held_out = fewest_held_out
        self.neighbours = neighbours
        self.neighbours_of_few = neighbours_of_few
        self.least_weight_of_pieces = least_weight_of_pieces
        self.most_racing = most_racing
        self.behind = behind
        self.n_starts = n_starts
        self.n_starts_of_small = n_starts_of_small
        self.small_data = small_data
        self.sample_size = sample_size
        self.plain_size = plain_size

    def check(self) -> None:
        """Raise about the first field that makes no sense."""
        for name in ("n_folds", "n_folds_of_few"):
            check_integer(f"tuning.{name}", getattr(self, name), 2)
        for name in (
            "few_links", "fewest_pairs", "fewest_held_out", "neighbours_of_few", "small_data",
            "plain_size",
        ):  # fmt: skip
            check_integer(f"tuning.{name}", getattr(self, name), 0)
        for name in ("n_starts", "n_starts_of_small", "sample_size"):
            check_integer(f"tuning.{name}", getattr(self, name), 1)
        for name in ("data_weights", "behind"):
            check_integer(f"the length of tuning.{name}", len(getattr(self, name)), 1)
            for number in getattr(self, name):
                check_number(f"tuning.{name}", number, 0.0)
        if any(a <= b for a, b in pairwise(self.data_weights)):
            raise MaylinkError(
                f"tuning.data_weights: {self.data_weights!r}; give them from the largest to the "
                "smallest, for a fit starts from that of a larger data weight"
            )
        check_integer("the length of tuning.neighbours", len(self.neighbours), 1)
        for count in self.neighbours:
            check_integer("tuning.neighbours", count, 0)
        check_integer("the length of tuning.most_racing", len(self.most_racing), 1)
        for count in self.most_racing:
            check_integer("tuning.most_racing", count, 1)
        check_number("tuning.least_weight_of_pieces", self.least_weight_of_pieces, 0.0)
        check_integer("the length of tuning.cluster_hints", len(self.cluster_hints), 1)
        for hint in self.cluster_hints:
            check_integer("tuning.cluster_hints", hint, 1)

    def folds_of(self, links: Links, is_small: bool = True) -> int:
        """Return how many folds links are dealt into, of small data or of others."""
        few = is_small and links.n_links < self.few_links
        return self.n_folds_of_few if few else self.n_folds

    def can_hold_out(self, links: Links) -> bool:
        """Whether there are linked pairs, or labels, enough to choose by those held out alone."""
        return _has_judgements(links, self.fewest_pairs)

    def can_race(self, links: Links) -> bool:
        """Whether there are linked pairs, or labels, enough to hold some out."""
        return _has_judgements(links, min(self.fewest_held_out, self.fewest_pairs))

    def most(self, n_folds: int) -> int:
        """Return how many candidates go on after so many folds, at most."""
        return int(self.most_racing[min(n_folds, len(self.most_racing)) - 1])

    def limit(self, n_folds: int) -> float:
        """Return how many standard errors a candidate may be behind after so many folds."""
        return float(self.behind[min(n_folds, len(self.behind)) - 1])


def _has_judgements(links: Links, fewest: int) -> bool:
    return links.n_links >= fewest and n_judgements(links) >= fewest


_DEFAULT: ContextVar[Tuning | None] = ContextVar("tuning", default=None)


def as_tuning(tuning: Any) -> Tuning:
    """Return the settings given, or those of :func:`tuning_context`, checked."""
    chosen = (_DEFAULT.get() or Tuning()) if tuning is None else tuning
    if not isinstance(chosen, Tuning):
        raise MaylinkError(f"tuning: {tuning!r} is not a maylink.Tuning")
    chosen.check()
    return chosen


@contextmanager
def tuning_context(tuning: Tuning) -> Iterator[None]:
    """While it lasts, estimators whose ``tuning`` is None use these settings.

    Examples
    --------
    >>> from maylink.tuning.settings import Tuning, as_tuning, tuning_context
    >>> with tuning_context(Tuning(n_folds=2)):
    ...     as_tuning(None).n_folds
    2
    """
    token = _DEFAULT.set(tuning)
    try:
        yield
    finally:
        _DEFAULT.reset(token)
