"""
Held-out links choose the settings
==================================

Which covariance, and how much weight should the data have beside the links? A setting is good
when, fitted on some of the links, it predicts the others. ``TVClust`` tests that by itself.
"""

import matplotlib.pyplot as plt

import maylink as ml

data = ml.datasets.make_pattern("stripes", n=240, rng=0)
links = ml.sample_links(data.y, rate=8 / 240, accuracy=0.9, rng=0)
model = ml.TVClust(random_state=0).fit(data.X, links=links)
print(model.chosen_by_, "chose", model.family_.name, "with data weight", model.data_weight_)
print(f"{model.n_clusters_} clusters, F = {ml.metrics.pair_f(data.y, model.labels_):.3f}")

# %%
# Every marker is a candidate, its height how well it predicts a held-out link. Hollow ones dropped
# out early; the ring is the choice.

ml.plots.plot_selection(model)
plt.show()

# %%
# The plain model, and the one that was chosen.

fig, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
plain = ml.TVClust("gaussian", covariance="spherical", data_weight=1, random_state=0)
plain.fit(data.X, links=links)
for ax, name, each in ((axes[0], "spherical, data weight 1", plain), (axes[1], "chosen", model)):
    F = ml.metrics.pair_f(data.y, each.labels_)
    title = f"{name}: {each.n_clusters_} clusters, F = {F:.2f}"
    ml.plots.plot_partition(data.X, each.labels_, title=title, ax=ax)
plt.show()
