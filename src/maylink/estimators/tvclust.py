"""TVClust: the Bayesian estimator."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from maylink.big.data import as_big, is_big
from maylink.errors import MaylinkError
from maylink.estimators.answers import Answers
from maylink.estimators.base import links_of_new_points, warn_overlooked
from maylink.families import Family
from maylink.labels import first_appearance
from maylink.model import partitions
from maylink.model.draws import Draws
from maylink.model.mixture import Mixture, one_hot
from maylink.model.posterior import Posterior, SampledPosterior
from maylink.model.reliability import PRIOR
from maylink.parameters import (
    as_generator,
    check_choice,
    check_integer,
    check_number,
    forbid_links_as_y,
)
from maylink.problem import Problem
from maylink.runtime.interrupts import CtrlC
from maylink.runtime.progress import Progress
from maylink.runtime.threads import one_thread
from maylink.solvers import chains, gibbs, instantiated, stochastic, variational
from maylink.solvers.fit import Status
from maylink.tuning import race
from maylink.tuning.starts import STARTS, ChainStart, Model, Start, best_of
from maylink.tuning.tvclust import COVARIANCES, WEIGHTS, Choice, Wish, choose, labels_of

CHOSEN = ("data_weight_", "chosen_by_", "selection_")  # what a fit tells about its choice


class TVClust(Answers, ClusterMixin, BaseEstimator):
    """Two-view clustering: a Dirichlet-process mixture and a model of noisy links in one.

    It finds the number of clusters, learns how reliable the links of each source are, says how sure
    it is of every assignment, and which links look wrong.

    Parameters
    ----------
    family : str or Family, default "auto"
        What the data are: "gaussian" with the ``covariance`` below, "multinomial", "poisson",
        "bernoulli", or any other of :mod:`maylink.families`, by name or as an object. "auto" looks
        at the values and chooses among the families that they allow: real data are Gaussian, whole
        numbers from 0 up may be counts, too.
    covariance : {"auto", "spherical", "diagonal", "shared", "full"}, default "auto"
        Covariance of the clusters of Gaussian data: equal variances, one variance for each feature,
        one matrix for all clusters, one for each. "auto" chooses.
    inference : {"variational", "gibbs"}, default "variational"
        "variational" is fast and deterministic given its starts; "gibbs" draws from the exact
        posterior, given time.
    data_weight : float or "auto", default "auto"
        γ, the power on the data's likelihood. Below 1 the data speak more softly against the links,
        which helps where the family describes the clusters badly. "auto" chooses, together with
        family and covariance, what predicts held-out links best (:mod:`maylink.tuning`); where
        there are fewer than 40 links it is 1, and the evidence chooses the family.
    alpha : float, optional
        Concentration of the Dirichlet process; learned under ``alpha_prior`` if not given.
    alpha_prior : (float, float), default (1, 1)
        Shape and rate of the Gamma prior of α.
    reliability : (float, float), optional
        p and q of all sources, where they are known; learned if not given.
    reliability_prior : (float, float), default (9, 1)
        Beta prior of p and of q of each source.
    prior : optional
        Prior of the clusters' parameters, as the family has it; its default for the data if not
        given.
    init : {"auto", "rdp-means", "one", "singletons"} or array of shape (n,), default "auto"
        Where to start: "auto" makes partitions in many ways, merges their clusters and takes the
        most probable ones (:mod:`maylink.tuning.pool`); or the paper's RDP-means, one cluster,
        every point by itself, or labels.
    n_init : int, default 4
        Variational: from how many partitions to start; the best bound is kept.
    truncation : int, optional
        Variational: the largest number of clusters; that of the start and five more by default.
    max_sweeps : int, default 300
        Variational: sweeps after which to stop in any case.
    tol : float, default 1e-5
        Variational: stop when a sweep raises the bound by less than this per point.
    batch_size : int, optional
        Variational: visit so many points at a time, which needs memory for one batch's work only.
    sampler : {"collapsed", "instantiated"}, default "collapsed"
        Gibbs: integrate the clusters' parameters out, or draw them too (Neal's algorithm 2); the
        second scores all points at once but moves more slowly.
    n_chains : int, default 2
        Gibbs: independent chains, in parallel processes.
    n_warmup : int, default 300
        Gibbs: draws of each chain that are thrown away.
    n_draws : int, default 500
        Gibbs: draws of each chain that are kept.
    thin : int, default 1
        Gibbs: sweeps for each draw.
    n_split_merge : int, default 1
        Gibbs: proposals a sweep to split a cluster or merge two.
    learn_prior : bool, default False
        Gibbs: draw the scales of the family's prior, too.
    loss : {"vi", "binder"}, default "vi"
        Gibbs: ``labels_`` is the partition with the least expected distance to the draws, by
        variation of information or by pairs.
    checkpoint : path, optional
        Gibbs: a folder where chains are saved as they go. A fit with the same data, links and
        settings goes on where it was, to exactly the draws of an unbroken run. Data on Dask: a file
        that takes down how far the sweeps have come; it is deleted when the fit is done.
    n_jobs : int, optional
        Processes for the chains; all processors by default. It does not change the result.
    verbose : bool, default False
        Whether to show a progress bar.
    random_state : int, RandomState or Generator, optional
        Seed of everything that is random.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of each point, numbered by first appearance.
    n_clusters_ : int
        Number of clusters.
    cluster_centers_ : array of shape (K, d)
        Centres in the units of X (proportions for "multinomial").
    responsibilities_ : array of shape (n, K)
        Probability of each point to be in each cluster; for "gibbs", how often it shares a cluster
        with the members of each.
    reliability_ : DataFrame
        p and q of each source with 95% intervals and the votes behind them.
    posterior_ : Posterior
        The draws or factors behind all of it.
    alpha_ : float
        Posterior mean of α.
    bound_ : float
        Variational: the bound on ``log p(x, E)``; ``bounds_`` holds it after each sweep.
    draws_ : Draws
        Gibbs: the draws of all chains, one chain after the other; ``n_chains_`` tells how many.
    status_ : Status
        Why it stopped; Ctrl-C stops a fit early and keeps what there is.
    n_iter_ : int
        Sweeps of the run that was kept, or draws of each chain.
    family_ : Family
        The family in use, with what it took from the data.
    data_weight_ : float
        γ in use.
    chosen_by_ : {"held-out links", "evidence", "given"}
        How family and data weight came about.
    selection_ : DataFrame or None
        The candidates: family, data weight, mean log probability of a held-out link with its
        standard error, how far behind the choice that is on the same links, how many links and
        folds it is of, and which one was chosen; see
        :func:`maylink.plots.plot_selection`.
    prior_
        The prior in use; with ``learn_prior``, its scales at their geometric posterior means.

    See Also
    --------
    RDPMeans : the fast deterministic limit of the same model.

    References
    ----------
    Khashabi, Wieting, Liu, Liang: Clustering With Side Information: From a Probabilistic Model to
    a Deterministic Algorithm, 2015.

    Examples
    --------
    >>> import maylink as ml
    >>> draw = ml.datasets.make_two_view(100, reliability={"expert": (0.95, 0.95),
    ...                                                    "rule": (0.6, 0.6)}, rng=2)
    >>> model = ml.TVClust(random_state=0).fit(draw.X, links=draw.links)
    >>> model.n_clusters_
    3
    >>> bool(model.reliability_.loc["expert", "p"] > model.reliability_.loc["rule", "p"])
    True
    >>> list(model.suspect_links().columns)
    ['i', 'j', 'kind', 'weight', 'source', 'wrong']
    """

    labels_: NDArray[np.int64]
    n_clusters_: int
    posterior_: Posterior
    mixture_: Mixture
    draws_: Draws
    problem_: Problem

    # Pipelines and cross-validation hand links on without being told to.
    __metadata_request__fit: ClassVar = {"links": True}
    __metadata_request__partial_fit: ClassVar = {"links": True}
    __metadata_request__predict: ClassVar = {"links": True}
    __metadata_request__predict_proba: ClassVar = {"links": True}

    def __init__(
        self,
        family: Family | str = "auto",
        *,
        covariance: str = "auto",
        inference: str = "variational",
        data_weight: float | str = "auto",
        alpha: float | None = None,
        alpha_prior: tuple[float, float] = (1.0, 1.0),
        reliability: tuple[float, float] | None = None,
        reliability_prior: tuple[float, float] = PRIOR,
        prior: Any = None,
        init: Any = "auto",
        n_init: int = 4,
        truncation: int | None = None,
        max_sweeps: int = 300,
        tol: float = 1e-5,
        batch_size: int | None = None,
        sampler: str = "collapsed",
        n_chains: int = 2,
        n_warmup: int = 300,
        n_draws: int = 500,
        thin: int = 1,
        n_split_merge: int = 1,
        learn_prior: bool = False,
        loss: str = "vi",
        checkpoint: str | Path | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.family = family
        self.covariance = covariance
        self.inference = inference
        self.data_weight = data_weight
        self.alpha = alpha
        self.alpha_prior = alpha_prior
        self.reliability = reliability
        self.reliability_prior = reliability_prior
        self.prior = prior
        self.init = init
        self.n_init = n_init
        self.truncation = truncation
        self.max_sweeps = max_sweeps
        self.tol = tol
        self.batch_size = batch_size
        self.sampler = sampler
        self.n_chains = n_chains
        self.n_warmup = n_warmup
        self.n_draws = n_draws
        self.thin = thin
        self.n_split_merge = n_split_merge
        self.learn_prior = learn_prior
        self.loss = loss
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @one_thread()
    def fit(self, X: Any, y: Any = None, *, links: Any = None) -> Self:
        """Cluster the data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The data. A dask array, a dask DataFrame or the path of a folder of Parquet files stays
            where it is, and ``labels_`` and ``responsibilities_`` are dask arrays (see
            docs/scale.md).
        y : ignored
            For scikit-learn.
        links : Links, pair of lists, n × n matrix, DataFrame or None
            Links between the points; none means a plain Dirichlet-process mixture.

        Returns
        -------
        self
        """
        forbid_links_as_y(y)
        self._check_parameters()
        if is_big(X):
            from maylink.estimators.tvclust_dask import fit

            X = as_big(X)
            found = fit(self, X, links)
        else:
            found = self._fit(X, links)
        if found["status_"] is Status.MAX_SWEEPS:
            warnings.warn(
                f"TVClust stopped after {self.max_sweeps} sweeps, before the bound stood still; "
                "raise max_sweeps or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self._keep(X, **found)

    def _fit(self, X: Any, links: Any) -> dict[str, Any]:
        """Return the fitted attributes for data in memory."""
        rng = as_generator(self.random_state)
        choice = self._choose(X, links, rng)
        problem = choice.problem
        prior = self._prior_of(problem)
        settings = self._variational_settings(choice.data_weight)
        model = Model(prior, settings)
        if self.inference == "gibbs":
            found = self._sample(problem, model, choice.data_weight, rng)
        elif self.batch_size is not None:
            start = Start(self.init, self.n_jobs, rng, model)
            found = self._visit_batches(problem, prior, settings, start, rng)
        else:
            start = Start(self.init, self.n_jobs, rng, model, choice.views)
            found = self._maximise(problem, prior, settings, start)
        told = {**told_choice(choice), "problem_": problem, "family_": problem.family}
        return {"prior_": prior, **told, **found}

    def _choose(self, X: Any, links: Any, rng: np.random.Generator) -> Choice:
        """Choose family, covariance and data weight where the user left them open."""
        instantiated_only = self.inference == "gibbs" and self.sampler == "instantiated"
        weights = (1.0,) if instantiated_only else WEIGHTS
        wish = Wish(self.family, self.covariance, self.data_weight, self.prior, weights)
        settings = self._variational_settings(1.0)
        with (
            CtrlC() as stop,
            Progress("choosing", race.MOST_FOLDS, self.verbose, "fold", stop) as progress,
        ):
            return choose(X, links, wish, settings, rng, self.n_jobs, progress)

    def fit_predict(self, X: Any, y: Any = None, *, links: Any = None) -> NDArray[np.int64]:
        """Cluster the rows of X and return their clusters; parameters as in :meth:`fit`."""
        return self.fit(X, y, links=links).labels_

    # ------------------------------------------------------------------ variational

    def _maximise(
        self, problem: Problem, prior: Any, settings: variational.Settings, start: Start
    ) -> dict[str, Any]:
        count, ready = self._n_starts, problem.prepared()
        with (
            CtrlC() as stop,
            Progress("TVClust", count, self.verbose, "start", stop) as progress,
        ):
            best = best_of(
                start.several(ready, count),
                lambda labels: variational.solve(ready, prior, settings, labels, progress),
                lambda state: start.anew(labels_of(state)),
                progress,
            )
        left_out = float((problem.log_base - ready.log_base).sum())
        bounds = best.bounds + settings.data_weight * left_out
        return self._describe_responsibilities(
            problem, prior, settings, best.state, bounds, best.status
        )

    @property
    def _n_starts(self) -> int:
        """From how many partitions to start; of what was given there is one."""
        several = isinstance(self.init, str) and self.init in ("auto", "rdp-means")
        return int(self.n_init) if several else 1

    def _describe_responsibilities(
        self,
        problem: Problem,
        prior: Any,
        settings: variational.Settings,
        state: variational.State,
        bounds: NDArray[np.float64],
        status: Status,
    ) -> dict[str, Any]:
        labels, columns = first_appearance(state.responsibilities.argmax(axis=1))
        responsibilities = state.responsibilities[:, columns]
        responsibilities = responsibilities / responsibilities.sum(axis=1, keepdims=True)
        alpha = variational.expected_alpha(state.factors.alpha)
        posterior = variational.posterior_of(problem.links, settings, state)
        return {
            "labels_": labels,
            "responsibilities_": responsibilities,
            "posterior_": posterior,
            "alpha_": alpha,
            "bound_": float(bounds[-1]),
            "bounds_": bounds,
            "status_": status,
            "n_iter_": max(1, len(bounds) - 1),
            **self._describe_clusters(
                problem, prior, labels, responsibilities, alpha, settings.data_weight, posterior
            ),
        }

    def _visit_batches(
        self,
        problem: Problem,
        prior: Any,
        settings: variational.Settings,
        start: Start,
        rng: np.random.Generator,
    ) -> dict[str, Any]:
        with (
            CtrlC() as stop,
            Progress("TVClust", self.max_sweeps, self.verbose, "sweep", stop) as bar,
        ):
            result = stochastic.solve(
                problem, prior, settings, int(self.batch_size or 1), start, rng, bar
            )
        return self._describe_responsibilities(problem, prior, settings, *result)

    @one_thread()
    def partial_fit(self, X: Any, y: Any = None, *, links: Any = None) -> Self:
        """Go on with another batch of points; see :mod:`maylink.solvers.stochastic`.

        The first batch sets the scale of the features and the prior, and whatever is "auto" is
        chosen by its links. A stream keeps labels, not
        responsibilities: ``coclustering`` then tells 0 or 1, and ``responsibilities_`` and
        ``bound_`` are not there.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            Points not seen before.
        y : ignored
            For scikit-learn.
        links : Links, optional
            Made for the m points of the batch, or for all seen so far and these, in the order of
            their coming. Links between two points seen before are left out: those do not move.

        Returns
        -------
        self
            ``labels_`` tells the clusters of all points seen so far.
        """
        forbid_links_as_y(y)
        self._check_parameters()
        if self.inference != "variational":
            raise MaylinkError("partial_fit: only for inference='variational'")
        if is_big(X):
            raise MaylinkError("partial_fit: takes batches in memory; call fit with data on Dask")
        stream: stochastic.Stream | None = getattr(self, "stream_", None)
        rng = as_generator(self.random_state)
        if stream is None:
            choice = self._choose(X, links, rng)
            data, prior = choice.problem.X, self._prior_of(choice.problem)
            settings = self._variational_settings(choice.data_weight)
            stream = stochastic.Stream.begin(choice.problem.family, prior, settings)
            told = told_choice(choice)
        else:
            data = self._new_data(X)
            told = {name: getattr(self, name) for name in CHOSEN}
        warn_overlooked(stream.family, data)
        known = links_of_new_points(links, stream.n, data.shape[0])
        model = Model(stream.prior, stream.settings)
        start = Start(self.init, self.n_jobs, rng, model)
        stream = stream.add(data, known, start)
        return self._keep(X, **stream.describe(), **told, stream_=stream)

    # ------------------------------------------------------------------ Gibbs

    def _sample(
        self, problem: Problem, model: Model, data_weight: float, rng: np.random.Generator
    ) -> dict[str, Any]:
        prior = model.prior
        plan = chains.Plan(
            self.n_chains, self.n_warmup, self.n_draws, self.checkpoint, self.n_jobs, self.verbose
        )
        kind = gibbs.Sampler if self.sampler == "collapsed" else instantiated.Sampler
        sampler = kind(problem, prior, self._gibbs_settings(data_weight))
        seed = int(rng.integers(2**63))
        done = chains.run_chains(sampler, ChainStart(problem, self.init, model), plan, seed)
        draws = chains.gather(done)
        if self.learn_prior and draws.factors.shape[1]:
            prior = problem.family.rescale(prior, np.exp(np.log(draws.factors).mean(axis=0)))
        labels = partitions.point_estimate(draws.labels, self.loss, rng=seed)
        posterior = SampledPosterior(draws, problem.links)
        n_clusters = int(labels.max()) + 1
        responsibilities = partitions.responsibilities_of(draws.labels, labels)
        stopped = any(chain.stopped for chain in done)
        alpha = float(draws.alpha.mean())
        return {
            "labels_": labels,
            "responsibilities_": responsibilities,
            "posterior_": posterior,
            "alpha_": alpha,
            "draws_": draws,
            "prior_": prior,
            "chain_lengths_": [len(chain.draws.alpha) for chain in done],
            "n_chains_": len(done),
            "status_": Status.STOPPED if stopped else Status.SAMPLED,
            "n_iter_": max(1, len(draws.alpha) // len(done)),
            **self._describe_clusters(
                problem, prior, labels, one_hot(labels, n_clusters), alpha, data_weight, posterior
            ),
        }

    # ------------------------------------------------------------------ details

    def _describe_clusters(
        self,
        problem: Problem,
        prior: Any,
        labels: NDArray[np.int64],
        responsibilities: NDArray[np.float64],
        alpha: float,
        data_weight: float,
        posterior: Posterior,
    ) -> dict[str, Any]:
        family = problem.family
        points = family.points(problem.X)
        centers = family.centroid(
            np.asarray(responsibilities.T @ points) / responsibilities.sum(axis=0)[:, None]
        )
        return {
            "n_clusters_": int(labels.max()) + 1,
            "cluster_centers_": family.units(centers),
            "mixture_": Mixture.of_responsibilities(
                family, problem.X, responsibilities, prior, alpha, data_weight
            ),
            "reliability_": posterior.reliability(),
        }

    def _prior_of(self, problem: Problem) -> Any:
        """Return the prior in use, checked against the family's own."""
        default = problem.prior
        if self.prior is None:
            return default
        if not _alike(self.prior, default):
            raise MaylinkError(
                f"prior: not a prior of {problem.family.name!r} for these data; give one with the "
                f"type and shapes of {_told(default)}"
            )
        return self.prior

    def _variational_settings(self, data_weight: float) -> variational.Settings:
        return variational.Settings(
            data_weight=data_weight,
            alpha=self.alpha,
            alpha_prior=self.alpha_prior,
            reliability=self.reliability,
            reliability_prior=self.reliability_prior,
            truncation=self.truncation,
            tol=float(self.tol),
            max_sweeps=self.max_sweeps,
        )

    def _gibbs_settings(self, data_weight: float) -> gibbs.Settings:
        return gibbs.Settings(
            data_weight=data_weight,
            alpha=self.alpha,
            alpha_prior=self.alpha_prior,
            reliability=self.reliability,
            reliability_prior=self.reliability_prior,
            learn_prior=self.learn_prior,
            thin=self.thin,
            n_split_merge=self.n_split_merge,
        )

    def _check_parameters(self) -> None:
        check_choice("inference", self.inference, ("variational", "gibbs"))
        check_choice("sampler", self.sampler, ("collapsed", "instantiated"))
        check_choice("loss", self.loss, partitions.LOSSES)
        check_choice("covariance", self.covariance, ("auto", *COVARIANCES))
        if self.data_weight != "auto":
            check_number("data_weight", self.data_weight, 0.0)
        check_number("tol", self.tol, 0.0)
        if self.alpha is not None:
            check_number("alpha", self.alpha, 0.0, above=True)
        for name in ("alpha_prior", "reliability_prior", "reliability"):
            _check_pair(name, getattr(self, name), 1.0 if name == "reliability" else np.inf)
        for name in ("n_init", "max_sweeps", "n_chains", "n_draws", "thin"):
            check_integer(name, getattr(self, name), 1)
        for name in ("n_warmup", "n_split_merge"):
            check_integer(name, getattr(self, name), 0)
        for name in ("truncation", "batch_size"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), 1)
        if isinstance(self.init, str):
            check_choice("init", self.init, STARTS)
        if self.checkpoint is not None and self.random_state is None:
            raise MaylinkError(
                "checkpoint: needs a random_state, by which a broken run knows its own chains"
            )
        is_open = isinstance(self.family, str) and self.family in ("auto", "gaussian")
        if self.prior is not None and is_open and self.covariance == "auto":
            raise MaylinkError("prior: say what it is a prior of: give family or covariance")
        if self.covariance != "auto" and not is_open:
            raise MaylinkError(
                f"covariance: only for family='gaussian', which {self.family!r} is not; "
                "leave one of them out"
            )
        if self.inference == "gibbs" and self.batch_size is not None:
            raise MaylinkError("batch_size: only for inference='variational'")
        if self.sampler == "instantiated" and self.data_weight not in ("auto", 1.0):
            raise MaylinkError(
                "data_weight: the instantiated sampler needs 1; use sampler='collapsed'"
            )


