"""What TVClust chooses by itself, and by what."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from maylink import Links, Tuning, TVClust, Variational, sample_links
from maylink.errors import DomainError
from maylink.metrics import adjusted_rand, pair_f
from maylink.tuning import race
from maylink.tuning.candidates import gaussians
from zoo import draw, true_links

FEWEST = Tuning().fewest_pairs
ALIKE = ("full-gaussian", "shared-gaussian", "plda")  # one covariance for all is enough
ONCE = Variational(n_init=1)
QUICK = Tuning(data_weights=(1.0, 0.1), n_folds_of_few=2)  # not to see how well it chooses


def tilted(n, seed):
    """Two long clusters side by side, at 45 degrees: only full covariances part them."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    long, short = rng.normal(size=n) * 5.0, rng.normal(size=n) * 0.3
    across = short + np.where(y == 0, -1.5, 1.5)
    return np.column_stack([long + across, long - across]), y


# ---------------------------------------------------------------------- by evidence


@pytest.mark.parametrize("n_links", [0, Tuning().fewest_held_out - 1])
def test_with_very_few_links_the_evidence_decides(n_links):
    X, y = tilted(80, 0)
    links = Links.from_labels(y, sample=n_links, rng=0) if n_links else None
    model = TVClust(inference=ONCE, random_state=0).fit(X, links=links)
    assert model.chosen_by_ == "evidence"
    assert model.data_weight_ == 1.0
    assert model.family_.name in ALIKE
    table = model.selection_
    assert table.loc[table["chosen"], "family"].tolist() == [model.family_.name]
    assert table["bound"].idxmax() == table["chosen"].idxmax()


def test_evidence_at_the_weight_that_was_given():
    X, _ = tilted(60, 0)
    model = TVClust(data_weight=0.5, inference=ONCE, random_state=0).fit(X)
    assert (model.chosen_by_, model.data_weight_) == ("evidence", 0.5)
    assert set(model.selection_["data_weight"]) == {0.5}


def test_one_family_and_few_links_leave_nothing_to_compare():
    X, _ = tilted(60, 0)
    model = TVClust(covariance="full", inference=ONCE, random_state=0).fit(X)
    assert (model.chosen_by_, model.data_weight_) == ("evidence", 1.0)
    assert model.selection_ is None


def test_what_is_given_is_not_chosen():
    X, y = tilted(60, 0)
    links = Links.from_labels(y, sample=100, rng=0)
    model = TVClust(covariance="diagonal", data_weight=0.3, inference=ONCE, random_state=0)
    model.fit(X, links=links)
    assert (model.chosen_by_, model.data_weight_) == ("given", 0.3)
    assert model.family_.name == "diagonal-gaussian"
    assert model.selection_ is None


# ---------------------------------------------------------------------- by few links


