"""Several methods on the same data and links."""

import numpy as np
import pandas as pd
import pytest

from maylink import DPMeans, Links, Tuning, TVClust
from maylink.analysis import methods
from maylink.analysis.comparison import compare, held_out_score
from maylink.errors import MaylinkError

RNG = np.random.default_rng(0)
Y = np.arange(40) % 2
X = RNG.normal(0, 0.4, (40, 2)) + 4.0 * Y[:, None]
I = RNG.integers(40, size=60)  # noqa: E741
J = (I + 1 + RNG.integers(39, size=60)) % 40
LINKS = Links(40, I, J, np.where(Y[I] == Y[J], 1, -1))


FAMILY = "diagonal-gaussian"


@pytest.fixture(autouse=True)
def one_candidate(monkeypatch):
    """Let TVClust have nothing to choose: that takes most of the time of a fit."""
    real = methods.fit

    def fit(model, data, links):
        if isinstance(model, TVClust):
            model.set_params(data_weight=1.0)
        return real(model, data, links)

    monkeypatch.setattr(methods, "fit", fit)


def test_methods_are_fitted_and_judged():
    called_with = []
    rows = compare(
        X, LINKS, ["plainkmeans", "linkonly", "tvclust"], family=FAMILY, y=Y,
        each=called_with.append,
    )  # fmt: skip
    assert called_with == ["tvclust", "linkonly", "plainkmeans"]
    frame = pd.DataFrame(map(vars, rows)).set_index("method")
    assert frame.index.tolist() == ["plainkmeans", "linkonly", "tvclust"]
    assert frame["told_k"].tolist() == ["TVClust", "", ""]
    assert frame.loc["tvclust", ["kept", "agreement", "f", "ari"]].tolist() == [1, 1, 1, 1]
    assert frame.loc["plainkmeans", "ari"] == 1
    assert frame.loc["tvclust", "held_out"] > frame.loc["linkonly", "held_out"]
    assert (frame["seconds"] > 0).all()


def test_tvclust_is_fitted_unasked_only_where_nobody_else_finds_k():
    called_with = []
    (row,) = compare(X, LINKS, ["plainkmeans"], family=FAMILY, k=2, each=called_with.append)
    assert called_with == ["plainkmeans"]
    assert np.isnan(row.agreement)
    called_with.clear()
    rows = compare(X, LINKS, ["plainkmeans", "linkonly"], family=FAMILY, each=called_with.append)
    assert called_with == ["linkonly", "plainkmeans"]
    assert rows[0].told_k == "LinkOnly"
    called_with.clear()
    (row,) = compare(X, LINKS, ["plainkmeans"], family=FAMILY, each=called_with.append)
    assert called_with == ["tvclust", "plainkmeans"]
    assert row.told_k == "TVClust"


def test_a_method_that_fails_is_reported_and_the_others_go_on():
    same = np.flatnonzero(LINKS.kind == 1)[0]
    clash = LINKS + Links(40, [LINKS.i[same]], [LINKS.j[same]], [-1])
    cop, plain = compare(X, clash, ["copkmeans", "plainkmeans"], family=FAMILY, k=3)
    assert cop.failure
    assert cop.clusters is None
    assert (plain.failure, plain.clusters, plain.told_k) == ("", 3, "you")


def test_few_links_are_not_held_out():
    few = LINKS.chosen(np.arange(60) < 20, 40)
    model = TVClust("gaussian", covariance="spherical", data_weight=1, random_state=0)
    score = held_out_score(model.fit(X, links=few), X, few)
    assert np.isnan([score.mean, score.error]).all()
    assert not score.failure


def fails_without_all_links(monkeypatch):
    real = methods.fit

    def fit(model, data, links):
        if links.n_links < LINKS.n_links:
            raise MaylinkError("too few\nlinks")
        return real(model, data, links)

    monkeypatch.setattr(methods, "fit", fit)


def test_a_fit_that_fails_without_some_links_is_reported(monkeypatch):
    fails_without_all_links(monkeypatch)
    (row,) = compare(X, LINKS, ["tvclust"], family=FAMILY)
    assert row.clusters == 2
    assert np.isnan(row.held_out)
    assert row.failure == "without the held-out links: too few links"


def test_links_are_held_out_as_often_as_where_settings_are_chosen(monkeypatch):
    fits = []
    real = methods.fit
    monkeypatch.setattr(methods, "fit", lambda *arguments: fits.append(1) or real(*arguments))
    held_out_score(DPMeans(cluster_penalty=9.0, random_state=0).fit(X), X, LINKS)
    assert len(fits) == Tuning().n_folds


def test_unknown_method():
    with pytest.raises(MaylinkError, match="'best' is not one of"):
        compare(X, LINKS, ["best"])
