"""A few seconds of ``make fuzz``: the corpus, some cases of each target, and how cases fail."""

import json

import hypothesis
import pytest

from fuzz import runs
from fuzz.runs import TARGETS, Target, corpus, try_case, try_drawn

SMOKE = {"fit": 4, "stream": 4, "report": 3, "links": 20, "data": 20, "model": 15, "command": 5}


@pytest.mark.parametrize(
    ("target", "case"), [pytest.param(*entry, id=name) for name, *entry in corpus()]
)
def test_what_once_failed_is_answered_or_refused(target, case):
    assert try_case(target, case) in ("answered", "refused")


@pytest.mark.parametrize("target", TARGETS)
def test_drawn_cases_are_answered_or_refused(target):
    assert try_drawn(target, 0, SMOKE[target]) is None


def test_other_errors_are_found_shrunk_and_drawn_again_by_their_seed(monkeypatch):
    def check(number, folder):
        if number > 100:
            raise KeyError("too large")

    target = Target(hypothesis.strategies.integers(0, 10**6), check)
    monkeypatch.setitem(runs.TARGETS, "numbers", target)
    found = try_drawn("numbers", 3, 50)
    assert found.case == 101
    assert "too large" in found.error
    assert try_drawn("numbers", 3, 50) == found


def test_a_case_that_ends_the_process_is_left_in_a_file(monkeypatch, tmp_path):
    monkeypatch.setattr(runs, "HUNG", tmp_path / "hung.json")
    seen = []

    def check(case, folder):
        seen.append(json.loads(runs.HUNG.read_text()))

    monkeypatch.setitem(runs.TARGETS, "any", Target(hypothesis.strategies.integers(), check))
    assert try_case("any", 7) == "answered"
    assert seen == [{"target": "any", "case": 7}]
    assert not runs.HUNG.exists()
