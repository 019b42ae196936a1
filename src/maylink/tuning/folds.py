"""Folds of links: which to fit on and which to hold out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.errors import MaylinkError
from maylink.links import MAY, Links

WAYS = ("link", "point")


class Fold(NamedTuple):
    """Links to fit on and links held out."""

    train: Links
    test: Links


class LinkFolds:
    """Divides links into folds, each held out once.

    Parameters
    ----------
    n_folds : int, default 4
        How many.
    by : {"link", "point"}, default "link"
        ``"link"`` deals out pairs, alike in kind and source: all links on a pair are held out
        together, for one would tell the others. What a fit knows about a pair through *other* links
        of its points counts, as it does for the pairs without a link that a user asks about.
        ``"point"`` deals out points and holds out every link of theirs, so that nothing but the
        data can predict these: an honest estimate for points that come without links. A link
        between points of two folds is then held out twice.
    random_state : int or Generator, optional
        Seed of the dealing; the same seed, the same folds.

    Examples
    --------
    >>> from maylink import Links
    >>> from maylink.tuning import LinkFolds
    >>> links = Links.from_pairs(may=[(0, 1), (1, 2), (3, 4)], may_not=[(0, 3), (2, 4)], n=5)
    >>> [fold.test.n_links for fold in LinkFolds(2, random_state=0).split(links)]
    [3, 2]
    """

    def __init__(self, n_folds: int = 4, by: str = "link", random_state: Any = None) -> None:
        self.n_folds = n_folds
        self.by = by
        self.random_state = random_state

    def split(self, links: Links) -> Iterator[Fold]:
        """Yield the folds.

        Parameters
        ----------
        links : Links
            At least as many as folds.
        """
        if self.by not in WAYS:
            raise MaylinkError(f"by: {self.by!r} is not one of 'link', 'point'")
        if not isinstance(self.n_folds, (int, np.integer)) or self.n_folds < 2:
            raise MaylinkError(f"n_folds: {self.n_folds!r} is not a whole number of at least 2")
        rng = np.random.default_rng(self.random_state)
        held = (
            self._held_by_link(links, rng)
            if self.by == "link"
            else _by_point(links, int(self.n_folds), rng)
        )
        for number, out in enumerate(held):
            if not out.any() or out.all():
                raise MaylinkError(
                    f"links: {links.n_links} links do not fill {self.n_folds} folds; fold "
                    f"{number + 1} would have {int(out.sum())} to hold out"
                )
            yield Fold(links.chosen(~out, links.n), links.chosen(out, links.n))

    def _held_by_link(self, links: Links, rng: np.random.Generator) -> list[NDArray[np.bool_]]:
        """Deal pairs out, one kind and source after the other."""
        _, first, place = np.unique(links.pair_keys, return_index=True, return_inverse=True)
        mixed = rng.permutation(first.size)
        layer = 2 * links.source[first[mixed]] + (links.kind[first[mixed]] == MAY)
        order = mixed[np.argsort(layer, kind="stable")]
        fold = np.empty(first.size, np.int64)
        fold[order] = np.arange(first.size) % int(self.n_folds)
        return [fold[place] == number for number in range(int(self.n_folds))]


def _by_point(links: Links, n_folds: int, rng: np.random.Generator) -> list[NDArray[np.bool_]]:
    """Deal points out, those with links; hold out every link of theirs."""
    linked = np.flatnonzero(links.degree)
    fold = np.full(links.n, -1)
    fold[rng.permutation(linked)] = np.arange(linked.size) % n_folds
    return [
        np.asarray((fold[links.i] == number) | (fold[links.j] == number))
        for number in range(n_folds)
    ]
