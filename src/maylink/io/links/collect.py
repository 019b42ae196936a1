"""Collector: takes the links of a file one by one, each with its place, and returns Links."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from maylink.errors import LinkFileError
from maylink.io.links.bad_lines import BadLine, BadLineError, Place, check_share
from maylink.io.links.kinds import EXPECTED, ZERO, kind_of, plain
from maylink.links import KIND_NAMES, MAY_NOT, Links
from maylink.row_ids import Ids, id_key, missing

FOUND = "found"  # ids are those that the file names
MOST_UNREAD = 0.1  # of all lines, that say one unknown word where the others all say the same


class Collector:
    """The links of a file as they are read; every error names the place in the file.

    Parameters
    ----------
    name : str
        The file, for messages.
    ids : iterable, Ids or "found", optional
        The id of each row; links then name rows by id. With "found", the ids are what the file
        calls the rows, in the order in which they come. Otherwise links name positions, from 0.
    n : int, optional
        Number of rows; by default that of ids, or as many as the links need.
    source : str or int, optional
        Source of the links that name none.
    skip_bad : bool, default False
        Whether bad lines are left out and kept apart; otherwise the first one is an error.
    """

    def __init__(
        self,
        name: str,
        *,
        ids: Iterable[Any] | Ids | None = None,
        n: int | None = None,
        source: Hashable | None = None,
        skip_bad: bool = False,
    ) -> None:
        self.name, self.unit = name, "line"
        self.skip_bad, self.lines = skip_bad, 0
        self.bad: list[BadLine] = []
        self.n = None if n is None else Links.empty(n).n  # which checks it
        self.default_source: Hashable = 0 if source is None else source
        self.dropped = 0
        self.unused: tuple[str, ...] = ()  # columns that mean nothing here
        self.turned: str | None = None  # a column in which yes is may-not
        takes_ids = isinstance(ids, str) and ids == FOUND
        self.file_ids: dict[str, int] | None = {} if takes_ids else None
        self._ids = None
        if ids is not None and not takes_ids:
            self._ids = ids if isinstance(ids, Ids) else Ids.of(ids)
            if n is not None and n != self._ids.size:
                raise LinkFileError(f"ids: {self._ids.size} of them for {n} rows; give one a row")
            self.n = self._ids.size
        self._i, self._j, self._kind = array("q"), array("q"), array("b")
        self._weight, self._source = array("d"), array("q")
        self._codes: dict[Hashable, int] = {}
        self._first: dict[int, Place] = {}  # the first places of the kinds 0 and −1
        self._unread = Counter[str]()  # what lines say that is no kind

    def each(
        self,
        rows: Iterable[tuple[Place, Sequence[Any]]],
        take: Callable[[Place, Sequence[Any]], None],
        width: int | None = None,
    ) -> None:
        """Take row by row; bad ones are kept apart where that is wanted.

        ``width`` is how many cells a row has.
        """
        for place, cells in rows:
            self.lines += 1
            try:
                if width is not None and len(cells) != width:
                    self.fail(place, f"{len(cells)} cells where the header has {width}")
                take(place, cells)
            except BadLineError as error:
                if not self.skip_bad:
                    raise
                self.bad.append(error.line(cells))
        check_share(self.name, self.bad, self.lines)

    def fail(self, place: Place, message: str) -> NoReturn:
        """Raise about one line, which can be left out."""
        raise BadLineError(self.name, self._where(place), message)

    def fail_kind(self, place: Place, said: Any, message: str) -> NoReturn:
        """Raise about a line that does not say what its pair is."""
        self._unread[shown(said)] += 1
        self.fail(place, message)

    def refuse(self, place: Place, message: str) -> NoReturn:
        """Raise about a line that puts the other lines in doubt."""
        raise LinkFileError(f"{self.name}, {self._where(place)}: {message}")

    def _where(self, place: Place) -> str:
        return f"{self.unit} {place}" if isinstance(place, int) else place

    @property
    def has_ids(self) -> bool:
        """Whether rows are named by ids."""
        return self._ids is not None

    def knows(self, value: Any) -> bool:
        """Say whether a value is the id of a row."""
        return self._ids is not None and self._ids.knows(id_key(value))

    def row(self, value: Any, place: Place, column: str) -> int:
        """Return the position of the row that a value of the file names."""
        if missing(value):
            self.fail(place, f"{column} is missing")
        if self.file_ids is not None:
            return self.file_ids.setdefault(id_key(value), len(self.file_ids))
        if self._ids is not None:
            key = id_key(value)
            if key in self._ids.twice:
                first, second = self._ids.twice[key]
                self.refuse(
                    place,
                    f"id {shown(value)} is that of rows {first} and {second}; make ids unique",
                )
            at = self._ids.find(key)
            if at is None:
                self.fail(
                    place, f"id {shown(value)} is none of the {self._ids.size} ids of the rows"
                )
            return at
        row = whole(value)
        if row is None:
            self.fail(
                place,
                f"{column} = {shown(value)} is not a row number, counted from 0; if it is an id, "
                "give the ids of the rows",
            )
        if row < 0 or (self.n is not None and row >= self.n):
            valid = "rows are counted from 0" if self.n is None else f"valid: 0 to {self.n - 1}"
            # rows may be counted from 1, and then every link of the file is a wrong one
            self.refuse(place, f"{column} = {row} is out of range ({valid})")
        return row

    def number(self, value: Any, place: Place, column: str) -> float:
        """Return a value of the file as a finite number."""
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            self.fail(place, f"{column} = {shown(value)} is not a number")
        return number

    def add(
        self, place: Place, i: Any, j: Any, kind: Any, weight: Any = None, source: Any = None
    ) -> None:
        """Take one link, as it stands in the file."""
        sign = kind_of(kind)
        if sign is None:
            self.fail_kind(place, kind, f"kind {shown(kind)} is not known; write {EXPECTED}")
        votes = 1.0 if missing(weight) else self.number(weight, place, "weight")
        if votes <= 0:
            self.fail(place, f"weight = {votes:g}; a weight is positive")
        name = self.default_source if missing(source) else source
        if isinstance(name, (list, dict)):
            self.fail(place, "source is a list or an object; name it by a word or a number")
        for value, column in ((i, "i"), (j, "j")):
            if missing(value):
                self.fail(place, f"{column} is missing")
        first, second = self.row(i, place, "i"), self.row(j, place, "j")
        if first == second:
            has_ids = self.file_ids is not None or self._ids is not None
            name = f"id {shown(i)}" if has_ids else f"row {first}"
            self.fail(place, f"the link joins {name} to itself; remove it")
        if sign == ZERO or whole(plain(kind)) == MAY_NOT:  # words of kind go with both
            self._first.setdefault(sign, place)
        self._i.append(first)
        self._j.append(second)
        self._kind.append(sign or MAY_NOT)
        self._weight.append(votes)
        self._source.append(self._codes.setdefault(name, len(self._codes)))

    def sourced(self, links: Links) -> Links:
        """Return links that came without a source as links of the default source."""
        source = np.empty(links.n_links, object)
        source[:] = self.default_source
        return Links(links.n, links.i, links.j, links.kind, links.weight, source)

    def drop(self) -> None:
        """Count a judgement that says nothing."""
        self.dropped += 1

    def links(self, *, words: bool = False) -> Links:
        """Make the links; ``words`` says that sources were read as words, numbers among them."""
        self._forbid_one_kind_lost()
        if len(self._first) == 2:
            self.refuse(
                self._first[ZERO],
                "kind is 0 here and -1 elsewhere; leave out the pairs of which nothing is known, "
                "or use one of +1/-1 and 1/0",
            )
        if self._ids is not None and self._ids.twice:
            key, (first, second) = next(iter(self._ids.twice.items()))
            raise LinkFileError(
                f"ids: {key!r} is that of rows {first} and {second}; make ids unique"
            )
        n = self.n
        if n is None:
            n = 1 + max(max(self._i, default=-1), max(self._j, default=-1))
        sources = list(self._codes)
        if words and all(str(whole(s)) == s for s in sources if s != self.default_source):
            sources = [s if s == self.default_source else whole(s) for s in sources]
        source_names = np.empty(len(sources), object)
        source_names[:] = sources
        return Links(
            n,
            np.frombuffer(self._i, np.int64) if self._i else [],
            np.frombuffer(self._j, np.int64) if self._j else [],
            np.frombuffer(self._kind, np.int8) if self._kind else [],
            np.frombuffer(self._weight, np.float64) if self._weight else [],
            source_names[np.frombuffer(self._source, np.int64)] if self._source else source_names,
        )

    def _forbid_one_kind_lost(self) -> None:
        """Raise where all lines that were read say the same, and many others one word unknown.

        That word is then likely to be the other kind, and without it links tell but half.
        """
        (word, count), *_ = self._unread.most_common(1) or [("", 0)]
        if len(set(self._kind)) == 1 and count > max(1, MOST_UNREAD * self.lines):
            kind = KIND_NAMES[self._kind[0]]
            raise LinkFileError(
                f"{self.name}: all lines that can be read say {kind}, and {count} lines say "
                f"{word}, which is not known; write {EXPECTED}"
            )


def whole(value: Any) -> int | None:
    """Return a value as a whole number, None if it is none."""
    if isinstance(value, bool) or (isinstance(value, str) and "_" in value):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if number.is_integer() and abs(number) < 2**53 else None


def shown(value: Any, most: int = 40) -> str:
    """Return a value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}…{text[-1]}"
