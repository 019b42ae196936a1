"""From a file to Links: ``read_links``, and ``read_link_file``, which also says what it read."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, Any

import numpy as np

from maylink.errors import LinkFileError
from maylink.io.links.bad_lines import CHOICES, BadLine, in_words
from maylink.io.links.collect import FOUND, Collector, whole
from maylink.io.links.containers import CONTAINERS, open_container
from maylink.io.links.content import (
    APART_COLUMNS,
    JUDGED,
    NOTHING,
    Content,
    GridContent,
    TableContent,
    column_name,
    summary,
)
from maylink.io.links.kinds import EXPECTED, named_kind
from maylink.io.links.layouts import LAYOUTS, LinkLayout, Options
from maylink.io.links.layouts.answers import CONFIDENCE_COLUMNS, MODEL_COLUMNS
from maylink.io.links.layouts.splink import SCORES
from maylink.links import Links
from maylink.row_ids import Ids, RequestedIds, about_row_numbers

logger = logging.getLogger(__name__)
LARGEST = 10_000_000  # a larger number in a file of few rows is an id, not a row
IdFinder = Callable[[list[str]], Ids]
MAPPED = {  # what a user can name a column for: what it is called here, and what it displaces
    "i": ("i", ()),
    "j": ("j", ()),
    "kind": ("answer", JUDGED),
    "weight": ("weight", ()),
    "source": ("source", MODEL_COLUMNS),
    "confidence": ("confidence", CONFIDENCE_COLUMNS),
    "probability": ("match_probability", SCORES),
}
SPARSE = 100  # rows that there may be for each row that a larger file names


@dataclass(frozen=True)
class LinkFile:
    """A file of links as it was read.

    Parameters
    ----------
    links : Links
        The links.
    layout : str
        What the file says: "table", "splink", "answers", "tallies", "labels", "pairs", "pccc",
        "dedupe", "text" or "matrix".
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
    bad : tuple of BadLine
        Lines that were left out, where bad ones are skipped; each has where, problem and cells.
    lines : int
        How many lines were read, bad ones among them.
    columns : tuple of str
        What the file calls its columns; empty where it has no names for them.
    turned : str or None
        The column in which yes is may-not and no is may, such as ``different``; None if there is
        no such column.
    """

    links: Links
    layout: str
    container: str
    dropped: int
    ids: tuple[str, ...] | None = None
    unused: tuple[str, ...] = ()
    bad: tuple[BadLine, ...] = ()
    lines: int = 0
    columns: tuple[str, ...] = ()
    turned: str | None = None

    @property
    def about_bad_lines(self) -> str | None:
        """How many lines are bad, and the first of them; None if none is."""
        return in_words(self.bad, self.lines) if self.bad else None


def read_links(
    path: str | os.PathLike[str] | IO[bytes] | Any,
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
    columns: Mapping[str, str] | None = None,
    bad_lines: str = "error",
) -> Links:
    r"""Read links from a file in any of the formats in use.

    The format is found from the content and the name; docs/links.md shows each of them.

    Parameters
    ----------
    path : path, binary file or DataFrame
        What to read.
    n : int, optional
        Number of rows of the data. By default what the file tells (a matrix, labels), or as many as
        the links need.
    ids : sequence, optional
        The id of each row of the data; the links then name rows by id. Otherwise they name
        positions, from 0. The numbers 7 and 7.0 and the word "7" are the same id.
    format : str, optional
        A layout ("table", "splink", "answers", "tallies", "labels", "pairs", "pccc", "dedupe",
        "text", "matrix") or a container ("csv", "tsv", "txt", "json", "jsonl", "parquet", "npy",
        "npz", "mtx"), where the file itself does not tell.
    source : str or int, optional
        Source of the links that name none; 0 by default.
    kind : str or int, optional
        Kind of all links, for files that hold nothing but pairs; or the column that tells it.
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
    columns : mapping, optional
        What the file calls the columns i, j, kind, weight, source, confidence and probability,
        where its names are not the usual ones: ``{"i": "one", "j": "other", "kind": "said"}``.
    bad_lines : {"error", "skip"}, default "error"
        What to do about a line that cannot be read (an id that no row has, a kind that is none):
        complain, or leave it out and log a warning. If more than half of the lines are bad, and
        where a line puts the others in doubt (a row number out of range), it is always an error.

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
    options = Options(
        kind, coding, label_column, id_column, sample, rng, encoding, columns, bad_lines
    )
    file = read_link_file(path, n=n, ids=ids, format=format, source=source, options=options)
    if file.about_bad_lines is not None:
        logger.warning("%s", file.about_bad_lines)
    return file.links


