"""From a file to Links: ``read_links``, and ``read_link_file``, which also says what it read."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

import numpy as np

from maylink.errors import LinkFileError
from maylink.io.links.collect import Collector, Ids, RequestedIds, whole
from maylink.io.links.containers import CONTAINERS, open_container
from maylink.io.links.content import NOTHING, Content, column_name, summary
from maylink.io.links.kinds import EXPECTED, kind_of
from maylink.io.links.layouts import LAYOUTS, LinkLayout, Options
from maylink.links import Links

logger = logging.getLogger(__name__)
LARGEST = 10_000_000  # a larger number in a file of few rows is an id, not a row
IdFinder = Callable[[list[str]], Ids]
SPARSE = 100  # rows that there may be for each row that a larger file names


@dataclass(frozen=True)
class LinkFile:
    """A file of links as it was read.

    Parameters
    ----------
    links : Links
        The links.
    layout : str
        What the file says: "table", "splink", "answers", "labels", "pairs", "pccc", "dedupe",
        "text" or "matrix".
    container : str
        What kind of file it is: "csv", "tsv", "txt", "json", "jsonl", "parquet", "npy", "npz" or
        "mtx".
    dropped : int
        How many judgements said nothing and were left out: unsure, or with a probability of ½.
    ids : tuple of str or None
        What the file calls the rows, where it was read with ``ids="found"`` and names them by
        other than row numbers.
    unused : tuple of str
        Columns of a table of links that mean nothing here.
    """

    links: Links
    layout: str
    container: str
    dropped: int
    ids: tuple[str, ...] | None = None
    unused: tuple[str, ...] = ()


def read_links(
    path: str | os.PathLike[str] | IO[bytes],
    *,
    n: int | None = None,
    ids: Iterable[Any] | None = None,
    format: str | None = None,  # noqa: A002
    source: Hashable | None = None,
    kind: Any = None,
    coding: str = "signed",
    label_column: str | None = None,
    id_column: str | None = None,
    sample: int | None = None,
    rng: np.random.Generator | int | None = None,
    encoding: str | None = None,
) -> Links:
    r"""Read links from a file in any of the formats in use.

    The format is found from the content and the name; docs/links.md shows each of them.

    Parameters
    ----------
    path : path or binary file
        What to read.
    n : int, optional
        Number of rows of the data. By default what the file tells (a matrix, labels), or as many as
        the links need.
    ids : sequence, optional
        The id of each row of the data; the links then name rows by id. Otherwise they name
        positions, from 0. The numbers 7 and 7.0 and the word "7" are the same id.
    format : str, optional
        A layout ("table", "splink", "answers", "labels", "pairs", "pccc", "dedupe", "text",
        "matrix") or a container ("csv", "tsv", "txt", "json", "jsonl", "parquet", "npy", "npz",
        "mtx"), where the file itself does not tell.
    source : str or int, optional
        Source of the links that name none; 0 by default.
    kind : str or int, optional
        Kind of all links, for files that hold nothing but pairs.
    coding : {"signed", "paper"}, default "signed"
        What the entries of a matrix mean; see :meth:`Links.from_matrix`.
    label_column, id_column : str, optional
        The columns with partial labels and with ids, where they are not called ``label`` and
        ``id``. For splink the column whose name ends in ``_l`` and ``_r``, for dedupe a field of
        the records.
    sample, rng : optional
        How many of the pairs of labelled rows to draw, and the randomness for it; see
        :meth:`Links.from_labels`.
    encoding : str, optional
        The encoding of a text file; by default UTF-8, or UTF-16 with a byte order mark.

    Returns
    -------
    Links

    Raises
    ------
    LinkFileError
        Naming the file, the line and what to do about it.

    Notes
    -----
    A probability p that two rows belong together (splink, answers of language models) becomes
    2p − 1 votes, the vote to be expected from such a judge: the sign is the kind, the size the
    weight. p = ½ says nothing and is left out, p = 0 or 1 is one full vote. Log-odds would let a
    single overconfident figure outvote many careful ones; how far a source is right is learned
    from all its links instead.

    Examples
    --------
    >>> import io
    >>> from maylink import read_links
    >>> file = io.BytesIO(b"i,j,kind\nann,bob,must\nbob,cy,cannot\n")
    >>> read_links(file, ids=["ann", "bob", "cy"])
    Links(3 points, 2 links: 1 may, 1 may-not; 3 points linked; no contradictory pairs)
    """
    options = Options(kind, coding, label_column, id_column, sample, rng, encoding)
    return read_link_file(path, n=n, ids=ids, format=format, source=source, options=options).links


def read_link_file(
    path: str | os.PathLike[str] | IO[bytes],
    *,
    n: int | None = None,
    ids: Iterable[Any] | IdFinder | None = None,
    format: str | None = None,  # noqa: A002
    source: Hashable | None = None,
    options: Options | None = None,
) -> LinkFile:
    """Read links, and say as what they were read; see :func:`maylink.read_links`.

    ``ids="found"`` is for a file without its data: the names of rows in the file are their ids,
    unless all of them are row numbers; numbers too large for that are ids too. A function takes the
    ids that the file names and returns their rows, for data with too many ids to hold in memory.
    """
    options = options or Options()
    if options.kind is not None and not kind_of(options.kind):
        raise LinkFileError(f"kind: {options.kind!r} is not known; write {EXPECTED}")
    name, data = _load(path)
    read = partial(_read, name, data, n=n, format_=format, source=source, options=options)
    file = read(_rows_of_ids(ids, read) if callable(ids) else ids)
    if file.ids is not None and _are_rows(file.ids):
        file = read(None)
    if file.dropped:
        logger.warning("%s: judgements that say nothing, left out: %d", name, file.dropped)
    return file


def _read(
    name: str,
    data: bytes,
    ids: Iterable[Any] | Ids | None,
    *,
    n: int | None,
    format_: str | None,
    source: Hashable | None,
    options: Options,
) -> LinkFile:
    container = format_ if format_ in CONTAINERS else None
    columns = [options.label_column, options.id_column and f"{options.id_column}_l"]
    column_names = [column_name(column) for column in columns if column]
    content, container = open_container(data, name, container, column_names, options.encoding)
    layout = _layout(content, name, format_, options)
    into = Collector(name, ids=ids, n=n, source=source)
    links = layout.read(content, into, options)
    file_ids = tuple(into.file_ids) if into.file_ids else None
    return LinkFile(links, layout.name, container, into.dropped, file_ids, into.unused)


def _rows_of_ids(find: IdFinder, read: Callable[[Ids], LinkFile]) -> Ids:
    """Read a file for the ids that it names, and ask which rows they are."""
    requested = RequestedIds()
    read(requested)
    return find(list(requested.position))


def _are_rows(names: tuple[str, ...]) -> bool:
    """Say whether all names are numbers, and such that data may have that many rows."""
    numbers = [whole(name) for name in names]
    rows = [number for number in numbers if number is not None]
    return len(rows) == len(names) and max(rows) <= max(LARGEST, SPARSE * len(names))


def _load(path: Any) -> tuple[str, bytes]:
    if hasattr(path, "read"):
        data = path.read()
        name = str(getattr(path, "name", "") or "links")
        return name, data.encode() if isinstance(data, str) else data
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            return name, file.read()
    except OSError as error:
        raise LinkFileError(f"{name}: cannot be read ({error.strerror})") from None


def _layout(content: Content, name: str, format_: str | None, options: Options) -> LinkLayout:
    if content is NOTHING:
        return LAYOUTS["table"]
    if format_ in LAYOUTS:
        chosen = LAYOUTS[format_]
        if not isinstance(content, chosen.reads):
            raise LinkFileError(
                f"{name}: not {chosen.name}; looked for {chosen.looks}, found {summary(content)}"
            )
        return chosen
    if format_ is not None and format_ not in CONTAINERS:
        raise LinkFileError(
            f"format: {format_!r} is not one of {', '.join((*LAYOUTS, *CONTAINERS))}"
        )
    try:
        first = next((layout for layout in LAYOUTS.values() if layout.fits(content, options)), None)
    except LinkFileError as error:
        raise LinkFileError(f"{name}: {error}") from None
    if first is None:
        looks = "; ".join(layout.looks for layout in LAYOUTS.values())
        hint = " (a list of pairs alone needs kind=)" if options.kind is None else ""
        raise LinkFileError(
            f"{name}: no known format of links; found {summary(content)}; looked for: {looks}{hint}"
        )
    return first
