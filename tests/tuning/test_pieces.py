"""Fits that begin at small pieces: what pieces are, what links choose, and what is learned."""

import numpy as np
import pytest
from scipy import sparse

from maylink import Links, TVClust
from maylink.errors import MaylinkError
from maylink.families import PLDA, Gaussian, Multinomial
from maylink.metrics import pair_f
from maylink.model.joint import joint_of
from maylink.problem import Problem
from maylink.solvers.variational import VariationalSettings
from maylink.tuning.pieces import (
    FEWEST_PIECES,
    PieceView,
    fit_from_pieces,
    pieces_of,
)
from maylink.views.neighbours import PRINCIPAL, SOURCE, NeighbourGraph, graph_rows
from zoo import EDGES, true_links


def blobs(n=300, d=40, k=5, apart=6.0, seed=0):
    """Round clusters whose centres differ in five features."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    mean = rng.normal(size=(k, d)) * np.where(np.arange(d) < 5, apart, 0.0)
    return mean[y] + rng.normal(size=(n, d)), y


def view_of(X, links=None, family="plda", most_neighbours=10):
    problem = Problem.build(X, links, family)
    graph = NeighbourGraph(problem, most_neighbours)
    return PieceView.of(problem, graph, np.random.default_rng(0))


# ---------------------------------------------------------------------- pieces


@pytest.mark.parametrize("family", [PLDA(), Gaussian()])
def test_pieces_never_mix_blobs_that_are_far_apart(family):
    X, y = blobs(n=400, d=10, apart=40.0)
    pieces = pieces_of(Problem.build(X, None, family).prepared())
    assert len(pieces) == 400
    assert pieces.max() + 1 >= FEWEST_PIECES
    for piece in np.unique(pieces):
        assert len(set(y[pieces == piece])) == 1


def test_starts_are_finer_than_the_clusters():
    X, y = blobs()
    starts = view_of(X).starts
    assert len(starts) >= 2
    sizes = [labels.max() + 1 for labels in starts]
    assert sizes == sorted(sizes, reverse=True) or sizes[0] == max(sizes)
    assert min(sizes) > len(set(y))


def test_starts_have_no_empty_clusters():
    X = np.repeat(np.random.default_rng(0).normal(size=(5, 40)), 60, axis=0)  # few different points
    for labels in view_of(X, family=Gaussian()).starts:
        assert np.bincount(labels).min() > 0


def test_equal_sparse_points_have_a_graph():
    links = view_of(sparse.csr_array(np.ones((30, 40)))).neighbours(4)
    assert links.n_links > 0


def test_clusters_of_two_points_are_looked_at_closely():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(100, 20)), 2, axis=0) + 0.05 * rng.normal(size=(200, 20))
    assert view_of(X).problem.family.neighbours == 1
    assert view_of(blobs()[0]).problem.family.neighbours is None


@pytest.mark.parametrize("seed", range(3))
def test_points_that_are_alone_do_not_make_clusters_wide(seed):
    """Their nearest neighbours are strangers, from whom no variance within clusters is learned."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(180), np.repeat(np.arange(180, 220), 3)])
    X = rng.normal(size=(220, 40))[y] + 0.3 * rng.normal(size=(300, 40))
    wide = pieces_of(Problem.build(X, None, PLDA(neighbours=1)).prepared())
    assert pair_f(y, view_of(X).starts[0]) > max(0.9, pair_f(y, wide) + 0.1)


def test_equal_points_among_others_end_in_pieces_of_their_own():
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(100), np.arange(100)[:60]])
    view = view_of(rng.normal(size=(100, 40))[y])
    assert pair_f(y, view.starts[0]) == 1.0
    assert np.isfinite(view.problem.X).all()


# ---------------------------------------------------------------------- the graph


def test_the_graph_is_that_of_plain_distances():
    X, _ = blobs(d=80)
    rows = graph_rows(Problem.build(X, None, "plda"))
    assert rows.shape == (300, PRINCIPAL)
    plain = graph_rows(Problem.build(X, None, "gaussian"))
    assert plain.shape == (300, 80)
    whole = np.square(plain[:150] - plain[150:]).sum(axis=1)
    part = np.square(rows[:150] - rows[150:]).sum(axis=1)
    assert (part <= whole + 1e-9).all()
    assert np.corrcoef(part, whole)[0, 1] > 0.8


