"""Which whole numbers look like counts."""

import logging

import numpy as np
import pytest
from scipy import sparse, stats

from command_line import run
from maylink import TVClust
from maylink.chunks import look_at_chunks
from maylink.families.kinds import kinds_of, look_at, seen_together
from maylink.families.whole_numbers import MISSED, added, not_counts, whole_columns
from maylink.problem import check
from maylink.report.fit_settings import settings_section
from maylink.report.inputs import ReportInputs
from maylink.tuning.candidates import candidates

N = 300
COUNTS = {
    "words": lambda rng: rng.poisson(rng.gamma(0.3, 3.0, N)),
    "rare": lambda rng: rng.poisson(0.05, N),
    "pixels": lambda rng: np.clip(rng.normal(8.0, 6.0, N), 0, 16).round(),
    "small": lambda rng: rng.poisson(3.0, N),
    "two rates": lambda rng: rng.poisson(rng.choice([10.0, 80.0], N)),
    "scattered": lambda rng: rng.negative_binomial(2, 0.02, N),
    "votes of ten": lambda rng: rng.binomial(10, rng.choice([0.3, 0.7], N)),
    "ages": lambda rng: rng.integers(0, 95, N),  # years that were counted: no value says otherwise
}
OTHERS = {
    "years": (lambda rng: rng.integers(1950, 2021, N), "far from 0"),
    "centuries": (lambda rng: rng.integers(1700, 2021, N), "far from 0"),
    "heights": (lambda rng: rng.normal(172.0, 9.0, N).round(), "far from 0"),
    "postcodes of a place": (lambda rng: rng.integers(90001, 96163, N), "far from 0"),
    "postcodes": (lambda rng: rng.integers(501, 99951, N), "too wide"),
    "telephones": (lambda rng: rng.integers(2 * 10**9, 10**10, N), "too wide"),
    "four digits": (lambda rng: rng.integers(1000, 10000, N), "too wide"),
    "ratings": (lambda rng: rng.integers(1, 6, N), "ends too early"),
    "row numbers": (lambda rng: np.arange(1, N + 1), "no value twice"),
    "codes": (lambda rng: 40 + rng.permutation(N), "no value twice"),
}
SEEDS = [0, 1, 2, 3]


def column(make, seed):
    return np.asarray(make(np.random.default_rng(seed)), np.float64)[:, None]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", COUNTS)
def test_counts_look_like_counts(name, seed):
    assert "counts" in kinds_of(column(COUNTS[name], seed))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", OTHERS)
def test_measures_and_codes_do_not(name, seed):
    make, why = OTHERS[name]
    X = np.hstack([column(COUNTS["words"], seed), column(make, seed), np.full((N, 1), 2026.0)])
    found = not_counts(whole_columns(X))
    assert found.column == 1
    assert why in found.told()
    assert "counts" not in kinds_of(X)
    assert "counts" in kinds_of(np.delete(X, 1, axis=1))  # a constant column tells nothing


def test_poisson_counts_of_any_mean_end_where_counts_end():
    """The expected number below the smallest is SciPy's; alarms are as rare as is said."""
    rng = np.random.default_rng(0)
    alarms, trials = 0, 0
    for mean in (0.5, 2.0, 5.0, 12.0, 20.0):
        for _ in range(200):
            X = rng.poisson(mean, (40, 1)).astype(float)
            below = 40 * stats.poisson.cdf(X.min() - 1, X.mean())
            found = not_counts(whole_columns(X))
            assert (found is not None and "early" in found.why) == (below > MISSED)
            alarms, trials = alarms + (found is not None), trials + 1
    assert alarms <= 5  # of 1000: exp(−7) is .0009


def test_chunks_tell_what_all_rows_tell():
    for make in (*COUNTS.values(), *(make for make, _ in OTHERS.values())):
        X = np.hstack([column(make, 0), column(COUNTS["rare"], 1)])
        zeros = np.zeros((5, 2))  # bits, taken by themselves
        _agree([X[:100], X[100:101], X[101:]])
        _agree([zeros, X])


