"""What every family must do, for whatever families the folder holds."""

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy import sparse, stats

from maylink.errors import DomainError, MaylinkError
from maylink.families import all_families, as_family
from maylink.families.base import Statistics
from maylink.families.kinds import KINDS, kinds_of
from maylink.families.registry import records
from maylink.families.rows import neighbour_rows_of
from reference import geometry
from zoo import FAMILIES, N_FEATURES, draw, example

pytestmark = pytest.mark.parametrize("name", FAMILIES)


def adapted(name, n=40, seed=0):
    X, labels = draw(name, n, seed)
    return example(name).adapt(X), X, labels


def centers_of(family, X, labels):
    T = family.points(X)
    return family.centroid(np.array([T[labels == k].mean(axis=0) for k in np.unique(labels)]))


# ---------------------------------------------------------------------- divergence


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_divergence_is_the_textbook_one(name, seed):
    family, X, labels = adapted(name, seed=seed)
    points, divergence, mean = geometry(X, name)
    expected = [
        [divergence(t, mean([points[i] for i in np.flatnonzero(labels == k)])) for k in set(labels)]
        for t in points
    ]
    np.testing.assert_allclose(
        family.divergence(X, centers_of(family, X, labels)), expected, rtol=1e-9, atol=1e-9
    )


def test_divergence_obeys_the_bregman_identity(name):
    """D = φ(t) − φ(m) − ⟨t − m, ∇φ(m)⟩, with the gradient taken numerically from φ."""
    family, X, labels = adapted(name)
    T, M = family.points(X), centers_of(family, X, labels)
    h = 1e-5
    gradient = np.empty_like(M)
    for j in range(M.shape[1]):
        step = h * (np.arange(M.shape[1]) == j)
        gradient[:, j] = (family.potential(M + step) - family.potential(M - step)) / (2 * h)
    identity = (
        family.potential(T)[:, None]
        - family.potential(M)
        - np.einsum("nks,ks->nk", T[:, None, :] - M, gradient)
    )
    np.testing.assert_allclose(family.divergence(X, M), identity, rtol=1e-5, atol=1e-6)


def test_sums_of_points_tell_the_statistics_where_a_family_says_so(name):
    family, X, labels = adapted(name)
    forms = [X]
    if family.kind == "real":  # constants are left out of the likelihood
        forms.append(np.column_stack([X, np.full(len(X), X[0, 0])]))
    if family.accepts_sparse:
        forms += [sparse.csr_array(form) for form in forms]
    for data in forms:
        fitted = example(name).adapt(data)
        T = fitted.points(data)
        phi = fitted.potential(T)
        T = T.toarray() if sparse.issparse(T) else T
        groups = np.unique(labels)
        total = np.array([T[labels == k].sum(axis=0) for k in groups])
        found = fitted.summed(total, np.array([phi[labels == k].sum() for k in groups]))
        if found is not None:
            expected = fitted.cluster_statistics(data, labels, groups.size).total
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-9)


def test_divergence_is_zero_at_the_point_itself_and_never_negative(name):
    family, X, _ = adapted(name)
    D = family.divergence(X, family.points(X))
    np.testing.assert_allclose(np.diag(D), 0.0, atol=1e-9)
    assert D.min() >= 0.0


def test_centroid_has_the_least_total_divergence(name):
    family, X, _ = adapted(name)
    best = family.centroid(family.points(X).mean(axis=0, keepdims=True))
    least = family.divergence(X, best).sum()
    rng = np.random.default_rng(0)
    for _ in range(20):
        mix = rng.dirichlet(np.full(len(X), 0.3))
        other = family.centroid((mix @ family.points(X))[None])
        assert family.divergence(X, other).sum() >= least - 1e-9


def test_units_and_coordinates_undo_each_other(name):
    family, X, labels = adapted(name)
    centers = centers_of(family, X, labels)
    assert family.units(centers).shape == (len(centers), N_FEATURES)
    np.testing.assert_allclose(family.coordinates(family.units(centers)), centers, atol=1e-9)


