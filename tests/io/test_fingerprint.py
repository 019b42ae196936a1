"""Equal values have one fingerprint, different ones never the same."""

import itertools
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse

from maylink import Links
from maylink.errors import MaylinkError
from maylink.families import Gaussian, Poisson
from maylink.io.fingerprint import fingerprint


class Size(Enum):
    SMALL = 1


class Pair(NamedTuple):
    a: int
    b: int


class Couple(NamedTuple):
    a: int
    b: int


@dataclass(frozen=True)
class Rule:
    centers: np.ndarray
    scale: float = 1.0


LINKS = Links(4, [0, 1], [2, 3], [1, -1], [1.0, 2.0], ["a", "b"])
DIFFERENT = [
    None, True, 1, 1.0, "1", b"1", "", [], {}, set(), float("nan"), -0.0, 0.0,
    [1, 2], [12], [[1], 2], [1, [2]], {"a": 1}, {"a": 2}, {"b": 1}, {1}, {1, 2},
    np.arange(3), np.arange(3.0), np.arange(3, dtype=np.int32), np.arange(4),
    np.zeros((2, 3)), np.zeros((3, 2)), np.zeros(0), np.array(["a", "b"]),
    np.array(["a", None], object), np.array([["a", None]], object),
    sparse.csr_array(np.eye(3)), sparse.csr_array(np.eye(4)), sparse.csr_array(2 * np.eye(3)),
    LINKS, LINKS[:3], LINKS + LINKS, Links(4, [0, 1], [2, 3], [1, 1], [1.0, 2.0], ["a", "b"]),
    Links(4, [0, 1], [2, 3], [1, -1], [1.0, 3.0], ["a", "b"]),
    Links(4, [0, 1], [2, 3], [1, -1], [1.0, 2.0], ["a", "c"]),
    Links(4, [0, 1], [2, 3], [1, -1], [1.0, 2.0], ["a", "a"]),
    Size.SMALL, Pair(1, 2), Couple(1, 2), Pair(2, 1), Rule(np.ones(2)), Rule(np.ones(2), 2.0),
    Gaussian(), Poisson(), np.random.default_rng(0), np.random.default_rng(1),
    np.random.RandomState(0),
]  # fmt: skip


def test_different_values_have_different_fingerprints():
    prints = [(fingerprint(value), value) for value in DIFFERENT]
    assert not [(a[1], b[1]) for a, b in itertools.combinations(prints, 2) if a[0] == b[0]]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ((1, 2), [1, 2]),
        (np.float64(1.5), 1.5),
        (np.int32(3), 3),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"x", "y", "z"}, {"z", "y", "x"}),
        (Path("a"), "a"),
        (np.asfortranarray(np.ones((3, 2))), np.ones((3, 2))),
        (np.arange(6)[::2], np.array([0, 2, 4])),
        (sparse.coo_array(np.eye(3)), sparse.csr_array(np.eye(3))),
        (LINKS, LINKS[:]),
        (Rule(np.ones(2)), replace(Rule(np.zeros(2)), centers=np.ones(2))),
    ],
)
def test_equal_values_have_equal_fingerprints(one, two):
    assert fingerprint(one) == fingerprint(two)


def test_values_do_not_run_into_each_other():
    assert fingerprint("ab", "c") != fingerprint("a", "bc")
    assert fingerprint(np.zeros(2), np.zeros(1)) != fingerprint(np.zeros(1), np.zeros(2))


def test_another_process_finds_the_same():
    """Hashes of text differ from one process to the next; fingerprints must not."""
    values = ({"a", "b"}, {"x": (1, 2.0)}, np.array([1.0, 2.0]), LINKS, Size.SMALL)
    assert (
        fingerprint(*values) == "3de3b97a83f66f085a503cdf34c154a139e19a23a40369226aa9ff4b59d8a59d"
    )


@pytest.mark.parametrize("value", [object(), lambda: 0, 1j, Gaussian, [print]])
def test_what_has_no_fingerprint(value):
    with pytest.raises(MaylinkError, match=r"fingerprint: a .* has none"):
        fingerprint(value)
