"""Long runs of TVClust: killed, stopped, and gone on with from a checkpoint."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from maylink import Gibbs, TVClust
from maylink.datasets import make_two_view
from maylink.errors import MaylinkError
from maylink.families import Gaussian
from maylink.solvers.fit import Status

VIEW = make_two_view(150, 2, rng=1)
SHORT = {"inference": Gibbs(n_warmup=5, n_draws=20), "n_jobs": 1}
SCRIPT = """
    import sys
    import numpy as np
    from maylink import Gibbs, TVClust
    from maylink.families import Gaussian
    from maylink.datasets import make_two_view
    view = make_two_view(150, 2, rng=1)
    gibbs = Gibbs(n_chains=2, n_warmup=100, n_draws=int(sys.argv[2]), thin=8)
    model = TVClust(Gaussian(), data_weight=1, inference=gibbs, n_jobs=int(sys.argv[3]),
                    checkpoint=sys.argv[1] or None, random_state=0)
    print("ready", flush=True)
    model.fit(view.X, links=view.links)
    print(model.status_, model.draws_.labels.shape[0], model.n_clusters_, flush=True)
    np.save(sys.argv[4], model.draws_.labels)
"""


@pytest.fixture
def start():
    """Start the script in a process group of its own, which does not outlive the test."""
    runs = []

    def start_one(*arguments):
        run = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(SCRIPT), *map(str, arguments)],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        runs.append(run)
        return run

    yield start_one
    for run in runs:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        run.communicate()


def wait_until(condition, process):
    """Look often, for at most two minutes, while the process lives."""
    deadline = time.monotonic() + 120
    while not condition() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def draws_saved(path):
    """How many draws the checkpoint of a chain holds."""
    return len(np.load(path)["value.blocks.0.alpha"]) if path.exists() else 0


JOBS = [
    1,
    pytest.param(
        2,
        marks=pytest.mark.skipif(
            "MAYLINK_SLOW" not in os.environ, reason="starts many processes: MAYLINK_SLOW=1"
        ),
    ),
]


@pytest.mark.parametrize("n_jobs", JOBS)
def test_a_killed_run_goes_on_to_the_draws_of_an_unbroken_one(start, tmp_path, n_jobs):
    gibbs = Gibbs(n_chains=2, n_warmup=100, n_draws=150, thin=8)  # as in the script
    whole = TVClust(Gaussian(), data_weight=1, inference=gibbs, n_jobs=1, random_state=0)
    folder = tmp_path / "checkpoint"
    broken = start(folder, 150, n_jobs, tmp_path / "broken.npy")
    wait_until((folder / "chain-0.npz").exists, broken)
    os.killpg(broken.pid, signal.SIGKILL)
    assert broken.wait() == -signal.SIGKILL, "it was done before it could be killed"
    assert draws_saved(folder / "chain-0.npz") < 150
    again = start(folder, 150, n_jobs, tmp_path / "again.npy")
    whole.fit(VIEW.X, links=VIEW.links)
    assert again.wait() == 0
    np.testing.assert_array_equal(whole.draws_.labels, np.load(tmp_path / "again.npy"))


@pytest.mark.parametrize("n_jobs", JOBS)
def test_ctrl_c_keeps_what_was_drawn(start, tmp_path, n_jobs):
    run = start(tmp_path, 10**6, n_jobs, tmp_path / "draws.npy")
    assert run.stdout.readline() == "ready\n"
    wait_until(lambda: draws_saved(tmp_path / "chain-0.npz") > 0, run)
    os.killpg(run.pid, signal.SIGINT)
    output = run.stdout.read()
    run.wait(timeout=60)
    assert output.startswith(Status.STOPPED)
    assert run.returncode == 0
    assert len(np.load(tmp_path / "draws.npy")) > 0


OTHER = r"chain-0\.npz: is of other data, links or parameters; name another file, or delete it$"


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    options = {**SHORT, "checkpoint": tmp_path / "run"}
    TVClust(Gaussian(), data_weight=1, random_state=0, **options).fit(VIEW.X)
    with pytest.raises(
        MaylinkError,
        match=OTHER,
    ):
        TVClust(Gaussian(), data_weight=1, random_state=0, **options).fit(VIEW.X + 1.0)


def test_a_checkpoint_of_another_start_is_refused(tmp_path):
    options = {**SHORT, "checkpoint": tmp_path / "run"}
    TVClust(Gaussian(), data_weight=1, random_state=0, **options).fit(VIEW.X)
    with pytest.raises(
        MaylinkError,
        match=OTHER,
    ):
        TVClust(Gaussian(), data_weight=1, init="one", random_state=0, **options).fit(VIEW.X)


def test_a_damaged_checkpoint_is_named(tmp_path):
    options = {**SHORT, "checkpoint": tmp_path}
    (tmp_path / "chain-0.npz").write_bytes(b"nonsense")
    with pytest.raises(
        MaylinkError,
        match=r"chain-0\.npz: is not a saved chain of maylink",
    ):
        TVClust(Gaussian(), data_weight=1, random_state=0, **options).fit(VIEW.X)
    options["checkpoint"] = tmp_path / "chain-0.npz"
    with pytest.raises(MaylinkError, match="cannot be made a folder"):
        TVClust(Gaussian(), data_weight=1, random_state=0, **options).fit(VIEW.X)


def test_a_finished_checkpoint_is_the_result(tmp_path):
    options = {**SHORT, "checkpoint": tmp_path / "run"}
    first = TVClust(Gaussian(), data_weight=1, random_state=0, **options).fit(VIEW.X)
    again = TVClust(Gaussian(), data_weight=1, random_state=0, **options).fit(VIEW.X)
    np.testing.assert_array_equal(first.draws_.labels, again.draws_.labels)
