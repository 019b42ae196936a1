"""Comparison of methods: against enumeration, ranks by hand, and Demšar's printed values."""

import sys
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import studentized_range

from maylink.errors import MaylinkError
from maylink.experiments import compare
from maylink.experiments.__main__ import main

# Demšar (2006), Table 5a: critical values of the two-tailed Nemenyi test.
PRINTED = {
    0.05: [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164],
    0.10: [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920],
}


def frame(scores, **more):
    """Runs from {(method, data, trial): F}."""
    rows = [
        {"protocol": "stated", "method": m, "data": d, "r": 0.03, "p": 1.0, "trial": t, "F": f}
        for (m, d, t), f in scores.items()
    ]
    return pd.DataFrame(rows).assign(**more)


def many(n_methods, n_data=4, trials=3, seed=0):
    rng = np.random.default_rng(seed)
    return frame({
        (f"method number {m}", f"data {d}", t): np.clip(0.03 * m + rng.normal(0.4, 0.1), 0, 1)
        for m, d, t in product(range(n_methods), range(n_data), range(trials))
    })  # fmt: skip


def enumerated(values):
    """Means of all equally likely samples of data sets and trials, with their probabilities."""
    means, weights = [], []
    for chosen in product(range(len(values)), repeat=len(values)):
        samples = [list(product(values[c], repeat=len(values[c]))) for c in chosen]
        weight = 1.0 / (len(values) ** len(values) * np.prod([len(s) for s in samples]))
        for drawn in product(*samples):
            means.append(np.mean([np.mean(part) for part in drawn]))
            weights.append(weight)
    return np.array(means), np.array(weights)


@pytest.mark.parametrize(
    "values", [[[0.1, 0.4], [0.0, -0.2]], [[0.3], [0.1, 0.2, 0.6]], [[0.0, 0.1, 0.5]]]
)
def test_bootstrap_has_the_distribution_of_all_samples(values):
    means, weights = enumerated(values)
    assert weights.sum() == pytest.approx(1.0)
    parts = [np.array(part) for part in values]
    drawn = compare._resampled(parts, 60_000, np.random.default_rng(1))
    centre = weights @ means
    assert drawn.mean() == pytest.approx(centre, abs=3e-3)
    assert drawn.var() == pytest.approx(weights @ (means - centre) ** 2, rel=0.03)
    for level in np.unique(means.round(9)):
        share = weights[means.round(9) <= level].sum()
        assert (drawn.round(9) <= level).mean() == pytest.approx(share, abs=0.01)


def test_interval_is_that_of_the_enumerated_samples():
    ours = {"iris": [0.5, 0.9], "wine": [0.6, 0.4], "glass": [0.2, 0.3]}
    scores = {("a", d, t): 0.5 for d in ours for t in range(2)}
    scores |= {("b", d, t): f for d, fs in ours.items() for t, f in enumerate(fs)}
    runs = frame(scores)
    row = compare.paired(runs, "a", draws=40_000, level=0.9).loc["b"]
    means, weights = enumerated([[f - 0.5 for f in fs] for fs in ours.values()])
    order = np.argsort(means)
    total = weights[order].cumsum()
    low, high = (means[order][np.searchsorted(total, q)] for q in (0.05, 0.95))
    assert row["low"] == pytest.approx(low, abs=0.02)
    assert row["high"] == pytest.approx(high, abs=0.02)
    assert row["difference"] == pytest.approx(-1 / 60)
    assert row[["won", "tied", "lost"]].tolist() == pytest.approx([2 / 6, 1 / 6, 3 / 6])


def test_failed_runs_count_as_zero_and_are_reported():
    scores = {"a": [0.5, np.nan, np.nan], "b": [np.nan, 0.4, np.nan]}
    runs = frame({(m, "iris", t): f for m, fs in scores.items() for t, f in enumerate(fs)})
    row = compare.paired(runs, "a").loc["b"]
    assert row["difference"] == pytest.approx((-0.5 + 0.4 + 0.0) / 3)
    assert row[["won", "tied", "lost"]].tolist() == pytest.approx([1 / 3] * 3)
    assert row[["pairs", "failed", "reference failed"]].tolist() == [3, 2, 2]


def test_only_runs_with_the_same_links_are_paired():
    runs = frame({("a", "iris", 0): 0.5, ("a", "iris", 1): 0.1, ("b", "iris", 0): 0.7,
                  ("b", "wine", 0): 0.9, ("c", "wine", 0): 0.9})  # fmt: skip
    table = compare.paired(runs, "a")
    assert table.index.tolist() == ["b"]
    assert table.loc["b", "pairs"] == 1
    assert table.loc["b", ["low", "high"]].tolist() == pytest.approx([0.2, 0.2])
    with pytest.raises(MaylinkError, match="'nobody' has no runs"):
        compare.paired(runs, "nobody")


def test_intervals_hold_the_mean_and_come_out_the_same_again():
    runs = many(5)
    table = compare.paired(runs, "method number 2")
    assert (table["low"] < table["difference"]).all()
    assert (table["difference"] < table["high"]).all()
    assert table.equals(compare.paired(runs.sample(frac=1, random_state=0), "method number 2")
                        .loc[table.index])  # fmt: skip
    back = compare.paired(runs, "method number 0").loc["method number 2"]
    there = table.loc["method number 0"]
    assert there["difference"] == pytest.approx(-back["difference"])
    assert there["won"] == back["lost"]


