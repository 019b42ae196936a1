"""Makes a table as people have them, clusters it by one command, and measures the clusters.

    python docs/scripts/mixed_table.py [FOLDER] [--seeds 0 1 2] [--people]

The table is simulated: 1,000 customers of four groups, three numbers, a count, three categories,
yes or no, a date, an id and a telephone number; a cell in ten is empty. There are 1,500 links, a
tenth of them wrong. Beside maylink's clusters stand those of K-means, which is told the number of
groups, on columns coded one-hot, gaps filled with the median or the commonest word, standardised.

With ``--people`` the table holds 600 records of 250 people, with slips of the pen: names, dates of
birth and towns in one line of text, and a telephone number. These must be set aside: what is near
in them says nothing. No column is left then, and the command says so in place of an answer.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from maylink.datasets.records import draw_records

N, GROUPS, LINKS, GAPS, WRONG = 1000, 4, 1500, 0.1, 0.1
SPREAD = 2.0  # deviation of the groups' means, in deviations inside a group


def make_table(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the table and the true groups."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, GROUPS, N)
    numbers = rng.normal(0, SPREAD, (GROUPS, 3))[y] + rng.normal(size=(N, 3))
    days = rng.normal(0, 300 * SPREAD, GROUPS)[y] + rng.normal(0, 300, N)
    frame = pd.DataFrame(
        {
            "customer": [f"C{number:05d}" for number in rng.choice(99_999, N, replace=False)],
            "phone": rng.integers(10**8, 10**9, N),
            "income": (30_000 + 5000 * numbers[:, 0]).round(-1),
            "height": (1.7 + 0.05 * numbers[:, 1]).round(2),
            "score": numbers[:, 2].round(3),
            "visits": rng.poisson(rng.gamma(2.0, 2.5, GROUPS)[y]),
            "smokes": np.where(rng.random(N) < rng.beta(0.7, 0.7, GROUPS)[y], "yes", "no"),
            "joined": (pd.Timestamp("2019-01-01") + pd.to_timedelta(days.round(), unit="D"))
            .strftime("%Y-%m-%d")
            .to_numpy(),
        }
    )
    for name, count in (("colour", 4), ("plan", 3), ("region", 6)):
        share = rng.dirichlet(np.full(count, 0.7), GROUPS)
        frame[name] = [f"{name}-{rng.choice(count, p=share[group])}" for group in y]
    gaps = rng.random(frame.shape) < GAPS
    gaps[:, :2] = False
    return frame.mask(gaps), y


def make_people(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return records of people with slips of the pen, and who is who."""
    texts, y = draw_records(600, 250, rng=seed)
    rng = np.random.default_rng(seed)
    phone = rng.integers(10**8, 10**9, int(y.max()) + 1)[y]
    slips = rng.random(len(y)) < 0.3
    phone[slips] += 10 ** rng.integers(0, 8, int(slips.sum()))
    record = [f"r{row}" for row in range(len(y))]
    return pd.DataFrame({"record": record, "who": texts, "phone": phone}), y


def make_links(y: np.ndarray, seed: int, names: pd.Series) -> pd.DataFrame:
    """Return links between random pairs, some of them wrong."""
    rng = np.random.default_rng(seed + 1000)
    i = rng.integers(0, len(y), LINKS)
    j = (i + rng.integers(1, len(y), LINKS)) % len(y)
    may = (y[i] == y[j]) ^ (rng.random(LINKS) < WRONG)
    kinds = np.where(may, "may", "may-not")
    return pd.DataFrame({"i": names[i].to_numpy(), "j": names[j].to_numpy(), "kind": kinds})


def kmeans(frame: pd.DataFrame, seed: int) -> np.ndarray:
    """Return the clusters of K-means on one-hot and imputed columns."""
    data = frame.assign(joined=pd.to_datetime(frame["joined"]).astype("int64") / 8.64e13)
    data.loc[frame["joined"].isna(), "joined"] = np.nan
    words = ["smokes", "colour", "plan", "region"]
    numbers = ["income", "height", "score", "visits", "joined"]
    coded = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (
            make_pipeline(
                SimpleImputer(strategy="most_frequent"), OneHotEncoder(sparse_output=False)
            ),
            words,
        ),
    ).fit_transform(data)
    return KMeans(GROUPS, n_init=10, random_state=seed).fit_predict(coded)


def cluster(folder: Path, name: str, key: str, *more: str) -> np.ndarray | None:
    """Run the command and return the clusters; None where it refuses."""
    data, links, labels = (folder / f"{name}{end}.csv" for end in ("", "-links", "-labels"))
    words = [sys.executable, "-m", "maylink", "cluster", data, "--id", key, "--links", links]
    words += ["--out", labels, "--report", folder / f"{name}.html", "--no-contrast", "--force"]
    done = subprocess.run([*map(str, words), *more], check=False)
    return pd.read_csv(labels)["cluster"].to_numpy() if done.returncode == 0 else None


def write(folder: Path, name: str, frame: pd.DataFrame, y: np.ndarray, seed: int) -> None:
    """Write the table and its links."""
    frame.to_csv(folder / f"{name}.csv", index=False)
    links = make_links(y, seed, frame.iloc[:, 0])
    links.to_csv(folder / f"{name}-links.csv", index=False)


def main() -> None:
    """Make tables, cluster them, print a line each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default="tables", type=Path)
    parser.add_argument("--seeds", nargs="*", type=int, default=[0])
    parser.add_argument("--people", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    for seed in options.seeds:
        if options.people:
            frame, y = make_people(seed)
            write(options.folder, f"people-{seed}", frame, y, seed)
            cluster(options.folder, f"people-{seed}", "record")
            continue
        frame, y = make_table(seed)
        write(options.folder, f"mixed-{seed}", frame, y, seed)
        means = adjusted_rand_score(y, kmeans(frame, seed))
        for method in ("tvclust", "rdpmeans"):
            found = cluster(options.folder, f"mixed-{seed}", "customer", "--method", method)
            score = adjusted_rand_score(y, found)
            print(f"seed {seed}: {method} ARI {score:.3f}, {found.max() + 1} clusters; ", end="")
            print(f"K-means, told {GROUPS} groups: {means:.3f}", flush=True)


if __name__ == "__main__":
    main()
