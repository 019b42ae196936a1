"""
How reliable is each source?
============================

Four sources judge pairs of the same points. TVClust learns p and q of each: how often it says *may*
of two points of one cluster, and *may-not* of two points of different clusters.
"""

import matplotlib.pyplot as plt
import numpy as np

import maylink as ml

truth = {
    "expert": (0.95, 0.97),
    "crowd": (0.8, 0.8),
    "says may to all": (0.9, 0.4),
    "coin": (0.5, 0.5),
}
draw = ml.datasets.make_two_view(200, reliability=truth, rng=2)
model = ml.TVClust(random_state=0).fit(draw.X, links=draw.links)
print(model.reliability_.round(2).to_string())

# %%
# Bars are 95% intervals, black lines the truth, which the model does not know. A source at p = q =
# ½ says nothing; one that says *may* to everything is worth something only when it says *may-not*.

fig, ax = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
places = np.arange(len(truth))
learned = model.reliability_.loc[list(truth)]
for shift, name, colour in ((-0.12, "p", "#0072B2"), (0.12, "q", "#E69F00")):
    bars = [learned[name] - learned[f"{name}_low"], learned[f"{name}_high"] - learned[name]]
    meaning = "p: may | same cluster" if name == "p" else "q: may-not | different clusters"
    ax.errorbar(
        learned[name], places + shift, xerr=bars, fmt="o", color=colour, capsize=4, label=meaning
    )
    true = [pair[name == "q"] for pair in truth.values()]
    ax.plot(true, places + shift, "|", color="black", ms=14, mew=2)
ax.plot([], [], "|", color="black", ms=12, mew=2, label="truth")
ax.axvline(0.5, color="#CCCCCC", lw=1, zorder=0)
ax.set(yticks=places, yticklabels=list(truth), xlim=(0.25, 1.0), xlabel="probability to be right")
ax.invert_yaxis()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
plt.show()