def test_sparse_data_give_the_same_divergence(name):
    if not all_families()[name].accepts_sparse:
        pytest.skip("the family does not take sparse data")
    X, labels = draw(name, 40, 0)
    dense, folded = example(name).adapt(X), example(name).adapt(sparse.csr_array(X))
    T = folded.points(sparse.csr_array(X))
    member = np.eye(3)[labels].T / np.bincount(labels)[:, None]
    M = folded.centroid(np.asarray(member @ T))
    np.testing.assert_allclose(
        folded.divergence(sparse.csr_array(X), M),
        dense.divergence(X, centers_of(dense, X, labels)),
        rtol=1e-9,
        atol=1e-9,
    )
    np.testing.assert_allclose(
        folded.units(M), dense.units(centers_of(dense, X, labels)), rtol=1e-9, atol=1e-12
    )
    # Fitted to one kind, asked about the other.
    np.testing.assert_allclose(folded.divergence(X, M), folded.divergence(sparse.csr_array(X), M))
    C = centers_of(dense, X, labels)
    np.testing.assert_allclose(dense.divergence(sparse.csr_array(X), C), dense.divergence(X, C))


def test_single_precision_stays_single(name):
    X, _ = draw(name, 40, 0)
    family = example(name).adapt(X.astype(np.float32))
    assert family.points(X.astype(np.float32)).dtype == np.float32


# ---------------------------------------------------------------------- neighbours


def test_points_of_one_cluster_are_nearer_than_points_of_others(name):
    family, X, labels = adapted(name, n=90, seed=1)
    rows = family.neighbour_rows(X)
    assert rows.shape[0] == len(X)
    assert np.isfinite(rows).all()
    distance = np.linalg.norm(rows[:, None] - rows, axis=2)
    same = labels[:, None] == labels
    assert distance[same].sum() / (same.sum() - len(X)) < distance[~same].mean()


def test_neighbour_rows_of_some_points_are_theirs_among_all(name):
    family, X, _ = adapted(name, n=60, seed=2)
    rows, scales = family.neighbour_rows(X), family.neighbour_scales(X)
    for some in (slice(0, 7), slice(7, 8), slice(59, 60)):
        found = neighbour_rows_of(family, X[some], scales)
        np.testing.assert_allclose(found, rows[some], rtol=1e-9, atol=1e-12)


def test_neighbour_rows_keep_the_precision_and_sparse_data_sparse(name):
    X, _ = draw(name, 40, 0)
    single = X.astype(np.float32)
    assert example(name).adapt(single).neighbour_rows(single).dtype == np.float32
    if all_families()[name].accepts_sparse and name != "plda":  # its directions are dense
        folded = sparse.csr_array(X)
        rows = example(name).adapt(folded).neighbour_rows(folded)
        assert sparse.issparse(rows)
        assert np.isfinite(rows.toarray()).all()


# ---------------------------------------------------------------------- likelihood


def parameters(name, seed=0, size=4):
    family = example(name)
    rng = np.random.default_rng(seed)
    prior = family.unit_prior(N_FEATURES)
    return family, np.array([family.sample_parameters(prior, rng) for _ in range(size)])


def test_mean_is_the_average_of_the_statistics(name):
    family, theta = parameters(name)
    rng = np.random.default_rng(1)
    for one in theta:
        T = family.statistics(family.sample(one, 20_000, rng))
        error = T.mean(axis=0) - family.mean(one[None])[0]
        # A bit that is 1 once in 100,000 may never show: allow for that besides five deviations.
        assert np.all(np.abs(error) < 5.0 * T.std(axis=0) / np.sqrt(len(T)) + 5e-4)


