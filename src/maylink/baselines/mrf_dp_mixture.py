"""The Dirichlet-process mixture with a Markov random field over the links, by Gibbs sampling.

Orbanz, Buhmann, 2008. Contradictory links cancel by their votes.

``P(c | x) ∝ CRP(c; α) · Π_k marginal(x_k) · exp(Σ_links ±strength · weight · 1[c_i = c_j])``

Given known p and q, the link model of TVClust has the same conditional distributions: a link then
multiplies the odds of "together" by p/(1 − q) or by (1 − p)/q. At p = q = 1/(1 + e⁻¹) one vote is
worth exactly 1, so its sampler draws from this model once the links weigh strength · weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index
from maylink.baselines.base import Baseline, BaselineRun
from maylink.errors import MaylinkError
from maylink.families import Family, as_family
from maylink.links import MAY, Links
from maylink.model import partitions
from maylink.model.draws import Draws
from maylink.model.joint import joint_of
from maylink.parameters import check_choice, check_integer, check_number
from maylink.problem import Problem
from maylink.solvers.gibbs import CollapsedSampler, GibbsSettings
from maylink.tuning.settings import as_tuning
from maylink.tuning.starts import PLAIN_STARTS, ProblemStart

RIGHT = float(1.0 / (1.0 + np.exp(-1.0)))  # p and q at which a vote has log odds of 1


class MRFDPMixture(Baseline):
    """A Dirichlet-process mixture whose prior is multiplied with a Markov random field of links.

    It draws partitions c from

    ``P(c | x) ∝ CRP(c; α) · Π_k marginal(x_k) · exp(λ_may · M(c) − λ_not · N(c))``

    where M and N are the votes of the may and of the may-not links whose two points share a
    cluster. The paper has may links alone (neighbouring pixels): ``not_strength=0``. May-not
    links are an extension in the same form. The objective is −log of that product,

    ``−log CRP(c; α) − Σ_k log marginal(x_k) − λ_may · M(c) + λ_not · N(c)``

    and is not minimised but sampled; ``labels_`` is the partition with the least expected
    variation of information to the draws.

    Parameters
    ----------
    family : str or Family, default "full-gaussian"
        What the data are; see :class:`maylink.TVClust`.
    concentration : float, default 1
        α of the Chinese restaurant process; the larger, the more clusters.
    may_strength : float, default 2
        λ_may, what a vote to put two points together adds to the log probability. Strength λ is
        what a link is worth that is right in a share 1/(1 + e^−λ) of all cases: 88% at 2.
    not_strength : float, optional
        λ_not, the same for may-not links; ``may_strength`` if not given.
    init : {"one", "rdp-means", "singletons"} or array of shape (n,), default "one"
        Where the chain starts: all points in one cluster, RDP-means, every point by itself, or
        labels.
    n_sweeps : int, default 800
        Sweeps in all.
    burn_in : int, default 300
        How many of them are thrown away; fewer than ``n_sweeps``.
    n_split_merge : int, default 1
        Proposals a sweep to split a cluster or merge two; 0 leaves the moves of single points,
        which leave a bad start slowly.
    loss : {"vi", "binder"}, default "vi"
        Distance to the draws that ``labels_`` makes small.
    random_state : int, RandomState or Generator, optional
        Seed of the chain.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of each point, numbered by first appearance.
    n_clusters_ : int
        Number of clusters.
    draws_ : array of shape (n_sweeps − burn_in, n)
        The partitions drawn; :func:`maylink.partitions.coclustering` tells from them how often
        points share a cluster.
    objective_ : float
        The objective of ``labels_``.
    objective_path_ : array of shape (n_sweeps + 1,)
        The objective of the partition after each sweep, and last that of ``labels_``. A sampler
        goes up and down: it does not descend.
    n_iter_ : int
        Sweeps made.

    Notes
    -----
    A sweep costs O(n K d² + links) for full Gaussians, O(n K d + links) for the other families;
    the draws take O(n · n_sweeps) memory.

    Strengths are given, not learned: contradictory links cancel by their votes, and wrong links
    weigh as much as right ones. Many wrong links of a large strength override the data;
    :class:`maylink.TVClust` learns from data and links together what a link is worth.

    The sampler integrates the clusters' parameters out, where the paper draws them: the
    distribution of the partitions is the same. Data must be dense.

    References
    ----------
    Orbanz, Buhmann: Nonparametric Bayesian Image Segmentation, International Journal of Computer
    Vision 77, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.baselines import MRFDPMixture
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> MRFDPMixture("gaussian", random_state=0).fit(X).labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model = MRFDPMixture("gaussian", may_strength=50.0, random_state=0)
    >>> model.fit(X, links=([(2, 3)], [])).labels_[2:4]
    array([0, 0])
    """

    draws_: NDArray[np.int32]

    def __init__(
        self,
        family: Family | str = "full-gaussian",
        *,
        concentration: float = 1.0,
        may_strength: float = 2.0,
        not_strength: float | None = None,
        init: Any = "one",
        n_sweeps: int = 800,
        burn_in: int = 300,
        n_split_merge: int = 1,
        loss: str = "vi",
        random_state: Any = None,
    ) -> None:
        self.family = family
        self.concentration = concentration
        self.may_strength = may_strength
        self.not_strength = not_strength
        self.init = init
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.n_split_merge = n_split_merge
        self.loss = loss
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("concentration", self.concentration, 0.0, above=True)
        check_number("may_strength", self.may_strength, 0.0)
        if self.not_strength is not None:
            check_number("not_strength", self.not_strength, 0.0)
        if isinstance(self.init, str):
            check_choice("init", self.init, PLAIN_STARTS)
        check_integer("n_sweeps", self.n_sweeps, 1)
        check_integer("burn_in", self.burn_in, 0)
        if self.burn_in >= self.n_sweeps:
            raise MaylinkError(
                f"burn_in: {self.burn_in} leaves nothing of n_sweeps={self.n_sweeps} sweeps"
            )
        check_integer("n_split_merge", self.n_split_merge, 0)
        check_choice("loss", self.loss, partitions.LOSSES)

    def _run(self, X: Array, links: Links, rng: np.random.Generator) -> BaselineRun:
        may_not = self.may_strength if self.not_strength is None else self.not_strength
        weighed = _weigh(links, float(self.may_strength), float(may_not))
        problem = Problem(X, weighed, as_family(self.family).adapt(X))
        alpha, reliability = float(self.concentration), (RIGHT, RIGHT)
        settings = GibbsSettings(
            alpha=alpha, reliability=reliability, n_split_merge=self.n_split_merge
        )
        sampler = CollapsedSampler(problem, problem.prior, settings)
        start = ProblemStart(problem, self.init, as_tuning(None))(rng)
        draws = _sample(sampler, start, self.n_sweeps, rng)
        after_burn_in = draws.labels[self.burn_in :]
        labels = partitions.point_estimate(after_burn_in, self.loss, rng=rng)
        joint = joint_of(problem, labels, problem.prior, alpha, reliability=reliability)
        # The link model gives a right vote log p and a wrong one log p − 1.
        may_votes = weighed.weight[weighed.kind == MAY].sum()
        constant = np.log(RIGHT) * weighed.weight.sum() - may_votes
        path = constant - np.append(draws.log_joint, joint)
        return BaselineRun(labels, path, others={"draws_": after_burn_in, "n_iter_": self.n_sweeps})


def _weigh(links: Links, may: float, may_not: float) -> Links:
    """Return the links with strength · weight as weights, without those of weight 0."""
    with np.errstate(over="ignore"):
        weight = links.weight * np.where(links.kind == MAY, may, may_not)
        if not np.isfinite(weight.sum()):
            raise MaylinkError(
                "may_strength, not_strength: too large for the weights of these links; lower them"
            )
    counts = weight > 0.0
    return Links(
        links.n, links.i[counts], links.j[counts], links.kind[counts], weight=weight[counts]
    )


def _sample(
    sampler: CollapsedSampler, labels: Index, n_sweeps: int, rng: np.random.Generator
) -> Draws:
    """Return one draw a sweep; clusters are built anew from time to time, against rounding."""
    state, parts, left = sampler.init(labels), [], n_sweeps
    while left:
        state, draws = sampler.step(state, min(sampler.block, left), rng)
        parts.append(draws)
        left -= len(draws.labels)
    return Draws.joined(parts)
