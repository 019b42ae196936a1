"""What choosing by held-out links costs: a fit that chooses its settings, and one that has them."""

from maylink import RDPMeans, TVClust
from maylink.datasets import make_two_view
from maylink.runtime.threads import thread_count
from timing import markdown, seconds, verdict

SIZES = [(500, 8), (5_000, 8), (5_000, 30)]
LIMIT = 10.0
REPEATS = 3


def table():
    rows = []
    for n, d in SIZES:
        draw = make_two_view(n, d, alpha=2.0, rng=1)
        for name, chooses, fixed in (pair(TVClust, draw), pair(RDPMeans, draw)):
            long, short = [], []
            for _ in range(REPEATS):
                long.append(seconds(lambda: chooses.fit(draw.X, links=draw.links)))  # noqa: B023
                short.append(seconds(lambda: fixed.fit(draw.X, links=draw.links)))  # noqa: B023
            ratio = verdict(min(long) / min(short), LIMIT)
            clusters = f"{chooses.n_clusters_} of {draw.y.max() + 1}"
            rows.append(
                (name, f"{n:,}", d, draw.links.n_links, clusters, f"{min(short):.2f}",
                 f"{min(long):.2f}", ratio)
            )  # fmt: skip
    columns = (
        "estimator", "n", "d", "links", "clusters", "fixed, s", "chooses, s", "ratio (10 asked)",
    )  # fmt: skip
    title = f"Choosing settings by held-out links, {thread_count(None)} threads"
    return markdown(title, columns, rows)


def pair(cls, draw):
    """The estimator as it is, and one with the settings that the first chose."""
    chooses = cls(random_state=0).fit(draw.X, links=draw.links)
    if cls is TVClust:
        fixed = TVClust(chooses.family_, data_weight=chooses.data_weight_, random_state=0)
    else:
        fixed = RDPMeans(cluster_penalty=chooses.cluster_penalty_, link_weight=None, random_state=0)
    return cls.__name__, chooses, fixed


if __name__ == "__main__":
    print(table())
