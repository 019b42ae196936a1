"""Category utility against the textbook's formula, and sums against the points themselves."""

from collections import Counter
from statistics import pstdev

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from maylink.baselines.category_utility import (
    PEAK,
    ConceptSums,
    attributes_of,
    category_utility,
)
from maylink.errors import MaylinkError

NOMINAL = np.array([1, 3])


def mixed(n, seed):
    """Two columns of numbers and two of categories."""
    rng = np.random.default_rng(seed)
    numbers, words = rng.normal(3.0, 5.0, (n, 2)), rng.integers(0, 3, (n, 2))
    return np.column_stack([numbers[:, 0], words[:, 0], numbers[:, 1], words[:, 1]])


def guessed_right(rows, nominal, acuity):
    """How many attributes of one of these rows are guessed right, column by column."""
    total = 0.0
    for at, column in enumerate(zip(*rows, strict=True)):
        if at in nominal:
            total += sum((count / len(rows)) ** 2 for count in Counter(column).values())
        else:
            total += 1.0 / (2.0 * np.sqrt(np.pi) * max(pstdev(column), acuity))
    return total


def textbook(X, labels, nominal=(), acuity=0.28):
    """The formula with probabilities; columns of numbers have standard deviation 1."""
    deviation = np.array(
        [1.0 if at in nominal else X[:, at].std() or 1.0 for at in range(X.shape[1])]
    )
    rows = (X / deviation).tolist()
    clusters = [[row for row, k in zip(rows, labels, strict=True) if k == m] for m in set(labels)]
    before = guessed_right(rows, nominal, acuity)
    gains = [
        len(members) / len(rows) * (guessed_right(members, nominal, acuity) - before)
        for members in clusters
    ]
    return sum(gains) / len(clusters)


@pytest.mark.parametrize("deviation", [0.3, 1.0, 2.5])
def test_a_number_is_guessed_as_often_as_its_density_meets_itself(deviation):
    density = norm(1.0, deviation).pdf
    expected, _ = quad(lambda x: density(x) ** 2, -30.0, 30.0)
    assert PEAK / deviation == pytest.approx(expected)


def test_a_column_of_two_categories_by_hand():
    """Known clusters tell all of it, none of it: ½ (1 − ½), and 0."""
    attributes = attributes_of(np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0]))
    assert category_utility(attributes, np.array([0, 0, 1, 1]), 1.0) == pytest.approx(0.25)
    assert category_utility(attributes, np.array([0, 1, 0, 1]), 1.0) == pytest.approx(0.0)
    assert category_utility(attributes, np.array([0, 0, 0, 0]), 1.0) == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_partitions_against_the_textbook(seed):
    X = mixed(12, seed)
    labels = np.random.default_rng(seed).integers(0, 4, 12)
    for nominal, acuity in ((NOMINAL, 0.28), (NOMINAL[:1], 0.7), (NOMINAL[:0], 0.05)):
        found = category_utility(attributes_of(X, nominal), labels, acuity)
        assert found == pytest.approx(textbook(X, labels.tolist(), set(nominal.tolist()), acuity))


@pytest.mark.parametrize("nominal", [NOMINAL, NOMINAL[:0], np.arange(4)])
def test_sums_against_points(nominal):
    """Points join sets one by one; what sets are worth is what a sum over their points says."""
    rng = np.random.default_rng(0)
    X = np.floor(mixed(30, 0))
    attributes = attributes_of(X, nominal)
    sums, sets = ConceptSums(attributes, 5, 0.3), {row: [] for row in range(4)}

    def worth(points):
        """n_k G_k, from the utility of one set against single points, which are worth all."""
        one = attributes._replace(
            numbers=attributes.numbers[points], categories=attributes.categories[points]
        )
        alone = len(points) * sums.worth_alone
        utility = category_utility(one, np.arange(len(points)), 0.3)
        return alone - len(points) ** 2 * utility

    for point in range(28):
        row = int(rng.integers(4))
        with_point = sums.worth_with([row, (row + 1) % 4], point)
        sums.add(row, point)
        sets[row].append(point)
        assert sums.worth[row] == pytest.approx(with_point[0])
        assert sums.worth[row] == pytest.approx(worth(sets[row]))
    assert sums.worth_merged(1, 2, 29) == pytest.approx(worth([*sets[1], *sets[2], 29]))
    sums.unite(4, 1, 2)
    assert sums.worth[4] == pytest.approx(worth(sets[1] + sets[2]))
    sums.add(4, 29)
    assert sums.worth[4] == pytest.approx(worth([*sets[1], *sets[2], 29]))


def test_a_single_point_is_worth_the_most_that_can_be():
    attributes = attributes_of(mixed(20, 1), NOMINAL)
    sums = ConceptSums(attributes, 2, 0.4)
    sums.add(0, 3)
    assert sums.worth[0] == pytest.approx(sums.worth_alone)
    sums.add(0, 4)
    assert sums.worth[0] < 2 * sums.worth_alone


def test_attributes():
    X = np.array([[1.0, 7.0, 5.0], [3.0, 7.0, -2.0], [2.0, 9.0, 5.0]])
    attributes = attributes_of(X, np.array([1, 2]))
    assert attributes.categories.tolist() == [[0, 3], [0, 2], [1, 3]]
    assert attributes.n_categories == 4
    np.testing.assert_allclose(attributes.numbers[:, 0], [-np.sqrt(1.5), np.sqrt(1.5), 0.0])
    assert attributes_of(np.ones((3, 1)), np.arange(0)).numbers.tolist() == [[0.0]] * 3


def test_categories_are_whole_numbers():
    X = np.array([[0.0, 1.0], [1.0, 0.5]])
    with pytest.raises(MaylinkError, match=r"^nominal: X\[1, 1\] = 0.5 is not a whole number"):
        attributes_of(X, np.array([1]))
