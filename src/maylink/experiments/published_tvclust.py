"""TVClust as the printed figures have it: mean field from random means, 30 rounds, no more.

The variational solver of the library does the same model better, so what follows is kept apart:
features of unit variance; 15 sticks with α = 1; Normal–Wishart clusters with mean 0, strength 1,
W = I and d degrees of freedom; p ~ Beta(1, 10) and q ~ Beta(10, 1), the first against the sense of
p; responsibilities of 1/15 at first. A round visits the points in turn, ::

    log r_ik = E log π_k + E log N(x_i | μ_k, Λ_k) + Σ_{j linked to i} w_ij r_jk + constant
    w_ij = E log p − E log (1 − q) for a may link, E log (1 − p) − E log q for a may-not link

and then updates sticks, clusters, p and q. Before the first update w_ij = 0: links do not count in
the first round. :data:`SWITCHES` are conventions that can be left, one at a time or together.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, ndtri

from maylink.arrays import Array
from maylink.estimators import RDPMeans
from maylink.links import MAY, Links

STICKS = 15
ROUNDS = 30
SETTLED = 1e-6  # the largest change of a responsibility in a round that counts as none
PRIOR = {"p": (1.0, 10.0), "q": (10.0, 1.0)}

SWITCHES = {
    "means": "one draw of standard normal means for all runs in place of a new one for each",
    "direction": "a link counts at one of its ends, drawn at random, in place of both",
    "doubt": "p ~ Beta(1, 10) in place of Beta(10, 1)",
    "turns": "points in turn in place of all at once",
    "start": "random means in place of the partition of RDP-means with its defaults",
}


def fit(
    X: Array, links: Links, rng: np.random.Generator, off: Collection[str] = ()
) -> NDArray[np.int64]:
    """Return the cluster of each point; ``off`` names the switches to turn off."""
    X = (X - X.mean(axis=0)) / _spread(X)
    n, d = X.shape
    visits = rng.permutation(n)
    neighbours = _neighbours(links, rng, at_both_ends="direction" in off)
    votes = {"p": (10.0, 1.0) if "doubt" in off else PRIOR["p"], "q": PRIOR["q"]}
    prior = votes
    responsibilities = np.full((n, STICKS), 1.0 / STICKS)
    sticks = np.ones((STICKS - 1, 2))
    if "start" in off:
        model = RDPMeans("diagonal-gaussian", link_weight=None, random_state=rng, n_jobs=1).fit(
            X, links=links
        )
        responsibilities = np.eye(STICKS)[np.minimum(model.labels_, STICKS - 1)]
        sticks, clusters = _sticks(responsibilities), _clusters(X, responsibilities)
        votes = _votes(links, responsibilities, prior)
    else:
        means = rng.normal(size=STICKS * d) if "means" in off else normals_of_r(STICKS * d)
        clusters = NormalWisharts(
            means.reshape(STICKS, d), np.ones(STICKS), np.full(STICKS, float(d)), np.eye(d)[None]
        )
    for _ in range(ROUNDS):
        before = responsibilities.copy()
        alone = clusters.log_density(X) + _log_weights(sticks)
        source = before if "turns" in off else responsibilities
        weights = np.array(_weights(votes))
        for i in visits:
            others, kind = neighbours[i]
            value = alone[i] + weights[kind] @ source[others]
            value = np.exp(value - value.max())
            responsibilities[i] = value / value.sum()
        if np.abs(responsibilities - before).max() < SETTLED:
            break
        sticks, clusters = _sticks(responsibilities), _clusters(X, responsibilities)
        votes = _votes(links, responsibilities, prior)
    return np.asarray(responsibilities.argmax(axis=1), np.int64)


class NormalWisharts(NamedTuple):
    """Normal–Wishart factors of all clusters."""

    mean: Array
    strength: Array
    degrees: Array
    scale: Array
    """(K, d, d) W of each, or (1, d, d) the same for all."""

    def log_density(self, X: Array) -> Array:
        """Return E log N(x_i | μ_k, Λ_k) up to a constant, shape (n, K)."""
        d = X.shape[1]
        halves = (self.degrees[:, None] - np.arange(d)) / 2
        log_det = digamma(halves).sum(axis=1) + np.linalg.slogdet(self.scale)[1]
        gap = (X[:, None] - self.mean).transpose(1, 0, 2)
        square = ((gap @ self.scale) * gap).sum(axis=2).T
        return np.asarray(0.5 * (log_det - d / self.strength - self.degrees * square))


def normals_of_r(size: int) -> Array:
    """Return the first standard normals that R draws after ``set.seed(1)``.

    The authors' code is in R and sets this seed before it draws its means, so all runs with as many
    features start from the same ones.
    """
    word = 1
    key = []
    for step in range(50 + 625):
        word = (69069 * word + 1) % 2**32
        if step > 50:
            key.append(word)
    twister = np.random.MT19937()
    twister.state = {
        "bit_generator": "MT19937",
        "state": {"key": np.array(key, np.uint32), "pos": 624},
    }
    high, low = twister.random_raw(2 * size).reshape(-1, 2).T * 2.0**-32
    return np.asarray(ndtri((np.floor(high * 2**27) + low) / 2**27))


def _spread(X: Array) -> Array:
    spread = X.std(axis=0, ddof=1)
    return np.where(spread > 0, spread, 1.0)


def _neighbours(
    links: Links, rng: np.random.Generator, at_both_ends: bool
) -> list[tuple[Any, Any]]:
    """Return for each point those whose links count at it, and the kinds: 0 for may, 1 for not."""
    kind = (links.kind != MAY).astype(np.int64)
    swap = rng.random(links.n_links) < 0.5
    here, there = np.where(swap, links.j, links.i), np.where(swap, links.i, links.j)
    if at_both_ends:
        here, there = np.append(here, there), np.append(there, here)
        kind = np.append(kind, kind)
    order = np.argsort(here, kind="stable")
    ends = np.searchsorted(here[order], np.arange(1, links.n))
    return list(zip(np.split(there[order], ends), np.split(kind[order], ends), strict=True))


def _weights(votes: dict[str, tuple[float, float]]) -> tuple[float, float]:
    """Return w of a may link and of a may-not link."""
    log = {name: digamma(pair) - digamma(sum(pair)) for name, pair in votes.items()}
    return log["p"][0] - log["q"][1], log["p"][1] - log["q"][0]


def _log_weights(sticks: Array) -> Array:
    """Return E log π."""
    broken, left = (digamma(sticks) - digamma(sticks.sum(axis=1))[:, None]).T
    return np.asarray(np.append(broken, 0.0) + np.append(0.0, np.cumsum(left)))


def _sticks(responsibilities: Array) -> Array:
    size = responsibilities.sum(axis=0)
    beyond = size[::-1].cumsum()[::-1]
    return np.column_stack([1.0 + size[:-1], 1.0 + beyond[1:]])


def _clusters(X: Array, responsibilities: Array) -> NormalWisharts:
    size = responsibilities.sum(axis=0)
    mean = responsibilities.T @ X / np.maximum(size, 1e-100)[:, None]
    gap = (X[:, None] - mean).transpose(1, 0, 2)
    scatter = (gap * responsibilities.T[:, :, None]).transpose(0, 2, 1) @ gap
    pull = (size / (1.0 + size))[:, None, None] * mean[:, :, None] * mean[:, None, :]
    scale = np.linalg.inv(np.eye(X.shape[1]) + scatter + pull)
    shrunk = mean * (size / (1.0 + size))[:, None]
    return NormalWisharts(shrunk, 1.0 + size, X.shape[1] + size, scale)


def _votes(
    links: Links, responsibilities: Array, prior: dict[str, tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    """Return the Beta factors of p and q."""
    same = (responsibilities[links.i] * responsibilities[links.j]).sum(axis=1)
    may = links.kind == MAY
    return {
        "p": (prior["p"][0] + same[may].sum(), prior["p"][1] + same[~may].sum()),
        "q": (prior["q"][0] + (1 - same)[~may].sum(), prior["q"][1] + (1 - same)[may].sum()),
    }
