"""Runs with a checkpoint: a broken fit goes on to the same result; that of another is refused."""

import numpy as np
import pytest

dask = pytest.importorskip("dask", reason="Dask is not installed: pip install 'maylink[dask]'")
da = pytest.importorskip("dask.array")

from halving import HalvedNumber, HalvingSolver, HalvingState  # noqa: E402
from maylink import Links, RDPMeans, Schedule, TVClust, Variational  # noqa: E402
from maylink.errors import MaylinkError  # noqa: E402
from maylink.runtime.interrupts import Stop  # noqa: E402
from maylink.runtime.progress import Progress  # noqa: E402
from maylink.solvers.checkpoint import Checkpoint  # noqa: E402
from maylink.solvers.checkpointed_runs import CheckpointedRuns, SavedRun  # noqa: E402
from maylink.solvers.chunked_variational import ChunkedVariationalSolver  # noqa: E402
from maylink.solvers.fit import Status  # noqa: E402
from maylink.solvers.rdpmeans import RDPMeansSolver  # noqa: E402
from zoo import draw, example  # noqa: E402

pytestmark = pytest.mark.usefixtures("two_dask_threads")


class EagerCheckpoint(Checkpoint):
    """Written after every step."""

    is_due = True


def eager(path):
    return EagerCheckpoint(path, "halving", "a", (SavedRun, HalvingState, HalvedNumber, Status))


# ---------------------------------------------------------------------- runs

STARTS = (8.0, 32.0, 4.0)


def runs_of(checkpoint=None, broken_at=None, progress=None):
    """Three runs of the solver, and how many steps were made."""
    solver, runs = HalvingSolver(broken_at=broken_at), CheckpointedRuns(checkpoint)
    shown = {} if progress is None else {"progress": progress}
    fits = [runs.run(solver, lambda: HalvingState(value), **shown) for value in STARTS]  # noqa: B023
    runs.finish()
    return fits, solver.n_calls


def test_without_a_checkpoint_runs_are_those_of_the_loop():
    fits, n_steps = runs_of()
    assert [fit.trace.column("value").tolist()[0] for fit in fits] == [4.0, 16.0, 2.0]
    assert n_steps == 3 + 5 + 2


@pytest.mark.parametrize("broken_at", range(2, 11))
def test_a_fit_that_is_broken_anywhere_goes_on_to_the_same_runs(broken_at, tmp_path):
    """Whatever step it was broken in, that step alone is made again."""
    path = tmp_path / "fit.npz"
    whole, n_steps = runs_of()
    with pytest.raises(KeyboardInterrupt):
        runs_of(eager(path), broken_at)
    assert path.exists()
    again, n_more = runs_of(eager(path))
    assert again == whole
    assert n_more == n_steps - (broken_at - 1)
    assert not path.exists()


def test_a_run_that_was_finished_keeps_what_was_done_with_it(tmp_path):
    """What is done with a run that has ended is stored, and not done again."""
    path, solver, finished = tmp_path / "fit.npz", HalvingSolver(broken_at=6), []

    def finish(fit):
        finished.append(fit)
        return fit.__class__(HalvingState(-1.0), fit.objective, fit.trace, fit.status)

    runs = CheckpointedRuns(eager(path))
    runs.run(solver, lambda: HalvingState(8.0), finish=finish)
    with pytest.raises(KeyboardInterrupt):
        runs.run(solver, lambda: HalvingState(32.0), finish=finish)
    again = CheckpointedRuns(eager(path))
    first = again.run(HalvingSolver(), lambda: HalvingState(8.0), finish=finish)
    assert first.state == HalvingState(-1.0)
    assert (first.objective, first.status) == (1.0, Status.CONVERGED)
    assert len(finished) == 1


def test_states_are_packed_before_they_are_stored(tmp_path):
    path = tmp_path / "fit.npz"
    pack, unpack = (lambda state: (state.value, state.n_steps)), (lambda pair: HalvingState(*pair))
    runs = CheckpointedRuns(eager(path), pack)
    with pytest.raises(KeyboardInterrupt):
        runs.run(HalvingSolver(broken_at=3), lambda: HalvingState(16.0))
    assert eager(path).load()[0].state == (4.0, 2)
    again = CheckpointedRuns(eager(path), pack).run(
        HalvingSolver(), lambda: HalvingState(16.0), unpack=unpack
    )
    assert again.state == HalvingState(1.0, 4)


