"""The race: who wins, who drops out, and that nothing held out reaches what a fold prepares."""

from typing import NamedTuple

import numpy as np
import pytest

from maylink import Links, RDPMeans, Tuning, TVClust, Variational, sample_links
from maylink.runtime.progress import Progress
from maylink.solvers.variational import VariationalSolver
from maylink.tuning import race
from maylink.tuning.candidate_fits import CandidateFits
from maylink.tuning.folds import LinkFolds
from maylink.tuning.hard_candidates import HardFits
from maylink.tuning.scores import guessed_scores
from maylink.views.neighbours import SOURCE
from zoo import draw


class ScoredCandidate(NamedTuple):
    """A candidate that scores a known mean with a known spread."""

    mean: float
    spread: float = 0.1


def links_of(n=60, seed=0, rate=0.06):
    X, y = draw("gaussian", n, seed)
    return X, sample_links(y, rate=rate, accuracy=0.9, rng=seed)


def prepare(fold):
    noise = np.random.default_rng(fold.test.n_links).normal(size=fold.test.n_links)
    return lambda candidate: candidate.mean + candidate.spread * noise


def test_the_leader_wins_and_the_table_tells_the_race():
    candidates = [ScoredCandidate(-0.5), ScoredCandidate(-0.4), ScoredCandidate(-0.9)]
    outcome = race.compete(candidates, links_of()[1], prepare, np.random.default_rng(0), Tuning())
    assert outcome.chosen == candidates[1]
    assert [row["mean"] for row in outcome.rows] == [-0.5, -0.4, -0.9]
    assert [row["chosen"] for row in outcome.rows] == [False, True, False]
    for row in outcome.rows:
        assert row["score"] == pytest.approx(row["mean"], abs=0.1)


def test_the_winner_predicts_links_beside_a_guess_after_an_early_end():
    links = links_of()[1]
    candidates = [ScoredCandidate(-0.5), ScoredCandidate(-0.4), ScoredCandidate(-0.9)]
    rng, other = np.random.default_rng(0), np.random.default_rng(0)
    outcome = race.compete(candidates, links, prepare, rng, Tuning())
    folds = list(LinkFolds(Tuning().folds_of(links), random_state=other).split(links))
    scores = np.concatenate([prepare(fold)(candidates[1]) for fold in folds])
    assert outcome.rows[1]["folds"] < len(folds)
    assert outcome.held_out.n_links == links.n_links < race.ENOUGH
    assert outcome.held_out.score == pytest.approx(scores.mean())
    guesses = np.hstack([guessed_scores(fold.train, fold.test) for fold in folds])
    assert outcome.held_out.guess == pytest.approx(guesses.mean(axis=1).max())
    assert rng.integers(2**31) == other.integers(2**31)  # as if the race had ended early


def test_who_is_hopeless_drops_out_early_and_who_is_close_stays():
    def noisy(fold):
        rng = np.random.default_rng(fold.test.n_links)
        return lambda candidate: (
            candidate.mean + candidate.spread * rng.normal(size=fold.test.n_links)
        )

    candidates = [ScoredCandidate(-0.4), ScoredCandidate(-0.401), ScoredCandidate(-2.0)]
    rows = race.compete(candidates, links_of()[1], noisy, np.random.default_rng(0), Tuning()).rows
    assert rows[0]["folds"] == rows[1]["folds"] > 1
    assert rows[2]["folds"] == 1


def test_an_improbable_candidate_goes_on_where_later_folds_can_make_up_for_it():
    likely, improbable = ScoredCandidate(-0.12), ScoredCandidate(0.0)
    rng, folds = np.random.default_rng(0), []

    def prepare_getting_worse(fold):
        folds.append(fold)  # the likely one fails in all folds but the first
        means = {improbable: 0.0, likely: 0.0 if len(folds) == 1 else likely.mean}
        return lambda one: means[one] + one.spread * rng.normal(size=fold.test.n_links)

    links = links_of(n=120)[1]
    nats = {likely: 0.0, improbable: -0.06 * links.n_links}
    tuning = Tuning(behind=(4.0, 1e6), n_folds_of_few=4)
    outcome = race.compete(
        [likely, improbable], links, prepare_getting_worse, rng, tuning, prior=nats.__getitem__
    )
    assert outcome.chosen == improbable  # .09 nats a link for .06
    assert [row["folds"] for row in outcome.rows] == [4, 4]


