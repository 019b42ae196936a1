"""Answers in an SQLite file: each is on disk before the next question is asked.

The file belongs to one set of rows, whose fingerprint it holds. An answer that was taken back stays
in the file, marked so. Several processes may write to it, one after the other.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from maylink.errors import FileError
from maylink.questions.words import Answer

SCHEMA = 1
TABLES = """
create table if not exists facts (name text primary key, value text not null);
create table if not exists answers (
    number integer primary key autoincrement,
    i integer not null, j integer not null, kind integer not null,
    source text not null, weight real not null,
    asked_together integer,          -- the number of the board, null for a pair by itself
    detail text not null,            -- what else is known, as JSON
    time real not null,
    taken_back integer not null default 0
);
create table if not exists requests (key text primary key, numbers text not null);
"""
WAIT = 10.0  # seconds for another process that writes


class StoredAnswer(NamedTuple):
    """An answer as it stands in the file.

    Parameters
    ----------
    number : int
        Its number; later answers have larger ones.
    answer : Answer
        What was said.
    board : int or None
        The number of the board on which it was sorted with others, which is one judgement with
        them; None for a pair that was asked about by itself.
    detail : dict
        What else is known about it.
    time : float
        When, in seconds since 1970.
    """

    number: int
    answer: Answer
    board: int | None
    detail: dict[str, Any]
    time: float


class AnswerStore:
    """Answers in an SQLite file.

    Parameters
    ----------
    path : str or Path
        The file; it is made where it is not there.
    fingerprint : str
        Of the rows that answers are about (:mod:`maylink.label.same_rows`).

    Raises
    ------
    FileError
        If the file is no file of answers, or one about other rows.

    Examples
    --------
    >>> import tempfile
    >>> from maylink.label.store import AnswerStore
    >>> from maylink.questions import Answer
    >>> path = tempfile.mkdtemp() + "/answers.db"
    >>> with AnswerStore(path, "rows") as store:
    ...     numbers = store.add([Answer(0, 1, 1, "ann"), Answer(0, 2, -1, "ann")])
    ...     store.take_back(numbers[0])
    ...     [stored.answer for stored in store.answers()]
    [Answer(i=0, j=2, kind=-1, source='ann', weight=1.0)]
    """

    def __init__(self, path: str | Path, fingerprint: str) -> None:
        self.path, self.fingerprint = path, fingerprint
        self._lock = threading.Lock()
        try:
            self._file = sqlite3.connect(
                path, timeout=WAIT, isolation_level=None, check_same_thread=False
            )
            self._file.execute("pragma journal_mode=wal")
            self._file.execute("pragma synchronous=full")
            self._file.executescript(TABLES)
            self._check({"schema": str(SCHEMA), "rows": fingerprint})
        except sqlite3.Error as error:
            raise FileError(f"{path}: cannot be used as a file of answers ({error})") from error

    def add(
        self,
        answers: Sequence[Answer],
        *,
        board: bool = False,
        detail: Mapping[str, Any] | None = None,
        key: str | None = None,
        instead_of: Sequence[int] = (),
    ) -> list[int]:
        """Write answers, all or none, and return their numbers; they are on disk then.

        Parameters
        ----------
        answers : sequence of Answer
            What was said.
        board : bool, default False
            Whether they come from one board of rows that were sorted together.
        detail : mapping, optional
            What else is known of them all; must be JSON.
        key : str, optional
            Names the request. One that was written before is not written again: its numbers are
            returned.
        instead_of : sequence of int
            Answers that are taken back with the same stroke.
        """
        text, now, numbers = json.dumps(dict(detail or {})), time.time(), list[int]()
        with self._lock, self._writing():
            before = self._written(key)
            if before is not None:
                return before
            self._mark(instead_of)
            (latest,) = self._file.execute(
                "select coalesce(max(asked_together), 0) from answers"
            ).fetchone()
            together = latest + 1 if board else None
            for one in answers:
                row = (one.i, one.j, one.kind, str(one.source), one.weight, together, text, now)
                cursor = self._file.execute(
                    "insert into answers (i, j, kind, source, weight, asked_together, detail, time)"
                    " values (?, ?, ?, ?, ?, ?, ?, ?)",
                    row,
                )
                numbers.append(int(cursor.lastrowid or 0))
            if key is not None:
                self._file.execute("insert into requests values (?, ?)", (key, json.dumps(numbers)))
        return numbers

    def written(self, key: str) -> list[int] | None:
        """Return the numbers that a request was given when it was written; None if it was not."""
        with self._lock:
            return self._written(key)

    def take_back(self, *numbers: int) -> None:
        """Mark answers as taken back, all or none; one that is not there is an error.

        Parameters
        ----------
        *numbers : int
            Numbers that :meth:`add` returned.
        """
        with self._lock, self._writing():
            self._mark(numbers)

    def answers(self, source: str | None = None) -> list[StoredAnswer]:
        """Return the answers that were not taken back, in the order in which they were given.

        Parameters
        ----------
        source : str, optional
            Of this source only.
        """
        return self._read("source = coalesce(?, source)", (source,))

    def answers_numbered(self, numbers: Sequence[int]) -> list[StoredAnswer]:
        """Return those of some answers that were not taken back.

        Parameters
        ----------
        numbers : sequence of int
            Numbers that :meth:`add` returned.
        """
        marks = ", ".join("?" * len(numbers))
        return self._read(f"number in ({marks})", tuple(numbers))

    def fact(self, name: str) -> str | None:
        """Return what was remembered under a name, or None."""
        with self._lock:
            row = self._file.execute("select value from facts where name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def remember(self, name: str, value: str) -> None:
        """Remember something that belongs to the answers, in place of what was there before."""
        with self._lock, self._writing():
            self._file.execute("insert or replace into facts values (?, ?)", (name, value))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> AnswerStore:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _read(self, condition: str, values: Sequence[Any]) -> list[StoredAnswer]:
        """Return the answers that were not taken back and fulfil a condition, in their order."""
        with self._lock:
            rows = self._file.execute(
                "select number, i, j, kind, source, weight, asked_together, detail, time "
                f"from answers where taken_back = 0 and {condition} order by number",
                values,
            ).fetchall()
        return [
            StoredAnswer(number, Answer(*answer), board, json.loads(detail), when)
            for number, *answer, board, detail, when in rows
        ]

    def _written(self, key: str | None) -> list[int] | None:
        row = self._file.execute("select numbers from requests where key = ?", (key,)).fetchone()
        return None if row is None else [int(number) for number in json.loads(row[0])]

    def _mark(self, numbers: Sequence[int]) -> None:
        """Mark answers as taken back; the caller has begun to write."""
        for number in numbers:
            cursor = self._file.execute(
                "update answers set taken_back = 1 where number = ?", (number,)
            )
            if not cursor.rowcount:
                raise FileError(f"{self.path}: there is no answer {number}")

    def _check(self, facts: dict[str, str]) -> None:
        """Write the facts into a new file; compare them with those of an old one."""
        with self._writing():
            for name, value in facts.items():
                self._file.execute("insert or ignore into facts values (?, ?)", (name, value))
        for name, value in self._file.execute("select name, value from facts").fetchall():
            if facts.get(name, value) != value:
                what = (
                    "holds answers about other rows" if name == "rows" else "is of a later maylink"
                )
                raise FileError(f"{self.path}: {what}; name another file")

    def _writing(self) -> _Transaction:
        return _Transaction(self._file, self.path)


class _Transaction:
    """Writes all or nothing; SQLite's own context manager leaves nothing open for autocommit."""

    def __init__(self, file: sqlite3.Connection, path: str | Path) -> None:
        self.file, self.path = file, path

    def __enter__(self) -> None:
        try:
            self.file.execute("begin immediate")
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        try:
            self.file.execute("commit" if error is None else "rollback")
        except sqlite3.Error as failed:
            raise self._failure(failed) from failed
        if isinstance(error, sqlite3.Error):
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> FileError:
        return FileError(f"{self.path}: cannot be written ({error})")
