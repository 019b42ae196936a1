"""The race: who wins, who drops out, and that nothing held out reaches what a fold prepares."""

from typing import NamedTuple

import numpy as np
import pytest

from maylink import Links, RDPMeans, TVClust, sample_links
from maylink.solvers import rdpmeans, variational
from maylink.tuning import race
from maylink.tuning import rdpmeans as weighing
from maylink.tuning import tvclust as choice
from maylink.tuning.folds import LinkFolds
from zoo import draw


class Runner(NamedTuple):
    """A candidate that scores a known mean with a known spread."""

    mean: float
    spread: float = 0.1


def links_of(n=60, seed=0, rate=0.06):
    X, y = draw("gaussian", n, seed)
    return X, sample_links(y, rate=rate, accuracy=0.9, rng=seed)


def prepare(fold):
    noise = np.random.default_rng(fold.test.n_links).normal(size=fold.test.n_links)
    return lambda runner: runner.mean + runner.spread * noise


def test_the_leader_wins_and_the_table_tells_the_race():
    runners = [Runner(-0.5), Runner(-0.4), Runner(-0.9)]
    outcome = race.compete(runners, links_of()[1], prepare, np.random.default_rng(0))
    assert outcome.chosen == runners[1]
    assert [row["mean"] for row in outcome.rows] == [-0.5, -0.4, -0.9]
    assert [row["chosen"] for row in outcome.rows] == [False, True, False]
    for row in outcome.rows:
        assert row["score"] == pytest.approx(row["mean"], abs=0.1)


def test_who_is_hopeless_drops_out_early_and_who_is_close_stays():
    def noisy(fold):
        rng = np.random.default_rng(fold.test.n_links)
        return lambda runner: runner.mean + runner.spread * rng.normal(size=fold.test.n_links)

    runners = [Runner(-0.4), Runner(-0.401), Runner(-2.0)]
    rows = race.compete(runners, links_of()[1], noisy, np.random.default_rng(0)).rows
    assert rows[0]["folds"] == rows[1]["folds"] > 1
    assert rows[2]["folds"] == 1


def test_a_rank_matters_when_in_doubt():
    def uneven(fold):
        sign = np.where(np.arange(fold.test.n_links) % 2, 1.0, -1.0)
        return lambda runner: runner.mean + runner.spread * sign

    runners = [Runner(-9.0), Runner(-0.5, 0.2), Runner(-0.42, 0.5), Runner(-0.41, 0.4),
               Runner(-0.4, -0.2)]  # fmt: skip
    links = links_of()[1]

    def winner(*ranks):
        rank = dict(zip(runners, ranks, strict=True)).get if ranks else None
        return race.compete(runners, links, uneven, np.random.default_rng(0), rank=rank).chosen

    assert winner() == runners[4]
    assert winner(0, 0, 0, 0, 0) == runners[4]
    assert winner(0, 0, 0, 0, 1) == runners[3]  # the better one of the lower rank
    assert winner(0, 0, 0, 1, 2) == runners[2]
    assert winner(0, 0, 1, 1, 1) == runners[4]  # clearly better than all of a lower rank


def test_candidates_that_predict_every_link_alike_run_as_one():
    def noisy(fold):
        noise = np.random.default_rng(fold.test.n_links).normal(size=(2, fold.test.n_links))
        sign = np.where(np.arange(fold.test.n_links) % 2, 1.0, -1.0)
        near = noise[0] + race.TWINS / 2 * sign
        return lambda runner: runner.mean + (noise[0], near, noise[1])[int(runner.spread)]

    runners = [Runner(-0.4, kind) for kind in range(3)]
    outcome = race.compete(runners, links_of()[1], noisy, np.random.default_rng(0))
    rows = outcome.rows
    assert rows[1]["folds"] == 1
    assert rows[0]["folds"] == rows[2]["folds"] > 1
    assert outcome.chosen != runners[1]


