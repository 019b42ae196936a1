"""The GPU engine against the CPU engine; what needs no GPU is tested without one.

Where there is no GPU, ``TRITON_INTERPRET=1`` runs the same tests slowly, in Triton's interpreter.
"""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from gpu import DEVICE, PLACE, SIZE, needs_gpu, needs_real_gpu, problem, swept
from maylink import DPMeans, RDPMeans
from maylink.engines.choice import as_device
from maylink.engines.cpu import CpuEngine
from maylink.engines.cuda import CudaEngine, check_room
from maylink.engines.cuda_block import widths
from maylink.engines.cuda_centers import DeviceCenters, PointScale
from maylink.engines.cuda_mapping import _power_below
from maylink.engines.settings import CudaSettings
from maylink.engines.tile_shapes import power_of_two
from maylink.errors import MaylinkError
from maylink.families import Gaussian
from maylink.runtime.gpu import as_host, as_tensor, like

# ---------------------------------------------------------------------- on a GPU


@needs_gpu
@pytest.mark.parametrize(
    ("name", "d", "dtype", "share"),
    [
        ("gaussian", 5, np.float32, 0.2),
        ("gaussian", 24, np.float64, 0.4),
        ("gaussian", 70, np.float32, 0.0),
        ("diagonal-gaussian", 6, np.float64, 1.0),
        ("poisson", 7, np.float64, 0.2),
        ("multinomial", 9, np.float32, 0.1),
        ("bernoulli", 40, np.float32, 0.2),
        ("gamma", 3, np.float32, 0.0),
    ],
)
def test_sweeps_are_those_of_the_cpu_engine(name, d, dtype, share):
    X, links, family = problem(d, name, d, share, dtype)
    cpu, gpu = CpuEngine(X, family, 1, links), CudaEngine(X, family, 1, links, DEVICE)
    path = cpu.furthest_first(8, 0.0)
    assert gpu.furthest_first(8, 0.0) == path
    assert gpu.reach == cpu.reach
    penalty, order = 0.7 * path[-2], np.random.default_rng(d).permutation(SIZE)
    for here, there in zip(swept(cpu, penalty, order), swept(gpu, penalty, order), strict=True):
        np.testing.assert_array_equal(there[0], here[0])
        for mine, theirs in zip(there[1], here[1], strict=True):
            np.testing.assert_array_equal(mine, theirs)
        assert there[2] == here[2]
        np.testing.assert_array_equal(there[3], here[3])


@needs_real_gpu
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("listed", "glimpsed"), [(0.0, 2.0), (2.0, 0.0), (0.0, 0.0)])
def test_sweeps_of_many_centres_are_those_of_the_cpu_engine(monkeypatch, dtype, listed, glimpsed):
    from maylink.engines import cuda_program

    monkeypatch.setattr(cuda_program, "LISTED", listed)
    monkeypatch.setattr(cuda_program, "GLIMPSED", glimpsed)
    X, links, family = problem(4, d=30, share=0.1, dtype=dtype)
    engines = CpuEngine(X, family, 1, links), CudaEngine(X, family, 1, links, DEVICE)
    start, order = np.arange(SIZE) % 200, np.random.default_rng(0).permutation(SIZE)
    left = []
    for engine in engines:
        labels = engine.stored(start)
        totals, kept = engine.totals(labels, 200), []
        for _ in range(12):
            labels, totals, n_changed = engine.sweep(
                labels, totals, engine.means(totals), order, (0.5, 0.5), 1e9
            )
            kept.append((engine.given(labels), *totals, n_changed))
        left.append(kept)
    for here, there in zip(*left, strict=True):
        for mine, theirs in zip(here, there, strict=True):
            np.testing.assert_array_equal(theirs, mine)


