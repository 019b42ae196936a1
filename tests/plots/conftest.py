"""Axes to draw on, and small fitted models."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import maylink as ml

DRAW = ml.datasets.make_two_view(40, 2, reliability={"a": (0.95, 0.9), "b": (0.6, 0.7)}, rng=0)
PLAIN = {"family": "gaussian", "covariance": "spherical", "data_weight": 1.0, "random_state": 0}


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(autouse=True)
def close_figures():
    """Let pyplot forget the figures that a test made."""
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="session")
def variational():
    return ml.TVClust(**PLAIN).fit(DRAW.X, links=DRAW.links)


@pytest.fixture(scope="session")
def without_draws():
    inference = ml.Variational(interval_draws=0)
    return ml.TVClust(**PLAIN, inference=inference).fit(DRAW.X, links=DRAW.links)


@pytest.fixture(scope="session")
def sampled():
    inference = ml.Gibbs(n_chains=2, n_warmup=10, n_draws=30)
    model = ml.TVClust(**PLAIN, inference=inference, n_jobs=1)
    return model.fit(DRAW.X, links=DRAW.links)


@pytest.fixture(scope="session")
def dp_means():
    points = np.random.default_rng(0).normal(size=(60, 2)) + 9.0 * np.eye(2)[np.arange(60) % 2]
    return ml.DPMeans(random_state=0).fit(points)
