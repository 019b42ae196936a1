"""Sources of links: reliability learned, suspects found."""

import re

import pytest

from maylink.datasets import load
from maylink.experiments import sources


@pytest.fixture(scope="module")
def numbers():
    """The tables of the command, as {first words of a row: first number}."""
    with pytest.MonkeyPatch.context() as patch:
        lines = []
        patch.setattr("builtins.print", lines.append)
        sources.main(["--trials", "1"])
    rows = re.findall(r"^(\S.*?)  +(\d\.\d+)", "\n".join(lines), re.MULTILINE)
    return {name: float(value) for name, value in rows}


def test_two_named_sources_beat_either_alone_and_both_as_one(numbers):
    assert numbers["both, named"] > numbers["good alone"] + 0.02
    assert numbers["both, named"] > numbers["bad alone"] + 0.02
    assert numbers["both, named"] > numbers["as one"] + 0.02
    assert numbers["in their intervals"] >= 0.8


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_the_most_suspect_of_a_thousand_links_are_wrong(name, numbers):
    assert numbers[name] > 0.9


def test_the_most_suspect_links_are_wrong_by_gibbs_sampling_too():
    data = load("iris")
    assert sources.wrong_among_suspects(data.X, data.y, seed=0, inference="gibbs") > 0.9
