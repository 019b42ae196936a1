"""Families that look at data when they are first asked for."""

import numpy as np
import pytest

from maylink import Links
from maylink.errors import DomainError
from maylink.families import PLDA, Family, Gaussian
from maylink.families.adapting import AdaptsLater
from maylink.problem import Problem, check


class Counted(PLDA):
    """Counts how often it adapts."""

    times = 0

    def adapt(self, X):
        Counted.times += 1
        return PLDA.adapt(PLDA(), X)


X = np.random.default_rng(0).normal(size=(60, 4))


def test_it_adapts_once_and_only_when_read():
    Counted.times = 0
    later = AdaptsLater(Counted(), X)
    one = Problem.adapting_later(X, Links.empty(60), later)
    some = one.under(one)
    assert one.given_family.word == "plda"
    assert Counted.times == 0
    assert one.family is some.family
    assert one.given_family is one.family
    assert Counted.times == 1
    assert np.array_equal(one.family.whitening, PLDA().adapt(X).whitening)
    assert one.rows(np.arange(5)).family is one.family


def test_other_attributes_are_missed_as_usual():
    one = Problem.adapting_later(X, Links.empty(60), AdaptsLater(PLDA(), X))
    with pytest.raises(AttributeError, match="colour"):
        _ = one.colour
    with pytest.raises(AttributeError, match="family"):
        _ = object.__new__(Problem).family


def test_data_are_refused_at_once():
    with pytest.raises(DomainError, match="overflow"):
        AdaptsLater(PLDA(), np.full((3, 2), 1e200))


def test_of_several_families_those_that_learn_wait():
    def waits(families):
        return ["family" not in vars(one) for one in check(X, None, lambda _: families)]

    assert waits(["gaussian", "plda", "full-gaussian"]) == [False, True, False]
    assert waits(["plda"]) == [False]


def test_a_problem_under_another_family_has_its_own_points():
    one = Problem.build(X[:10], None, Gaussian())
    other = Problem.build(X, None, "full-gaussian")
    both = one.under(other)
    assert isinstance(both.family, Family)
    assert both.family is other.family
    assert both.X is one.X
