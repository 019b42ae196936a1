"""Runs of RDP-means on Dask with a checkpoint: labels that a rule gives are not stored."""

import numpy as np
import pytest

dask = pytest.importorskip("dask", reason="Dask is not installed: pip install 'maylink[dask]'")
da = pytest.importorskip("dask.array")

from maylink import Links  # noqa: E402
from maylink.engines.choice import engine_of  # noqa: E402
from maylink.engines.dask import DaskEngine  # noqa: E402
from maylink.engines.settings import EngineSettings  # noqa: E402
from maylink.problem import ChunkedProblem, Problem  # noqa: E402
from maylink.runtime.progress import SILENT  # noqa: E402
from maylink.solvers import rdpmeans  # noqa: E402
from maylink.solvers.checkpoint import Checkpoint  # noqa: E402
from maylink.solvers.checkpointed_runs import RECORDS  # noqa: E402
from maylink.solvers.rdpmeans import RDPMeansSettings, RDPMeansSolver  # noqa: E402
from maylink.solvers.rdpmeans_runs import RDPMeansRuns, pack_state  # noqa: E402
from zoo import draw  # noqa: E402

X, Y = draw("gaussian", 150, 3)
LINKS = Links.from_labels(Y, sample=80, rng=0)
ORDERS = [np.random.default_rng(seed).permutation(150).astype(np.int32) for seed in range(3)]


pytestmark = pytest.mark.usefixtures("two_dask_threads")


class EagerCheckpoint(Checkpoint):
    """Written after every sweep."""

    is_due = True


class BrokenSolver(RDPMeansSolver):
    """Raises KeyboardInterrupt in one of its sweeps."""

    broken_at = None
    n_calls = 0

    def step(self, state):
        self.n_calls += 1
        if self.n_calls == self.broken_at:
            raise KeyboardInterrupt
        return super().step(state)


def solver_of(keep, broken_at=None, *, chunked=True):
    problem = ChunkedProblem.build(da.from_array(X, chunks=(40, 3)), LINKS)
    problem = problem if chunked else Problem.build(X, LINKS)
    settings = RDPMeansSettings(2.0, xi_may=0.01, xi_not=0.01, keep=keep, merge=True)
    solver = BrokenSolver(problem, engine_of(problem, 1), settings)
    solver.broken_at = broken_at
    return solver


def solve(solver, path):
    runs = RDPMeansRuns(solver, EagerCheckpoint(path, "rdpmeans", "a", RECORDS))
    starts = (solver.init(order) for order in ORDERS)
    return rdpmeans.solve(solver, starts, SILENT, make_run=runs.make)


@pytest.mark.parametrize("keep", ["probability", "objective"])
@pytest.mark.parametrize("broken_at", [3, 60])
def test_runs_go_on_in_the_sweep_where_they_were_broken(keep, broken_at, tmp_path):
    """In the first run and in later ones; the result is that of one machine, never broken."""
    path = tmp_path / "fit.npz"
    whole_solver = solver_of(keep, chunked=False)
    whole = rdpmeans.solve(whole_solver, [whole_solver.init(order) for order in ORDERS])
    with pytest.raises(KeyboardInterrupt):
        solve(solver_of(keep, broken_at), path)
    solver = solver_of(keep)
    again = solve(solver, path)
    assert solver.n_calls == whole_solver.n_calls - (broken_at - 1)
    assert again.state.labels.compute().tolist() == whole.state.labels.tolist()
    assert again.state.centers.tobytes() == whole.state.centers.tobytes()
    assert (again.trace, again.status) == (whole.trace, whole.status)
    assert again.objective == whole.objective


def test_what_is_stored_does_not_grow_with_the_points():
    problem = solver_of("probability").problem
    where = (problem.chunks, problem.sizes, problem.family, problem.links, 1)
    engine = DaskEngine(*where, EngineSettings(room=2))
    solver = RDPMeansSolver(problem, engine, RDPMeansSettings(2.0))
    state = solver.init(ORDERS[0], np.arange(150) % 4)
    assert pack_state(state) is None  # labels that were given have no rule
    packed = pack_state(solver.step(state))
    for stored in (packed, packed.best.state):
        assert stored.order.size == 0
        assert stored.labels.ranks is None
        assert stored.labels.given is None
        n_linked = int(LINKS.touches().sum())
        assert n_linked <= stored.labels.linked.size < 150  # and room for a few more