def test_a_state_that_cannot_be_packed_yet_is_not_stored(tmp_path):
    path = tmp_path / "fit.npz"
    runs = CheckpointedRuns(eager(path), lambda state: state if state.n_steps > 1 else None)
    with pytest.raises(KeyboardInterrupt):
        runs.run(HalvingSolver(broken_at=2), lambda: HalvingState(16.0))
    assert not path.exists()


def test_a_run_that_ctrl_c_stops_goes_on(tmp_path):
    path, stop = tmp_path / "fit.npz", Stop(tmp_path / "stop")

    class Stopping(Progress):
        is_shown = True

        def show(self, **state):
            stop.ask()

    runs = CheckpointedRuns(eager(path))
    progress = Stopping("", 0, False, stop=stop)
    stopped = runs.run(HalvingSolver(), lambda: HalvingState(8.0), progress)
    assert (stopped.status, stopped.state.n_steps) == (Status.STOPPED, 1)
    again, n_steps = runs_of(eager(path))
    assert again == runs_of()[0]
    assert n_steps == 9


# ---------------------------------------------------------------------- fits on Dask

X, Y = draw("gaussian", 120, 3)
LINKS = Links.from_labels(Y, sample=80, rng=0)
OTHER_LINKS = Links.from_labels(Y, sample=80, rng=1)  # as many
LABELS = np.arange(120) % 4


def tvclust(**options):
    defaults = {"covariance": "diagonal", "data_weight": 1.0, "random_state": 0, "init": LABELS}
    return TVClust(**defaults | options)


def rdpmeans(**options):
    defaults = {"cluster_penalty": 2.0, "link_weight": 0.01, "random_state": 0, "n_init": 2}
    return RDPMeans(**defaults | options)


MAKERS = {"tvclust": tvclust, "rdpmeans": rdpmeans}
SOLVERS = {"tvclust": ChunkedVariationalSolver, "rdpmeans": RDPMeansSolver}


def cut(data):
    return da.from_array(data, chunks=(50, data.shape[1]))


@pytest.fixture
def broken(monkeypatch):
    """Returns a function that makes a step of a solver raise KeyboardInterrupt; None, no step."""

    def set_step(method, number):
        solver, n_steps = SOLVERS[method], []
        step = solver.__dict__.get("unbroken") or solver.step

        def counted(self, state):
            n_steps.append(1)
            if len(n_steps) == number:
                raise KeyboardInterrupt
            return step(self, state)

        monkeypatch.setattr(solver, "unbroken", step, raising=False)
        monkeypatch.setattr(solver, "step", counted)
        return n_steps

    return set_step


def result(model):
    row = "bounds_" if hasattr(model, "bounds_") else "cluster_centers_"
    return model.labels_.compute().tolist(), getattr(model, row).tolist(), model.status_


@pytest.mark.parametrize("method", MAKERS)
def test_a_broken_fit_goes_on_to_exactly_the_same_result(method, broken, tmp_path):
    path, make = tmp_path / "fit.npz", MAKERS[method]
    n_steps = broken(method, None)
    whole = make().fit(cut(X), links=LINKS)
    n_whole = len(n_steps)
    broken(method, n_whole - 1)
    with pytest.raises(KeyboardInterrupt):
        make(checkpoint=path).fit(cut(X), links=LINKS)
    assert path.exists()
    n_steps = broken(method, None)
    again = make(checkpoint=path).fit(cut(X), links=LINKS)
    assert result(again) == result(whole)
    assert len(n_steps) < n_whole
    assert not path.exists()


@pytest.mark.parametrize("family", ["product", "von-mises-fisher"])
def test_a_checkpoint_holds_every_kind_of_posterior(family, broken, tmp_path):
    path, data = tmp_path / "fit.npz", draw(family, 120, 3)[0]
    defaults = {"family": example(family), "covariance": "auto"}
    whole = tvclust(**defaults).fit(cut(data), links=LINKS)
    broken("tvclust", 2)
    with pytest.raises(KeyboardInterrupt):
        tvclust(**defaults, checkpoint=path).fit(cut(data), links=LINKS)
    assert path.exists()
    broken("tvclust", None)
    again = tvclust(**defaults, checkpoint=path).fit(cut(data), links=LINKS)
    assert result(again) == result(whole)


