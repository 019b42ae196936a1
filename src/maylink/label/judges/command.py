"""A program as a judge: it reads a question a line, as JSON, and writes an answer a line.

A question is ``{"id": 7, "a": {column: value}, "b": {…}, "texts": ["text of a", "text of b"]}``, an
answer ``{"id": 7, "answer": "together"}``, with a ``confidence`` and a ``note`` if there are any.
The program runs on: it gets batches of questions, and answers in any order. A line that is no
answer is kept apart, and its question asked again, a set number of times.
"""

from __future__ import annotations

import hashlib
import json
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import PurePath
from typing import IO, Any

from maylink.errors import JudgeError, MaylinkError, counted
from maylink.label.judges.answers import NoAnswerError, SaidOfPair, read_answer
from maylink.label.judges.cache import BadAnswer, JudgeFile
from maylink.label.judges.secret import Secret
from maylink.label.judges.words import AskedPair, Judgement, StopAsked, Unanswered, never
from maylink.parameters import check_integer, check_number

LOOK = 0.05  # seconds between two looks whether to stop
LONGEST_LINE = 1_000_000
LAST_LINES = 5  # of standard error that a message repeats
LAST_READ = 1.0  # seconds to wait for them once the program has ended
RUNNERS = ("python", "python3", "uv", "run", "node", "ruby", "perl", "Rscript", "sh", "bash", "env")
_END = object()


