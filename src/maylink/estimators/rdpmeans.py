"""RDPMeans: the fast deterministic estimator."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maylink.chunks import in_chunks
from maylink.engines.settings import CudaSettings
from maylink.errors import MaylinkError
from maylink.estimators.base import links_of_new_points, warn_overlooked
from maylink.estimators.centers import CenterDescription, CenterEstimator, describe
from maylink.estimators.choices import Auto, DeviceName, Keep
from maylink.estimators.parameter_objects import Schedule, as_schedule
from maylink.families import Family
from maylink.link_forms import LinksLike, as_links
from maylink.parameters import (
    as_generator,
    as_link_weights,
    as_scale,
    check_choice,
    check_integer,
    check_neighbours,
    check_penalty,
    forbid_links_as_y,
)
from maylink.problem import Problem
from maylink.runtime.session import Session
from maylink.solvers import rdpmeans
from maylink.solvers.checkpointed_runs import check_checkpoint, checkpoint_of
from maylink.solvers.fit import Clustering, Fit, warn_unsettled
from maylink.solvers.means_stream import MeansStream
from maylink.solvers.placing import faithful, in_parts
from maylink.solvers.rdpmeans import RDPMeansSettings, RDPMeansSolver
from maylink.solvers.rdpmeans_runs import RDPMeansRuns
from maylink.solvers.rdpmeans_starts import RDPMeansStarts
from maylink.tuning.rdpmeans import RDPMeansChoice, RDPMeansRequest
from maylink.tuning.rdpmeans_views import tune
from maylink.tuning.settings import Tuning, as_tuning


class RDPMeans(CenterEstimator):
    """Relational DP-means: clusters data with noisy links, without being told how many clusters.

    Each point in turn goes to the cluster with the least
    ``divergence − ξ_may · friends + ξ_not · strangers``, or opens a new cluster when that is the
    cluster penalty λ or more; then centres move to the means, and the link weights ξ grow.

    Parameters
    ----------
    family : str or Family, default "auto"
        What the data are: "gaussian" (squared distance), "diagonal-gaussian" (standardised),
        "full-gaussian" (Mahalanobis), "shared-gaussian" (Mahalanobis within clusters), "plda" (the
        same in few directions), "multinomial", "dirichlet-multinomial", "poisson", "bernoulli",
        "gamma", "von-mises-fisher" (cosine), or an object of :mod:`maylink.families`. "auto"
        chooses by held-out links among those that the values allow, with fewer than 16 linked pairs
        by the data alone; of many features that is "plda". It is "gaussian" on Dask, and where
        penalty, hint, link weight, start or ``keep="objective"`` are given.
    scale : "auto", True or False, default "auto"
        Whether "auto" has "diagonal-gaussian" in place of "gaussian": columns in units of their
        deviations. "auto": where units differ (:func:`maylink.families.columns.units_differ`), but
        not with a given penalty or given link weights, which are in the unit of the distance.
    neighbours : "auto", False or int, default "auto"
        The neighbour graph of the data as one more source of links, with weights of its own. "auto"
        chooses among none and 5, or none, 10 and 20 for more than 32 features; False leaves the
        graph out.
    cluster_penalty : float or "auto", default "auto"
        λ, what opening a cluster costs, in units of the divergence. "auto" takes it from
        ``n_clusters_hint`` where that is given. Otherwise small pieces of the data are merged by
        the exact probability of data and links (:mod:`maylink.tuning.rdpmeans_views`), and λ is
        just above the divergence of the furthest point. On Dask, and of a given family with no such
        choice, it is that of the most probable partition (:mod:`maylink.tuning.penalty`).
    n_clusters_hint : int, optional
        About how many clusters there are; λ is then the divergence of the furthest point in this
        round of furthest-first. The number found may differ.
    link_weight : float, (float, float), None or "auto", default "auto"
        ξ of the first sweep, or (ξ_may, ξ_not). None is λ/1000, or λ where the weights do not
        grow, which makes the result independent of the unit of the data; the paper's own value is
        0.001. "auto" is what the reliability of the links of each source is worth, as the partition
        shows it; None with ``keep="objective"``, or a given λ and fewer than 40 linked pairs.
    init : array, optional
        Labels of shape (n,) or centres of shape (k, d) to start from; by default the partition that
        held-out links chose, or one cluster.
    n_init : int, default 4
        Runs in different random orders. Where the partition to begin at was found on a sample there
        is one run: clusters of very many points end alike in any order.
    keep : {"probability", "objective"}, default "probability"
        What to keep of them. "probability": of all partitions that a sweep of any run left, the one
        with the highest exact probability of data and links (see :func:`maylink.log_joint`); since
        the link weights grow from sweep to sweep, this decides how far links are believed. Where
        held-out links chose, the start counts as well, and clusters are merged while that makes the
        partition more probable still, unless λ or a hint was given. "objective": the last partition
        of the run with the least objective, as the paper has it, which obeys most links.
    schedule : Schedule, optional
        How to sweep: how fast link weights grow, the order of visits, when to stop
        (:class:`maylink.Schedule`).
    tuning : Tuning, optional
        How "auto" chooses (:class:`maylink.Tuning`).
    n_jobs : int, optional
        Threads; all processors by default.
    checkpoint : path, optional
        A file that stores the progress of a fit on Dask, with a ``random_state``. The same fit,
        started again, makes its choices again and then continues from the file.
    verbose : bool, default False
        Whether to show a progress bar at once; in a terminal there is one after two seconds. Sweeps
        are logged, too, to the logger "maylink".
    device : {"auto", "cpu", "cuda"} or CudaSettings, default "auto"
        Where sweeps run (docs/howto/gpu.md). "auto" is the GPU for data that are there. For data on
        Dask "cuda" is the GPU of each worker.
    time_budget : float or str, optional
        Seconds, or a text such as "5m", after which the best so far is taken, as ``status_`` says.
    random_state : int, RandomState or Generator, optional
        Seed of the random orders.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of each point, numbered by first appearance.
    n_clusters_ : int
        Number of clusters.
    cluster_centers_ : array of shape (K, d)
        Means of the clusters in the units of X (proportions for "multinomial").
    cluster_penalty_ : float
        λ in use.
    penalty_path_ : list of PenaltyStep
        What "auto" tried where probability chose: hint, penalty, clusters found and log joint
        probability of each.
    data_weight_ : float
        γ, how much the data count against the links where partitions are judged: the power on their
        likelihood. 1 where held-out links did not choose it.
    n_neighbours_ : int
        How many neighbours of each point are links; 0 where the graph is left out.
    link_scale_ : float or None
        What a nat of log odds weighs in cluster penalties, infinite where weights grow without end;
        None where held-out links did not choose.
    chosen_by_ : {"held-out links", "neighbours", "evidence", "given"}
        How the penalty came about.
    selection_ : DataFrame or None
        What held-out links chose among, or, without any, held-out neighbours: family, data weight
        and neighbours (data weights and penalties where λ was given, or on Dask), with the mean log
        probability of a held-out link.
    link_weight_ : (float, float) or None
        (ξ_may, ξ_not) of the sweep that was kept, of the heaviest source; None without links.
    objective_ : float
        The objective at that sweep, each pair counted once, before clusters were merged.
    trace_ : DataFrame
        What each sweep of the run did.
    kept_sweep_ : int
        The row of ``trace_`` whose partition was kept; 0, too, where the start was.
    n_iter_ : int
        Number of sweeps of the run.
    status_ : Status
        Why it stopped.
    family_ : Family
        The family with what it took from the data.
    reliability_ : DataFrame or None
        p and q of each source with 95% intervals, as the partition shows them; None without links,
        in a stream and on Dask.
    held_out_ : HeldOut or None
        How held-out links were predicted, and how by a guess; None where none were held out.
    labels_without_links_ : array of shape (n,) or None
        The best partition without links, where the choice of settings has made one.
    prior_
        The prior by which :meth:`score` judges partitions.
    result_ : Fit
        What the solver left; ``result_.state.parts`` tells what merged clusters are made of.

    References
    ----------
    Khashabi, Wieting, Liu, Liang: Clustering With Side Information: From a Probabilistic Model to
    a Deterministic Algorithm, 2015, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink import Links, RDPMeans
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2], [9.0], [9.2]])
    >>> RDPMeans(random_state=0).fit(X).labels_
    array([0, 0, 0, 0, 1, 1])
    >>> links = Links.from_pairs(may=[(0, 1), (2, 3)], may_not=[(0, 2), (1, 3)], n=6)
    >>> RDPMeans(link_weight=1.0, random_state=0).fit(X, links=links).labels_
    array([0, 0, 1, 1, 2, 2])
    """

    __metadata_request__fit: ClassVar = {"links": True}
    __metadata_request__partial_fit: ClassVar = {"links": True}
    __metadata_request__predict: ClassVar = {"links": True}

    _parameter_objects: ClassVar = {"schedule": as_schedule, "tuning": as_tuning}

    def __init__(
        self,
        family: Family | str = "auto",
        *,
        scale: bool | Auto = "auto",
        neighbours: int | Auto = "auto",
        cluster_penalty: float | Auto = "auto",
        n_clusters_hint: int | None = None,
        link_weight: float | tuple[float, float] | Auto | None = "auto",
        init: Any = None,
        n_init: int = 4,
        keep: Keep = "probability",
        schedule: Schedule | None = None,
        tuning: Tuning | None = None,
        checkpoint: str | Path | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        device: DeviceName | CudaSettings = "auto",
        time_budget: float | str | None = None,
        random_state: Any = None,
    ) -> None:
        self.family = family
        self.scale = scale
        self.neighbours = neighbours
        self.cluster_penalty = cluster_penalty
        self.n_clusters_hint = n_clusters_hint
        self.link_weight = link_weight
        self.init = init
        self.n_init = n_init
        self.keep = keep
        self.schedule = schedule
        self.tuning = tuning
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.device = device
        self.time_budget = time_budget
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, links: LinksLike | None = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The data. A dask array, a dask DataFrame or the path of a folder of Parquet files stays
            where it is, and ``labels_`` is a dask array (see docs/scale.md).
        y : ignored
            For scikit-learn.
        links : Links, pair of lists, n × n matrix, DataFrame or None
            Links between the rows; without any this is DP-means. A pair is (may, may_not), a
            matrix holds +1, −1 and 0, a frame has columns i, j, kind[, weight, source].

        Returns
        -------
        self
        """
        return self._fit(X, y, links)

    def _request(self) -> RDPMeansRequest:
        """Check the parameters and return what is asked for."""
        check_penalty(self.cluster_penalty, self.n_clusters_hint)
        check_choice("keep", self.keep, ("probability", "objective"))
        check_integer("n_init", self.n_init, 1)
        check_neighbours(self.neighbours)
        schedule = as_schedule(self.schedule)
        is_open = self.link_weight is None or self.link_weight == "auto"
        first = 0.001 if schedule.rate > 1.0 else 1.0  # in units of λ
        xi_may, xi_not = as_link_weights(first if is_open else self.link_weight)
        settings = RDPMeansSettings(
            penalty=np.nan,
            xi_may=xi_may,
            xi_not=xi_not,
            rate=float(schedule.rate),
            patience=int(schedule.patience),
            max_sweeps=int(schedule.max_sweeps),
            stretch=float(schedule.stretch),
            keep=self.keep,
        )
        penalty = None if self.cluster_penalty == "auto" else float(self.cluster_penalty)
        return RDPMeansRequest(
            family=self.family,
            settings=settings,
            relative_weights=is_open,
            choose_weights=self.link_weight == "auto" and self.keep == "probability",
            cluster_penalty=penalty,
            n_clusters_hint=self.n_clusters_hint and int(self.n_clusters_hint),
            neighbours=self.neighbours,
            has_start=self.init is not None,
            scale=as_scale(self.scale, self.family, penalty is not None or not is_open),
            device=self._device,
        )

    def _tune(
        self, problems: list[Problem], request: RDPMeansRequest, session: Session
    ) -> RDPMeansChoice:
        """Choose the penalty and the link weights where the user left them open."""
        problem, tuning = problems[0], as_tuning(self.tuning)
        self._starts.start(problem)  # one that does not fit is refused before the long work
        if self.checkpoint is not None:
            check_checkpoint(problem, self.random_state, self._starts.order)
        with session.progress("tuning", tuning.folds_of(problem.links), "fit") as progress:
            return tune(problems, request, tuning, session.rng, self.n_jobs, progress)

    def _solve(
        self, choice: RDPMeansChoice, request: RDPMeansRequest, session: Session
    ) -> Fit[Clustering]:
        """Run RDP-means from every start and keep the best."""
        problem, settings, starts = choice.problem, choice.settings, self._starts
        solver = RDPMeansSolver(problem, choice.engine, settings)
        checkpoint = checkpoint_of(
            self.checkpoint, "rdpmeans", problem, settings, self.get_params(), self.init
        )
        runs = RDPMeansRuns(solver, checkpoint)
        with session.progress("RDP-means", starts.n_runs) as progress:
            states = starts.states(solver, session.rng, choice.start, choice.n_runs)
            fit = rdpmeans.solve(solver, states, progress, choice.run, runs.make)
        if not fit.status.is_early:
            runs.finish()
        state = fit.state
        if choice.pieces is not None:
            state = in_parts(problem, state, choice.pieces, self.n_jobs)
        return replace(fit, state=faithful(problem, state, self.n_jobs))

    def _describe(
        self, choice: RDPMeansChoice, request: RDPMeansRequest, fit: Fit[Clustering]
    ) -> CenterDescription:
        """Return the fitted attributes."""
        warn_unsettled(fit, stacklevel=4)
        return describe(choice, fit)

    @property
    def _starts(self) -> RDPMeansStarts:
        """Makes the start of each run."""
        return RDPMeansStarts(self.init, as_schedule(self.schedule).order, int(self.n_init))

    # ------------------------------------------------------------------ new points

    def predict(self, X: Any, *, links: LinksLike | None = None) -> Any:
        """Return the cluster of each new point; no cluster opens and no centre moves.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            New points.
        links : Links or matrix, optional
            Links among the m new points, or, when made for n + m points, also between them and the
            n points of the fit, which then come first. They weigh what links weighed in the sweep
            that was kept, or λ if the fit had none.

        Returns
        -------
        array of shape (m,)
            For the points of the fit it need not be ``labels_``, which links had a say in. A
            merged cluster is as near as the nearest of its parts (``result_.state.parts``),
            unless means are truer to the fit, or it was a fit on Dask. Of a dask array it is a dask
            array, computed when it is asked for.
        """
        check_is_fitted(self)
        if links is None or in_chunks(X):
            return self._labels_of_rows(X, links)
        data = self._new_data(X)
        return self._place(data, links_of_new_points(links, self.labels_.size, data.shape[0]))

    # ------------------------------------------------------------------ streams

    def partial_fit(self, X: Any, y: Any = None, *, links: LinksLike | None = None) -> Self:
        """Go on with another batch of points; see :mod:`maylink.solvers.means_stream`.

        The first batch is fitted by :meth:`fit`: it sets the scale of the features, the cluster
        penalty and the link weights. Each later batch is visited by the same rule until it settles;
        where merged clusters have parts (``result_.state.parts``), these are swept, and links
        choose among clusters after that; where they have none, the penalty is at least the
        divergence of the first batch's furthest point. Points seen before do not move and are not
        kept: centres are the means of all points seen, new clusters may open. Links weigh what they
        weighed in the sweep that made the partition of the first batch, so no more than it took; if
        that had no links, ``link_weight`` where it is a number, else λ.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            Points not seen before.
        y : ignored
            For scikit-learn.
        links : Links or matrix, optional
            Made for the m points of the batch, or for all seen so far and these, in the order of
            their coming. Links between two points seen before are left out.

        Returns
        -------
        self
            ``labels_``, ``cluster_centers_`` and ``objective_`` are of all points seen so far,
            ``trace_`` and ``n_iter_`` of this batch; where clusters have parts, the trace is of the
            sweeps before links had a say, and it and the objective count parts.

        Examples
        --------
        >>> import numpy as np
        >>> from maylink import RDPMeans
        >>> X = np.array([[0.0], [0.2], [5.0], [5.2], [9.0], [9.2]])
        >>> model = RDPMeans(cluster_penalty=2.0, random_state=0)
        >>> model.partial_fit(X[:3]).partial_fit(X[3:]).labels_
        array([0, 0, 1, 1, 2, 2])
        """
        forbid_links_as_y(y)
        if in_chunks(X):
            raise MaylinkError("X: partial_fit takes batches in memory; fit takes data on Dask")
        stream: MeansStream | None = getattr(self, "stream_", None)
        if stream is None:
            return self._begin_stream(X, links)
        request = self._request()
        data = self._new_data(X)
        warn_overlooked(stream.family, data)
        batch_links = links_of_new_points(links, stream.n, data.shape[0])
        order, shuffle = self._starts.draw_order(data.shape[0], as_generator(self.random_state))
        sweeps = request.settings.max_sweeps
        stream, fit = stream.add(
            data, batch_links, order, shuffle, max_sweeps=sweeps, n_jobs=self.n_jobs
        )
        warn_unsettled(fit, stacklevel=2)
        linked = batch_links is not None and batch_links.n_links > 0
        names = [field.name for field in fields(CenterDescription)]
        first: dict[str, Any] = {name: getattr(self, f"{name}_", None) for name in names}
        description = replace(
            CenterDescription(**first),
            labels=fit.state.labels,
            n_clusters=fit.state.n_clusters,
            cluster_centers=stream.family.units(fit.state.centers),
            link_weight=(stream.xi_may, stream.xi_not) if linked else self.link_weight_,
            objective=fit.objective,
            kept_sweep=fit.trace.kept,
            n_iter=len(fit.trace),
            status=fit.status,
            result=fit,
            reliability=None,  # links of earlier batches are not kept
            labels_without_links=None,
        )
        self._keep(X, description, getattr(self, "table_code_", None))
        self.stream_ = stream
        return self

    def _begin_stream(self, X: Any, links: Any) -> Self:
        """Fit the first batch of a stream."""
        self.fit(X, links=links)
        data = self._new_data(X)
        is_open = self.link_weight is None or self.link_weight == "auto"
        self.stream_ = MeansStream.after_fit(
            self.result_,
            self.family_,
            data,
            as_links(links, data.shape[0]),
            self.cluster_penalty_,
            as_link_weights(self.cluster_penalty_ if is_open else self.link_weight),
            self.n_jobs,
        )
        return self
