"""Matrix Market files: those that SciPy reads, and damaged ones, which must not end the program."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite

from maylink.io.matrix_market import read_matrix_market

START = b"%%MatrixMarket matrix coordinate real symmetric\n6 6 2\n2 1 1\n4 3 -1"
READ = "import sys; from maylink.io.matrix_market import read_matrix_market as read; read({!r})"


def test_what_scipy_writes_is_read(tmp_path):
    matrix = sparse.random_array((5, 4), density=0.4, random_state=0)
    mmwrite(tmp_path / "m.mtx", matrix)
    found = read_matrix_market((tmp_path / "m.mtx").read_bytes())
    assert np.allclose(found.toarray(), matrix.toarray())


@pytest.mark.parametrize("end", [b"\x02", b"\x1a", b"5\x00\n"])
def test_a_damaged_end_does_not_end_the_program(end):
    done = subprocess.run([sys.executable, "-c", READ.format(START + end)], capture_output=True)
    assert done.returncode in (0, 1)  # read, or an error of Python; a crash is below 0


def test_a_byte_of_0_is_refused():
    with pytest.raises(ValueError, match="a byte that is 0"):
        read_matrix_market(START + b"\x00\n")