def test_a_rank_matters_when_in_doubt():
    def uneven(fold):
        sign = np.where(np.arange(fold.test.n_links) % 2, 1.0, -1.0)
        return lambda candidate: candidate.mean + candidate.spread * sign

    scores = [(-9.0, 0.1), (-0.5, 0.2), (-0.42, 0.5), (-0.41, 0.4), (-0.4, -0.2)]
    candidates = [ScoredCandidate(mean, spread) for mean, spread in scores]
    links = links_of()[1]

    def winner(*ranks):
        rank = dict(zip(candidates, ranks, strict=True)).get if ranks else None
        return race.compete(
            candidates, links, uneven, np.random.default_rng(0), Tuning(), rank=rank
        ).chosen

    assert winner() == candidates[4]
    assert winner(0, 0, 0, 0, 0) == candidates[4]
    assert winner(0, 0, 0, 0, 1) == candidates[3]  # the better one of the lower rank
    assert winner(0, 0, 0, 1, 2) == candidates[2]
    assert winner(0, 0, 1, 1, 1) == candidates[4]  # clearly better than all of a lower rank


def test_candidates_that_predict_every_link_alike_run_as_one():
    def noisy(fold):
        noise = np.random.default_rng(fold.test.n_links).normal(size=(2, fold.test.n_links))
        sign = np.where(np.arange(fold.test.n_links) % 2, 1.0, -1.0)
        near = noise[0] + race.EQUAL / 2 * sign
        return lambda candidate: candidate.mean + (noise[0], near, noise[1])[int(candidate.spread)]

    candidates = [ScoredCandidate(-0.4, kind) for kind in range(3)]
    outcome = race.compete(candidates, links_of()[1], noisy, np.random.default_rng(0), Tuning())
    rows = outcome.rows
    assert rows[1]["folds"] == 1
    assert rows[0]["folds"] == rows[2]["folds"] > 1
    assert outcome.chosen != candidates[1]


@pytest.mark.parametrize(("best", "tried"), [(0, {0, 1, 2, 4}), (2, {0, 1, 2, 3, 4}), (4, None)])
def test_between_steps_of_a_path_only_neighbours_of_good_ones_are_tried(best, tried):
    candidates = [ScoredCandidate(-0.5 - abs(step - best), 0.1) for step in range(6)]
    rows = race.compete(
        candidates,
        links_of()[1],
        prepare,
        np.random.default_rng(0),
        Tuning(),
        path=lambda candidate: 0,
    ).rows
    assert {step for step, row in enumerate(rows) if row["folds"]} == (tried or {0, 2, 3, 4, 5})
    assert rows[best]["chosen"]


def test_the_best_step_may_lie_between():
    candidates = [ScoredCandidate(-0.5 - 0.005 * abs(step - 3), 0.1) for step in range(6)]

    def noisy(fold):
        rng = np.random.default_rng(fold.test.n_links)
        return lambda candidate: candidate.mean + 0.01 * rng.normal(size=fold.test.n_links)

    outcome = race.compete(
        candidates,
        links_of()[1],
        noisy,
        np.random.default_rng(0),
        Tuning(),
        path=lambda candidate: 0,
    )
    assert outcome.chosen == candidates[3]


def test_all_steps_are_tried_where_the_first_say_no_more_than_a_guess():
    """Data weights 1, .3 and .1 of bursty counts predict alike: all rows are clusters."""
    candidates = [ScoredCandidate(-0.9, 0.0) for _ in range(6)]
    candidates[3] = ScoredCandidate(-0.3, 0.1)
    outcome = race.compete(
        candidates,
        links_of()[1],
        prepare,
        np.random.default_rng(0),
        Tuning(),
        path=lambda candidate: 0,
    )
    assert outcome.chosen == candidates[3]
    assert outcome.says_something


def test_few_pairs_are_not_held_out():
    tuning, links = Tuning(), links_of()[1]
    assert tuning.can_hold_out(links)
    few = tuning.fewest_pairs - 1
    assert not tuning.can_hold_out(links.chosen(np.arange(links.n_links) < few, links.n))
    assert not tuning.can_hold_out(Links(9, [0] * 99, [1] * 99, [1] * 99))  # one pair, many times
    assert not tuning.can_hold_out(Links.empty(5))


