"""The Dask engine: the labels of the CPU engine, however the data are cut and whatever is lost."""

import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

dask = pytest.importorskip("dask", reason="Dask is not installed: pip install 'maylink[dask]'")
da = pytest.importorskip("dask.array")

from in_chunks import FAMILIES, SLOW  # noqa: E402
from maylink import (  # noqa: E402
    DPMeans,
    Links,
    RDPMeans,
    Schedule,
    SpectralRDPMeans,
    sample_links,
)
from maylink.engines.cpu import CpuEngine  # noqa: E402
from maylink.engines.dask import DaskEngine  # noqa: E402
from maylink.engines.dask_round import DaskRound  # noqa: E402
from maylink.engines.piece import Piece  # noqa: E402
from maylink.engines.settings import EngineSettings  # noqa: E402
from maylink.errors import DomainError, LinksError, MaylinkError  # noqa: E402
from maylink.io.parquet import read_parquet, write_labels  # noqa: E402
from maylink.metrics import pair_f  # noqa: E402
from maylink.problem import ChunkedProblem, Problem  # noqa: E402
from maylink.tuning import rdpmeans  # noqa: E402
from maylink.tuning.settings import Tuning  # noqa: E402
from zoo import draw, draw_pairs, example, links_of, pieces  # noqa: E402

N = 203


pytestmark = pytest.mark.usefixtures("two_dask_threads")


def cut(X, seed):
    """A dask array with chunks of all sizes, or of one row each at the end, or one for all."""
    n = len(X)
    inner = [
        np.sort(np.random.default_rng(seed).choice(np.arange(1, n), 4, replace=False)),
        [],
        [n - 2, n - 1],
    ][seed % 3]
    sizes = np.diff([0, *inner, n])
    return da.from_array(X, chunks=(tuple(int(size) for size in sizes), X.shape[1]))


def sweeps(engine, order, start, xi, penalty, n_sweeps):
    labels, n_clusters = engine.stored(start), int(start.max()) + 1
    totals = engine.totals(labels, n_clusters)
    centers = engine.means(totals)
    for _ in range(n_sweeps):
        swept = engine.sweep(labels, totals, centers, order, (xi, xi), penalty)
        labels, totals, _ = swept
        centers = engine.means(totals)
        xi *= 2.0
        yield swept


def flat(engine, labels):
    given = engine.given(labels)
    return np.concatenate(dask.compute(*given)) if isinstance(given, list) else given


