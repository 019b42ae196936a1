"""TVClust under other priors of the partition: records of many things, saved models, refusals."""

import numpy as np
import pytest

import maylink as ml
from maylink.datasets import make_records, sample_look_alikes
from maylink.errors import MaylinkError
from maylink.metrics import adjusted_rand
from maylink.tuning.candidate_fits import TVClustCandidate, under_other_priors

RNG = np.random.default_rng(0)
Y = np.repeat(np.arange(100), RNG.integers(2, 4, 100))
X = RNG.normal(size=(100, 16))[Y] + 0.05 * RNG.normal(size=(Y.size, 16))
LINKS = ml.sample_links(Y, rate=0.02, accuracy=0.9, rng=0)
GIVEN = {"family": "gaussian", "covariance": "spherical", "data_weight": 1.0, "random_state": 0}
SHORT = ml.Gibbs(n_chains=1, n_warmup=5, n_draws=5)


def model_of(prior, **more):
    return ml.TVClust(**GIVEN, partition_prior=prior, n_jobs=1, **more)


@pytest.mark.parametrize("inference", ["variational", SHORT, ml.Variational(batch_size=100)])
def test_records_of_many_things_are_found(inference):
    model = model_of("microclustering", inference=inference).fit(X, links=LINKS)
    assert 90 < model.n_clusters_ < 115
    assert adjusted_rand(Y, model.labels_) > 0.9
    assert np.isnan(model.alpha_)
    assert adjusted_rand(model.labels_, model.predict(X)) > 0.95
    assert np.isfinite(model.score(X))


@pytest.mark.parametrize(
    "prior", ["pitman-yor", ml.PitmanYor(0.8), ml.Microclustering(2.5), "uniform"]
)
def test_the_exact_score_is_that_of_the_prior(prior):
    model = model_of(prior, alpha=2.0).fit(X, links=LINKS)
    expected = ml.log_joint(
        X, model.labels_, links=LINKS, family=model.family_, prior=model.prior_, alpha=2.0,
        partition_prior=prior,
    )  # fmt: skip
    assert model.log_joint(model.labels_) == pytest.approx(expected)


@pytest.mark.parametrize(
    "prior", ["pitman-yor", ml.PitmanYor(0.8), ml.Microclustering((2, 3)), "uniform"]
)
def test_saved_models_come_back(prior, tmp_path):
    model = model_of(prior).fit(X, links=LINKS)
    ml.save(model, tmp_path / "model.npz")
    loaded = ml.load(tmp_path / "model.npz")
    assert loaded.partition_prior == prior
    assert loaded.mixture_.partition_prior == model.mixture_.partition_prior
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_chains_go_on_from_a_checkpoint(tmp_path):
    first = model_of("microclustering", inference=SHORT, checkpoint=tmp_path).fit(X, links=LINKS)
    again = model_of("microclustering", inference=SHORT, checkpoint=tmp_path).fit(X, links=LINKS)
    np.testing.assert_array_equal(first.draws_.labels, again.draws_.labels)


def test_a_stream_opens_small_clusters():
    model = model_of("microclustering").partial_fit(X[:120]).partial_fit(X[120:])
    assert model.n_clusters_ > 60


def test_data_in_chunks_are_refused_under_microclustering():
    dask_array = pytest.importorskip("dask.array")
    chunks = dask_array.from_array(X, chunks=(100, 16))
    with pytest.raises(MaylinkError, match=r"partition_prior: 'microclustering' needs all data"):
        model_of("microclustering").fit(chunks)
    assert model_of("pitman-yor").fit(chunks).n_clusters_ > 1


def test_a_word_that_is_no_prior_is_refused():
    with pytest.raises(MaylinkError, match=r"partition_prior: 'crp' is not one of dirichlet-proc"):
        model_of("crp").fit(X)


@pytest.mark.parametrize("seed", [1, 3])
def test_right_links_in_plenty_are_heard(seed):
    """Under the Dirichlet process a low data weight merges clusters against the links."""
    data = ml.datasets.make_embeddings(250, 48, 15, rng=seed)
    links = sample_look_alikes(data.X, data.y, 1000, accuracy=1.0, rng=seed)
    models = {
        prior: ml.TVClust(partition_prior=prior, random_state=0, n_jobs=1).fit(data.X, links=links)
        for prior in ("auto", "dirichlet-process")
    }
    auto, plain = models["auto"], models["dirichlet-process"]
    assert auto.mixture_.partition_prior == ml.UniformPartitions()
    assert auto.data_weight_ < 1.0
    assert adjusted_rand(data.y, auto.labels_) > adjusted_rand(data.y, plain.labels_) + 0.05
    assert auto.held_out_.score > plain.held_out_.score
    chosen = auto.selection_[auto.selection_["chosen"]]
    assert chosen["partition_prior"].tolist() == ["uniform"]


def test_what_is_tried_under_other_priors():
    chosen = TVClustCandidate("plda", 0.3, 10)
    alike = under_other_priors(chosen, False, (1.0, 0.3, 0.1))
    assert alike == [
        chosen,
        TVClustCandidate("plda", 0.3, 10, "uniform"),
        TVClustCandidate("plda", 0.1, 10, "uniform"),
    ]
    small = under_other_priors(chosen, True, (1.0, 0.3))
    words = [one.partition_prior for one in small]
    assert words == ["dirichlet-process", "pitman-yor", "microclustering"]
    assert under_other_priors(chosen, False, (1.0,)) == [chosen]


def test_hundreds_of_people_are_found_with_nothing_set():
    """700 records of 320 people, judged on look-alike pairs: one to five records of each."""
    data = make_records(700, 320, rng=0)
    links = sample_look_alikes(data.X, data.y, 1400, 0.9, rng=0)
    model = ml.TVClust(random_state=0).fit(data.X, links=links)
    sizes = np.bincount(model.labels_)
    assert (sizes <= 5).sum() >= 250
    assert adjusted_rand(data.y, model.labels_) > 0.9
    tried = set(model.selection_["partition_prior"])
    assert {"dirichlet-process", "pitman-yor", "microclustering"} <= tried
