"""
New points
==========

A fitted model gives every place a cluster and a probability. Links of a new point to old ones
count, too.
"""

import matplotlib.pyplot as plt
import numpy as np

import maylink as ml

data = ml.datasets.make_pattern("blobs", n=250, rng=0)
X = data.X
links = ml.sample_links(data.y, rate=2 / 250, accuracy=0.9, rng=0)
model = ml.TVClust(random_state=0).fit(X, links=links)

# %%
# One new point lies between two clusters. A link says that it may belong with a point of one of
# them, and the probability follows.

first, second = np.argsort(-np.bincount(model.labels_))[:2]
centers = model.cluster_centers_[[first, second]]
between = np.linspace(*centers, 400)
sure = model.predict_proba(between)[:, [first, second]]
new = between[[np.abs(sure[:, 0] - sure[:, 1]).argmin()]]
friend = int(np.flatnonzero(model.labels_ == second)[0])
link = ml.Links.from_pairs(may=[(friend, len(X))], n=len(X) + 1)
before = model.predict_proba(new)[0, [first, second]]
after = model.predict_proba(new, links=link)[0, [first, second]]
print("without the link", before.round(2), "with it", after.round(2))

# %%
# The plane, in the colour of the most probable cluster, pale where that is unsure. The star is the
# new point, the line its link.

low, high = X.min(axis=0) - 1, X.max(axis=0) + 1
across, up = np.meshgrid(np.linspace(low[0], high[0], 300), np.linspace(low[1], high[1], 300))
probabilities = model.predict_proba(np.column_stack([across.ravel(), up.ravel()]))
order = np.argsort(np.argsort(-np.bincount(model.labels_), kind="stable"))
colours = np.array([plt.matplotlib.colors.to_rgb(c) for c in ml.plots.COLOURS])[order]
certainty = np.clip((probabilities.max(axis=1) - 0.5) * 2, 0, 1)
picture = np.dstack(
    [
        colours[probabilities.argmax(axis=1)].reshape(*across.shape, 3),
        0.4 * certainty.reshape(across.shape),
    ]
)
fig, ax = plt.subplots(figsize=(7, 5), layout="constrained")
extent = (low[0], high[0], low[1], high[1])
ax.imshow(picture, origin="lower", extent=extent, aspect="auto")
ml.plots.plot_partition(X, model.labels_, ax=ax)
ax.plot(*np.stack([new[0], X[friend]]).T, color="black", lw=1.2)
ax.plot(*new[0], "*", color="black", ms=15)
ax.set_title(f"the star, without its link: {before.max():.0%} sure; with it: {after.max():.0%}")
plt.show()
