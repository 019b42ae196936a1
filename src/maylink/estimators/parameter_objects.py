"""Variational and Gibbs: how TVClust infers; Schedule: how RDPMeans sweeps. Parameters alone."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from maylink.errors import MaylinkError
from maylink.model.partitions import LOSSES
from maylink.parameters import check_choice, check_integer, check_number


class Variational(BaseEstimator):
    """Variational inference: fast, and deterministic given its starts.

    Parameters
    ----------
    n_init : int, default 4
        From how many partitions to start; the best bound is kept.
    truncation : int, optional
        The largest number of clusters; that of the start and five more by default.
    max_sweeps : int, default 300
        Sweeps after which to stop in any case.
    tol : float, default 1e-5
        Stop when a sweep raises the bound by less than this per point.
    batch_size : int, optional
        Visit so many points at a time, which needs memory for one batch's work only.
    interval_draws : int, default 500
        Draws behind intervals, ``coclustering`` and ``suspect_links``, made when they are first
        asked for; fewer where they would take much longer than a second, and none where not even a
        hundred could be made (docs/tvclust.md). 0 leaves all to the factors of the fit.
    learn_prior : bool, default True
        Whether these draws also draw the scales of the clusters' prior, where none is given.

    Examples
    --------
    >>> import maylink as ml
    >>> ml.TVClust(inference=ml.Variational(n_init=1)).get_params()["inference__n_init"]
    1
    """

    def __init__(
        self,
        *,
        n_init: int = 4,
        truncation: int | None = None,
        max_sweeps: int = 300,
        tol: float = 1e-5,
        batch_size: int | None = None,
        interval_draws: int = 500,
        learn_prior: bool = True,
    ) -> None:
        self.n_init = n_init
        self.truncation = truncation
        self.max_sweeps = max_sweeps
        self.tol = tol
        self.batch_size = batch_size
        self.interval_draws = interval_draws
        self.learn_prior = learn_prior

    def check(self) -> None:
        """Raise about the first parameter that makes no sense."""
        check_number("tol", self.tol, 0.0)
        check_integer("interval_draws", self.interval_draws, 0)
        for name in ("n_init", "max_sweeps"):
            check_integer(name, getattr(self, name), 1)
        for name in ("truncation", "batch_size"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), 1)


class Gibbs(BaseEstimator):
    """Gibbs sampling: draws from the exact posterior, given time.

    Parameters
    ----------
    sampler : {"collapsed", "instantiated"}, default "collapsed"
        Integrate the clusters' parameters out, or draw them too (Neal's algorithm 2); the second
        scores all points at once but moves more slowly.
    n_chains : int, default 2
        Independent chains, in parallel processes.
    n_warmup : int, default 300
        Draws of each chain that are thrown away.
    n_draws : int, default 500
        Draws of each chain that are kept.
    thin : int, default 1
        Sweeps for each draw.
    n_split_merge : int, default 1
        Proposals a sweep to split a cluster or merge two.
    learn_prior : bool, default False
        Draw the scales of the family's prior, too.
    loss : {"vi", "binder"}, default "vi"
        ``labels_`` is the partition with the least expected distance to the draws, by variation of
        information or by pairs.

    Examples
    --------
    >>> import maylink as ml
    >>> model = ml.TVClust(inference=ml.Gibbs(n_chains=4))
    >>> model.set_params(inference__n_draws=100).inference
    Gibbs(n_chains=4, n_draws=100)
    """

    def __init__(
        self,
        *,
        sampler: str = "collapsed",
        n_chains: int = 2,
        n_warmup: int = 300,
        n_draws: int = 500,
        thin: int = 1,
        n_split_merge: int = 1,
        learn_prior: bool = False,
        loss: str = "vi",
    ) -> None:
        self.sampler = sampler
        self.n_chains = n_chains
        self.n_warmup = n_warmup
        self.n_draws = n_draws
        self.thin = thin
        self.n_split_merge = n_split_merge
        self.learn_prior = learn_prior
        self.loss = loss

    def check(self) -> None:
        """Raise about the first parameter that makes no sense."""
        check_choice("sampler", self.sampler, ("collapsed", "instantiated"))
        check_choice("loss", self.loss, LOSSES)
        for name in ("n_chains", "n_draws", "thin"):
            check_integer(name, getattr(self, name), 1)
        for name in ("n_warmup", "n_split_merge"):
            check_integer(name, getattr(self, name), 0)


def as_inference(inference: Any) -> Variational | Gibbs:
    """Return the inference, or that of a word with its defaults, checked."""
    if isinstance(inference, str):
        check_choice("inference", inference, ("variational", "gibbs"))
        return Gibbs() if inference == "gibbs" else Variational()
    if not isinstance(inference, (Variational, Gibbs)):
        raise MaylinkError(
            f"inference: {inference!r}; give 'variational', 'gibbs', or an object of "
            "maylink.Variational or maylink.Gibbs"
        )
    inference.check()
    return inference


class Schedule(BaseEstimator):
    """How RDP-means sweeps.

    Parameters
    ----------
    rate : float, default 2
        Factor by which the link weights grow after each sweep; 1 keeps them fixed.
    order : {"random", "shuffle", "index"}, default "random"
        Order in which points are visited: one random order for each run, a new one for each sweep,
        or that of the rows.
    patience : int, default 20
        Sweeps without a change after which to stop while the link weights still grow.
    max_sweeps : int, default 300
        Sweeps after which to stop in any case.
    stretch : float, default 1
        How far centres go before a sweep, in units of their way to the means; 1 is the paper's.
        With 2, fits of many points take fewer sweeps: none raises the objective, but the labels
        may be others. Centres of a family that is not Gaussian go to the means.

    Examples
    --------
    >>> import maylink as ml
    >>> ml.RDPMeans(schedule=ml.Schedule(order="index")).get_params()["schedule__order"]
    'index'
    """

    def __init__(
        self,
        *,
        rate: float = 2.0,
        order: str = "random",
        patience: int = 20,
        max_sweeps: int = 300,
        stretch: float = 1.0,
    ) -> None:
        self.rate = rate
        self.order = order
        self.patience = patience
        self.max_sweeps = max_sweeps
        self.stretch = stretch

    def check(self) -> None:
        """Raise about the first parameter that makes no sense."""
        check_choice("order", self.order, ("random", "shuffle", "index"))
        for name in ("rate", "stretch"):
            check_number(name, getattr(self, name), 1.0)
        for name in ("patience", "max_sweeps"):
            check_integer(name, getattr(self, name), 1)


def as_schedule(schedule: Any) -> Schedule:
    """Return the schedule given, or the default one, checked."""
    if schedule is None:
        return Schedule()
    if not isinstance(schedule, Schedule):
        raise MaylinkError(f"schedule: {schedule!r} is not a maylink.Schedule")
    schedule.check()
    return schedule
