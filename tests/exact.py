"""The exact posterior of a few points, by enumerating all partitions."""

import numpy as np
from scipy.special import betaln, logsumexp

from maylink import Links
from maylink.model.partition_priors import DirichletProcess
from maylink.model.reliability import count_links
from maylink.model.source_prior import NEIGHBOURS, PRIOR, shared_grid
from reference import all_partitions


def log_links(links, z):
    """log P(links | z), source by source and point by point of the grid that sources share."""
    counts = count_links(links, z)
    shared = np.array([name != NEIGHBOURS for name in links.sources], bool)
    shared &= shared.sum() > 1
    log_weight, right, wrong = shared_grid()[:3]
    total = 0.0
    for good, bad in ((counts.may_same, counts.not_same), counts[2:]):

        def of(right, wrong, which, good=good, bad=bad):  # of links one by one: without a binomial
            return betaln(right + good[which], wrong + bad[which]) - betaln(right, wrong)

        total += of(*PRIOR, ~shared).sum()
        of_all = of(right[:, None], wrong[:, None], shared).sum(axis=1)
        total += logsumexp(log_weight + of_all)
    return total


def reliability_means(links, z):
    """E p and E q of every source given a partition, by adding up over the grid."""
    counts, out = count_links(links, z), []
    log_weight, right, wrong = shared_grid()[:3]
    for good, bad in ((counts.may_same, counts.not_same), counts[2:]):
        a, b = right[:, None] + good, wrong[:, None] + bad
        logs = log_weight + (betaln(a, b) - betaln(right, wrong)[:, None]).sum(axis=1)
        weight = np.exp(logs - logsumexp(logs))
        out.append(weight @ (a / (a + b)))
    return np.array(out)


def log_joints(
    problem, prior, *, alpha=1.0, data_weight=1.0, reliability=None, partition_prior=None
):
    """log p(x, E, z) of every partition; p and q integrated out unless they are given."""
    given = {"data_weight": data_weight, "reliability": reliability}
    return log_joints_of([alpha], problem, prior, partition_prior=partition_prior, **given)[0]


def log_joints_of(
    alphas, problem, prior, *, data_weight=1.0, reliability=None, partition_prior=None
):
    """The same for every α: what data and links say of a partition is reckoned once."""
    partition_prior = partition_prior or DirichletProcess()
    out = [{} for _ in alphas]
    for labels in all_partitions(problem.n):
        z = np.array(labels)
        statistics = problem.family.cluster_statistics(problem.X, z, z.max() + 1)
        data = problem.family.log_marginal(statistics, prior).sum()
        if reliability is None:
            links = log_links(problem.links, z)
        else:
            p, q = reliability
            counts = count_links(problem.links, z)
            links = np.sum(
                counts.may_same * np.log(p)
                + counts.not_same * np.log(1 - p)
                + counts.not_different * np.log(q)
                + counts.may_different * np.log(1 - q)
            )
        for table, alpha in zip(out, alphas, strict=True):
            partition = partition_prior.log_probability(statistics.size, alpha)
            table[labels] = partition + data_weight * data + links
    return out


def evidence(problem, prior, **options):
    """log p(x, E)."""
    return logsumexp(list(log_joints(problem, prior, **options).values()))


def posterior(problem, prior, **options):
    """The probability of every partition."""
    joints = log_joints(problem, prior, **options)
    total = logsumexp(list(joints.values()))
    return {labels: float(np.exp(value - total)) for labels, value in joints.items()}


def total_variation(draws, exact):
    """Half the sum of |frequency − probability| over all partitions."""
    n = draws.shape[1]
    powers = n ** np.arange(n)
    keys, counts = np.unique(draws @ powers, return_counts=True)
    frequency = dict(zip(keys.tolist(), (counts / len(draws)).tolist(), strict=True))
    apart = [
        abs(frequency.pop(int(np.dot(labels, powers)), 0.0) - probability)
        for labels, probability in exact.items()
    ]
    assert not frequency, "a draw that is no partition numbered by first appearance"
    return 0.5 * sum(apart)


def some_links(n, *, contradictory, n_sources):
    """A handful of links with different weights."""
    i, j, kind = [0, 1, 3, 0], [1, 2, 4, 3], [1, 1, -1, -1]
    if contradictory:
        i, j, kind = [*i, 0, 0, 1], [*j, 1, 2, 2], [*kind, -1, -1, -1]
    source = [("rule", "expert")[k % n_sources] for k in range(len(i))]
    weight = [1.0, 2.0, 1.0, 0.5, 1.0, 1.0, 1.5][: len(i)]
    return Links(n, i, j, kind, weight=weight, source=source)
