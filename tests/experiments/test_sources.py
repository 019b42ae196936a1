"""Sources of links: reliability learned, suspects found."""

import pytest

from maylink.datasets import load
from maylink.experiments import sources


def test_two_named_sources_beat_either_alone_and_both_as_one():
    mean = sources.two_sources(trials=5)["mean"]
    assert mean["both, named"] > mean["good alone"] + 0.02
    assert mean["both, named"] > mean["bad alone"] + 0.02
    assert mean["both, named"] > mean["as one"] + 0.02
    assert mean["in their intervals"] >= 0.8


@pytest.mark.parametrize("inference", ["variational", "gibbs"])
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_the_most_suspect_of_a_thousand_links_are_wrong(name, inference):
    data = load(name)
    assert sources.wrong_among_suspects(data.X, data.y, seed=0, inference=inference) > 0.9


def test_command(capsys):
    sources.main(["--trials", "1"])
    text = capsys.readouterr().out
    assert "both, named" in text
    assert "wine" in text