OTHERS = {
    "links": {"links": OTHER_LINKS},
    "data": {"data": X + 1.0},
    "chunks": {"data": X, "rows": 40},
    "init": {"init": (LABELS + 1) % 4},
    "random_state": {"random_state": 1},
}
OTHERS_OF_ONE = [
    ("tvclust", {"inference": Variational(tol=1e-3)}),
    ("tvclust", {"init": "one"}),
    ("tvclust", {"alpha": 3.0}),
    ("rdpmeans", {"n_init": 3}),
    ("rdpmeans", {"schedule": Schedule(patience=3)}),
]


@pytest.mark.parametrize(
    ("method", "other"),
    [(method, other) for method in MAKERS for other in OTHERS.values()] + OTHERS_OF_ONE,
    ids=[f"{method}-{name}" for method in MAKERS for name in OTHERS]
    + [f"{method}-{'-'.join(other)}" for method, other in OTHERS_OF_ONE],
)
def test_a_checkpoint_of_another_fit_is_refused(method, other, broken, tmp_path):
    path, make = tmp_path / "fit.npz", MAKERS[method]
    broken(method, 2)
    with pytest.raises(KeyboardInterrupt):
        make(init=LABELS, checkpoint=path).fit(cut(X), links=LINKS)
    broken(method, None)
    content = path.read_bytes()
    options = {"init": LABELS} | other
    links, data = options.pop("links", LINKS), options.pop("data", X)
    data = da.from_array(data, chunks=(options.pop("rows", 50), 3))
    with pytest.raises(MaylinkError, match=r"^checkpoint: .*other data, links or parameters"):
        make(**options, checkpoint=path).fit(data, links=links)
    assert path.read_bytes() == content


def test_what_does_not_decide_a_fit_may_change(broken, tmp_path):
    path = tmp_path / "fit.npz"
    broken("rdpmeans", 3)
    with pytest.raises(KeyboardInterrupt):
        rdpmeans(checkpoint=path).fit(cut(X), links=LINKS)
    broken("rdpmeans", None)
    moved = path.rename(tmp_path / "moved.npz")
    again = rdpmeans(checkpoint=moved, n_jobs=1).fit(cut(X), links=LINKS)
    assert result(again) == result(rdpmeans().fit(cut(X), links=LINKS))


@pytest.mark.parametrize("method", MAKERS)
def test_a_fit_that_ctrl_c_stops_keeps_its_checkpoint(method, broken, monkeypatch, tmp_path):
    path, make = tmp_path / "fit.npz", MAKERS[method]
    whole = make().fit(cut(X), links=LINKS)
    with monkeypatch.context() as patch:
        n_steps = broken(method, None)
        patch.setattr(Progress, "stopped", property(lambda self: len(n_steps) >= 2))
        stopped = make(checkpoint=path).fit(cut(X), links=LINKS)
    assert (stopped.status_, len(n_steps)) == (Status.STOPPED, 2)
    assert path.exists()
    again = make(checkpoint=path).fit(cut(X), links=LINKS)
    assert result(again) == result(whole)
    assert not path.exists()


def test_checkpoints_that_cannot_be(tmp_path):
    path = tmp_path / "fit.npz"
    with pytest.raises(MaylinkError, match="data in memory"):
        rdpmeans(checkpoint=path).fit(X)
    with pytest.raises(MaylinkError, match="random_state"):
        rdpmeans(checkpoint=path, random_state=None).fit(cut(X))
    with pytest.raises(MaylinkError, match="an order other than 'shuffle'"):
        rdpmeans(checkpoint=path, schedule=Schedule(order="shuffle")).fit(cut(X))
    assert not path.exists()
    path.write_bytes(b"no such file")
    with pytest.raises(MaylinkError, match="is not a saved"):
        rdpmeans(checkpoint=path).fit(cut(X))