def test_ranks_by_hand_with_ties():
    """Ranks are (1, 2.5, 2.5), (1.5, 1.5, 3), (2, 1, 3) and (1, 2, 3)."""
    runs = frame({("a", "w", 0): 0.8, ("b", "w", 0): 0.6, ("c", "w", 0): 0.6,
                  ("a", "x", 0): 0.5, ("b", "x", 0): 0.4, ("c", "x", 0): 0.1,
                  ("a", "x", 1): 0.3, ("b", "x", 1): 0.4, ("c", "x", 1): 0.1,
                  ("a", "y", 0): 0.7, ("b", "y", 0): 0.9, ("c", "y", 0): np.nan,
                  ("a", "z", 0): 0.3, ("b", "z", 0): 0.2, ("c", "z", 0): 0.1,
                  ("a", "only", 0): 0.3})  # fmt: skip
    ranks = compare.ranks(runs)
    assert ranks.mean.to_dict() == {"a": 5.5 / 4, "b": 7 / 4, "c": 11.5 / 4}
    assert (ranks.n_blocks, ranks.n_dropped) == (4, 1)
    # Friedman's χ²: 12 Σ R² / N k (k + 1) − 3 N (k + 1), over 1 − ties / N k (k² − 1)
    plain = 12 * (5.5**2 + 7**2 + 11.5**2) / (4 * 3 * 4) - 3 * 4 * 4
    assert ranks.statistic == pytest.approx(plain / (1 - 12 / (4 * 3 * 8)))
    assert ranks.p_value == pytest.approx(np.exp(-ranks.statistic / 2))  # χ² of two degrees
    assert ranks.difference == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 4)), abs=1e-3)


@pytest.mark.parametrize("alpha", PRINTED)
def test_critical_values_are_those_printed(alpha):
    for k, value in enumerate(PRINTED[alpha], start=2):
        assert compare.critical_value(k, alpha) == pytest.approx(value, abs=1.1e-3)


def test_mean_ranks_average_to_the_middle_whatever_the_scores():
    for seed in range(3):
        ranks = compare.ranks(many(6, seed=seed))
        assert ranks.mean.mean() == pytest.approx(3.5)
        assert ranks.mean.is_monotonic_increasing
    same = compare.ranks(frame({(m, d, 0): 0.5 for m in "abc" for d in "xy"}))
    assert same.mean.tolist() == [2.0] * 3
    assert (same.p_values == 1.0).all(axis=None)
    two = compare.ranks(many(2))
    assert np.isnan(two.p_value)
    assert two.difference == pytest.approx(1.960 / np.sqrt(4), abs=1e-3)
    with pytest.raises(MaylinkError, match="two methods"):
        compare.ranks(many(1))


@pytest.mark.parametrize("alpha", PRINTED)
def test_p_values_agree_with_the_critical_difference(alpha):
    result = compare.ranks(many(7, n_data=12), alpha=alpha)
    k = len(result.mean)
    for one, two in combinations(result.mean.index, 2):
        apart = abs(result.mean[one] - result.mean[two])
        q = apart / np.sqrt(k * (k + 1) / (6 * result.n_blocks)) * np.sqrt(2)
        expected = studentized_range.sf(q, k, np.inf)
        assert result.p_values.loc[one, two] == pytest.approx(expected, abs=1e-12)
        assert (result.p_values.loc[two, one] < alpha) == (apart > result.difference)


@pytest.mark.parametrize("n_methods", [5, 9])
def test_bars_join_the_largest_sets_of_methods_that_do_not_differ(n_methods):
    runs = many(n_methods, n_data=12)
    result = compare.ranks(runs)
    values = result.mean.to_numpy()
    ends = [
        (values[first], values[last])
        for first in range(n_methods)
        for last in range(first + 1, n_methods)
        if values[last] - values[first] < result.difference
        and (first == 0 or values[last] - values[first - 1] >= result.difference)
        and (last == n_methods - 1 or values[last + 1] - values[first] >= result.difference)
    ]
    assert 1 < len(ends) < n_methods
    (axis,) = compare.critical_difference(runs).axes
    bars = [line.get_xdata() for line in axis.lines if line.get_color() == "#B00020"]
    np.testing.assert_allclose(sorted((min(bar), max(bar)) for bar in bars), sorted(ends))


def test_a_missing_package_is_named_with_its_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "scikit_posthocs", None)
    with pytest.raises(ImportError, match=r"pip install 'maylink\[experiments\]'"):
        compare.ranks(many(3))
    with pytest.raises(SystemExit, match=r"maylink\[experiments\].* or .*--no-report"):
        main(["table1", "--store", str(tmp_path / "r"), "--out", str(tmp_path)])
    assert not list(tmp_path.iterdir())  # before any run


@pytest.mark.parametrize("n_methods", [2, 7, 15])
def test_every_method_stands_in_the_diagram_and_none_on_another(n_methods):
    runs = many(n_methods)
    drawing = compare.critical_difference(runs)
    drawing.draw_without_rendering()
    (axis,) = drawing.axes
    boxes = {text.get_text(): text.get_window_extent() for text in axis.texts}
    names = [text for text in boxes if "method number" in text]
    assert len(names) == n_methods
    for name, rank in compare.ranks(runs).mean.items():
        assert any(name in text and f"{rank:.2f}" in text for text in names)
    shown = list(boxes.values())
    for number, box in enumerate(shown):
        assert box.x0 >= 0
        assert box.x1 <= drawing.bbox.x1
        assert box.y0 >= 0
        assert box.y1 <= drawing.bbox.y1
        assert not any(box.overlaps(other) for other in shown[:number])
