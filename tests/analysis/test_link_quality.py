"""What links are worth, on data whose truth is known."""

import numpy as np
import pytest

from maylink import Links, RDPMeans, TVClust
from maylink.analysis import methods
from maylink.analysis.link_quality import diagnose
from maylink.errors import MaylinkError


def two_groups(n=60, seed=0, spread=0.5):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(0, spread, (n, 2)) + 4.0 * y[:, None]
    return X, y


def true_links(y, pairs, wrong=()):
    """Links on pairs, true but for those at the positions ``wrong``."""
    same = np.array([y[i] == y[j] for i, j in pairs])
    kind = np.where(same, 1, -1)
    kind[list(wrong)] *= -1
    i, j = np.array(pairs).T
    return Links(len(y), i, j, kind)


def fitted_quickly(X, links):
    model = TVClust("gaussian", covariance="spherical", data_weight=1, random_state=0)
    return model.fit(X, links=links)


@pytest.fixture(scope="module")
def diagnosed():
    X, y = two_groups()
    rng = np.random.default_rng(1)
    pairs = [tuple(rng.choice(50, 2, replace=False)) for _ in range(120)]
    pairs = list({tuple(sorted(map(int, pair))) for pair in pairs})
    links = true_links(y, pairs, wrong=(3, 7))
    return diagnose(X, links, fitted_quickly(X, links)), links, pairs


def test_counts_are_those_of_the_links(diagnosed):
    diagnosis, links, pairs = diagnosed
    assert diagnosis.n_points == 60
    assert (diagnosis.n_links, diagnosis.n_pairs) == (links.n_links, len(pairs))
    assert diagnosis.n_linked == len({point for pair in pairs for point in pair})
    assert diagnosis.n_may == int((links.kind == 1).sum())
    assert diagnosis.n_conflicts == links.conflicts().attrs["total"] > 0
    assert diagnosis.n_clusters == 2


def test_the_wrong_links_are_found(diagnosed):
    diagnosis, _, _ = diagnosed
    assert sorted(diagnosis.suspects.index.tolist()) == [3, 7]
    assert "2 links look wrong (2%)" in diagnosis.findings


def test_links_are_predicted_better_than_by_a_guess(diagnosed):
    diagnosis, links, _ = diagnosed
    share = (links.kind == 1).mean()
    assert diagnosis.guess == pytest.approx(
        share * np.log(share) + (1 - share) * np.log(1 - share), abs=0.05
    )
    assert diagnosis.held_out > diagnosis.guess + 2 * diagnosis.held_out_error
    assert diagnosis.enough
    assert any("better than by a guess" in text for text in diagnosis.findings)


def test_the_point_between_is_asked_about():
    X, y = two_groups(spread=0.9)
    X[58] = [2.0, 2.0]  # half way, and without links
    links = true_links(y, [(k, k + 2) for k in range(40)] + [(k, k + 1) for k in range(10)])
    diagnosis = diagnose(X, links, fitted_quickly(X, links))
    assert 58 in diagnosis.pairs["i"].tolist()
    assert diagnosis.n_between >= 1
    assert any("between clusters and has no link: begin with it" in a for a in diagnosis.advice)
    assert diagnosis.pairs["together"].between(0, 1).all()


def test_closeness_is_no_probability():
    X, y = two_groups(spread=0.3)
    X[58], X[56] = [2.0, 2.0], [1.2, 1.2]  # half way, and some way off
    links = true_links(y, [(k, k + 2) for k in range(40)])
    model = RDPMeans(cluster_penalty=12.0, random_state=0).fit(X, links=links)
    diagnosis = diagnose(X, links, model)
    assert model.n_clusters_ == 2
    assert diagnosis.pairs["i"].tolist() == [58]
    assert diagnosis.pairs["together"].isna().all()
    assert diagnosis.n_between == 1


def test_noise_is_not_predicted():
    X, _ = two_groups(40)
    rng = np.random.default_rng(2)
    i = rng.integers(40, size=80)
    j = (i + 1 + rng.integers(39, size=80)) % 40
    links = Links(40, i, j, rng.choice([-1, 1], 80))
    diagnosis = diagnose(X, links, fitted_quickly(X, links))
    assert any("not predicted clearly better" in text for text in diagnosis.findings)


def test_a_fit_that_fails_without_some_links_is_reported(monkeypatch, diagnosed):
    _, links, _ = diagnosed
    X, _ = two_groups()
    model = RDPMeans(cluster_penalty=9.0, random_state=0).fit(X, links=links)

    def fit(*_):
        raise MaylinkError("no luck")

    monkeypatch.setattr(methods, "fit", fit)
    diagnosis = diagnose(X, links, model)
    assert np.isnan(diagnosis.held_out)
    assert "held-out links could not be predicted: no luck" in diagnosis.findings


def test_few_links_of_a_source_are_reported():
    X, y = two_groups(30)
    links = true_links(y, [(0, 2), (1, 3), (0, 1)])
    diagnosis = diagnose(
        X, links, RDPMeans(cluster_penalty=9.0, random_state=0).fit(X, links=links)
    )
    assert not diagnosis.enough
    assert np.isnan(diagnosis.held_out)
    assert np.isnan(diagnosis.guess)
    assert diagnosis.findings[0].startswith("3 linked pairs are fewer than 40")
    assert diagnosis.advice[0].startswith("judge 37 more pairs")
    assert any("source 0" in text for text in diagnosis.advice)
    assert "reliability is not known to ±0.1 for source 0" in diagnosis.findings
    assert (diagnosis.n_components, diagnosis.largest_component) == (2, 2)


def test_more_links_are_not_asked_of_a_source_that_says_nothing():
    X, y = two_groups()
    rng = np.random.default_rng(0)
    i = rng.integers(0, 60, 160)
    j = (i + rng.integers(1, 60, 160)) % 60
    guesses = np.arange(160) < 80
    kind = np.where(guesses, rng.choice([1, -1], 160), np.where(y[i] == y[j], 1, -1))
    links = Links(60, i, j, kind, source=np.where(guesses, "eve", "ann"))
    advice = diagnose(X, links, fitted_quickly(X, links)).advice
    (sentence,) = (line for line in advice if "eve" in line)
    assert sentence.startswith("check source eve: its links may say nothing (the 95% intervals")
    assert not any("ann" in line for line in advice)


def test_pairs_that_were_judged_are_not_asked_for_again(diagnosed):
    diagnosis, _, pairs = diagnosed
    asked = {tuple(sorted(pair)) for pair in diagnosis.pairs[["i", "j"]].to_numpy().tolist()}
    assert not asked & set(pairs)
    assert all(i != j for i, j in asked)
