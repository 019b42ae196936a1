"""The race of TVClust's candidates: nothing that a fold holds out reaches its fits."""

import numpy as np
import pytest

from maylink import Links, TVClust, sample_links
from maylink.problem import Problem
from maylink.selection import race, scores
from maylink.selection.folds import LinkFolds
from maylink.solvers import variational
from maylink.solvers.starts import Fitted, View
from zoo import draw

QUICK = variational.Settings(max_sweeps=20)


def laid_out(n=60, seed=0, rate=0.06):
    X, y = draw("gaussian", n, seed)
    links = sample_links(y, rate=rate, accuracy=0.9, rng=seed)
    fitted = {}
    for name in ("gaussian", "full-gaussian"):
        problem = Problem.build(X, links, name)
        fitted[name] = Fitted(problem, problem.prior, View.of(problem, np.random.default_rng(0), 1))
    return fitted, links


class Watch:
    """Notes the links that each fold's pool, starts and fits are given, and what it holds out."""

    def __init__(self, monkeypatch):
        self.held, self.given = [], []
        split, pool = LinkFolds.split, race.Pool
        solve, merge = variational.solve, race.Pool._merged

        def watched_split(folds, links):
            for fold in split(folds, links):
                self.held.append(set(fold.test.pair_keys.tolist()))
                self.given.append([])
                yield fold

        def watched_pool(views, links, *rest, **options):
            self.given[-1] += [links, *(view.problem.links for view in views)]
            return pool(views, links, *rest, **options)

        def watched_merge(own, fitted, settings, labels):
            if not self.done:
                self.given[-1].append(own.links)
            return merge(own, fitted, settings, labels)

        def watched_solve(problem, *rest, **options):
            if self.held and not self.done:
                self.given[-1].append(problem.links)
            return solve(problem, *rest, **options)

        self.done = False
        monkeypatch.setattr(LinkFolds, "split", watched_split)
        monkeypatch.setattr(race, "Pool", watched_pool)
        monkeypatch.setattr(pool, "_merged", watched_merge)
        monkeypatch.setattr(variational, "solve", watched_solve)

    def check(self):
        assert len(self.held) > 1
        for held, given in zip(self.held, self.given, strict=True):
            assert len(given) > 4
            for links in given:
                assert not held & set(links.pair_keys.tolist())


def test_fits_of_a_fold_never_see_what_it_holds_out(monkeypatch):
    fitted, links = laid_out()
    watch = Watch(monkeypatch)
    monkeypatch.setattr(race, "BEHIND", np.inf)
    race.run(fitted, links, QUICK, (1.0, 0.1), np.random.default_rng(0), 1)
    assert len(watch.held) == race.FOLDS
    assert set().union(*watch.held) == set(links.pair_keys.tolist())
    watch.check()


def test_nor_do_those_of_tvclust(monkeypatch):
    X, y = draw("gaussian", 60, 1)
    links = sample_links(y, rate=0.06, accuracy=0.9, rng=1)
    watch = Watch(monkeypatch)
    monkeypatch.setattr(race, "BEHIND", np.inf)
    outcome = race._outcome

    def last(*arguments):
        watch.done = True  # from here on all links may be seen
        return outcome(*arguments)

    monkeypatch.setattr(race, "_outcome", last)
    TVClust(n_init=1, n_jobs=1, random_state=0).fit(X, links=links)
    watch.check()


def test_a_warm_start_is_of_the_same_fold(monkeypatch):
    """Held-out links that say something else change nothing about the fits of their fold."""
    fitted, links = laid_out()
    fold = next(LinkFolds(4, random_state=0).split(links))
    flipped = Links(
        links.n, fold.test.i, fold.test.j, -fold.test.kind, fold.test.weight,
        [links.sources[k] for k in fold.test.source],
    )  # fmt: skip
    seen = []
    solve = variational.solve

    def watched(problem, prior, settings, labels, *rest):
        seen.append(labels)
        return solve(problem, prior, settings, labels, *rest)

    monkeypatch.setattr(variational, "solve", watched)
    for test in (fold.test, flipped):
        runners = [race.Runner(race.Candidate("gaussian", w), []) for w in (1.0, 0.1)]
        views = [fitted["gaussian"].view]
        pool = race.Pool(views, fold.train, np.random.default_rng(1), 1)
        race._one_fold(runners, fitted, race.Fold(fold.train, test), pool, QUICK)
    assert [labels.tolist() for labels in seen[:2]] == [labels.tolist() for labels in seen[2:]]


def test_the_table_tells_the_race():
    fitted, links = laid_out()
    weights = (1.0, 0.1)
    outcome = race.run(fitted, links, QUICK, weights, np.random.default_rng(0), 1)
    assert [(row["family"], row["data_weight"]) for row in outcome.rows] == [
        (name, weight) for name in fitted for weight in weights
    ]
    chosen = [row for row in outcome.rows if row["chosen"]]
    assert len(chosen) == 1
    assert (chosen[0]["family"], chosen[0]["data_weight"]) == tuple(outcome.chosen)
    most = max(row["folds"] for row in outcome.rows)
    assert chosen[0]["folds"] == most
    for row in outcome.rows:
        assert row["score"] < 0 < row["error"]
        assert row["n_links"] <= links.n_links


def runner(values, name="gaussian"):
    return race.Runner(race.Candidate(name, 1.0), [np.array(values, float)])


def test_who_is_hopelessly_behind_drops_out():
    leader, near, far = (
        runner([-1, -1, -1, -1]),
        runner([-2, 0, -2, -0.5]),
        runner([-3, -3, -4, -3]),
    )
    race._drop([leader, near, far], np.ones(4), 0)
    assert (leader.out_after, near.out_after, far.out_after) == (None, None, 0)


def test_equals_stay_in_the_race():
    twins = [runner([-1, -2]), runner([-1, -2])]
    race._drop(twins, np.ones(2), 0)
    assert [twin.out_after for twin in twins] == [None, None]


def test_scores_of_a_fit_are_those_of_its_posterior():
    """What a race scores is what link_score says of the fitted estimator."""
    X, y = draw("gaussian", 40, 2)
    links = sample_links(y, rate=0.1, accuracy=0.9, rng=2)
    fold = next(LinkFolds(3, random_state=0).split(links))
    model = TVClust(covariance="spherical", data_weight=0.5, init=y, random_state=0)
    model.fit(X, links=fold.train)
    expected = scores.log_scores(model, fold.test)
    problem = Problem.build(X, fold.train, "gaussian")
    settings = variational.Settings(data_weight=0.5)
    start = np.unique(y, return_inverse=True)[1]
    state = variational.solve(problem, problem.prior, settings, start).state
    assert race.score_of(problem, settings, state, fold.test) == pytest.approx(expected, abs=1e-3)
