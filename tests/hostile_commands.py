"""Commands that must fail, and the files that they read."""

from pathlib import Path

from maylink import cli

HEAD = "who,a,b\n"
ROWS = "".join(f"p{row},{row % 3}.5,{row * 0.25}\n" for row in range(12))
GOOD = HEAD + ROWS
LINKS = "i,j,kind\np0,p1,may\np0,p5,may-not\n"
CLUSTER = "cluster data.csv --id who --links links.csv --method rdpmeans --out out.csv --quiet"
PLAIN = CLUSTER.replace("--id who --links links.csv ", "")


def write_files():
    """Good data and links, in the current folder."""
    Path("data.csv").write_text(GOOD)
    Path("links.csv").write_text(LINKS)


def contents():
    return {str(p): p.read_bytes() if p.is_file() else None for p in Path().rglob("*")}


def failure(words, capsys, before=None):
    """Run a command that must fail; return its code and its sentence."""
    before = contents() if before is None else before
    code = cli.main(words.split() if isinstance(words, str) else words)
    err = capsys.readouterr().err
    assert contents() == before, "a file was written"
    assert "Traceback" not in err
    assert err.count("\n") == 1, f"not one line: {err}"
    assert err.startswith("maylink: ")
    return code, err