def test_log_likelihood_is_the_sum_of_its_parts(name):
    family, theta = parameters(name)
    X = family.sample(theta[0], 10, np.random.default_rng(1))
    T = family.statistics(X)
    assert T.shape[1] == family.n_statistics(N_FEATURES) == theta.shape[1]
    for k, one in enumerate(theta):
        expected = T @ one - family.log_partition(one[None])[0] + family.log_base(X)
        np.testing.assert_allclose(family.log_likelihood(X, theta)[:, k], expected)


def test_likelihood_is_largest_on_average_at_its_own_parameter(name):
    """Gibbs' inequality; it fails for a wrong log-partition function."""
    family, theta = parameters(name)
    for k, one in enumerate(theta):
        X = family.sample(one, 4000, np.random.default_rng(k))
        average = family.log_likelihood(X, theta).mean(axis=0)
        assert average.argmax() == k


# ---------------------------------------------------------------------- conjugate prior


def one_cluster(family, X):
    return family.cluster_statistics(X, np.zeros(len(X), np.int64), 1)


def first(prior):
    """A posterior of one cluster without its leading axis."""
    if hasattr(prior, "_fields"):
        return type(prior)(*(np.asarray(part)[0] for part in prior))
    return tuple(first(part) for part in prior)


@pytest.mark.parametrize("adapt", [False, True])
def test_marginal_is_the_product_of_predictives(name, adapt):
    X, _ = draw(name, 12, 0)
    family = example(name).adapt(X) if adapt else example(name)
    prior = family.default_prior(X) if adapt else family.unit_prior(N_FEATURES)
    current, total = prior, 0.0
    for i in range(len(X)):
        total += family.log_predictive(X[i : i + 1], current)[0]
        current = first(family.posterior(prior, one_cluster(family, X[: i + 1])))
    assert family.log_marginal(one_cluster(family, X), prior)[0] == pytest.approx(total)


def test_marginal_is_the_likelihood_averaged_over_the_prior(name):
    """Monte Carlo over draws from the prior: sampling, normaliser and likelihood at once."""
    family = example(name)
    prior = family.unit_prior(N_FEATURES)
    rng = np.random.default_rng(0)
    X = family.sample(family.sample_parameters(prior, rng), 1, rng)
    theta = np.array([family.sample_parameters(prior, rng) for _ in range(4000)])
    weight = np.exp(family.log_likelihood(X, theta)[0])
    error = weight.std() / np.sqrt(len(weight))
    exact = np.exp(family.log_predictive(X, prior)[0])
    assert abs(weight.mean() - exact) < 5 * error


def test_posterior_does_not_care_about_order_or_batches(name):
    family = example(name)
    X, _ = draw(name, 10, 0)
    prior = family.unit_prior(N_FEATURES)
    at_once = family.log_normalizer(family.posterior(prior, one_cluster(family, X)))
    halfway = first(family.posterior(prior, one_cluster(family, X[:4])))
    in_turn = family.log_normalizer(family.posterior(halfway, one_cluster(family, X[4:])))
    np.testing.assert_allclose(at_once, in_turn)


def test_adapting_changes_no_probability(name):
    """Offsets and scales serve rounding; the marginal under one prior stays."""
    if all_families()[name].adapts_likelihood:
        pytest.skip("the data set a constant of the likelihood")
    X, labels = draw(name, 30, 0)
    plain, fitted = example(name), example(name).adapt(X)
    prior = plain.default_prior(X)
    np.testing.assert_allclose(
        plain.log_marginal(plain.cluster_statistics(X, labels, 3), prior),
        fitted.log_marginal(fitted.cluster_statistics(X, labels, 3), prior),
        rtol=1e-8,
    )


def test_cluster_statistics_are_sums(name):
    family, X, labels = adapted(name)
    statistics = family.cluster_statistics(X, labels, 3)
    for k in range(3):
        rows = X[labels == k]
        np.testing.assert_allclose(statistics.total[k], family.statistics(rows).sum(axis=0))
        assert statistics.size[k] == len(rows)
        assert statistics.log_base[k] == pytest.approx(family.log_base(rows).sum())


