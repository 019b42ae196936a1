"""A command that was given, as words that give it again with some options changed."""

from __future__ import annotations

import shlex
from typing import Any

import typer


def command_words(context: typer.Context, **changes: Any) -> str:
    """Return the command under way as a line for a shell, with the options that differ from usual.

    Parameters
    ----------
    context : typer.Context
        Of the command.
    **changes
        Values of options, by parameter; None leaves one out.
    """
    values = context.params | changes
    words = context.command_path.split()
    options: list[str] = []
    for parameter in context.command.params:
        name = str(parameter.name)
        value = values.get(name)
        if value is None or value in ((), []) or value == parameter.get_default(context):
            continue
        if parameter.param_type_name == "argument":
            words.append(str(value))
        elif isinstance(value, bool):
            spellings = parameter.opts if value else parameter.secondary_opts
            options += spellings[:1]
        else:
            several = value if isinstance(value, list | tuple) else [value]
            for one in several:
                options += [parameter.opts[0], f"{one:g}" if isinstance(one, float) else str(one)]
    return shlex.join([*words, *options])
