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
        Of sources that are labels it deals out labels: a fold fits on no link of a label that it
        holds out, for each would tell the others. Every link is held out once.
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
        deal = _by_link if self.by == "link" else _by_point
        for number, (seen, out) in enumerate(deal(links, int(self.n_folds), rng)):
            if not out.any() or not seen.any():
                raise MaylinkError(
                    f"links: {links.n_links} links do not fill {self.n_folds} folds; fold "
                    f"{number + 1} would have {int(out.sum())} to hold out and {int(seen.sum())} "
                    "to fit on"
                )
            train = links.chosen(seen, links.n)
            yield Fold(_with_whole_votes(train, links), links.chosen(out, links.n))


def _with_whole_votes(train: Links, links: Links) -> Links:
    """Let a label share its vote out among the links of the labels that are left."""
    of_labels = links.of_labels()
    if not of_labels.any():
        return train
    n_labels = np.union1d(links.i[of_labels], links.j[of_labels]).size
    seen = train.of_labels()
    n_left = np.union1d(train.i[seen], train.j[seen]).size
    factor = n_labels / max(n_left, 1)
    return train.with_weights(np.where(seen, factor * train.weight, train.weight))


def n_judgements(links: Links) -> int:
    """Return how many judgements links hold: linked pairs, and labels of sources that are labels.

    Parameters
    ----------
    links : Links
        The links.
    """
    labelled = links.of_labels()
    pairs = np.unique(links.pair_keys[~labelled]).size
    source, ends = links.source[labelled].astype(np.int64), (links.i[labelled], links.j[labelled])
    labels = np.unique(np.concatenate([source * links.n + end for end in ends])).size
    return int(pairs + labels)


Masks = list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]  # of each fold: to fit on, held out


def _by_link(links: Links, n_folds: int, rng: np.random.Generator) -> Masks:
    """Deal pairs out, one kind and source after the other; of sources that are labels, points."""
    fold_of_link = _deal_pairs(links, n_folds, rng)
    labelled = links.of_labels()
    if not labelled.any():
        return [(fold_of_link != number, fold_of_link == number) for number in range(n_folds)]
    i, j = links.i[labelled], links.j[labelled]
    points = np.union1d(i, j)
    fold = np.full(links.n, -1)
    fold[rng.permutation(points)] = np.arange(points.size) % n_folds
    # A link between labels of two folds is in the training links of neither, and held out in one.
    fold_of_link[labelled] = np.where(rng.random(i.size) < 0.5, fold[i], fold[j])
    masks = []
    for number in range(n_folds):
        seen = fold_of_link != number
        seen[labelled] = (fold[i] != number) & (fold[j] != number)
        masks.append((seen, fold_of_link == number))
    return masks


def _deal_pairs(links: Links, n_folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the fold of each link; all links on a pair have one."""
    _, first, place = np.unique(links.pair_keys, return_index=True, return_inverse=True)
    mixed = rng.permutation(first.size)
    layer = 2 * links.source[first[mixed]] + (links.kind[first[mixed]] == MAY)
    order = mixed[np.argsort(layer, kind="stable")]
    fold = np.empty(first.size, np.int64)
    fold[order] = np.arange(first.size) % n_folds
    return np.asarray(fold[place])


def _by_point(links: Links, n_folds: int, rng: np.random.Generator) -> Masks:
    """Deal points out, those with links; hold out every link of theirs."""
    linked = np.flatnonzero(links.degree)
    fold = np.full(links.n, -1)
    fold[rng.permutation(linked)] = np.arange(linked.size) % n_folds
    held = [
        np.asarray((fold[links.i] == number) | (fold[links.j] == number))
        for number in range(n_folds)
    ]
    return [(~out, out) for out in held]
