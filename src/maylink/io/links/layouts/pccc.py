"""The constraint sets of the PCCC solver (pairwise-confidence-constraints clustering).

A JSON object with hard pairs ``ml`` and ``cl``, soft pairs ``sml`` and ``scl``, and ``sml_proba``
and ``scl_proba`` with a number in (0, 1] for each soft pair. The solver multiplies the penalty for
breaking a pair by that number, and its authors make their noisy sets with 2p − 1 of the probability
p that a pair is right. That is our weight (see :mod:`maylink.io.links.votes`), so it is taken as it
is. A hard pair is a link of weight 1: nothing is believed blindly here. All links are written as
soft pairs, since links may contradict each other and hard pairs must not.

References
----------
P. Baumann, D. S. Hochbaum. PCCC: the pairwise-confidence-constraints-clustering algorithm.
arXiv:2212.14437.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maylink.errors import LinkFileError
from maylink.io.links.collect import Collector
from maylink.io.links.content import Content, JsonContent
from maylink.io.links.layouts.base import LinkLayout, Options
from maylink.io.links.layouts.pairs import each_pair
from maylink.io.links.votes import unit_weights
from maylink.links import MAY, MAY_NOT, Links

SOFT = {"sml": MAY, "scl": MAY_NOT}
HARD = {"ml": MAY, "cl": MAY_NOT}


class PcccLayout(LinkLayout):
    """Hard and soft pairs."""

    name = "pccc"
    looks = "a JSON object with ml, cl, sml, scl, sml_proba, scl_proba (PCCC)"
    reads = (JsonContent,)
    containers = ("json",)
    keeps_sources = False

    def fits(self, content: Content, options: Options) -> bool:
        """Say whether there are soft pairs."""
        return isinstance(content, JsonContent) and any(key in content.value for key in SOFT)

    def read(self, content: JsonContent, into: Collector, options: Options) -> Links:
        """Read hard and soft pairs; a soft pair of confidence 0 is left out."""
        for key, kind in HARD.items():
            for place, (i, j) in each_pair(key, content.value.get(key, []), into):
                into.add(place, i, j, kind)
        for key, kind in SOFT.items():
            pairs, weights = content.value.get(key, []), content.value.get(f"{key}_proba", [])
            if not isinstance(weights, list) or len(weights) != len(pairs):
                raise LinkFileError(
                    f"{into.name}: '{key}_proba' must be a list with one number for each pair "
                    f"of {key!r}"
                )
            for (place, (i, j)), value in zip(each_pair(key, pairs, into), weights, strict=True):
                weight = into.number(value, place, f"{key}_proba")
                if not 0 <= weight <= 1:
                    into.fail(place, f"{key}_proba = {weight:g} is not between 0 and 1")
                if weight == 0:
                    into.drop()
                else:
                    into.add(place, i, j, kind, weight)
        return into.links()

    def render(self, links: Links, rows: Sequence[Any]) -> JsonContent:
        """Write all links as soft pairs."""
        weights = unit_weights(links)
        lists: dict[str, Any] = {"ml": [], "cl": []}
        for key, pairs in (("sml", links.may), ("scl", links.may_not)):
            lists[key] = [[rows[i], rows[j]] for i, j in pairs.tolist()]
        for key, kind in SOFT.items():
            lists[f"{key}_proba"] = weights[links.kind == kind].tolist()
        return JsonContent(lists)
