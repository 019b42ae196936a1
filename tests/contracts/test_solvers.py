"""Every solver of the library, found by itself: its shape, and how the loop runs it."""

import ast
import importlib
import inspect
import pkgutil
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import maylink.solvers
from gpu import DEVICE, PLACE
from maylink import Links
from maylink.engines.choice import engine_of
from maylink.families import Family
from maylink.problem import ChunkedProblem, Problem
from maylink.runtime.interrupts import Stop
from maylink.runtime.progress import Progress
from maylink.solvers import loop
from maylink.solvers.chains import ChainPlan, ChainSolver
from maylink.solvers.chunked_variational import ChunkedVariationalSolver
from maylink.solvers.cuda_variational import CudaVariationalSolver
from maylink.solvers.fit import Fit, Status
from maylink.solvers.gibbs import CollapsedSampler, GibbsSettings
from maylink.solvers.instantiated import InstantiatedSampler
from maylink.solvers.means_stream import MeansBatchSolver, MeansStream
from maylink.solvers.rdpmeans import RDPMeansSettings, RDPMeansSolver
from maylink.solvers.spectral import SpectralSettings, SpectralSolver
from maylink.solvers.variational import VariationalSettings, VariationalSolver
from maylink.solvers.variational_batches import BatchSolver
from maylink.solvers.variational_stream import StreamBatchSolver, VariationalStream
from zoo import draw, true_links

N = 60
X, Y = draw("gaussian", N, 1)
LINKS = true_links(Y, 40, 1)
PROBLEM = Problem.build(X, LINKS)
START = np.arange(N) % 5
METHODS = ("init", "step", "record", "done")


def all_solvers():
    """Every class in maylink.solvers that has the methods of a solver; the protocol has no init."""
    names = [module.name for module in pkgutil.iter_modules(maylink.solvers.__path__)]
    modules = [importlib.import_module(f"maylink.solvers.{name}") for name in names]
    classes = [member for module in modules for member in vars(module).values()]
    return sorted(
        {
            member
            for member in classes
            if inspect.isclass(member) and all(hasattr(member, name) for name in METHODS)
        },
        key=lambda cls: cls.__name__,
    )


# ---------------------------------------------------------------------- one example of each


def rdpmeans():
    solver = RDPMeansSolver(PROBLEM, engine_of(PROBLEM, 1), RDPMeansSettings(2.0))
    return solver, solver.init(np.arange(N, dtype=np.int32), START)


def variational():
    solver = VariationalSolver(PROBLEM, PROBLEM.prior, VariationalSettings())
    return solver, solver.init(START)


def cuda_variational():
    if PLACE is None:
        pytest.skip("there is no GPU that PyTorch can see")
    solver = CudaVariationalSolver(PROBLEM, PROBLEM.prior, VariationalSettings(), DEVICE)
    return solver, solver.init(START)


def batches():
    rng = np.random.default_rng(0)
    solver = BatchSolver(PROBLEM, PROBLEM.prior, VariationalSettings(), 20, rng)
    return solver, solver.init(START)


def stream_batch():
    class FiveClusters:
        needs_no_search = True

        def several(self, problem, count):
            return [np.arange(problem.n) % 5] * count

    stream = VariationalStream.begin(PROBLEM.family, PROBLEM.prior, VariationalSettings())
    stream = stream.add(X[:40], LINKS[np.arange(40)], FiveClusters())
    solver = StreamBatchSolver(stream, X[40:], LINKS)
    size = len(stream.statistics.size)
    return solver, solver.init(np.full((20, size + 1), 1.0 / (size + 1)))


def means_batch():
    first = np.arange(40)
    stream = MeansStream.begin(
        PROBLEM.family, 2.0, (0.1, 0.1), X[:40], START[:40], LINKS[first], n_jobs=1
    )
    solver = MeansBatchSolver(stream, X[40:], LINKS, None, 100, 1)
    return solver, solver.init(np.arange(20, dtype=np.int32))


def chunked_variational():
    da = pytest.importorskip("dask.array")
    problem = ChunkedProblem.build(da.from_array(X, chunks=(25, 3)), LINKS)
    solver = ChunkedVariationalSolver(problem, problem.prior, VariationalSettings())
    return solver, solver.init(START)


def chain():
    sampler = InstantiatedSampler(PROBLEM, None, GibbsSettings())  # one draw a step
    solver = ChainSolver(sampler, ChainPlan(n_warmup=2, n_draws=5), np.random.default_rng(0))
    return solver, solver.init(START)


def spectral():
    solver = SpectralSolver(PROBLEM, SpectralSettings(max_clusters=6), np.random.default_rng(0))
    return solver, solver.init()


EXAMPLES = {
    RDPMeansSolver: rdpmeans,
    VariationalSolver: variational,
    CudaVariationalSolver: cuda_variational,
    BatchSolver: batches,
    StreamBatchSolver: stream_batch,
    MeansBatchSolver: means_batch,
    ChunkedVariationalSolver: chunked_variational,
    ChainSolver: chain,
    SpectralSolver: spectral,
}
SAMPLERS = {CollapsedSampler, InstantiatedSampler}


