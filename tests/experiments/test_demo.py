"""The demo runs, prints its table and writes its picture."""

import re

import matplotlib.image
import numpy as np

from maylink.datasets import make_pattern
from maylink.experiments import demo

NAMES = ("moons", "cross")  # on these no method without links has a chance
WRONG = (0.0, 0.3)


def test_demo(tmp_path, capsys):
    out = tmp_path / "new" / "picture.png"
    data = [make_pattern(name, 150, rng=0) for name in NAMES]
    demo.main(["--out", str(out), "--jobs", "1"], data, WRONG)
    table, curve = capsys.readouterr().out.split("wrong links")
    rows = {line.split()[0]: line for line in table.splitlines() if re.search(r"0\.\d\d", line)}
    assert set(rows) == {*NAMES, "average"}
    k_means, dp_means, right, fast, full = map(float, re.findall(r"\d\.\d\d", rows["average"]))
    # The claims that the demo is there to show.
    assert right > 0.95
    assert full > 0.95
    assert fast > 0.9
    assert max(k_means, dp_means) < 0.7
    numbers = [[float(v) for v in re.findall(r"\d\.\d\d", line)] for line in curve.splitlines()]
    rdp_means, tvclust, learned = (row for row in numbers if len(row) == len(WRONG))
    assert rdp_means[0] == max(rdp_means)
    assert min(tvclust) > 0.85
    np.testing.assert_allclose(learned, 1 - np.array(WRONG), atol=0.06)
    picture = matplotlib.image.imread(out)
    assert picture.shape[0] > 1000
    assert np.unique(picture.reshape(-1, picture.shape[-1]), axis=0).shape[0] > 100


def test_wrong_links_are_the_same_pairs():
    data = make_pattern("moons", rng=0)
    right, wrong = demo.links_of(data, 0.0, 0), demo.links_of(data, 0.1, 0)
    assert np.array_equal(right.pair_keys, wrong.pair_keys)
    assert 0.07 < np.mean(right.kind != wrong.kind) < 0.13
