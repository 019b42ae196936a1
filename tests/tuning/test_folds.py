"""Folds of links: nothing held out twice, nothing of it left to fit on."""

import numpy as np
import pytest

from maylink import Links
from maylink.errors import MaylinkError
from maylink.tuning import LinkFolds
from maylink.tuning.folds import n_judgements
from zoo import random_links


def many_links(seed=0):
    """Links of two sources, several on some pairs."""
    rng = np.random.default_rng(seed)
    i = rng.integers(0, 40, 300)
    j = (i + rng.integers(1, 6, 300)) % 40
    kind = rng.choice([1, 1, -1], 300)
    return Links(40, i, j, kind, rng.uniform(0.5, 2, 300), rng.choice(["a", "a", "b"], 300))


def rows(links):
    """The links as a sorted list of tuples."""
    source = [links.sources[k] for k in links.source]
    return sorted(zip(links.i, links.j, links.kind, links.weight, source, strict=True))


def one_on_each_pair(n=60):
    """One link on a pair, three of four of one source, two of three may."""
    i, j = np.triu_indices(n, 1)
    drawn = np.random.default_rng(0).permutation(i.size)[:480]
    at = np.arange(480)
    kind, source = np.where(at % 3 < 2, 1, -1), np.where(at % 4 < 3, "a", "b")
    return Links(n, i[drawn], j[drawn], kind, source=source)


@pytest.mark.parametrize("n_folds", [2, 3, 7])
def test_every_link_is_held_out_once(n_folds):
    links = many_links()
    folds = list(LinkFolds(n_folds, random_state=1).split(links))
    assert len(folds) == n_folds
    assert sorted(row for fold in folds for row in rows(fold.test)) == rows(links)
    for fold in folds:
        assert sorted(rows(fold.train) + rows(fold.test)) == rows(links)
        assert fold.train.n == fold.test.n == 40


def test_links_on_one_pair_stay_together():
    links = many_links()
    assert np.unique(links.pair_keys).size < links.n_links
    for fold in LinkFolds(4, random_state=0).split(links):
        assert not np.intersect1d(fold.train.pair_keys, fold.test.pair_keys).size


@pytest.mark.parametrize("n_folds", [2, 4, 5])
def test_folds_are_alike_in_kind_and_source(n_folds):
    links = one_on_each_pair()
    counts = []
    for fold in LinkFolds(n_folds, random_state=3).split(links):
        source = np.array(fold.test.sources)[fold.test.source]
        layers = [(kind, name) for kind in (1, -1) for name in ("a", "b")]
        counts.append([((fold.test.kind == k) & (source == s)).sum() for k, s in layers])
    counts = np.array(counts)
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()
    assert counts.sum() == 480


@pytest.mark.parametrize("by", ["link", "point"])
def test_same_seed_same_folds(by):
    links = many_links()

    def dealt(seed):
        return [rows(fold.test) for fold in LinkFolds(3, by, random_state=seed).split(links)]

    assert dealt(5) == dealt(5)
    assert dealt(5) == dealt(np.random.default_rng(5))
    assert dealt(5) != dealt(6)


def test_by_point_nothing_of_a_point_is_left():
    """Some points of each fold have no link to fit on, and over all folds that is every point."""
    links = many_links()
    hidden = set()
    for fold in LinkFolds(4, by="point", random_state=0).split(links):
        assert sorted(rows(fold.train) + rows(fold.test)) == rows(links)
        hidden |= set(np.flatnonzero((fold.train.degree == 0) & (links.degree > 0)).tolist())
    assert hidden == set(np.flatnonzero(links.degree).tolist())


def test_by_point_a_link_is_held_out_with_each_of_its_ends():
    links = Links.from_pairs(may=[(0, 1), (2, 3)], n=4)
    held = [fold.test.n_links for fold in LinkFolds(4, by="point", random_state=1).split(links)]
    assert held == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        (LinkFolds(by="source"), "by: 'source' is not one of 'link', 'point'"),
        (LinkFolds(1), "n_folds: 1 is not a whole number of at least 2"),
        (LinkFolds(2.5), r"n_folds: 2\.5"),
        (LinkFolds(9), "links: 6 links do not fill 9 folds"),
    ],
)
def test_errors(folds, message):
    links = Links.from_pairs(may=[(0, i) for i in range(1, 7)], n=8)
    with pytest.raises(MaylinkError, match=message):
        list(folds.split(links))


@pytest.mark.parametrize("by", ["link", "point"])
def test_no_links_cannot_be_dealt_out(by):
    with pytest.raises(MaylinkError, match="links: 0 links do not fill 4 folds"):
        list(LinkFolds(by=by).split(Links.empty(5)))


def test_all_links_on_one_pair_cannot_be_divided():
    links = random_links(2, 30, 0)
    with pytest.raises(MaylinkError, match="do not fill 2 folds"):
        list(LinkFolds(2, random_state=0).split(links))


# ---------------------------------------------------------------------- labels


def labels_and_links():
    """Labels of 30 of 50 points, and judged links of another source."""
    codes = np.where(np.arange(50) < 30, np.arange(50) % 3, -1)
    return Links.from_labels(codes, source="labels") + random_links(50, 80, seed=0)


def test_a_label_is_held_out_with_all_its_links():
    links = labels_and_links()
    held = []
    for fold in LinkFolds(5, random_state=0).split(links):
        test, train = fold.test[:], fold.train
        of_test, of_train = test.of_labels(), train.of_labels()
        seen = np.union1d(train.i[of_train], train.j[of_train])
        assert seen.size == 24  # of 30 labels
        # One of the two labels of a held-out link is in no training link.
        assert not (np.isin(test.i[of_test], seen) & np.isin(test.j[of_test], seen)).any()
        held += rows(test)
    assert sorted(held) == rows(links)


def test_labels_that_are_left_have_whole_votes():
    links = Links.from_labels(np.arange(40) % 4)
    for fold in LinkFolds(4, random_state=0).split(links):
        inside = fold.train.kind == 1
        votes = fold.train.weight[inside].sum() / 30
        assert votes == pytest.approx(links.weight[links.kind == 1].sum() / 40, rel=0.15)


def test_judgements_are_pairs_and_labels():
    assert (
        n_judgements(labels_and_links()) == 30 + np.unique(random_links(50, 80, 0).pair_keys).size
    )
    assert n_judgements(many_links()) == np.unique(many_links().pair_keys).size
    assert n_judgements(Links.empty(5)) == 0


def test_too_few_labels_for_the_folds():
    with pytest.raises(MaylinkError, match="do not fill"):
        list(LinkFolds(8, random_state=0).split(Links.from_labels([0, 1, 0])))
