"""What judges have said, by content, and what it cost: an SQLite file, so nothing is paid twice.

An answer stands under the SHA-256 of model, prompt and the contents of both rows, whatever rows
hold them. Every call stands in the file before it is sent, and its answers before anybody counts
them.
What could not be understood is kept apart. One process at a time works with a file; when it is
killed, the system gives the file free.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from maylink.errors import FileError
from maylink.io.fingerprint import fingerprint
from maylink.label.judges.words import AskedPair, Judgement

SCHEMA = "1"
TABLES = """
create table if not exists facts (name text primary key, value text not null);
create table if not exists judged (
    key text primary key,            -- of model, prompt and contents
    source text not null, rows text not null, i integer not null, j integer not null,
    kind integer not null, confidence real, note text not null, time real not null
);
create table if not exists calls (
    number integer primary key autoincrement,
    source text not null, time real not null,
    state text not null,             -- 'sent' until its end is known
    reason text not null,            -- why it failed or was lost
    held real not null,              -- what it counts against the ceiling
    cost real not null, tokens_in integer not null, tokens_out integer not null,
    told integer not null            -- whether the server told the tokens
);
create table if not exists bad (
    number integer primary key autoincrement,
    source text not null, i integer, j integer, problem text not null, written text not null,
    time real not null
);
"""
WAIT = 1.0  # seconds for another process
LONGEST_WRITTEN = 2000  # letters of a bad answer that are kept


class JudgedEntry(NamedTuple):
    """An answer to be kept under its key."""

    key: str
    said: Judgement


class BadAnswer(NamedTuple):
    """What a judge wrote and nobody understood.

    Parameters
    ----------
    i, j : int or None
        The rows that it was asked about; None where it does not tell which.
    problem : str
        What is wrong.
    written : str
        What it wrote.
    """

    i: int | None
    j: int | None
    problem: str
    written: str


class Bill(NamedTuple):
    """What a call came to.

    Parameters
    ----------
    state : str
        "answered", "failed" (refused: nothing is charged), or "lost" (nobody knows).
    held : float
        What it counts against the ceiling.
    cost : float
        What it cost, or is likely to have cost.
    tokens_in, tokens_out : int
        Tokens of prompt and reply.
    told : bool
        Whether the server told them.
    reason : str
        Why it failed or was lost.
    """

    state: str
    held: float = 0.0
    cost: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    told: bool = False
    reason: str = ""


class Spent(NamedTuple):
    """What calls came to, those of earlier runs among them.

    Parameters
    ----------
    calls, tokens_in, tokens_out : int
        How many.
    cost : float
        What they are likely to have cost.
    held : float
        What they have cost at most, as far as can be known.
    untold : int
        Calls of which the server did not tell the tokens.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    held: float = 0.0
    untold: int = 0


def content_key(model: str, prompt: str, pair: AskedPair) -> str:
    """Return the key of a question; the order of the two rows does not matter.

    Parameters
    ----------
    model : str
        Who is asked.
    prompt : str
        In which words, without the rows.
    pair : AskedPair
        About what.
    """
    rows = sorted(json.dumps(dict(row), ensure_ascii=False) for row in (pair.a, pair.b))
    return fingerprint(model, prompt, rows)