def test_no_data_leave_the_prior_alone(name):
    family = example(name)
    prior = family.unit_prior(N_FEATURES)
    nothing = Statistics(np.zeros(1), np.zeros((1, family.n_statistics(N_FEATURES))), np.zeros(1))
    assert family.log_marginal(nothing, prior)[0] == pytest.approx(0.0)


def test_sampled_parameters_follow_the_posterior(name):
    """Rank of a true parameter among posterior draws is uniform (simulation-based calibration)."""
    family = example(name)
    prior = family.unit_prior(N_FEATURES)
    rng = np.random.default_rng(3)
    ranks = []
    for _ in range(200):
        theta = family.sample_parameters(prior, rng)
        X = family.sample(theta, 3, rng)
        posterior = first(family.posterior(prior, one_cluster(family, X)))
        draws = np.array([family.sample_parameters(posterior, rng) for _ in range(19)])
        ranks.append((draws[:, 0] < theta[0]).sum())
    counts = np.bincount(ranks, minlength=20).reshape(5, 4).sum(axis=1)
    assert stats.chisquare(counts).pvalue > 1e-3


# ---------------------------------------------------------------------- names and repr


def test_known_by_name(name):
    assert as_family(name) == all_families()[name]()
    for word in all_families()[name].also_called:
        with pytest.raises(MaylinkError, match=f"you may mean '{name}'"):
            as_family(word)


def test_adapting_shows_only_in_settings_that_were_left_open(name):
    family = example(name)
    fitted = family.adapt(draw(name, 30, 0)[0])
    compared = [field.name for field in fields(family) if field.compare]
    changed = [key for key in compared if getattr(fitted, key) != getattr(family, key)]
    assert all(getattr(family, key) is None for key in changed)
    if not changed:
        assert fitted == family
        assert repr(fitted) == repr(family)


def test_facts_are_of_known_words_and_fit_together(name):
    family = example(name)
    assert family.kind in KINDS
    assert family.auto_rank is None or family.by_name
    assert family.covariance is None or family.kind == "real"
    assert type(family) in records()
    told_by_values = {"real", "counts", "bits", "positive"}
    X, _ = draw(name, 40, 0)
    assert family.kind not in told_by_values or family.kind in kinds_of(X)


def test_log_base_is_constant_where_the_family_says_so(name):
    family, X, _ = adapted(name)
    if family.constant_base:
        assert np.ptp(family.log_base(X)) == 0.0


def test_priors_are_of_the_records_that_the_family_names(name):
    family, X, _ = adapted(name)
    priors = family.default_prior(X)
    for prior in priors if family.kind == "mixed" else [priors]:
        assert type(prior) in (records() if family.kind == "mixed" else family.records)


def test_the_sampler_gets_the_code_that_the_family_names(name):
    family, X, _ = adapted(name)
    if family.code is None and family.kind != "mixed":
        with pytest.raises(MaylinkError, match="no kernel"):
            family.blocks(family.default_prior(X))
        return
    codes = {block.code for block in family.blocks(family.default_prior(X))}
    assert codes == {family.code} or family.kind == "mixed"


def test_refuses_values_outside_the_domain(name):
    family = example(name)
    X, _ = draw(name, 30, 0)
    if bool(np.all(family.allows(np.array([-7.5])))) and family.kind != "mixed":
        pytest.skip("all real numbers are welcome")
    X[4, 2] = -7.5
    with pytest.raises(DomainError, match=r"X\[4, [02]\] = -7.5"):
        family.adapt(X)


# ---------------------------------------------------------------------- expectations


def soft_problem(name):
    X, _ = draw(name, 20, seed=2)
    family = example(name).adapt(X)
    responsibilities = np.random.default_rng(0).dirichlet([0.5, 0.5, 0.5], 20)
    return family, X, responsibilities, family.default_prior(X)


