"""A family from outside the library: registered, it is known wherever a family can be."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.special import betaln, digamma, xlogy

import maylink as ml
from maylink import cli
from maylink.analysis.methods import family_names
from maylink.errors import MaylinkError
from maylink.families import (
    Family,
    Gaussian,
    Poisson,
    all_families,
    as_family,
    register,
    unregister,
)
from maylink.families.columns import column_means
from maylink.families.rows import row_sums
from maylink.report import write_report


class Chances(NamedTuple):
    """Independent Beta priors of the chance to stop."""

    stop: np.ndarray
    go: np.ndarray


@dataclass(frozen=True)
class Geometric(Family):
    """How often one tries before one stops: x ~ Geometric(π), θ = log(1 − π), π ~ Beta."""

    name: ClassVar[str] = "geometric"
    also_called: ClassVar[tuple[str, ...]] = ("waiting",)
    kind: ClassVar[str] = "counts"
    needs: ClassVar[str] = "counts, 0 or more"
    auto_rank: ClassVar[int | None] = 90
    in_chunks: ClassVar[bool] = True
    constant_base: ClassVar[bool] = True
    records: ClassVar[tuple[type, ...]] = (Chances,)

    smoothing: float = 0.3

    # ------------------------------------------------------------------ domain

    def allows(self, values):
        return np.asarray(values >= 0)

    # ------------------------------------------------------------------ divergence

    def points(self, X):
        return X

    def potential(self, T):
        def negative_entropy(x):
            y = x + self.smoothing
            return xlogy(y, y) - xlogy(y + 1.0, y + 1.0)

        return row_sums(T, negative_entropy)

    def gradient(self, centers):
        y = centers + self.smoothing
        return np.log(y / (y + 1.0))

    # ------------------------------------------------------------------ likelihood

    def statistics(self, X):
        return X

    def log_base(self, X):
        return np.zeros(X.shape[0])

    def log_partition(self, theta):
        return -np.log(-np.expm1(theta)).sum(axis=1)

    def mean(self, theta):
        return np.exp(theta) / -np.expm1(theta)

    def sample(self, theta, size, rng):
        return rng.geometric(-np.expm1(theta), (size, theta.size)) - 1.0

    # ------------------------------------------------------------------ conjugate prior

    def default_prior(self, X):
        go = column_means(X) + 0.5 / X.shape[0]
        return Chances(np.full_like(go, 2.0), go)

    def unit_prior(self, n_features):
        return Chances(np.full(n_features, 2.0), np.full(n_features, 3.0))

    def posterior(self, prior, statistics):
        return Chances(prior.stop + statistics.size[:, None], prior.go + statistics.total)

    def log_normalizer(self, prior):
        return betaln(prior.stop, prior.go).sum(axis=-1)

    def sample_parameters(self, prior, rng):
        return np.log1p(-np.clip(rng.beta(prior.stop, prior.go), 1e-12, 1.0 - 1e-12))

    def expected_parameters(self, prior):
        both = digamma(prior.stop + prior.go)
        return digamma(prior.go) - both, (both - digamma(prior.stop)).sum(axis=1)


@pytest.fixture(autouse=True)
def _registered():
    register(Geometric)
    yield
    unregister(Geometric)


Y = np.arange(60) % 2
X = np.random.default_rng(0).geometric(np.array([[0.6, 0.03], [0.03, 0.6]])[Y]) - 1.0
LINKS = ml.sample_links(Y, rate=0.05, accuracy=1.0, rng=0)


def parts_the_data(labels):
    return ml.metrics.adjusted_rand(Y, labels) > 0.6


# ---------------------------------------------------------------------- known by its name


def test_known_by_its_name_until_it_is_forgotten():
    assert as_family("geometric") == Geometric()
    assert "geometric" in all_families()
    assert "geometric" in family_names()
    with pytest.raises(MaylinkError, match=r"'waiting' is not known \(you may mean 'geometric'\)"):
        as_family("waiting")
    unregister(Geometric)
    with pytest.raises(MaylinkError, match="'geometric' is not known"):
        as_family("geometric")


def test_registered_again_it_is_replaced():
    @register
    @dataclass(frozen=True)
    class Geometric(Poisson):
        name: ClassVar[str] = "geometric"

    assert isinstance(as_family("geometric"), Poisson)
    assert type(as_family("geometric")) is Geometric


def test_what_is_true_of_one_family_alone_is_not_inherited():
    class Heir(Gaussian):
        name = "heir"

    assert Heir.kind == Gaussian.kind
    assert (Heir.covariance, Heir.auto_rank, Heir.also_called) == (None, None, ())
    assert not Heir.usual
    assert not Heir.in_chunks


class Nameless(Poisson):
    """Has the name of another."""


class Taken(Poisson):
    name = "gamma"


class Auto(Poisson):
    name = "auto"


class Odd(Poisson):
    name, kind = "odd", "colours"


class Round(Gaussian):
    name, covariance = "round", "spherical"


class Unfinished(Family):
    name, kind, needs = "unfinished", "real", "luck"


@dataclass(frozen=True)
class Half(Family):
    name, kind, needs = "half", "real", "luck"


class Bernoulli(Poisson):
    """Is called like a class that files of saved models name."""

    name = "coins"


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (Poisson(), "not a class that derives from Family"),
        (int, "not a class that derives from Family"),
        (Nameless, "needs a name of its own"),
        (Taken, "the name 'gamma' is taken"),
        (Auto, "the name 'auto' is taken"),
        (Odd, "kind: 'colours' is not one of real, counts"),
        (Round, "the covariance 'spherical' is that of 'gaussian'"),
        (Unfinished, "make it a dataclass"),
        (Half, "Half lacks default_prior, expected_parameters, gradient"),
        (Bernoulli, "another class is called 'Bernoulli'"),
    ],
)
def test_what_cannot_be_a_family_is_refused(cls, message):
    before = all_families()
    with pytest.raises(MaylinkError, match=message):
        register(cls)
    assert all_families() == before


# ---------------------------------------------------------------------- it is fitted


def test_variational():
    model = ml.TVClust("geometric", data_weight=1.0, random_state=0).fit(X, links=LINKS)
    assert model.family_ == Geometric()
    assert parts_the_data(model.labels_)


def test_the_sampler_that_draws_parameters():
    short = ml.Gibbs(sampler="instantiated", n_chains=1, n_warmup=20, n_draws=20)
    model = ml.TVClust("geometric", inference=short, random_state=0)
    assert parts_the_data(model.fit(X, links=LINKS).labels_)
    collapsed = ml.TVClust("geometric", data_weight=1.0, inference="gibbs", random_state=0)
    with pytest.raises(MaylinkError, match="no kernel for 'geometric'; use sampler='instantiated'"):
        collapsed.fit(X, links=LINKS)


def test_rdpmeans():
    model = ml.RDPMeans("geometric", random_state=0).fit(X, links=LINKS)
    assert parts_the_data(model.labels_)


def test_auto_tries_it():
    model = ml.TVClust(data_weight=1.0, random_state=0).fit(X, links=LINKS)
    assert "geometric" in set(model.selection_["family"])
    unregister(Geometric)
    model = ml.TVClust(data_weight=1.0, random_state=0).fit(X, links=LINKS)
    assert "geometric" not in set(model.selection_["family"])


def test_data_on_dask_give_the_same():
    da = pytest.importorskip("dask.array")
    chunks = da.from_array(X, chunks=(25, 2))
    for make in (
        lambda: ml.RDPMeans("geometric", neighbours=False, random_state=0),
        lambda: ml.TVClust("geometric", data_weight=1.0, random_state=0),
    ):
        ours, theirs = make().fit(chunks, links=LINKS), make().fit(X, links=LINKS)
        np.testing.assert_array_equal(np.asarray(ours.labels_), theirs.labels_)
    with pytest.raises(MaylinkError, match=r"on Dask use one of .*'geometric'"):
        ml.RDPMeans("full-gaussian").fit(chunks)


# ---------------------------------------------------------------------- and told about


def test_saved_and_loaded(tmp_path):
    model = ml.TVClust("geometric", data_weight=1.0, random_state=0).fit(X, links=LINKS)
    ml.save(model, tmp_path / "model.npz")
    loaded = ml.load(tmp_path / "model.npz")
    assert type(loaded.family_) is Geometric
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    unregister(Geometric)
    with pytest.raises(MaylinkError, match=r"a record '\w+', which this version does not know"):
        ml.load(tmp_path / "model.npz")


def test_reported(tmp_path):
    model = ml.RDPMeans("geometric", random_state=0).fit(X, links=LINKS)
    write_report(tmp_path / "report.html", model, X, links=LINKS)
    page = (tmp_path / "report.html").read_text()
    assert "geometric" in page
    assert '"ratios":true' in page.replace(" ", "")  # it says that its columns are counts


def test_asked_for_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(X, columns=["a", "b"]).to_csv("data.csv", index=False)
    words = ["cluster", "data.csv", "--method", "rdpmeans", "--family", "geometric", "--out", "-"]
    assert cli.main([*words, "--quiet"]) == 0
    rows = capsys.readouterr().out.splitlines()
    expected = ml.RDPMeans("geometric", random_state=0).fit(X).labels_
    assert [int(row.split(",")[1]) for row in rows[1:]] == expected.tolist()
    unregister(Geometric)
    assert cli.main(words) == 2
    assert "'geometric' is not one of auto, bernoulli" in capsys.readouterr().err