def _agree(parts):
    X = np.concatenate(parts)
    whole = look_at(X)
    together = seen_together([look_at(part) for part in parts])
    assert together.told() == whole.told()
    assert together.about_whole_numbers() == whole.about_whole_numbers()
    for ours, theirs in zip(
        added([whole_columns(part) for part in parts]), whole_columns(X), strict=True
    ):
        np.testing.assert_allclose(ours, theirs)


def test_dask_arrays_tell_the_same():
    dask_array = pytest.importorskip("dask.array")
    years = column(OTHERS["years"][0], 0)
    for X in (years, years - 1950):
        told = look_at_chunks(dask_array.from_array(X, chunks=(70, 1))).told()
        assert told == kinds_of(X)
        assert ("counts" in told) == (X.min() == 0)


def test_only_every_number_once_was_given_out_one_by_one():
    """Few values may be all different by chance; one that is there twice may be a count."""
    for n in range(2, 200):
        alike = n * np.log(n) - np.log(np.arange(1, n + 1)).sum()  # minus log of n! / nⁿ
        found = not_counts(whole_columns(np.arange(1.0, n + 1)[:, None]))
        assert (found is not None) == (alike > MISSED)
    numbers = np.arange(1.0, 61.0)
    for at, value in ((30, 32.0), (59, 59.0)):
        twice = np.where(np.arange(60) == at, value, numbers)
        assert not_counts(whole_columns(twice[:, None])) is None
    same_sum = numbers.copy()
    same_sum[[10, 20]] += [1.0, -1.0]  # one up, one down
    assert not_counts(whole_columns(same_sum[:, None])) is None


@pytest.mark.filterwarnings("error")
def test_values_whose_squares_overflow_are_not_counts():
    for unit in (1e155, 1e300, 1e308):
        assert "counts" not in kinds_of(np.array([[0.0], [1.0], [unit]]))


def test_bits_other_numbers_and_sparse_data_are_not_asked():
    years = column(OTHERS["years"][0], 0)
    for X in (years % 2, years + 0.5, -years, sparse.csr_array(years)):
        assert look_at(X).about_whole_numbers() is None
    assert "counts" in kinds_of(sparse.csr_array(years))
    assert {"bits", "counts"} <= kinds_of(years % 2)


def test_families_of_counts_are_tried_on_counts_alone():
    words, years = column(COUNTS["words"], 0), column(OTHERS["years"][0], 0)
    tried = []

    def families(facts):
        tried.append(candidates("auto", "auto", facts))
        return ["gaussian"]

    for X in (words, np.hstack([words, years])):
        check(X, None, families)
    assert "poisson" in tried[0]
    assert not {"poisson", "multinomial", "dirichlet-multinomial"} & set(tried[1])


def test_log_report_and_command_say_what_was_decided(tmp_path, monkeypatch, capsys, caplog):
    words, years = column(COUNTS["words"], 0)[:40], column(OTHERS["years"][0], 0)[:40]
    X = np.hstack([words, years])
    said = f"whole numbers that are not taken for counts: column {{}}, from {years.min():.0f} to "
    with caplog.at_level(logging.INFO, "maylink"):
        model = TVClust(random_state=0).fit(X)
    assert said.format(1) in caplog.text
    inputs = ReportInputs.build(model, X, columns=["words", "year"])
    assert any(said.format("year") in fact for _, fact in settings_section(inputs)["facts"])
    inputs = ReportInputs.build(TVClust("gaussian", random_state=0).fit(X), X)
    assert not any("whole numbers" in fact for _, fact in settings_section(inputs)["facts"])

    monkeypatch.chdir(tmp_path)
    np.savetxt("data.csv", X, "%d", delimiter=",", header="words,year", comments="")
    assert run("cluster", "data.csv") == 0
    err = capsys.readouterr().err
    assert "data     count: words\n" in err
    assert "data     number: year\n" in err
    np.savetxt("data.csv", np.hstack([words, words]), "%d", ",", header="a,b", comments="")
    assert run("cluster", "data.csv") == 0
    assert "data     whole numbers that look like counts" in capsys.readouterr().err