class JudgeFile:
    """Answers by content, calls, and bad answers, in an SQLite file.

    Parameters
    ----------
    path : str or Path
        The file; it is made where it is not there. ":memory:" keeps nothing.

    Raises
    ------
    FileError
        If it is no such file, or another process works with it.

    Examples
    --------
    >>> from maylink.label.judges.cache import Bill, JudgedEntry, JudgeFile
    >>> from maylink.label.judges.words import Judgement
    >>> with JudgeFile(":memory:") as file:
    ...     number = file.begin_call("model", held=0.02)
    ...     said = Judgement(0, 1, 1, 0.9)
    ...     file.end_call(number, Bill("answered", 0.01, 0.01), "model", "", [JudgedEntry("k", said)])
    ...     file.find(["k", "other"]), file.spent().calls
    ({'k': Judgement(i=0, j=1, kind=1, confidence=0.9, note='', is_new=False)}, 1)
    """  # noqa: E501

    def __init__(self, path: str | Path = ":memory:") -> None:
        self.path = path
        self._lock = threading.RLock()
        try:
            self._file = sqlite3.connect(
                path, timeout=WAIT, isolation_level=None, check_same_thread=False
            )
            self._file.execute("pragma locking_mode=exclusive")
            self._file.execute("pragma journal_mode=wal")
            self._file.execute("pragma synchronous=full")
            self._file.executescript(TABLES)
            with self._writing():  # which takes the lock
                self._file.execute("insert or ignore into facts values ('schema', ?)", (SCHEMA,))
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise FileError(
                    f"{path}: another maylink works with it; wait until it has ended"
                ) from error
            raise FileError(f"{path}: cannot be used as a file of judges ({error})") from error
        except sqlite3.Error as error:
            raise FileError(f"{path}: cannot be used as a file of judges ({error})") from error
        if self.fact("schema") != SCHEMA:
            raise FileError(f"{path}: is of a later maylink; name another file")

    # ------------------------------------------------------------------ answers

    def find(self, keys: Sequence[str]) -> dict[str, Judgement]:
        """Return the answers that there are, by key."""
        found = {}
        with self._lock:
            for key in keys:
                row = self._file.execute(
                    "select i, j, kind, confidence, note from judged where key = ?", (key,)
                ).fetchone()
                if row is not None:
                    found[key] = _judgement(row)
        return found

    def said_of(self, rows: str, source: str) -> list[Judgement]:
        """Return all that a source said of a set of rows.

        Parameters
        ----------
        rows : str
            The fingerprint of the rows.
        source : str
            Who.
        """
        with self._lock:
            found = self._file.execute(
                "select i, j, kind, confidence, note from judged where rows = ? and source = ? "
                "order by time, key",
                (rows, source),
            ).fetchall()
        return [_judgement(row) for row in found]

    # ------------------------------------------------------------------ calls

    def begin_call(self, source: str, held: float) -> int:
        """Write that a call is about to be sent, and return its number; it is on disk then."""
        with self._lock, self._writing():
            cursor = self._file.execute(
                "insert into calls (source, time, state, reason, held, cost, tokens_in, "
                "tokens_out, told) values (?, ?, 'sent', '', ?, 0, 0, 0, 0)",
                (source, time.time(), held),
            )
        return int(cursor.lastrowid or 0)

    def end_call(
        self,
        number: int,
        bill: Bill,
        source: str,
        rows: str,
        judged: Sequence[JudgedEntry] = (),
        bad: Sequence[BadAnswer] = (),
    ) -> None:
        """Write how a call ended, with its answers, all or nothing; they are on disk then."""
        now = time.time()
        with self._lock, self._writing():
            self._file.execute(
                "update calls set state = ?, held = ?, cost = ?, tokens_in = ?, tokens_out = ?, "
                "told = ?, reason = ? where number = ?",
                (*bill[:5], int(bill.told), bill.reason, number),
            )
            for key, said in judged:
                self._file.execute(
                    "insert into judged values (?, ?, ?, ?, ?, ?, ?, ?, ?) "
                    "on conflict (key) do nothing",
                    (
                        *(key, source, rows, said.i, said.j),
                        *(said.kind, said.confidence, said.note, now),
                    ),
                )
            self._insert_bad(source, bad, now)

    def spent(self, source: str | None = None) -> Spent:
        """Return what calls came to, those of one source or all."""
        with self._lock:
            row = self._file.execute(
                "select count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0), "
                "coalesce(sum(cost), 0.0), coalesce(sum(held), 0.0), "
                "coalesce(sum(not told and state != 'failed'), 0) "
                "from calls where source = coalesce(?, source)",
                (source,),
            ).fetchone()
        return Spent(*row)

    def troubles(self, source: str) -> dict[str, int]:
        """Return why calls of a source failed or were lost, and how many, the most first."""
        with self._lock:
            return dict(
                self._file.execute(
                    "select reason, count(*) from calls where source = ? and reason != '' "
                    "group by reason order by count(*) desc, reason",
                    (source,),
                ).fetchall()
            )

    # ------------------------------------------------------------------ bad answers, facts

    def add_bad(self, source: str, bad: Sequence[BadAnswer]) -> None:
        """Keep what nobody understood."""
        if bad:
            with self._lock, self._writing():
                self._insert_bad(source, bad, time.time())

    def bad_answers(self) -> list[tuple[str, BadAnswer]]:
        """Return what nobody understood, with its source, in the order in which it came."""
        with self._lock:
            rows = self._file.execute(
                "select source, i, j, problem, written from bad order by number"
            ).fetchall()
        return [(source, BadAnswer(*rest)) for source, *rest in rows]

    def fact(self, name: str) -> str | None:
        """Return a fact about the file; None if it is not known."""
        with self._lock:
            row = self._file.execute("select value from facts where name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def close(self) -> None:
        """Close the file, and give it free."""
        self._file.close()

    def __enter__(self) -> JudgeFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _insert_bad(self, source: str, bad: Sequence[BadAnswer], now: float) -> None:
        for one in bad:
            self._file.execute(
                "insert into bad (source, i, j, problem, written, time) values (?, ?, ?, ?, ?, ?)",
                (source, one.i, one.j, one.problem, one.written[:LONGEST_WRITTEN], now),
            )

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        """Write all or nothing."""
        self._file.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._file.execute("rollback")
            raise
        self._file.execute("commit")


def _judgement(row: tuple[Any, ...]) -> Judgement:
    i, j, kind, confidence, note = row
    return Judgement(i, j, kind, confidence, note, is_new=False)
