"""The neighbour graph in TVClust: what it changes, where it is left out, and who never sees it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import maylink as ml
from maylink import Gibbs, Links, Tuning, TVClust, Variational
from maylink.errors import MaylinkError
from maylink.families import Gaussian, Product, ProductWithGaps
from maylink.metrics import pair_f
from maylink.problem import Problem
from maylink.tuning import race
from maylink.views import neighbours as neighbours_file
from maylink.views.neighbours import SOURCE
from zoo import true_links

FEW = Tuning(data_weights=(1.0, 0.3), n_folds=2, n_folds_of_few=2)
GIVEN = {"data_weight": 0.3, "random_state": 0}


def moons(n=160, seed=0):
    """Two half circles: neighbours tell them, round clusters do not."""
    rng = np.random.default_rng(seed)
    angle, y = rng.uniform(0, np.pi, n), np.arange(n) % 2
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(y, -1, 1)[:, None]
    return X + np.where(y, 1.0, 0.0)[:, None] * [1.0, 0.4] + 0.05 * rng.normal(size=(n, 2)), y


def counts(n=120, seed=0):
    rng = np.random.default_rng(seed)
    y, share = np.arange(n) % 3, rng.dirichlet(np.ones(40), size=3)
    return np.stack([rng.multinomial(50, share[k]) for k in y]).astype(float), y


def two_sources(y, seed=0):
    """Right links, half of them of one source and half of another."""
    links = true_links(y, 120, seed)
    return Links(len(y), links.i, links.j, links.kind, source=["a"] * 60 + ["b"] * 60)


# ---------------------------------------------------------------------- what it changes


def test_the_graph_tells_what_round_clusters_do_not():
    X, y = moons()
    links = true_links(y, 150, 0)
    given = {"covariance": "spherical", "data_weight": 0.1, "random_state": 0}
    with_graph = TVClust("gaussian", neighbours=4, **given)
    without = TVClust("gaussian", neighbours=False, **given)
    scores = [pair_f(y, model.fit(X, links=links).labels_) for model in (with_graph, without)]
    assert scores[0] > 0.99 > scores[1]
    p, q = with_graph.neighbour_reliability_
    assert with_graph.n_neighbours_ == 4
    assert 0.5 < p < 1.0
    assert 0.9 < q < 1.0
    assert without.n_neighbours_ == 0
    assert without.neighbour_reliability_ is None


@pytest.mark.parametrize("given", [False, 0])
def test_false_and_none_are_no_graph(given):
    X, y = moons(80)
    links = true_links(y, 60, 0)
    plain = TVClust("gaussian", covariance="full", **GIVEN).fit(X, links=links)
    model = TVClust("gaussian", covariance="full", neighbours=given, **GIVEN).fit(X, links=links)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.bound_ == plain.bound_
    assert model.n_neighbours_ == plain.n_neighbours_ == 0


@pytest.mark.parametrize("given", [-1, 2.5, "many", None])
def test_other_things_are_refused(given):
    with pytest.raises(MaylinkError, match="neighbours"):
        TVClust(neighbours=given).fit(moons(40)[0])


def test_more_neighbours_than_points_are_all_points():
    X, _ = moons(12)
    model = TVClust("gaussian", covariance="spherical", neighbours=50, **GIVEN).fit(X)
    assert model.n_neighbours_ == 11


@pytest.mark.parametrize("family", ["multinomial", "dirichlet-multinomial", "poisson"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_counts_have_neighbours(family, form):
    X, y = counts()
    model = TVClust(family, neighbours=5, **GIVEN).fit(form(X))
    assert model.n_neighbours_ == 5
    assert pair_f(y, model.labels_) > 0.9


def test_mixed_columns_have_neighbours():
    X, y = counts()
    X = np.column_stack([y + 0.1 * np.random.default_rng(0).normal(size=len(y)), X])
    family = Product([("gaussian", [0]), ("multinomial", list(range(1, 41)))])
    model = TVClust(family, neighbours=5, **GIVEN).fit(X)
    assert model.n_neighbours_ == 5
    assert pair_f(y, model.labels_) > 0.9


def test_draws_with_neighbours():
    X, y = moons(60)
    links = two_sources(y)
    short = Gibbs(n_chains=2, n_warmup=5, n_draws=10)
    model = TVClust("gaussian", covariance="spherical", inference=short, neighbours=5, **GIVEN)
    model.fit(X, links=links)
    p, q = model.neighbour_reliability_
    assert 0.0 < p < 1.0
    assert 0.0 < q < 1.0
    assert model.draws_.p.shape == model.draws_.q.shape == (20, 2)
    assert list(model.reliability_.index) == ["a", "b"]
    assert len(model.suspect_links()) == links.n_links


# ---------------------------------------------------------------------- judged links alone


def test_what_is_told_of_links_is_of_judged_ones():
    X, y = moons()
    links = two_sources(y)
    model = TVClust("gaussian", covariance="spherical", neighbours=8, **GIVEN).fit(X, links=links)
    assert list(model.reliability_.index) == ["a", "b"]
    assert model.posterior_.links == links
    suspects = model.suspect_links()
    assert len(suspects) == links.n_links
    assert set(suspects["source"]) == {"a", "b"}
    may, may_not = model.posterior_.log_odds()
    assert may.shape == may_not.shape == (2,)
    votes = model.reliability_[["p_votes", "q_votes"]].sum(axis=1)
    np.testing.assert_allclose(votes, 60.0)


def test_the_race_sees_judged_links_alone(monkeypatch):
    """Held out and scored are links of the user; the graph is never among them."""
    seen, compete = [], race.compete

    def watched(candidates, links, prepare, *others, **options):
        def watch(fold):
            seen.append((links, fold))
            return prepare(fold)

        return compete(candidates, links, watch, *others, **options)

    monkeypatch.setattr(race, "compete", watched)
    X, y = moons(100)
    links = two_sources(y)
    model = TVClust("gaussian", covariance="plda", tuning=FEW, random_state=0).fit(X, links=links)
    assert set(model.selection_["neighbours"]) == {0, 10, 20}
    assert seen
    for given, fold in seen:
        assert given == links
        assert set(fold.train.sources) | set(fold.test.sources) == {"a", "b"}
        assert fold.train.n_links + fold.test.n_links == links.n_links
    assert model.selection_["n_links"].max() <= links.n_links


def test_without_links_there_is_nothing_to_tell_of_them():
    X, _ = moons(80)
    model = TVClust("gaussian", covariance="plda", neighbours=5, **GIVEN).fit(X)
    assert model.posterior_.links.n_links == 0
    assert SOURCE not in model.reliability_.index
    assert model.suspect_links().empty
    assert model.neighbour_reliability_ is not None


# ---------------------------------------------------------------------- where there is none


def test_streams_batches_and_dask_do_without_the_graph():
    import dask.array

    X, y = moons(80)
    links = true_links(y, 60, 0)
    model = TVClust("gaussian", covariance="spherical", neighbours=5, **GIVEN)
    assert model.partial_fit(X, links=links).n_neighbours_ == 0
    assert model.partial_fit(X + 0.01).neighbour_reliability_ is None
    batches = ml.TVClust(
        "gaussian", covariance="spherical", neighbours=5, inference=Variational(batch_size=40),
        **GIVEN,
    )  # fmt: skip
    assert batches.fit(X, links=links).n_neighbours_ == 0
    chunks = dask.array.from_array(X, chunks=(40, 2))
    on_dask = ml.TVClust("gaussian", covariance="spherical", neighbours=5, **GIVEN)
    assert on_dask.fit(chunks, links=links).n_neighbours_ == 0
    assert on_dask.neighbour_reliability_ is None


# ---------------------------------------------------------------------- saving


def test_a_model_with_neighbours_comes_back(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 40)) + 4.0 * rng.normal(size=(3, 40))[y]
    model = TVClust("plda", neighbours=5, **GIVEN).fit(X, links=two_sources(y))
    ml.save(model, tmp_path / "model.npz")
    again = ml.load(tmp_path / "model.npz")
    assert again.n_neighbours_ == 5
    assert again.neighbour_reliability_ == model.neighbour_reliability_
    assert again.reliability_.equals(model.reliability_)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.family_.between, model.family_.between)
    assert again.suspect_links().equals(model.suspect_links())


def test_a_table_with_neighbours_comes_back(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = np.column_stack([4.0 * rng.normal(size=3)[y] + rng.normal(size=90), rng.poisson(3 + 9 * y)])
    X[rng.random(X.shape) < 0.1] = np.nan
    family = ProductWithGaps([("diagonal-gaussian", [0]), ("poisson", [1])])
    model = TVClust(family, neighbours=5, **GIVEN).fit(X)
    again = ml.load(ml.save(model, tmp_path / "model.npz"))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


# ---------------------------------------------------------------------- new points


def test_new_points_go_where_their_neighbours_are():
    """One Gaussian a ring tells no new point; the graph of the fit does."""
    data = ml.datasets.make_pattern("rings", 480, rng=1)
    X, y = data.X, data.y
    model = TVClust(random_state=0).fit(X[::2], links=ml.sample_links(y[::2], 8 / 240, 0.9, rng=1))
    assert model.n_neighbours_ == 5
    found = model.predict(X[1::2])
    alone = replace(model.mixture_, neighbours=None).responsibilities(X[1::2]).argmax(axis=1)
    assert pair_f(y[1::2], found) > 0.95 > 0.8 > pair_f(y[1::2], alone)
    proba = model.predict_proba(X[1:11:2])
    np.testing.assert_array_equal(proba.argmax(axis=1), found[:5])
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_new_points_have_links_and_neighbours():
    X, y = moons()
    model = TVClust("gaussian", covariance="full", neighbours=8, **GIVEN)
    model.fit(X, links=true_links(y, 100, 0))
    alone = model.predict_proba(X[:5])
    links = Links.from_pairs(may=[(0, 164)], n=165)
    linked = model.predict_proba(X[:5], links=links)
    np.testing.assert_allclose(linked[:4], alone[:4])
    assert linked[4, model.labels_[0]] > alone[4, model.labels_[0]]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_new_counts_have_neighbours(form):
    X, y = counts()
    model = TVClust("multinomial", neighbours=5, **GIVEN).fit(form(X[:90]))
    assert pair_f(y[90:], model.predict(form(X[90:]))) > 0.95


FORMS = [np.asarray, sparse.csr_array]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fitted", FORMS)
@pytest.mark.parametrize(("family", "d"), [("gaussian", 3), ("plda", 80), ("poisson", 3)])
def test_new_points_may_come_in_another_form(family, d, fitted, form):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = rng.poisson(30.0 + 30.0 * np.resize(np.eye(3), (3, d))[y]).astype(float)
    model = TVClust(family, neighbours=5, **GIVEN).fit(fitted(X[:90]))
    expected = model.predict_proba(fitted(X[90:]))
    np.testing.assert_allclose(model.predict_proba(form(X[90:])), expected, atol=1e-6)
    assert pair_f(y[90:], expected.argmax(axis=1)) > 0.95


def test_new_points_in_single_precision_are_compared_in_that_of_the_fit():
    X, y = moons()
    model = TVClust("gaussian", covariance="full", neighbours=5, **GIVEN)
    model.fit(X, links=true_links(y, 100, 0))
    known = model.mixture_.neighbours
    assert known._alike(X[:3].astype(np.float32)).dtype == known.rows.dtype == np.float64
    np.testing.assert_array_equal(model.predict(X.astype(np.float32)), model.predict(X))


def test_new_rows_with_gaps_do_not_depend_on_the_rows_beside_them():
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 4)) + 4.0 * rng.normal(size=(3, 4))[y]
    X[0] += 50.0
    X[rng.random(X.shape) < 0.2] = np.nan
    family = ProductWithGaps([("diagonal-gaussian", [column]) for column in range(4)])
    model = TVClust(family, neighbours=5, **GIVEN).fit(X)
    together = model.predict_proba(X)
    alone = np.vstack([model.predict_proba(X[at : at + 1]) for at in range(60)])
    np.testing.assert_allclose(alone, together[:60], atol=1e-9)


def test_rows_of_known_points_are_those_of_the_graph():
    """Scales are taken from all points, also where few of them are far out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    X[[1, 3, 5], 2] += 1e4
    problem = Problem.build(X, None, "gaussian")
    known = neighbours_file.known_neighbours(problem, np.zeros(1500, np.int64), 5, (0.8, 0.8))
    np.testing.assert_array_equal(known.rows, neighbours_file.graph_rows(problem))
    np.testing.assert_allclose(known.space.rows(X[:7]), known.rows[:7])