def test_every_solver_has_an_example_here():
    """A new solver is found by itself; it must be added to EXAMPLES above."""
    assert set(all_solvers()) == set(EXAMPLES)


def test_classes_that_are_called_solvers_are_solvers():
    folder = maylink.solvers.__path__[0]
    names = set()
    for module in pkgutil.iter_modules([folder]):
        with open(f"{folder}/{module.name}.py", encoding="utf-8") as file:
            tree = ast.parse(file.read())
        names |= {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    named = {name for name in names if name.endswith("Solver") and name != "Solver"}
    assert named == {cls.__name__ for cls in all_solvers()}


# ---------------------------------------------------------------------- the shape


@pytest.mark.parametrize("cls", EXAMPLES, ids=lambda cls: cls.__name__)
def test_methods_take_what_the_loop_gives(cls):
    for name, parameters in (
        ("step", ["self", "state"]),
        ("record", ["self", "state"]),
        ("done", ["self", "state", "rows"]),
    ):
        assert list(inspect.signature(getattr(cls, name)).parameters) == parameters
        assert getattr(cls, name).__doc__
    assert cls.init.__doc__
    assert cls.__doc__


@pytest.mark.parametrize("make", EXAMPLES.values(), ids=[cls.__name__ for cls in EXAMPLES])
class TestRuns:
    """What the loop does with each of them."""

    def test_the_loop_runs_it(self, make):
        solver, state = make()
        assert isinstance(solver.name, str)
        assert isinstance(solver.records_start, bool)
        fit = loop.run(solver, state)
        assert isinstance(fit, Fit)
        assert type(fit.state) is type(state)
        assert fit.status in (Status.CONVERGED, Status.SAMPLED)
        assert len(fit.trace) > 0
        assert fit.trace.kept == len(fit.trace) - 1
        rows = fit.trace.sweeps
        assert len({type(row) for row in rows}) == 1
        assert solver.objective in rows[0]._fields
        assert "n_clusters" in rows[0]._fields
        assert np.isfinite(fit.trace.column(solver.objective)).all()
        assert fit.objective == getattr(rows[-1], solver.objective)
        assert fit.trace.to_frame().shape == (len(rows), len(rows[0]))
        assert solver.done(fit.state, rows) is fit.status

    def test_it_can_be_stopped_after_any_step(self, make, tmp_path):
        solver, state = make()
        stop = Stop(tmp_path / "stop")
        stop.ask()
        fit = loop.run(solver, state, Progress("", 0, False, stop=stop))
        assert fit.status is Status.STOPPED
        assert len(fit.trace) == 1
        assert type(fit.state) is type(state)

    def test_a_step_leaves_the_state_before_it_alone(self, make):
        """So that a state can be kept, and a run can go on from it."""
        solver, start = make()
        state = solver.step(start)
        before = [array.copy() for array in arrays_of(state)]
        assert before
        if solver.done(state, [solver.record(state)]) is None:
            solver.step(state)
        for array, copy in zip(arrays_of(state), before, strict=True):
            np.testing.assert_array_equal(array, copy)

    def test_a_run_that_goes_on_ends_as_one_that_never_paused(self, make):
        solver, state = make()
        rows_after = []
        whole = loop.run(solver, state, after_step=lambda _, rows: rows_after.append(list(rows)))
        other, start = make()
        again = loop.run(other, other.step(start), rows=rows_after[0])
        assert again.trace == whole.trace
        assert (again.objective, again.status) == (whole.objective, whole.status)


def arrays_of(value):
    """All arrays in a state, however deep."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (tuple, list)):
        return [array for part in value for array in arrays_of(part)]
    if isinstance(value, Family):
        return []
    if is_dataclass(value):
        return [array for field in fields(value) for array in arrays_of(getattr(value, field.name))]
    return []


# ---------------------------------------------------------------------- what is computed


RISING = [VariationalSolver, BatchSolver, StreamBatchSolver, ChunkedVariationalSolver]


@pytest.mark.parametrize("cls", RISING, ids=lambda cls: cls.__name__)
def test_no_step_lowers_a_bound(cls):
    solver, state = EXAMPLES[cls]()
    bounds = loop.run(solver, state).trace.column("bound")
    assert np.diff(bounds).min() >= -1e-9 * np.abs(bounds).max()


def test_no_step_of_a_batch_raises_the_objective():
    solver, state = means_batch()
    values = loop.run(solver, state).trace.column("objective")
    assert len(values) > 1
    assert np.diff(values).max() <= 1e-9 * np.abs(values).max()


@pytest.mark.parametrize("sampler", sorted(SAMPLERS, key=lambda cls: cls.__name__))
def test_samplers_share_their_states_and_draws(sampler):
    problem = Problem.build(X, Links.empty(N))
    one = sampler(problem, None, GibbsSettings())
    state, draws = one.step(one.init(START), 3, np.random.default_rng(0))
    assert type(state) is type(one.init(START))
    assert draws.labels.shape == (3, N)
    assert state.labels.tolist() == draws.labels[-1].tolist()
    assert one.block >= 1