@needs_real_gpu
@pytest.mark.parametrize("precision", ["tf32", "fp16"])
def test_short_products_choose_alike_with_bounds_and_without(monkeypatch, precision):
    from maylink.engines import cuda_program

    X, links, family = problem(4, d=30, share=0.1)
    order, found = np.random.default_rng(0).permutation(SIZE), []
    always = ((0.0, 2),)  # bounds rest for two sweeps, again and again
    for listed, glimpsed, blind in [(0.0, 0.0, ()), (0.0, 2.0, ()), (2.0, 0.0, ()), (0, 0, always)]:
        monkeypatch.setattr(cuda_program, "LISTED", listed)
        monkeypatch.setattr(cuda_program, "GLIMPSED", glimpsed)
        monkeypatch.setattr(cuda_program, "BLIND", blind)
        engine = CudaEngine(X, family, 1, links, CudaSettings(precision=precision))
        labels = engine.stored(np.arange(SIZE) % 200)
        totals = engine.totals(labels, 200)
        for _ in range(5):
            labels, totals, _ = engine.sweep(
                labels, totals, engine.means(totals), order, (0.5, 0.5), 1e9
            )
        for mine, theirs in zip(totals, engine.totals(labels, len(totals.size)), strict=True):
            np.testing.assert_array_equal(mine, theirs)
        found.append(engine.given(labels))
    assert max(np.mean(labels != found[0]) for labels in found[1:]) < 0.02


@needs_gpu
def test_points_without_room_for_a_short_copy_choose_as_those_with_one(monkeypatch):
    from maylink.engines import cuda_points

    X, links, family = problem(6, d=5)
    order, left = np.arange(SIZE), []
    for is_roomy in (True, False):
        monkeypatch.setattr(cuda_points, "has_memory", lambda *_, there=is_roomy: there)
        engine = CudaEngine(X, family, 1, links, DEVICE)
        assert (engine.points.short is not engine.points.points) == is_roomy
        left.append([labels for labels, *_ in swept(engine, 60.0, order, 3)])
    np.testing.assert_array_equal(*left)


@needs_gpu
@pytest.mark.parametrize("most", [32, 1])
def test_points_with_many_links_choose_as_on_the_cpu_engine(monkeypatch, most):
    from maylink.engines import cuda_links

    monkeypatch.setattr(cuda_links, "SHORT", most)
    X, links, family = problem(7, share=1.0)
    engines = CpuEngine(X, family, 1, links), CudaEngine(X, family, 1, links, DEVICE)
    here, there = (list(swept(engine, 60.0, np.arange(SIZE), 3)) for engine in engines)
    for mine, theirs in zip(here, there, strict=True):
        np.testing.assert_array_equal(theirs[0], mine[0])


@needs_gpu
@pytest.mark.parametrize("precision", ["tf32", "fp16", "bf16"] if PLACE == "cuda" else ["fp16"])
def test_short_products_find_clusters_that_lie_apart(precision):
    rng = np.random.default_rng(0)
    truth = rng.integers(5, size=SIZE)
    X = (30.0 * rng.normal(size=(5, 20))[truth] + rng.normal(size=(SIZE, 20))).astype(np.float32)
    device = CudaSettings(precision=precision, place=DEVICE.place)
    options = {"init": truth, "cluster_penalty": 1e4, "n_init": 1, "random_state": 0}
    first, second = (DPMeans(device=device, **options).fit(X) for _ in range(2))
    expected = DPMeans(**options).fit(X)
    np.testing.assert_array_equal(first.labels_, expected.labels_)
    np.testing.assert_array_equal(first.cluster_centers_, second.cluster_centers_)
    assert first.objective_ == pytest.approx(expected.objective_, rel=2e-2)


@needs_real_gpu
@pytest.mark.parametrize("precision", ["exact", "tf32", "fp16", "bf16"])
def test_two_runs_are_equal_to_the_bit_and_sums_are_those_of_the_labels(precision):
    X, links, family = problem(5, d=32)
    device, order = CudaSettings(precision=precision), np.arange(SIZE)
    runs = []
    for _ in range(2):
        engine = CudaEngine(X, family, 1, links, device)
        labels = engine.stored(np.arange(SIZE) % 40)
        totals, run = engine.totals(labels, 40), []
        for _ in range(10):
            labels, totals, _ = engine.sweep(
                labels, totals, engine.means(totals), order, (0.5, 0.5), 1e9
            )
            run += [engine.given(labels), *totals]
        for mine, theirs in zip(totals, engine.totals(labels, len(totals.size)), strict=True):
            np.testing.assert_array_equal(mine, theirs)
        runs.append(run)
    for first, second in zip(*runs, strict=True):
        np.testing.assert_array_equal(first, second)


