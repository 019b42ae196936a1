"""
Which links are wrong?
======================

One link in five was flipped. The model does not know which; ``suspect_links`` returns the
probability of each to be wrong.
"""

import matplotlib.pyplot as plt
import numpy as np

import maylink as ml

data = ml.datasets.make_pattern("blobs", n=200, rng=4)
links = ml.sample_links(data.y, rate=2 / 200, accuracy=0.8, rng=4)
model = ml.TVClust(random_state=0).fit(data.X, links=links)
suspects = model.suspect_links()
print(suspects.head().round(3).to_string())

# %%
# Since we have the truth, we can colour links by it. The links that the model takes to be wrong are
# drawn on the left; on the right all links, by how suspect they are.

is_wrong = ((suspects.kind == "may") != (data.y[suspects.i] == data.y[suspects.j])).to_numpy()
is_suspect = suspects.wrong.to_numpy() > 0.5
print(
    f"{is_wrong.sum()} wrong links; {is_suspect.sum()} suspects,"
    f" {is_wrong[is_suspect].sum()} of them wrong"
)

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
ml.plots.plot_partition(
    data.X,
    model.labels_,
    links=links.chosen(suspects.index[is_suspect].to_numpy(), n=len(data.X)),
    link_alpha=0.5,
    title="links with P(wrong) > ½",
    ax=left,
)
edges = np.linspace(0, 1, 21)
right.hist(
    [suspects.wrong[~is_wrong], suspects.wrong[is_wrong]],
    edges,
    color=["#0072B2", "#B00020"],
    label=["right", "wrong"],
)
right.set(xlabel="P(wrong), learned", ylabel="links (square-root scale)")
right.set_yscale("function", functions=(np.sqrt, np.square))
right.set_yticks([1, 5, 20, 50, 100, 150])
right.spines[["top", "right"]].set_visible(False)
right.legend(frameon=False, title="in truth")
plt.show()
