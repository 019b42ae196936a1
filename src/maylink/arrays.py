"""Types of arrays, by the names that the whole package uses."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Matrix = Any
"""A dense array of float32 or float64, or a SciPy CSR matrix of them."""
