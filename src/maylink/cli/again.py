"""A command as it was given, to be given again."""

from __future__ import annotations

import shlex
from typing import Any

import typer

NOT_AGAIN = ("force", "quiet")  # what is said once


def command_again(context: typer.Context) -> str:
    """Return the words of the command that is running; options at their defaults are left out.

    Parameters
    ----------
    context : typer.Context
        Of the command.
    """
    words = context.command_path.split()
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        if parameter.name in NOT_AGAIN or value is None or value == parameter.default:
            continue
        words += _words(parameter, value)
    return shlex.join(words)


def _words(parameter: Any, value: Any) -> list[str]:
    """Return the words of an argument, a switch, or an option, which may have several values."""
    if parameter.param_type_name == "argument":
        return [str(value)]
    if isinstance(value, bool):
        return [(parameter.opts if value else parameter.secondary_opts)[0]]
    values = value if isinstance(value, (list, tuple)) else [value]
    return [word for one in values for word in (parameter.opts[0], str(one))]
