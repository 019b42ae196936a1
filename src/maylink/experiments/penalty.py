"""The cluster penalty that is chosen without k, against one that is told k.

Data and links are drawn from the model itself, for every family. Compared is the F of RDP-means
with the penalty chosen from the data, with the penalty of furthest-first told the true k, and with
the best penalty of the penalty path in hindsight.

Paper: not in it. Protocol: none; links come from the model, 0 and 4 a point.
Command: ``python -m maylink.experiments.penalty``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from maylink.datasets import TwoView, make_two_view
from maylink.estimators import RDPMeans
from maylink.experiments.tables import print_tables
from maylink.families import Family, Product, all_families
from maylink.metrics import pair_f

if TYPE_CHECKING:
    import pandas as pd

TITLE = "The penalty chosen from the data"
N_FEATURES = 4


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiment and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20, help="draws a family")
    parser.add_argument("--points", type=int, default=300)
    families = sorted(all_families())
    parser.add_argument("--families", nargs="+", choices=families, default=families)
    options = parser.parse_args(arguments)
    print_tables(tables(options.draws, options.points, options.families))


def tables(draws: int, points: int, families: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return mean F by family and links for the three ways to set the penalty."""
    caption = f"{draws} draws of {points} points with {N_FEATURES} features; mean F"
    return {caption: mean_f(draws, points, families)}


def mean_f(draws: int, points: int, families: Sequence[str]) -> pd.DataFrame:
    """Return mean F by family and links a point."""
    import pandas as pd
    from tqdm import tqdm

    cases = [
        (name, links_per_point, seed)
        for name in families
        for links_per_point in (0, 4)
        for seed in range(draws)
    ]
    rows = []
    for name, links_per_point, seed in tqdm(cases, disable=None, leave=False):
        family = _example(name)
        draw = make_two_view(
            points, N_FEATURES, family=family, links_per_point=links_per_point, rng=seed
        )
        model = _fit(draw, family, seed)
        hinted = _fit(draw, family, seed, n_clusters_hint=int(draw.y.max()) + 1)
        path = [
            _fit(draw, family, seed, cluster_penalty=step.penalty) for step in model.penalty_path_
        ]
        rows.append(
            {
                "family": name,
                "links a point": links_per_point,
                "chosen from the data": pair_f(draw.y, model.labels_),
                "told k": pair_f(draw.y, hinted.labels_),
                "best of the path in hindsight": max(pair_f(draw.y, fit.labels_) for fit in path),
            }
        )
    return pd.DataFrame(rows).groupby(["family", "links a point"]).mean()


def _example(name: str) -> Family:
    if name == "product":
        return Product([("diagonal-gaussian", [0, 1]), ("bernoulli", [2]), ("poisson", [3])])
    return all_families()[name]()


def _fit(draw: TwoView, family: Family, seed: int, **options: float) -> RDPMeans:
    model = RDPMeans(family, link_weight=None, n_init=1, random_state=seed, **options)  # type: ignore[arg-type]
    return model.fit(draw.X, links=draw.links)


if __name__ == "__main__":
    main()