def problem_of(seed):
    """One of thirty: a family, a precision, links, chunks, an order, a start."""
    rng = np.random.default_rng(seed)
    name = FAMILIES[seed % len(FAMILIES)]
    X = draw(name, N, seed)[0].astype([np.float32, np.float64][seed % 2])
    links = links_of(draw_pairs(N, [0, 30, 300][seed // 2 % 3], seed), N)
    order = rng.permutation(N).astype(np.int32) if seed % 5 else np.arange(N, dtype=np.int32)
    start = np.unique(rng.integers(0, [1, 20, 5][seed % 3], N), return_inverse=True)[1]
    return example(name), X, links, order, start


def both_engines(X, links, family, chunked, **settings):
    """The engine of one machine and that of Dask, with these settings."""
    plain, cut_up = Problem.build(X, links, family), ChunkedProblem.build(chunked, links, family)
    settings = EngineSettings(**settings)
    one = CpuEngine(plain.X, plain.family, 1, plain.links, settings)
    return one, DaskEngine(cut_up.chunks, cut_up.sizes, cut_up.family, cut_up.links, 1, settings)


@pytest.mark.parametrize("seed", range(30))
def test_labels_and_sums_are_those_of_the_cpu_engine(seed):
    """Sweep by sweep; clusters open a few at a time, so that there are many looks in a sweep."""
    family, X, links, order, start = problem_of(seed)
    one, many = both_engines(X, links, family, cut(X, seed), spare=3, parallel_from=0)
    to_the_bit = family.name != "product"  # whose Gaussians count from means of single columns
    assert many.reach == pytest.approx(one.reach, rel=0 if to_the_bit else 1e-14)
    if to_the_bit:
        assert many.furthest_first(4, 0.0) == one.furthest_first(4, 0.0)
        assert many.whole.high.tobytes() == one.whole.high.tobytes()
    setting = (order, start, 1e-4 * one.reach, [0.05, 0.2, 0.5][seed % 3] * one.reach, 9)
    for ours, theirs in zip(sweeps(many, *setting), sweeps(one, *setting), strict=True):
        assert flat(many, ours.labels).tolist() == flat(one, theirs.labels).tolist()
        if to_the_bit:
            assert ours.totals.high.tobytes() == theirs.totals.high.tobytes()
            assert ours.totals.low.tobytes() == theirs.totals.low.tobytes()
        assert ours.n_changed == theirs.n_changed
        assert many.votes(ours.labels).tolist() == one.votes(theirs.labels).tolist()


@pytest.mark.parametrize("n_copies", [0, 2])
def test_pieces_that_have_forgotten_or_missed_looks_return_the_same(n_copies, monkeypatch):
    """A new copy for every look, as after a loss; or copies on two workers that look by chance."""
    chance = np.random.default_rng(0)
    look, copies = Piece.look, {}

    def look_elsewhere(self, *arguments):
        if n_copies == 0:
            return look(pickle.loads(pickle.dumps(self)), *arguments)
        both = copies.setdefault(id(self), [self, pickle.loads(pickle.dumps(self))])
        return look(both[chance.integers(n_copies)], *arguments)

    for seed in (1, 2, 10, 23):
        family, X, links, order, start = problem_of(seed)
        one, many = both_engines(X, links, family, cut(X, seed), spare=3)
        setting = (order, start, 1e-4 * one.reach, 0.1 * one.reach, 9)
        with monkeypatch.context() as patch:
            patch.setattr(Piece, "look", look_elsewhere)
            labels = [flat(many, swept.labels).tolist() for swept in sweeps(many, *setting)]
        assert labels == [flat(one, swept.labels).tolist() for swept in sweeps(one, *setting)]


def test_few_openers_travel_at_a_time():
    """Room for two: most of them wait on the workers, and the labels are the same."""
    X = np.random.default_rng(0).normal(size=(120, 2))
    chunked = da.from_array(X, chunks=(17, 2))
    one, many = both_engines(X, None, example("gaussian"), chunked, room=2)
    setting = (np.random.default_rng(0).permutation(120), np.zeros(120, int), 0.0, 0.3, 3)
    for ours, theirs in zip(sweeps(many, *setting), sweeps(one, *setting), strict=True):
        assert len(theirs.totals.size) > 20
        assert flat(many, ours.labels).tolist() == flat(one, theirs.labels).tolist()


# ---------------------------------------------------------------------- estimators

X, Y = draw("gaussian", 150, 3)
LINKS = Links.from_labels(Y, sample=80, rng=0)


def quick(**options):
    return RDPMeans(random_state=0, **({"cluster_penalty": 6.0, "n_init": 2} | options))


@pytest.mark.parametrize("order", ["random", "shuffle", "index"])
@pytest.mark.parametrize("keep", ["probability", "objective"])
def test_fits_are_those_of_one_machine(order, keep):
    setting = {"schedule": Schedule(order=order), "keep": keep, "link_weight": 0.01}
    theirs = quick(**setting).fit(X, links=LINKS)
    ours = quick(**setting).fit(cut(X, 0), links=LINKS)
    assert isinstance(ours.labels_, da.Array)
    assert ours.labels_.compute().tolist() == theirs.labels_.tolist()
    assert ours.cluster_centers_.tobytes() == theirs.cluster_centers_.tobytes()
    assert ours.trace_.equals(theirs.trace_)


def test_clusters_are_merged():
    data, y = pieces()
    links = sample_links(y, rate=0.05, accuracy=0.9, rng=0)
    model = RDPMeans("diagonal-gaussian", random_state=0, n_init=2).fit(cut(data, 0), links=links)
    assert model.n_clusters_ < model.trace_["n_clusters"].iloc[model.kept_sweep_]
    assert pair_f(y, model.labels_.compute()) > 0.9


def test_penalty_and_link_weight_are_chosen_alike():
    request = RDPMeans(n_init=1)._request()
    problems = Problem.build(X, LINKS), ChunkedProblem.build(cut(X, 0), LINKS)
    theirs, ours = (
        rdpmeans.tune(problem, request, Tuning(), np.random.default_rng(0)) for problem in problems
    )
    assert ours.by == "held-out links"
    assert ours.settings.penalty == theirs.settings.penalty
    assert ours.table.equals(theirs.table)


def test_hint_evidence_and_starts():
    settings = [
        {"cluster_penalty": "auto", "n_clusters_hint": 3},
        {"init": Y},
        {"init": X[[0, 50, 100]]},
    ]
    for setting in settings:
        theirs, ours = quick(**setting).fit(X), quick(**setting).fit(cut(X, 0))
        assert ours.cluster_penalty_ == theirs.cluster_penalty_
        assert ours.labels_.compute().tolist() == theirs.labels_.tolist()


def test_predict_and_transform_are_lazy():
    model = quick().fit(cut(X, 0), links=LINKS)
    calls = []

    def watched(block):
        calls.append(1)
        return block

    new = cut(X, 0).map_blocks(watched, meta=np.empty((0, 3)))
    labels, scores = model.predict(new), model.transform(new)
    assert not calls
    in_memory = quick().fit(X, links=LINKS)
    assert labels.compute().tolist() == in_memory.predict(X).tolist() == model.predict(X).tolist()
    assert scores.compute().tobytes() == in_memory.transform(X).tobytes()
    assert calls


def test_frames_and_folders_of_parquet(tmp_path):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")

    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for number, part in enumerate(np.array_split(np.arange(150), 4)):
        frame.iloc[part].to_parquet(tmp_path / f"part-{number}.parquet", row_group_size=20)
    theirs = DPMeans(cluster_penalty=6.0, random_state=0).fit(X)
    read = read_parquet(tmp_path, rows=40)
    assert max(read.chunks[0]) <= 40
    for data in (tmp_path, str(tmp_path), read, dd.from_pandas(frame, npartitions=3)):
        ours = DPMeans(cluster_penalty=6.0, random_state=0).fit(data)
        assert ours.labels_.compute().tolist() == theirs.labels_.tolist()
    write_labels(ours.labels_, tmp_path / "labels")
    written = pd.read_parquet(tmp_path / "labels").sort_values("row")
    assert written["label"].tolist() == theirs.labels_.tolist()
    with pytest.raises(MaylinkError, match="force=True"):
        write_labels(ours.labels_, tmp_path / "labels")


# ---------------------------------------------------------------------- where it runs


@SLOW
def test_two_processes():
    theirs = quick(link_weight=0.01, n_init=1).fit(X, links=LINKS)
    with (
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool,
        dask.config.set(scheduler="processes", pool=pool),
    ):
        ours = quick(link_weight=0.01, n_init=1).fit(cut(X, 0), links=LINKS)
        assert ours.labels_.compute().tolist() == theirs.labels_.tolist()


@SLOW
@pytest.mark.filterwarnings("ignore")  # of the cluster, when it loses a worker
def test_a_local_cluster_and_a_worker_that_is_killed(monkeypatch):
    distributed = pytest.importorskip("distributed")
    theirs = quick(link_weight=0.01, n_init=1).fit(X, links=LINKS)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
        dask.config.set(scheduler=None),
    ):
        ours = quick(link_weight=0.01, n_init=1).fit(cut(X, 0), links=LINKS)
        assert ours.labels_.compute().tolist() == theirs.labels_.tolist()

        victims = list(client.run(os.getpid).values())
        looked = DaskRound._look_on_workers
        looks = []

        def disturbed(self):
            looks.append(1)
            if len(looks) == 3:
                os.kill(victims[0], signal.SIGKILL)
            return looked(self)

        monkeypatch.setattr(DaskRound, "_look_on_workers", disturbed)
        again = quick(link_weight=0.01, n_init=1).fit(cut(X, 0), links=LINKS)
        assert len(looks) > 3
        assert victims[0] not in client.run(os.getpid).values()
        assert again.labels_.compute().tolist() == theirs.labels_.tolist()


def test_nothing_of_dask_is_imported_otherwise():
    program = (
        "import sys, numpy as np, maylink\n"
        "maylink.RDPMeans(cluster_penalty=1.0).fit(np.eye(5)).predict(np.eye(5))\n"
        "assert not {'dask', 'distributed', 'pyarrow.parquet'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# ---------------------------------------------------------------------- what is refused


def test_what_cannot_be_is_refused_with_a_reason():
    whole = da.from_array(X, chunks=(50, 3))
    cases = [
        (da.from_array(X, chunks=(50, 2)), None, {}, MaylinkError, "along features"),
        (whole[whole[:, 0] > 0], None, {}, MaylinkError, "compute_chunk_sizes"),
        (whole[:, 0], None, {}, MaylinkError, r"shape \(n, d\)"),
        (whole, Links.empty(149), {}, LinksError, "made for 149 points, but there are 150"),
        (whole, None, {"family": "full-gaussian"}, MaylinkError, "in one place"),
        (whole, None, {"family": "poisson"}, DomainError, r"X\[\d+, \d\] = -"),
        ("no/such/folder", None, {}, MaylinkError, "no folder of"),
    ]
    for data, links, options, error, words in cases:
        with pytest.raises(error, match=words):
            quick(**options).fit(data, links=links)
    broken = X.copy()
    broken[120, 1] = np.nan
    with pytest.raises(DomainError, match=r"X\[120, 1\] is NaN"):
        quick().fit(da.from_array(broken, chunks=(50, 3)))
    with pytest.raises(MaylinkError, match=r"RDPMeans, DPMeans and TVClust.*in memory"):
        SpectralRDPMeans().fit(whole)
    with pytest.raises(MaylinkError, match="score needs data in memory"):
        quick().fit(whole).score(whole)
