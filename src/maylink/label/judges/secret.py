"""A key that is told to a server and to nobody else: not to files, logs, messages or tracebacks."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from maylink.errors import MaylinkError

HIDDEN = "[key]"
SHORTEST_HIDDEN = 6  # letters: shorter "keys" are words such as "none", and stand in many texts
_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")


class Secret:
    """A key; it shows as ``[key]`` wherever it is printed.

    Parameters
    ----------
    value : str, optional
        The key; None if there is none.

    Examples
    --------
    >>> from maylink.label.judges.secret import Secret
    >>> secret = Secret("sk-abc123")
    >>> secret, secret.hidden_in("wrong key: sk-abc123")
    ([key], 'wrong key: [key]')
    """

    __slots__ = ("_value",)

    def __init__(self, value: str | None = None) -> None:
        self._value = value or None

    @classmethod
    def of_environment(cls, name: str, environment: Mapping[str, str] | None = None) -> Secret:
        """Read a key from the environment.

        Parameters
        ----------
        name : str
            The variable; the name is never repeated where it may be the key itself.
        environment : mapping of str to str, optional
            That of the process by default.

        Raises
        ------
        MaylinkError
            If the name is no name of a variable, or the key cannot be sent.
        """
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise MaylinkError(
                "key_variable: give the name of an environment variable that holds the key, and "
                "never the key itself"
            )
        value = (os.environ if environment is None else environment).get(name, "").strip()
        if not all("!" <= letter <= "~" for letter in value):
            shown = name if _NAME.fullmatch(name) else "the variable that it names"
            raise MaylinkError(
                f"key_variable: {shown} holds letters that no key has (spaces, or other than ASCII)"
            )
        return cls(value)

    @property
    def is_set(self) -> bool:
        """Whether there is a key."""
        return self._value is not None

    def header(self) -> dict[str, str]:
        """Return the header that tells the key to the server; empty if there is none."""
        return {} if self._value is None else {"Authorization": f"Bearer {self._value}"}

    def hidden_in(self, text: str) -> str:
        """Return a text in which the key does not stand."""
        if self._value is None or len(self._value) < SHORTEST_HIDDEN:
            return text
        return text.replace(self._value, HIDDEN)

    def __repr__(self) -> str:
        return HIDDEN if self.is_set else "no key"

    __str__ = __repr__

    def __reduce__(self) -> tuple[type[Secret], tuple[()]]:
        return Secret, ()  # a pickle has none