def read_link_file(
    path: str | os.PathLike[str] | IO[bytes],
    *,
    n: int | None = None,
    ids: Iterable[Any] | Ids | IdFinder | None = None,
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
    _check(options)
    name, data = _load(path)
    read = partial(_read, name, data, n=n, format_=format, source=source, options=options)
    if callable(ids):
        ids = _rows_of_ids(ids, read)
    elif ids is not None and not isinstance(ids, (str, Ids)):
        ids = Ids.of(ids)
    try:
        file = read(ids)
    except LinkFileError as error:
        hint = _about_row_numbers(ids, read) if isinstance(ids, Ids) else ""
        if not hint:
            raise
        raise LinkFileError(f"{error}{hint}") from None
    if file.ids is not None and _are_rows(file.ids):
        file = read(None)
    if file.dropped:
        logger.warning("%s: judgements that say nothing, left out: %d", name, file.dropped)
    if file.turned:
        logger.warning("%s: column %r: yes is read as may-not, no as may", name, file.turned)
    return file


def _check(options: Options) -> None:
    if options.bad_lines not in CHOICES:
        raise LinkFileError(f"bad_lines: {options.bad_lines!r} is not one of {', '.join(CHOICES)}")
    unknown = [key for key in options.columns or () if key not in MAPPED]
    if unknown:
        raise LinkFileError(f"columns: {unknown[0]!r} is not one of {', '.join(MAPPED)}")


def _read(
    name: str,
    data: Any,
    ids: Iterable[Any] | Ids | None,
    *,
    n: int | None,
    format_: str | None,
    source: Hashable | None,
    options: Options,
) -> LinkFile:
    if isinstance(data, bytes):
        container = format_ if format_ in CONTAINERS else None
        names = [options.label_column, options.id_column and f"{options.id_column}_l"]
        names += [*(options.columns or {}).values()]
        column_names = [column_name(column) for column in names if column]
        content, container = open_container(data, name, container, column_names, options.encoding)
    else:
        content, container = _of_frame(data), "frame"
    columns = content.columns if isinstance(content, TableContent) else ()
    content, options = _mapped(content, name, options)
    layout = _layout(content, name, format_, options)
    skip_bad = options.bad_lines == "skip"
    into = Collector(name, ids=ids, n=n, source=source, skip_bad=skip_bad)
    links = layout.read(content, into, options)
    file_ids = tuple(into.file_ids) if into.file_ids else None
    return LinkFile(
        links, layout.name, container, into.dropped, file_ids, into.unused, tuple(into.bad),
        into.lines, columns, into.turned,
    )  # fmt: skip


def _of_frame(frame: Any) -> TableContent:
    """Return a data frame as a table, each row by its place from 0."""
    columns = [frame[column].tolist() for column in frame.columns]
    rows = [(f"row {k}", cells) for k, cells in enumerate(zip(*columns, strict=True))]
    return TableContent(tuple(map(str, frame.columns)), rows)


def _mapped(content: Content, name: str, options: Options) -> tuple[Content, Options]:
    """Give the columns that the user names the names known here; a kind may be such a column."""
    columns, kind = dict(options.columns or {}), options.kind
    table = content if isinstance(content, TableContent) else None
    if table and isinstance(kind, str) and table.find(column_name(kind)) is not None:
        columns.setdefault("kind", kind)
        kind = None
    if kind is not None and not named_kind(kind):
        found = f"; found {summary(content)}" if table else ""
        raise LinkFileError(f"kind: {kind!r} is not known{found}; write {EXPECTED}")
    if not columns:
        return content, options
    if table is None:
        raise LinkFileError(f"{name}: has no names of columns; found {summary(content)}")
    known = {MAPPED[key][0]: column for key, column in columns.items()}
    if column_name(columns.get("kind", "")) in APART_COLUMNS:  # its name says what yes means
        known[column_name(columns["kind"])] = known.pop("answer")
    displaced = [name for key in columns for name in (MAPPED[key][0], *MAPPED[key][1])]
    return table.renamed(known, displaced, name), replace(options, kind=kind, columns=None)


def _rows_of_ids(find: IdFinder, read: Callable[[Ids], LinkFile]) -> Ids:
    """Read a file for the ids that it names, and ask which rows they are."""
    requested = RequestedIds()
    read(requested)
    return find(list(requested.position))


def _about_row_numbers(ids: Ids, read: Callable[[str], LinkFile]) -> str:
    """Say that the ids of a file that could not be read look like row numbers, where they do."""
    try:
        names = read(FOUND).ids or ()
    except LinkFileError:  # so it was not for the ids that it could not be read
        return ""
    if all(map(ids.knows, names)):
        return ""
    return about_row_numbers(names, ids.size)


def _are_rows(names: tuple[str, ...]) -> bool:
    """Say whether all names are numbers, and such that data may have that many rows."""
    numbers = [whole(name) for name in names]
    rows = [number for number in numbers if number is not None]
    return len(rows) == len(names) and max(rows) <= max(LARGEST, SPARSE * len(names))


def _load(path: Any) -> tuple[str, Any]:
    if hasattr(path, "columns"):
        return "links", path
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
    if isinstance(content, TableContent) and options.label_column is not None:
        return LAYOUTS["labels"]
    try:
        first = next((layout for layout in LAYOUTS.values() if layout.fits(content, options)), None)
    except LinkFileError as error:
        raise LinkFileError(f"{name}: {error}") from None
    if first is None:
        raise LinkFileError(f"{name}: no known format of links; {_advice(content, options)}")
    return first


def _advice(content: Content, options: Options) -> str:
    """Say what was found, and what to do about it."""
    found = f"found {summary(content)}"
    if isinstance(content, GridContent) and len(content.rows[0][1]) == 2 and options.kind is None:
        return f"{found} (a list of pairs alone needs kind=)"
    if isinstance(content, (TableContent, GridContent)):
        return f"{found}; say columns={{'i': …, 'j': …, 'kind': …}}"
    return f"{found}; docs/links.md shows what is known"
