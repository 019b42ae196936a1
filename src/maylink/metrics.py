"""How well a partition agrees with the truth, and with the links.

Pair scores look at all pairs of points: a pair is *positive* when the truth puts it together and
*predicted* when the clustering does. They can be restricted to the pairs that carry no link:
counting linked pairs too gives every method that obeys links a higher score.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maylink.errors import MaylinkError
from maylink.labels import complete_codes, crossed
from maylink.link_forms import as_links
from maylink.links import MAY, Links
from maylink.pairs import distinct

NORMALIZATIONS = ("arithmetic", "geometric", "min", "max")


class PairCounts(NamedTuple):
    """Pairs by truth and prediction.

    Examples
    --------
    >>> from maylink.metrics import pair_counts
    >>> pair_counts([0, 0, 1], [0, 0, 1]).apart
    2
    """

    together: int  # together in both
    only_predicted: int  # together in the clustering alone
    only_true: int  # together in the truth alone
    apart: int  # apart in both


def pair_counts(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, unlinked: Any = None
) -> PairCounts:
    """Count pairs of points by whether truth and clustering put them together.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Two partitions; what the labels are called does not matter. Points whose true label is
        masked, in an array of ``numpy.ma``, are left out.
    unlinked : Links, or what stands for links, optional
        Leave out the pairs that carry one of these links.

    Returns
    -------
    PairCounts

    Examples
    --------
    >>> from maylink.metrics import pair_counts
    >>> pair_counts([0, 0, 1, 1], [0, 0, 0, 1])
    PairCounts(together=1, only_predicted=2, only_true=1, apart=2)
    """
    true, pred = _codes(labels_true, labels_pred)
    together = _pairs(crossed(true, pred)[2])
    true_pairs = _pairs(np.bincount(true))
    pred_pairs = _pairs(np.bincount(pred))
    n = true.size
    counts = np.array(
        [
            together,
            pred_pairs - together,
            true_pairs - together,
            n * (n - 1) // 2 - true_pairs - pred_pairs + together,
        ]
    )
    if unlinked is not None:
        links = as_links(unlinked, np.size(labels_pred))
        if isinstance(labels_true, np.ma.MaskedArray):
            links = links[_unmasked(labels_true)]
        counts -= _linked_counts(true, pred, links)
    return PairCounts(*(int(c) for c in counts))


def pair_precision(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, unlinked: Any = None
) -> float:
    """Return the fraction of predicted pairs that are true; 1 when nothing is predicted.

    Parameters are those of :func:`pair_counts`.

    Examples
    --------
    >>> from maylink.metrics import pair_precision
    >>> pair_precision([0, 0, 1, 1], [0, 0, 1, 2])
    1.0
    """
    c = pair_counts(labels_true, labels_pred, unlinked=unlinked)
    return _fraction(c.together, c.together + c.only_predicted)


def pair_recall(labels_true: ArrayLike, labels_pred: ArrayLike, *, unlinked: Any = None) -> float:
    """Return the fraction of true pairs that are predicted; 1 when there are none.

    Parameters are those of :func:`pair_counts`.

    Examples
    --------
    >>> from maylink.metrics import pair_recall
    >>> pair_recall([0, 0, 1, 1], [0, 0, 1, 2])
    0.5
    """
    c = pair_counts(labels_true, labels_pred, unlinked=unlinked)
    return _fraction(c.together, c.together + c.only_true)


def pair_f(labels_true: ArrayLike, labels_pred: ArrayLike, *, unlinked: Any = None) -> float:
    """Return the harmonic mean of pairwise precision and recall: the paper's F.

    Parameters are those of :func:`pair_counts`.

    Examples
    --------
    >>> from maylink.metrics import pair_f
    >>> pair_f([0, 0, 1, 1], [5, 5, 7, 7])
    1.0
    >>> pair_f([0, 0, 1, 1], [0, 0, 0, 1])
    0.4
    """
    c = pair_counts(labels_true, labels_pred, unlinked=unlinked)
    return _fraction(2 * c.together, 2 * c.together + c.only_predicted + c.only_true)


def adjusted_rand(labels_true: ArrayLike, labels_pred: ArrayLike, *, unlinked: Any = None) -> float:
    """Return the adjusted Rand index, which is Cohen's kappa over pairs; 1 for equal partitions.

    Parameters are those of :func:`pair_counts`.

    Examples
    --------
    >>> from maylink.metrics import adjusted_rand
    >>> adjusted_rand([0, 0, 1, 1], [5, 5, 7, 7])
    1.0
    >>> adjusted_rand([0, 0, 1, 1], [0, 1, 0, 1])
    -0.5
    """
    c = pair_counts(labels_true, labels_pred, unlinked=unlinked)
    if c.only_predicted == 0 and c.only_true == 0:
        return 1.0
    true, pred = c.together + c.only_true, c.together + c.only_predicted
    total = sum(c)
    # In whole numbers: the products outgrow 64 bits at a few ten thousand points.
    numerator = 2 * (c.together * c.apart - c.only_true * c.only_predicted)
    return float(numerator / (true * (total - pred) + pred * (total - true)))


def normalized_mutual_information(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, normalization: str = "geometric"
) -> float:
    """Return the mutual information divided by a mean of the two entropies.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Two partitions.
    normalization : {"geometric", "arithmetic", "min", "max"}, default "geometric"
        The mean; the paper's tables use the geometric one.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from maylink.metrics import normalized_mutual_information
    >>> round(normalized_mutual_information([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.816
    """
    from sklearn.metrics import normalized_mutual_info_score

    if normalization not in NORMALIZATIONS:
        raise MaylinkError(
            f"normalization: {normalization!r} is not one of {', '.join(NORMALIZATIONS)}"
        )
    true, pred = _codes(labels_true, labels_pred)
    return float(normalized_mutual_info_score(true, pred, average_method=normalization))


def link_agreement(labels: ArrayLike, links: Any) -> float:
    """Return the fraction of the links, by weight, that a partition obeys; 1 without links.

    Parameters
    ----------
    labels : array-like of shape (n,)
        A partition.
    links : Links, or what stands for links
        Links between its points.

    Returns
    -------
    float

    Examples
    --------
    >>> from maylink import Links
    >>> from maylink.metrics import link_agreement
    >>> link_agreement([0, 0, 1], Links.from_pairs(may=[(0, 1), (1, 2)], may_not=[(0, 2)], n=3))
    0.6666666666666666
    """
    codes = complete_codes(labels)
    links = as_links(links, codes.size)
    obeyed = (codes[links.i] == codes[links.j]) == (links.kind == MAY)
    return _fraction(float(links.weight[obeyed].sum()), float(links.weight.sum()))


def _codes(a: ArrayLike, b: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return both labellings as codes 0, 1, …, after a check that they have one length."""
    if isinstance(a, np.ma.MaskedArray) and a.size == np.size(b):
        a, b = a.data[_unmasked(a)], np.asarray(b)[_unmasked(a)]
    codes = [complete_codes(a, "labels_true"), complete_codes(b, "labels_pred")]
    if codes[0].size != codes[1].size:
        raise MaylinkError(
            f"labels_pred: {codes[1].size} labels, but labels_true has {codes[0].size}"
        )
    return codes[0], codes[1]


def _unmasked(labels: Any) -> NDArray[np.int64]:
    """Return the positions of labels that are not masked."""
    return np.flatnonzero(~np.ma.getmaskarray(labels))


def _pairs(sizes: NDArray[Any]) -> int:
    sizes = sizes.astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


def _linked_counts(
    true: NDArray[np.int64], pred: NDArray[np.int64], links: Links
) -> NDArray[np.int64]:
    """Count the pairs that carry a link, each pair once."""
    keys = distinct(links.pair_keys)
    i, j = keys // max(links.n, 1), keys % max(links.n, 1)
    same_true, same_pred = true[i] == true[j], pred[i] == pred[j]
    return np.array(
        [
            np.sum(same_true & same_pred),
            np.sum(~same_true & same_pred),
            np.sum(same_true & ~same_pred),
            np.sum(~same_true & ~same_pred),
        ]
    )


def _fraction(part: float, whole: float) -> float:
    """Return part / whole; 1 where there is nothing to divide."""
    return float(part / whole) if whole else 1.0
