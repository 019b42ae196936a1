"""Matrix Market files, read so that damaged ones are refused and nothing worse."""

from __future__ import annotations

import io
from typing import Any


def read_matrix_market(data: bytes) -> Any:
    r"""Return the matrix in the bytes of a Matrix Market file, sparse or dense.

    SciPy reads past the end of bytes in which a number is not followed by anything that ends it,
    and so ends the program. Hence bytes of 0, which no text holds, are refused, and the last line
    is ended.

    Parameters
    ----------
    data : bytes
        The whole file.

    Examples
    --------
    >>> from maylink.io.matrix_market import read_matrix_market
    >>> read_matrix_market(b"%%MatrixMarket matrix array real general\n1 2\n3\n4")
    array([[3., 4.]])
    """
    from scipy.io import mmread

    if b"\x00" in data:
        raise ValueError("it holds a byte that is 0, which is no text")
    return mmread(io.BytesIO(data if data.endswith(b"\n") else data + b"\n"))