@pytest.mark.parametrize(("best", "tried"), [(0, {0, 1, 2, 4}), (2, {0, 1, 2, 3, 4}), (4, None)])
def test_between_steps_of_a_ladder_only_neighbours_of_good_ones_are_tried(best, tried):
    runners = [Runner(-0.5 - abs(step - best), 0.1) for step in range(6)]
    rows = race.compete(
        runners, links_of()[1], prepare, np.random.default_rng(0), ladder=lambda runner: 0
    ).rows
    assert {step for step, row in enumerate(rows) if row["folds"]} == (tried or {0, 2, 3, 4, 5})
    assert rows[best]["chosen"]


def test_the_best_step_may_lie_between():
    runners = [Runner(-0.5 - 0.005 * abs(step - 3), 0.1) for step in range(6)]

    def noisy(fold):
        rng = np.random.default_rng(fold.test.n_links)
        return lambda runner: runner.mean + 0.01 * rng.normal(size=fold.test.n_links)

    found = race.compete(
        runners, links_of()[1], noisy, np.random.default_rng(0), ladder=lambda runner: 0
    )
    assert found.chosen == runners[3]


def test_links_enough():
    links = links_of()[1]
    assert race.enough(links)
    few = race.FEWEST - 1
    assert not race.enough(links.chosen(np.arange(links.n_links) < few, links.n))
    assert not race.enough(Links(9, [0] * 99, [1] * 99, [1] * 99))  # one pair, many times
    assert not race.enough(Links.empty(5))


# ---------------------------------------------------------------------- no leak


class Watch:
    """Notes the links that a fold's starts and fits are given, and what the fold holds out."""

    def __init__(self, monkeypatch):
        self.held, self.given = [], []
        self.racing = False
        split, compete = LinkFolds.split, race.compete

        def watched_split(folds, links):
            for fold in split(folds, links):
                self.held.append(set(fold.test.pair_keys.tolist()))
                self.given.append([])
                yield fold

        def watched_race(*arguments, **options):
            self.racing = True
            try:
                return compete(*arguments, **options)
            finally:
                self.racing = False

        monkeypatch.setattr(LinkFolds, "split", watched_split)
        monkeypatch.setattr(race, "compete", watched_race)
        monkeypatch.setattr(race, "BEHIND", (1e9,))
        monkeypatch.setattr(race, "_settled", lambda *arguments: False)

    def note(self, links):
        if self.racing:
            self.given[-1].append(links)

    def check(self, all_links):
        assert len(self.held) == race.n_folds(all_links)
        assert set().union(*self.held) == set(all_links.pair_keys.tolist())
        for held, given in zip(self.held, self.given, strict=True):
            assert len(given) > 1
            for links in given:
                assert not held & set(links.pair_keys.tolist())


def test_fits_of_tvclust_never_see_what_their_fold_holds_out(monkeypatch):
    X, links = links_of(seed=1)
    watch = Watch(monkeypatch)
    solve, pool = variational.solve, choice.Pool

    def watched_solve(problem, *rest, **options):
        watch.note(problem.links)
        return solve(problem, *rest, **options)

    def watched_pool(views, links, *rest):
        for seen in (links, *(view.problem.links for view in views)):
            watch.note(seen)
        return pool(views, links, *rest)

    monkeypatch.setattr(variational, "solve", watched_solve)
    monkeypatch.setattr(choice, "Pool", watched_pool)
    monkeypatch.setattr("maylink.estimators.tvclust.WEIGHTS", (1.0, 0.1))
    TVClust(covariance="diagonal", n_init=1, n_jobs=1, random_state=0).fit(X, links=links)
    watch.check(links)


def test_nor_do_those_of_rdp_means(monkeypatch):
    X, links = links_of(seed=1)
    watch = Watch(monkeypatch)
    sweeps = rdpmeans.sweeps

    def watched_sweeps(problem, *rest, **options):
        watch.note(problem.links)
        return sweeps(problem, *rest, **options)

    monkeypatch.setattr(rdpmeans, "sweeps", watched_sweeps)
    monkeypatch.setattr(weighing, "HINTS", (2, 4))
    RDPMeans(n_init=1, n_jobs=1, random_state=0).fit(X, links=links)
    watch.check(links)
