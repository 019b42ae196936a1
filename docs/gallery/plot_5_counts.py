"""
Counts: digits as ink
=====================

The pixels of scikit-learn's digits are amounts of ink from 0 to 16: counts. A multinomial compares
their proportions. A centre is then a picture.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import maylink as ml

X, y = load_digits(n_class=6, return_X_y=True)
X, y = X[:600], y[:600]
links = ml.sample_links(y, rate=6 / 600, accuracy=0.95, rng=0)
print(links)

# %%
# Without links, and with six links a picture of which one in twenty is wrong. Hundreds of units of
# ink in each picture are strong evidence, and small differences of handwriting become clusters;
# links join them.

alone = ml.RDPMeans("multinomial", random_state=0).fit(X)
model = ml.RDPMeans("multinomial", random_state=0).fit(X, links=links)
for name, each in (("no links", alone), ("links", model)):
    F = ml.metrics.pair_f(y, each.labels_)
    print(f"{name}: {each.n_clusters_} clusters, F = {F:.3f}")

# %%
# The centres of the clusters with links, largest first, with the digits that they hold.

sizes = np.bincount(model.labels_)
largest = np.argsort(-sizes)[:12]
fig, axes = plt.subplots(2, 6, figsize=(8, 3.8), layout="constrained")
for ax in axes.ravel():
    ax.set_axis_off()
for ax, k in zip(axes.ravel(), largest, strict=False):
    ax.imshow(model.cluster_centers_[k].reshape(8, 8), cmap="Greys")
    digits, counts = np.unique(y[model.labels_ == k], return_counts=True)
    best = counts.argmax()
    ax.set_title(f"{counts[best]} of {sizes[k]}\nare {digits[best]}", fontsize=9)
plt.show()
