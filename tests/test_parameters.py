"""Checks of parameters: what passes, what is refused, and that each message says what to give."""

from fractions import Fraction

import numpy as np
import pytest

from maylink import Links
from maylink.errors import LinksError, MaylinkError
from maylink.parameters import (
    as_generator,
    as_link_weights,
    check_choice,
    check_flag,
    check_integer,
    check_number,
    check_penalty,
    forbid_links_as_y,
    forbid_sample_weight,
)

NO_NUMBERS = [True, np.True_, "2", None, np.nan, [2.0], np.array(2.0), 2j]


@pytest.mark.parametrize("value", [*NO_NUMBERS, 2.5, np.float64(2.0), np.inf, 0, -3])
def test_not_whole_numbers(value):
    with pytest.raises(MaylinkError, match=r"^k: .* is not a whole number of at least 1$"):
        check_integer("k", value, 1)


@pytest.mark.parametrize("value", [1, np.int8(3), np.uint64(2**63), 10**30])
def test_whole_numbers(value):
    check_integer("k", value, 1)


@pytest.mark.parametrize("value", [*NO_NUMBERS, np.inf, -np.inf, np.float32(np.nan), -1.0])
@pytest.mark.parametrize(("above", "relation"), [(False, "of at least"), (True, "above")])
def test_not_numbers(value, above, relation):
    with pytest.raises(MaylinkError, match=rf"^x: .* is not a finite number {relation} 0$"):
        check_number("x", value, 0.0, above=above)


@pytest.mark.parametrize("value", [1, 0.5, np.float16(2.0), np.int64(4), Fraction(1, 3), 1e308])
def test_numbers(value):
    check_number("x", value, 0.0)
    check_number("x", value, 0.0, above=True)


def test_the_limit_itself():
    check_number("x", 0, 0.0)
    with pytest.raises(MaylinkError, match="x: 0 is not a finite number above 0"):
        check_number("x", 0, 0.0, above=True)


def test_a_number_without_a_limit():
    check_number("x", -1e308, -np.inf)
    for value in (np.inf, -np.inf, np.nan):
        with pytest.raises(MaylinkError, match=f"x: {value} is not a finite number"):
            check_number("x", value, -np.inf)


@pytest.mark.parametrize("value", [0, 1, "True", None, np.nan])
def test_not_flags(value):
    with pytest.raises(MaylinkError, match=r"^on: .* is not True or False$"):
        check_flag("on", value)
    check_flag("on", np.False_)


@pytest.mark.parametrize("value", ["d", None, 1, ["a"], np.array(["a", "b"])])
def test_not_choices(value):
    with pytest.raises(MaylinkError, match=r"^c: .* is not one of 'a', 'b'$"):
        check_choice("c", value, ("a", "b"))
    check_choice("c", np.str_("b"), ("a", "b"))


def test_one_of_two_ways_to_set_the_penalty():
    check_penalty("auto", 3)
    check_penalty(2.0, None)
    with pytest.raises(MaylinkError, match="n_clusters_hint: not used when cluster_penalty"):
        check_penalty(2.0, 3)


def test_link_weights():
    assert as_link_weights(2) == (2.0, 2.0)
    assert as_link_weights([1, 3]) == (1.0, 3.0)
    with pytest.raises(MaylinkError, match=r"link_weight: \(1, 2, 3\) is not a number or"):
        as_link_weights((1, 2, 3))


def test_every_kind_of_random_state_is_used():
    draws = [
        as_generator(state).random()
        for state in (0, 1, np.random.RandomState(0), np.random.RandomState(1))
    ]
    assert len(set(draws)) == 4
    assert as_generator(np.random.RandomState(0)).random() == draws[2]
    generator = np.random.default_rng(3)
    assert as_generator(generator) is generator
    with pytest.raises(MaylinkError, match="random_state: 'a' is not a seed"):
        as_generator("a")


def test_arguments_that_would_be_ignored():
    forbid_links_as_y([0, 1])
    columns = {"i": [0], "j": [1], "kind": [1]}
    for y in (Links.empty(3), ([(0, 1)], []), Links.empty(3).to_frame(), columns):
        with pytest.raises(LinksError, match=r"y: these are links; .*fit\(X, links=links\)"):
            forbid_links_as_y(y)
    forbid_sample_weight(None)
    with pytest.raises(MaylinkError, match="sample_weight: points have no weights here"):
        forbid_sample_weight([1.0])
