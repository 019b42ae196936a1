"""What wrong links do to RDP-means, by what is kept of a run.

Compared are the most probable partition of all sweeps (``keep="probability"``) and the last
partition of the run with the least objective (``keep="objective"``, the paper's rule), on draws
from the model itself, where the family fits, and on the six patterns, most of which no Gaussian
fits.

Paper: not in it. Protocol: ``stated``, 4 and 15 links a point, of which up to 30% are wrong.
Command: ``python -m maylink.experiments.wrong_links``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from maylink.datasets import PATTERNS, Dataset, make_pattern, make_two_view, sample_links
from maylink.estimators import DPMeans, RDPMeans
from maylink.experiments.tables import print_tables
from maylink.metrics import pair_f

if TYPE_CHECKING:
    import pandas as pd

TITLE = "What wrong links do to RDP-means"
WRONG = (0.0, 0.1, 0.2, 0.3)
LINKS_PER_POINT = (4, 15)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiment and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=12, help="draws from the model, and patterns")
    parser.add_argument("--points", type=int, default=300)
    options = parser.parse_args(arguments)
    print_tables(tables(options.draws, options.points))


def tables(draws: int, points: int) -> dict[str, pd.DataFrame]:
    """Return mean F for both rules, and without links."""
    caption = f"{draws} draws of {points} points a row; mean F over the pairs without links"
    return {caption: mean_f(draws, points)}


def mean_f(draws: int, points: int) -> pd.DataFrame:
    """Return mean F by data, links a point and proportion of wrong links."""
    import pandas as pd
    from tqdm import tqdm

    rows = []
    for kind, seed, data in tqdm(list(_data(draws, points)), disable=None, leave=False):
        without = DPMeans(random_state=seed).fit(data.X).labels_
        for per_point in LINKS_PER_POINT:
            for wrong in WRONG:
                links = sample_links(data.y, per_point / len(data.y), 1.0 - wrong, rng=seed)
                row = {"data": kind, "links a point": per_point, "wrong": wrong}
                row["no links"] = pair_f(data.y, without, unlinked=links)
                for keep in ("probability", "objective"):
                    model = RDPMeans(link_weight=None, keep=keep, random_state=seed).fit(
                        data.X, links=links
                    )
                    row[f"keep {keep}"] = pair_f(data.y, model.labels_, unlinked=links)
                rows.append(row)
    return pd.DataFrame(rows).groupby(["data", "links a point", "wrong"]).mean()


def _data(draws: int, points: int) -> Iterator[tuple[str, int, Dataset]]:
    for seed in range(draws):
        draw = make_two_view(points, 4, rng=seed)
        yield "from the model", seed, Dataset("model", draw.X, draw.y, (), "simulated")
        yield "patterns", seed, make_pattern(PATTERNS[seed % len(PATTERNS)], points, rng=seed)


if __name__ == "__main__":
    main()
