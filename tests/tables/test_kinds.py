"""What columns are recognised as; the reasons are in the module."""

import numpy as np
import pytest

from maylink.tables.kinds import kind_of_numbers, kind_of_words

RNG = np.random.default_rng(0)
N = 400
NUMBERS = {
    "heights": (RNG.normal(1.7, 0.1, N), "number"),
    "years": (RNG.integers(1950, 2021, N), "number"),
    "ratings": (RNG.integers(1, 6, N), "number"),
    "children": (RNG.poisson(1.6, N), "count"),
    "visits": (RNG.negative_binomial(2, 1 / 11, N), "count"),
    "one of ten topics": (RNG.multinomial(50, np.full(10, 0.1), N)[:, 0], "count"),
    "ages": (np.rint(RNG.normal(45, 12, N)).clip(18, 90), "number"),
    "ages of all adults": (RNG.integers(18, 91, N), "number"),
    "points": (np.rint(RNG.normal(100, 15, N)), "number"),
    "bits": (RNG.integers(0, 2, N), "yes-no"),
    "one or two": (RNG.integers(1, 3, N), "yes-no"),
    "row numbers": (RNG.permutation(N), "identifier"),
    "codes of four digits": (RNG.choice(9000, N, replace=False) + 1000, "identifier"),
    "telephones": (RNG.integers(10**8, 10**9, N), "identifier"),
    "telephones of people that come often": (
        np.repeat(RNG.integers(10**8, 10**9, N // 4), 4),
        "identifier",
    ),
    "prices": (RNG.integers(100, 999, N) * 1000, "number"),
    "salaries": (np.exp(RNG.normal(10.5, 0.8, N)).round(), "number"),
    "days in digits": (20_200_000 + 100 * RNG.integers(1, 13, N) + RNG.integers(1, 29, N), "date"),
    "constant": (np.full(N, 3), "constant"),
    "nothing": (np.full(N, np.nan), "constant"),
}
WORDS = {
    "colours": (RNG.choice(["red", "green", "blue"], N), "category"),
    "answers": (RNG.choice(["yes", "no"], N), "yes-no"),
    "answers as people write": (RNG.choice(["Yes", "yes ", "NO", "no"], N), "yes-no"),
    "days": ([f"2021-{m:02d}-{d:02d}" for m, d in RNG.integers(1, 13, (N, 2))], "date"),
    "days with a word": (["2021-03-04"] * 30 + ["unknown"] + ["2021-03-05"] * 30, "date"),
    "German days": ([f"{d:02d}.{m:02d}.2021" for m, d in RNG.integers(1, 13, (N, 2))], "date"),
    "codes": ([f"A-{v}" for v in RNG.permutation(N)], "identifier"),
    "names": ([f"person {v}" for v in RNG.permutation(N)], "text"),
    "versions": (RNG.choice(["1.2", "1.3", "2.0b"], N), "category"),
    "constant": (["red"] * N, "constant"),
    "nothing": ([""] * N, "constant"),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_numbers(name, gaps):
    values, kind = NUMBERS[name]
    values = np.array(values, float)
    values[np.random.default_rng(1).random(len(values)) < gaps] = np.nan
    assert kind_of_numbers(values).kind == kind


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_words(name, gaps):
    cells, kind = WORDS[name]
    cells = np.array(cells, object)
    cells[np.random.default_rng(1).random(len(cells)) < gaps] = ""
    assert kind_of_words(cells).kind == kind


def test_a_few_rows_hold_no_identifiers():
    assert kind_of_numbers(np.array([1e8, 2e8 + 7, 3e8 + 1])).kind == "number"
    assert kind_of_words(np.array(["a1", "b2", "c3"], object)).kind == "text"
