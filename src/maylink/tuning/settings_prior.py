"""How probable settings are before links are seen: learnt from simulated data only.

A few links say little about settings, and the best of many candidates is then the luckiest. So
candidates have prior probabilities, which held-out links overrule as they become many: a candidate
must predict them better by the nats that it lacks.

Of data of many features, settings are as probable as they were good without links on simulated
embeddings, texts, records, images and blobs (``python benchmarks/settings.py grid`` prints
:data:`MEAN_F`). Of other data, the choice that was made without links is the most probable one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

MEAN_F = {
    (0, 1.0): 0.583, (0, 0.3): 0.555, (0, 0.1): 0.366, (0, 0.03): 0.151,
    (10, 1.0): 0.687, (10, 0.3): 0.763, (10, 0.1): 0.768, (10, 0.03): 0.576,
    (20, 1.0): 0.703, (20, 0.3): 0.787, (20, 0.1): 0.770, (20, 0.03): 0.583,
}  # fmt: skip
"""Mean F without links, by number of neighbours and data weight."""

USUAL = max(MEAN_F, key=MEAN_F.__getitem__)
"""Number of neighbours and data weight of data of many features without links."""

NATS = 50.0  # for all of F: who loses a tenth of it on simulated data must gain 5 nats by links
OTHER_FAMILY = 4.0  # nats that links must prefer another family by
LEAST = 1e-6  # data weight that is told from 0
OTHER_SETTING = 1.0  # nats, for another number of neighbours or half a decade of data weight


class Setting(Protocol):
    """What all candidates say."""

    @property
    def family(self) -> str:
        """What the data are."""

    @property
    def data_weight(self) -> float:
        """How much the data count."""

    @property
    def neighbours(self) -> int:
        """How many neighbours of each point are links."""


S = TypeVar("S", bound=Setting)
Prior = Callable[[Any], float]


def usual_setting(tried: Sequence[S]) -> S:
    """Return the most probable of the candidates, for data of many features without links."""
    return max(tried, key=of_many_features(tried[0].family))


def of_many_features(family: str) -> Prior:
    """Return the prior for data of many features, where one family is the usual one."""
    best = max(MEAN_F.values())

    def nats(one: Setting) -> float:
        nearest = min(MEAN_F, key=lambda setting: _apart(one, *setting))
        return NATS * (MEAN_F[nearest] - best) - OTHER_FAMILY * (one.family != family)

    return nats


def around(usual: Setting) -> Prior:
    """Return the prior whose most probable candidate was chosen without links."""

    def nats(one: Setting) -> float:
        weights = max(one.data_weight, LEAST), max(usual.data_weight, LEAST)
        steps = 2.0 * abs(np.log10(weights[0]) - np.log10(weights[1]))
        steps += float(one.neighbours != usual.neighbours)
        return float(-OTHER_FAMILY * (one.family != usual.family) - OTHER_SETTING * steps)

    return nats


def _apart(one: Setting, neighbours: int, data_weight: float) -> float:
    """Return how far a candidate is from a setting; the number of neighbours counts first."""
    counts = abs(np.log1p(one.neighbours) - np.log1p(neighbours))
    weights = abs(np.log(max(one.data_weight, LEAST) / data_weight))
    return float(100.0 * counts + weights)
