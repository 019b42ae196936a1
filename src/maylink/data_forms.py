"""Whatever a user gives for data becomes an array or a CSR matrix of numbers.

Missing cells are NaN; families of independent columns leave them out
(:mod:`maylink.families.product_with_gaps`), others refuse them.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from maylink.arrays import Matrix
from maylink.errors import DataTypeError, DomainError, MaylinkError
from maylink.families import Family
from maylink.families.product_with_gaps import with_gaps
from maylink.families.rows import first_cell
from maylink.runtime.dask import is_dask
from maylink.tables.coding import ColumnBlock, ColumnCode, TableCode
from maylink.tables.reading import CodedTable, cells_of, read_table, table_of_frame

logger = logging.getLogger("maylink")

NUMBERS = ("number", "numbers")  # what a column is, and why, in a frame without words
EMPTY = ("constant", "no value")


class CodedData(NamedTuple):
    """Data whose columns are numbers, and the code that made them, of tables with words."""

    X: Any
    code: TableCode | None = None

    @property
    def blocks(self) -> tuple[ColumnBlock, ...]:
        """What the columns are, where they are of several kinds."""
        return self.code.blocks if self.code is not None and self.code.is_mixed else ()


def as_coded(X: Any) -> CodedData:
    """Return a table, or a data frame with words, as a frame of numbers; other data as they are."""
    _check_form(X)
    table = X if isinstance(X, CodedTable) else None
    if table is None and _has_words(X):
        table = read_table(X)
        for line in table.about():
            logger.info("columns: %s", line)
    if table is not None:
        return CodedData(_frame(table.X, table.code), table.code)
    code = _code_without_empty(X)
    return CodedData(X) if code is None else CodedData(coded_as(X, code), code)


def warn_set_aside(X: Any, code: TableCode | None) -> None:
    """Warn about columns of a data frame that are no part of a fit; of a table the user knows."""
    if code is None or isinstance(X, CodedTable):
        return
    aside = [f"{column.name} ({column.kind})" for column in code.columns if not column.features]
    if aside:
        warnings.warn(
            f"X: columns set aside: {', '.join(aside[:8])}{', …' * (len(aside) > 8)}; "
            "ml.read_table(X, kinds={...}) says what a column is, and is not warned about",
            UserWarning,
            stacklevel=4,
        )


def coded_as(X: Any, code: TableCode | None) -> Any:
    """Return new rows as numbers, by the code of a fit where there is one.

    Columns of a data frame are found by name: their order, and other columns, do not count.
    """
    _check_form(X)
    if isinstance(X, CodedTable):
        if code is not None and X.code.features != code.features:
            raise DataTypeError("X: the table is coded otherwise; read it with code=table_code_")
        return _frame(X.X, X.code)
    if code is None or not _is_frame(X):
        return X
    names = list(map(str, X.columns))
    as_it_came = {column.name for column in code.columns if column.features} <= set(names)
    if not as_it_came and set(code.features) <= set(names):  # coded already
        return X.iloc[:, [names.index(name) for name in code.features]]
    return _frame(code.encode(cells_of(table_of_frame(X, read=False))), code)


def _check_form(X: Any) -> None:
    """Refuse columns in a dict, and a data frame in which two columns have one name."""
    if isinstance(X, Mapping) and not sparse.issparse(X):  # some sparse matrices are dicts
        raise DataTypeError("X: a dict is no table; give pandas.DataFrame(X)")
    if _is_frame(X):
        seen = set[str]()
        for name in map(str, X.columns):
            if name in seen:
                raise DomainError(f"X: two columns are called {name!r}; rename one")
            seen.add(name)


def header(code: TableCode) -> Any:
    """Return a data frame of coded columns without rows."""
    return _frame(np.empty((0, len(code.features))), code)


def _frame(X: NDArray[Any], code: TableCode) -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=list(code.features), copy=False)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "iloc") and hasattr(X, "columns") and not is_dask(X)


def _code_without_empty(X: Any) -> TableCode | None:
    """Return the code of a data frame of numbers that sets empty columns aside, if it has any."""
    if not _is_frame(X) or not len(X):
        return None
    empty = {at for at in range(X.shape[1]) if X.iloc[:1, at].isna().all()}
    empty = {at for at in empty if X.iloc[:, at].isna().all()}
    if not empty or len(empty) == X.shape[1]:
        return None
    columns = [
        ColumnCode(str(name), *(EMPTY if at in empty else NUMBERS))
        for at, name in enumerate(X.columns)
    ]
    return TableCode(tuple(columns))


def _has_words(X: Any) -> bool:
    """Whether a data frame has a column of words, categories or dates."""
    if not _is_frame(X):
        return False
    import pandas as pd

    for kind, at in zip(X.dtypes, range(X.shape[1]), strict=True):
        if pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind):
            continue
        values = X.iloc[:, at]
        if pd.api.types.is_object_dtype(kind):
            numbers = pd.to_numeric(values, errors="coerce")
            if not (numbers.isna() & values.notna()).any():
                continue
        return True
    return False


def as_data(X: Any, estimator: Any = None, name: str = "X", *, gaps: bool = False) -> Matrix:
    """Check data: two-dimensional, finite, float32 or float64, dense or CSR.

    Missing cells (NaN) of dense data pass where ``gaps`` says so.
    """
    if is_dask(X):
        raise chunks_refused(name)
    X = coded_as(X, None)
    validate_data(BaseEstimator(), X, skip_check_array=True)  # names of columns, before all else
    try:
        data = check_array(
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            estimator=estimator,
            input_name=name,
        )
    except (ValueError, TypeError) as error:
        _explain_text(X, name)
        kind = DataTypeError if isinstance(error, TypeError) else DomainError
        raise kind(str(error)) from None
    if sparse.issparse(data):
        data = sparse.csr_array(data)  # of a csr_matrix, ** would be a matrix power
        if not data.has_canonical_format:
            data = data.copy()
            data.sum_duplicates()
    values = data.data if sparse.issparse(data) else data
    finite = np.isfinite(values)
    if gaps and not sparse.issparse(data):
        finite |= np.isnan(values)
    if not finite.all():
        row, column, value = first_cell(data, ~finite)
        word = "NaN" if np.isnan(value) else "infinity"
        raise DomainError(f"{name}[{row}, {column}] is {word}; drop the row or fill the cell first")
    return data


def chunks_refused(name: str = "X") -> MaylinkError:
    """Return the error of a method that needs all data in memory."""
    return MaylinkError(
        f"{name}: of data on Dask, RDPMeans, DPMeans and TVClust alone make clusters; use one of "
        "them, or give data in memory"
    )


def _explain_text(X: Any, name: str) -> None:
    """Raise about the first cell that is not a number, if there is one."""
    cells = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X, dtype=object)
    if cells.ndim == 1 and any(isinstance(cell, str) for cell in cells):
        raise DomainError(
            f"{name}: texts are no numbers; cluster what they say by fitting "
            f"ml.text_features({name})"
        )
    if cells.ndim != 2:
        return
    for row, column in np.ndindex(*cells.shape):
        if isinstance(cells[row, column], str):
            try:
                float(cells[row, column])
            except ValueError:
                raise DomainError(
                    f"{name}[{row}, {column}] = {cells[row, column]!r}: could not convert string "
                    "to float; drop the column, or let ml.read_table code it"
                ) from None


# ---------------------------------------------------------------------- missing cells


def has_gaps(X: Matrix) -> bool:
    """Whether cells of dense data are missing."""
    return not sparse.issparse(X) and bool(np.isnan(X).any())


def knowing_gaps(X: Matrix, family: Family) -> Family:
    """Return a family for data with gaps, or raise about the first gap."""
    try:
        return with_gaps(family, X.shape[1])
    except DomainError as error:
        row, column, _ = first_cell(X, np.isnan(X))
        raise DomainError(f"X[{row}, {column}] is NaN; {error}") from None


def filled_to_look_at(X: NDArray[Any]) -> NDArray[Any]:
    """Return data whose gaps hold a value of their column, to be looked at: no value is new."""
    gaps = np.isnan(X)
    some = X[gaps.argmin(axis=0), np.arange(X.shape[1])]
    empty = np.isnan(some)
    if empty.any():
        at = int(np.argmax(empty))
        raise DomainError(f"column {at} of X is NaN in every row; leave it out")
    return np.where(gaps, some, X)
