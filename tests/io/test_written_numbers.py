"""Numbers as people write them."""

import numpy as np
import pytest

from maylink.io.written_numbers import written_numbers

READ = {  # cells, their values, the decimal mark
    "dollars": (["$5,591.20", "$3", "-$4.50", "$-3", "7"], [5591.2, 3, -4.5, -3, 7], "."),
    "euros": (["€ 12", "3,5 €", "1.234,00 €"], [12, 3.5, 1234], ","),
    "codes": (["USD 12", "usd 13.5"], [12, 13.5], "."),
    "per cent": (["23.4%", "1 %"], [23.4, 1], "."),
    "thousands": (["1,234", "567", "1,234,567.5"], [1234, 567, 1234567.5], "."),
    "decimal commas": (["1.234,50", "3,2", "7"], [1234.5, 3.2, 7], ","),
    "three places": (["0,123", "0,456"], [0.123, 0.456], ","),
    "other marks": (["1'000", "2 500.5", "−3"], [1000, 2500.5, -3], "."),
    "brackets": (["(123)", "5", "($ 7.5)"], [-123, 5, -7.5], "."),
    "powers": (["1e-3", "$2"], [0.001, 2], "."),
    "gaps": (["5", "unknown", "", "N/A", "-"], [5, np.nan, np.nan, np.nan, np.nan], "."),
}
WORDS = {
    "two currencies": ["$5", "€5"],
    "currency and per cent": ["$5", "5%"],
    "all in brackets": ["(1)", "(2)"],
    "codes": ["C001", "C002"],
    "parts of a name": ["plan-0", "plan-1"],
    "dates": ["12.03.2020", "2020-01-01"],
    "times": ["12:30", "13:30"],
    "telephones": ["030 123", "0171 555"],
    "groups of two": ["1,23,456", "5"],
    "gaps alone": ["-", "unknown"],
    "nothing": ["", ""],
    "half": ["5", "red"],
}


@pytest.mark.parametrize("case", READ)
def test_cells_that_are_numbers(case):
    cells, values, decimal = READ[case]
    numbers = written_numbers(cells)
    np.testing.assert_allclose(numbers.values, values)
    assert numbers.decimal == decimal
    assert numbers.wrong is None


@pytest.mark.parametrize("case", WORDS)
def test_cells_that_are_words(case):
    assert written_numbers(WORDS[case]) is None


def test_every_float_as_it_is_printed_is_read_back():
    values = np.random.default_rng(0).normal(0, 10_000, 500).round(2)
    assert written_numbers([f"{value:,.2f}" for value in values]).values.tolist() == values.tolist()
    european = str.maketrans(",.", ".,")
    cells = [f"{value:,.2f}".translate(european) for value in values]
    assert written_numbers(cells).values.tolist() == values.tolist()


def test_the_column_decides_what_a_comma_is():
    assert written_numbers(["1,234", "5,678"]).values.tolist() == [1234, 5678]
    assert written_numbers(["1,234", "12,5", "7,25"]).values.tolist() == [1.234, 12.5, 7.25]
    many = ["1,234"] * 99
    assert written_numbers([*many, "12,5"]).wrong == 99  # a slip, not a column of decimal commas
    assert written_numbers(["1,234"], decimal=",").values.tolist() == [1.234]


def test_what_was_read_is_told():
    numbers = written_numbers(["12", "$5", "unknown", "Unknown", "n/a"])
    assert numbers.told() == "$5 read as 5; gaps: unknown (1), Unknown (1), n/a (1)"
    assert written_numbers(["1,5", "2,5"]).told() == "1,5 read as 1.5"


def test_commas_that_may_be_decimal_marks_are_told():
    unsure = "; if the comma is a decimal mark, say decimal=','"
    assert written_numbers(["12", "1,285", "4,512"]).told() == "1,285 read as 1285" + unsure
    for cells in (["1,285", "1,234,567"], ["1,285", "12.5"], ["1,285.5"]):
        assert unsure not in written_numbers(cells).told()
    assert written_numbers(["1,285"], ",").told() == "1,285 read as 1.285"


def test_numbers_without_the_unit_of_the_others():
    numbers = written_numbers(["5%", "0", "7.5 %", "unknown"])
    assert numbers.values[:3].tolist() == [5, 0, 7.5]
    assert numbers.told() == "5% read as 5; without %: 1; gaps: unknown (1)"
    assert written_numbers(["$5", "0"]).told() == "$5 read as 5"


@pytest.mark.parametrize("slip", ["€5", "5%", "12O"])
def test_a_slip_among_numbers_is_found(slip):
    assert written_numbers([*(["$5", "$6", "7"] * 9), slip]).wrong == 27
