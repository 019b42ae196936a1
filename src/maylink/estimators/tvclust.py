"""TVClust: the Bayesian estimator."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

from sklearn.exceptions import ConvergenceWarning

from maylink.chunks import in_chunks
from maylink.engines.settings import CudaSettings
from maylink.errors import MaylinkError
from maylink.estimators.base import links_of_new_points, warn_overlooked
from maylink.estimators.choices import (
    Auto,
    Covariance,
    DeviceName,
    InferenceName,
    PartitionPriorName,
)
from maylink.estimators.parameter_objects import Gibbs, Variational, as_inference
from maylink.estimators.tvclust_checks import check_parameters, device_for
from maylink.estimators.tvclust_describe import (
    TuningSummary,
    TVClustDescription,
    describe,
    describe_stream,
    tuning_summary,
)
from maylink.estimators.tvclust_queries import TVClustQueries
from maylink.estimators.tvclust_solve import solve
from maylink.estimators.tvclust_task import ClusterSummary, TVClustTask
from maylink.families import Family
from maylink.link_forms import LinksLike
from maylink.model.partition_priors import DIRICHLET_PROCESS, PartitionPrior, as_partition_prior
from maylink.model.source_prior import SHARED, ReliabilityPrior
from maylink.parameters import as_generator, forbid_links_as_y
from maylink.problem import ChunkedProblem, Problem, check
from maylink.runtime.interrupts import CtrlC
from maylink.runtime.session import Session
from maylink.runtime.threads import one_thread
from maylink.solvers.fit import Fit, Status
from maylink.solvers.variational import VariationalSettings
from maylink.solvers.variational_stream import VariationalStream
from maylink.tuning.prior_checks import checked_prior
from maylink.tuning.settings import Tuning, as_tuning
from maylink.tuning.starts import StartModel, Starts
from maylink.tuning.tvclust import tune
from maylink.tuning.tvclust_choice import TVClustChoice, TVClustRequest


class TVClust(TVClustQueries):
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
    covariance : {"auto", "spherical", "diagonal", "shared", "plda", "full"}, default "auto"
        Covariance of the clusters of Gaussian data: equal variances, one variance for each feature,
        one matrix for all clusters, one within clusters and one between them in few directions, one
        for each. "auto" chooses.
    inference : {"variational", "gibbs"}, Variational or Gibbs, default "variational"
        "variational" is fast and deterministic given its starts; "gibbs" draws from the exact
        posterior, given time. An object of :class:`maylink.Variational` or :class:`maylink.Gibbs`
        sets what only that inference needs: restarts, batches, chains, draws.
    data_weight : float or "auto", default "auto"
        γ, the power on the data's likelihood. Below 1 the data count less against the links, which
        helps where the family describes the clusters badly. "auto" chooses, together with
        family and covariance, what predicts held-out links best (:mod:`maylink.tuning`); where
        there are fewer than 16 linked pairs the data alone choose.
    neighbours : "auto", False or int, default "auto"
        The neighbour graph of the data as one more source of links: each point and so many nearest
        neighbours may, as many random pairs may not; how reliable that is, is learned
        (docs/neighbours.md). "auto" chooses among none and 5 of few features, none, 10 and 20 of
        many and under the family "plda"; False leaves the graph out. Streams, batches and data on
        Dask do without it.
    alpha : float or (float, float), default (1, 1)
        Concentration of the Dirichlet or Pitman–Yor process; a pair is shape and rate of the Gamma
        prior under which it is learned.
    partition_prior : str or PartitionPrior, default "auto"
        Prior of the partition: "dirichlet-process" expects few large clusters, "pitman-yor" many
        small ones beside them, "microclustering" clusters that stay small however many points there
        are, "uniform" nothing of sizes. Objects of :class:`maylink.PitmanYor` and the like set
        more. "auto" is the Dirichlet process. Of data of many features held-out links may choose
        "uniform" or, where clusters turn out to hold a few points each, another of the first three.
    reliability : (float, float), optional
        p and q of all sources, where they are known; learned if not given.
    reliability_prior : "shared" or (float, float), default "shared"
        Prior of p and of q: several sources share a mean and a spread, which are learned; or the
        Beta prior of each source by itself. One source alone has Beta(9, 1).
    prior : optional
        Prior of the clusters' parameters, as the family has it; by default that for the data.
    init : {"auto", "rdp-means", "one", "singletons"} or array of shape (n,), default "auto"
        Where to start: "auto" makes partitions in many ways, merges their clusters and takes the
        most probable ones (:mod:`maylink.tuning.pool`); or the paper's RDP-means, one cluster,
        every point by itself, or labels.
    tuning : Tuning, optional
        How "auto" chooses (:class:`maylink.Tuning`).
    checkpoint : path, optional
        Gibbs: a folder where chains are saved as they go. A fit with the same data, links and
        settings goes on where it was, to exactly the draws of an unbroken run. Data on Dask: a file
        that takes down how far the sweeps have come; it is deleted when the fit is done.
    n_jobs : int, optional
        Processes for the chains; all processors by default. It does not change the result.
    verbose : bool, default False
        Whether to show a progress bar at once; in a terminal there is one after two seconds.
    device : {"auto", "cpu", "cuda"} or CudaSettings, default "auto"
        Where variational sweeps and predictions run (docs/howto/gpu.md). "auto" is the GPU for data
        that are there, if all families that are open to choice have a form for it.
    time_budget : float or str, optional
        Seconds, or a text such as "5m", after which the best so far is taken, as ``status_`` says.
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
        p and q of each source with 95% intervals and the votes behind them; of several sources
        also the probability that each ``differs`` from all others.
    posterior_ : Posterior
        The draws or factors behind all of it.
    alpha_ : float
        Posterior mean of α; NaN under microclustering and "uniform", which have none.
    bound_ : float
        Variational: the bound on ``log p(x, E)``, under microclustering given the number of
        clusters; ``bounds_`` holds it after each sweep.
    draws_ : Draws
        Gibbs: the draws of all chains, one chain after the other; ``n_chains_`` tells how many.
    status_ : Status
        Why it stopped; Ctrl-C, or the end of the time, stops a fit early and keeps what there is.
    n_iter_ : int
        Sweeps of the run that was kept, or draws of each chain.
    family_ : Family
        The family in use, with what it took from the data.
    data_weight_ : float
        γ in use.
    n_neighbours_ : int
        How many neighbours of each point are links; 0 where the graph is left out.
    neighbour_reliability_ : (float, float) or None
        p and q of the neighbour graph.
    chosen_by_ : {"held-out links", "neighbours", "evidence", "given"}
        How family and data weight came about.
    selection_ : DataFrame or None
        The candidates: family, data weight, mean log probability of a held-out link with its
        standard error, how far behind the choice that is on the same links, how many links and
        folds it is of, and which one was chosen; see :func:`maylink.plots.plot_selection`.
    held_out_ : HeldOut or None
        How held-out links were predicted, and how by a guess; None where none were held out.
    labels_without_links_ : array of shape (n,) or None
        The best partition without links, where the choice of settings has made one.
    prior_
        The prior in use; its scales at their geometric posterior means where Gibbs learned them.

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

    # Pipelines and cross-validation pass links on by default.
    __metadata_request__fit: ClassVar = {"links": True}
    __metadata_request__partial_fit: ClassVar = {"links": True}
    __metadata_request__predict: ClassVar = {"links": True}
    __metadata_request__predict_proba: ClassVar = {"links": True}

    _parameter_objects: ClassVar = {"inference": as_inference, "tuning": as_tuning}

    def __init__(
        self,
        family: Family | str = "auto",
        *,
        covariance: Covariance = "auto",
        inference: InferenceName | Variational | Gibbs = "variational",
        data_weight: float | Auto = "auto",
        neighbours: int | Auto = "auto",
        alpha: float | tuple[float, float] = (1.0, 1.0),
        partition_prior: PartitionPrior | PartitionPriorName = "auto",
        reliability: tuple[float, float] | None = None,
        reliability_prior: ReliabilityPrior = SHARED,
        prior: Any = None,
        init: Any = "auto",
        tuning: Tuning | None = None,
        checkpoint: str | Path | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        device: DeviceName | CudaSettings = "auto",
        time_budget: float | str | None = None,
        random_state: Any = None,
    ) -> None:
        self.family = family
        self.covariance = covariance
        self.inference = inference
        self.data_weight = data_weight
        self.neighbours = neighbours
        self.alpha = alpha
        self.partition_prior = partition_prior
        self.reliability = reliability
        self.reliability_prior = reliability_prior
        self.prior = prior
        self.init = init
        self.tuning = tuning
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.device = device
        self.time_budget = time_budget
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, links: LinksLike | None = None) -> Self:
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
        return self._fit(X, y, links)

    def _request(self) -> TVClustRequest:
        """Check the parameters and return what is asked for."""
        inference = as_inference(self.inference)
        check_parameters(self, inference)
        weights = as_tuning(self.tuning).data_weights
        if isinstance(inference, Gibbs) and inference.sampler == "instantiated":
            weights = (1.0,)  # it has no other
        in_batches = isinstance(inference, Variational) and inference.batch_size is not None
        return TVClustRequest(
            self.family,
            self.covariance,
            self.data_weight,
            self.prior,
            self._settings(1.0),
            weights,
            0 if in_batches else self.neighbours,
            self.partition_prior == "auto",
            self._device,
        )

    def _check_chunks(self) -> None:
        """Raise where the inference needs data in memory."""
        inference = as_inference(self.inference)
        if isinstance(inference, Gibbs):
            raise MaylinkError(
                "inference: draws hold a label for each point, so 'gibbs' needs data in memory; on "
                "Dask use 'variational'"
            )
        if inference.batch_size is not None:
            raise MaylinkError(
                "batch_size: data on Dask are visited by chunk already; leave it out, or give data "
                "in memory"
            )

    def _tune(
        self, problems: list[Problem], request: TVClustRequest, session: Session
    ) -> TVClustChoice:
        """Choose family, covariance and data weight where the user left them open."""
        if self._partition_prior().small_clusters and isinstance(problems[0], ChunkedProblem):
            raise MaylinkError(
                "partition_prior: 'microclustering' needs all data in memory, as a sample of the "
                "points cuts small clusters up; load X, or use partition_prior='pitman-yor'"
            )
        device = device_for(self.device, self._device, problems, as_inference(self.inference))
        if device is not self._device:
            self._device = device
        request, tuning = replace(request, device=device), as_tuning(self.tuning)
        with session.progress("tuning", tuning.folds_of(problems[0].links), "fit") as progress:
            return tune(problems, request, tuning, session.rng, self.n_jobs, progress)

    def _solve(
        self, choice: TVClustChoice, request: TVClustRequest, session: Session
    ) -> Fit[ClusterSummary]:
        """Fit with what was chosen."""
        task = TVClustTask(
            choice,
            StartModel(
                self._prior_of(choice.problem),
                self._settings(choice.data_weight, choice.partition_prior),
            ),
            self.init,
            as_tuning(self.tuning),
            self.checkpoint,
            self.get_params(),
            self._device,
        )
        return solve(task, as_inference(self.inference), session)

    def _describe(
        self, choice: TVClustChoice, request: TVClustRequest, fit: Fit[ClusterSummary]
    ) -> TVClustDescription:
        """Return the fitted attributes."""
        if fit.status is Status.MAX_SWEEPS:
            warnings.warn(
                f"TVClust stopped after {request.settings.max_sweeps} sweeps, before the bound "
                "stood still; raise max_sweeps or tol",
                ConvergenceWarning,
                stacklevel=5,
            )
        return describe(choice, fit)

    @one_thread()
    def partial_fit(self, X: Any, y: Any = None, *, links: LinksLike | None = None) -> Self:
        """Go on with another batch of points; see :mod:`maylink.solvers.variational_stream`.

        The first batch sets the scale of the features and the prior, and whatever is "auto" is
        chosen by its links. A stream keeps labels, not responsibilities: ``coclustering`` then
        tells 0 or 1, and ``responsibilities_`` and ``bound_`` are not there.

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
        request, inference = replace(self._request(), neighbours=0), as_inference(self.inference)
        if not isinstance(inference, Variational):
            raise MaylinkError("partial_fit: only for inference='variational'")
        if in_chunks(X):
            raise MaylinkError("partial_fit: takes batches in memory; call fit with data on Dask")
        stream: VariationalStream | None = getattr(self, "stream_", None)
        rng, tuning = as_generator(self.random_state), as_tuning(self.tuning)
        if stream is None:
            problems = check(X, links, request.families, self)
            with CtrlC() as stop:
                session = Session(rng, self.n_jobs, bool(self.verbose), stop)
                choice = self._tune(problems, request, session)
            data, settings = choice.problem.X, self._settings(choice.data_weight)
            prior = self._prior_of(choice.problem)
            stream = VariationalStream.begin(choice.problem.family, prior, settings)
            first = tuning_summary(choice)
        else:
            data = self._new_data(X)
            held_out = getattr(self, "held_out_", None)
            first = TuningSummary(
                self.data_weight_, self.chosen_by_, self.selection_, 0, held_out, None
            )
        warn_overlooked(stream.family, data)
        batch_links = links_of_new_points(links, stream.n, data.shape[0])
        model = StartModel(stream.prior, stream.settings)
        starts = Starts(self.init, rng, tuning, self.n_jobs, model)
        return self._keep(X, describe_stream(first, stream.add(data, batch_links, starts)))

    # ------------------------------------------------------------------ parameters

    def _prior_of(self, problem: Problem) -> Any:
        """Return the prior in use, checked against the family's own."""
        return checked_prior(self.prior, problem.prior, problem.family.name)

    def _settings(
        self, data_weight: float, partition_prior: PartitionPrior | None = None
    ) -> VariationalSettings:
        """Return how a variational fit runs; of draws it says what the model is."""
        alpha: Any = self.alpha
        shape, rate = alpha if isinstance(alpha, (tuple, list)) else (1.0, 1.0)
        inference = as_inference(self.inference)
        how = inference if isinstance(inference, Variational) else Variational()
        return VariationalSettings(
            data_weight=data_weight,
            alpha=None if isinstance(alpha, (tuple, list)) else float(alpha),
            alpha_prior=(float(shape), float(rate)),
            reliability=self.reliability,
            reliability_prior=self.reliability_prior,
            truncation=how.truncation,
            tol=float(how.tol),
            max_sweeps=how.max_sweeps,
            partition_prior=partition_prior or self._partition_prior(),
        )

    def _partition_prior(self) -> PartitionPrior:
        """Return the prior of the partition that was given, or the usual one."""
        value = self.partition_prior
        return as_partition_prior(DIRICHLET_PROCESS if value == "auto" else value)
