"""LinkOnly against all partitions of few points, and against plain loops over moves and merges."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from maylink import Links, sample_links
from maylink.baselines.link_only import LinkOnly
from maylink.errors import MaylinkError
from reference import all_partitions
from zoo import draw_pairs, links_of


def fit(links, **options):
    return LinkOnly(random_state=0, **options).fit(np.zeros((links.n, 1)), links=links)


def against(pairs, labels):
    """The votes that a partition goes against, one link after the other."""
    return sum(w for i, j, kind, w in pairs if (labels[i] == labels[j]) != (kind > 0))


# ---------------------------------------------------------------------- the objective


@pytest.mark.parametrize(("n_links", "once", "often"), [(6, 40, 40), (12, 40, 40), (30, 36, 38)])
def test_optimum_of_few_points(n_links, once, often):
    """Brute force over all partitions: so many of 40 are solved at once, and in 20 runs."""
    solved = {1: 0, 20: 0}
    for seed in range(40):
        n = 4 + seed % 4
        pairs = draw_pairs(n, n_links, seed)
        optimum = min(against(pairs, labels) for labels in all_partitions(n))
        for n_init in solved:
            found = fit(links_of(pairs, n), n_init=n_init).objective_
            assert found >= optimum - 1e-9
            solved[n_init] += found == pytest.approx(optimum)
    assert solved[1] >= once
    assert solved[20] >= often


@pytest.mark.parametrize("seed", range(3))
def test_objective_is_the_votes_against_and_never_rises(seed):
    rng = np.random.default_rng(seed)
    pairs = [
        (i, j, kind, w * rng.uniform(0.01, 3.0)) for i, j, kind, w in draw_pairs(60, 900, seed)
    ]
    model = fit(links_of(pairs, 60))
    assert model.objective_ == pytest.approx(against(pairs, model.labels_))
    path = model.objective_path_
    assert np.all(np.diff(path) <= 1e-12 * path[0])
    assert path.size == model.n_iter_


@pytest.mark.parametrize("seed", range(3))
def test_no_move_and_no_merge_helps(seed):
    n = 25
    pairs = draw_pairs(n, 120, seed)
    labels = fit(links_of(pairs, n)).labels_
    least = against(pairs, labels)
    for i in range(n):
        for k in range(labels.max() + 2):
            assert against(pairs, [*labels[:i], k, *labels[i + 1 :]]) >= least - 1e-9
    for k in range(labels.max() + 1):
        for m in range(k):
            assert against(pairs, np.where(labels == k, m, labels)) >= least - 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_may_links_hold_every_cluster_together(seed):
    pairs = draw_pairs(40, 70, seed)
    labels = fit(links_of(pairs, 40)).labels_
    reached = np.arange(40)
    for _ in range(40):
        for i, j, kind, _ in pairs:
            if kind > 0 and labels[i] == labels[j]:
                reached[i] = reached[j] = min(reached[i], reached[j])
    for k in range(labels.max() + 1):
        assert np.unique(reached[labels == k]).size == 1


def test_right_links_give_the_truth():
    y = np.random.default_rng(0).integers(0, 4, 200)
    assert adjusted_rand_score(y, fit(sample_links(y, 0.2, rng=0)).labels_) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_wrong_links_are_outvoted(seed):
    y = np.random.default_rng(seed).integers(0, 3, 150)
    model = fit(sample_links(y, 0.5, accuracy=0.8, rng=seed))
    assert adjusted_rand_score(y, model.labels_) > 0.97


def test_points_without_links():
    links = Links.from_pairs(may=[(1, 3)], may_not=[(1, 4)], n=7)
    assert fit(links).labels_.tolist() == [0, 1, 2, 1, 3, 4, 5]
    assert fit(links, rest="together").labels_.tolist() == [0, 1, 0, 1, 2, 0, 0]
    assert fit(Links.empty(3)).labels_.tolist() == [0, 1, 2]
    assert fit(Links.empty(3), rest="together").labels_.tolist() == [0, 0, 0]
    assert fit(Links.empty(1)).labels_.tolist() == [0]


def test_the_majority_decides_on_a_pair():
    for votes, together in ((3.0, True), (1.0, False)):
        links = Links(2, [0, 1], [1, 0], [1, -1], weight=[votes, 2.0])
        model = fit(links)
        assert model.n_clusters_ == 2 - together
        assert model.objective_ == min(votes, 2.0)
    drawn = fit(Links(2, [0, 1, 0], [1, 0, 1], [1, -1, 1], weight=[0.1, 0.3, 0.2]))
    assert drawn.n_clusters_ == 2  # 0.1 + 0.2 is 0.3, whatever rounding says
    assert drawn.objective_ == pytest.approx(0.3)


def test_a_chain_that_contradicts_itself_loses_its_weakest_link():
    links = Links(3, [0, 1, 0], [1, 2, 2], [1, 1, -1], weight=[3.0, 1.0, 2.0])
    model = fit(links)
    assert model.labels_.tolist() == [0, 0, 1]
    assert model.objective_ == 1.0


@pytest.mark.parametrize("scale", [2.0**-30, 2.0**30])
def test_the_unit_of_votes_does_not_matter(scale):
    pairs = draw_pairs(30, 200, 0)
    scaled = [(i, j, kind, scale * w) for i, j, kind, w in pairs]
    one, two = fit(links_of(pairs, 30)), fit(links_of(scaled, 30))
    assert one.labels_.tolist() == two.labels_.tolist()
    assert two.objective_ == pytest.approx(scale * one.objective_)


def test_the_data_have_no_say_but_are_checked():
    links = links_of(draw_pairs(20, 40, 0), 20)
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert (
        LinkOnly(random_state=0).fit(X, links=links).labels_.tolist() == fit(links).labels_.tolist()
    )
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"X\[3, 1\] is NaN"):
        LinkOnly().fit(X, links=links)


def test_only_one_kind_of_links():
    chain = [(i, i + 1) for i in range(9)]
    assert fit(Links.from_pairs(may=chain, n=10)).n_clusters_ == 1
    assert fit(Links.from_pairs(may_not=chain, n=10)).n_clusters_ == 10


def test_a_rest_that_cannot_be():
    with pytest.raises(MaylinkError, match="rest: 'drop' is not one of"):
        LinkOnly(rest="drop").fit(np.zeros((3, 1)))