@needs_gpu
def test_a_sweep_that_changes_nothing_returns_the_labels_that_it_was_given():
    X, links, family = problem(1)
    engine = CudaEngine(X, family, 1, links, DEVICE)
    labels, totals, order = engine.together(), engine.whole, np.arange(SIZE)
    centers = engine.means(totals)
    for _ in range(2):  # the second looks at linked points alone
        again = engine.sweep(labels, totals, centers, order, (0.0, 0.0), 1e9)
        assert again.labels is labels
        assert again.n_changed == 0


@needs_gpu
@pytest.mark.parametrize(
    "options", [{"cluster_penalty": 40.0}, {"n_clusters_hint": 4}], ids=["penalty", "hint"]
)
def test_fits_are_those_of_the_processor(options):
    X, links, _ = problem(2)
    here = RDPMeans(random_state=0, n_init=2, **options).fit(X, links=links)
    there = RDPMeans(random_state=0, n_init=2, device=DEVICE, **options).fit(X, links=links)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    assert there.objective_ == here.objective_
    np.testing.assert_array_equal(there.predict(X), here.predict(X))
    np.testing.assert_array_equal(there.predict(X, links=links), here.predict(X, links=links))


@needs_gpu
def test_tensors_come_back_as_tensors():
    import torch

    X, _, _ = problem(3)
    tensor = torch.as_tensor(X, device=DEVICE.place)
    model = DPMeans(cluster_penalty=40.0, random_state=0)
    labels = model.fit_predict(tensor)
    assert isinstance(labels, torch.Tensor)
    assert labels.device == tensor.device
    assert isinstance(model.labels_, np.ndarray)
    expected = DPMeans(cluster_penalty=40.0, random_state=0, device="cpu").fit(X)
    np.testing.assert_array_equal(as_host(labels), expected.labels_)
    assert isinstance(model.predict(tensor), torch.Tensor)


@pytest.mark.skipif(PLACE != "cuda", reason="there is no GPU that PyTorch can see")
def test_too_little_memory_is_told_before_anything_is_copied():
    X = np.broadcast_to(np.zeros(1, np.float32), (2**40, 8))
    with pytest.raises(MaylinkError, match=r"needs about .* GB of GPU memory and .* are free"):
        check_room(X, Gaussian(), CudaSettings())


@needs_gpu
def test_values_too_large_for_short_numbers_are_told():
    X = np.array([[0.0], [1.0], [2e5]], np.float32)
    device = CudaSettings(precision="fp16", place=DEVICE.place)
    with pytest.raises(MaylinkError, match=r"65504.*give precision='bf16'"):
        CudaEngine(X, Gaussian(), 1, None, device)


# ---------------------------------------------------------------------- without one


