"""Tables whose features are made of their texts, or are embeddings that belong to their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Matrix
from maylink.errors import FileError
from maylink.io.data import Table
from maylink.row_ids import Ids, id_key
from maylink.tables.text import AUTO, ENCODER, N_FEATURES, TextView
from maylink.views.embeddings import EmbeddingView


def with_text_features(
    table: Table,
    columns: Sequence[str],
    kind: str = AUTO,
    *,
    n_features: int = N_FEATURES,
    encoder: str = ENCODER,
) -> Table:
    r"""Return a table whose X is what its columns of text say.

    Parameters
    ----------
    table : Table
        Read with ``texts=columns``.
    columns : sequence of str
        The columns; several are joined to one text a row.
    kind, n_features, encoder
        As in :func:`maylink.tables.text.text_features`.

    Returns
    -------
    Table
        Its ``view`` is the fitted :class:`maylink.tables.text.TextView`. Rows without text are
        left out: nothing tells which rows they are like.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from maylink import read_data
    >>> from maylink.views.tables import with_text_features
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name,born\nanna berg,1970\nana berg,1970\nkarl hill,1981\n")
    >>> table = read_data(path, texts=["name", "born"], numbers=False)
    >>> table = with_text_features(table, ["name", "born"])
    >>> table.X.shape, table.view.kind
    ((3, 2), 'letters')
    """
    table = _with_text(table, columns)
    if len(table.rows) < 2:
        raise FileError(f"text: one row has text in {', '.join(columns)}; two are needed")
    view = TextView.of(
        texts_of(table, columns), kind, n_features=n_features, columns=columns, encoder=encoder
    )
    return as_seen_by(view, table)


def with_embeddings(
    table: Table, embeddings: Matrix, ids: Sequence[Any] | NDArray[Any] | None = None
) -> Table:
    """Return a table whose X are the embeddings of its rows, at unit length.

    Parameters
    ----------
    table : Table
        The rows: their ids and words.
    embeddings : array or CSR matrix of shape (m, d)
        One a row, in the order of the file of the table, unless ids say otherwise.
    ids : sequence, optional
        The id of each embedding, as the id column of the table has them.

    Returns
    -------
    Table
    """
    at = _places(table, embeddings.shape[0], ids)
    view = EmbeddingView(embeddings.shape[1])
    return _with_features(table, view.rows(embeddings[at]), view)


def as_seen_by(view: TextView | EmbeddingView, table: Table) -> Table:
    """Return a table of new rows as a fitted view sees them."""
    if isinstance(view, EmbeddingView):
        if table.X.shape[1] != view.n_features:
            raise FileError(
                f"embeddings: of {table.X.shape[1]} numbers, and those of the model have "
                f"{view.n_features}; use the same encoder"
            )
        return _with_features(table, view.rows(table.X), view)
    table = _with_text(table, view.columns)
    return _with_features(table, view.rows(texts_of(table, view.columns)), view)


def with_ids(table: Table, ids: Sequence[Any] | NDArray[Any]) -> Table:
    """Return a table whose rows have these ids, one for each row of its file."""
    names = np.array([id_key(value) for value in ids], object)
    if names.size != table.n_file:
        raise FileError(f"ids: {names.size} of them for {table.n_file} rows; give one a row")
    twice = Ids.of(names).twice
    if twice:
        key, (first, second) = next(iter(twice.items()))
        raise FileError(f"ids: {key!r} is that of rows {first} and {second}; make ids unique")
    return replace(table, ids=names[table.rows], file_ids=names, id_name="id")


def texts_of(table: Table, columns: Sequence[str]) -> list[str]:
    """Return the text of each row: its cells in these columns, joined by spaces."""
    missing = [column for column in columns if column not in table.text]
    if missing:
        found = ", ".join(map(repr, list(table.text)[:8]))
        raise FileError(f"text: there is no column {missing[0]!r} (found: {found})")
    cells = zip(*(table.text[column] for column in columns), strict=True)
    return [" ".join(part.strip() for part in row if part.strip()) for row in cells]


def _with_text(table: Table, columns: Sequence[str]) -> Table:
    """Return a table without the rows that have no text."""
    keep = np.array([bool(text) for text in texts_of(table, columns)])
    if keep.all():
        return table
    if not keep.any():
        raise FileError(f"text: no row has text in {', '.join(columns)}; name another column")
    return replace(
        table,
        X=table.X[keep],
        ids=None if table.ids is None else table.ids[keep],
        rows=table.rows[keep],
        text={name: cells[keep] for name, cells in table.text.items()},
        labels=None if table.labels is None else table.labels[keep],
    )


def _with_features(table: Table, X: Matrix, view: TextView | EmbeddingView) -> Table:
    names = tuple(f"direction_{at}" for at in range(X.shape[1]))
    words = {column: kind for column, kind in table.kinds.items() if kind == "text"}
    kinds = dict.fromkeys(names, "real") | words
    return replace(table, X=X, columns=names, kinds=kinds, view=view)


def _places(table: Table, size: int, ids: Any) -> NDArray[np.int64]:
    """Return which embedding is that of each row of the table."""
    if ids is None:
        if size != table.n_file:
            raise FileError(
                f"embeddings: {size} of them for {table.n_file} rows; give one a row, or the id of "
                "each by ids="
            )
        return table.rows
    known = Ids.of(ids)
    if known.size != size:
        raise FileError(f"ids: {known.size} of them for {size} embeddings; give one for each")
    if table.ids is None:
        raise FileError("ids: the data have no ids to look them up by; name their column by id=")
    places = [known.find(id_key(value)) for value in table.ids.tolist()]
    for value, place in zip(table.ids.tolist(), places, strict=True):
        if place is None or id_key(value) in known.twice:
            wrong = "no embedding" if place is None else "two embeddings"
            raise FileError(f"ids: the row {value!r} has {wrong}; give one for each row")
    return np.array(places, np.int64)
