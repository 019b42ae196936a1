"""TVClust on Dask: the bounds and labels of one machine, however the data are cut."""

import os
import signal
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from sklearn.base import clone

dask = pytest.importorskip("dask", reason="Dask is not installed: pip install 'maylink[dask]'")
da = pytest.importorskip("dask.array")

from in_chunks import FAMILIES, SLOW  # noqa: E402
from maylink import (  # noqa: E402
    Gibbs,
    Links,
    RDPMeans,
    Tuning,
    TVClust,
    Variational,
    load,
    save,
)
from maylink.errors import DomainError, LinksError, MaylinkError  # noqa: E402
from maylink.problem import ChunkedProblem  # noqa: E402
from maylink.runtime.progress import Progress  # noqa: E402
from maylink.solvers.chunked_variational import ChunkedVariationalSolver  # noqa: E402
from maylink.solvers.fit import Status  # noqa: E402
from maylink.solvers.variational import VariationalSettings  # noqa: E402
from maylink.tuning import tvclust_choice  # noqa: E402
from maylink.tuning.pool import StartPool  # noqa: E402
from zoo import draw, draw_pairs, example, links_of, true_links  # noqa: E402

N = 90


pytestmark = pytest.mark.usefixtures("two_dask_threads")


def without_draws(**options):
    """TVClust whose intervals are those of its factors, as they are of data in chunks."""
    inference = options.pop("inference", Variational())
    if isinstance(inference, Variational):
        inference = clone(inference).set_params(interval_draws=0)
    return TVClust(inference=inference, **options)


def cut(X, seed):
    """A dask array with chunks of all sizes, some of one row each, one for all, or one empty."""
    n = len(X)
    drawn = np.sort(np.random.default_rng(seed).choice(np.arange(1, n), 4, replace=False))
    inner = [drawn, range(n - 20, n), [], [n - 2, n - 1], [40, 40]][seed % 5]
    sizes = np.diff([0, *inner, n])
    return da.from_array(X, chunks=(tuple(int(size) for size in sizes), X.shape[1]))


def compare(ours, theirs, X, close=1e-9):
    """All that a fit tells."""
    assert isinstance(ours.labels_, da.Array)
    assert isinstance(ours.responsibilities_, da.Array)
    assert ours.labels_.compute().tolist() == theirs.labels_.tolist()
    assert ours.bounds_ == pytest.approx(theirs.bounds_, rel=close)
    assert ours.bound_ == ours.bounds_[-1]
    assert (np.diff(ours.bounds_) > -1e-9 * abs(ours.bound_)).all()
    assert ours.responsibilities_.shape == theirs.responsibilities_.shape
    np.testing.assert_allclose(
        ours.responsibilities_.compute(), theirs.responsibilities_, atol=1e-7
    )
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.reliability_, theirs.reliability_, rtol=1e-6)
    assert list(ours.reliability_.index) == list(theirs.reliability_.index)
    assert ours.alpha_ == pytest.approx(theirs.alpha_)
    assert (ours.n_clusters_, ours.status_) == (theirs.n_clusters_, theirs.status_)
    assert (ours.n_iter_, ours.chosen_by_) == (theirs.n_iter_, theirs.chosen_by_)
    assert ours.data_weight_ == theirs.data_weight_
    assert ours.family_.name == theirs.family_.name
    ours_wrong, theirs_wrong = ours.suspect_links(), theirs.suspect_links()
    np.testing.assert_allclose(
        ours_wrong["wrong"].sort_index(), theirs_wrong["wrong"].sort_index(), atol=1e-7
    )
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)