def test_torch_is_not_imported_where_nobody_asks_for_it():
    code = (
        "import sys, numpy as np; from maylink import RDPMeans; "
        "RDPMeans(cluster_penalty=1.0).fit(np.eye(4)); "
        "assert 'torch' not in sys.modules and 'triton' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_gpu_without_pytorch_is_refused_in_one_sentence(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    model = RDPMeans(device="cuda")
    with pytest.raises(MaylinkError, match=r"needs torch and triton.*maylink\[cuda\].*'cpu'$"):
        model.fit(np.eye(4))
    assert not hasattr(model, "labels_")


@pytest.mark.skipif(
    PLACE == "cuda" or importlib.util.find_spec("torch") is None,
    reason="PyTorch is not installed, or there is a GPU",
)
def test_no_gpu_is_told_in_one_sentence():
    with pytest.raises(MaylinkError, match=r"needs a GPU that PyTorch can see, and there is none"):
        RDPMeans(device="cuda").fit(np.eye(4))


@pytest.mark.parametrize("device", ["gpu", None, 0, "CUDA"])
def test_other_words_are_refused(device):
    with pytest.raises(MaylinkError, match=r"device: .* is not one of 'auto', 'cpu', 'cuda'"):
        RDPMeans(device=device).fit(np.eye(4))


def test_other_precisions_are_refused():
    with pytest.raises(MaylinkError, match=r"precision: 'fp8' is not one of 'exact'"):
        RDPMeans(device=CudaSettings(precision="fp8")).fit(np.eye(4))


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_arrays_stay_on_the_processor(device):
    X = np.eye(4)
    assert as_device(device, X, X) is None


def test_sparse_data_are_refused():
    with pytest.raises(MaylinkError, match=r"the GPU takes dense data"):
        check_room(sparse.csr_array(np.eye(3)), Gaussian(), CudaSettings())


def test_families_that_compare_roots_are_refused():
    class Rooted(Gaussian):
        root = True

    with pytest.raises(MaylinkError, match=r"compares √D, which the GPU does not"):
        check_room(np.eye(3), Rooted(), CudaSettings())


def test_arrays_pass_untouched():
    X = np.eye(3)
    assert as_tensor(X) is X
    assert as_host(X) is X
    assert like(X, X) is X


@pytest.mark.parametrize("stride", [1, 8, 32, 33, 64, 96, 100, 128, 384, 500])
def test_widths_hold_all_columns(stride):
    wide, rest = widths(stride)
    assert wide + rest >= stride
    assert all(part == power_of_two(part) for part in (wide, rest) if part)


@needs_gpu
@pytest.mark.parametrize("steepest", [1e-8, 1.0, 1e7])
@pytest.mark.parametrize("farthest", [0.0, 1.0, 1e12])
def test_scaled_centres_stay_in_the_range_of_short_numbers(steepest, farthest):
    import torch

    place, scale = torch.device(DEVICE.place), _power_below(300.0)
    about = torch.tensor([8.0, 500.0, 1.0, scale], dtype=torch.float64, device=place)
    points = PointScale(8, 8, 32, scale, about, torch.float16, True)
    centers = DeviceCenters(points, 2, place)
    theta = np.zeros((2, 8))
    theta[1, 3] = steepest
    centers.send((1.0, 2.0, 3.0), theta, np.array([-farthest, 0.0]))
    centers.locate()
    centers.judge()
    factor = float(centers.facts[7])
    assert factor == 2.0 ** np.round(np.log2(factor))
    assert factor * steepest <= 2.0**8
    assert factor * scale * farthest <= 2.0**23
    assert factor * scale * (500.0 * steepest + farthest) <= 2.0**26
    assert 300.0 * scale <= 2.0**8


@needs_gpu
@pytest.mark.parametrize("d", [1, 3, 8, 33])
def test_centres_of_sums_are_those_of_the_processor(d):
    import torch

    rng, place = np.random.default_rng(d), torch.device(DEVICE.place)
    sums, sizes = rng.normal(size=(2, 5, d + 1)), rng.integers(1, 9, size=5)
    about = torch.tensor([d, 500.0, 1.0, 1.0], dtype=torch.float64, device=place)
    centers = DeviceCenters(PointScale(d, d, 64, 1.0, about, torch.float16, True), 5, place)
    there = [torch.tensor(part, dtype=torch.float64, device=place) for part in (sums, sizes)]
    means = torch.empty((5, d), dtype=torch.float64, device=place)
    centers.locate((*there, means))
    expected = (sums[0] + sums[1])[:, :-1] / sizes[:, None]
    theta, c = Gaussian().tangent(expected)
    np.testing.assert_array_equal(as_host(means), expected)
    np.testing.assert_array_equal(as_host(centers.next[0]).T, theta)
    np.testing.assert_array_equal(as_host(centers.next[1]), c)
