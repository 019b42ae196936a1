"""Settings of the whole test suite."""

import os
import sys

import hypothesis
import pytest

from maylink import Tuning
from maylink.tuning.settings import tuning_context

QUICK = Tuning(
    data_weights=(1.0, 0.1), n_starts=1, n_starts_of_small=1, n_folds=2, n_folds_of_few=2
)

hypothesis.settings.register_profile(
    "maylink",
    deadline=None,
    derandomize=True,  # the same problems on every run: a red test stays red until it is mended
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.filter_too_much],
)
hypothesis.settings.load_profile("maylink")
os.environ.setdefault("MPLBACKEND", "Agg")
if "MAYLINK_PEER" in os.environ:  # another program to compare with; see `make agreement`
    sys.path.append(os.environ["MAYLINK_PEER"])
if "PYTEST_XDIST_WORKER" in os.environ:  # the processors are busy with other tests
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture
def data_folder():
    """The folder with the files of the experiments, or a skip that says how to get it."""
    folder = os.environ.get("MAYLINK_DATA")
    if not folder or not os.path.isdir(folder):
        pytest.skip("set MAYLINK_DATA to the folder of the experiments' data files")
    return folder


@pytest.fixture(autouse=True, scope="module")
def quick_choice(request):
    """Fewer candidates, folds and starts where tests do not ask how well settings are chosen."""
    if request.path.parent.name not in ("contracts", "experiments"):
        yield
        return
    with tuning_context(QUICK):
        yield


@pytest.fixture
def two_dask_threads():
    """Dask works on two threads of this process."""
    import dask

    with dask.config.set(scheduler="threads", num_workers=2):
        yield