def problem_of(seed):
    """One of sixteen: a family, a precision, links of two sources, chunks, settings, a start."""
    rng = np.random.default_rng(seed)
    name = FAMILIES[seed % len(FAMILIES)]
    X = draw(name, N, seed)[0].astype([np.float32, np.float64][seed // 8])
    links = links_of(draw_pairs(N, [0, 30, 200][seed % 3], seed), N)
    if seed % 5 == 1:  # all points are linked
        links = links + Links.from_pairs(may=[(i, i + 1) for i in range(0, N, 2)], n=N)
    if seed % 2:
        more = Links.from_pairs(may_not=[(3, 4), (8, 60)], n=N).to_frame().assign(source="rule")
        links = links + Links.from_frame(more, n=N)
    setting = {
        "family": example(name),
        "data_weight": [1.0, 0.3][seed % 2],
        "alpha": [(1.0, 1.0), (1.0, 1.0), 2.0][seed % 3],
        "reliability": [None, None, None, (0.8, 0.7)][seed % 4],
        "init": rng.integers(0, [1, 9, 4][seed % 3], N),
        "inference": Variational(truncation=[None, 6][seed // 3 % 2], tol=1e-4),
    }
    return X, links, setting


@pytest.mark.parametrize("seed", range(16))
def test_fits_are_those_of_one_machine(seed):
    X, links, setting = problem_of(seed)
    theirs = without_draws(**setting).fit(X, links=links)
    ours = without_draws(**setting).fit(cut(X, seed), links=links)
    assert len(theirs.bounds_) > 2
    compare(ours, theirs, X)


# ---------------------------------------------------------------------- starts and choices

X, Y = draw("gaussian", 150, 3)
LINKS = Links.from_labels(Y, sample=80, rng=0)
FEW = Tuning(data_weights=(1.0, 0.1), n_folds_of_few=3, n_starts_of_small=1)
GIVEN = {"covariance": "diagonal", "data_weight": 1.0, "random_state": 0}


@pytest.mark.parametrize("init", ["auto", "rdp-means", "one", "singletons", "labels"])
def test_starts_are_those_of_one_machine(init):
    setting = GIVEN | {"init": np.arange(60) % 7 if init == "labels" else init}
    setting |= {"inference": Variational(n_init=2)}
    links = Links.from_labels(Y[:60], sample=50, rng=0)
    theirs = without_draws(**setting).fit(X[:60], links=links)
    compare(without_draws(**setting).fit(cut(X[:60], 0), links=links), theirs, X)


@pytest.mark.parametrize("n_links", [80, 10])
def test_what_is_auto_is_chosen_alike(n_links, monkeypatch):
    """Among what Dask has, which is no graph: by held-out links, and by the evidence."""
    two = ["gaussian", "diagonal-gaussian"]
    monkeypatch.setattr(tvclust_choice, "candidates", lambda *_, **__: two)
    links = Links.from_labels(Y[:90], sample=n_links, rng=0)
    setting = {"neighbours": False, "tuning": FEW, "random_state": 0}
    theirs = without_draws(**setting).fit(X[:90], links=links)
    ours = without_draws(**setting).fit(cut(X[:90], 3), links=links)
    assert ours.selection_.equals(theirs.selection_)
    compare(ours, theirs, X)


def blobs(n):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 2)) + 9.0 * np.array([[0, 0], [1, 0], [0, 1]])[y], y


def same_partition(labels, y):
    return len(set(zip(labels.tolist(), y.tolist(), strict=True))) == len(set(y.tolist()))


def test_more_points_than_a_sample():
    data, y = blobs(600)
    links = Links.from_labels(y, sample=100, rng=0)
    setting = GIVEN | {"inference": Variational(n_init=1), "tuning": Tuning(sample_size=200)}
    ours = without_draws(**setting).fit(da.from_array(data, chunks=(170, 2)), links=links)
    labels = ours.labels_.compute()
    assert same_partition(labels, y)
    assert labels.tolist() == without_draws(**setting).fit(data, links=links).labels_.tolist()
    assert (np.diff(ours.bounds_) > -1e-9 * abs(ours.bound_)).all()


def test_what_is_auto_is_chosen_on_a_sample():
    data, y = blobs(600)
    links = Links.from_labels(y, sample=300, rng=0)
    setting = {"random_state": 0, "tuning": clone(FEW).set_params(sample_size=150)}
    ours = without_draws(**setting).fit(da.from_array(data, chunks=(170, 2)), links=links)
    assert ours.chosen_by_ == "held-out links"
    assert same_partition(ours.labels_.compute(), y)
    assert (np.diff(ours.bounds_) > -1e-9 * abs(ours.bound_)).all()
    again = without_draws(**setting).fit(da.from_array(data, chunks=(170, 2)), links=links)
    assert again.bounds_.tolist() == ours.bounds_.tolist()


def test_frames_and_folders_of_parquet(tmp_path):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for number, part in enumerate(np.array_split(np.arange(150), 3)):
        frame.iloc[part].to_parquet(tmp_path / f"part-{number}.parquet")
    setting = GIVEN | {"init": np.arange(150) % 4}
    theirs = without_draws(**setting).fit(X, links=LINKS)
    for data in (tmp_path, str(tmp_path), dd.from_pandas(frame, npartitions=3)):
        compare(without_draws(**setting).fit(data, links=LINKS), theirs, X)


# ---------------------------------------------------------------------- what a fit answers


def quick(**options):
    return without_draws(**(GIVEN | {"init": np.arange(150) % 4} | options))


def test_predictions_are_lazy():
    model, theirs = quick().fit(cut(X, 0), links=LINKS), quick().fit(X, links=LINKS)
    calls = []

    def watched(block):
        calls.append(1)
        return block

    new = cut(X, 0).map_blocks(watched, meta=np.empty((0, 3)))
    labels, responsibilities = model.predict(new), model.predict_proba(new)
    assert not calls
    assert labels.compute().tolist() == theirs.predict(X).tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(responsibilities.compute(), theirs.predict_proba(X), atol=1e-12)
    assert calls
    both = Links.from_pairs(may=[(0, 150), (151, 152)], may_not=[(7, 151)], n=153)
    np.testing.assert_allclose(
        model.predict_proba(X[:3], links=both), theirs.predict_proba(X[:3], links=both), atol=1e-9
    )
    with pytest.raises(LinksError, match="in memory only"):
        model.predict(new, links=Links.empty(150))


def test_pairs_of_linked_points_are_known():
    model, theirs = quick().fit(cut(X, 0), links=LINKS), quick().fit(X, links=LINKS)
    linked = np.flatnonzero(LINKS.touches())
    pairs = np.column_stack([linked, linked[::-1]])
    np.testing.assert_allclose(model.coclustering(pairs), theirs.coclustering(pairs), atol=1e-9)
    free = int(np.flatnonzero(~LINKS.touches())[0])
    with pytest.raises(MaylinkError, match=f"point {free} has no links"):
        model.coclustering([(int(linked[0]), free)])
    with pytest.raises(MaylinkError, match="no matrix"):
        model.coclustering()
    with pytest.raises(MaylinkError, match="point 0 has no links"):
        quick().fit(cut(X, 0)).coclustering([(0, 1)])


def test_stopped_before_the_first_sweep(monkeypatch):
    """What there is, is the start."""
    monkeypatch.setattr(Progress, "stopped", True)
    model, theirs = quick().fit(cut(X, 0), links=LINKS), quick().fit(X, links=LINKS)
    assert model.status_ is Status.STOPPED
    compare(model, theirs, X)
    assert set(np.unique(model.responsibilities_.compute())) == {0.0, 1.0}


def test_too_few_sweeps_are_a_warning():
    with pytest.warns(UserWarning, match="stopped after 1 sweeps") as warned:
        quick(inference=Variational(max_sweeps=1)).fit(cut(X, 0), links=LINKS)
    assert warned[0].filename == __file__


# ---------------------------------------------------------------------- where it runs


@SLOW
def test_two_processes():
    theirs = quick().fit(X, links=LINKS)
    with (
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool,
        dask.config.set(scheduler="processes", pool=pool),
    ):
        compare(quick().fit(cut(X, 0), links=LINKS), theirs, X)


@SLOW
@pytest.mark.filterwarnings("ignore")  # of the cluster, when it loses a worker
def test_a_worker_that_is_killed(monkeypatch):
    distributed = pytest.importorskip("distributed")
    theirs = quick().fit(X, links=LINKS)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
        dask.config.set(scheduler=None),
    ):
        compare(quick().fit(cut(X, 0), links=LINKS), theirs, X)
        victims = list(client.run(os.getpid).values())
        step, n_steps = ChunkedVariationalSolver.step, []

        def disturbed(self, state):
            n_steps.append(1)
            if len(n_steps) == 3:
                os.kill(victims[0], signal.SIGKILL)
            return step(self, state)

        monkeypatch.setattr(ChunkedVariationalSolver, "step", disturbed)
        again = quick().fit(cut(X, 0), links=LINKS)
        assert len(n_steps) > 3
        assert victims[0] not in client.run(os.getpid).values()
        compare(again, theirs, X)


# ---------------------------------------------------------------------- what is refused


def test_what_cannot_be_is_refused_with_a_reason(tmp_path):
    whole = da.from_array(X, chunks=(50, 3))
    cases = [
        ({"inference": "gibbs"}, MaylinkError, "'gibbs' needs data in memory"),
        ({"inference": Gibbs(learn_prior=True)}, MaylinkError, "'gibbs' needs data in memory"),
        ({"inference": Variational(batch_size=20)}, MaylinkError, "visited by chunk already"),
        ({"covariance": "full"}, MaylinkError, "'full-gaussian' takes what it needs"),
        ({"covariance": "auto", "family": "poisson"}, DomainError, r"X\[\d+, \d\] = -"),
        ({"init": [0, 1]}, MaylinkError, "2 labels, but X has 150 rows"),
        ({"prior": (1.0,)}, MaylinkError, "not a prior of 'diagonal-gaussian'"),
    ]
    for options, error, words in cases:
        with pytest.raises(error, match=words):
            quick(**options).fit(whole, links=LINKS)
    with pytest.raises(LinksError, match="made for 149 points"):
        quick().fit(whole, links=Links.empty(149))
    model = quick().fit(whole, links=LINKS)
    for call in (model.score, model.partial_fit):
        with pytest.raises(MaylinkError, match="in memory"):
            call(whole)
    with pytest.raises(MaylinkError, match="data on Dask"):
        model.log_joint(Y)
    path = tmp_path / "fit.npz"
    path.write_bytes(b"no such file")
    with pytest.raises(MaylinkError, match="is not a saved"):
        quick(checkpoint=path).fit(whole)


def test_too_many_responsibilities_of_linked_points_are_refused():
    settings, labels = VariationalSettings(most_entries=100), np.arange(150) % 4
    linked = ChunkedProblem.build(cut(X, 0), LINKS)
    with pytest.raises(MaylinkError, match=r"points times 9 clusters.*truncation"):
        ChunkedVariationalSolver(linked, linked.prior, settings).init(labels)
    unlinked = ChunkedProblem.build(cut(X, 0))  # of points without links none are held
    state = ChunkedVariationalSolver(unlinked, unlinked.prior, settings).init(labels)
    assert state.factors.sizes.sum() == 150


def test_a_sample_has_starts_of_its_own(monkeypatch):
    """The pool is asked about the sample, never about all points."""
    sizes = []
    best = StartPool.best

    def watched(self, family, *others):
        sizes.append(family.problem.n)
        return best(self, family, *others)

    monkeypatch.setattr(StartPool, "best", watched)
    setting = GIVEN | {"inference": Variational(n_init=1), "tuning": Tuning(sample_size=100)}
    without_draws(**setting).fit(cut(X, 0), links=LINKS)
    assert set(sizes) == {100}


@pytest.mark.parametrize("cls", [TVClust, RDPMeans])
def test_a_model_of_data_on_dask_is_saved_with_its_labels(cls, tmp_path):
    X, y = draw("gaussian", N, 1)
    links = true_links(y, 60, 1)
    family = {"covariance": "diagonal"} if cls is TVClust else {}
    model = cls(random_state=0, tuning=FEW, **family).fit(cut(X, 0), links=links)
    save(model, tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert again.labels_.tolist() == model.labels_.compute().tolist()
    assert again.predict(X).tolist() == model.predict(cut(X, 0)).compute().tolist()
    if cls is TVClust:
        assert again.suspect_links().equals(model.suspect_links())
        assert not hasattr(again, "responsibilities_")
