"""
Links say what the data cannot
==============================

Two moons: to a mixture of ellipses they are several clusters. Links about pairs say that they are
two, although one link in ten is wrong.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import maylink as ml

data = ml.datasets.make_pattern("moons", n=300, rng=0)
X = data.X
links = ml.sample_links(data.y, rate=10 / 300, accuracy=0.9, rng=0)
print(links)

# %%
# Three partitions: K-means is given the number of clusters. TVClust is given nothing at first, and
# then the links.

partitions = {
    "K-means, k = 2 given": KMeans(2, n_init=10, random_state=0).fit(X).labels_,
    "TVClust, no links": ml.TVClust(random_state=0).fit(X).labels_,
    "TVClust, links": ml.TVClust(random_state=0).fit(X, links=links).labels_,
}

# %%
# One link in six is drawn in the last picture; wrong ones are red.

wrong = (links.kind == 1) != (data.y[links.i] == data.y[links.j])
sample = np.arange(links.n_links) % 6 == 0
fig, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
for ax, (name, labels) in zip(axes, partitions.items(), strict=True):
    F = ml.metrics.pair_f(data.y, labels)
    title = f"{name}\n{len(np.unique(labels))} clusters, F = {F:.2f}"
    ml.plots.plot_partition(data.X, labels, title=title, ax=ax)
for subset, colour, alpha in ((sample & ~wrong, "#808080", 0.3), (sample & wrong, "#B00020", 0.7)):
    ml.plots.plot_partition(
        X,
        partitions["TVClust, links"],
        links=links.chosen(np.flatnonzero(subset), n=len(X)),
        link_colour=colour,
        link_alpha=alpha,
        ax=axes[2],
    )
plt.show()
