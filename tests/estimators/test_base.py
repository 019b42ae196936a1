"""Small conversions that the estimators share."""

import numpy as np
import pytest

from maylink.errors import MaylinkError
from maylink.parameters import as_generator, as_link_weights, check_integer, check_number


def test_every_kind_of_random_state_is_used():
    draws = [
        as_generator(state).random()
        for state in (0, 1, np.random.RandomState(0), np.random.RandomState(1))
    ]
    assert len(set(draws)) == 4
    assert as_generator(np.random.RandomState(0)).random() == draws[2]
    generator = np.random.default_rng(3)
    assert as_generator(generator) is generator


def test_link_weights():
    assert as_link_weights(2) == (2.0, 2.0)
    assert as_link_weights([1, 3]) == (1.0, 3.0)


@pytest.mark.parametrize("value", [True, "2", None, 2.5, np.nan, 0])
def test_whole_numbers(value):
    with pytest.raises(MaylinkError, match=r"k: .* is not a whole number of at least 1"):
        check_integer("k", value, 1)
    check_integer("k", np.int32(4), 1)


@pytest.mark.parametrize("value", [True, "2", None, np.nan, np.inf, 0.0])
def test_numbers(value):
    with pytest.raises(MaylinkError, match=r"x: .* is not a finite number above 0"):
        check_number("x", value, 0.0, above=True)
