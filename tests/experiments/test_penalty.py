"""The experiment on the choice of the penalty: one command, three ways to set it."""

import re

import numpy as np

from maylink.experiments import penalty

FAMILIES = ("gaussian", "poisson", "product")


def test_command(capsys):
    penalty.main(["--draws", "1", "--points", "40", "--families", *FAMILIES])
    text = capsys.readouterr().out
    assert "1 draws of 40 points with 4 features; mean F" in text
    assert "chosen from the data" in text
    rows = [re.findall(r"\d\.\d+", line) for line in text.splitlines()]
    scores = np.array([row for row in rows if len(row) == 3], float)
    assert scores.shape == (2 * len(FAMILIES), 3)  # without links and with them
    assert ((scores >= 0) & (scores <= 1)).all()
    assert (scores[1::2] > 0.8).all()  # with four links a point
