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

import numpy as np
from numpy.typing import NDArray

from maylink.errors import LinkFileError
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
