"""RDPMeans: the fast deterministic estimator."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from maylink.big.data import is_big
from maylink.engines.cpu import CpuEngine
from maylink.engines.protocol import Engine
from maylink.errors import MaylinkError
from maylink.estimators.base import (
    CenterClusterer,
    labels_of_chunk,
    links_of_new_points,
    warn_overlooked,
)
from maylink.families import Family
from maylink.labels import complete_codes
from maylink.link_forms import as_links
from maylink.parameters import (
    as_generator,
    as_link_weights,
    check_choice,
    check_integer,
    check_number,
    check_penalty,
    forbid_links_as_y,
)
from maylink.problem import Problem, as_data
from maylink.runtime.progress import Progress
from maylink.solvers import rdpmeans
from maylink.solvers.fit import Status
from maylink.solvers.placing import faithful, seats
from maylink.solvers.streaming import MeansStream
from maylink.tuning import penalty, race
from maylink.tuning import rdpmeans as weighing

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger("maylink")

FROM_FIRST = (  # what the first batch of a stream sets for all
    "family_", "cluster_penalty_", "penalty_path_", "data_weight_", "link_scale_", "chosen_by_",
    "selection_",
)  # fmt: skip


class Choice(NamedTuple):
    """How a fit runs, and how that was chosen."""

    settings: rdpmeans.Settings
    by: str
    rungs: tuple[penalty.Rung, ...] = ()
    kept: rdpmeans.Kept | None = None
    link_scale: float | None = None
    table: pd.DataFrame | None = None


class RDPMeans(CenterClusterer):
    """Relational DP-means: clusters data with noisy links, without being told how many clusters.

    Each point in turn goes to the cluster with the least
    ``divergence − ξ_may · friends + ξ_not · strangers``, or opens a new cluster when that is the
    cluster penalty λ or more; then centres move to the means, and the link weights ξ grow.

    Parameters
    ----------
    family : str or Family, default "gaussian"
        What the data are: "gaussian" (squared distance), "diagonal-gaussian" (standardised),
        "full-gaussian" (Mahalanobis), "shared-gaussian" (Mahalanobis within clusters),
        "multinomial", "dirichlet-multinomial", "poisson", "bernoulli", "gamma",
        "von-mises-fisher" (cosine), or an object of :mod:`maylink.families`.
    cluster_penalty : float or "auto", default "auto"
        λ, what opening a cluster costs, in units of the divergence. "auto" takes it from
        ``n_clusters_hint`` where that is given; otherwise it tries a ladder of penalties and takes
        the one whose partitions have the highest exact probability. How much the data count in
        that, held-out links choose, and overrule it where one penalty clearly predicts them better
        (see :mod:`maylink.tuning.rdpmeans`); where there are fewer than 40 links, or
        ``link_weight`` is given, the data count fully (see :mod:`maylink.tuning.penalty`).
    n_clusters_hint : int, optional
        About how many clusters there are; λ is then the divergence of the furthest point in this
        round of furthest-first. The number found may differ.
    link_weight : float, (float, float), None or "auto", default "auto"
        ξ of the first sweep, or (ξ_may, ξ_not). None is λ/1000, or λ where the weights do not
        grow, which makes the result independent of the unit of the data; the paper's own value is
        0.001. "auto" begins as None does and lets weights grow to what the reliability of the
        links, as the partition shows it, is worth, or without end, whichever led to more probable
        partitions where held-out links chose; with ``keep="objective"`` or fewer than 40 links it
        is None.
    link_weight_rate : float, default 2
        Factor by which the link weights grow after each sweep; 1 keeps them fixed.
    init : array, optional
        Labels of shape (n,) or centres of shape (k, d) to start from; one cluster by default.
    order : {"random", "shuffle", "index"}, default "random"
        Order in which points are visited: one random order for each run, a new one for each sweep,
        or that of the rows.
    n_init : int, default 4
        Runs in different random orders.
    keep : {"probability", "objective"}, default "probability"
        What to keep of them. "probability": of all partitions that a sweep of any run left, the one
        with the highest exact probability of data and links (see :func:`maylink.log_joint`); since
        the link weights grow from sweep to sweep, this decides how far links are believed. Where
        held-out links chose how much the data count, clusters are then merged while that makes the
        partition more probable still, unless λ or a hint was given; where they chose a penalty by
        itself, the last partition is kept.
        "objective": the last partition of the run with the least objective, as the paper has it,
        which obeys most links, right or wrong.
    patience : int, default 20
        Sweeps without a change after which to stop while the link weights still grow.
    max_sweeps : int, default 300
        Sweeps after which to stop in any case.
    n_jobs : int, optional
        Threads; all processors by default. It does not change the result.
    checkpoint : path, optional
        A file that takes down, while a fit on Dask is under way, how far it has come; the same fit
        started again goes on from there. It is deleted when the fit is done. Needs a seed.
    verbose : bool, default False
        Whether to show a progress bar. Sweeps are also logged, to the logger "maylink".
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
    penalty_path_ : list of Rung
        What "auto" tried where probability chose: hint, penalty, clusters found and log joint
        probability of each.
    data_weight_ : float
        γ, how much the data count against the links where partitions are judged: the power on their
        likelihood. 1 where held-out links did not choose it.
    link_scale_ : float or None
        What a nat of log odds weighs in cluster penalties, infinite where weights grow without end;
        None where held-out links did not choose.
    chosen_by_ : {"held-out links", "evidence", "given"}
        How the penalty came about.
    selection_ : DataFrame or None
        What held-out links chose among: data weights ("probability") and penalties by themselves
        ("penalty"), the mean log probability of a held-out link with its standard error, how many
        links and folds that is of, the one chosen, and its penalty and link scale.
    link_weight_ : (float, float) or None
        (ξ_may, ξ_not) of the sweep that was kept, the last one that left the kept partition alone;
        None where there were no links.
    objective_ : float
        The objective at that sweep, each pair counted once, before clusters were merged.
    trace_ : DataFrame
        What each sweep of the run did.
    kept_sweep_ : int
        The row of ``trace_`` whose partition was kept.
    n_iter_ : int
        Number of sweeps of the run.
    status_ : Status
        Why it stopped.
    family_ : Family
        The family with what it took from the data.
    result_ : Result
        What the solver left; ``result_.parts`` tells what merged clusters are made of.

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
    >>> RDPMeans(random_state=0).fit(X, links=links).labels_
    array([0, 0, 1, 1, 2, 2])
    """

    # Pipelines and cross-validation hand links on without being told to.
    __metadata_request__fit: ClassVar = {"links": True}
    __metadata_request__partial_fit: ClassVar = {"links": True}
    __metadata_request__predict: ClassVar = {"links": True}

    def __init__(
        self,
        family: Family | str = "gaussian",
        *,
        cluster_penalty: float | str = "auto",
        n_clusters_hint: int | None = None,
        link_weight: float | tuple[float, float] | str | None = "auto",
        link_weight_rate: float = 2.0,
        init: Any = None,
        order: str = "random",
        n_init: int = 4,
        keep: str = "probability",
        patience: int = 20,
        max_sweeps: int = 300,
        n_jobs: int | None = None,
        checkpoint: str | Path | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.family = family
        self.cluster_penalty = cluster_penalty
        self.n_clusters_hint = n_clusters_hint
        self.link_weight = link_weight
        self.link_weight_rate = link_weight_rate
        self.init = init
        self.order = order
        self.n_init = n_init
        self.keep = keep
        self.patience = patience
        self.max_sweeps = max_sweeps
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, links: Any = None) -> Self:
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
        forbid_links_as_y(y)
        settings, relative = self._settings()
        problem, engine, X = self._laid_out(X, links)
        rng = as_generator(self.random_state)
        self._check_resolution(engine)
        start = self._start(problem)
        n_runs = 1 if self.order == "index" else int(self.n_init)
        with Progress("RDP-means", len(penalty.RUNGS) + n_runs, self.verbose) as progress:
            if self.checkpoint is not None:
                from maylink.big.resumed import fit_with_checkpoint

                asked = (settings, relative, start, n_runs, rng, progress)
                result, choice = fit_with_checkpoint(self, problem, engine, *asked)
            else:
                choice = self._choose(problem, engine, settings, relative, rng, progress)
                starts = (
                    rdpmeans.init(
                        problem, engine, choice.settings, *self._orders(problem.n, start, rng)
                    )
                    for _ in range(n_runs)
                )
                result, _ = rdpmeans.solve(
                    problem, engine, choice.settings, starts, progress, choice.kept
                )
            settings = choice.settings
        if result.status is not Status.CONVERGED:
            rdpmeans.warn_unsettled(result)
        if result.merged is not None:
            told = (problem.X, problem.family, self.n_jobs, result)
            result = replace(result, merged=None if is_big(X) else faithful(*told))
        kept = result.trace.sweeps[result.trace.kept]
        return self._keep(
            X,
            family_=problem.family,
            result_=result,
            labels_=result.labels,
            n_clusters_=result.n_clusters,
            cluster_centers_=problem.family.units(result.centers),
            cluster_penalty_=settings.penalty,
            penalty_path_=list(choice.rungs),
            data_weight_=settings.data_weight,
            link_scale_=choice.link_scale,
            chosen_by_=choice.by,
            selection_=choice.table,
            link_weight_=(kept.xi_may, kept.xi_not) if problem.links.n_links else None,
            objective_=result.objective,
            kept_sweep_=result.trace.kept,
            n_iter_=len(result.trace),
            status_=result.status,
            _prior=problem.prior,
        )

    def partial_fit(self, X: Any, y: Any = None, *, links: Any = None) -> Self:
        """Go on with another batch of points; see :mod:`maylink.solvers.streaming`.

        The first batch is fitted by :meth:`fit`: it sets the scale of the features, the cluster
        penalty and the link weights. Each later batch is visited by the same rule until it settles;
        where merged clusters have parts (``result_.parts``), these are swept, and links choose
        among clusters after that; where they have none, the penalty is at least the divergence of
        the first batch's furthest point. Points seen before do not move and are not kept: centres
        are the means of all points seen, new clusters may open. Links weigh what they weighed in
        the sweep that made the partition of the first batch, so no more than it took; if that had
        no links, ``link_weight`` where it is a number, else λ.

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
        if is_big(X):
            raise MaylinkError("X: partial_fit takes batches in memory; fit takes data on Dask")
        stream: MeansStream | None = getattr(self, "stream_", None)
        if stream is None:
            return self._begin(X, links)
        settings, _ = self._settings()
        data = self._new_data(X)
        warn_overlooked(stream.family, data)
        known = links_of_new_points(links, stream.n, data.shape[0])
        order, _, shuffle = self._orders(data.shape[0], None, as_generator(self.random_state))
        stream, result = stream.add(
            data, known, order, shuffle, max_sweeps=settings.max_sweeps, n_jobs=self.n_jobs
        )
        if result.status is not Status.CONVERGED:
            rdpmeans.warn_unsettled(result)
        weight = self.link_weight_
        if known is not None and known.n_links:
            weight = (stream.xi_may, stream.xi_not)
        return self._keep(
            X,
            **{name: getattr(self, name, None) for name in FROM_FIRST},  # saved ones may lack some
            stream_=stream,
            result_=result,
            labels_=result.labels,
            n_clusters_=result.n_clusters,
            cluster_centers_=stream.family.units(result.centers),
            link_weight_=weight,
            objective_=result.objective,
            kept_sweep_=result.trace.kept,
            n_iter_=len(result.trace),
            status_=result.status,
        )

    def _begin(self, X: Any, links: Any) -> Self:
        """Fit the first batch of a stream."""
        self.fit(X, links=links)
        data = as_data(X, self)
        labels, parts = self.labels_, self.result_.merged
        if parts is not None:
            labels = seats(data, self.family_, self.n_jobs, parts, labels)
        self.stream_ = MeansStream.begin(
            self.family_, self._stream_penalty(data), self._stream_weights(), data, labels,
            as_links(links, data.shape[0]), self.n_jobs, None if parts is None else parts.cluster,
        )  # fmt: skip
        return self

    def _stream_penalty(self, data: Any) -> float:
        """Return λ after the first batch; for merged clusters without parts it may be too small.

        What is no further from every centre than the points of the first batch opens none.
        """
        result = self.result_
        n_before = result.trace.sweeps[result.trace.kept].n_clusters
        if result.merged is not None or self.n_clusters_ == n_before:
            return float(self.cluster_penalty_)
        furthest = float(self.transform(data).min(axis=1).max())
        return max(float(self.cluster_penalty_), furthest * penalty.ABOVE)

    def _stream_weights(self) -> tuple[float, float]:
        """Return what links weigh after the first batch."""
        if self.link_weight_ is None:
            open_ = self.link_weight is None or self.link_weight == "auto"
            return as_link_weights(self.cluster_penalty_ if open_ else self.link_weight)
        trace = self.result_.trace
        made = max((at for at in range(trace.kept + 1) if trace.sweeps[at].n_changed), default=0)
        return trace.sweeps[made].xi_may, trace.sweeps[made].xi_not

    def _laid_out(self, X: Any, links: Any) -> tuple[Any, Engine, Any]:
        """Return the problem, the engine that holds its points, and the data as they are kept."""
        if is_big(X):
            from maylink.big.problem import BigProblem

            big = BigProblem.build(X, links, self.family)
            return big, big.engine(self.n_jobs), big.X
        problem = Problem.build(as_data(X, self), links, self.family)
        return problem, CpuEngine(problem.X, problem.family, self.n_jobs, problem.links), X

    def fit_predict(self, X: Any, y: Any = None, *, links: Any = None) -> Any:
        """Cluster the rows of X and return their clusters; parameters as in :meth:`fit`."""
        return self.fit(X, y, links=links).labels_

    def predict(self, X: Any, *, links: Any = None) -> Any:
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
            cluster that was merged is as near as the nearest of its parts (``result_.parts``),
            unless means are truer to the fit, or it was a fit on Dask. Of a dask array it is a dask
            array, computed when it is asked for.
        """
        if is_big(X):
            return self._by_chunk(X, links, labels_of_chunk)
        data = self._new_data(X)
        return self._place(data, links_of_new_points(links, self.labels_.size, data.shape[0]))

    # ------------------------------------------------------------------ parameters

    def _settings(self) -> tuple[rdpmeans.Settings, bool]:
        """Check the parameters; return the settings and whether link weights are relative to λ."""
        check_penalty(self.cluster_penalty, self.n_clusters_hint)
        check_choice("order", self.order, ("random", "shuffle", "index"))
        check_choice("keep", self.keep, ("probability", "objective"))
        check_number("link_weight_rate", self.link_weight_rate, 1.0)
        for name in ("n_init", "patience", "max_sweeps"):
            check_integer(name, getattr(self, name), 1)
        relative = self.link_weight is None or self.link_weight == "auto"
        first = 0.001 if self.link_weight_rate > 1.0 else 1.0
        xi_may, xi_not = as_link_weights(first if relative else self.link_weight)
        settings = rdpmeans.Settings(
            penalty=np.nan,
            xi_may=xi_may,
            xi_not=xi_not,
            rate=float(self.link_weight_rate),
            patience=int(self.patience),
            max_sweeps=int(self.max_sweeps),
            keep=self.keep,
        )
        return settings, relative

    def _check_resolution(self, engine: Engine) -> None:
        """Refuse a penalty so small that rounding alone would open clusters."""
        least = penalty.ROUNDING * engine.scale
        if self.cluster_penalty != "auto" and float(self.cluster_penalty) <= least:
            raise MaylinkError(
                f"cluster_penalty: {self.cluster_penalty!r} is lost in the rounding of the "
                f"divergences of these data; give more than {least:.1e}"
            )

    def _choose(
        self,
        problem: Problem,
        engine: Engine,
        settings: rdpmeans.Settings,
        relative: bool,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Choice:
        """Choose the penalty and the link weights where the user left them open."""
        given = None
        if self.cluster_penalty != "auto":
            given = float(self.cluster_penalty)
        elif self.n_clusters_hint is not None:
            given = penalty.from_hint(engine, int(self.n_clusters_hint))
        links = problem.links
        if links.n_links and self.link_weight == "auto" and self.keep == "probability":
            judged = penalty.sampled(problem, rng) if race.enough(links) else problem
            if race.enough(judged.links):
                return _by_links(judged, settings, given, rng, self.n_jobs, progress)
            logger.info("%d links are too few to hold any out", judged.links.n_links)

        if given is not None:
            return Choice(penalty.with_penalty(settings, given, relative), "given")
        found = penalty.from_data(problem, settings, relative, rng, self.n_jobs, progress)
        chosen = penalty.with_penalty(settings, found.penalty, relative)
        kept = found.kept
        if kept is not None:
            state = replace(kept.state, labels=engine.stored(found.labels))
            kept = kept._replace(state=state)
        return Choice(chosen, "evidence", tuple(found.rungs), kept)

    def _orders(
        self, n: int, start: NDArray[Any] | None, rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[Any] | None, int | None]:
        """Draw the order of a run, and the seed of its other orders where it has more."""
        turns = np.arange(n, dtype=np.int32)
        if self.order != "index":
            rng.shuffle(turns)
        return turns, start, int(rng.integers(2**31)) if self.order == "shuffle" else None

    def _start(self, problem: Problem) -> NDArray[Any] | None:
        if self.init is None:
            return None
        start = np.asarray(self.init)
        if start.shape == (problem.n,):
            return complete_codes(self.init, "init")
        if start.ndim == 2 and start.shape[0] > 0 and start.shape[1] == problem.X.shape[1]:
            centers = as_data(start, name="init")
            problem.family.check_centers(centers)
            return problem.family.coordinates(centers)
        raise MaylinkError(
            f"init: shape {start.shape} is neither that of labels, ({problem.n},), nor that of "
            f"centres, (k, {problem.X.shape[1]})"
        )


def _by_links(
    problem: Problem,
    settings: rdpmeans.Settings,
    given: float | None,
    rng: np.random.Generator,
    n_jobs: int | None,
    progress: Progress,
) -> Choice:
    """Let held-out links choose."""
    import pandas as pd

    found = weighing.choose(problem, settings, given, rng, n_jobs, progress)
    table = pd.DataFrame(found.rows)
    return Choice(found.settings, "held-out links", link_scale=found.link_scale, table=table)