class CommandJudge:
    r"""A program that reads questions and writes answers, a line of JSON each.

    Parameters
    ----------
    command : str
        The program and its arguments, as a shell would part them; no shell is started.
    source : str, optional
        The name under which its answers are kept; by default that of the program, and a short hash
        of the command.
    tries : int, default 3
        Times that a question is put to it at most while its answers cannot be understood.
    time_limit : float, default 60
        Seconds that it may be silent while questions are open.
    grace : float, default 1
        Seconds for a late line where others told no question, and for the program to end.
    file : JudgeFile, optional
        Where lines that are no answers are kept.
    secret : Secret, optional
        What must not stand in messages, should the program print it.

    Raises
    ------
    JudgeError
        When it is asked, if the program cannot be started, ends, or is silent for too long.

    Examples
    --------
    >>> import json, sys
    >>> from maylink.label.judges import CommandJudge, ShownRows
    >>> program = (
    ...     "import json, sys\n"
    ...     "for line in sys.stdin:\n"
    ...     "    asked = json.loads(line)\n"
    ...     "    same = asked['a']['town'] == asked['b']['town']\n"
    ...     "    print(json.dumps({'id': asked['id'], 'answer': same}), flush=True)\n"
    ... )
    >>> judge = CommandJudge([sys.executable, "-c", program], source="towns")
    >>> rows = ShownRows.of({"town": ["Bonn", "Bonn", "Kiel"]})
    >>> [said.kind for said in judge.judge([rows.pair(0, 1), rows.pair(0, 2)])]
    [1, -1]
    >>> judge.close()
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        source: str | None = None,
        tries: int = 3,
        time_limit: float = 60.0,
        grace: float = 1.0,
        file: JudgeFile | None = None,
        secret: Secret | None = None,
    ) -> None:
        self.words = _parted(command)
        check_integer("tries", tries, 1)
        check_number("time_limit", time_limit, 0.0, above=True)
        self.source = source or _name_of(self.words)
        self.tries, self.time_limit, self.grace = tries, time_limit, grace
        self._file, self._secret = file or JudgeFile(), secret or Secret()
        self._program: _Program | None = None
        self._next_id = 0

    def recall(self, rows: str) -> list[Judgement]:
        """Return nothing: programs change, so their answers are not kept by content."""
        return []

    def judge(
        self, pairs: Sequence[AskedPair], stop: StopAsked = never
    ) -> Iterator[Judgement | Unanswered]:
        """Yield what the program says of each pair; see :class:`JudgeLike`."""
        open_pairs: dict[int, AskedPair] = {}
        for pair in pairs:
            self._next_id += 1
            open_pairs[self._next_id] = pair
        problems: dict[int, str] = {}
        for _ in range(self.tries):
            if not open_pairs or stop():
                return
            yield from self._round(open_pairs, problems, stop)
        if stop():
            return
        for number, pair in open_pairs.items():
            yield Unanswered(pair.i, pair.j, problems.get(number, "there was no line about it"))

    def close(self) -> None:
        """End the program: it sees the end of its input, and is killed if that does not do."""
        if self._program is not None:
            self._program.close()
            self._program = None

    @staticmethod
    def question(number: int, pair: AskedPair) -> str:
        """Return the line that puts a question to the program."""
        asked = {"id": number, "a": dict(pair.a), "b": dict(pair.b), "texts": list(pair.texts)}
        return json.dumps(asked, ensure_ascii=False)

    def _round(
        self, open_pairs: dict[int, AskedPair], problems: dict[int, str], stop: StopAsked
    ) -> Iterator[Judgement]:
        """Put all open questions, and take lines until each has had one."""
        if self._program is None:
            self._program = _Program(self.words, self.source, self.grace)
        program, waiting, stray = self._program, set(open_pairs), 0
        program.write([self.question(*one) for one in open_pairs.items()])
        heard = time.monotonic()
        while waiting:
            line = program.line()
            if line is None:
                if stop():
                    return
                silence = time.monotonic() - heard
                if stray >= len(waiting) and silence > min(self.grace, 0.5 * self.time_limit):
                    return  # the lines that tell no question are likely to be about these
                if silence > self.time_limit:
                    raise self._silent(len(waiting))
                continue
            if line is _END:
                raise self._ended(len(waiting))
            heard = time.monotonic()
            line = self._secret.hidden_in(line)
            if not line.strip():
                continue
            try:
                number, said, note = _read_line(line)
            except _BadLineOfJudgeError as error:
                about = error.number if error.number in open_pairs else None
                self._keep(line, str(error), open_pairs.get(about or -1))
                if about is None:
                    stray += 1
                else:
                    waiting.discard(about)
                    problems[about] = str(error)
                continue
            if number not in open_pairs:
                self._keep(line, "it answers no open question", None)
                stray += not 0 < number <= self._next_id  # a second answer takes no one's place
                continue
            pair = open_pairs.pop(number)
            waiting.discard(number)
            yield Judgement(pair.i, pair.j, said.kind, said.confidence, note)

    def _keep(self, line: str, problem: str, pair: AskedPair | None) -> None:
        i, j = (None, None) if pair is None else (pair.i, pair.j)
        self._file.add_bad(self.source, [BadAnswer(i, j, problem, line.rstrip("\n"))])

    def _silent(self, n_open: int) -> JudgeError:
        told = self._secret.hidden_in(self._program.last_words()) if self._program else ""
        if self._program is not None:
            self._program.kill()
        self.close()
        return JudgeError(
            f"judge {self.source!r}: it wrote nothing for {self.time_limit:g} s, with "
            f"{counted(n_open, 'question')} open; it must answer each line as it comes, and flush "
            f"its output{told}"
        )

    def _ended(self, n_open: int) -> JudgeError:
        program = self._program
        code = program.exit_code() if program else None
        told = self._secret.hidden_in(program.last_words()) if program else ""
        self.close()
        return JudgeError(
            f"judge {self.source!r}: it ended ({_told_code(code)}) with "
            f"{counted(n_open, 'question')} open; it must read on until its input ends{told}"
        )


class _BadLineOfJudgeError(ValueError):
    """A line that is no answer, and the question that it is about if it tells."""

    def __init__(self, message: str, number: int | None = None) -> None:
        super().__init__(message)
        self.number = number


class _Program:
    """A process that runs on; threads write its input and read its output."""

    def __init__(self, words: Sequence[str], source: str, grace: float) -> None:
        self._grace = grace
        environment = {"PYTHONUNBUFFERED": "1", **os.environ}
        more: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {}
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                env=environment,
                **more,  # so that Ctrl-C does not end it before its answers are heard
            )
        except OSError as error:
            raise JudgeError(
                f"judge {source!r}: {words[0]!r} cannot be started ({error.strerror or error})"
            ) from error
        self._lines: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._questions: queue.SimpleQueue[list[str] | None] = queue.SimpleQueue()
        works = (self._read, self._read_errors, self._write)
        self._threads = [threading.Thread(target=work, daemon=True) for work in works]
        for thread in self._threads:
            thread.start()

    def write(self, lines: list[str]) -> None:
        """Write lines to its input, in a thread of their own: it may be slow to read."""
        self._questions.put(lines)

    def line(self) -> Any:
        """Return a line that it wrote; None if there is none yet, ``_END`` at the end."""
        try:
            return self._lines.get(timeout=LOOK)
        except queue.Empty:
            return None

    def last_words(self) -> str:
        """Return the last lines that it wrote to standard error, as the end of a message."""
        if self._process.poll() is not None:  # it may have ended before its words were read
            self._threads[1].join(timeout=LAST_READ)
        lines = [line.strip() for line in list(self._last) if line.strip()]
        return f"; its last words: {' / '.join(lines)}" if lines else ""

    def exit_code(self) -> int | None:
        """Return how it ended; None if it goes on."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(self._grace)
        return None

    def close(self) -> None:
        """End it: by the end of its input, or else by force."""
        self._questions.put(None)
        if self.exit_code() is None:
            self.kill()
        self._process.wait()
        for thread in self._threads:  # each closes its stream; one that others hold open may wait
            thread.join(self._grace)

    def kill(self) -> None:
        """End it by force, and what it has started."""
        with suppress(OSError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def _write(self) -> None:
        with _closing(self._process.stdin) as stream:  # after its end nobody reads; _read says so
            while (lines := self._questions.get()) is not None:
                stream.write("".join(f"{line}\n" for line in lines))
                stream.flush()

    def _read(self) -> None:
        with _closing(self._process.stdout) as stream:
            while line := stream.readline(LONGEST_LINE):
                self._lines.put(line)
        self._lines.put(_END)

    def _read_errors(self) -> None:
        with _closing(self._process.stderr) as stream:
            while line := stream.readline(LONGEST_LINE):
                self._last.append(line[:300])


@contextmanager
def _closing(stream: IO[str] | None) -> Iterator[IO[str]]:
    """Close a stream at the end; that the other side is gone is no error."""
    if stream is None:
        raise AssertionError("the process has all three streams")
    with suppress(OSError, ValueError):
        try:
            yield stream
        finally:
            stream.close()


def _read_line(line: str) -> tuple[int, SaidOfPair, str]:
    """Return number, answer and note of a line."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        raise _BadLineOfJudgeError("the line is no JSON") from None
    if not isinstance(entry, dict):
        raise _BadLineOfJudgeError("the line is no JSON object")
    name = entry.get("id")
    if isinstance(name, bool) or not str(name).isdecimal() or len(str(name)) > 15:
        raise _BadLineOfJudgeError("the line has no id of a question")
    number = int(str(name))
    if "answer" not in entry:
        raise _BadLineOfJudgeError("the line has no answer", number)
    try:
        said = read_answer(entry["answer"], entry.get("confidence"))
    except NoAnswerError as error:
        raise _BadLineOfJudgeError(str(error), number) from None
    note = entry.get("note")
    return number, said, "" if note is None else str(note)


def _parted(command: str | Sequence[str]) -> list[str]:
    if not isinstance(command, str):
        words = [str(word) for word in command]
    else:
        try:
            words = shlex.split(command, posix=os.name == "posix")
        except ValueError as error:
            raise MaylinkError(f"judge: {command!r} is no command ({error})") from error
    if not words:
        raise MaylinkError("judge: the command is empty; give a program and its arguments")
    return words


def _name_of(words: Sequence[str]) -> str:
    """Return the name of the script or program, and a short hash of the command."""
    names = [PurePath(word).name for word in words if not word.startswith("-")]
    telling = [name for name in names if name not in RUNNERS] or names or ["judge"]
    digest = hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{telling[0][:40]}:{digest[:6]}"


def _told_code(code: int | None) -> str:
    if code is None:
        return "its output is closed"
    return f"signal {-code}" if code < 0 else f"exit code {code}"