def of_many_features():
    """Five clusters that differ in 6 of 100 features."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 250)
    means = rng.normal(size=(5, 100)) * np.where(np.arange(100) < 6, 4.0, 0.0)
    return means[y] + rng.normal(size=(250, 100)), y


@pytest.mark.parametrize(
    "data", [of_many_features(), tilted(60, 0), draw("gaussian", 60, 3)], ids=["many", "long", "3"]
)
def test_few_right_links_are_no_worse_than_none(data):
    X, y = data
    tuning = Tuning(data_weights=(1.0, 0.3), n_folds_of_few=3, n_starts_of_small=1)
    alone, linked = (
        TVClust(inference=ONCE, tuning=tuning, random_state=0).fit(X, links=links)
        for links in (None, true_links(y, 20, 0))
    )
    assert pair_f(y, linked.labels_) >= pair_f(y, alone.labels_)


# ---------------------------------------------------------------------- by links


def test_links_choose_full_covariances_where_features_go_together():
    X, y = tilted(80, 1)
    links = sample_links(y, rate=0.05, accuracy=0.9, rng=0)
    model = TVClust(inference=ONCE, tuning=QUICK, random_state=0).fit(X, links=links)
    assert model.chosen_by_ == "held-out links"
    assert model.family_.name in ALIKE
    assert adjusted_rand(y, model.labels_) > 0.9
    chosen = model.selection_[model.selection_["chosen"]]
    assert chosen["family"].tolist() == [model.family_.name]
    assert chosen["data_weight"].tolist() == [model.data_weight_]
    assert set(model.selection_["family"]) == set(gaussians())


def test_covariance_is_chosen_at_the_weight_that_was_given():
    X, y = tilted(60, 2)
    links = sample_links(y, rate=0.05, rng=0)
    model = TVClust(data_weight=0.7, inference=ONCE, tuning=QUICK, random_state=0).fit(
        X, links=links
    )
    assert (model.chosen_by_, model.data_weight_) == ("held-out links", 0.7)
    assert set(model.selection_["data_weight"]) == {0.7}
    neighbours = model.selection_.groupby("family")["neighbours"].apply(list)
    assert set(neighbours.index) == set(gaussians())
    assert neighbours.pop("plda") == list(Tuning().neighbours)  # it alone has the graph
    assert set(neighbours.sum()) == {0}


def test_weight_is_chosen_for_the_covariance_that_was_given():
    X, y = tilted(60, 2)
    links = sample_links(y, rate=0.3, rng=0)
    model = TVClust(covariance="diagonal", inference=ONCE, tuning=QUICK, random_state=0).fit(
        X, links=links
    )
    assert model.chosen_by_ == "held-out links"
    assert set(model.selection_["family"]) == {"diagonal-gaussian"}
    tried = model.selection_[["data_weight", "neighbours"]].itertuples(index=False, name=None)
    assert sorted(tried) == [(0.1, 0), (0.1, 5), (1.0, 0)]


def test_same_seed_same_choice():
    X, y = draw("gaussian", 60, 3)
    links = sample_links(y, rate=0.05, accuracy=0.8, rng=0)
    first, second = (
        TVClust(covariance="diagonal", inference=ONCE, tuning=QUICK, random_state=4).fit(
            X, links=links
        )
        for _ in range(2)
    )
    assert first.selection_.equals(second.selection_)
    assert first.labels_.tolist() == second.labels_.tolist()


def test_of_very_many_points_some_are_looked_at(monkeypatch):
    X, y = tilted(150, 3)
    links = sample_links(y, rate=0.05, rng=0)
    race_links = []
    compete = race.compete

    def watched(candidates, links, *rest, **options):
        race_links.append(links)
        return compete(candidates, links, *rest, **options)

    monkeypatch.setattr(race, "compete", watched)
    tuning = clone(QUICK).set_params(sample_size=80)
    model = TVClust(inference=ONCE, tuning=tuning, random_state=0).fit(X, links=links)
    assert race_links[0].n == 80
    assert FEWEST <= race_links[0].n_links < links.n_links
    assert model.labels_.shape == (150,)


def test_clusters_of_several_blobs():
    """Where a class is several blobs, data at full weight part what links join."""
    rng = np.random.default_rng(0)
    blob = np.arange(200) % 9
    y = blob % 3
    X = rng.normal(size=(200, 8)) + 3.0 * rng.normal(size=(9, 8))[blob]
    links = sample_links(y, rate=0.03, accuracy=0.9, rng=1)
    plain = TVClust("full-gaussian", data_weight=1.0, random_state=0).fit(X, links=links)
    auto = TVClust("full-gaussian", random_state=0).fit(X, links=links)
    assert auto.data_weight_ < 1.0
    assert adjusted_rand(y, auto.labels_) > adjusted_rand(y, plain.labels_) + 0.1


# ---------------------------------------------------------------------- the family


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("bernoulli", {"bernoulli"}),
        ("multinomial", {"multinomial", "dirichlet-multinomial"}),
        ("gaussian", {"gaussian", "diagonal-gaussian"}),
    ],
)
@pytest.mark.parametrize("n_links", [0, 200])
def test_any_family(name, names, n_links):
    X, y = draw(name, 60, 0)
    links = sample_links(y, 2 * n_links / 60**2, rng=0) if n_links else None
    model = TVClust(inference=ONCE, tuning=QUICK, random_state=0).fit(
        sparse.csr_array(X), links=links
    )
    assert model.family_.name in names
    assert model.chosen_by_ == ("held-out links" if n_links else "evidence")


@pytest.mark.parametrize("family", ["gamma", "full-gaussian", "shared-gaussian"])
def test_a_family_that_takes_no_sparse_data_says_so(family):
    X = sparse.csr_matrix(np.eye(6))
    with pytest.raises(DomainError, match="X is sparse"):
        TVClust(family).fit(X)