def test_few_features_keep_all_of_them():
    X, _ = blobs(d=10)
    np.testing.assert_allclose(
        graph_rows(Problem.build(X, None, "plda")), graph_rows(Problem.build(X, None, "gaussian"))
    )


def test_neighbours_are_a_source_of_their_own():
    view = view_of(blobs()[0])
    links = view.neighbours(5)
    assert links.sources == (SOURCE,)
    assert 300 * 5 // 2 <= len(links.may) <= 300 * 5
    assert len(links.may) == len(links.may_not)
    assert view.neighbours(5) == links  # the same pairs again
    assert view.neighbours(0).n_links == 0


# ---------------------------------------------------------------------- fits


def test_a_fit_finds_the_blobs_and_learns_on_the_way():
    X, y = blobs()
    view = view_of(X)
    found = fit_from_pieces(view, view.neighbours(10), VariationalSettings(data_weight=0.3))
    assert pair_f(y, found.labels) > 0.95
    before, after = view.problem.family.between, found.problem.family.between
    assert not np.allclose(before, after)
    assert found.problem.X.shape == view.problem.X.shape
    raw = found.problem.family.unprepared()
    np.testing.assert_allclose(raw.points(X), found.problem.X, atol=1e-8)
    assert view.problem.links.n_links == 0  # the view stays as it was


def test_the_fit_is_no_worse_than_its_starts():
    """By the exact score, under the family that was learned."""
    X, y = blobs(apart=1.5)
    view, links = view_of(X), true_links(y, 150, 0)
    found = fit_from_pieces(view, links, VariationalSettings())
    score = joint_of(found.problem, found.labels, found.problem.prior)
    assert score >= max(
        joint_of(found.problem, labels, found.problem.prior) for labels in view.starts
    )


def test_a_prior_that_is_given_is_one_of_the_family_as_it_is():
    X, y = blobs()
    prior = TVClust("plda", data_weight=1.0, neighbours=0, random_state=0).fit(X).prior_
    model = TVClust("plda", prior=prior, random_state=0).fit(X, links=true_links(y, 200, 0))
    np.testing.assert_array_equal(model.prior_.precision, prior.precision)
    assert model.labels_.shape == (300,)
    few = prior._replace(mean=prior.mean[:3], precision=prior.precision[:3])
    with pytest.raises(MaylinkError, match="prior: not a prior of 'plda'"):
        TVClust("plda", prior=few, random_state=0).fit(X)


def test_links_move_points():
    X, y = blobs(apart=2.5)
    view = view_of(X)
    alone = fit_from_pieces(view, Links.empty(300), VariationalSettings())
    linked = fit_from_pieces(view, true_links(y, 2000, 0), VariationalSettings(data_weight=0.3))
    assert pair_f(y, linked.labels) > pair_f(y, alone.labels) + 0.1


def test_families_that_learn_nothing_are_fitted_from_pieces_too():
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    share = rng.dirichlet(np.ones(40), size=3)
    X = np.stack([rng.multinomial(60, share[k]) for k in y]).astype(float)
    view = view_of(X, family=Multinomial())
    found = fit_from_pieces(view, view.neighbours(5), VariationalSettings(data_weight=0.3))
    assert pair_f(y, found.labels) > 0.95
    assert found.problem.family == view.problem.family


@pytest.mark.parametrize("family", ["plda", "gaussian"])
@pytest.mark.parametrize("name", EDGES)
def test_odd_data_have_a_fit(name, family):
    X, _, links = EDGES[name]
    view = view_of(X, links, family)
    count = min(3, len(X) - 1)
    links = (links or Links.empty(len(X))) + view.neighbours(count)
    found = fit_from_pieces(view, links, VariationalSettings())
    assert found.labels.shape == (len(X),)
    assert np.isfinite(found.fit.objective)
