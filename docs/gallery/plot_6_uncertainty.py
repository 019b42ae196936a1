"""
How sure is the partition?
==========================

The sampler draws whole partitions from the posterior. How often two points share a cluster is their
co-clustering probability; the credible ball holds 95% of the draws around the point estimate.
"""

import matplotlib.pyplot as plt
import numpy as np

import maylink as ml

rng = np.random.default_rng(1)
X = np.concatenate(
    [rng.normal(at, 0.55, (40, 2)) for at in ((0, 0), (1.5, 0.4), (4, 0), (4.6, 2.2))]
)
y = np.repeat(np.arange(4), 40)
links = ml.sample_links(y, rate=1 / 160, accuracy=0.9, rng=0)
model = ml.TVClust(
    "gaussian",
    covariance="spherical",
    data_weight=1,
    inference=ml.Gibbs(n_draws=300),
    random_state=0,
).fit(X, links=links)
k, times = np.unique(model.draws_.n_clusters, return_counts=True)
print("clusters:", dict(zip(k.tolist(), (times / times.sum()).round(2).tolist(), strict=True)))

# %%
# Rows and columns of the matrix are ordered by cluster, and inside by place. White blocks are sure;
# grey between two blocks is doubt about where one ends.

order = np.lexsort((X[:, 0], model.labels_))
fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
ml.plots.plot_partition(X, model.labels_, title="point estimate", ax=left)
image = right.imshow(model.coclustering()[np.ix_(order, order)], cmap="magma", vmin=0, vmax=1)
right.set(xticks=[], yticks=[], title="P(same cluster)")
fig.colorbar(image, ax=right)
plt.show()

# %%
# The credible ball: draws with the fewest and with the most clusters inside it, and the furthest.

ball = model.credible_ball()
print(f"95% of the draws are within {ball.radius:.2f} nats of the estimate")
fig, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
for ax, name in zip(axes, ("coarsest", "finest", "furthest"), strict=True):
    labels = getattr(ball, name)
    away = ml.partitions.distance(labels, model.labels_)
    title = f"{name}: {labels.max() + 1} clusters, {away:.2f} nats away"
    ml.plots.plot_partition(X, labels, title=title, ax=ax)
plt.show()
