"""Messages of the library, which speak of Python arguments, in the words of the command line."""

from __future__ import annotations

import re

_READ_KEYS = "header|sep|decimal|dtype|encoding|format"
_REPLACEMENTS = (
    (r"maylink\.load reads it", "maylink predict reads it"),
    (r"\bforce=True", "--force"),
    (r"\bmissing='([\w-]+)'", r"--missing \1"),
    (r"\bna=\[…\]", "--read na=…"),
    (r"\bdrop=\[(?:'([^']*)'|(\d+))\]", lambda m: f"--drop {quoted(m[1] or m[2])}"),
    (r"with drop\b(?!=)", "with --drop"),
    (r", name it as id, or leave all such columns out with text='drop'", ", or name it as --id"),
    (
        rf"\b({_READ_KEYS})=(?:'([^']*)'|(True|False))",
        lambda m: f"--read {m[1]}={m[2] or m[3].lower()}",
    ),
    (r"say format=(?!\w)", "say --read format=…"),
    (r"leave it out by columns=", "leave it out with --drop"),
    (r"with kinds, for example category", "with --as COLUMN=KIND, or take --text COLUMN"),
    (r"^kinds:", "--as:"),
    (r"^time_budget:", "--budget:"),
    (r"^judges?:", "--judge:"),
    (
        r"^(show|about|prompt|address|key_variable|most_calls|most_cost|questions|tries):",
        lambda m: f"--{m[1].replace('_', '-')}:",
    ),
    (r"\bn_clusters:", "--k:"),
    (r"the n_samples=(\d+) points of X", r"the \1 rows"),
    (r"leave ids out", "leave --id out"),
    (r"leave id out", "leave --id out"),
    (r"name their column by id=", "name their column by --id"),
    (r"or the id of each by ids=", "or the id of each by --ids"),
    (r"give the ids of the rows", "name the column of ids with --id"),
    (r"\(a list of pairs alone needs kind=\)", "(a list of pairs alone needs --read-links kind=…)"),
    (r"say columns=\{'i': …, 'j': …, 'kind': …\}", "say --read-links i=… j=… kind=…"),
    (r"or kind= for all of them", "or --read-links kind=… for all of them"),
    (r"\blabel_column= names it", "--read-links label_column=… names it"),
)


def in_command_words(message: str) -> str:
    """Return a message of the library with options in place of arguments, on one line.

    Examples
    --------
    >>> in_command_words("a.csv: is there already; say force=True to write over it")
    'a.csv: is there already; say --force to write over it'
    """
    for pattern, replacement in _REPLACEMENTS:
        message = re.sub(pattern, replacement, message)
    return " ".join(message.split())


def ids_of_a_file(message: str) -> str:
    """Return a message of the library with --ids for ids, where no column can hold them.

    Examples
    --------
    >>> ids_of_a_file("if it is an id, give the ids of the rows")
    'if it is an id, name the file of ids with --ids'
    """
    message = message.replace("give the ids of the rows", "name the file of ids with --ids")
    return message.replace("leave ids out", "leave --ids out")


def quoted(name: str) -> str:
    """Return a name as a shell takes it for one word."""
    return f"'{name}'" if " " in name else name
