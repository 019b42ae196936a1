"""From Links to a file: ``write_links``."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from typing import IO, Any

import numpy as np

from maylink.errors import LinkFileError
from maylink.io.atomic import atomic_write
from maylink.io.links.containers import CONTAINERS, container_of
from maylink.io.links.encode import encode
from maylink.io.links.layouts import LAYOUTS, LinkLayout
from maylink.links import Links
from maylink.row_ids import id_key, missing

logger = logging.getLogger(__name__)

_USUAL = {"txt": "text", "npy": "matrix", "npz": "matrix", "mtx": "matrix"}


def write_links(
    links: Links,
    path: str | os.PathLike[str] | IO[bytes],
    *,
    ids: Iterable[Any] | None = None,
    format: str | None = None,  # noqa: A002
    force: bool = False,
) -> None:
    """Write links to a file, whole or not at all.

    Parameters
    ----------
    links : Links
        What to write.
    path : path or binary file
        Where to write. The name tells the container; see :func:`maylink.read_links`.
    ids : sequence, optional
        The id of each row, to be written in place of its position; matrices know only positions.
    format : str, optional
        A layout or a container. By default a table; lines ``i j ±1`` for .txt, a matrix for .npy,
        .npz and .mtx. "labels" and "dedupe" can only be read.
    force : bool, default False
        Whether a file that is there may be replaced.

    Raises
    ------
    LinkFileError
        If the file is there already or cannot be written, or the format cannot hold the links.

    Notes
    -----
    Tables and answers hold everything. What another format has no place for, weights or sources, is
    left out, and a warning is logged. "splink", "answers" and "pccc" hold weights up to 1.

    Examples
    --------
    >>> import io
    >>> from maylink import Links, write_links
    >>> links = Links.from_pairs(may=[(0, 3)], may_not=[(0, 1)], n=4)
    >>> file = io.BytesIO()
    >>> write_links(links, file, format="text")
    >>> print(file.getvalue().decode(), end="")
    0 3 +1
    0 1 -1
    """
    to_stream = hasattr(path, "write")
    name = str(getattr(path, "name", "")) if to_stream else os.fspath(path)  # type: ignore[arg-type]
    layout, container = choose(name, format)
    rows = range(links.n) if ids is None else _as_ids(ids, links.n)
    content = layout.render(links, rows)
    _warn_of_loss(links, layout)
    data = encode(content, container)
    if to_stream:
        path.write(data)  # type: ignore[union-attr]
    else:
        with atomic_write(name, force=force) as file:
            file.write(data)


def choose(name: str, format_: str | None) -> tuple[LinkLayout, str]:
    """Return layout and container, by the format that the user names or the file's name."""
    named = container_of(name)
    if format_ in LAYOUTS:
        layout = LAYOUTS[format_]
        if not layout.containers:
            raise LinkFileError(f"format: {format_} can be read, but not written")
        if named is not None and named not in layout.containers:
            raise LinkFileError(
                f"{name}: {format_} is written as {' or '.join(layout.containers)}; rename the file"
            )
        return layout, named or layout.containers[0]
    if format_ is not None and format_ not in CONTAINERS:
        raise LinkFileError(
            f"format: {format_!r} is not one of {', '.join((*LAYOUTS, *CONTAINERS))}"
        )
    container = format_ or named
    if container is None:
        raise LinkFileError(
            f"{name}: the name does not tell a format; end it in .csv or another of "
            f"{', '.join(CONTAINERS)}, or say format="
        )
    return LAYOUTS[_USUAL.get(container, "table")], container


def _as_ids(ids: Iterable[Any], n: int) -> list[Any]:
    listed = [value.item() if isinstance(value, np.generic) else value for value in ids]
    if len(listed) != n:
        raise LinkFileError(f"ids: {len(listed)} of them for {n} rows; give one a row")
    first_row: dict[str, int] = {}
    for at, value in enumerate(listed):
        if missing(value):
            raise LinkFileError(f"ids: the id of row {at} is missing")
        first = first_row.setdefault(id_key(value), at)
        if first != at:
            raise LinkFileError(f"ids: {value!r} stands at rows {first} and {at}; make ids unique")
    return listed


def _warn_of_loss(links: Links, layout: LinkLayout) -> None:
    lost = []
    if not layout.keeps_weights and (links.weight != 1).any():
        lost.append("weights")
    if not layout.keeps_sources and links.sources not in ((), (0,)):
        lost.append("sources")
    if links.labelled:
        lost.append("that links were made of labels")
    if lost:
        logger.warning("%s has no place for %s; left out", layout.name, " and ".join(lost))