def test_families_whose_rows_take_nothing_from_all_data_need_one_argument():
    class Plain(Gaussian):
        name = "plain-rows"

        def neighbour_rows(self, X):
            return X

        def neighbour_scales(self, X):
            return None

    X, y = moons()
    model = TVClust(Plain(), neighbours=5, **GIVEN).fit(X, links=true_links(y, 100, 0))
    assert model.predict(X[:5]).shape == (5,)


def test_new_points_of_draws_have_neighbours():
    X, y = moons(200)
    short = Gibbs(n_draws=20, n_chains=1)
    model = TVClust("gaussian", covariance="spherical", inference=short, neighbours=5, **GIVEN)
    model.fit(X[::2], links=true_links(y[::2], 150, 0))
    known = model.mixture_.neighbours
    assert known.count == 5
    np.testing.assert_array_equal(known.labels, model.labels_)
    alone = replace(model.mixture_, neighbours=None).responsibilities(X[1::2])
    assert not np.allclose(model.predict_proba(X[1::2]), alone, atol=1e-3)


def test_new_points_in_chunks_have_neighbours():
    import dask.array

    X, y = moons()
    model = TVClust("gaussian", covariance="full", neighbours=5, **GIVEN)
    model.fit(X, links=true_links(y, 100, 0))
    chunks = dask.array.from_array(X[:50], chunks=(20, 2))
    np.testing.assert_array_equal(model.predict(chunks).compute(), model.predict(X[:50]))


