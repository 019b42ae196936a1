"""Slips of the pen are answered before anything heavy loads."""

import subprocess
import sys

import pytest

HEAVY = ("sklearn", "numba", "pandas", "scipy")
LOADED = (
    "import sys; from maylink.cli import main; code = main(sys.argv[1:]); "
    f"print([name for name in {HEAVY} if name in sys.modules]); sys.exit(code)"
)
SLIPS = {
    "cluster gone.csv": "gone.csv: cannot be read (No such file",
    "cluster data.csv --links gone.csv": "gone.csv: cannot be read",
    "cluster data.csv --id whoo": "there is no column 'whoo' for id (did you mean 'who'?)",
    "cluster data.csv --drop Heigth": "for drop (did you mean 'height'?)",
    "cluster data.csv --text what": "there is no column 'what' for text",
    "cluster data.csv --as widht=number": "--as: there is no column 'widht' (did you mean 'width'",
    "cluster data.csv --family normal": "'normal' is not one of",
    "cluster data.csv --method kmeans": "(did you mean 'plainkmeans'?)",
    "cluster data.csv --projection tsne": "'tsne' is not one of auto, pca, umap",
    "cluster data.csv --read format=xls": "format: 'xls' is not one of",
    "cluster data.csv --k 3": "--clusters-hint 3 says about how many there are",
    "cluster data.csv --embeddings gone.npy": "gone.npy: cannot be read",
    "diagnose data.csv --links gone.csv": "gone.csv: cannot be read",
    "compare data.csv --links links.csv --labels wrd": "for labels (did you mean 'word'?)",
    "predict gone.npz data.csv": "gone.npz: cannot be read",
    "predict data.csv gone.csv": "gone.csv: cannot be read",
    "links alike data.csv --text wrd": "for text (did you mean 'word'?)",
    "ask gone.csv --judge x --out o.csv": "gone.csv: cannot be read",
}


@pytest.mark.parametrize("command", SLIPS)
def test_a_slip_is_answered_before_libraries_load(command, files):
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *command.split()], capture_output=True, text=True
    )
    assert SLIPS[command] in done.stderr
    assert done.returncode in (2, 3)
    assert done.stdout == "[]\n"


def test_a_time_that_is_none_is_named_as_the_option_is(files):
    done = subprocess.run(
        [sys.executable, "-c", LOADED, "cluster", "data.csv", "--budget", "5x"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stderr.startswith("maylink: --budget: '5x' is not a time")
    assert "sklearn" not in done.stdout