def told_choice(choice: Choice) -> dict[str, Any]:
    """Return the fitted attributes that tell what was chosen."""
    return dict(zip(CHOSEN, (choice.data_weight, choice.by, choice.table), strict=True))


def _alike(prior: Any, default: Any) -> bool:
    """Whether a prior has the type and the shapes of another."""
    if isinstance(default, tuple):
        return (
            type(prior) is type(default)
            and len(prior) == len(default)
            and all(_alike(a, b) for a, b in zip(prior, default, strict=True))
        )
    return bool(np.shape(prior) == np.shape(default))


def _told(prior: Any) -> str:
    if not hasattr(prior, "_fields"):
        return "(" + ", ".join(_told(part) for part in prior) + ")"
    shapes = ", ".join(f"{n}: {np.shape(v)}" for n, v in prior._asdict().items())
    return f"{type(prior).__name__}({shapes})"


def _check_pair(name: str, value: Any, below: float) -> None:
    if value is None and name == "reliability":
        return
    pair = value if isinstance(value, (tuple, list)) else ()
    numbers = all(isinstance(number, (int, float, np.number)) for number in pair)
    if len(pair) != 2 or not numbers or not all(0.0 < number < below for number in pair):
        limit = " and below 1" if below == 1.0 else ""
        raise MaylinkError(f"{name}: {value!r} is not a pair of numbers above 0{limit}")
