"""Dask workers with a GPU each, against the CPU engine; two of them may share one GPU."""

import pickle
from itertools import pairwise

import numpy as np
import pytest

dask = pytest.importorskip("dask", reason="Dask is not installed: pip install 'maylink[dask]'")
da = pytest.importorskip("dask.array")

from gpu import DEVICE, SIZE, needs_gpu, needs_real_gpu, problem, swept  # noqa: E402
from maylink import RDPMeans, TVClust  # noqa: E402
from maylink.engines.cpu import CpuEngine  # noqa: E402
from maylink.engines.cuda_piece import CudaPiece  # noqa: E402
from maylink.engines.dask import DaskEngine  # noqa: E402
from maylink.engines.settings import CudaSettings  # noqa: E402
from maylink.errors import MaylinkError  # noqa: E402


def in_chunks(X, links, family, device):
    """Return an engine whose chunks have many rows, one row and none without links."""
    first = int(np.flatnonzero(links.touches())[0]) if links.n_links else 3
    cuts = np.unique([0, first, first + 1, SIZE // 2, SIZE])
    chunks = [dask.delayed(X[low:high]) for low, high in pairwise(cuts)]
    sizes = [int(size) for size in np.diff(cuts)]
    return DaskEngine(chunks, sizes, family, links, 1, device=device)


@needs_gpu
@pytest.mark.parametrize(
    ("name", "d", "dtype", "share"),
    [("gaussian", 5, np.float32, 0.2), ("gaussian", 8, np.float64, 0.0),
     ("multinomial", 9, np.float32, 0.1)],
)  # fmt: skip
@pytest.mark.parametrize("stream", [False, True])
def test_sweeps_are_those_of_the_cpu_engine(name, d, dtype, share, stream):
    X, links, family = problem(d, name, d, share, dtype)
    device = CudaSettings(place=DEVICE.place, stream=stream, chunk=X.size // 3)
    with dask.config.set(scheduler="synchronous"):
        cpu, gpu = CpuEngine(X, family, 1, links), in_chunks(X, links, family, device)
        path = cpu.furthest_first(6, 0.0)
        assert gpu.furthest_first(6, 0.0) == path
        assert gpu.reach == cpu.reach
        penalty, order = 0.7 * path[-2], np.random.default_rng(d).permutation(SIZE)
        both = zip(swept(cpu, penalty, order, 4), swept(gpu, penalty, order, 4), strict=True)
        for here, there in both:
            np.testing.assert_array_equal(np.concatenate(dask.compute(*there[0])), here[0])
            for mine, theirs in zip(there[1], here[1], strict=True):
                np.testing.assert_array_equal(mine, theirs)
            assert there[2] == here[2]
            np.testing.assert_array_equal(there[3], here[3])


@needs_gpu
def test_a_piece_that_was_lost_gives_the_same_labels():
    X, _, family = problem(3)
    piece = CudaPiece(X, 0, family, np.array([4, 7]), DEVICE)
    again = pickle.loads(pickle.dumps(piece))
    centers = piece.points.rows(np.arange(5))[0].astype(np.float64)
    assert again.reach(centers[:1]) == piece.reach(centers[:1])
    for one, two in zip(piece.furthest(centers), again.furthest(centers), strict=True):
        np.testing.assert_array_equal(one, two)


@needs_real_gpu
def test_two_workers_on_one_gpu_give_the_labels_of_one():
    distributed = pytest.importorskip("distributed")
    X, links, _ = problem(2, d=20)
    options = {"random_state": 0, "n_init": 1, "n_clusters_hint": 4}
    here = RDPMeans(device="cpu", **options).fit(X, links=links)
    found = []
    for n_workers in (1, 2):
        with (
            distributed.LocalCluster(
                n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster),
        ):
            chunks = da.from_array(X, chunks=(SIZE // 4, X.shape[1]))
            model = RDPMeans(device="cuda", **options).fit(chunks, links=links)
            found.append(np.asarray(model.labels_))
            assert model.objective_ == pytest.approx(here.objective_, rel=1e-12)
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[0], here.labels_)


# ---------------------------------------------------------------------- without a GPU


def test_short_numbers_are_refused_on_dask():
    X = da.from_array(np.eye(4), chunks=(2, 4))
    with pytest.raises(MaylinkError, match=r"workers give exact labels; give 'cuda'"):
        RDPMeans(device=CudaSettings(precision="fp16")).fit(X)


def test_tvclust_on_dask_is_refused_on_gpus():
    X = da.from_array(np.random.default_rng(0).normal(size=(40, 3)), chunks=(20, 3))
    model = TVClust("gaussian", covariance="diagonal", device="cuda")
    with pytest.raises(MaylinkError, match=r"TVClust of data on Dask has no form for GPUs"):
        model.fit(X)
    assert not hasattr(model, "labels_")