# ---------------------------------------------------------------------- no leak


EVERY_FOLD = Tuning(data_weights=(1.0, 0.1), cluster_hints=(2, 4), n_folds_of_few=4, behind=(1e9,))


class FoldWatch:
    """Notes the links that a fold's starts and fits see, and what the fold holds out."""

    def __init__(self, monkeypatch):
        self.held_out, self.visible = [], []
        self.racing = False
        self.patch = monkeypatch.setattr
        split, compete = LinkFolds.split, race.compete

        def watched_split(folds, links):
            for fold in split(folds, links):
                self.held_out.append(set(fold.test.pair_keys.tolist()))
                self.visible.append([])
                yield fold

        def watched_race(*arguments, **options):
            self.racing = True
            try:
                return compete(*arguments, **options)
            finally:
                self.racing = False

        self.patch(LinkFolds, "split", watched_split)
        self.patch(race, "compete", watched_race)
        self.patch(race, "_settled", lambda *arguments: False)

    def watch(self, cls, links_of):
        """Note the links of all objects of a class."""
        build = cls.__init__

        def watched(this, *arguments):
            if self.racing:
                self.visible[-1] += links_of(*arguments)
            build(this, *arguments)

        self.patch(cls, "__init__", watched)

    def check(self, all_links):
        assert len(self.held_out) % EVERY_FOLD.n_folds == 0
        assert set().union(*self.held_out) == set(all_links.pair_keys.tolist())
        for held_out, visible in zip(self.held_out, self.visible, strict=True):
            assert visible
            for links in visible:
                assert not held_out & set(links.pair_keys.tolist())


def judged(links):
    """Links without those of the neighbour graph, which nobody holds out."""
    by_graph = np.array([name == SOURCE for name in links.sources])
    return links.chosen(~by_graph[links.source], links.n)


def test_fits_of_tvclust_never_see_what_their_fold_holds_out(monkeypatch):
    X, links = links_of(seed=1)
    fold_watch = FoldWatch(monkeypatch)
    fold_watch.watch(VariationalSolver, lambda problem, *rest: [judged(problem.links)])
    fold_watch.watch(HardFits, lambda views, links: [links])
    fold_watch.watch(CandidateFits, lambda views, links, *rest: [links])
    once = Variational(n_init=1)
    model = TVClust(
        covariance="diagonal", inference=once, tuning=EVERY_FOLD, n_jobs=1, random_state=0
    )
    model.fit(X, links=links)
    fold_watch.check(links)


def test_nor_do_those_of_rdp_means(monkeypatch):
    X, links = links_of(seed=1)
    fold_watch = FoldWatch(monkeypatch)
    fold_watch.watch(HardFits, lambda views, links: [links])
    RDPMeans(n_init=1, tuning=EVERY_FOLD, n_jobs=1, random_state=0).fit(X, links=links)
    fold_watch.check(links)


# ---------------------------------------------------------------------- a race that is stopped


class StoppedProgress(Progress):
    """Stops after so many fits."""

    def __init__(self, most):
        super().__init__("", 0, None)
        self.most, self.n_fits = most, 0

    def count(self, prepared):
        def predict(candidate):
            self.n_fits += 1
            return prepared(candidate)

        return predict

    @property
    def stopped(self):
        return self.n_fits >= self.most


def stopped_after(most):
    scores = [(-0.9, 0.5), (-0.4, 0.4), (-0.41, -0.4)]
    candidates = [ScoredCandidate(*one) for one in scores]
    progress = StoppedProgress(most)
    outcome = race.compete(
        candidates,
        links_of()[1],
        lambda fold: progress.count(prepare(fold)),
        np.random.default_rng(0),
        Tuning(behind=(9.0,)),
        progress,
    )
    return candidates, outcome


@pytest.mark.parametrize("most", [1, 2, 3])
def test_before_all_were_compared_links_have_said_nothing(most):
    candidates, outcome = stopped_after(most)
    assert outcome.chosen == candidates[0]
    assert not outcome.says_something
    assert not outcome.is_fair
    assert outcome.held_out is None


@pytest.mark.parametrize("most", [4, 5])
def test_folds_that_not_all_have_seen_do_not_count(most):
    _, outcome = stopped_after(most)
    assert outcome.is_fair
    assert {row["folds"] for row in outcome.rows} == {1}
