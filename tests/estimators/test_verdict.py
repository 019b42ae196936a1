"""The verdict on a fit: its level follows from held-out links, its sentences from figures."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import maylink as ml
from maylink.estimators.verdict import judge
from maylink.estimators.verdict_level import LEAST_SHARE
from maylink.tuning.scores import HeldOut
from zoo import true_links

Y = np.arange(60) % 3
X = np.random.default_rng(0).normal(size=(60, 2)) + 5.0 * np.array([[0, 0], [1, 0], [0, 1]])[Y]
LINKS = true_links(Y, 90, 0)
ENDS = ("p_low", "p_high", "q_low", "q_high")


def fitted(held_out=None, labels=Y, **more):
    return SimpleNamespace(labels_=labels, n_clusters_=len(set(labels)), held_out_=held_out, **more)


def held(score, guess, error):
    return HeldOut(score, guess, error, 0.9, 0.6, 90)


@pytest.mark.parametrize(
    ("score", "guess", "error", "level"),
    [
        (-0.3, -0.7, 0.05, "confirmed"),
        (-0.66, -0.7, 0.01, "weak"),
        (-0.65, -0.7, 0.10, "unclear"),
        (-0.70, -0.7, 0.01, "not confirmed"),
        (-0.90, -0.7, 0.05, "not confirmed"),
    ],
)
def test_level_follows_from_held_out_links(score, guess, error, level):
    verdict = judge(fitted(held(score, guess, error)), links=LINKS)
    assert verdict.level == level
    assert "90 links" in verdict.trust[1]
    assert "90%" in verdict.trust[1]
    assert f"{score:.3f}" in verdict.trust[1]
    assert f"{guess:.3f}" in verdict.trust[1]


def test_right_clusters_confirm_links_that_are_right_seven_times_in_ten():
    guess, perfect = np.log(0.5), 0.7 * np.log(0.7) + 0.3 * np.log(0.3)
    assert 1.0 - perfect / guess > LEAST_SHARE


def test_without_links_nothing_confirms_clusters():
    model = ml.TVClust(random_state=0).fit(X)
    verdict = model.summary()
    assert verdict.level == "no links"
    assert "outside the data" in verdict.trust[0]
    bounds = np.sort(model.selection_["bound"])
    assert f"{bounds[-1] - bounds[-2]:.1f} nats" in verdict.trust[1]
    assert "3 clusters" in verdict.trust[1]


def test_few_links_ask_for_more():
    verdict = judge(fitted(), links=true_links(Y, 10, 0))
    assert verdict.level == "not tested"
    assert any("30 more pairs" in sentence for sentence in verdict.advice)


def test_random_links_are_not_trusted():
    rng = np.random.default_rng(1)
    pairs = [tuple(rng.choice(60, 2, replace=False)) for _ in range(200)]
    links = ml.Links.from_pairs(may=pairs[:80], may_not=pairs[80:], n=60)
    model = ml.RDPMeans(random_state=0).fit(X, links=links)
    verdict = model.summary()
    assert verdict.level == "not confirmed"
    assert model.held_out_.score - model.held_out_.guess < 2 * model.held_out_.error
    assert any("source 0" in sentence for sentence in verdict.advice)


def test_swapped_answers_are_told_from_links_that_say_nothing():
    advice = judge(fitted(), links=ml.Links(60, LINKS.i, LINKS.j, -LINKS.kind)).advice
    assert any("source 0: may and may-not look swapped" in sentence for sentence in advice)
    assert not any("may say nothing" in sentence for sentence in advice)
    right = judge(fitted(), links=LINKS).advice
    assert not any("swapped" in sentence for sentence in right)


def test_each_source_is_named_by_what_its_intervals_say():
    ends = {"good": (0.8, 0.9), "lost": (0.3, 0.6), "back": (0.1, 0.4), "wide": (0.2, 0.5)}
    table = pd.DataFrame(
        [(low, high, low, high) for low, high in ends.values()], list(ends), list(ENDS)
    )
    advice = judge(fitted(reliability_=table)).advice
    assert any(one.startswith("Check source back: may and may-not look") for one in advice)
    assert any(one.startswith("Check sources lost, wide: their links may say") for one in advice)


def test_a_source_that_differs_from_the_others_is_named():
    def links(source, accuracy, seed):
        some = ml.sample_links(Y, 0.1, accuracy, rng=seed)
        return ml.Links(60, some.i, some.j, some.kind, source=np.full(some.n_links, source))

    others = links("a", 0.9, 0) + links("b", 0.9, 1)
    for accuracy, named in ((0.9, False), (0.6, True)):
        model = ml.TVClust("gaussian", data_weight=1.0, random_state=0)
        model.fit(X, links=others + links("c", accuracy, 2))
        assert (model.reliability_.loc["c", "differs"] > 0.95) == named
        less = [one for one in model.summary().advice if "less often than other" in one]
        assert [one.split(":")[0] for one in less] == ["Look at source c"] * named


def test_those_who_are_right_more_often_are_named_apart():
    table = pd.DataFrame({"differs": [0.99, 0.2, np.nan, 0.96, 0.97, 0.98]}, list("abcdef"))
    table = table.assign(**dict.fromkeys(ENDS, 0.9), p=[0.9, 0.8, 0, 0.7, 0.6, 0.5], q=0.8)
    told = [s for s in judge(fitted(reliability_=table)).advice if s.startswith("Look")]
    assert [one.split("often")[0] for one in told] == [
        "Look at sources e, f: right less ", "Look at sources a, d: right more ",
    ]  # fmt: skip
    for few in (table.assign(differs=0.9), table[:3]):
        assert not any("Look at" in one for one in judge(fitted(reliability_=few)).advice)


def test_right_links_confirm_and_wrong_ones_are_counted():
    i, j = LINKS.i, LINKS.j
    verdict = judge(fitted(held(-0.3, -0.7, 0.05), labels=np.r_[Y[:-1], 0]), links=LINKS)
    touched = (i == 59) | (j == 59)
    labels = np.r_[Y[:-1], 0]
    wrong = int(((labels[i] == labels[j]) != (Y[i] == Y[j]))[touched].sum())
    assert wrong > 0
    assert any(sentence.startswith(f"{wrong} of 90 link") for sentence in verdict.advice)


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (Y + 7, "Links changed nothing: the data alone give the same 3 clusters."),
        (
            np.where(Y == 2, 1, Y),
            "Links moved 20 of 60 points: 2 clusters without links, 3 with them",
        ),
        (np.zeros(60, int), "Links moved 40 of 60 points: 1 cluster without links, 3 with them"),
    ],
)
def test_what_links_changed(before, said):
    verdict = judge(fitted(), links=LINKS, without_links=before)
    assert verdict.changed[0].startswith(said)


def test_sure_of_clusters_that_nothing_confirms():
    sure = np.eye(3)[Y]
    trusted, other = (
        judge(fitted(held(score, -0.7, 0.01), responsibilities_=sure), links=LINKS)
        for score in (-0.3, -0.7)
    )
    assert "100% of points have a probability of 0.9 or more in their cluster." in trusted.trust
    assert any("which that does not show" in sentence for sentence in other.trust)


def test_summary_prints_headings_once():
    text = str(ml.RDPMeans(random_state=0).fit(X, links=LINKS).summary())
    assert text.startswith("verdict ")
    assert text.count("verdict") == 1
    assert "confirm" in text
    assert "None" not in text
    assert "nan" not in text


def test_an_estimator_that_is_not_fitted_has_no_summary():
    with pytest.raises(Exception, match="not fitted"):
        ml.RDPMeans().summary()


def test_streams_and_saved_models_have_a_summary(tmp_path):
    model = ml.RDPMeans(random_state=0).fit(X, links=LINKS)
    ml.save(model, tmp_path / "model.npz")
    assert str(ml.load(tmp_path / "model.npz").summary()) == str(model.summary())
    stream = ml.RDPMeans(random_state=0).partial_fit(X[:40]).partial_fit(X[40:])
    assert stream.summary().level == "no links"


@pytest.mark.parametrize(("drawn", "level"), [(3, "confirmed"), (5, "confirmed"), (9, "weak")])
def test_draws_with_other_numbers_of_clusters_weaken_the_verdict(drawn, level):
    table = LINKS.to_frame().assign(wrong=0.0)
    reliability = pd.DataFrame({end: [0.9] for end in ENDS}, index=["0"])
    posterior = SimpleNamespace(
        links=LINKS,
        draws=SimpleNamespace(n_clusters=np.full(5, drawn)),
        suspects=lambda: table,
        reliability=lambda: reliability,
    )
    verdict = judge(fitted(held(-0.3, -0.7, 0.05), posterior_=posterior))
    assert verdict.level == level
    assert any(f"about {drawn} clusters" in one for one in verdict.trust) == (level == "weak")


def test_many_links_that_look_wrong_weaken_the_verdict():
    other = np.random.default_rng(0).permutation(Y)
    wrong = np.mean((other[LINKS.i] == other[LINKS.j]) != (Y[LINKS.i] == Y[LINKS.j]))
    assert wrong > 1 / 3
    verdict = judge(fitted(held(-0.3, -0.7, 0.05), labels=other), links=LINKS)
    assert verdict.level == "weak"
    assert f"{wrong:.0%} of the links look wrong" in verdict.trust[2]


@pytest.mark.parametrize(
    ("kind", "said", "do"), [(1, "may", "May-not links"), (-1, "may-not", "May l")]
)
def test_links_that_all_say_one_thing_tell_nothing(kind, said, do):
    some = LINKS.kind == kind
    links = ml.Links(60, LINKS.i[some], LINKS.j[some], LINKS.kind[some])
    for held_out in (held(-0.01, -0.01, 0.001), None):
        verdict = judge(fitted(held_out), links=links)
        assert verdict.level == "unclear"
        assert verdict.trust[0] == (
            f"All links say {said}, so they cannot tell whether these clusters are right."
        )
        assert verdict.advice[0].startswith(do)


def test_texts_are_not_asked_for_where_texts_were_clustered():
    held_out = held(-0.70, -0.7, 0.01)
    assert "take texts in (--text)" in judge(fitted(held_out), links=LINKS).advice[0]
    advice = judge(fitted(held_out, view_=object()), links=LINKS).advice[0]
    assert "--text" not in advice
    assert "--drop" not in advice


def test_no_more_pairs_are_asked_for_than_there_are():
    X = np.array([[0.0, 0.0], [9.0, 9.0], [0.1, 0.2]])
    advice = ml.RDPMeans(cluster_penalty=1.0, random_state=0).fit(X).summary().advice
    assert advice[0].startswith("Give more rows: 3 pairs of rows can be judged")
