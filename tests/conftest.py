"""Settings of the whole test suite."""

import os
import sys

import hypothesis
import pytest

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


@pytest.fixture(autouse=True)
def quick_choice(request, monkeypatch):
    """Fewer candidates, folds and starts where tests do not ask how well settings are chosen."""
    if request.path.parent.name in ("contracts", "experiments"):
        monkeypatch.setattr("maylink.estimators.tvclust.WEIGHTS", (1.0, 0.1))
        monkeypatch.setattr("maylink.tuning.tvclust.STARTS", {True: 1, False: 1})
        monkeypatch.setattr("maylink.tuning.race.FOLDS", 2)
        monkeypatch.setattr("maylink.tuning.race.MOST_FOLDS", 2)
