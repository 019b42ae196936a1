"""Reads what language models really return: JSON, JSON in prose or code fences, a plain "Yes".

What can be read is taken, pair by pair; what cannot is told as a problem and never guessed at. A
reply that was cut off keeps the entries that are whole. Entries without numbers count by their
order only if there is one for each pair; two entries on one pair that differ are no answer.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from maylink.label.judges.answers import NoAnswerError, SaidOfPair, read_answer

ANSWER_NAMES = (
    *("answer", "together", "belong_together", "belongs_together", "same", "match", "is_match"),
    *("verdict", "decision", "result", "judgement", "judgment", "response", "label"),
)
CONFIDENCE_NAMES = ("confidence", "probability", "certainty", "sure", "score", "confidence_score")
NUMBER_NAMES = ("pair", "id", "number", "index", "question", "n")
NOTE_NAMES = ("note", "reason", "reasoning", "explanation", "why", "comment", "rationale")
LONGEST_NOTE = 300
LONGEST_REPLY = 50_000  # letters that are looked at
MOST_LOOKS = 50  # at brackets that turn out to open nothing: bounds the time for odd replies
_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_LINE = re.compile(r"^\W*(?:pair\s*)?#?(\d+)\s*[.):\-–—]+\s*(.+)$", re.IGNORECASE)
_LABELLED = re.compile(r"^\W*(?:final\s+)?(?:answer|verdict)\W*[:=]\s*(.+)$", re.I | re.M)
_WORD = re.compile(r"\W*(yes|no|unsure)\b(?!\s+(?:idea|way|doubt))", re.IGNORECASE)
_NOT_SURE = re.compile(
    r"\W*(?:i am |i'm |i’m |it is |it's |it’s |this is )?(?:not sure|unsure|unclear|uncertain)\b",
    re.IGNORECASE,
)
_CONFIDENCE = re.compile(
    r"(?:confidence|certainty|probability)\W*(?:is|of|:|=)?\s*(\d[\d.]*\s*%?|\w+)|(\d[\d.]*\s*%)",
    re.IGNORECASE,
)


class Reply(NamedTuple):
    """What a model said about the pairs of a prompt.

    Parameters
    ----------
    said : dict of int to SaidOfPair
        By the number of the pair, from 0.
    notes : dict of int to str
        What else it said of them.
    problems : dict of int to str
        Why there is no answer about the others.
    """

    said: dict[int, SaidOfPair]
    notes: dict[int, str]
    problems: dict[int, str]


def read_reply(text: str, n: int = 1) -> Reply:
    r"""Return what a reply says about each of n pairs.

    Parameters
    ----------
    text : str
        What the model wrote.
    n : int
        How many pairs it was asked about.

    Examples
    --------
    >>> read_reply('Sure!\n```json\n{"answer": "Yes", "confidence": "90%"}\n```').said
    {0: SaidOfPair(kind=1, confidence=0.9)}
    >>> read_reply("No.").said[0].kind
    -1
    >>> read_reply('[{"pair": 2, "answer": "no"}, {"pair": 1, "ans', 2).problems
    {0: 'the reply does not tell'}
    """
    text = _THOUGHTS.sub("", text[:LONGEST_REPLY]).strip()
    if not text:
        return Reply({}, {}, dict.fromkeys(range(n), "the reply is empty"))
    return _sorted_out(_entries(text, n) or _plain_entries(text, n), n)


# ---------------------------------------------------------------------- from text to entries


def _entries(text: str, n: int) -> list[Any]:
    """Return the entries of all JSON in a text; the fenced parts alone where these have some."""
    for part in (*(found[1] for found in _FENCE.finditer(text)), text):
        entries = [entry for value in _values(part) for entry in _unpacked(value, n)]
        if entries:
            return entries
    return []


def _values(text: str) -> Iterator[Any]:
    """Yield what can be read of a text as JSON, the largest pieces that are whole."""
    at = looks = 0
    while (found := re.compile(r"[\[{]").search(text, at)) is not None and looks < MOST_LOOKS:
        start = found.start()
        end = _end_of(text, start)
        value = None if end is None else _value(text[start:end])
        if end is None or value is None:  # cut off, or no JSON: what is inside may be whole
            at, looks = start + 1, looks + 1
        else:
            yield value
            at = end


def _end_of(text: str, start: int) -> int | None:
    """Return where the bracket that opens at ``start`` closes; None if it does not."""
    depth, quoted, escaped = 0, "", False
    for at in range(start, len(text)):
        letter = text[at]
        if escaped:
            escaped = False
        elif quoted:
            escaped = letter == "\\"
            quoted = "" if letter == quoted else quoted
        elif letter == '"':
            quoted = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= 1
            if depth == 0:
                return at + 1
    return None


def _value(text: str) -> Any:
    """Return a piece of JSON, or of what models take for it; None if it is none."""
    without_commas = re.sub(r",\s*([\]}])", r"\1", text)
    for candidate in (text, without_commas):
        try:
            return json.loads(candidate)
        except (ValueError, RecursionError):
            pass
    try:
        value = ast.literal_eval(without_commas)  # single quotes, True, None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _unpacked(value: Any, n: int) -> list[Any]:
    """Return the entries of a value: of a list, or of an object that holds one."""
    if isinstance(value, list):
        plain = all(isinstance(one, str | bool) or one is None for one in value)
        if plain and len(value) == n:
            return [{"answer": one} for one in value]
        return [one for one in value if isinstance(one, dict)]
    if not isinstance(value, dict):
        return []
    if _has(value, ANSWER_NAMES) and not isinstance(_named(value, ANSWER_NAMES), list | dict):
        return [value]
    numbered = [(_whole(name), one) for name, one in value.items()]
    if numbered and all(number is not None for number, _ in numbered):
        return [_with_number(number, one) for number, one in numbered]
    inside = [one for one in value.values() if isinstance(one, list | dict)]
    return _unpacked(inside[0], n) if len(inside) == 1 else []


def _with_number(number: int | None, entry: Any) -> dict[str, Any]:
    return {**(entry if isinstance(entry, dict) else {"answer": entry}), "pair": number}


def _plain_entries(text: str, n: int) -> list[Any]:
    """Return entries of a reply in words: "Yes.", or lines such as "2. no (80%)"."""
    if n > 1:
        lines = [found for line in text.splitlines() if (found := _LINE.match(line.strip()))]
        return [{"pair": int(found[1]), **_in_words(found[2])} for found in lines]
    labelled = _LABELLED.findall(text)
    if labelled:
        return [_in_words(text, labelled[-1])]
    return [_in_words(text)]


def _in_words(text: str, answer: str | None = None) -> dict[str, Any]:
    """Return the answer at the beginning of a text, and its confidence."""
    sure = _CONFIDENCE.search(text)
    said = (answer or text).strip().strip("*_`\"'# ")
    first = re.split(r"[\n(.;]| [-–—] ", said, maxsplit=1)[0]
    word = _WORD.match(first)
    if word is not None and not _agrees(said, word[1]):
        return {}
    entry: dict[str, Any] = {"answer": first if word is None else word[1]}
    if _NOT_SURE.match(first):
        entry["answer"] = "unsure"
    if sure is not None:
        entry["confidence"] = (sure[1] or sure[2]).replace(" ", "").rstrip(".")
    return entry


def _agrees(text: str, word: str) -> bool:
    """Whether the rest of a sentence does not take its first word back ("Yes and no")."""
    others = {"yes", "no", "unsure"} - {word.lower()}
    head = re.split(r"[\n.;]", text, maxsplit=1)[0].lower()
    return not others & set(re.findall(r"\w+", head))


# ---------------------------------------------------------------------- from entries to answers


def _sorted_out(entries: Sequence[Any], n: int) -> Reply:
    """Return answers by pair, and problems of those that have none."""
    numbers = [_whole(_named(entry, NUMBER_NAMES)) for entry in entries]
    if all(number is None for number in numbers) and len(entries) == n:
        numbers = list(range(1, n + 1))
    elif n == 1 and len(entries) == 1:
        numbers = [1]
    said: dict[int, SaidOfPair] = {}
    notes: dict[int, str] = {}
    problems: dict[int, str] = {}
    for number, entry in zip(numbers, entries, strict=True):
        if number is None or not 1 <= number <= n:
            continue
        at = number - 1
        try:
            one = _read_entry(entry)
        except NoAnswerError as error:
            problems.setdefault(at, str(error))
            continue
        if at in said and said[at].kind != one.kind:
            problems[at] = "the reply says two things of the pair"
        said.setdefault(at, one)
        note = _named(entry, NOTE_NAMES)
        notes.setdefault(at, str(note)[:LONGEST_NOTE] if note else "")
    for at in range(n):
        if at in problems:
            said.pop(at, None)
        elif at not in said:
            problems[at] = "the reply does not tell"
    return Reply(said, notes, dict(sorted(problems.items())))


def _read_entry(entry: Mapping[str, Any]) -> SaidOfPair:
    answer = _named(entry, ANSWER_NAMES)
    if answer is None and not _has(entry, ANSWER_NAMES):
        raise NoAnswerError("it holds no answer")
    return read_answer(answer, _named(entry, CONFIDENCE_NAMES))


def _named(entry: Any, names: Sequence[str]) -> Any:
    """Return the value of the first of some names that an entry has."""
    plain = {_plain_name(name): value for name, value in entry.items()}
    return next((plain[name] for name in names if name in plain), None)


def _has(entry: Mapping[str, Any], names: Sequence[str]) -> bool:
    return bool({_plain_name(name) for name in entry} & set(names))


def _plain_name(name: Any) -> str:
    return re.sub(r"[\s-]+", "_", str(name).strip().lower())


def _whole(value: Any) -> int | None:
    """Return a number of a pair: 3, "3", "Pair 3"; None if it is none."""
    if isinstance(value, bool):
        return None
    found = re.fullmatch(r"(?:pair[\s_-]*)?#?(\d{1,6})(?:\.0)?", str(value).strip().lower())
    return int(found[1]) if found else None
