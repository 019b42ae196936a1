"""The experiment on wrong links runs, and the default rule survives them."""

from maylink.experiments import wrong_links


def test_table(capsys):
    frame = wrong_links.table(draws=2)
    clear = frame.loc["from the model"]
    assert (clear["keep probability"] > 0.95).all()
    assert clear.loc[(4, 0.3), "keep objective"] < 0.9
    wrong_links.main(["--draws", "1"])
    assert "no links" in capsys.readouterr().out
