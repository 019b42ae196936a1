r"""From a probability that two rows belong together to a link, and back.

The rule is the expected vote. A judge who says *may* with probability p and *may-not* with 1 − p
casts on average

.. math:: p \cdot (+1) + (1 - p) \cdot (-1) = 2p - 1

votes: the sign is the kind of the link, the size its weight. So p = ½ says nothing and makes no
link, p = 0.9 makes a may link of weight 0.8, and p = 0 and 1 make a link of weight 1, what a plain
link has.

Log-odds, ln(p / (1 − p)), are the other rule in use. Near ½ both are the same but for a factor of
2. They differ near 0 and 1, where log-odds grow without end: there one pair at p = 0.999999 would
outvote six at 0.9, though such figures are the least trustworthy part of what classifiers and
language models report. How far a source is to be believed is learned by the model from all its
links; the weight says only how much of a vote this link is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from maylink.errors import LinkFileError, LinksError
from maylink.links import MAY, MAY_NOT, Links


def vote(probability: float) -> tuple[int, float]:
    """Return kind and weight of a link from the probability that two rows belong together.

    Examples
    --------
    >>> vote(0.75), vote(0.0), vote(0.5)
    ((1, 0.5), (-1, 1.0), (-1, 0.0))
    """
    votes = 2.0 * probability - 1.0
    return (MAY if votes > 0 else MAY_NOT), abs(votes)


def by_confidence(links: Links, cuts: Sequence[float] = (0.5,)) -> Links:
    """Return whole votes, the confidence of each a part of its source: so it is calibrated.

    A source that gives probabilities may be surer than it should be, or less sure. Taken as
    weights, its probabilities are believed in proportion. Here the links of a source are parted by
    their weight, and each part is a source of its own, whose p and q are learned like any other's;
    what the parts share is learned, too. Unsure answers have no kind, so that they stay left out.

    Parameters
    ----------
    links : Links
        Weights from 0 to 1, as :func:`vote` makes them: 2p − 1 of a probability p.
    cuts : sequence of float, default (0.5,)
        Weights at which parts end, rising, between 0 and 1: .5 parts probabilities from .25 to .75
        from those nearer to 0 and 1.

    Returns
    -------
    Links
        With weights of 1, and sources whose names say how sure their links are.

    Examples
    --------
    >>> import maylink as ml
    >>> links = ml.Links(3, [0, 0], [1, 2], [1, -1], weight=[0.9, 0.2], source=["bot", "bot"])
    >>> ml.by_confidence(links).sources
    ('bot, 50% to 75% sure', 'bot, 75% to 100% sure')
    """
    edges = np.asarray(cuts, np.float64)
    inside = edges.ndim == 1 and edges.size and np.all((edges > 0.0) & (edges < 1.0))
    if not inside or np.any(np.diff(edges) <= 0.0):
        raise LinksError(f"cuts: {cuts!r} are not rising numbers between 0 and 1")
    part = np.searchsorted(edges, unit_weights(links), side="right")
    key = links.source.astype(np.int64) * (edges.size + 1) + part
    used, code = np.unique(key, return_inverse=True)
    sure = 0.5 + 0.5 * np.concatenate([[0.0], edges, [1.0]])
    words = [f"{low:.3g}% to {high:.3g}% sure" for low, high in pairwise((100.0 * sure).tolist())]
    owner, level = used // (edges.size + 1), used % (edges.size + 1)
    sources = tuple(
        f"{links.sources[one]}, {words[at]}" for one, at in zip(owner, level, strict=True)
    )
    whole = Links(links.n, links.i, links.j, links.kind)
    return whole.with_sources(code, sources)


def probabilities(links: Links) -> NDArray[np.float64]:
    """Return for each link the probability of may that :func:`vote` turns into that link."""
    return 0.5 * (1.0 + links.kind * unit_weights(links))


def unit_weights(links: Links) -> NDArray[np.float64]:
    """Return the weights, none of which may exceed 1."""
    over = links.weight > 1
    if over.any():
        at = int(np.argmax(over))
        raise LinkFileError(
            f"links: weight[{at}] = {links.weight[at]:g}; this format holds weights up to 1: "
            "divide all weights by the largest, or write a table"
        )
    return links.weight