def test_soft_statistics_are_sums_by_responsibility(name):
    family, X, responsibilities, _ = soft_problem(name)
    statistics = family.soft_statistics(X, responsibilities)
    np.testing.assert_allclose(statistics.size, responsibilities.sum(axis=0))
    np.testing.assert_allclose(statistics.total, responsibilities.T @ family.statistics(X))
    np.testing.assert_allclose(statistics.log_base, responsibilities.T @ family.log_base(X))


def test_expectations_are_the_slopes_of_the_normaliser(name):
    """∂ log Z/∂ total = E θ and ∂ log Z/∂ size = −E A, by differences."""
    family, X, responsibilities, prior = soft_problem(name)
    statistics = family.soft_statistics(X, responsibilities)
    theta, partition = family.expected_parameters(family.posterior(prior, statistics))

    def normaliser(size, total):
        changed = statistics._replace(size=size, total=total)
        return family.log_normalizer(family.posterior(prior, changed))

    step = 1e-5
    slope = normaliser(statistics.size + step, statistics.total)
    slope = (slope - normaliser(statistics.size - step, statistics.total)) / (2 * step)
    np.testing.assert_allclose(-slope, partition, rtol=1e-4, atol=1e-4)
    for j in range(theta.shape[1]):
        shift = step * np.eye(1, theta.shape[1], j)
        slope = normaliser(statistics.size, statistics.total + shift)
        slope = (slope - normaliser(statistics.size, statistics.total - shift)) / (2 * step)
        np.testing.assert_allclose(slope, theta[:, j], rtol=1e-4, atol=1e-4)


def test_expected_log_likelihoods_are_those_of_the_expectations(name):
    family, X, responsibilities, prior = soft_problem(name)
    posterior = family.posterior(prior, family.soft_statistics(X, responsibilities))
    theta, partition = family.expected_parameters(posterior)
    expected = family.statistics(X) @ theta.T - partition + family.log_base(X)[:, None]
    np.testing.assert_allclose(family.expected_log_likelihood(X, posterior), expected, atol=1e-8)


def test_parts_add_up_to_the_marginal_whatever_their_scales(name):
    family, X, labels = adapted(name)
    if family.knows_gaps:
        family = replace(family, weights=[1.0, 0.5, 2.0])
    prior = family.default_prior(X)
    statistics = family.cluster_statistics(X, labels, 3)
    parts = family.marginal_parts(statistics, prior)
    ends = np.cumsum([part.scales for part in parts])
    assert ends[-1] == family.scales(prior)
    rests = []
    for seed in range(3):
        factors = np.exp(np.random.default_rng(seed).normal(size=ends[-1]))
        own = np.split(factors, ends[:-1])
        marginal = family.log_marginal(statistics, family.rescale(prior, factors)).sum()
        added = sum(part.rescaled(some) for part, some in zip(parts, own, strict=True))
        rests.append(marginal - added)
    np.testing.assert_allclose(rests, rests[0], rtol=1e-9, atol=1e-8)  # log h(x)


def test_rescaled_priors_are_priors(name):
    family, X, _, prior = soft_problem(name)
    size = family.scales(prior)
    np.testing.assert_allclose(
        family.log_predictive(X, family.rescale(prior, np.ones(size))),
        family.log_predictive(X, prior),
    )
    if size:
        statistics = family.cluster_statistics(X, np.zeros(20, np.int64), 1)
        wider = family.rescale(prior, np.full(size, 3.0))
        plain = family.log_marginal(statistics, prior)
        assert not np.allclose(family.log_marginal(statistics, wider), plain)


def test_a_coarser_family_takes_the_same_data(name):
    family, X, _, _ = soft_problem(name)
    assert family.coarser().adapt(X).points(X).shape[0] == 20
