"""RDP-means of data that pass through the GPU, against data that the processor holds."""

import gc
from dataclasses import replace

import numpy as np
import pytest

from gpu import DEVICE, PLACE, SIZE, needs_gpu, needs_real_gpu, problem, swept
from maylink import DPMeans, RDPMeans
from maylink.engines import cuda_streamed_program, cuda_transfers
from maylink.engines.cpu import CpuEngine
from maylink.engines.cuda import CudaEngine
from maylink.engines.cuda_points import DevicePoints
from maylink.engines.cuda_streamed import StreamedPoints
from maylink.engines.cuda_transfers import Lock, is_mapped, slices
from maylink.engines.settings import CudaSettings
from maylink.families import Gaussian

WINDOWS = 5 if PLACE == "cuda" else 2


def in_windows(X, **options):
    """Return settings by which so many windows pass."""
    return replace(DEVICE, stream=True, chunk=-(-X.size // WINDOWS), **options)


def assert_same(first, second):
    for mine, theirs in zip(first, second, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@needs_gpu
@pytest.mark.parametrize(
    ("name", "d", "dtype", "share"),
    [
        ("gaussian", 5, np.float32, 0.2),
        ("gaussian", 24, np.float64, 0.4),
        ("diagonal-gaussian", 6, np.float64, 0.0),
        ("multinomial", 9, np.float32, 0.1),
    ],
)
def test_sweeps_are_those_of_the_cpu_engine(name, d, dtype, share):
    X, links, family = problem(d, name, d, share, dtype)
    cpu, gpu = CpuEngine(X, family, 1, links), CudaEngine(X, family, 1, links, in_windows(X))
    assert isinstance(gpu.points, StreamedPoints)
    path = cpu.furthest_first(8, 0.0)
    assert gpu.furthest_first(8, 0.0) == path
    assert gpu.reach == cpu.reach
    penalty, order = 0.7 * path[-2], np.random.default_rng(d).permutation(SIZE)
    for here, there in zip(swept(cpu, penalty, order), swept(gpu, penalty, order), strict=True):
        np.testing.assert_array_equal(there[0], here[0])
        assert_same(there[1], here[1])
        assert there[2] == here[2]
        np.testing.assert_array_equal(there[3], here[3])


def sweeps_from(engine, n_clusters, n_sweeps, penalty=1e9):
    """Return what each sweep leaves from a partition on in which no cluster opens."""
    labels = engine.stored(np.arange(engine.n) % n_clusters)
    totals, order, kept = engine.totals(labels, n_clusters), np.arange(engine.n), []
    for _ in range(n_sweeps):
        labels, totals, n_changed = engine.sweep(
            labels, totals, engine.means(totals), order, (0.5, 0.5), penalty
        )
        kept.append((engine.given(labels), *totals, n_changed))
    return kept


@needs_gpu
@pytest.mark.parametrize("listed", [0.0, 2.0], ids=["all", "those that bounds leave"])
def test_bounds_leave_points_unread_and_labels_as_they_are(monkeypatch, listed):
    monkeypatch.setattr(cuda_streamed_program, "LISTED", listed)
    X, links, family = problem(4, d=10, share=0.1)
    cpu, gpu = CpuEngine(X, family, 1, links), CudaEngine(X, family, 1, links, in_windows(X))
    n_sweeps = 12 if PLACE == "cuda" else 3
    for here, there in zip(*(sweeps_from(one, 7, n_sweeps) for one in (cpu, gpu)), strict=True):
        assert_same(there, here)


@needs_real_gpu
@pytest.mark.parametrize("precision", ["tf32", "fp16", "bf16"])
@pytest.mark.parametrize("k", [40, 300])
def test_short_products_are_those_of_points_that_are_held(precision, k):
    X, links, family = problem(5, d=32)
    runs = [
        sweeps_from(CudaEngine(X, family, 1, links, device), k, 8)
        for device in (in_windows(X, precision=precision), CudaSettings(precision, stream=False))
    ]
    for streamed, held in zip(*runs, strict=True):
        assert_same(streamed, held)


@needs_gpu
@pytest.mark.parametrize("kind", ["array", "file", "tensor"])
def test_whole_fits_are_those_of_the_processor(kind, tmp_path):
    import torch

    X, links, _ = problem(2)
    data = X
    if kind == "file":
        np.save(tmp_path / "X.npy", X)
        data = np.load(tmp_path / "X.npy", mmap_mode="r")
        assert is_mapped(data[5:])
    elif kind == "tensor":
        data = torch.as_tensor(X, device=DEVICE.place)
    options = {"random_state": 0, "n_init": 1, "n_clusters_hint": 4}
    here = RDPMeans(device="cpu", **options).fit(X, links=links)
    there = RDPMeans(device=in_windows(X), **options).fit(data, links=links)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    assert there.objective_ == here.objective_
    np.testing.assert_array_equal(np.asarray(there.predict(X)), here.predict(X))


@needs_real_gpu
@pytest.mark.parametrize("kind", ["array", "file", "large file", "locked", "locked in part"])
def test_arrays_and_files_are_locked_and_read_as_they_are(kind, tmp_path):
    import torch

    n, d = 3_000_000, 6  # half of it is large enough to be locked
    X = np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)
    X += 5.0 * (np.arange(n) % 7)[:, None]
    data, device = X, in_windows(X, lock_files=0.0 if kind == "large file" else 0.5)
    if kind.endswith("file"):
        np.save(tmp_path / "X.npy", X)
        data = np.load(tmp_path / "X.npy", mmap_mode="r")
    elif kind == "locked":
        data = torch.from_numpy(X).pin_memory().numpy()
    family = Gaussian().adapt(X)
    part = CudaEngine(data[: n // 2 + 1], family, 1, None, device) if "part" in kind else None
    held = CudaEngine(X, family, 1, None, replace(device, stream=False))
    first, second = (CudaEngine(data, family, 1, None, device) for _ in range(2))
    locks = [engine.points.mapping.source.lock for engine in (first, second)]
    assert all((lock is None) == (kind == "large file" or part is not None) for lock in locks)
    expected = sweeps_from(held, 9, 4)
    for engine in (first, second):
        for streamed, known in zip(sweeps_from(engine, 9, 4), expected, strict=True):
            assert_same(streamed, known)
    del first, locks, engine
    for streamed, known in zip(sweeps_from(second, 9, 4), expected, strict=True):
        assert_same(streamed, known)


@needs_real_gpu
def test_data_are_streamed_where_they_do_not_fit(monkeypatch):
    from maylink.runtime import gpu

    X, _, family = problem(1, d=70)
    options = {"cluster_penalty": 400.0, "random_state": 0, "n_init": 1}
    assert isinstance(CudaEngine(X, family, 1).points, DevicePoints)
    held = DPMeans(device="cuda", **options).fit(X)
    device = CudaSettings(chunk=100 * 70)
    least = 120 * SIZE + 200_000_000 + 40 * device.chunk
    monkeypatch.setattr(gpu, "free_memory", lambda place: least)
    assert isinstance(CudaEngine(X, family, 1, None, device).points, StreamedPoints)
    streamed = DPMeans(device=device, **options).fit(X)
    np.testing.assert_array_equal(streamed.labels_, held.labels_)
    assert streamed.objective_ == held.objective_


@needs_gpu
def test_an_array_has_one_lock(monkeypatch):
    def close(self, X):
        cuda_transfers.LOCKS[self.begin] = self
        return True

    monkeypatch.setattr(Lock, "_close", close)
    X = np.zeros((cuda_transfers.LEAST // 4, 2), np.float32)
    first = Lock.of(X, 0.5)
    assert first is not None
    assert Lock.of(X.view(), 0.5) is first
    half = len(X) // 2
    assert Lock.of(X[:half], 0.5) is None  # in part
    assert Lock.of(X[half:], 0.5) is None
    del first
    gc.collect()
    assert Lock.of(X[:half], 0.5) is not None
    assert Lock.of(X[: half // 2], 0.5) is None  # small
    assert Lock.of(X[:, :1], 0.5) is None
    assert Lock.of(X.astype(np.float16), 0.5) is None


def test_slices_hold_every_row_once():
    for n, step in ((10, 3), (9, 3), (1, 5), (0, 4)):
        rows = [row for part in slices(n, step) for row in range(part.start, part.stop)]
        assert rows == list(range(n))


def test_files_are_told_from_arrays(tmp_path):
    np.save(tmp_path / "X.npy", np.eye(4))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert is_mapped(mapped)
    assert is_mapped(np.asarray(mapped)[1:])
    assert not is_mapped(np.eye(4)[1:])
