"""The experiment on wrong links: one command, and the default rule survives them."""

import re

import numpy as np

from maylink.experiments import wrong_links
from maylink.experiments.wrong_links import LINKS_PER_POINT, WRONG


def test_command(capsys):
    wrong_links.main(["--draws", "1", "--points", "150"])
    text = capsys.readouterr().out
    assert re.search("no links +keep probability +keep objective", text)
    rows = [re.findall(r"\d\.\d+", line)[-3:] for line in text.splitlines()]
    scores = np.array([row for row in rows if len(row) == 3], float)
    from_the_model, _ = scores.reshape(2, len(LINKS_PER_POINT), len(WRONG), 3)
    assert (from_the_model[:, :, 1] > 0.95).all()
    assert from_the_model[LINKS_PER_POINT.index(4), WRONG.index(0.3), 2] < 0.9