def test_many_points_are_not_kept(monkeypatch):
    monkeypatch.setattr(neighbours_file, "MOST_KNOWN", 100)
    X, _ = moons(120)
    model = TVClust("gaussian", covariance="full", neighbours=5, **GIVEN).fit(X)
    assert model.n_neighbours_ == 5
    assert model.mixture_.neighbours is None
    assert model.predict(X[:3]).shape == (3,)


# ---------------------------------------------------------------------- data of few features


@pytest.mark.parametrize("estimator", [TVClust, ml.RDPMeans])
def test_neighbours_are_chosen_where_no_family_fits(estimator):
    data = ml.datasets.make_pattern("rings", 240, rng=0)
    links = ml.sample_links(data.y, 4 / 240, 0.9, rng=0)
    model = estimator(random_state=0).fit(data.X, links=links)
    assert {0, 5} <= set(model.selection_["neighbours"])
    assert model.n_neighbours_ == 5
    assert pair_f(data.y, model.labels_) > 0.95
    without = estimator(neighbours=False, random_state=0).fit(data.X, links=links)
    assert set(without.selection_["neighbours"]) == {0}
    assert pair_f(data.y, without.labels_) < 0.8


@pytest.mark.parametrize("estimator", [TVClust, ml.RDPMeans])
def test_five_neighbours_of_few_features_are_not_tried_with_few_links(estimator):
    X, y = moons(80)
    few = estimator(random_state=0).fit(X, links=true_links(y, 30, 0))
    assert 5 not in set(few.selection_["neighbours"])  # what "plda" may have are 10 and 20
    none = Tuning(neighbours_of_few=0)
    model = estimator(tuning=none, random_state=0).fit(X, links=true_links(y, 100, 0))
    assert 5 not in set(model.selection_["neighbours"])
