"""What RDPMeans chooses where the penalty is open: family, data weight and neighbours."""

import numpy as np
import pytest

from maylink import Links, RDPMeans, Tuning, sample_links
from maylink.datasets import make_pattern
from maylink.errors import MaylinkError
from maylink.metrics import pair_f
from maylink.model.reliability import LinkCounts
from maylink.solvers.link_weights import greatest_log_odds, pooled_log_odds, source_shares
from zoo import draw

QUICK = Tuning(data_weights=(1.0, 0.3, 0.03))


def test_wrong_links_do_not_make_it_fall_apart():
    data = make_pattern("spirals", 200, rng=7)
    links = sample_links(data.y, 15 / 200, 0.8, rng=7)
    model = RDPMeans(tuning=QUICK, random_state=0).fit(data.X, links=links)
    assert pair_f(data.y, model.labels_) > 0.9
    assert np.mean(model.predict(data.X) == model.labels_) > 0.9  # by parts, not by means
    assert model.chosen_by_ == "held-out links"
    chosen = model.selection_[model.selection_["chosen"]].iloc[0]
    assert chosen["family"] == model.family_.name
    assert chosen["data_weight"] == model.data_weight_
    assert chosen["neighbours"] == model.n_neighbours_ == 5  # one mean a spiral says little


def test_a_hundred_clusters():
    rng = np.random.default_rng(0)
    y = np.arange(1500) % 100
    X = 10.0 * np.argwhere(np.ones((10, 10)))[y] + rng.normal(size=(1500, 2))
    may = np.column_stack([np.arange(1400), np.arange(100, 1500)])
    may_not = np.column_stack([np.arange(1400), np.arange(1, 1401)])
    model = RDPMeans("gaussian", tuning=QUICK, random_state=0).fit(X, links=(may, may_not))
    assert pair_f(y, model.labels_) > 0.95


def test_a_source_that_lies_does_not_spoil_a_good_one():
    X, y = draw("gaussian", 120, 4)
    good = sample_links(y, rate=0.05, accuracy=0.95, rng=0)
    bad = sample_links(y, rate=0.05, accuracy=0.1, rng=1)
    bad = Links(bad.n, bad.i, bad.j, bad.kind, source=np.full(bad.n_links, "liar"))
    model = RDPMeans("gaussian", tuning=QUICK, random_state=0).fit(X, links=good + bad)
    assert pair_f(y, model.labels_) > 0.95


def test_neighbours_that_are_asked_for_are_links():
    X, y = draw("gaussian", 90, 0)
    links = sample_links(y, rate=0.05, rng=0)
    model = RDPMeans("gaussian", neighbours=5, tuning=QUICK, random_state=0).fit(X, links=links)
    assert model.n_neighbours_ == 5
    assert pair_f(y, model.labels_) > 0.95
    without = RDPMeans("gaussian", neighbours=5, random_state=0).fit(X)
    assert without.n_neighbours_ == 5
    assert without.link_weight_ is None


@pytest.mark.parametrize(
    "given", [{"cluster_penalty": 4.0}, {"n_clusters_hint": 3}, {"keep": "objective"}]
)
def test_what_is_given_leaves_algorithm_1_as_it_is(given):
    X, y = draw("gaussian", 90, 0)
    links = sample_links(y, rate=0.05, accuracy=0.9, rng=0)
    auto = RDPMeans(random_state=0, **given).fit(X, links=links)
    plain = RDPMeans("gaussian", neighbours=False, random_state=0, **given).fit(X, links=links)
    assert auto.family_.name == "gaussian"
    assert auto.n_neighbours_ == 0
    assert auto.labels_.tolist() == plain.labels_.tolist()
    with pytest.raises(MaylinkError, match="neighbours: 5 with a penalty"):
        RDPMeans(neighbours=5, **given).fit(X, links=links)


def test_a_sample_chooses_and_all_points_are_placed():
    X, y = draw("gaussian", 400, 0)
    links = sample_links(y, rate=0.02, rng=0)
    tuning = Tuning(sample_size=200, data_weights=(1.0, 0.1), n_folds=2)
    model = RDPMeans("gaussian", tuning=tuning, random_state=0).fit(X, links=links)
    assert model.labels_.size == 400
    assert pair_f(y, model.labels_) > 0.95


def test_a_source_weighs_no_more_than_it_is_worth():
    counts = LinkCounts(*np.array([[90.0, 5.0], [10.0, 95.0], [90.0, 5.0], [10.0, 95.0]]))
    may, may_not = greatest_log_odds(counts)
    assert may == pytest.approx(np.log(0.9 / 0.1))
    shares = source_shares(counts, (may, may_not), 1.0)
    assert shares.tolist() == pytest.approx([1.0, 1.0, 0.0, 0.0])
    one = LinkCounts(*(votes[:1] for votes in counts))
    assert source_shares(one, (1.0, 1.0), 1.0) is None
    assert pooled_log_odds(one) == pytest.approx((may, may_not))
